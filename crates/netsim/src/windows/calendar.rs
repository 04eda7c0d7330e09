use super::SLOTS;

/// The stations to evaluate in each window: one bit for each window and rank in the topological order.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// Words per window.
    pub words: usize,
    bits: Vec<u64>,
}

impl Calendar {
    pub fn new(stations: usize) -> Self {
        let words = stations.div_ceil(64);
        Self { words, bits: vec![0; words * SLOTS as usize] }
    }

    #[inline(always)]
    pub fn set(&mut self, window: u64, rank: u32) {
        let word = (window % SLOTS) as usize * self.words + rank as usize / 64;
        self.bits[word] |= 1 << (rank % 64);
    }

    /// Remove and return the lowest rank in `word` of a window that is at least `from`.
    #[inline]
    pub fn take(&mut self, window: u64, word: usize, from: u32) -> Option<u32> {
        let bits = &mut self.bits[(window % SLOTS) as usize * self.words + word];
        let rest = *bits & u64::MAX.checked_shl(from).unwrap_or(0);
        if rest == 0 {
            return None;
        }
        *bits &= !(rest & rest.wrapping_neg());
        Some(rest.trailing_zeros())
    }
}
