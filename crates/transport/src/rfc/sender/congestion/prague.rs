//! Prague: DCTCP for the Internet.
//!
//! K. De Schepper et al., "Prague congestion control", draft-briscoe-iccrg-prague-congestion-control-02, and its
//! reference, `tcp_prague` of the L4S kernel (module version 0.6). As DCTCP it takes half of the average share of marks
//! off the window, but it asks for L4S by ECT(1), goes on growing while it reduces, paces, and below a virtual round trip
//! of 25 ms it is as slow as a flow that has one (sections 2.3.2 and 2.4.2 to 2.4.4 of the draft, 2.5.1 for the pace):
//!
//! ```text
//! F = marked / acknowledged in a round trip, not shorter than the virtual one
//! alpha += g (F - alpha), from the first mark on, when that mark is answered; 1 before
//! cwnd = cwnd (1 - alpha / 2), at most once in a round trip, virtual or not
//! cwnd += a / cwnd a segment acknowledged unmarked
//! a = min(1, (SRTT / RTT_virt)^2)
//! cwnd = cwnd / 2 for a loss
//! ```
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | g | `prague_g` | | 1/16 | 0 to 1 | Linux PRAGUE_SHIFT_G |
//! | RTT_virt | `prague_rtt_target` | s | 25 ms | 1 us to 1 s | Linux prague_rtt_target |
//! | | `prague_rtt_transition` | rounds | 500 | 0 to 1e6 | Linux prague_rtt_transition |
//!
//! # Differences from Linux
//! 1. The window is a real number, and falls at once: Linux takes a segment off with each acknowledgement. After a loss
//!    it shrinks by PRR.
//! 2. What was not marked of an acknowledgement's segments is at most what it delivers.
//! 3. No detection of classic ECN, and no fall-back to Reno's answer where it is found (off by default in Linux, and
//!    gone in version 0.7): behind a queue of classic ECN it takes more than Reno does. Nor is there one to Reno where
//!    feedback is not accurate: here it always is.
//! 4. Version 0.7 has the average begin with 0 and halves the window at the first mark, which is the same; counts the
//!    virtual round trip after 4 rounds (`prague_rtt_transition`); and has a rate in place of a window of less than four
//!    packets, smaller packets at low rates and a pace that sways by 3 %, which are not followed.
//!
//! # Readings
//! 1. Flows are independent of the round trip only after `prague_rtt_transition` rounds of congestion avoidance; 0: from
//!    the beginning of it on.
//! 2. Of the heuristics for the increase, the default: equal rates (`RTT_CONTROL_RATE`).

use aqmlab_units::{Span, Time};

use super::super::window::Window;
#[cfg(test)]
use super::tests::Change;
use super::{AckFeedback, Cause, Controller, reno};
#[cfg(test)]
use crate::Value;
use crate::ValueKind;
use crate::parameters::{number, time, whole};
use crate::rfc::{Config, EcnFeedback};
use crate::settings::{Setting, field};

/// Paces in slow start, at twice the window a round trip, and later at once the window.
const SLOW_START_RATIO: f64 = 2.0;

/// Parameters of Prague.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PragueConfig {
    /// Weight of a round trip in the average share of marks.
    pub g: f64,
    /// The virtual round-trip time: a flow with a shorter one is as slow as one with this.
    pub rtt_target: Span,
    /// Rounds of congestion avoidance before the virtual round-trip time applies.
    pub rtt_transition: u32,
}

impl PragueConfig {
    /// The values of the L4S kernel.
    pub const LINUX: Self = Self { g: 1.0 / 16.0, rtt_target: Span::from_millis(25), rtt_transition: 500 };
}

/// State of Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    config: PragueConfig,
    alpha: f64,
    /// The average before the latest acknowledgement, which the response to its marks uses.
    alpha_before: f64,
    marks_seen: bool,
    /// The round trip is over when this segment is acknowledged.
    round_end: u64,
    /// Round trips outside slow start.
    rounds: u32,
    acked: u64,
    marked: u64,
    averaged_at: Time,
    reduced_at: Option<Time>,
    /// Of the latest acknowledgement: its time, and its segments that were not marked.
    now: Time,
    unmarked: f64,
    srtt: Span,
}

impl Controller for Prague {
    const NAME: &'static str = "prague";
    const DOC: &'static str = "the share of marked packets";
    const SOURCE: &'static str = "draft-briscoe-iccrg-prague-congestion-control-02, Linux (L4S) 0.6";
    const FEEDBACK: &'static [EcnFeedback] = &[EcnFeedback::Accurate];
    const IS_L4S: bool = true;
    const NEEDS_FEEDBACK: bool = true;
    const REDUCES_FOR_LOSS_AFTER_MARK: bool = true;
    const ANSWERS_MARKS_AT_ONCE: bool = true;
    const PACES: bool = true;

