//! BBR's response to losses (draft-ietf-ccwg-bbr-06, section 5.5.10).
//!
//! Losses of what was sent while probing bound what may be in flight in the long term; other losses, for the short term,
//! rate and volume to what was delivered in the last round, at most 30 % less at a time.

use aqmlab_units::Time;

use super::super::super::window::Window;
use super::super::delivery::{FullPipe, Sample};
use super::{Bbr, State};

/// Signals of a round.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    in_round: bool,
    pub in_cycle: bool,
    /// The round of losses is over when something arrives that was sent after so much was delivered.
    round_delivered: u64,
    pub round_start: bool,
    /// Acknowledgements of this round that reported losses.
    pub events: u32,
    bw_latest: f64,
    pub inflight_latest: f64,
    /// The probing state when losses were answered, and the bounds before, in case they turn out to be no losses.
    pub undo: Option<State>,
    undo_bw_shortterm: f64,
    undo_inflight_shortterm: f64,
    undo_inflight_longterm: f64,
}

impl Signals {
    /// At the beginning of a cycle.
    pub fn reset(&mut self) {
        self.in_round = false;
        self.in_cycle = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }
}

impl Bbr {
    /// These segments were found lost, on account of one acknowledgement.
    pub fn note_losses(&mut self, window: &Window, now: Time, lost: &[u64]) {
        self.losses.events += u32::from(!lost.is_empty());
        for &k in lost {
            self.note_loss(window, now, k);
        }
    }

    /// Enter recovery after a loss or a mark; the threshold stays.
    pub fn enter_recovery(&mut self, window: &Window) -> f64 {
        self.save_state(window.cwnd);
        window.ssthresh
    }

    fn note_loss(&mut self, window: &Window, now: Time, k: u64) {
        self.deliveries.lost += 1;
        if !self.losses.in_round {
            self.losses.round_delivered = self.deliveries.delivered;
            self.save_state(window.cwnd);
        }
        self.losses.in_round = true;
        self.losses.in_cycle = true;
        if !self.cycle.is_probe_sample {
            return;
        }
        let sent = self.deliveries.sent(k);
        let lost = (self.deliveries.lost - sent.lost) as f64;
        let sample = Sample {
            lost,
            in_flight: sent.in_flight as f64,
            app_limited: sent.app_limited,
            ..Sample::default()
        };
        if self.is_inflight_too_high(&sample) {
            let at_loss = self.inflight_at_loss(&sample);
            self.answer_inflight_too_high(window, now, &Sample { in_flight: at_loss, ..sample });
        }
    }

    /// IsInflightTooHigh; without SACK one loss a round trip is all that can be seen.
    pub(super) fn is_inflight_too_high(&self, sample: &Sample) -> bool {
        let bearable = if self.sack { sample.in_flight * self.config.loss_thresh } else { 0.0 };
        sample.lost > bearable || self.are_marks_too_many(sample)
    }

    /// Return the segments in flight when losses passed the threshold, within the segment (InflightAtLoss).
    fn inflight_at_loss(&self, sample: &Sample) -> f64 {
        let thresh = self.config.loss_thresh;
        let before = sample.in_flight - 1.0;
        let lost_before = sample.lost - 1.0;
        before + (thresh * before - lost_before) / (1.0 - thresh)
    }

    pub(super) fn answer_inflight_too_high(&mut self, window: &Window, now: Time, sample: &Sample) {
        self.cycle.too_high = true;
        self.cycle.is_probe_sample = false;
        if !sample.app_limited {
            self.inflight_longterm =
                sample.in_flight.max(self.target_inflight(window.cwnd) * self.config.beta);
        }
        if self.state == State::Up {
            self.losses.undo = Some(State::Up);
            self.start_down(now);
        }
    }

    pub(super) fn save_state(&mut self, cwnd: f64) {
        self.save_cwnd(cwnd);
        self.losses.undo = None;
        self.losses.undo_bw_shortterm = self.bw_shortterm;
        self.losses.undo_inflight_shortterm = self.inflight_shortterm;
        self.losses.undo_inflight_longterm = self.inflight_longterm;
    }

    /// Undo the response to losses that were spurious (section 5.5.11.2).
    pub fn restore_state(&mut self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.losses.in_round = false;
        self.full_pipe = FullPipe::default();
        self.bw_shortterm = self.bw_shortterm.max(self.losses.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.losses.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.losses.undo_inflight_longterm);
        match self.losses.undo.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(0),
            _ => {}
        }
    }

    pub(super) fn update_latest_signals(&mut self, sample: &Sample) {
        let losses = &mut self.losses;
        losses.bw_latest = losses.bw_latest.max(sample.rate.unwrap_or(0.0));
        losses.inflight_latest = losses.inflight_latest.max(sample.delivered);
        losses.round_start = sample.prior_delivered >= losses.round_delivered;
        if losses.round_start {
            losses.round_delivered = self.deliveries.delivered;
        }
    }

    pub(super) fn advance_latest_signals(&mut self, sample: &Sample) {
        if self.losses.round_start {
            self.losses.bw_latest = sample.rate.unwrap_or(0.0);
            self.losses.inflight_latest = sample.delivered;
        }
    }

    /// Once a round with losses, the bounds of the short term fall (AdaptLowerBoundsFromCongestion).
    pub(super) fn update_congestion_signals(&mut self, window: &Window) {
        if !self.losses.round_start {
            return;
        }
        let inflight =
            if self.inflight_shortterm.is_finite() { self.inflight_shortterm } else { window.cwnd };
        let by_marks = self.marks.lower(inflight, self.config.ecn_factor);
        if self.state.accelerates() {
            self.losses.in_round = false;
            return;
        }
        if core::mem::take(&mut self.losses.in_round) {
            let beta = self.config.beta;
            let bw = if self.bw_shortterm.is_finite() { self.bw_shortterm } else { self.max_bw() };
            self.bw_shortterm = self.losses.bw_latest.max(beta * bw);
            self.inflight_shortterm = self.losses.inflight_latest.max(beta * inflight);
        }
        if let Some(by_marks) = by_marks {
            self.inflight_shortterm = self.inflight_shortterm.min(by_marks);
        }
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }
}
