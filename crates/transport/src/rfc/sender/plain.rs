//! The plain acknowledgement: new data is acknowledged and new data is sent, and nothing else is going on.
//!
//! V. Jacobson, "4BSD header prediction", CCR 20(2), 1990. In the open state, with each outstanding segment sent once and none
//! known to have arrived, these of the steps in [`Sender::on_ack`] are left, and while the window is reduced for a mark too:
//!
//! ```text
//! acknowledged segments are taken off;  round-trip samples of the first and the last of them
//! cwnd opens, if it was the limit, or shrinks;  new segments as the windows allow;  timer
//! ```
//!
//! The timer is set once: after new segments it is the probe's whatever it was before (`output.rs`).
//!
//! This fast path changes no behaviour: everything sent, counted and kept is the same as without it.

use aqmlab_units::Time;

use super::recovery::State;
use super::window::real;
use super::{Delivery, Sender};
use crate::NewData;
use crate::rfc::EcnFeedback;

impl Sender {
    /// Take an acknowledgement without SACK blocks and time stamp, if it is plain. Return the new data to send. If it
    /// is not, return `None` and change nothing.
    pub fn on_plain_ack(&mut self, now: Time, ack: i32, ece: bool) -> Option<NewData> {
        if !self.is_quiet() {
            return None;
        }
        let una = self.board.una();
        let acked = u64::from((ack as u32).wrapping_sub(self.seq_of_full(una)) / self.config.mss);
        let reached = una + acked;
        if acked == 0 || reached >= self.board.next().min(self.end) {
            return None;
        }
        if !self.keeps_state(reached, ece) || self.may_come_to_the_short_segment(acked) {
            return None;
        }
        self.counters.acks_received += 1;
        self.recovery.timeouts = 0;
        let (first_sent, last_sent) = self.board.pop_in_order(reached);
        self.rack.advance_once(now, reached - 1, last_sent);
        let last = now.since(last_sent);
        self.rtt.note_least(last);
        self.sample(now.since(first_sent));
        let srtt = self.rtt.srtt().unwrap_or(last);
        let reducing = self.recovery.state == State::Reducing;
        if reducing {
            self.note_nothing_lost(ece);
        }
        let edges = (reached, self.board.next());
        let opened =
            self.congestion.on_plain_ack(&mut self.window, now, ((last, srtt), edges), acked, reducing);
        if !opened && self.config.prr {
            self.shrink_by_prr(&Delivery { delivered: acked, lost: 0, advanced: true });
        }
        Some(self.send_plain(now))
    }

    /// Whether nothing is going on besides data and its acknowledgement.
    #[inline]
    fn is_quiet(&self) -> bool {
        matches!(self.recovery.state, State::Open | State::Reducing)
            && self.recovery.dupacks == 0
            && !self.probe.is_out()
            && self.board.una() > 0
            && self.board.is_in_order()
            && self.takes_plain
            && !(self.ecn.granted && (self.ecn.reduction_unsaid || self.config.ecn == EcnFeedback::Accurate))
    }

    /// Whether the state stays when all segments before `reached` are acknowledged: open, or reducing, in which echoes have no effect
    /// until more than what was outstanding at its beginning is acknowledged.
    #[inline]
    fn keeps_state(&self, reached: u64, ece: bool) -> bool {
        match self.recovery.state {
            State::Open => !(ece && self.ecn.granted),
            _ => reached < self.recovery.high && self.rack.finds_none(reached, self.board.segment(reached)),
        }
    }

    /// Perform the steps of the search for losses that remain while the window is reduced.
    fn note_nothing_lost(&mut self, ece: bool) {
        if ece && self.ecn.granted {
            self.undo.ssthresh = None;
        }
        self.undo.first_resent = None;
        if self.config.sack && self.config.rack {
            self.rack.note_detection();
        }
    }

    /// Whether the answer to `acked` segments may include the last segment of the application's data, if that is not a full one.
    #[inline]
    fn may_come_to_the_short_segment(&self, acked: u64) -> bool {
        let most = self.window.cwnd as u64 + acked + 1;
        self.short.is_some_and(|short| short.segment <= self.board.next().saturating_add(most))
    }

    /// Send new segments as the windows allow, all of them full ones, while something is outstanding; set the timer.
    fn send_plain(&mut self, now: Time) -> NewData {
        let (outstanding, next) = (self.board.outstanding(), self.board.next());
        let bytes = self.config.header + self.config.mss;
        let count = self.room_beside(outstanding, |more| (outstanding + more) * u64::from(self.config.mss));
        self.board.push_in_order(now, count);
        if self.recovery.state == State::Reducing {
            self.recovery.prr.note_sent(count);
        }
        let limited = real(outstanding + count) + 1.0 > self.window.cwnd;
        if count > 0 || limited && next < self.end {
            self.window.note_use(limited, self.board.una(), self.board.next());
        }
        if count > 0 {
            self.counters.sent_packets += count;
            self.counters.sent_bytes += count * u64::from(bytes);
            self.last_sent = now;
        }
        if self.probes() {
            self.set_probe(now, count == 0);
        } else {
            self.restart_retransmission(now);
        }
        NewData {
            first: self.seq_of_full(next),
            count: count as u32,
            step: self.config.mss,
            bytes,
            flags: self.ecn.flags(),
        }
    }
}
