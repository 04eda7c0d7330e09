//! Startup and Drain (draft-ietf-ccwg-bbr-06, sections 5.3.1 and 5.3.2): the rate doubles each round until the path is
//! full, then the queue that this has made is drained.

use super::super::delivery::Sample;
use super::{Acked, Bbr, State};

/// The rate is sent at so many times the one measured; and when draining.
pub const PACING_GAIN: f64 = 2.77;
pub const DRAIN_PACING_GAIN: f64 = 0.5;
/// Losses in a round with which Startup ends, in so many ranges.
const FULL_LOSS_COUNT: u32 = 6;
/// Rounds after which Drain ends in any case.
const MOST_DRAIN_ROUNDS: u64 = 3;

impl Bbr {
    /// Whether the rate has stopped growing (section 5.3.1.2).
    pub(super) fn check_full_bw(&mut self, sample: &Sample) {
        if self.full_pipe.is_full() || !self.rounds.start || sample.app_limited {
            return;
        }
        self.full_pipe.update(sample.rate.unwrap_or(0.0));
        self.full_bw_reached |= self.full_pipe.is_full();
    }

    pub(super) fn check_startup_done(&mut self, sample: &Sample, ack: &Acked) {
        self.check_startup_losses(sample, ack);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// Many losses in a round of recovery end Startup too (section 5.3.1.3).
    fn check_startup_losses(&mut self, sample: &Sample, ack: &Acked) {
        if !self.losses.round_start {
            return;
        }
        let least = if self.sack { FULL_LOSS_COUNT } else { 1 };
        let many = ack.repairs && self.losses.events >= least;
        if !self.full_bw_reached && many && self.is_inflight_too_high(sample) {
            self.losses.undo = Some(State::Startup);
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp(1.0).max(self.losses.inflight_latest);
        }
        self.losses.events = 0;
    }

    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    pub(super) fn check_drain_done(&mut self, ack: &Acked) {
        let late = self.rounds.count > self.drain_start_round + MOST_DRAIN_ROUNDS;
        if self.state == State::Drain && (ack.in_flight as f64 <= self.inflight(1.0) || late) {
            self.start_down(ack.now);
        }
    }
}
