//! The TCP header of a packet, as Linux's ACK filter reads it (`cake_tcph_may_drop` and `cake_get_tcpopt` of `sch_cake.c`).

use crate::{AckFields, AckOptions, KnownOptions, MAX_SACK_BLOCKS};

const FIN_TO_URG: u8 = 0x3f;
const ACK: u8 = 0x10;
const SYN: u8 = 0x02;
const ECE_AND_CWR: u8 = 0xc0;
const SACK: u8 = 5;
const TIME_STAMP: u8 = 8;
const MD5: u8 = 19;

/// Return what an ACK filter compares of a header, with the bytes from its first to the packet's last. `None` of a packet that acknowledges
/// nothing or opens a connection.
pub(super) fn ack_fields(header: &[u8], bytes: u32) -> Option<AckFields> {
    let fixed = header.get(..20)?;
    let (number, offset, flags) = (be(fixed, 8), fixed[12], fixed[13]);
    if flags & (ACK | SYN) != ACK {
        return None;
    }
    let length = usize::from(offset >> 4) * 4;
    let (known, are_known) = options(header.get(20..length)?);
    let is_pure = offset & 0x0f == 0 && flags & FIN_TO_URG == ACK && are_known && bytes == length as u32;
    let options = if length == 20 { AckOptions::None } else { AckOptions::Known(known) };
    Some(AckFields { number: number as i32, ecn: flags & ECE_AND_CWR, is_pure, options })
}

/// Return SACK blocks and time stamp, and whether the header has only these options.
fn options(mut rest: &[u8]) -> (KnownOptions, bool) {
    let (mut known, mut are_known) = (KnownOptions::default(), true);
    while let [kind, after @ ..] = rest {
        match (*kind, after.first()) {
            (0, _) => break,
            (1, _) => {
                rest = after;
                continue;
            }
            (_, Some(&length)) if usize::from(length) >= 2 && usize::from(length) <= rest.len() => {
                let value = &rest[2..usize::from(length)];
                match *kind {
                    TIME_STAMP if value.len() == 8 => known.stamps = [be(value, 0), be(value, 4)],
                    SACK => {
                        are_known &= value.len().is_multiple_of(8);
                        let blocks = value.chunks_exact(8).take(MAX_SACK_BLOCKS);
                        known.blocks = blocks.len() as u8;
                        known
                            .sack
                            .iter_mut()
                            .zip(blocks)
                            .for_each(|(to, block)| *to = [be(block, 0), be(block, 4)]);
                    }
                    MD5 => {}
                    _ => are_known = false,
                }
                rest = &rest[usize::from(length)..];
            }
            _ => break,
        }
    }
    (known, are_known)
}

fn be(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement of 7 with these flags and options.
    fn header(flags: u8, options: &[u8]) -> Vec<u8> {
        let mut header = vec![0; 20];
        header[11] = 7;
        (header[12], header[13]) = ((20 + options.len() as u8) << 2, flags);
        [header.as_slice(), options].concat()
    }

    #[test]
    fn options_by_hand() {
        let stamps = [1, 1, 8, 10, 0, 0, 1, 0, 0, 0, 0, 9];
        let sack = [1, 1, 5, 10, 0, 0, 0, 20, 0, 0, 0, 30];
        let both = header(0x50, &[stamps, sack].concat());
        let fields = ack_fields(&both, 44).expect("an acknowledgement");
        let AckOptions::Known(known) = fields.options else { panic!("options") };
        assert_eq!((fields.number, fields.ecn, fields.is_pure), (7, 0x40, true));
        assert_eq!((known.stamps, known.sack()), ([256, 9], &[[20, 30]][..]));
    }

    #[test]
    fn others_are_kept() {
        let is_pure = |flags, options: &[u8], more| {
            let header = header(flags, options);
            ack_fields(&header, header.len() as u32 + more).map(|fields| fields.is_pure)
        };
        assert_eq!(is_pure(0x10, &[], 0), Some(true));
        assert_eq!([is_pure(0x10, &[], 1), is_pure(0x18, &[], 0), is_pure(0x11, &[], 0)], [Some(false); 3]);
        assert_eq!(is_pure(0x10, &[2, 4, 5, 180], 0), Some(false), "an option of a SYN");
        assert_eq!(
            [is_pure(0x12, &[], 0), is_pure(0x04, &[], 0), ack_fields(&[0; 19], 19).map(|_| true)],
            [None; 3]
        );
    }
}
