//! SACK: recovery by a scoreboard and a count of the packets in the pipe.
//!
//! K. Fall and S. Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996; blocks
//! as in RFC 2018; ns-2 2.35 `Agent/TCP/Sack1`.
//!
//! A duplicate acknowledgement counts only if its blocks bring news. The third halves the window, resends the
//! first hole and enters recovery with
//!
//! ```text
//! pipe = packets in flight - 3
//! ```
//!
//! Each acknowledgement in recovery takes 1 off the pipe, one that moves the edge (a partial acknowledgement)
//! 2, each packet sent adds 1, and packets are sent while pipe < floor(cwnd): holes first, then new data up
//! to the receiver's window. Recovery ends at `recover`. After a time-out duplicates are ignored until new
//! data is acknowledged.
//!
//! Differences from the paper (ns-2's): leaving recovery does not open the window; `recover` is then 0; the
//! option that sends packets on every partial acknowledgement (`partial_ack_`) is off.

use aqmlab_units::Time;

use super::flow::{DupAck, Flow, LastCut, LossResponse};
use super::scoreboard::Scoreboard;
use crate::ns2::DUPACK_THRESHOLD;
use crate::{Ack, Data};

/// SACK's own state.
#[derive(Clone, Debug, Default)]
pub struct Sack {
    scoreboard: Scoreboard,
    recovering: bool,
    /// No acknowledgement of new data since the last time-out.
    timed_out: bool,
    /// Packets in flight, as far as known; counts during recovery.
    pipe: i32,
}

impl Sack {
    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, flow: &mut Flow, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        if self.recovering {
            self.recover(flow, now, ack);
            self.send(flow, now, out);
            return;
        }
        if ack.ack > flow.last_ack {
            flow.take_new_ack(now, ack);
            self.clear();
        } else if ack.ack == flow.last_ack && !self.timed_out {
            self.scoreboard.update(flow.highest_ack, &ack.sack);
            if self.scoreboard.changed() {
                match flow.count_dupack() {
                    DupAck::Early => flow.send_one(now, out),
                    DupAck::Loss => self.on_loss(flow, now, out),
                    DupAck::Late => {}
                }
            }
        }
        if flow.dupacks == 0 {
            self.send(flow, now, out);
        }
    }

    /// Whether nothing is missing, as far as known, and nothing has timed out.
    pub fn is_plain(&self) -> bool {
        !self.recovering && !self.timed_out && self.scoreboard.is_empty()
    }

    /// Catch up with plain acknowledgements; `room`: at the last one the window had room for a packet, so that a hole was
    /// searched.
    pub fn pass(&mut self, room: bool) {
        self.scoreboard.clear();
        if room {
            self.scoreboard.next_hole();
        }
    }

    fn clear(&mut self) {
        self.timed_out = false;
        self.scoreboard.clear();
    }

    fn recover(&mut self, flow: &mut Flow, now: Time, ack: &Ack) {
        self.pipe -= 1;
        if ack.ack >= flow.recover {
            flow.recover = 0;
            self.recovering = false;
            flow.advance(now, ack);
            flow.note_finish();
            self.clear();
        } else if ack.ack > flow.highest_ack {
            flow.highest_ack = ack.ack;
            self.scoreboard.update(ack.ack, &ack.sack);
            self.pipe -= 1;
            flow.renew_timer(now, ack.ack);
            flow.rtt.end_back_off(&flow.config);
        } else if !self.timed_out {
            self.scoreboard.update(flow.highest_ack, &ack.sack);
            if self.scoreboard.changed() && flow.dupacks > 0 {
                flow.dupacks += 1;
            }
        }
    }

    fn on_loss(&mut self, flow: &mut Flow, now: Time, out: &mut impl FnMut(Data)) {
        match flow.loss_response() {
            LossResponse::Ignore => return,
            LossResponse::Cut => {
                flow.recover = flow.highest_sent;
                flow.halve();
            }
            LossResponse::AlreadyCut => {}
        }
        flow.last_cut = LastCut::DupAcks;
        flow.tally.fast_retransmits += 1;
        self.pipe = flow.highest_sent - flow.highest_ack - DUPACK_THRESHOLD;
        flow.restart_timer(now);
        self.recovering = true;
        self.scoreboard.mark_resent(flow.highest_ack + 1);
        flow.transmit(now, flow.last_ack + 1, out);
    }

    /// Sends holes and new data as the pipe and the windows allow.
    pub fn send(&mut self, flow: &mut Flow, now: Time, out: &mut impl FnMut(Data)) {
        let limit = flow.window.limit() as i32;
        let mut sent = 0;
        while flow.last_ack + 1 < flow.end && self.has_room(flow) {
            let seq = match self.scoreboard.next_hole() {
                None => {
                    let window = if self.recovering { limit } else { flow.window.usable() };
                    if flow.next > flow.highest_ack + window || flow.next >= flow.end {
                        break;
                    }
                    flow.next
                }
                Some(hole) => {
                    if flow.recover <= 0 || hole > flow.highest_ack + limit {
                        break;
                    }
                    self.scoreboard.mark_resent(hole);
                    hole
                }
            };
            // ns-2 moves on before it sends a new packet; the order is not seen from outside.
            flow.transmit(now, seq, out);
            flow.next = flow.next.max(seq + 1);
            self.pipe += i32::from(self.recovering);
            sent += 1;
            if sent == flow.config.max_burst {
                break;
            }
        }
    }

    fn has_room(&self, flow: &Flow) -> bool {
        if self.recovering {
            self.pipe < flow.window.cwnd as i32
        } else {
            flow.next <= flow.last_ack + flow.window.usable()
        }
    }

    /// Before the common reaction to a time-out.
    pub fn before_timeout(&mut self, flow: &mut Flow) {
        flow.dupacks = 0;
        flow.last_ack = flow.last_ack.max(flow.highest_ack);
        self.recovering = false;
        self.timed_out = true;
        self.scoreboard.clear();
    }
}
