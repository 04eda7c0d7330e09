//! Long-term bandwidth: the rate behind a policer, which drops packets beyond its tokens (Linux tcp_bbr, bbr_lt_bw_sampling).
//!
//! An interval begins with a loss and ends with one, after 4 to 16 rounds. If two in a row lost more than a fifth of
//! the delivered packets (50/256) and have rates within an eighth, their mean is the rate for 48 rounds of ProbeBW:
//! pacing has a gain of 1 meanwhile. Samples limited by the application end the sampling. Linux also takes rates within
//! 500 B/s for equal, which matters below 4 kB/s.

use aqmlab_units::{Span, Time};

use super::Deliveries;

/// Rounds of the shortest interval, and how often as many the longest has.
const LEAST_ROUNDS: u32 = 4;
const LONGEST: u32 = 4;
const LOSS_THRESH: f64 = 50.0 / 256.0;
/// Relative difference of rates that are consistent.
const RATIO: f64 = 1.0 / 8.0;
const SHORTEST: Span = Span::from_millis(1);
/// Rounds for which the rate is used.
const USED_ROUNDS: u32 = 48;

#[derive(Clone, Debug, Default)]
pub struct Policer {
    is_sampling: bool,
    is_used: bool,
    /// Of the last lossy interval; 0: there was none.
    rate: f64,
    rounds: u32,
    /// The connection when the interval began.
    start: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// Return the rate in segments a second behind a policer, if one was found.
    pub fn rate(&self) -> Option<f64> {
        self.is_used.then_some(self.rate)
    }

    /// Forget all samples.
    pub fn reset(&mut self, deliveries: &Deliveries) {
        *self = Self { start: self.start, ..Self::default() };
        self.delivered = deliveries.delivered;
        self.lost = deliveries.lost;
    }

    fn begin(&mut self, deliveries: &Deliveries, now: Time) {
        self.start = now;
        self.delivered = deliveries.delivered;
        self.lost = deliveries.lost;
        self.rounds = 0;
    }

    /// Take an acknowledgement: whether it begins a round, and reports losses; whether the state is ProbeBW, and whether the
    /// application limits the sample. Return whether the rate is no longer used, so that the cycle of ProbeBW restarts.
    pub fn update(
        &mut self,
        deliveries: &Deliveries,
        now: Time,
        (round, losses): (bool, bool),
        (probes_bw, app_limited): (bool, bool),
    ) -> bool {
        if self.is_used {
            self.rounds += u32::from(probes_bw && round);
            let is_over = self.rounds >= USED_ROUNDS;
            if is_over {
                self.reset(deliveries);
            }
            return is_over;
        }
        if !self.is_sampling {
            if !losses {
                return false;
            }
            self.begin(deliveries, now);
            self.is_sampling = true;
        }
        self.rounds += u32::from(round);
        if app_limited || self.rounds > LONGEST * LEAST_ROUNDS {
            self.reset(deliveries);
        } else if self.rounds >= LEAST_ROUNDS && losses {
            self.end(deliveries, now);
        }
        false
    }

    /// An interval ends, if it was lossy.
    fn end(&mut self, deliveries: &Deliveries, now: Time) {
        let delivered = (deliveries.delivered - self.delivered) as f64;
        let lost = (deliveries.lost - self.lost) as f64;
        let elapsed = now.since(self.start);
        if delivered == 0.0 || lost < LOSS_THRESH * delivered || elapsed < SHORTEST {
            return;
        }
        let rate = delivered / elapsed.secs();
        let is_consistent = self.rate > 0.0 && (rate - self.rate).abs() <= RATIO * self.rate;
        if is_consistent {
            self.rate = (rate + self.rate) / 2.0;
            self.is_used = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(deliveries, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Connection with these segments delivered and lost.
    fn with(delivered: u64, lost: u64) -> Deliveries {
        let mut deliveries = Deliveries::default();
        (deliveries.delivered, deliveries.lost) = (delivered, lost);
        deliveries
    }

    /// Let an interval pass that ends with a loss in its fourth round, at this time.
    fn interval(policer: &mut Policer, deliveries: &Deliveries, ms: u64) {
        for k in 0..4 {
            let now = at(ms - 3 + k);
            assert!(!policer.update(deliveries, now, (true, k == 3), (true, false)));
        }
    }

    fn sampling() -> Policer {
        let mut policer = Policer::default();
        policer.update(&with(0, 0), at(0), (false, true), (true, false));
        policer
    }

    #[test]
    fn two_lossy_intervals_of_equal_rates_set_their_mean_for_48_rounds() {
        let mut policer = sampling();
        interval(&mut policer, &with(100, 20), 1000);
        assert_eq!((policer.rate(), policer.rate), (None, 100.0), "one interval is not enough");
        interval(&mut policer, &with(210, 50), 2000);
        assert_eq!(policer.rate(), Some(105.0), "100 and 110 a second");
        let over: Vec<_> =
            (0..48).map(|_| policer.update(&with(300, 50), at(3000), (true, false), (true, false))).collect();
        assert_eq!(over.iter().position(|over| *over), Some(47));
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn rates_that_differ_by_more_than_an_eighth_set_nothing() {
        let mut policer = sampling();
        interval(&mut policer, &with(100, 20), 1000);
        interval(&mut policer, &with(213, 50), 2000);
        assert_eq!((policer.rate(), policer.rate), (None, 113.0));
        interval(&mut policer, &with(313, 80), 3000);
        assert_eq!(policer.rate(), Some(106.5), "the next is compared with the last");
    }

    #[test]
    fn an_interval_with_fewer_losses_goes_on() {
        let mut policer = sampling();
        interval(&mut policer, &with(100, 19), 1000);
        assert_eq!(policer.rate, 0.0, "19 of 100, below 50/256");
        policer.update(&with(110, 25), at(1100), (true, true), (true, false));
        assert!((policer.rate - 100.0).abs() < 1e-9, "110 in 1.1 s");
    }

    #[test]
    fn seventeen_rounds_or_the_application_end_the_sampling() {
        let mut policer = sampling();
        for k in 1..=17 {
            assert!(policer.is_sampling, "round {k}");
            policer.update(&with(10 * k, 0), at(100 * k), (true, false), (true, false));
        }
        assert!(!policer.is_sampling);
        let mut policer = sampling();
        policer.update(&with(1, 0), at(1), (false, false), (true, true));
        assert!(!policer.is_sampling);
    }
}
