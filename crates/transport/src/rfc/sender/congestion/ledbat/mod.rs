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

use aqmlab_units::{Span, Time};

use super::super::window::Window;
#[cfg(test)]
use super::tests::Change;
use super::{AckFeedback, Cause, Controller, reno};
#[cfg(test)]
use crate::Value;
use crate::ValueKind;
use crate::parameters::{choice, flag, number, time, whole};
use crate::rfc::Config;
use crate::settings::{Setting, field, slot_of_words};
use delay::Delays;

/// The filter that LEDBAT applies to its latest delay samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DelayFilter {
    /// The least of them.
    Minimum,
    /// A moving average, in which one has a weight of 1/length.
    Average,
}

impl DelayFilter {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Minimum, Self::Average];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimum => "min",
            Self::Average => "ewma",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

slot_of_words!(DelayFilter);

/// Parameters of LEDBAT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedbatConfig {
    /// Target queueing delay.
    pub target: Span,
    /// Segments a window by which the window grows without a queue.
    pub gain: f64,
    /// Segments that the window may be above what was in flight.
    pub allowed_increase: f64,
    /// Least window, in segments.
    pub min_cwnd: u32,
    /// Minutes after which a minimum delay expires.
    pub base_history: u32,
    /// Filter of the latest delay samples.
    pub filter: DelayFilter,
    /// Number of delay samples in the filter.
    pub filter_length: u32,
    /// Whether the window doubles each round trip until the target is reached.
    pub slow_start: bool,
}

impl LedbatConfig {
    /// The values of RFC 6817, section 2.5.
    pub const RFC: Self = Self {
        target: Span::from_millis(100),
        gain: 1.0,
        allowed_increase: 1.0,
        min_cwnd: 2,
        base_history: 10,
        filter: DelayFilter::Minimum,
        filter_length: 4,
        slow_start: false,
    };
}

/// State of LEDBAT.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: LedbatConfig,
    delays: Delays,
}

impl Controller for Ledbat {
    const NAME: &'static str = "ledbat";
    const DOC: &'static str = "the delay of the queue, one way";
    const SOURCE: &'static str = "RFC 6817";
    const NEEDS_ONE_WAY_DELAY: bool = true;
    const NEEDS_FEEDBACK: bool = true;
    const MOVES_UNUSED_WINDOWS: bool = true;

