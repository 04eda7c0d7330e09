//! Sending: new segments as the windows allow, lost ones first.

use aqmlab_units::Time;

use super::Sender;
use super::alarm::Alarm;
use super::pacing;
use super::recovery::State;
use crate::{Data, DataFlags, Timer};

impl Sender {
    /// Sends new segments while the pipe is below the window.
    pub(super) fn send(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        if self.board.next() >= self.end {
            return;
        }
        let mut sent = false;
        'sending: loop {
            let room = self.room();
            if room == 0 {
                break;
            }
            // To send when nothing is in the network may change the window.
            for _ in 0..if self.pipe() == 0 { 1 } else { room } {
                if self.waits(now) {
                    break 'sending;
                }
                self.transmit_next(now, out);
                sent = true;
            }
        }
        let limited = self.pipe() as f64 + 1.0 > self.window.cwnd;
        if sent || limited {
            self.window.note_use(limited, self.board.una(), self.board.next());
        }
        if sent {
            self.schedule_probe(now, false);
        }
    }

    /// How many new segments the windows allow.
    fn room(&self) -> u64 {
        let mut pipe = self.pipe();
        if !self.config.limited_transmit && matches!(self.recovery.state, State::Open | State::Disorder) {
            pipe += self.board.sacked() + self.recovery.dupacks;
        }
        let (una, next) = (self.seq(self.board.una()), self.board.next());
        self.room_beside(pipe, |more| self.seq(next + more) - una)
    }

    /// How many new segments the windows allow beside those in the network; `bytes`: of those outstanding and so many more.
    #[inline]
    pub(super) fn room_beside(&self, pipe: u64, bytes: impl Fn(u64) -> u64) -> u64 {
        let left = self.end.saturating_sub(self.board.next());
        let room = self.window.segments().saturating_sub(pipe).min(left);
        let window = u64::from(self.config.window);
        if room == 0 || bytes(room) <= window {
            return room;
        }
        // Fewer, so that the last segment of the application's data, which alone may be short, is not among them.
        window.saturating_sub(bytes(0)) / u64::from(self.config.mss)
    }

    /// Whether pacing makes the next packet wait.
    fn waits(&mut self, now: Time) -> bool {
        let Some(deadline) = self.pacing.waits(now).filter(|_| self.paces) else { return false };
        self.pacing_timer = Some(Timer { deadline, set_at: now });
        true
    }

    /// Sends the next segment for the first time.
    pub(super) fn transmit_next(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        let k = self.board.next();
        if k > 0 && self.pipe() == 0 {
            self.congestion.note_idle(&mut self.window, now, now.since(self.last_sent));
        }
        let nothing_outstanding = self.board.outstanding() == 0;
        let flags = if k == 0 { self.ecn.flags_of_syn() } else { self.ecn.flags() };
        self.board.push(now);
        self.emit(now, k, flags, out);
        if nothing_outstanding || matches!(self.alarm, Some((Alarm::Probe, _))) {
            self.restart_retransmission(now);
        }
    }

    /// Sends segment `k` again.
    pub(super) fn transmit_again(&mut self, now: Time, k: u64, out: &mut impl FnMut(Data)) {
        let flags = if k == 0 { self.ecn.flags_of_syn() } else { self.ecn.flags_again() };
        self.board.resend(k, now);
        self.undo.note_resent(now);
        self.counters.retransmissions += 1;
        self.emit(now, k, flags.with(DataFlags::RETRANSMISSION, true), out);
    }

    /// Sends segment `k` again as a probe: nothing is taken for lost.
    pub(super) fn transmit_probe(&mut self, now: Time, k: u64, out: &mut impl FnMut(Data)) {
        self.board.probe(k, now);
        self.counters.retransmissions += 1;
        self.emit(now, k, self.ecn.flags_again().with(DataFlags::RETRANSMISSION, true), out);
    }

    fn emit(&mut self, now: Time, k: u64, flags: DataFlags, out: &mut impl FnMut(Data)) {
        let payload = (self.seq(k + 1) - self.seq(k)) as u32;
        let bytes = if k == 0 { self.config.syn_length() } else { self.config.header + payload };
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += u64::from(bytes);
        self.last_sent = now;
        if self.recovery.state.reduces() {
            self.recovery.prr.note_sent(1);
        }
        if self.paces {
            self.pace(now, k);
        }
        let sent = self.time_stamp(now, k);
        out(Data { sent, seq: self.seq(k) as u32, bytes, flags });
    }

    /// Return the time stamp of the transmission of segment `k`: QUIC's is its packet number, too.
    fn time_stamp(&mut self, now: Time, k: u64) -> Time {
        let Some(quic) = &mut self.quic else { return now };
        let (number, sent) = quic.next_packet(now);
        self.board.number(k, number, sent);
        sent
    }

    /// Segment `k` was sent: when may the next be?
    fn pace(&mut self, now: Time, k: u64) {
        let pipe = self.pipe();
        self.congestion.note_sent(now, k, self.board.una(), pipe);
        let srtt = self.rtt.srtt();
        let gap = if self.congestion.paces() {
            self.congestion.gap(&self.window, srtt)
        } else {
            pacing::gap(self.counters.sent_packets, self.window.cwnd, self.window.ssthresh, srtt)
        };
        if let Some(gap) = gap {
            self.pacing.note_sent(now, gap);
        }
    }

    /// Sends lost segments again while the pipe is below the window; without PRR the first of a recovery in any case
    /// (RFC 6675, section 5, step 4.3).
    pub(super) fn retransmit(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        while let Some(k) = self.board.next_lost() {
            let forced = core::mem::take(&mut self.recovery.forces_one);
            if !forced && self.pipe() as f64 + 1.0 > self.window.cwnd || self.waits(now) {
                break;
            }
            self.transmit_again(now, k, out);
            if k == self.board.una() && !matches!(self.alarm, Some((Alarm::Reordering, _))) {
                self.set_alarm(now, Alarm::Retransmission, self.rtt.rto());
            }
        }
    }

    /// F-RTO after new data could or could not be sent (RFC 5682, section 3.1, step 2): if not, lost segments are
    /// resent.
    pub(super) fn fall_back(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        if self.board.next() <= self.recovery.high {
            self.recovery.frto = false;
            self.retransmit(now, out);
        }
    }
}
