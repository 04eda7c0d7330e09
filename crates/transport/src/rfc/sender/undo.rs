//! Undo of a spurious reduction of the window.
//!
//! R. Ludwig and A. Gurtov, RFC 4015, and R. Ludwig and M. Meyer, RFC 3522 (Eifel): the acknowledgement that a
//! retransmission was to bring echoes an older time stamp, so it answers the original. RFC 3708: duplicates were reported
//! of all retransmissions. Window and threshold are then what they were before, and nothing counts as lost. As in Linux 6,
//! an echo of a mark forbids it.

use aqmlab_units::Time;

use super::news::News;
use super::recovery::State;
use super::{ENDLESS, Sender};

/// The state for undoing the last reduction.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// First segment outstanding when the reduction began; `None`: nothing to take back.
    edge: Option<u64>,
    /// Retransmissions since without a report of a duplicate; endless before the first.
    unproven: u64,
    /// Threshold before the reduction; `None`: it must not come back.
    pub ssthresh: Option<f64>,
    /// When the first retransmission was sent.
    pub first_resent: Option<Time>,
}

impl Default for Undo {
    fn default() -> Self {
        Self { edge: None, unproven: ENDLESS, ssthresh: None, first_resent: None }
    }
}

impl Undo {
    /// A reduction begins; `resent` retransmissions are on their way.
    pub fn begin(&mut self, una: u64, resent: u64) {
        self.edge = Some(una);
        self.unproven = if resent == 0 { ENDLESS } else { resent };
    }

    /// A reduction begins that is not taken back.
    pub fn forbid(&mut self) {
        self.edge = None;
        self.ssthresh = None;
    }

    /// Whether there is a reduction that might be taken back.
    pub fn is_open(&self) -> bool {
        self.edge.is_some()
    }

    /// A retransmission was sent.
    pub fn note_resent(&mut self, now: Time) {
        self.first_resent.get_or_insert(now);
        self.unproven = if self.unproven == ENDLESS { 1 } else { self.unproven + 1 };
    }

    /// A duplicate was reported that ends before segment `end`.
    pub fn note_duplicate(&mut self, end: u64, una: u64) {
        if self.unproven != ENDLESS && end <= una && self.edge.is_some_and(|edge| end > edge) {
            self.unproven = self.unproven.saturating_sub(1);
        }
    }

    fn all_were_duplicates(&self) -> bool {
        self.edge.is_some() && self.unproven == 0
    }
}

impl Sender {
    /// Whether the acknowledgement answers a packet older than the first retransmission.
    fn answers_original(&self, news: &News) -> bool {
        self.config.timestamps
            && news.advanced
            && self.undo.first_resent.is_some_and(|resent| news.ts_echo < resent)
    }

    fn is_needless(&self, news: &News) -> bool {
        self.config.undo
            && self.undo.is_open()
            && (self.undo.all_were_duplicates() || self.answers_original(news))
    }

    fn restore(&mut self, clears_losses: bool) {
        if clears_losses {
            self.board.clear_losses();
        }
        if let Some(ssthresh) = self.undo.ssthresh.filter(|_| self.config.undo) {
            self.window.cwnd = self.window.cwnd.max(self.recovery.prr.prior());
            if ssthresh > self.window.ssthresh {
                self.window.ssthresh = ssthresh;
                self.ecn.reduction_unsaid = false;
            }
        }
        self.undo.edge = None;
        self.congestion.undo(&mut self.window);
        self.rack.request_detection();
    }

    /// At the end of a recovery or a time-out's. Whether the state must last until more is acknowledged: without SACK,
    /// duplicates of old retransmissions would look like a loss (RFC 6582, section 4.1).
    pub(super) fn end_recovery(&mut self, news: &News) -> bool {
        if self.is_needless(news) {
            self.restore(false);
        } else {
            self.rack.note_recovery();
        }
        if !self.config.sack && self.board.una() == self.recovery.high {
            return true;
        }
        self.recovery.state = State::Open;
        false
    }

    /// Duplicates of all retransmissions were reported.
    pub(super) fn undo_by_duplicates(&mut self) -> bool {
        let needless = self.config.undo && self.undo.all_were_duplicates();
        if needless {
            self.restore(false);
        }
        needless
    }

    /// Handle a partial acknowledgement. Return whether no further action is needed.
    pub(super) fn undo_partly(&mut self, news: &News) -> bool {
        if !self.config.undo || !self.undo.is_open() || !self.answers_original(news) {
            return false;
        }
        self.note_reordering(news.una);
        if self.board.resent() > 0 {
            return true;
        }
        self.restore(true);
        self.keep_open();
        false
    }

    /// The edge moved after a time-out, which F-RTO may have found `spurious`; whether it was.
    pub(super) fn undo_time_out(&mut self, news: &News, spurious: bool) -> bool {
        if !spurious && !self.is_needless(news) {
            return false;
        }
        self.restore(true);
        self.recovery.timeouts = 0;
        if self.config.sack || self.board.una() != self.recovery.high {
            self.recovery.state = State::Open;
        }
        true
    }
}
