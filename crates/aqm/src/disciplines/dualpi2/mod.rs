//! DualPI2, the coupled dual queue of L4S (RFC 9332, appendix A; K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe,
//! CoNEXT 2016).
//!
//! Packets with ECT(1) or CE go to a queue L of low latency, all others to a classic queue C. PI2's controller keeps C's delay
//! at the target; L's marking is coupled to it, so that a flow of either kind gets the same share. L's native AQM marks
//! packets that have waited longer than a threshold:
//!
//! ```text
//! p_C = p'^2        p_CL = k p'        p_L = max(ramp(delay), p_CL)                  (RFC 9332, appendix A.1)
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | target | `target` | s | 15 ms | above 0 | figure 2, line 8 |
//! | RTT_max | `rtt_max` | s | 100 ms | 1 us and more | line 9 |
//! | Tupdate | `t_update` | s | min(target, RTT_max/3) = 15 ms | 1 us and more | line 12 |
//! | alpha | `alpha` | 1/s | 0.1 Tupdate/RTT_max^2 = 0.15 | above 0 | line 13 |
//! | beta | `beta` | 1/s | 0.3/RTT_max = 3 | above 0 | line 14 |
//! | k | `coupling` | | 2 | above 0 | line 3 |
//! | minTh | `l4s_min_th` | s | 0.8 ms | 0 and more | line 17 |
//! | range | `l4s_range` | s | 0.4 ms | 0 (a step) and more | line 18 |
//! | Th_len | `l4s_min_packets` | packets | 1 | 0 and more | line 19 |
//! | weight of C | `classic_share` | | 0.1 | above 0, below 1 | Linux `sch_dualpi2.c`; the RFC: small, such as 1/16 |
//! | tshift | `time_shift` | s | 50 ms | 0 and more | appendix A.2 |
//! | MTU | `max_packet` | bytes | 1514 | 0 and more | Linux `sch_dualpi2.c` |
//! | limit | `limit` | packets or bytes | 250 ms of the link in packets of 1500 B | at least 1 | line 5 |
//!
//! The controller uses the longer delay of both queues (figure 8). From p_CL = 1 on there is overload: L's packets are
//! dropped with p_C, or else all marked, and from p_C = min(1/k^2, 1) on C's are no longer marked but dropped (figure 7).
//!
//! Readings. L comes first; C is kept from starving by weights in bytes, or by time: L's packets are taken to be `time_shift`
//! older (`scheduler`). The weights' credit starts in favour of L, is reset when the link is idle, and changes while both
//! queues have packets, as in Linux. A packet is hit by a recurring count, as the RFC has it, or by chance, as in Linux (`decision`).
//! In overload a mark counts as 1: with the pseudocode's p_CL above 1 the count of L would grow without bound and with it
//! drops above p_C. Neither p_C nor p_CL applies while less than two of `max_packet` are left in both queues: the RFC describes
//! this rule of Linux, but its pseudocode does not have it (`max_packet = 0`). While at most `l4s_min_packets` are in L, the one that
//! leaves included, the ramp marks nothing: the text means a queue of one packet, and the pseudocode checks after the packet has
//! been removed. The delay of the ramp is that of the packet. `ecn` is that of C; without it ECT(0) is dropped, and L's marks
//! stay. Differences: a limit in bytes is tested with the packet's own length, where the RFC always leaves room for an MTU;
//! Linux 6.17 has a step of 1 ms in place of the ramp, asks for L's length at the arrival, and 16 ms, 0.16/s and 3.2/s.
//!
//! Drop reasons: `early` (queue C), `overload` (queue L), `overflow`; L's marks have the reason `l4s`. Gauges: `delay` in s,
//! `p_base` (p'), `p_c`, `p_cl`, `l_packets`, `c_packets`.

mod parameters;
mod scheduler;

pub(crate) use parameters::Params;
pub(super) use parameters::{PARAMETERS, PRESETS, read};
use scheduler::{Credit, Queue};

use aqmlab_units::Time;

use super::marks;
use super::pi2::{Base, head_delay};
use crate::{Backlog, Dequeue, DropClass, DropReason, Ecn, Fifo, Gauge, Host, Packet, Qdisc};

/// By the likelihood of queue L.
const L4S: DropReason = DropReason::new(&("l4s", DropClass::Early));
/// In overload, where marks no longer suffice, a packet of queue L.
const OVERLOAD: DropReason = DropReason::new(&("overload", DropClass::Forced));

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    params: Params,
    l: Fifo<P>,
    c: Fifo<P>,
    base: Base,
    credit: Credit,
    /// Sums of the likelihoods of L's and C's packets since the last drop or mark.
    counts: [f64; 2],
}

/// The coupled probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Coupled {
    /// Of a classic packet.
    p_c: f64,
    /// Of a low-latency packet, by coupling.
    p_cl: f64,
}

