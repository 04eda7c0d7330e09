//! Counts of times in bins that grow with the time.

use aqmlab_units::Span;

/// The first bin ends here: 2^20 ps, about a microsecond.
const FIRST_BIN_LOG2: u32 = 20;

/// How often times occurred: bin 0 is no time at all to about a microsecond, then 2^`LOG2` bins an octave by the leading
/// bits of the time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram<const LOG2: u32>(Vec<u64>);

impl<const LOG2: u32> Histogram<LOG2> {
    /// With room for so many bins.
    pub fn reserve(&mut self, bins: usize) {
        self.0.reserve(bins);
    }

    #[inline(always)]
    pub fn add(&mut self, time: Span) {
        let bin = bin_of::<LOG2>(time);
        if bin >= self.0.len() {
            self.0.resize(bin + 1, 0);
        }
        self.0[bin] += 1;
    }

    /// Take back a time that was added.
    pub fn take_back(&mut self, time: Span) {
        self.0[bin_of::<LOG2>(time)] -= 1;
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// From, to (both in seconds), how often. Empty bins are left out.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        let bounds = |bin| (bin_start::<LOG2>(bin), bin_start::<LOG2>(bin + 1));
        self.0.iter().enumerate().filter(|(_, n)| **n > 0).map(move |(i, &n)| (bounds(i).0, bounds(i).1, n))
    }
}

fn bin_of<const LOG2: u32>(time: Span) -> usize {
    // Times of bin 0 are taken for the last part of the octave before the first bin: no branch that depends on them.
    let time = time.0.max((1 << FIRST_BIN_LOG2) - 1);
    let octave = time.ilog2();
    let part = (time >> (octave - LOG2)) as u32 & ((1 << LOG2) - 1);
    ((octave << LOG2) + part + 1 - (FIRST_BIN_LOG2 << LOG2)) as usize
}

/// Start of a bin in seconds.
fn bin_start<const LOG2: u32>(bin: usize) -> f64 {
    let Some(i) = bin.checked_sub(1) else { return 0.0 };
    let (octave, part) = ((i as u32 >> LOG2) + FIRST_BIN_LOG2, i as u64 & ((1 << LOG2) - 1));
    Span(((1 << LOG2) + part) << (octave - LOG2)).secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lies_in_its_bin<const LOG2: u32>(ps: u64) -> bool {
        let bin = bin_of::<LOG2>(Span(ps));
        bin_start::<LOG2>(bin) <= Span(ps).secs() && Span(ps).secs() < bin_start::<LOG2>(bin + 1)
    }

    proptest! {
        #[test]
        fn a_time_lies_in_its_bin(ps in 0u64..10_000_000_000_000) {
            prop_assert!(lies_in_its_bin::<3>(ps) && lies_in_its_bin::<7>(ps));
        }
    }
}
