//! Round-trip time estimator and retransmission time-out, in whole clock ticks.
//!
//! V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988, appendix A, as in ns-2 2.35 (which follows
//! 4.3BSD Tahoe and clamps by RFC 2988).
//!
//! The sender's clock ticks every `tick` seconds and started `offset` before the simulation did. A sample m
//! is the number of ticks that the clock shows between sending and acknowledgement:
//!
//! ```text
//! m      = floor((t + fmod(sent + offset, tick)) / tick), at least 1
//! srtt   <- 7/8 srtt   + 1/8 m            kept as 8 srtt, an integer
//! rttvar <- 3/4 rttvar + 1/4 |m - srtt|   kept as 4 rttvar, an integer
//! rto    = floor(srtt + 4 rttvar) ticks
//! ```
//!
//! The first sample sets srtt = m and rttvar = m/2. The time-out is
//!
//! ```text
//! min(max(rto, min_rto) * backoff, max_rto), but at least two ticks
//! ```
//!
//! | symbol | field | unit | default |
//! |---|---|---|---|
//! | srtt | `srtt8` | ticks / 8 | 0: no sample yet |
//! | rttvar | `rttvar4` | ticks / 4 | - |
//! | rto | `rto` | s | `initial_rto` = 3 s |
//! | backoff | `backoff` | - | 1 |
//!
//! Differences from the paper (all ns-2's): once the back-off exceeds 8, srtt is added to rttvar and
//! discarded, so the next sample starts afresh; rto itself stays until then. The difference m - srtt is a
//! 16-bit number.

use aqmlab_units::{Span, Time};

use crate::ns2::Config;

/// Estimator and time-out of one sender.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RttEstimator {
    /// The time-out that follows from `rto` and `backoff`.
    timeout: Span,
    srtt8: i32,
    rttvar4: i32,
    rto: f64,
    backoff: u32,
    offset: f64,
}

impl RttEstimator {
    /// No sample yet; the clock's phase is `offset` seconds.
    pub fn new(config: &Config, offset: f64) -> Self {
        let mut new =
            Self { timeout: Span::ZERO, srtt8: 0, rttvar4: 0, rto: config.initial_rto, backoff: 1, offset };
        new.refresh(config);
        new
    }

    /// Takes a sample: an acknowledgement at `now` answers a packet sent at `sent`.
    pub fn sample(&mut self, config: &Config, now: Time, sent: Time) {
        let now = now.secs();
        let elapsed = now - sent.secs();
        let tick = config.tick;
        let ticks = if config.timestamps {
            elapsed / tick + 0.5
        } else {
            (elapsed + remainder((now - elapsed) + self.offset, tick)) / tick
        };
        let before = self.rto;
        self.filter((ticks as i32).max(1), tick);
        if self.rto != before {
            self.refresh(config);
        }
    }

    fn filter(&mut self, ticks: i32, tick: f64) {
        if self.srtt8 == 0 {
            self.srtt8 = ticks << 3;
            self.rttvar4 = ticks << 1;
        } else {
            let error = ticks.wrapping_sub(self.srtt8 >> 3) as i16;
            self.srtt8 = (self.srtt8 + i32::from(error)).max(1);
            let deviation = i32::from(error.wrapping_abs());
            let change = deviation.wrapping_sub(self.rttvar4 >> 2) as i16;
            self.rttvar4 = (self.rttvar4 + i32::from(change)).max(1);
        }
        self.rto = f64::from(((self.rttvar4 << 3) + self.srtt8) >> 3) * tick;
    }

