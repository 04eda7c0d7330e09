//! How a player chooses the bit rate of the next segment. Rungs of the ladder are counted from 0; the ladder rises.
//!
//! # BBA-0
//! T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, "A Buffer-Based Approach to Rate Adaptation: Evidence from a
//! Large Video Streaming Service", SIGCOMM 2014, section 4 and algorithm 1. With the buffer `B`, the reservoir `r` and the
//! cushion `cu`, the rate map is
//!
//! ```text
//! f(B) = R_min                                 B <= r
//!      = R_min + (R_max - R_min) (B - r) / cu  between
//!      = R_max                                 B >= r + cu
//! ```
//!
//! The rate stays as it is until f(B) reaches the next rung above or falls to the next one below: then it becomes the highest rung
//! below f(B), or the lowest one above it.
//!
//! The paper has a buffer of 240 s, r = 90 s and cu = 126 s (an upper reservoir of a tenth of the buffer).
//!
//! # Throughput
//! The highest rung at or below `safety` times the harmonic mean of the throughputs of the last `window` segments; the
//! estimate and its constants (0.85 and 20) are those of J. Jiang, V. Sekar, H. Zhang, "Improving Fairness, Efficiency, and
//! Stability in HTTP-based Adaptive Video Streaming with FESTIVE", CoNEXT 2012, sections 4.2 and 6. It leaves out what else
//! FESTIVE does: gradual switching, delayed update and random scheduling.

use aqmlab_units::{Rate, Span};

/// BBA-0: the next rung. `before` is the last one.
pub(super) fn bba_0(
    ladder: &[Rate],
    (reservoir, cushion): (Span, Span),
    before: usize,
    buffer: Span,
) -> usize {
    let top = ladder.len() - 1;
    if buffer <= reservoir {
        return 0;
    }
    if buffer >= reservoir + cushion {
        return top;
    }
    let (least, most) = (ladder[0].bps(), ladder[top].bps());
    let rate = least + (most - least) * ((buffer - reservoir).secs() / cushion.secs());
    let (above, below) = ((before + 1).min(top), before.saturating_sub(1));
    if rate >= ladder[above].bps() && before != top {
        ladder.partition_point(|rung| rung.bps() < rate).saturating_sub(1)
    } else if rate <= ladder[below].bps() && before != 0 {
        ladder.partition_point(|rung| rung.bps() <= rate)
    } else {
        before
    }
}

/// Throughputs of the last segments in bit/s.
#[derive(Clone, Debug)]
pub(super) struct Throughputs {
    last: Vec<f64>,
    /// Where the next one goes when there are enough.
    oldest: usize,
}

impl Throughputs {
    pub fn new(window: usize) -> Self {
        Self { last: Vec::with_capacity(window), oldest: 0 }
    }

    pub fn add(&mut self, bps: f64) {
        if self.last.len() < self.last.capacity() {
            self.last.push(bps);
        } else if let Some(oldest) = self.last.get_mut(self.oldest) {
            *oldest = bps;
            self.oldest = (self.oldest + 1) % self.last.len();
        }
    }

    /// The highest rung that is not above `safety` times their harmonic mean; the lowest one before the first.
    pub fn rung(&self, ladder: &[Rate], safety: f64) -> usize {
        if self.last.is_empty() {
            return 0;
        }
        let estimate = self.last.len() as f64 / self.last.iter().map(|bps| 1.0 / bps).sum::<f64>();
        ladder.partition_point(|rung| rung.bps() <= safety * estimate).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LADDER: [Rate; 4] = [Rate(1_000_000), Rate(2_000_000), Rate(3_000_000), Rate(5_000_000)];

    /// Reservoir 10 s, cushion 20 s: f(B) = 1 Mb/s + 0.2 Mb/s for every second above 10 s.
    fn next(before: usize, buffer: f64) -> usize {
        bba_0(&LADDER, (Span::from_secs(10.0), Span::from_secs(20.0)), before, Span::from_secs(buffer))
    }

    #[test]
    fn bba_0_by_hand() {
        assert_eq!([0, 1, 2, 3].map(|before| next(before, 10.0)), [0; 4], "reservoir");
        assert_eq!([0, 1, 2, 3].map(|before| next(before, 30.0)), [3; 4], "upper reservoir");
        // f = 1.8: below the rung above; at and below the rung below it goes down to the lowest above f.
        assert_eq!([0, 1, 2, 3].map(|before| next(before, 14.0)), [0, 1, 1, 1]);
        // f = 2.6: the highest rung below f is 2 Mb/s.
        assert_eq!([0, 1, 2, 3].map(|before| next(before, 18.0)), [1, 1, 2, 2]);
        // f = 4.8.
        assert_eq!([0, 1, 2, 3].map(|before| next(before, 29.0)), [2, 2, 2, 3]);
    }

    #[test]
    fn throughputs_by_hand() {
        let mut last = Throughputs::new(2);
        assert_eq!(last.rung(&LADDER, 1.0), 0);
        last.add(3e6);
        assert_eq!([last.rung(&LADDER, 1.0), last.rung(&LADDER, 0.9), last.rung(&LADDER, 0.1)], [2, 1, 0]);
        // Harmonic mean 4 Mb/s of 3 and 6.
        last.add(6e6);
        assert_eq!([last.rung(&LADDER, 1.0), last.rung(&LADDER, 0.76), last.rung(&LADDER, 0.74)], [2, 2, 1]);
        // The oldest goes: 6 and 6.
        last.add(6e6);
        assert_eq!(last.rung(&LADDER, 1.0), 3);
    }

    proptest! {
        /// More in the buffer never gives a lower rate, and the rate does not move while f(B) is between the neighbours.
        #[test]
        fn bba_0_follows_its_map(before in 0usize..4, buffer in 0.0..40.0, more in 0.0..10.0) {
            prop_assert!(next(before, buffer) <= next(before, buffer + more));
            let f = (1.0 + 0.2 * (buffer - 10.0)).clamp(1.0, 5.0) * 1e6;
            let (low, high) = (LADDER[before.saturating_sub(1)].bps(), LADDER[(before + 1).min(3)].bps());
            if low < f && f < high && buffer > 10.0 {
                prop_assert_eq!(next(before, buffer), before);
            }
        }
    }
}
