use aqmlab_units::Time;

use super::parameters::Params;
use super::scheduler::{Credit, Queue};
use super::{L4S, OVERLOAD};
use crate::disciplines::marks;
use crate::disciplines::pi2::{Base, head_delay};
use crate::{Backlog, Dequeue, DropReason, Ecn, Fifo, Gauge, Host, Packet, Qdisc};

/// The discipline in real numbers; see the module text.
#[derive(Clone, Debug)]
pub struct Rfc<P> {
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

impl<P: Copy> Rfc<P> {
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

impl<P: Copy> Qdisc<P> for Rfc<P> {
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
