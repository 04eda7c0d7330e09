//! Round-trip time and retransmission time-out.
//!
//! V. Paxson et al., RFC 6298, section 2. With the first sample R and each later R':
//!
//! ```text
//! SRTT = R       RTTVAR = R/2                                                    (2.2)
//! RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|      SRTT = 7/8 SRTT + 1/8 R'            (2.3)
//! RTO = max(SRTT + 4 RTTVAR, min_rto)                                            (2.3, 2.4)
//! ```
//!
//! and each expiry doubles RTO up to `max_rto`, until the next sample (5.5, 5.7).
//!
//! # Linux's reading (`rto_floor_on_variance`)
//! The variance term has `min_rto` for its floor, so that RTO = SRTT + max(4 RTTVAR, min_rto) at the least. A sample
//! below SRTT moves RTTVAR up with an eighth of the weight only (a falling round-trip time is no reason to wait
//! longer), and the term that counts is the greatest of the last round trip: it rises at once and falls by a quarter of
//! the difference each round trip.
//!
//! # QUIC
//! RFC 9002, sections 5.3 and 6.2.1: the same SRTT and RTTVAR, and PTO = SRTT + max(4 RTTVAR, kGranularity) + max_ack_delay, where
//! kGranularity is `min_rto` and max_ack_delay is `delayed_ack`. A back-off ends when any packet is acknowledged.
//!
//! # Differences from Linux
//! Times are exact, not in microseconds or ticks. The least round-trip time is that since the start; Linux's is of the
//! last 300 s.

use aqmlab_units::Span;

use crate::rfc::Config;

/// Estimates of one endpoint.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// In seconds; meaningless before the first sample.
    srtt: f64,
    /// The same, rounded to a picosecond.
    rounded_srtt: Span,
    /// Four times the mean deviation, in seconds.
    deviation: f64,
    /// Linux: the greatest deviation of this round trip, and the variance term.
    greatest: f64,
    term: f64,
    /// The round trip is over when this segment is acknowledged.
    round_end: u64,
    /// The floor of RTO, in seconds.
    floor: f64,
    least: Span,
    rto: Span,
    sampled: bool,
}

impl RttEstimator {
    pub fn new(config: &Config) -> Self {
        Self {
            srtt: 0.0,
            rounded_srtt: Span::ZERO,
            deviation: 0.0,
            greatest: 0.0,
            term: 0.0,
            round_end: 0,
            floor: config.min_rto.secs(),
            least: Span(u64::MAX),
            rto: config.initial_rto,
            sampled: false,
        }
    }

    /// Takes a sample, with which the back-off ends. Segments up to `una` are acknowledged, those up to `next` sent.
    #[inline(always)]
    pub fn sample(&mut self, config: &Config, sample: Span, (una, next): (u64, u64)) {
        let r = sample.secs();
        if !self.sampled {
            self.sampled = true;
            self.srtt = r;
            self.deviation = 2.0 * r;
            self.term = self.deviation.max(self.floor);
            self.greatest = self.term;
            self.round_end = next;
        } else if config.rto_floor_on_variance {
            self.sample_as_linux(r, (una, next));
        } else {
            let error = r - self.srtt;
            self.srtt += error / 8.0;
            self.deviation += (4.0 * error.abs() - self.deviation) / 4.0;
        }
        self.rounded_srtt = Span::from_secs(self.srtt);
        self.set_rto(config);
    }

    fn sample_as_linux(&mut self, r: f64, (una, next): (u64, u64)) {
        let error = r - self.srtt;
        self.srtt += error / 8.0;
        let growth = error.abs() - self.deviation / 4.0;
        self.deviation += if error < 0.0 && growth > 0.0 { growth / 8.0 } else { growth };
        // Comparisons take fewer instructions than maxima, which consider NaN.
        if self.deviation > self.greatest {
            self.greatest = self.deviation;
        }
        if self.greatest > self.term {
            self.term = self.greatest;
        }
        if una > self.round_end {
            self.term -= (self.term - self.greatest).max(0.0) / 4.0;
            self.round_end = next;
            self.greatest = self.floor;
        }
    }

    fn set_rto(&mut self, config: &Config) {
        let rto = if config.rto_floor_on_variance {
            Span::from_secs(self.srtt + self.term)
        } else if config.is_quic() {
            self.probe_timeout(config)
        } else {
            Span::from_secs(self.srtt + self.deviation).max(config.min_rto)
        };
        self.rto = rto.min(config.max_rto);
    }

    /// QUIC's probe time-out without back-off, the initial time-out before the first sample.
    pub fn probe_timeout(&self, config: &Config) -> Span {
        if !self.sampled {
            return config.initial_rto;
        }
        let variance = self.deviation.max(self.floor);
        Span::from_secs(self.srtt + variance) + config.delayed_ack.unwrap_or_default()
    }

