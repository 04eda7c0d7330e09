//! The delay of the queue, from delays one way: the current delay above the least of some minutes.
//!
//! S. Shalunov et al., RFC 6817, section 2.4.2:
//!
//! ```text
//! queuing_delay = FILTER(current_delays) - MIN(base_delays)
//! ```
//!
//! `base_delays` are those of [`BaseDelays`]. `current_delays` has none that is older than a round trip (section 2.5), taken to be the smoothed one.

use aqmlab_units::{Span, Time};

use super::{DelayFilter, LedbatConfig};
use crate::base_delay::{BaseDelays, NONE};

/// Most samples that are kept.
pub const MOST_SAMPLES: usize = 64;

/// Both filters of one sender.
#[derive(Clone, Debug)]
pub struct Delays {
    filter: DelayFilter,
    base: BaseDelays,
    /// The latest delays and when they came, in a ring.
    current: [(Time, Span); MOST_SAMPLES],
    /// Earlier samples are too old.
    oldest: Time,
    samples: usize,
    next: usize,
    /// The moving average in seconds; `None` before the first sample.
    average: Option<f64>,
}

impl Delays {
    pub fn new(config: &LedbatConfig) -> Self {
        Self {
            filter: config.filter,
            base: BaseDelays::new(config.base_history as usize),
            current: [(Time::ZERO, NONE); MOST_SAMPLES],
            oldest: Time::ZERO,
            samples: (config.filter_length as usize).clamp(1, MOST_SAMPLES),
            next: 0,
            average: None,
        }
    }

    /// Take a delay; `srtt` is the current round-trip time.
    pub fn take(&mut self, now: Time, delay: Span, srtt: Option<Span>) {
        self.base.take(now, delay);
        self.current[self.next] = (now, delay);
        self.oldest = Time::ZERO + srtt.map_or(Span::ZERO, |srtt| now.since(Time::ZERO + srtt));
        self.next = (self.next + 1) % self.samples;
        let weight = 1.0 / self.samples as f64;
        self.average = Some(self.average.map_or(delay.secs(), |a| a + weight * (delay.secs() - a)));
    }

    /// The delay of the queue in seconds; 0 before the first sample.
    pub fn queuing(&self) -> f64 {
        let Some(average) = self.average else { return 0.0 };
        let current = match self.filter {
            DelayFilter::Minimum => {
                let latest = self.current[..self.samples].iter().filter(|&&(at, _)| at >= self.oldest);
                latest.map(|&(_, delay)| delay).min().unwrap_or(NONE).secs()
            }
            DelayFilter::Average => average,
        };
        (current - self.base.least().secs()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(filter: DelayFilter, base_history: u32) -> Delays {
        Delays::new(&LedbatConfig { filter, base_history, ..LedbatConfig::RFC })
    }

    fn near(delays: &Delays, ms: f64) {
        assert!((delays.queuing() - ms * 1e-3).abs() < 1e-12, "{} s, not {ms} ms", delays.queuing());
    }

    #[test]
    fn the_least_of_the_last_four_above_the_least_of_all() {
        let mut d = delays(DelayFilter::Minimum, 10);
        assert_eq!(d.queuing(), 0.0);
        for ms in [30, 50, 45, 60] {
            d.take(Time::from_secs(1.0), Span::from_millis(ms), None);
        }
        near(&d, 0.0);
        d.take(Time::from_secs(1.0), Span::from_millis(48), None);
        near(&d, 15.0);
    }

    #[test]
    fn a_delay_is_forgotten_after_a_round_trip() {
        let mut d = delays(DelayFilter::Minimum, 10);
        let rtt = Some(Span::from_millis(100));
        for (at, ms) in [(1.0, 30), (1.05, 70), (1.1, 80)] {
            d.take(Time::from_secs(at), Span::from_millis(ms), rtt);
        }
        near(&d, 0.0);
        d.take(Time::from_secs(1.101), Span::from_millis(90), rtt);
        near(&d, 40.0);
    }

    #[test]
    fn the_average_moves_by_a_quarter() {
        let mut d = delays(DelayFilter::Average, 10);
        d.take(Time::ZERO, Span::from_millis(30), None);
        d.take(Time::ZERO, Span::from_millis(70), None);
        near(&d, 10.0);
    }

    #[test]
    fn a_base_is_forgotten_after_its_minutes() {
        let mut d = delays(DelayFilter::Minimum, 2);
        d.take(Time::from_secs(59.0), Span::from_millis(30), None);
        for second in 60..64 {
            d.take(Time::from_secs(f64::from(second)), Span::from_millis(50), None);
        }
        near(&d, 20.0);
        d.take(Time::from_secs(120.0), Span::from_millis(50), None);
        near(&d, 0.0);
        d.take(Time::from_secs(6000.0), Span::from_millis(80), None);
        near(&d, 0.0);
    }
}