    type Options = PragueConfig;
    const DEFAULTS: PragueConfig = PragueConfig::LINUX;
    const SETTINGS: &'static [Setting<Self::Options>] = &[
        number(
            "prague_g",
            ValueKind::Number,
            ("0.0625", 1e-6, 1.0),
            "Prague: weight of a round trip in the average share of marked packets.",
            "Linux (L4S) tcp_prague, PRAGUE_SHIFT_G: 1/16",
        )
        .is(field!(g)),
        time(
            "prague_rtt_target",
            ("25ms", 1e-6, 1.0),
            "Prague: the virtual round-trip time; a flow with a shorter one is as slow as one with this.",
            "Linux (L4S) tcp_prague, prague_rtt_target",
        )
        .is(field!(rtt_target)),
        whole(
            "prague_rtt_transition",
            ValueKind::Number,
            ("500", 0.0, 1e6),
            "Prague: rounds of congestion avoidance before the virtual round-trip time counts.",
            "Linux (L4S) tcp_prague, prague_rtt_transition",
        )
        .is(field!(rtt_transition)),
    ];

    fn new(config: &Config) -> Self {
        Self::with(&config.controllers.prague)
    }

    /// The connection opens: the first round trip begins.
    fn open(&mut self, now: Time, next: u64, _: Option<Span>) {
        self.averaged_at = now;
        self.round_end = next;
    }

    /// Take an acknowledgement; update the average at the end of a round trip.
    fn on_feedback(&mut self, window: &Window, now: Time, feedback: &AckFeedback) {
        self.now = now;
        self.alpha_before = self.alpha;
        self.srtt = feedback.srtt.unwrap_or_default();
        self.unmarked = feedback.delivered.saturating_sub(feedback.marked) as f64;
        self.marks_seen |= feedback.marked > 0;
        self.acked += feedback.delivered;
        self.marked += feedback.marked;
        let (una, next) = feedback.edges;
        let early = self.is_independent(window) && now.since(self.averaged_at) < self.config.rtt_target;
        if una < self.round_end || early {
            return;
        }
        if self.marks_seen && self.acked > 0 {
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha += self.config.g * (share - self.alpha);
            self.averaged_at = now;
        }
        self.round_end = next;
        self.rounds = self.rounds.saturating_add(u32::from(!window.in_slow_start()));
        self.acked = 0;
        self.marked = 0;
    }

    /// Opens the window for `acked` segments, of which the marked do not count.
    fn open_window(&mut self, window: &mut Window, _: Time, acked: f64, _: f64) {
        let mut left = acked.min(self.unmarked);
        if window.in_slow_start() {
            left = window.slow_start(left);
        }
        window.cwnd += self.increase(window) * left / window.cwnd;
    }

    /// A loss or a mark; the new threshold.
    fn reduce(&mut self, window: &Window, cause: Cause) -> f64 {
        if cause == Cause::Loss {
            return reno::reduce(window);
        }
        let recent = self.reduced_at.is_some_and(|at| self.now.since(at) < self.config.rtt_target);
        if recent && self.is_independent(window) {
            return window.cwnd;
        }
        self.reduced_at = Some(self.now);
        window.real_threshold(1.0 - self.alpha_before / 2.0)
    }

    /// Time between two segments.
    fn gap(&self, window: &Window, srtt: Option<Span>) -> Option<Span> {
        let ratio = if window.cwnd < window.ssthresh / 2.0 { SLOW_START_RATIO } else { 1.0 };
        srtt.map(|srtt| Span::from_secs(srtt.secs() / (ratio * window.cwnd.max(1.0))))
    }

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let independent = ("prague_rtt_transition", Value::Whole(0));
        let target = Value::Time(Span::from_millis(100));
        vec![
            Change::to("prague_g", Value::Real(0.5)),
            Change::to("prague_rtt_target", target).with(independent),
            Change::to("prague_rtt_transition", Value::Whole(0)).with(("prague_rtt_target", target)),
        ]
    }
}

impl Prague {
    fn with(config: &PragueConfig) -> Self {
        Self {
            config: *config,
            alpha: 1.0,
            alpha_before: 1.0,
            marks_seen: false,
            round_end: 0,
            rounds: 0,
            acked: 0,
            marked: 0,
            averaged_at: Time::ZERO,
            reduced_at: None,
            now: Time::ZERO,
            unmarked: 0.0,
            srtt: Span::ZERO,
        }
    }

