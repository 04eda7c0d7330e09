//! The states of a sender with regard to losses, and what moves it between them.
//!
//! M. Allman et al., RFC 5681, section 3.2; E. Blanton et al., RFC 6675 (SACK); T. Henderson et al., RFC 6582 (without);
//! P. Sarolahti et al., RFC 5682 (F-RTO with SACK); as Linux 6 has them:
//!
//! | state | since | window |
//! |---|---|---|
//! | open | no loss, mark or reordering | grows |
//! | disorder | something has arrived beyond a hole | grows if the edge moves, or much is reordered |
//! | reducing | an echo of a mark | shrinks to the threshold |
//! | recovery | a loss | shrinks to the threshold |
//! | loss | a time-out | grows from one, up to the threshold in slow start |
//!
//! The last three end when all that was outstanding at their beginning is acknowledged; reducing, when more is.

use aqmlab_units::{Span, Time};

use super::Sender;
use super::alarm::Alarm;
use super::congestion::Cause;
use super::news::News;
use super::prr::Prr;
use super::rack::{DUPACK_THRESHOLD, Losses};
use super::tlp::{LEAST_TIMEOUT, ProbeOutcome};

/// State with regard to losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    #[default]
    Open,
    Disorder,
    Reducing,
    Recovery,
    Loss,
}

impl State {
    /// Whether the window is being reduced.
    pub fn reduces(self) -> bool {
        matches!(self, Self::Reducing | Self::Recovery)
    }

    /// Whether lost segments are being resent.
    pub fn repairs(self) -> bool {
        matches!(self, Self::Recovery | Self::Loss)
    }
}

/// The segments to retransmit after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    Nothing,
    /// The lost segments.
    Lost,
    /// F-RTO: new data first, and lost segments only without new data.
    NewFirst,
}

/// Recovery's state.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    pub state: State,
    /// The state ends when all segments before this one are acknowledged.
    pub high: u64,
    pub prr: Prr,
    /// A time-out may have been spurious.
    pub frto: bool,
    /// Time-outs without new data acknowledged in between.
    pub timeouts: u32,
    /// Duplicate acknowledgements, without SACK.
    pub dupacks: u64,
    /// The first retransmission of this recovery goes out whatever the pipe is.
    pub forces_one: bool,
}

impl Sender {
    /// Whether the acknowledgement calls for more than plain growth.
    pub(super) fn is_dubious(&self, news: &News) -> bool {
        !news.advanced
            || news.sacked
            || news.echo
            || news.duplicate.is_some()
            || self.recovery.state != State::Open
    }

    /// Evaluate the tail loss probe.
    pub(super) fn judge_probe(&mut self, news: &News) {
        let verdict = self.probe.on_ack(self.board.una(), news.duplicate, news.is_pure_duplicate());
        if verdict == ProbeOutcome::Repaired {
            self.begin_reduction(Cause::Loss);
            self.recovery.state = State::Reducing;
            self.end_reduction();
            self.keep_open();
        }
    }

    /// Change the state in response to an acknowledgement.
    pub(super) fn alert(&mut self, now: Time, news: &mut News) -> Resend {
        if news.echo {
            self.undo.ssthresh = None;
        }
        if self.recovery.state == State::Open {
            self.undo.first_resent = None;
        } else if self.board.una() >= self.recovery.high && self.leave(news) {
            return Resend::Nothing;
        }
        match self.recovery.state {
            State::Recovery => self.go_on_recovering(now, news),
            State::Loss => self.go_on_after_time_out(now, news),
            _ => self.watch(now, news),
        }
    }

    /// Leave the state when all that was outstanding is acknowledged; return whether the acknowledgement needs no further action.
    fn leave(&mut self, news: &News) -> bool {
        match self.recovery.state {
            State::Reducing if self.board.una() != self.recovery.high => {
                self.end_reduction();
                self.recovery.state = State::Open;
            }
            State::Recovery => {
                self.recovery.dupacks = 0;
                if self.end_recovery(news) {
                    return true;
                }
                self.end_reduction();
            }
            _ => {}
        }
        false
    }

    fn go_on_recovering(&mut self, now: Time, news: &mut News) -> Resend {
        if !news.advanced {
            self.count_duplicate(news);
        } else if self.undo_partly(news) {
            return Resend::Nothing;
        }
        if self.undo_by_duplicates() {
            self.try_to_open(news);
        }
        self.identify(now, news);
        if self.recovery.state != State::Recovery {
            if self.board.lost() == 0 {
                return Resend::Nothing;
            }
            self.enter_recovery(news.echo);
        }
        Resend::Lost
    }