    /// End QUIC's back-off: a packet was acknowledged.
    pub fn end_back_off(&mut self, config: &Config) {
        self.rto = self.probe_timeout(config).min(config.max_rto);
    }

    /// Update the minimum round-trip time; samples of retransmitted packets count too.
    pub fn note_least(&mut self, sample: Span) {
        self.least = self.least.min(sample);
    }

    /// Double the time-out after an expiry.
    pub fn back_off(&mut self, config: &Config) {
        self.rto = (self.rto * 2).min(config.max_rto);
    }

    /// The retransmission time-out.
    pub fn rto(&self) -> Span {
        self.rto
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Span> {
        self.sampled.then_some(self.rounded_srtt)
    }

    /// Return the minimum round-trip time; the longest time without a sample.
    pub fn least(&self) -> Span {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc::CongestionControl;

    fn linux() -> Config {
        Config::linux(CongestionControl::Reno)
    }

    fn plain() -> Config {
        Config { rto_floor_on_variance: false, ..linux() }
    }

    fn ms(span: Span) -> f64 {
        (span.secs() * 1e7).round() / 1e4
    }

    #[test]
    fn by_the_rfc() {
        let config = plain();
        let mut rtt = RttEstimator::new(&config);
        assert_eq!((rtt.rto(), rtt.srtt()), (Span::from_millis(1000), None));
        // SRTT 100, RTTVAR 50; then |100 - 140| = 40: RTTVAR 47.5, SRTT 105.
        let mut found = Vec::new();
        for sample in [100, 140] {
            rtt.sample(&config, Span::from_millis(sample), (0, 0));
            found.push((ms(rtt.srtt().unwrap()), ms(rtt.rto())));
        }
        assert_eq!(found, [(100.0, 300.0), (105.0, 295.0)]);
        // Without deviation the floor holds.
        for _ in 0..100 {
            rtt.sample(&config, Span::from_millis(20), (0, 0));
        }
        assert_eq!(rtt.rto(), Span::from_millis(200));
    }

    #[test]
    fn linux_adds_the_floor_to_the_round_trip_time() {
        let config = linux();
        let mut rtt = RttEstimator::new(&config);
        for round in 0..200 {
            rtt.sample(&config, Span::from_millis(30), (round + 1, round + 1));
        }
        assert_eq!(ms(rtt.rto()), 230.0);
        // From 4 RTTVAR = 200 = 2 R on the first sample counts: R + 2 R.
        let mut rtt = RttEstimator::new(&config);
        rtt.sample(&config, Span::from_millis(150), (1, 1));
        assert_eq!(ms(rtt.rto()), 450.0);
    }

    #[test]
    fn linux_rises_at_once_and_falls_by_quarters_a_round_trip() {
        let config = linux();
        let mut rtt = RttEstimator::new(&config);
        rtt.sample(&config, Span::from_millis(200), (1, 1));
        // Deviation 400; equal samples: 300, 225, 168.75 and so on, each end of a round 3/4 of the way left to the
        // greatest of the round.
        rtt.sample(&config, Span::from_millis(200), (1, 1));
        assert_eq!(ms(rtt.rto()), 600.0, "the greatest of the round trip so far");
        rtt.sample(&config, Span::from_millis(200), (2, 9));
        assert_eq!(ms(rtt.rto()), 600.0, "the round that ended had the first sample in it");
        rtt.sample(&config, Span::from_millis(200), (10, 20));
        // Greatest of this round: max(floor 200, 168.75) = 200; 400 - (400 - 200)/4 = 350.
        assert_eq!(ms(rtt.rto()), 550.0);
    }

    #[test]
    fn a_falling_round_trip_time_raises_the_deviation_by_an_eighth() {
        let config = Config { min_rto: Span(1), ..linux() };
        let mut rtt = RttEstimator::new(&config);
        rtt.sample(&config, Span::from_millis(400), (0, 0));
        rtt.deviation = 0.04;
        rtt.sample(&config, Span::from_millis(320), (0, 0));
        // |error| 80 - 10 = 70, an eighth of it: 40 + 8.75.
        assert!((rtt.deviation - 0.048_75).abs() < 1e-12);
        assert!((rtt.srtt - 0.39).abs() < 1e-12);
    }

    #[test]
    fn back_off_doubles_up_to_the_greatest_and_a_sample_ends_it() {
        let config = linux();
        let mut rtt = RttEstimator::new(&config);
        let mut seconds = Vec::new();
        for _ in 0..8 {
            seconds.push(rtt.rto().secs());
            rtt.back_off(&config);
        }
        assert_eq!(seconds, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 120.0]);
        rtt.sample(&config, Span::from_millis(10), (1, 1));
        assert_eq!(ms(rtt.rto()), 210.0);
    }
}
