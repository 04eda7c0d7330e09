//! The payload of a datagram: its number and the time at which it was to leave, as far as there is room, and zeros.

/// Bytes of the number and of the time.
pub(super) const MARK: usize = 16;

/// Writes the number, and the time in nanoseconds of the monotonic clock, to the start of a payload that has room.
pub(super) fn mark(payload: &mut [u8], seq: u64, sent_ns: u64) {
    if let Some(start) = payload.first_chunk_mut::<MARK>() {
        start[..8].copy_from_slice(&seq.to_be_bytes());
        start[8..].copy_from_slice(&sent_ns.to_be_bytes());
    }
}

/// Number and time of a payload that had room.
pub(super) fn marked(payload: &[u8]) -> Option<(u64, u64)> {
    let (seq, rest) = payload.split_first_chunk()?;
    let sent_ns = rest.first_chunk()?;
    Some((u64::from_be_bytes(*seq), u64::from_be_bytes(*sent_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_where_it_had_room() {
        let mut payload = [7; 20];
        mark(&mut payload, 1 << 40, 3);
        assert_eq!(marked(&payload), Some((1 << 40, 3)));
        mark(&mut payload[..15], 9, 9);
        assert_eq!(marked(&payload), Some((1 << 40, 3)));
        assert_eq!(marked(&payload[..15]), None);
    }
}
