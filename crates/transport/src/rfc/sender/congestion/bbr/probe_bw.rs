//! ProbeBW (draft-ietf-ccwg-bbr-06, section 5.3.3): Down, Cruise, Refill and Up in turn.
//!
//! ```text
//! T_probe = min(2 to 3 s, min(BDP, cwnd, 62 or 63) round trips)            (section 5.3.3.8.2)
//! Up: inflight_longterm grows by 1, 2, 4, ... segments a round             (section 5.3.3.5)
//! ```

use aqmlab_units::{Span, Time};

use super::super::super::window::Window;
use super::super::delivery::{FullPipe, Sample, hash};
use super::{AckPhase, Acked, Bbr, MIN_PIPE_CWND, State};

/// Gains of the pacing rate in Down and Up.
pub const DOWN_PACING_GAIN: f64 = 0.9;
pub const UP_PACING_GAIN: f64 = 1.25;
/// Gain of the window in Up.
pub const UP_CWND_GAIN: f64 = 2.25;
/// Most rounds between probes.
const MOST_ROUNDS: f64 = 63.0;
/// Least time between probes but for those; it is up to a second more.
const LEAST_WAIT: f64 = 2.0;
/// Doublings of the rise in Up.
pub const MOST_DOUBLINGS: u32 = 30;

/// Where a cycle is.
#[derive(Clone, Debug)]
pub struct Cycle {
    stamp: Time,
    wait: Span,
    pub rounds_since_probe_up: u64,
    phase: AckPhase,
    pub is_probe_sample: bool,
    /// The last probe had too many losses; it was a cautious one.
    pub too_high: bool,
    precautionary: bool,
    up_rounds: u32,
    up_acked: f64,
    acked_per_increase: f64,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            stamp: Time::ZERO,
            wait: Span::ZERO,
            rounds_since_probe_up: 0,
            phase: AckPhase::Init,
            is_probe_sample: false,
            too_high: false,
            precautionary: false,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_increase: f64::INFINITY,
        }
    }
}

impl Bbr {
    pub(super) fn start_down(&mut self, now: Time) {
        self.losses.reset();
        self.marks.reset();
        let drawn = hash(now.0);
        self.cycle.acked_per_increase = f64::INFINITY;
        self.cycle.rounds_since_probe_up = drawn & 1;
        self.cycle.wait = Span::from_secs(LEAST_WAIT + (drawn >> 11) as f64 / (1_u64 << 53) as f64);
        self.cycle.stamp = now;
        self.cycle.phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    /// With `up_rounds` as if so many rounds of Up were over, so that the bound rises the faster.
    pub(super) fn start_refill(&mut self, up_rounds: u32) {
        self.reset_short_term();
        self.cycle.up_rounds = up_rounds;
        self.cycle.up_acked = 0.0;
        self.cycle.precautionary = false;
        self.cycle.phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, cwnd: f64, sample: &Sample) {
        self.cycle.phase = AckPhase::Starting;
        self.start_round();
        self.full_pipe = FullPipe::from_rate(sample.rate.unwrap_or(0.0));
        self.state = State::Up;
        self.raise_slope(cwnd);
    }

    /// Discard the probe that was in progress before ProbeRTT.
    pub(super) fn stop_probing(&mut self) {
        self.cycle.phase = AckPhase::Stopping;
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle(&mut self, window: &Window, sample: &Sample, ack: &Acked) {
        if !self.full_bw_reached || self.adapt_long_term(window, sample, ack) {
            return;
        }
        let goes_down = self.state == State::Up && self.is_time_to_go_down(window, sample, ack);
        match self.state {
            State::Down | State::Cruise if self.have_marks_ceased(ack) => {
                self.start_refill(self.reprobe_rounds());
            }
            State::Down | State::Cruise if self.is_time_to_probe(window.cwnd, ack.now) => {
                self.start_refill(0);
            }
            State::Down if self.is_time_to_cruise(ack) => self.start_cruise(),
            State::Refill if self.rounds.start => {
                self.cycle.is_probe_sample = true;
                self.start_up(window.cwnd, sample);
            }
            State::Up if goes_down => {
                self.cycle.too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    fn is_time_to_probe(&self, cwnd: f64, now: Time) -> bool {
        let rounds = self.target_inflight(cwnd).min(MOST_ROUNDS);
        now > self.cycle.stamp + self.cycle.wait || self.cycle.rounds_since_probe_up as f64 >= rounds
    }

    fn is_time_to_cruise(&self, ack: &Acked) -> bool {
        let in_flight = ack.in_flight as f64;
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight_at_max_bw()
    }

    fn is_time_to_go_down(&mut self, window: &Window, sample: &Sample, ack: &Acked) -> bool {
        if self.cycle.too_high && ack.in_flight as f64 >= self.inflight_longterm {
            self.cycle.precautionary = true;
            return true;
        }
        if ack.cwnd_limited && window.cwnd >= self.inflight_longterm {
            self.full_pipe = FullPipe::from_rate(sample.rate.unwrap_or(0.0));
            return false;
        }
        self.full_pipe.is_full()
    }

    /// The bound less room for others (InflightWithHeadroom).
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (self.config.headroom * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    pub(super) fn target_inflight(&self, cwnd: f64) -> f64 {
        self.bdp(1.0).min(cwnd)
    }

    fn raise_slope(&mut self, cwnd: f64) {
        let growth = f64::from(1_u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MOST_DOUBLINGS);
        self.cycle.acked_per_increase = (cwnd / growth).max(1.0);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_upward(&mut self, window: &Window, ack: &Acked) {
        if !ack.cwnd_limited || window.cwnd < self.inflight_longterm {
            return;
        }
        self.cycle.up_acked += ack.delivered as f64;
        let steps = (self.cycle.up_acked / self.cycle.acked_per_increase).floor();
        if steps > 0.0 {
            self.cycle.up_acked -= steps * self.cycle.acked_per_increase;
            self.inflight_longterm += steps;
        }
        if self.rounds.start {
            self.raise_slope(window.cwnd);
        }
    }

    /// AdaptLongTermModel; return whether it has chosen the next state.
    fn adapt_long_term(&mut self, window: &Window, sample: &Sample, ack: &Acked) -> bool {
        if self.cycle.phase == AckPhase::Starting && self.rounds.start {
            self.cycle.phase = AckPhase::Feedback;
        }
        if self.cycle.phase == AckPhase::Stopping && self.rounds.start {
            self.cycle.is_probe_sample = false;
            self.cycle.phase = AckPhase::Init;
            if self.state.probes_bw() && !sample.app_limited {
                self.advance_max_bw();
            }
            if self.state.probes_bw() && self.cycle.precautionary && !self.cycle.too_high {
                self.start_refill(0);
                return true;
            }
        }
        if self.are_marks_too_many(sample) && self.cycle.is_probe_sample {
            self.answer_inflight_too_high(window, ack.now, sample);
            return false;
        }
        if !self.is_inflight_too_high(sample) && self.inflight_longterm.is_finite() {
            self.inflight_longterm = self.inflight_longterm.max(sample.in_flight);
            if self.state == State::Up {
                self.probe_upward(window, ack);
            }
        }
        false
    }
}
