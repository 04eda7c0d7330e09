//! The sender's timer for retransmission, loss probe or reordering, as in Linux; pacing has its own.
//!
//! V. Paxson et al., RFC 6298, section 5: each acknowledgement of new data restarts the retransmission timer. RFC 8985,
//! section 7.3: the probe's takes its place where it would be earlier, RACK's reordering timer both.

use aqmlab_units::{Span, Time};

use super::recovery::State;
use super::tlp::{LEAST_TIMEOUT, Probe};
use super::{Delivery, Sender};
use crate::{Data, Timer};

/// SYN retransmissions before the time-out is backed off (Linux net.ipv4.tcp_syn_linear_timeouts).
const LINEAR_SYNS: u32 = 4;

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    Retransmission,
    Probe,
    Reordering,
}

impl Sender {
    pub(super) fn set_alarm(&mut self, now: Time, alarm: Alarm, after: Span) {
        let deadline = now + after.min(self.config.max_rto);
        self.alarm = Some((alarm, Timer { deadline, set_at: now }));
    }

    /// After an acknowledgement of new data.
    pub(super) fn set_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.restart_retransmission(now);
        }
    }

    /// Restarts the retransmission timer, or stops it if nothing is outstanding. In place of another one it is due as
    /// long after the first outstanding segment was sent.
    pub(super) fn restart_retransmission(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            self.alarm = None;
            return;
        }
        let after = match self.alarm {
            Some((Alarm::Probe | Alarm::Reordering, _)) => self.until_time_out(now),
            _ => self.rtt.rto(),
        };
        self.set_alarm(now, Alarm::Retransmission, after);
    }

    fn until_time_out(&self, now: Time) -> Span {
        let sent = self.board.segment(self.board.una()).sent;
        (sent + self.rtt.rto()).since(now)
    }

    /// Set the timer for a probe if one is due; `advancing`: the retransmission timer would restart.
    pub(super) fn schedule_probe(&mut self, now: Time, advancing: bool) -> bool {
        let calm = matches!(self.recovery.state, State::Open | State::Reducing);
        if !self.probes() || !calm || self.board.outstanding() == 0 || self.board.una() == 0 {
            return false;
        }
        self.set_probe(now, advancing);
        true
    }

    /// Whether the sender sends probes.
    #[inline]
    pub(super) fn probes(&self) -> bool {
        self.config.rack && self.config.sack
    }

    /// Set the timer for a probe, while something is outstanding.
    #[inline]
    pub(super) fn set_probe(&mut self, now: Time, advancing: bool) {
        let outstanding = self.board.outstanding();
        let timeout = match self.rtt.srtt() {
            Some(srtt) => Probe::timeout(srtt, outstanding, self.config.min_rto),
            None => self.config.initial_rto,
        };
        let rto = if advancing { self.rtt.rto() } else { self.until_time_out(now) };
        let timeout = if rto > Span::ZERO { timeout.min(rto) } else { timeout };
        self.set_alarm(now, Alarm::Probe, timeout);
    }

    /// The timer is due.
    pub(super) fn expire(&mut self, now: Time, alarm: Alarm, out: &mut impl FnMut(Data)) {
        match alarm {
            Alarm::Retransmission => self.time_out(now, out),
            Alarm::Probe if self.quic.is_some() => self.probe_as_quic(now, out),
            Alarm::Reordering if self.quic.is_some() => self.find_losses_as_quic(now, out),
            Alarm::Probe => self.send_probe(now, out),
            Alarm::Reordering => self.detect_losses(now, out),
        }
    }

    fn time_out(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.alarm = None;
        if self.board.outstanding() == 0 {
            return;
        }
        self.counters.timeouts += 1;
        self.recovery.timeouts += 1;
        let una = self.board.una();
        if una > 0 {
            self.enter_loss(now);
        }
        self.transmit_again(now, una, out);
        if una > 0 || self.recovery.timeouts > LINEAR_SYNS {
            self.rtt.back_off(&self.config);
        }
        self.set_alarm(now, Alarm::Retransmission, self.rtt.rto());
    }

    /// Sends a new segment, or the last one again (RFC 8985, section 7.3).
    fn send_probe(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        if !self.probe.is_out() && self.board.outstanding() > 0 {
            let next = self.board.next();
            let fits = self.seq(next + 1) - self.seq(self.board.una()) <= u64::from(self.config.window);
            let fresh = next < self.end && fits;
            if fresh {
                self.transmit_next(now, out);
            } else {
                self.transmit_probe(now, next - 1, out);
            }
            self.probe.note_sent(self.board.next(), !fresh);
            self.alarm = None;
        }
        self.restart_retransmission(now);
    }

    /// RACK's reordering timer (RFC 8985, section 6.3).
    fn detect_losses(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        let pipe = self.pipe();
        let window = self.reordering_window();
        let (losses, look_in) = self.rack.mark(&mut self.board, now, window);
        if self.pipe() != pipe {
            if self.recovery.state != State::Recovery {
                self.enter_recovery(false);
                self.control(now, &Delivery { delivered: 1, lost: losses.all, advanced: false }, (None, 0));
            }
            self.retransmit(now, out);
        }
        match look_in {
            Some(after) => self.set_alarm(now, Alarm::Reordering, after + LEAST_TIMEOUT),
            None if !matches!(self.alarm, Some((Alarm::Retransmission, _))) => {
                self.restart_retransmission(now);
            }
            None => {}
        }
    }
}