impl Coupled {
    /// Of a base probability.
    fn new(p: f64, coupling: f64) -> Self {
        Self { p_c: p * p, p_cl: coupling * p }
    }

    /// Whether marking all of L is not enough.
    fn is_overload(self) -> bool {
        self.p_cl >= 1.0
    }
}

/// Of queues too short for the controller to act on.
const SPARED: Coupled = Coupled { p_c: 0.0, p_cl: 0.0 };

impl<P: Copy> DualPi2<P> {
    /// Create empty queues.
    pub(super) fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            l: Fifo::default(),
            c: Fifo::default(),
            base: Base::new(&params.gains),
            credit: Credit::new(params.scheduler, params.max_packet),
            counts: [0.0; 2],
        }
    }

    fn coupled(&self) -> Coupled {
        Coupled::new(self.base.p, self.params.coupling)
    }

    /// The probabilities of the packet that has just left one of the queues.
    fn of_leaving(&self) -> Coupled {
        let is_short = Qdisc::<P>::backlog(self).bytes < self.params.max_packet.saturating_mul(2);
        if is_short { SPARED } else { self.coupled() }
    }

    /// Compute the steps of the controller that are due; the delay is the longer one of both queues.
    fn catch_up(&mut self, now: Time) {
        let Self { params, l, c, base, .. } = self;
        base.catch_up(&params.gains, 1.0, now, |t| head_delay(c, t).max(head_delay(l, t)));
    }

    /// Whether a packet of a queue with this likelihood is hit.
    fn hits(&mut self, queue: Queue, likelihood: f64, host: &mut impl Host<P>) -> bool {
        if self.params.is_random {
            return likelihood > 0.0 && host.uniform() < likelihood;
        }
        let count = &mut self.counts[queue as usize];
        *count += likelihood;
        let hits = *count > 1.0;
        if hits {
            *count -= 1.0;
        }
        hits
    }

    /// Process a packet leaving L; return it unless it was dropped.
    fn leave_l(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) -> Option<Packet<P>> {
        let coupled = self.of_leaving();
        let p_l = if coupled.is_overload() {
            if self.hits(Queue::L, coupled.p_c, host) {
                host.dropped(packet, OVERLOAD);
                return None;
            }
            1.0
        } else {
            let waits = self.l.backlog().packets + 1 > self.params.l4s_min_packets;
            let delay = now.since(packet.meta.arrival).secs();
            let ramp = if waits { self.params.ramp(delay) } else { 0.0 };
            ramp.max(coupled.p_cl)
        };
        if self.hits(Queue::L, p_l, host) {
            marks(true, &mut packet, L4S, host);
        }
        Some(packet)
    }

    /// Process a packet leaving C; return it unless it was dropped.
    fn leave_c(&mut self, mut packet: Packet<P>, host: &mut impl Host<P>) -> Option<Packet<P>> {
        let Coupled { p_c, .. } = self.of_leaving();
        let may_mark = self.params.ecn && p_c < self.params.p_c_max;
        if !self.hits(Queue::C, p_c, host) || marks(may_mark, &mut packet, DropReason::EARLY, host) {
            return Some(packet);
        }
        host.dropped(packet, DropReason::EARLY);
        None
    }
}

impl<P: Copy> Qdisc<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        self.catch_up(now);
        if self.params.room.is_full_for(Qdisc::<P>::backlog(self), packet.meta.bytes) {
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        match packet.meta.header.ecn() {
            Ecn::Ect1 | Ecn::Ce => self.l.push(packet),
            Ecn::NotEct | Ecn::Ect => self.c.push(packet),
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        while let Some(queue) = self.credit.next_queue(&self.l, &self.c) {
            let source = if queue == Queue::L { &mut self.l } else { &mut self.c };
            let Some(packet) = source.pop() else { break };
            let left = match queue {
                Queue::L => self.leave_l(now, packet, host),
                Queue::C => self.leave_c(packet, host),
            };
            if let Some(packet) = left {
                self.credit.sent(queue, packet.meta.bytes, self.l.backlog(), self.c.backlog());
                host.left(&packet, queue.name());
                return Dequeue::Packet(packet);
            }
        }
        self.credit.reset();
        Dequeue::Empty
    }

    fn next_timer(&self) -> Option<Time> {
        self.base.next_update(self.l.head().is_none() && self.c.head().is_none())
    }

    fn on_timer(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.catch_up(now);
    }

    fn backlog(&self) -> Backlog {
        let (l, c) = (self.l.backlog(), self.c.backlog());
        Backlog { packets: l.packets + c.packets, bytes: l.bytes + c.bytes }
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.base.gauges(out);
        out(Gauge::State("p_c"), self.coupled().p_c);
        out(Gauge::State("p_cl"), self.coupled().p_cl.min(1.0));
        out(Gauge::State("l_packets"), f64::from(self.l.backlog().packets));
        out(Gauge::State("c_packets"), f64::from(self.c.backlog().packets));
    }
}

#[cfg(test)]
mod tests;
