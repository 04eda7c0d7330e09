//! LEDBAT: a background transfer that keeps the delay of the queue at a target and gives way to others.
//!
//! S. Shalunov et al., RFC 6817, section 2.4.2. The window follows the distance of the queue's delay, one way, from
//! the target:
//!
//! ```text
//! off_target = (TARGET - queuing_delay) / TARGET
//! cwnd += GAIN off_target acknowledged / cwnd                              (in segments)
//! cwnd <= flightsize + ALLOWED_INCREASE,  cwnd >= MIN_CWND                 (whether or not the window is used)
//! cwnd = max(cwnd / 2, MIN_CWND) for a loss, once a round trip
//! ```
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | TARGET | `ledbat_target` | s | 100 ms | 10 us to 1 s | section 2.5: at most 100 ms |
//! | GAIN | `ledbat_gain` | | 1 | 0.001 to 1000 | section 2.5: at most 1; RFC 7928, section 5.4: 10 |
//! | ALLOWED_INCREASE | `ledbat_allowed_increase` | packets | 1 | 0.001 to 1000 | section 2.5 |
//! | MIN_CWND | `ledbat_min_cwnd` | packets | 2 | 1 to 1000 | section 2.5 |
//! | BASE_HISTORY | `ledbat_base_history` | minutes | 10 | 1 to 60 | section 2.5 |
//! | FILTER | `ledbat_filter` | | min | min, ewma | section 2.4.2, ns-3: min |
//! | CURRENT_FILTER | `ledbat_filter_length` | samples of a round trip | 4 | 1 to 64 | section 2.5, ns-3 |
//! | | `ledbat_slow_start` | | false | | section 2.4.2 has none, ns-3 has it |
//!
//! # Differences from the RFC
//! 1. Delays are those of the time stamps of RFC 7323, of acknowledgement less echo: with delayed acknowledgements the
//!    wait for the second segment is in both, base and current. They are exact; clocks agree and do not drift.
//! 2. Time-outs are TCP's (RFC 6298) in place of the congestion time-out.
//! 3. INIT_CWND is `initial_window`: 10 (RFC 6928), where section 2.5 would have 2.
//!
//! # Readings
//! 1. `ledbat_slow_start`: the window doubles until the queue's delay reaches the target, or a loss.
//! 2. Half the window after a loss is reached by PRR, as with the other controllers.

mod delay;

use aqmlab_units::Time;

use super::super::window::Window;
use super::{AckFeedback, reno};
use crate::rfc::LedbatConfig;
use delay::Delays;

/// State of LEDBAT.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: LedbatConfig,
    delays: Delays,
}

impl Ledbat {
    pub fn new(config: &LedbatConfig) -> Self {
        Self { config: *config, delays: Delays::new(config) }
    }

    /// Take the delay sample of an acknowledgement.
    pub fn on_feedback(&mut self, now: Time, feedback: &AckFeedback) {
        if let Some(delay) = feedback.one_way {
            self.delays.take(now, delay, feedback.srtt);
        }
    }

    /// Moves the window for `acked` segments, of which `flight` are left in flight.
    pub fn open_window(&mut self, window: &mut Window, acked: f64, flight: f64) {
        let target = self.config.target.secs();
        let off_target = (target - self.delays.queuing()) / target;
        if self.config.slow_start && window.in_slow_start() {
            if off_target > 0.0 {
                window.slow_start(acked);
                return;
            }
            window.ssthresh = window.cwnd;
        }
        let moved = window.cwnd + self.config.gain * off_target * acked / window.cwnd;
        let allowed = flight + acked + self.config.allowed_increase;
        window.cwnd = moved.min(allowed).max(self.config.min_cwnd.into());
    }

    /// A loss; the new threshold.
    pub fn reduce(&self, window: &Window) -> f64 {
        reno::reduce(window).max(self.config.min_cwnd.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_units::Span;
    use proptest::prelude::*;

    /// With a base of 30 ms and this delay of the queue, by now in all samples.
    fn queue(ms: u64, config: LedbatConfig) -> Ledbat {
        let mut ledbat = Ledbat::new(&config);
        for delay in [30, 30 + ms, 30 + ms, 30 + ms, 30 + ms] {
            on_feedback(&mut ledbat, delay);
        }
        ledbat
    }

    fn on_feedback(ledbat: &mut Ledbat, ms: u64) {
        let one_way = Some(Span::from_millis(ms));
        ledbat.on_feedback(
            Time::ZERO,
            &AckFeedback { delivered: 1, marked: 0, edges: (0, 0), one_way, srtt: None },
        );
    }

    fn grown(ledbat: &mut Ledbat, cwnd: f64, acked: f64, flight: f64) -> f64 {
        let mut window = Window::new(None, true);
        window.cwnd = cwnd;
        ledbat.open_window(&mut window, acked, flight);
        window.cwnd
    }

    #[test]
    fn the_window_follows_the_distance_from_the_target() {
        let grow = |ms| grown(&mut queue(ms, LedbatConfig::RFC), 10.0, 2.0, 8.0);
        assert_eq!(grow(0), 10.2);
        assert_eq!(grow(50), 10.1);
        assert_eq!(grow(100), 10.0);
        assert!((grow(200) - 9.8).abs() < 1e-12);
    }

    #[test]
    fn of_rfc_7928() {
        let config = LedbatConfig { target: Span::from_millis(5), gain: 10.0, ..LedbatConfig::RFC };
        // 10 (5 - 10) / 5 * 2 / 10 = -2.
        assert!((grown(&mut queue(10, config), 10.0, 2.0, 8.0) - 8.0).abs() < 1e-12);
        assert_eq!(grown(&mut queue(500, config), 10.0, 2.0, 8.0), 2.0, "not below MIN_CWND");
    }

    #[test]
    fn a_window_is_at_most_a_segment_above_what_was_in_flight() {
        assert_eq!(grown(&mut queue(0, LedbatConfig::RFC), 10.0, 2.0, 4.0), 7.0);
    }

    #[test]
    fn slow_start_ends_at_the_target() {
        let config = LedbatConfig { slow_start: true, ..LedbatConfig::RFC };
        assert_eq!(grown(&mut queue(99, config), 10.0, 2.0, 8.0), 12.0);
        let mut window = Window::new(None, true);
        window.cwnd = 10.0;
        queue(100, config).open_window(&mut window, 2.0, 8.0);
        assert_eq!((window.cwnd, window.ssthresh), (10.0, 10.0));
    }

    proptest! {
        #[test]
        fn the_window_stays_in_its_bounds(delays in prop::collection::vec(1u64..2000, 1..100), gain in 0.1..100.0) {
            let mut ledbat = Ledbat::new(&LedbatConfig { gain, ..LedbatConfig::RFC });
            let mut window = Window::new(None, true);
            window.cwnd = 10.0;
            for ms in delays {
                on_feedback(&mut ledbat, ms);
                let flight = window.cwnd.floor() - 1.0;
                ledbat.open_window(&mut window, 1.0, flight);
                prop_assert!((2.0..=flight + 2.0).contains(&window.cwnd) || window.cwnd == 2.0);
            }
        }
    }
}