    fn go_on_after_time_out(&mut self, now: Time, news: &mut News) -> Resend {
        let resend = self.repair(news);
        self.identify(now, news);
        if self.recovery.state == State::Open || news.losses.again > 0 {
            // The time-out was taken back, or a retransmission is lost.
            return self.watch(now, news);
        }
        resend
    }

    /// After a time-out (RFC 5682, section 3.1).
    fn repair(&mut self, news: &mut News) -> Resend {
        let recovered = self.board.una() >= self.recovery.high;
        if news.advanced && self.undo_time_out(news, false) {
            return Resend::Nothing;
        }
        if self.recovery.frto {
            if news.original && self.undo_time_out(news, true) {
                return Resend::Nothing; // step 3b
            }
            if self.board.next() > self.recovery.high {
                if news.sacked || news.is_pure_duplicate() {
                    self.recovery.frto = false; // step 3a
                }
            } else if news.advanced && !recovered {
                self.recovery.high = self.board.next();
                if self.could_send_next() {
                    return Resend::NewFirst; // step 2b
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.end_recovery(news);
            return Resend::Nothing;
        }
        if self.board.next() > self.recovery.high {
            self.count_duplicate(news);
        } else if news.advanced {
            self.recovery.dupacks = 0;
        }
        Resend::Lost
    }

    fn could_send_next(&self) -> bool {
        let next = self.board.next();
        next < self.end && self.seq(next + 1) - self.seq(self.board.una()) <= u64::from(self.config.window)
    }

    /// In order, in disorder, or while the window is reduced: is there a loss?
    fn watch(&mut self, now: Time, news: &mut News) -> Resend {
        if news.advanced {
            self.recovery.dupacks = 0;
        }
        self.count_duplicate(news);
        if self.recovery.state <= State::Disorder {
            self.undo_by_duplicates();
        }
        self.identify(now, news);
        if self.board.lost() == 0 {
            self.try_to_open(news);
            return Resend::Nothing;
        }
        self.enter_recovery(news.echo);
        Resend::Lost
    }

    /// Without SACK a duplicate stands for a segment that has arrived (RFC 5681, section 3.2).
    fn count_duplicate(&mut self, news: &mut News) {
        let missing = self.board.lost().max(1);
        let may_have_arrived = self.board.outstanding().saturating_sub(missing);
        if !self.config.sack && news.is_pure_duplicate() && self.recovery.dupacks < may_have_arrived {
            self.recovery.dupacks += 1;
            news.delivered += 1;
        }
    }

    /// Mark lost segments: by time, by counting, or without SACK by duplicates and partial acknowledgements.
    fn identify(&mut self, now: Time, news: &mut News) {
        let losses = if !self.config.sack {
            self.identify_newreno(news.advanced)
        } else if self.config.rack {
            let window = self.reordering_window();
            let (losses, look_in) = self.rack.detect(&mut self.board, now, window);
            if let Some(after) = look_in {
                self.set_alarm(now, Alarm::Reordering, after + LEAST_TIMEOUT);
                news.restarts_timer = false;
            }
            losses
        } else {
            self.identify_by_counting()
        };
        news.losses.all += losses.all;
        news.losses.again += losses.again;
    }

    /// RACK's reordering window now.
    pub(super) fn reordering_window(&self) -> Span {
        let srtt = self.rtt.srtt().unwrap_or_default();
        self.rack.reordering_window(
            self.rtt.least(),
            srtt,
            self.recovery.state.repairs(),
            self.board.sacked(),
        )
    }

    /// RFC 6582: the third duplicate, and then each partial acknowledgement.
    fn identify_newreno(&mut self, advanced: bool) -> Losses {
        let mut losses = Losses::default();
        let lost = match self.recovery.state {
            State::Recovery => advanced,
            State::Loss => false,
            _ => self.recovery.dupacks >= DUPACK_THRESHOLD,
        };
        if lost && self.board.outstanding() > 0 {
            losses.add(self.board.lose(self.board.una()));
        }
        losses
    }

    /// RFC 6675, section 4, IsLost(): three segments above it have arrived, and it was not resent. A lost retransmission
    /// is left to the timer.
    fn identify_by_counting(&mut self) -> Losses {
        let mut losses = Losses::default();
        let mut above = 0;
        for k in (self.board.una()..self.board.highest_sacked().max(self.board.una())).rev() {
            let segment = self.board.segment(k);
            if segment.is_sacked() {
                above += 1;
            } else if above >= DUPACK_THRESHOLD && !segment.was_resent() {
                losses.add(self.board.lose(k));
            }
        }
        losses
    }

    fn try_to_open(&mut self, news: &News) {
        if self.board.resent() == 0 {
            self.undo.first_resent = None;
        }
        if news.echo {
            self.respond_to_echo();
        }
        if self.recovery.state != State::Reducing {
            self.keep_open();
        }
    }

    /// Open, or disorder if something is out of order.
    pub(super) fn keep_open(&mut self) {
        let amiss = self.board.sacked() + self.recovery.dupacks + self.board.lost() + self.board.resent() > 0;
        let state = if amiss { State::Disorder } else { State::Open };
        if self.recovery.state != state {
            self.recovery.state = state;
            self.recovery.high = self.board.next();
        }
    }

    pub(super) fn respond_to_echo(&mut self) {
        if self.recovery.state < State::Reducing {
            self.undo.forbid();
            self.begin_reduction(Cause::Mark);
            self.recovery.state = State::Reducing;
            self.counters.ecn_responses += 1;
        }
    }

    /// A loss was found.
    pub(super) fn enter_recovery(&mut self, echo: bool) {
        let state = self.recovery.state;
        self.undo.ssthresh = None;
        let probes = u64::from(self.probe.is_retransmission());
        self.undo.begin(self.board.una(), self.board.resent() + probes);
        if !state.reduces() {
            if !echo {
                self.undo.ssthresh = Some(self.current_threshold());
            }
            self.begin_reduction(Cause::Loss);
        } else if state == State::Reducing && self.congestion.reduces_for_loss_after_mark() {
            self.window.ssthresh = self.congestion.reduce(&self.window, Cause::Loss);
        }
        self.recovery.state = State::Recovery;
        self.recovery.forces_one = !self.config.prr;
        self.counters.fast_retransmits += 1;
    }

    /// The threshold to come back to: if the window is above it, three quarters of the window (Linux).
    pub(super) fn current_threshold(&self) -> f64 {
        if self.recovery.state.reduces() {
            self.window.ssthresh
        } else {
            let cwnd = self.window.cwnd;
            let quarters = if self.window.is_whole() {
                (cwnd / 2.0).floor() + (cwnd / 4.0).floor()
            } else {
                0.75 * cwnd
            };
            self.window.ssthresh.max(quarters)
        }
    }

    fn begin_reduction(&mut self, cause: Cause) {
        self.recovery.high = self.board.next();
        self.probe.end();
        self.recovery.prr = Prr::begin(self.window.cwnd);
        self.window.ssthresh = self.congestion.reduce(&self.window, cause);
        let at_once = !self.config.prr || cause == Cause::Mark && self.congestion.answers_marks_at_once();
        let stays = !at_once || self.congestion.owns_window();
        let cwnd = if stays { self.window.cwnd } else { self.window.ssthresh };
        self.window.set(cwnd);
        self.ecn.reduction_unsaid = self.ecn.granted;
    }

    /// The window is the threshold, unless the reduction was taken back.
    pub(super) fn end_reduction(&mut self) {
        let grown = self.recovery.state == State::Reducing && self.congestion.answers_marks_at_once();
        if grown || self.congestion.owns_window() {
            return;
        }
        if self.recovery.state == State::Reducing || self.undo.is_open() {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// The retransmission timer has expired: all that is not known to have arrived is lost, except what was sent within
    /// the last round trip (RFC 8985, section 6.3), and slow start begins with one segment.
    pub(super) fn enter_loss(&mut self, now: Time) {
        let state = self.recovery.state;
        let (una, next) = (self.board.una(), self.board.next());
        for k in una..next {
            let young = self.config.rack
                && self.config.sack
                && k != una
                && self.rack.remaining(now, self.board.segment(k), Span::ZERO) > Span::ZERO;
            if !young {
                self.board.lose(k);
            }
        }
        self.report_losses(now);
        if state <= State::Disorder {
            self.rack.note_timeout(self.board.sacked());
        }
        let again = state == State::Loss && self.recovery.timeouts > 1;
        if state <= State::Disorder || self.recovery.high <= una || state == State::Loss && !again {
            self.undo.ssthresh = Some(self.current_threshold());
            self.recovery.prr = Prr::begin(self.window.cwnd);
            self.window.ssthresh = self.congestion.reduce(&self.window, Cause::Loss);
            self.undo.begin(una, self.board.resent());
        }
        self.recovery.dupacks = 0;
        self.congestion.on_timeout(&self.window, now, next);
        self.window.set(self.pipe() as f64 + 1.0);
        self.recovery.state = State::Loss;
        self.recovery.high = next;
        self.probe.end();
        self.ecn.reduction_unsaid = self.ecn.granted;
        self.recovery.frto =
            self.config.frto && self.config.sack && (state < State::Recovery || self.recovery.timeouts > 1);
    }
}
