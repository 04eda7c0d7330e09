use aqmlab_units::Time;

use super::adaptation::Adaptation;
use super::average::Average;
use super::classes::Classes;
use super::curve::Curve;
use super::response::Response;
use super::spacing::Spacing;
use super::victim::Victim;
use super::{Crossing, Dialect};
use crate::spec::Limit;
use crate::{Backlog, Dequeue, DropReason, Ecn, Fifo, Host, MarkReason, Packet, Qdisc, State};

/// What a RED queue is set to, checked and with all automatic values filled in.
#[derive(Clone, Debug)]
pub struct Params {
    /// The parts.
    pub curve: Curve,
    /// Which packet pays.
    pub victim: Victim,
    /// Which set of parameters applies.
    pub classes: Classes,
    /// How parameters move.
    pub adaptation: Adaptation,
    /// What happens to the victim.
    pub response: Response,
    /// Size of the buffer.
    pub limit: Limit,
    /// Bytes of a mean packet when the queue is measured in bytes, else `None`.
    pub byte_mode: Option<f64>,
    /// Switches over all parts.
    pub dialect: Dialect,
}

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Accept,
    /// By chance, at this p_b.
    Early(f64),
    Forced,
    Overflow,
}

/// A RED queue: parameters, and the state of its parts.
#[derive(Clone, Debug)]
pub struct Red<P> {
    params: Params,
    average: Average,
    spacing: Spacing,
    queue: Fifo<P>,
    /// Bytes of the packet in transmission; 0 while the link is idle.
    in_service: u32,
    /// Since when queue and link have been empty.
    idle_since: Time,
    /// The average was at or above min_th at the last arrival (ns-2's crossing).
    above_min_th: bool,
}

impl<P: Copy> Red<P> {
    /// An empty, idle queue.
    pub fn new(params: Params, average: Average, spacing: Spacing) -> Self {
        Self {
            params,
            average,
            spacing,
            queue: Fifo::default(),
            in_service: 0,
            idle_since: Time::ZERO,
            above_min_th: false,
        }
    }

    /// The average, to look at or to freeze for a measurement.
    pub fn average_mut(&mut self) -> &mut Average {
        &mut self.average
    }

    /// The average in packets, whatever the mode.
    fn average_packets(&self) -> f64 {
        self.average.value() / self.params.byte_mode.unwrap_or(1.0)
    }

    /// The queue as the average and the guard measure it: packets or bytes.
    fn measured(&self) -> f64 {
        let Backlog { packets, bytes } = self.queue.backlog();
        let counts = self.params.dialect.in_service_counts;
        if self.params.byte_mode.is_some() {
            bytes as f64 + if counts { f64::from(self.in_service) } else { 0.0 }
        } else {
            f64::from(packets + u32::from(counts && self.in_service > 0))
        }
    }

    fn is_full_for(&self, bytes: u32) -> bool {
        let waiting = self.queue.backlog();
        let counts = self.params.dialect.in_service_counts;
        match self.params.limit {
            Limit::Packets(n) => waiting.packets + u32::from(counts && self.in_service > 0) >= n,
            // ns-2 compares what is there, the others what would be there.
            Limit::Bytes(n) if self.params.dialect.strict_limit => waiting.bytes >= n,
            Limit::Bytes(n) => {
                waiting.bytes + u64::from(bytes) + if counts { u64::from(self.in_service) } else { 0 } > n
            }
        }
    }

    fn update_average(&mut self, now: Time, q: f64) {
        if self.in_service == 0 && self.queue.backlog().packets == 0 {
            self.average.on_arrival_after_idle(now.since(self.idle_since));
            self.idle_since = now;
        } else {
            self.average.on_arrival(q);
        }
    }

    /// The algorithm of the paper's figure 2, between the average and the victim.
    fn judge(&mut self, q: f64, bytes: u32, host: &mut impl Host<P>) -> Verdict {
        let avg = self.average_packets();
        self.spacing.count(bytes);
        if avg < self.params.curve.min_th() || (self.params.dialect.guard_one && q <= 1.0) {
            self.above_min_th = false;
            if self.params.dialect.crossing == Crossing::CountMinusOne {
                self.spacing.rest();
            }
            return Verdict::Accept;
        }
        let p_b = self.params.curve.p_b(avg);
        let just_crossed = !core::mem::replace(&mut self.above_min_th, true);
        if p_b >= 1.0 && !self.params.dialect.p_one_is_early {
            Verdict::Forced
        } else if just_crossed && self.params.dialect.crossing == Crossing::CountOne {
            self.spacing.cross(bytes);
            Verdict::Accept
        } else if self.spacing.picks(p_b, bytes, host) {
            Verdict::Early(p_b)
        } else {
            Verdict::Accept
        }
    }

    /// Marks the victim if the response says so; `None` when it was marked, else why it must be dropped.
    fn respond(
        &mut self,
        packet: &mut Packet<P>,
        verdict: Verdict,
        host: &mut impl Host<P>,
    ) -> Option<DropReason> {
        let (p_b, drop, mark) = match verdict {
            Verdict::Accept => return None,
            Verdict::Early(p_b) => (p_b, DropReason::Early, MarkReason::Early),
            Verdict::Forced => (1.0, DropReason::Forced, MarkReason::Forced),
            Verdict::Overflow => return Some(DropReason::Overflow),
        };
        if !self.params.response.marks(&packet.meta, p_b, mark == MarkReason::Forced) {
            return Some(drop);
        }
        packet.meta.ecn = Ecn::Ce;
        host.marked(&packet.meta, mark);
        None
    }
}

impl<P: Copy> Qdisc<P> for Red<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        let q = self.measured();
        self.update_average(now, q);
        let mut verdict = self.judge(q, packet.meta.bytes, host);
        match verdict {
            Verdict::Early(_) => self.spacing.restart(),
            Verdict::Forced => self.spacing.force(),
            Verdict::Accept | Verdict::Overflow => {}
        }
        if self.is_full_for(packet.meta.bytes) {
            verdict = Verdict::Overflow;
            self.spacing.restart();
        }
        match self.respond(&mut packet, verdict, host) {
            None => self.queue.push(packet),
            Some(reason) => match self.params.victim {
                Victim::Arriving => host.dropped(packet, reason),
            },
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        if let Some(packet) = self.queue.pop() {
            self.in_service = packet.meta.bytes;
            return Dequeue::Packet(packet);
        }
        if self.in_service > 0 {
            self.in_service = 0;
            self.idle_since = now;
        }
        Dequeue::Empty
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn state(&self) -> State {
        let average = self.average_packets();
        State { average, p_b: self.params.curve.p_b(average) }
    }

    #[inline]
    fn average(&self) -> f64 {
        self.average_packets()
    }

    fn departs_in_order(&self) -> bool {
        self.params.victim.is_arriving()
    }
}