    fn is_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.rounds >= self.config.rtt_transition
    }

    /// Segments a round trip by which the window grows.
    fn increase(&self, window: &Window) -> f64 {
        if !self.is_independent(window) || self.srtt >= self.config.rtt_target {
            return 1.0;
        }
        let ratio = self.srtt.secs() / self.config.rtt_target.secs();
        ratio * ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feedback(delivered: u64, marked: u64, edges: (u64, u64), rtt_ms: u64) -> AckFeedback {
        AckFeedback { delivered, marked, edges, one_way: None, srtt: Some(Span::from_millis(rtt_ms)) }
    }

    fn window(cwnd: f64, ssthresh: u32) -> Window {
        let mut window = Window::new(Some(ssthresh), true);
        window.cwnd = cwnd;
        window
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_average_waits_for_the_first_mark() {
        let mut p = Prague::with(&PragueConfig::LINUX);
        let w = window(10.0, 2);
        p.open(ms(0), 10, None);
        p.on_feedback(&w, ms(40), &feedback(10, 0, (10, 20), 40));
        assert_eq!((p.alpha, p.rounds), (1.0, 1));
        p.on_feedback(&w, ms(80), &feedback(10, 5, (20, 30), 40));
        assert_eq!(p.alpha, 1.0 - 0.5 / 16.0);
    }

    #[test]
    fn a_mark_takes_half_of_alpha_off_and_the_unmarked_add() {
        let mut p = Prague { alpha: 0.2, alpha_before: 0.2, ..Prague::with(&PragueConfig::LINUX) };
        let mut w = window(20.0, 2);
        assert_eq!(p.reduce(&w, Cause::Mark), 18.0);
        assert_eq!(p.reduce(&w, Cause::Loss), 10.0);
        p.on_feedback(&w, ms(40), &feedback(4, 2, (5, 20), 40));
        p.open_window(&mut w, ms(0), 4.0, 0.0);
        assert_eq!(w.cwnd, 20.1);
    }

    #[test]
    fn a_mark_is_answered_by_the_average_before_it() {
        let mut p = Prague::with(&PragueConfig::LINUX);
        let w = window(20.0, 2);
        p.open(ms(0), 10, None);
        p.on_feedback(&w, ms(40), &feedback(10, 1, (10, 30), 40));
        assert_eq!(p.alpha, 1.0 - 0.9 / 16.0);
        assert_eq!(p.reduce(&w, Cause::Mark), 10.0, "the first mark halves the window");
        p.on_feedback(&w, ms(50), &feedback(1, 1, (11, 31), 40));
        assert_eq!(p.reduce(&w, Cause::Mark), 20.0 * (1.0 - (1.0 - 0.9 / 16.0) / 2.0));
    }

    #[test]
    fn a_short_round_trip_is_taken_for_the_virtual_one() {
        let config = PragueConfig { rtt_transition: 0, ..PragueConfig::LINUX };
        let mut p = Prague { alpha: 0.2, alpha_before: 0.2, ..Prague::with(&config) };
        let mut w = window(10.0, 2);
        p.on_feedback(&w, ms(100), &feedback(10, 0, (0, 10), 5));
        p.open_window(&mut w, ms(0), 10.0, 0.0);
        assert!((w.cwnd - 10.04).abs() < 1e-12, "(5 / 25)^2");
        assert!(p.reduce(&w, Cause::Mark) < w.cwnd);
        p.on_feedback(&w, ms(120), &feedback(1, 1, (10, 20), 5));
        assert_eq!(p.reduce(&w, Cause::Mark), w.cwnd, "20 ms later");
        p.on_feedback(&w, ms(125), &feedback(1, 1, (11, 21), 5));
        assert!(p.reduce(&w, Cause::Mark) < w.cwnd);
        let young = Prague::with(&PragueConfig::LINUX);
        assert_eq!(young.increase(&w), 1.0, "500 rounds later");
    }

    #[test]
    fn paces_at_twice_the_window_in_slow_start() {
        let p = Prague::with(&PragueConfig::LINUX);
        let srtt = Some(Span::from_millis(40));
        assert_eq!(p.gap(&window(10.0, 100), srtt), Some(Span::from_millis(2)));
        assert_eq!(p.gap(&window(10.0, 5), srtt), Some(Span::from_millis(4)));
    }

    proptest! {
        #[test]
        fn windows_and_averages_stay_in_their_bounds(
            steps in prop::collection::vec((1u64..20, 0u64..25, any::<bool>()), 1..200),
            rtt_transition in 0u32..3,
        ) {
            let mut p = Prague::with(&PragueConfig { rtt_transition, ..PragueConfig::LINUX });
            let mut w = window(10.0, 50);
            let mut una = 0;
            for (k, (delivered, marked, lost)) in steps.into_iter().enumerate() {
                una += delivered;
                p.on_feedback(&w, ms(10 * k as u64), &feedback(delivered, marked, (una, una + 10), 10));
                p.open_window(&mut w, ms(0), delivered as f64, 0.0);
                if marked > 0 || lost {
                    w.ssthresh = p.reduce(&w, if lost { Cause::Loss } else { Cause::Mark });
                    w.cwnd = w.cwnd.min(w.ssthresh);
                }
                prop_assert!((0.0..=1.0).contains(&p.alpha));
                prop_assert!(w.cwnd >= 2.0 && w.cwnd.is_finite());
            }
        }
    }
}
