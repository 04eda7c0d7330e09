//! What marks say of the path: the answer to ECN of Google's BBR version 3 for Linux (`tcp_bbr.c`, branch v3), which the
//! draft leaves out.
//!
//! ```text
//! ce_ratio = marked / delivered in a round,  alpha += (ce_ratio - alpha) / 16
//! inflight_shortterm *= 1 - alpha ECN factor      once a round with marks, when not accelerating
//! too much in flight:  marked > ECN threshold delivered, in a sample of a probe
//! Startup ends after two rounds with ce_ratio >= the threshold
//! ```
//!
//! Only on paths whose least round-trip time was once at or below a bound (5 ms): such marks are those of a data center's
//! shallow threshold.
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | ecn_factor | `bbr_ecn_factor` | | 1/3 | 0 to 1 | bbr_ecn_factor |
//! | ecn_thresh | `bbr_ecn_thresh` | | 0.5 | 0 to 1 | bbr_ecn_thresh |
//! | ecn_max_rtt | `bbr_ecn_max_rtt` | s | 5 ms | 1 us to 1000 s | bbr_ecn_max_rtt_us |

use super::delivery::Sample;
use super::{Bbr, State};

/// Weight of a round in the average, and the average before the first.
const ALPHA_GAIN: f64 = 1.0 / 16.0;
const ALPHA_INIT: f64 = 1.0;
/// Rounds of many marks with which Startup ends.
const FULL_ROUNDS: u32 = 2;

/// What is known of marks.
#[derive(Clone, Debug)]
pub struct Marks {
    eligible: bool,
    alpha: f64,
    in_round: bool,
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
            startup_rounds: 0,
            delivered: 0,
            marked: 0,
        }
    }
}

impl Marks {
    /// The short-term bound after a round with marks, if there were any that count.
    pub fn lower(&mut self, inflight: f64, factor: f64) -> Option<f64> {
        let marked = core::mem::take(&mut self.in_round) && self.eligible;
        marked.then_some(inflight * (1.0 - self.alpha * factor))
    }
}

impl Bbr {
    /// Takes the marks of an acknowledgement; a new average at the beginning of a round.
    pub(super) fn update_marks(&mut self, marked: u64) {
        self.deliveries.marked += marked;
        self.marks.in_round |= marked > 0;
        if !self.round_start {
            return;
        }
        let (delivered, all) = (self.deliveries.delivered, self.deliveries.marked);
        let (new, new_marked) = (delivered - self.marks.delivered, all - self.marks.marked);
        if new == 0 {
            return;
        }
        let short = self.min_rtt.is_some_and(|min_rtt| min_rtt <= self.config.ecn_max_rtt);
        self.marks.eligible |= short;
        let ratio = (new_marked as f64 / new as f64).min(1.0);
        self.marks.alpha += ALPHA_GAIN * (ratio - self.marks.alpha);
        self.marks.delivered = delivered;
        self.marks.marked = all;
        self.check_startup_marks(ratio);
    }

    fn check_startup_marks(&mut self, ratio: f64) {
        if self.full_bw_reached || !self.marks.eligible {
            return;
        }
        self.marks.startup_rounds =
            if ratio >= self.config.ecn_thresh { self.marks.startup_rounds + 1 } else { 0 };
        if self.state == State::Startup && self.marks.startup_rounds >= FULL_ROUNDS {
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp(1.0).max(self.losses.inflight_latest);
        }
    }

    pub(super) fn are_marks_too_many(&self, sample: &Sample) -> bool {
        self.marks.eligible && sample.marked > sample.delivered * self.config.ecn_thresh
    }
}