    type Options = LedbatConfig;
    const DEFAULTS: LedbatConfig = LedbatConfig::RFC;
    const SETTINGS: &'static [Setting<Self::Options>] = &[
        time(
            "ledbat_target",
            ("100ms", 1e-5, 1.0),
            "LEDBAT: target queueing delay; 5 ms in the scenarios of RFC 7928.",
            "RFC 6817, section 2.5: at most 100 ms",
        )
        .is(field!(target)),
        number(
            "ledbat_gain",
            ValueKind::Number,
            ("1", 1e-3, 1000.0),
            "LEDBAT: segments a window by which the window grows without a queue; 10 in the scenarios of RFC 7928.",
            "RFC 6817, section 2.5: at most 1",
        )
        .is(field!(gain)),
        number(
            "ledbat_allowed_increase",
            ValueKind::Packets,
            ("1p", 1e-3, 1000.0),
            "LEDBAT: how far the window may exceed the data in flight.",
            "RFC 6817, section 2.5",
        )
        .is(field!(allowed_increase)),
        whole(
            "ledbat_min_cwnd",
            ValueKind::Packets,
            ("2p", 1.0, 1000.0),
            "LEDBAT: least window.",
            "RFC 6817, section 2.5",
        )
        .is(field!(min_cwnd)),
        whole(
            "ledbat_base_history",
            ValueKind::Number,
            ("10", 1.0, 60.0),
            "LEDBAT: minutes after which a minimum delay expires.",
            "RFC 6817, section 2.5",
        )
        .is(field!(base_history)),
        choice(
            "ledbat_filter",
            "min",
            &["min", "ewma"],
            "LEDBAT: filter of the latest delays, their minimum or a moving average.",
            "RFC 6817, section 2.4.2, leaves it open; ns-3: min",
        )
        .is(field!(filter)),
        whole(
            "ledbat_filter_length",
            ValueKind::Number,
            ("4", 1.0, 64.0),
            "LEDBAT: number of delays of the last round trip in the filter; of an average, the reciprocal of the weight of a delay.",
            "RFC 6817, section 2.5, CURRENT_FILTER; ns-3: 4",
        )
        .is(field!(filter_length)),
        flag(
            "ledbat_slow_start",
            "false",
            "LEDBAT: whether the window doubles each round trip until the target is reached.",
            "RFC 6817, section 2.4.2, has none; ns-3: true",
        )
        .is(field!(slow_start)),
    ];

    fn new(config: &Config) -> Self {
        Self::with(&config.controllers.ledbat)
    }

    /// Take the delay sample of an acknowledgement.
    fn on_feedback(&mut self, _: &Window, now: Time, feedback: &AckFeedback) {
        if let Some(delay) = feedback.one_way {
            self.delays.take(now, delay, feedback.srtt);
        }
    }

    /// Moves the window for `acked` segments, of which `flight` are left in flight.
    fn open_window(&mut self, window: &mut Window, _: Time, acked: f64, flight: f64) {
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
    fn reduce(&mut self, window: &Window, _: Cause) -> f64 {
        reno::reduce(window).max(self.config.min_cwnd.into())
    }

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let short = ("ledbat_target", Value::Time(Span::from_millis(5)));
        vec![
            Change::to("ledbat_target", Value::Time(Span::from_millis(20))),
            Change::to("ledbat_gain", Value::Real(10.0)),
            Change::to("ledbat_allowed_increase", Value::Real(3.0)).with(("ledbat_gain", Value::Real(100.0))),
            Change::to("ledbat_min_cwnd", Value::Whole(40)).with(short),
            Change::to("ledbat_base_history", Value::Whole(1)).after(90),
            Change::to("ledbat_filter", Value::Word("ewma")),
            Change::to("ledbat_filter_length", Value::Whole(20)),
            Change::to("ledbat_slow_start", Value::Flag(true)),
        ]
    }
}

impl Ledbat {
    fn with(config: &LedbatConfig) -> Self {
        Self { config: *config, delays: Delays::new(config) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// With a base of 30 ms and this delay of the queue, by now in all samples.
    fn queue(ms: u64, config: LedbatConfig) -> Ledbat {
        let mut ledbat = Ledbat::with(&config);
        for delay in [30, 30 + ms, 30 + ms, 30 + ms, 30 + ms] {
            on_feedback(&mut ledbat, delay);
        }
        ledbat
    }

    fn on_feedback(ledbat: &mut Ledbat, ms: u64) {
        let one_way = Some(Span::from_millis(ms));
        ledbat.on_feedback(
            &Window::new(None, true),
            Time::ZERO,
            &AckFeedback { delivered: 1, marked: 0, edges: (0, 0), one_way, srtt: None },
        );
    }

    fn grown(ledbat: &mut Ledbat, cwnd: f64, acked: f64, flight: f64) -> f64 {
        let mut window = Window::new(None, true);
        window.cwnd = cwnd;
        ledbat.open_window(&mut window, Time::ZERO, acked, flight);
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
        queue(100, config).open_window(&mut window, Time::ZERO, 2.0, 8.0);
        assert_eq!((window.cwnd, window.ssthresh), (10.0, 10.0));
    }

    proptest! {
        #[test]
        fn the_window_stays_in_its_bounds(delays in prop::collection::vec(1u64..2000, 1..100), gain in 0.1..100.0) {
            let mut ledbat = Ledbat::with(&LedbatConfig { gain, ..LedbatConfig::RFC });
            let mut window = Window::new(None, true);
            window.cwnd = 10.0;
            for ms in delays {
                on_feedback(&mut ledbat, ms);
                let flight = window.cwnd.floor() - 1.0;
                ledbat.open_window(&mut window, Time::ZERO, 1.0, flight);
                prop_assert!((2.0..=flight + 2.0).contains(&window.cwnd) || window.cwnd == 2.0);
            }
        }
    }
}
