use prefetch_index::prefetch_index;

/// Ask for the cache line with the first byte of a value, without waiting for it. It has no other effect.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_index(core::slice::from_ref(value), 0);
}