    /// Doubles the time-out, up to `max_rto`.
    pub fn back_off(&mut self, config: &Config) {
        if self.backoff < 64 || self.seconds(config) < config.max_rto {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > 8 {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
        self.refresh(config);
    }

    /// Ends the back-off.
    pub fn end_back_off(&mut self, config: &Config) {
        if self.backoff != 1 {
            self.backoff = 1;
            self.refresh(config);
        }
    }

    /// The retransmission time-out.
    #[inline]
    pub fn timeout(&self) -> Span {
        self.timeout
    }

    /// The smoothed round-trip time; `None` before the first sample and after a back-off has discarded it.
    pub fn srtt(&self, config: &Config) -> Option<Span> {
        (self.srtt8 > 0).then(|| Span::from_secs(f64::from(self.srtt8) / 8.0 * config.tick))
    }

    fn seconds(&self, config: &Config) -> f64 {
        let base = if self.rto < config.min_rto { config.min_rto } else { self.rto };
        (base * f64::from(self.backoff)).min(config.max_rto).max(2.0 * config.tick)
    }

    fn refresh(&mut self, config: &Config) {
        self.timeout = Span::from_secs(self.seconds(config));
    }
}

/// `x % d` of IEEE 754, to the bit, for x >= 0 and d > 0, without the loop that a division of any two numbers needs.
///
/// With q = floor(x / d) below 2^26 and d split into a high part of 26 significant bits and the rest, both products
/// with q are exact. So are then the differences, where q is 2 or more (Sterbenz, and the remainder is a multiple of
/// the last place of d). A quotient that was rounded up to a whole number shows in the sign.
fn remainder(x: f64, d: f64) -> f64 {
    let ratio = x / d;
    if !(2.0..67_108_864.0).contains(&ratio) {
        return x % d;
    }
    let q = f64::from(ratio as u32);
    let high = f64::from_bits(d.to_bits() & !0x7ff_ffff);
    let rest = (x - q * high) - q * (d - high);
    if rest < 0.0 { rest + d } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ns2::Variant;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn remainders_are_exact(x in 0.0..1e6f64, d in 1e-6..2.0f64, k in 0u32..60_000_000, ulps in -3i64..4) {
            prop_assert_eq!(remainder(x, d).to_bits(), (x % d).to_bits());
            for d in [d, 0.01, 0.5, 0.1, 0.001] {
                // Next to a multiple.
                let near = f64::from_bits((f64::from(k) * d).to_bits().saturating_add_signed(ulps));
                prop_assert_eq!(remainder(near, d).to_bits(), (near % d).to_bits(), "{} % {}", near, d);
            }
        }
    }

    fn config() -> Config {
        Config::ns2(Variant::Tahoe)
    }

    fn ms(t: u64) -> Time {
        Time(t * 1_000_000_000)
    }

    #[test]
    fn starts_with_the_initial_timeout() {
        let rtt = RttEstimator::new(&config(), 0.0);
        assert_eq!(rtt.timeout(), Span::from_secs(3.0));
        assert_eq!(rtt.srtt(&config()), None);
    }

    #[test]
    fn two_samples_by_hand() {
        let config = config();
        let mut rtt = RttEstimator::new(&config, 0.0);
        // Sent at 1.003 s, back 0.128 s later: (128 + 3) ms is 13 ticks. 8 srtt = 104, 4 rttvar = 26,
        // rto = (26 * 8 + 104) / 8 = 39 ticks.
        rtt.sample(&config, ms(1131), ms(1003));
        assert_eq!((rtt.srtt8, rtt.rttvar4), (104, 26));
        assert_eq!(rtt.timeout(), Span::from_secs(0.39));
        assert_eq!(rtt.srtt(&config), Some(Span::from_millis(130)));
        // 21 ticks: error 21 - 13 = 8, 8 srtt = 112; 4 rttvar = 26 + (8 - 26/4) = 28; rto = 28 + 14 = 42.
        rtt.sample(&config, ms(2215), ms(2004));
        assert_eq!((rtt.srtt8, rtt.rttvar4), (112, 28));
        assert_eq!(rtt.timeout(), Span::from_secs(0.42));
        // 5 ticks: error 5 - 14 = -9, 8 srtt = 103; 4 rttvar = 28 + (9 - 7) = 30; rto = 30 + 12.875 -> 42.
        rtt.sample(&config, ms(3051), ms(3001));
        assert_eq!((rtt.srtt8, rtt.rttvar4), (103, 30));
        assert_eq!(rtt.timeout(), Span::from_secs(0.42));
    }

    #[test]
    fn the_clock_phase_counts() {
        let config = config();
        // Sent 2 ms after a tick, or 6 ms, or 0.5 ms; back 55 ms later.
        for (offset, ticks) in [(0.0, 5), (0.004, 6), (0.0085, 5)] {
            let mut rtt = RttEstimator::new(&config, offset);
            rtt.sample(&config, ms(1057), ms(1002));
            assert_eq!(rtt.srtt8, ticks * 8, "offset {offset}");
        }
    }

    #[test]
    fn timestamps_round_to_the_nearest_tick() {
        let config = Config { timestamps: true, ..config() };
        let mut rtt = RttEstimator::new(&config, 0.009);
        rtt.sample(&config, ms(1056), ms(1000));
        assert_eq!(rtt.srtt8, 6 * 8);
    }

    #[test]
    fn a_sample_is_at_least_one_tick_and_the_timeout_at_least_min_rto() {
        let config = config();
        let mut rtt = RttEstimator::new(&config, 0.0);
        rtt.sample(&config, ms(1001), ms(1000));
        assert_eq!((rtt.srtt8, rtt.rttvar4), (8, 2));
        assert_eq!(rtt.timeout(), Span::from_secs(0.2));
    }

    #[test]
    fn the_timeout_is_at_least_two_ticks() {
        let config = Config { min_rto: 0.0, initial_rto: 0.001, ..config() };
        assert_eq!(RttEstimator::new(&config, 0.0).timeout(), Span::from_secs(0.02));
    }

    #[test]
    fn back_off_doubles_from_min_rto_to_max_rto_and_discards_srtt() {
        let config = config();
        let mut rtt = RttEstimator::new(&config, 0.0);
        rtt.sample(&config, ms(1041), ms(1000)); // 4 ticks: rto = 4 + 8 = 12 ticks, below min_rto
        let mut timeouts = Vec::new();
        for k in 1..=10 {
            rtt.back_off(&config);
            assert_eq!(rtt.srtt(&config).is_some(), k < 4, "discarded at a back-off of 16");
            timeouts.push(rtt.timeout().secs());
        }
        assert_eq!(timeouts, [0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0, 60.0]);
        assert_eq!(rtt.backoff, 512, "once the time-out is max_rto, the back-off stays");
        rtt.end_back_off(&config);
        assert_eq!(rtt.timeout().secs(), 0.2);
        // The next sample starts afresh: 10 ticks, rto = 10 + 20.
        rtt.sample(&config, ms(10_100), ms(10_000));
        assert_eq!((rtt.srtt8, rtt.rttvar4), (80, 20));
        assert_eq!(rtt.timeout(), Span::from_secs(0.3));
    }

    #[test]
    fn the_difference_is_a_16_bit_number() {
        let tick = 1.0 / 1024.0;
        let config = Config { tick, ..config() };
        let mut rtt = RttEstimator::new(&config, 0.0);
        rtt.sample(&config, Time::from_secs(100.0 * tick), Time::ZERO);
        assert_eq!(rtt.srtt8, 800);
        // 40 000 ticks more wrap to 40 000 - 65 536 = -25 536.
        rtt.sample(&config, Time::from_secs(40_100.0 * tick), Time::ZERO);
        assert_eq!(rtt.srtt8, 1, "800 - 25 536 is negative, so 1");
        // 4 rttvar = 200 + (25 536 - 200/4).
        assert_eq!(rtt.rttvar4, 25_686);
    }
}
