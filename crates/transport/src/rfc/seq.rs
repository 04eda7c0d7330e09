//! Sequence numbers: 32 bits on the wire, 64 in the endpoints (RFC 9293, section 3.4).

/// The 64-bit number with these low 32 bits that is nearest to `near`; 0 where that would be below 0.
pub fn expand(wire: u32, near: u64) -> u64 {
    let distance = wire.wrapping_sub(near as u32) as i32;
    near.saturating_add_signed(distance.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_number_is_meant() {
        assert_eq!(expand(5, 3), 5);
        assert_eq!(expand(3, 5), 3);
        assert_eq!(expand(2, 0xffff_fff0), 0x1_0000_0002);
        assert_eq!(expand(0xffff_fff0, 0x1_0000_0002), 0xffff_fff0);
        assert_eq!(expand(0xffff_fff0, 2), 0, "before the start");
    }
}
