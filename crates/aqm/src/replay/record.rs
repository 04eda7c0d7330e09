/// A record of the log of decisions of a kernel module: 64 bytes, little endian.
///
/// `python/aqmlab/interop/kernel/module/record.h` is the same in C, with the meaning of each field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are described in record.h")]
pub struct Record {
    pub time_ns: u64,
    pub average: u64,
    pub sequence: u32,
    pub packet: u32,
    pub bytes: u32,
    pub flow: u32,
    pub p_b: u32,
    pub draw: u32,
    pub victim_draw: u32,
    pub victim: u32,
    pub waiting: u32,
    pub count: i32,
    pub kind: RecordKind,
    pub verdict: u8,
    pub outcome: u8,
    pub tos: u8,
    pub ttl: u8,
    pub ttl_initial: u8,
    pub drawn: u8,
    pub instance: u8,
}

/// The kind of event that a record describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A packet was offered.
    Arrival,
    /// The link took a packet.
    Departure,
    /// The link asked for a packet, and none waited.
    Empty,
    /// The queue was created or emptied.
    Reset,
    /// The link asked for a packet, and this one was dropped as it left.
    Discard,
}

impl Record {
    /// Bytes of a record.
    pub const BYTES: usize = 64;
    /// The value of `p_b` below min_th, and of `victim` without a victim.
    pub const NONE: u32 = u32::MAX;
    /// The bit of `drawn` for a draw of the spacing.
    pub const DREW: u8 = 1;
    /// The bit of `drawn` for a draw of the victim rule; of DualPI2 for a second draw.
    pub const DREW_VICTIM: u8 = 2;
    /// The values of `outcome`.
    pub const OUTCOMES: [&'static str; 3] = ["accepted", "marked", "dropped"];
    /// The values of `verdict`.
    pub const VERDICTS: [&'static str; 4] = ["accept", "early", "forced", "overflow"];

    /// Return TTL_f, the lowest 8 bits of `flow` in the log of DDRED by fraction, the only queue that uses it.
    pub fn ttl_final(&self) -> u8 {
        self.flow as u8
    }

    /// Read a record; `None` if its kind is unknown.
    pub fn read(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let long = |at: usize| u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32;
        let kind = match bytes[56] {
            0 => RecordKind::Arrival,
            1 => RecordKind::Departure,
            2 => RecordKind::Empty,
            3 => RecordKind::Reset,
            5 => RecordKind::Discard,
            _ => return None,
        };
        Some(Self {
            time_ns: long(0),
            average: long(8),
            sequence: word(bytes, 16),
            packet: word(bytes, 20),
            bytes: word(bytes, 24),
            flow: word(bytes, 28),
            p_b: word(bytes, 32),
            draw: word(bytes, 36),
            victim_draw: word(bytes, 40),
            victim: word(bytes, 44),
            waiting: word(bytes, 48),
            count: word(bytes, 52).cast_signed(),
            kind,
            verdict: bytes[57],
            outcome: bytes[58],
            tos: bytes[59],
            ttl: bytes[60],
            ttl_initial: bytes[61],
            drawn: bytes[62],
            instance: bytes[63],
        })
    }
}

/// Read 32 bits.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    (0..4).map(|i| u32::from(bytes[at + i]) << (8 * i)).sum()
}

/// Read 16 bits.
pub(super) fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let mut bytes = [0; Record::BYTES];
        bytes.iter_mut().zip(0..).for_each(|(byte, i)| *byte = i);
        bytes[52..57].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 2]);
        let record = Record::read(&bytes).expect("a known kind");
        assert_eq!((record.time_ns, record.sequence), (0x0706_0504_0302_0100, 0x1312_1110));
        assert_eq!((record.count, record.kind, record.instance), (-1, RecordKind::Empty, 63));
        assert_eq!((record.flow, record.ttl_final()), (0x1f1e_1d1c, 0x1c));
        bytes[56] = 5;
        assert_eq!(Record::read(&bytes).map(|record| record.kind), Some(RecordKind::Discard));
        bytes[56] = 4;
        assert_eq!(Record::read(&bytes), None);
    }
}
