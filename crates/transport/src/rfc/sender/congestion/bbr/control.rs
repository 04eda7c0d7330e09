//! Rate and window from the model (draft-ietf-ccwg-bbr-06, section 5.6), and how much acknowledgements come in bursts
//! (section 5.5.9).

use aqmlab_units::Time;

use super::super::super::window::Window;
use super::{Acked, Bbr, DEFAULT_CWND_GAIN, MIN_PIPE_CWND, State, probe_bw, probe_rtt, startup};

/// Bounds of the send quantum, in segments and bytes (section 5.6.3).
const LEAST_QUANTUM: f64 = 2.0;
const GREATEST_QUANTUM_BYTES: f64 = 65_536.0;
/// Quanta of room for offload (section 5.5.8.1).
const OFFLOAD_QUANTA: f64 = 3.0;
/// The room added in Up, in segments (section 5.6.4.2).
const UP_ROOM: f64 = 2.0;
/// Rounds of a slot of the greatest `extra_acked`: two slots are kept (Linux).
const SLOT_ROUNDS: u64 = 5;

/// Estimate of the segments acknowledged beyond the rate at a time.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    start: Time,
    delivered: f64,
    /// Greatest of the slot before, and of this one, and when this one began.
    slots: [f64; 2],
    slot_start: u64,
}

impl Aggregation {
    pub fn begin(&mut self, now: Time) {
        self.start = now;
        self.delivered = 0.0;
    }
}

impl Bbr {
    /// UpdateACKAggregation.
    pub(super) fn update_aggregation(&mut self, cwnd: f64, ack: &Acked) {
        let a = &mut self.aggregation;
        let mut expected = self.bw * ack.now.since(a.start).secs();
        if a.delivered <= expected {
            a.begin(ack.now);
            expected = 0.0;
        }
        a.delivered += ack.delivered as f64;
        let extra = (a.delivered - expected).min(cwnd);
        let rounds = if self.full_bw_reached { SLOT_ROUNDS } else { 1 };
        if self.rounds.count >= a.slot_start + rounds {
            a.slots = [if self.full_bw_reached { a.slots[1] } else { 0.0 }, 0.0];
            a.slot_start = self.rounds.count;
        }
        a.slots[1] = a.slots[1].max(extra);
    }

    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => startup::PACING_GAIN,
            State::Drain => startup::DRAIN_PACING_GAIN,
            State::Down => probe_bw::DOWN_PACING_GAIN,
            State::Up => probe_bw::UP_PACING_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => probe_bw::UP_CWND_GAIN,
            State::ProbeRtt => probe_rtt::CWND_GAIN,
            _ => DEFAULT_CWND_GAIN,
        }
    }

    /// SetPacingRateWithGain; in segments a second.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - self.config.pacing_margin);
        if rate > 0.0 && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// BDPMultiple, in segments.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        self.volume(gain * self.bw)
    }

    /// Return the segments in flight at this rate.
    fn volume(&self, rate: f64) -> f64 {
        self.min_rtt.map_or(self.initial_cwnd, |min_rtt| rate * min_rtt.secs())
    }

    /// QuantizationBudget.
    fn with_room(&self, inflight: f64) -> f64 {
        let most = GREATEST_QUANTUM_BYTES / self.mss;
        let quantum = (self.pacing_rate * 1e-3).min(most).max(LEAST_QUANTUM);
        let room = if self.state == State::Up { UP_ROOM } else { 0.0 };
        inflight.max(OFFLOAD_QUANTA * quantum).max(MIN_PIPE_CWND) + room
    }

    /// Inflight.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.with_room(self.bdp(gain))
    }

    /// The same for the greatest rate, whatever bounds there are for the short term.
    pub(super) fn inflight_at_max_bw(&self) -> f64 {
        self.with_room(self.volume(self.max_bw()))
    }

    /// SetCwnd.
    pub(super) fn set_cwnd(&self, window: &mut Window, newly_acked: f64) {
        let extra = self.aggregation.slots[0].max(self.aggregation.slots[1]);
        let max_inflight = self.with_room(self.bdp(self.cwnd_gain()) + extra);
        let mut cwnd = window.cwnd;
        if self.full_bw_reached {
            cwnd = (cwnd + newly_acked).min(max_inflight);
        } else if cwnd < max_inflight || (self.deliveries.delivered as f64) < self.initial_cwnd {
            cwnd += newly_acked;
        }
        cwnd = cwnd.max(MIN_PIPE_CWND);
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        window.cwnd = cwnd.min(self.cap());
    }

    /// The bound of the window by recent congestion (BoundCwndForModel).
    fn cap(&self) -> f64 {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        cap.min(self.inflight_shortterm).max(MIN_PIPE_CWND)
    }
}
