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

    /// Add to a window what `other` has in one of its windows, and remove it there. Return whether that was anything.
    pub fn take_over(&mut self, window: u64, other: &mut Self, from: u64) -> bool {
        let range = |window: u64| {
            (window % SLOTS) as usize * self.words..((window % SLOTS) as usize + 1) * self.words
        };
        let (to, from) = (range(window), range(from));
        let mut any = 0;
        for (bits, others) in self.bits[to].iter_mut().zip(&mut other.bits[from]) {
            any |= *others;
            *bits |= core::mem::take(others);
        }
        any != 0
    }

    /// Return the ranks in `word` of a window; none if there is no such word.
    #[inline]
    pub fn ranks(&self, window: u64, word: usize) -> impl Iterator<Item = u32> + use<> {
        let is_word = word < self.words;
        let mut bits = if is_word { self.bits[(window % SLOTS) as usize * self.words + word] } else { 0 };
        core::iter::from_fn(move || {
            let rank = (bits != 0).then(|| word as u32 * 64 + bits.trailing_zeros());
            bits &= bits.wrapping_sub(1);
            rank
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_window_has_these_ranks() {
        let mut calendar = Calendar::new(100);
        [0, 63, 64, 99].into_iter().for_each(|rank| calendar.set(3, rank));
        let ranks = |window, word| calendar.ranks(window, word).collect::<Vec<_>>();
        assert_eq!(
            [ranks(3, 0), ranks(3, 1), ranks(3, 2), ranks(4, 0)],
            [vec![0, 63], vec![64, 99], vec![], vec![]]
        );
    }

    #[test]
    fn what_a_window_takes_over_is_gone_from_where_it_was() {
        let (mut to, mut from) = (Calendar::new(100), Calendar::new(100));
        to.set(3, 1);
        from.set(7, 2);
        from.set(7, 99);
        from.set(8, 50);
        assert!(to.take_over(SLOTS + 3, &mut from, 7));
        assert!(!to.take_over(3, &mut from, 7));
        let taken = [(0, 0), (0, 2), (0, 3), (1, 0), (1, 36)].map(|(word, at)| to.take(3, word, at));
        assert_eq!(taken, [Some(1), Some(2), None, Some(35), None]);
        assert_eq!(from.take(8, 0, 0), Some(50));
    }
}
