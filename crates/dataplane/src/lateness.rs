//! How late packets were written: a histogram of fixed size, so that counting costs a few instructions and no memory.
//!
//! Log-linear: 16 bins an octave from 16 ns on (each at most 6.25 % wide), up to 2^40 ns, about 18 minutes.

/// Bins in an octave, as a power of two.
const LOG2_BINS: u32 = 4;
/// Bins in an octave.
const BINS: usize = 1 << LOG2_BINS;
/// Octaves above the first 16 ns, which are counted one by one.
const OCTAVES: usize = 36;

/// Delays from here on are stalls, in nanoseconds.
pub const STALL_NS: u64 = 10_000_000;

/// Counts of lateness in nanoseconds.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: [u64; BINS * (OCTAVES + 1)],
    n: u64,
    max: u64,
    stalls: u64,
}

/// Summary of a distribution, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percentiles {
    /// Departures counted.
    pub n: u64,
    /// Median.
    pub p50: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// The latest.
    pub max: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: [0; BINS * (OCTAVES + 1)], n: 0, max: 0, stalls: 0 }
    }
}

impl Lateness {
    /// One departure, so late.
    #[inline]
    pub fn count(&mut self, ns: u64) {
        self.counts[bin_of(ns)] += 1;
        self.n += 1;
        self.max = self.max.max(ns);
        self.stalls += u64::from(ns > STALL_NS);
    }

    /// Departures more than [`STALL_NS`] late.
    pub fn stalls(&self) -> u64 {
        self.stalls
    }

    /// Return a summary of the distribution; a percentile is the end of its bin, and not above the greatest value.
    pub fn percentiles(&self) -> Percentiles {
        let at = |share: f64| self.quantile(share);
        Percentiles { n: self.n, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: self.max }
    }

    fn quantile(&self, share: f64) -> u64 {
        let rank = (self.n as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bin = self.counts.iter().position(|&count| {
            seen += count;
            seen >= rank
        });
        bin.map_or(0, |bin| (bin_start(bin + 1) - 1).min(self.max))
    }
}

fn bin_of(ns: u64) -> usize {
    if ns < BINS as u64 {
        return ns as usize;
    }
    let octave = ns.ilog2();
    let part = (ns >> (octave - LOG2_BINS)) as usize & (BINS - 1);
    ((octave - LOG2_BINS + 1) as usize * BINS + part).min(BINS * (OCTAVES + 1) - 1)
}

/// Where a bin starts, in nanoseconds.
fn bin_start(bin: usize) -> u64 {
    let (octave, part) = (bin / BINS, (bin % BINS) as u64);
    if octave == 0 { part } else { (BINS as u64 + part) << (octave - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentiles_of_a_known_sample() {
        let mut lateness = Lateness::default();
        (1..=1000).for_each(|us| lateness.count(us * 1000));
        let p = lateness.percentiles();
        assert_eq!((p.n, p.max, lateness.stalls()), (1000, 1_000_000, 0));
        for (found, exact) in [(p.p50, 500_000.0), (p.p99, 990_000.0), (p.p999, 999_000.0)] {
            assert!((found as f64 / exact - 1.0).abs() < 0.0625, "{found} for {exact}");
        }
        lateness.count(STALL_NS + 1);
        assert_eq!((lateness.stalls(), lateness.percentiles().max), (1, STALL_NS + 1));
    }

    #[test]
    fn nothing_counted_is_no_lateness() {
        assert_eq!(Lateness::default().percentiles(), Percentiles::default());
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bin(ns in 0u64..1 << 39) {
            let bin = bin_of(ns);
            prop_assert!(bin_start(bin) <= ns && ns < bin_start(bin + 1));
        }
    }
}
