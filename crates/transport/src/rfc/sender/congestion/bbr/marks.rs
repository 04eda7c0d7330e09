//! BBR's response to ECN marks, as in Google's BBR version 3 for Linux (`tcp_bbr.c`, branch v3); the draft leaves it out.
//!
//! ```text
//! ce_ratio = marked / delivered in a round,  alpha += (ce_ratio - alpha) / 16
//! inflight_shortterm *= 1 - alpha ECN factor      once a round with marks, when not accelerating
//! too much in flight:  marked > ECN threshold delivered, in a sample of a probe
//! Startup ends after two rounds in a row with ce_ratio >= the threshold
//! a probe begins when marks have ceased in a cycle with marks and without losses; the bound rises by half of it first
//! ```
//!
//! Only on paths whose least round-trip time was at or below a bound (5 ms) when a round began: such marks are those of a
//! data center's shallow threshold. Before, marks change nothing, and alpha stays 1.
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | ecn_factor | `bbr_ecn_factor` | | 1/3 | 0 to 1 | bbr_ecn_factor |
//! | ecn_thresh | `bbr_ecn_thresh` | | 0.5 | 0 to 1 | bbr_ecn_thresh |
//! | ecn_max_rtt | `bbr_ecn_max_rtt` | s | 5 ms | 1 us to 1000 s | bbr_ecn_max_rtt_us |
//!
//! # Differences from Linux
//! 1. Linux asks for a route with the feature `ecn_low` too; here `ecn` of the flow stands for it.
//! 2. Shares are real numbers, not 1/256.
//! 3. Retransmissions are not ECN-capable.

use super::super::delivery::Sample;
use super::probe_bw::MOST_DOUBLINGS;
use super::{Acked, Bbr};

/// Weight of a round in the average, and the average before the first (bbr_ecn_alpha_gain, bbr_ecn_alpha_init).
const ALPHA_GAIN: f64 = 1.0 / 16.0;
const ALPHA_INIT: f64 = 1.0;
/// Rounds of many marks with which Startup ends (bbr_full_ecn_cnt).
const FULL_ROUNDS: u32 = 2;
/// Share of the bound by which it rises in the first round after marks (bbr_ecn_reprobe_gain).
const REPROBE_GAIN: f64 = 0.5;

/// Statistics of marks.
#[derive(Clone, Debug)]
pub struct Marks {
    eligible: bool,
    alpha: f64,
    in_round: bool,
    pub in_cycle: bool,
    startup_rounds: u32,
    /// Delivered, and marked, when the round began.
    delivered: u64,
    marked: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            eligible: false,
            alpha: ALPHA_INIT,
            in_round: false,
            in_cycle: false,
            startup_rounds: 0,
            delivered: 0,
            marked: 0,
        }
    }
}

impl Marks {
    /// At the beginning of a cycle.
    pub fn reset(&mut self) {
        self.in_round = false;
        self.in_cycle = false;
    }

    /// The short-term bound after a round with marks, if there were any.
    pub fn lower(&mut self, inflight: f64, factor: f64) -> Option<f64> {
        core::mem::take(&mut self.in_round).then_some(inflight * (1.0 - self.alpha * factor))
    }
}

impl Bbr {
    /// Take the marks of an acknowledgement, which are counted already; update the average at the beginning of a round.
    pub(super) fn update_marks(&mut self, marked: u64) {
        if self.rounds.start {
            let short = self.min_rtt.is_some_and(|min_rtt| min_rtt <= self.config.ecn_max_rtt);
            self.marks.eligible |= short;
            self.update_alpha();
        }
        self.marks.in_round |= self.marks.eligible && marked > 0;
    }

    fn update_alpha(&mut self) {
        let (delivered, marked) = (self.deliveries.delivered, self.deliveries.marked);
        let marks = &mut self.marks;
        let new = delivered - marks.delivered;
        if !marks.eligible || new == 0 {
            return;
        }
        let ratio = ((marked - marks.marked) as f64 / new as f64).min(1.0);
        marks.alpha += ALPHA_GAIN * (ratio - marks.alpha);
        marks.delivered = delivered;
        marks.marked = marked;
        if !self.full_bw_reached {
            self.check_startup_marks(ratio);
        }
    }

    fn check_startup_marks(&mut self, ratio: f64) {
        let many = ratio >= self.config.ecn_thresh;
        self.marks.startup_rounds = if many { self.marks.startup_rounds + 1 } else { 0 };
        if self.marks.startup_rounds >= FULL_ROUNDS {
            self.full_bw_reached = true;
            self.inflight_longterm = self.inflight_at_max_bw().max(self.losses.inflight_latest);
        }
    }

    pub(super) fn are_marks_too_many(&self, sample: &Sample) -> bool {
        self.marks.eligible && sample.marked > sample.delivered * self.config.ecn_thresh
    }

    /// Return whether this cycle had marks but no losses, and no marks now: the competing traffic may have ended.
    pub(super) fn have_marks_ceased(&self, ack: &Acked) -> bool {
        self.marks.eligible && self.marks.in_cycle && !self.losses.in_cycle && ack.calm
    }

    /// Return the number of doublings after which the first rise is the reprobe share of the bound.
    pub(super) fn reprobe_rounds(&self) -> u32 {
        let rise = (REPROBE_GAIN * self.inflight_longterm).clamp(1.0, f64::from(1_u32 << MOST_DOUBLINGS));
        (rise as u32).ilog2()
    }
}
