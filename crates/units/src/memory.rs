use prefetch_index::prefetch_index;

/// Ask for the cache line with the first byte of a value, without waiting for it. It has no other effect.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_index(core::slice::from_ref(value), 0);
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Return whether the cache lines of these bytes of a value follow each other, so that to ask for each of them leaves no line out between the
/// first and the last. The value begins at any multiple of 16 B, as allocators place it; offsets in bytes, in order.
pub fn are_in_successive_lines(offsets: &[usize]) -> bool {
    let line = |start: usize, offset: usize| (start + offset) / LINE;
    (0..LINE).step_by(16).all(|start| {
        offsets
            .windows(2)
            .all(|pair| line(start, pair[1]).checked_sub(line(start, pair[0])).is_some_and(|n| n <= 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_left_out_is_seen_wherever_the_value_begins() {
        assert!(are_in_successive_lines(&[0, 64, 128]) && are_in_successive_lines(&[0, 8, 72]));
        // Of a value at 16 B, bytes 40 and 112 are in lines 0 and 2.
        assert!(!are_in_successive_lines(&[40, 112]));
        assert!(!are_in_successive_lines(&[0, 129]) && !are_in_successive_lines(&[64, 0]));
    }
}
