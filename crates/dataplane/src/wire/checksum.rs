//! The Internet checksum (RFC 1071) and its repair after a change (RFC 1624).

/// The one's complement sum of 16-bit words; a last odd byte counts as the upper half of a word.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| {
        let low = word.get(1).copied().unwrap_or(0);
        u64::from(u16::from_be_bytes([word[0], low]))
    });
    fold(words.sum())
}

/// Carries added in until there are none.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Whether a header that holds its own checksum adds up.
pub(super) fn is_right(header: &[u8]) -> bool {
    sum(header) == 0xffff
}

/// The checksum after one word of what it covers has changed: RFC 1624, eq. 3, `HC' = ~(~HC + ~m + m')`. What was wrong
/// before is as wrong after.
#[inline]
pub(super) fn repaired(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!old) + u64::from(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
        assert_eq!(sum(&[0x12]), 0x1200);
        assert_eq!(sum(&[]), 0);
    }

    #[test]
    fn the_example_of_rfc_1624() {
        // Section 4: HC 0xDD2F, m 0x5555 becomes 0x3285; the method of RFC 1141 would give 0xFFFF here.
        assert_eq!(repaired(0xdd2f, 0x5555, 0x3285), 0x0000);
    }
}
