use super::SLOTS;

/// The stations that have something to do, a bit each, by window and turn.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// Words a window.
    pub words: usize,
    bits: Vec<u64>,
}

impl Calendar {
    pub fn new(stations: usize) -> Self {
        let words = stations.div_ceil(64);
        Self { words, bits: vec![0; words * SLOTS as usize] }
    }

    #[inline(always)]
    pub fn set(&mut self, window: u64, turn: u32) {
        let word = (window % SLOTS) as usize * self.words + turn as usize / 64;
        self.bits[word] |= 1 << (turn % 64);
    }

    /// Takes the first turn in `word` of a window that is not before `from`.
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
