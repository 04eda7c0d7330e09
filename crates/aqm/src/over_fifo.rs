//! Disciplines that decide at the arrival over a first-in first-out queue, such as PIE and BLUE.
//!
//! Such a discipline implements `Decide`; `OverFifo` makes it a `Qdisc`, with or without a queue of packets in it.

use aqmlab_units::Time;

use crate::{Backlog, Dequeue, DropReason, Ecn, Fifo, Gauge, Host, Meta, Packet, Qdisc, Resolved, Visitor};

/// The decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted.
    Accept,
    /// It is accepted with its ECN field set to CE, in place of a drop for this reason (RFC 3168).
    Mark(DropReason),
    /// It is dropped.
    Drop(DropReason),
}

impl Verdict {
    /// Signal congestion for a reason: mark the packet if `ecn` is on and the packet is ECN-capable, else drop it.
    #[inline]
    pub fn signal(reason: DropReason, ecn: bool, meta: &Meta) -> Self {
        if ecn && meta.header.ecn() != Ecn::NotEct { Self::Mark(reason) } else { Self::Drop(reason) }
    }

    /// Carry the decision out: mark the packet or report its drop. Return whether it is accepted.
    #[inline]
    pub fn carry_out<P: Copy>(self, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        match self {
            Self::Accept => true,
            Self::Mark(reason) => {
                packet.meta.header.set_ecn(Ecn::Ce);
                host.marked(packet, reason);
                true
            }
            Self::Drop(reason) => {
                host.dropped(*packet, reason);
                false
            }
        }
    }
}

/// A rule that decides about each packet at its arrival. What it accepts waits in a first-in first-out queue, which the rule does
/// not see but by the packets and bytes waiting.
pub trait Decide: Clone + Send + Sync + 'static {
    /// Whether it reads the flow label, the class of the source or times to live; see [`Qdisc::READS_FLOW`].
    const READS_FLOW: bool = true;

    /// Decide about a packet that arrives at `now` and finds `waiting`. Random numbers come from the host; nothing is reported to it.
    fn decide<P>(&mut self, now: Time, meta: &Meta, waiting: Backlog, host: &mut impl Host<P>) -> Verdict;

    /// Note that an accepted packet joins the queue.
    fn joins(&mut self, _meta: &Meta) {}

    /// Note that a packet leaves the queue at `now`, since its service starts; `left` is what still waits.
    fn leaves(&mut self, _now: Time, _meta: &Meta, _left: Backlog) {}

    /// [`Decide::leaves`] of a rule that computes as a kernel which reads its clock again: `again` returns the time then.
    #[inline]
    fn leaves_by_clock(&mut self, now: Time, meta: &Meta, left: Backlog, _again: impl FnMut() -> Time) {
        self.leaves(now, meta, left);
    }

    /// Note that the link is idle from `now` on.
    fn on_idle(&mut self, _now: Time) {}

    /// Return the time of the next call of [`Decide::on_timer`], if any, while so much waits.
    fn next_timer(&self, _waiting: Backlog) -> Option<Time> {
        None
    }

    /// Handle the timer, while so much waits.
    fn on_timer(&mut self, _now: Time, _waiting: Backlog) {}

    /// See [`Qdisc::take_settings`].
    fn take_settings(&mut self, _settings: &Resolved) -> bool {
        false
    }

    /// Return the average that judged the last arrival, if the rule has one: the gauge [`AVERAGE`](crate::red::AVERAGE).
    #[inline]
    fn average(&self) -> Option<f64> {
        None
    }

    /// Publish the gauges; see [`Qdisc::gauges`].
    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64));
}

/// A discipline of a rule and a first-in first-out queue.
#[derive(Clone, Debug)]
pub struct OverFifo<P, D> {
    pub(crate) rule: D,
    /// Empty where the caller keeps the packets; see [`Qdisc::decide`].
    queue: Fifo<P>,
    waiting: Backlog,
}

impl<P: Copy, D: Decide> OverFifo<P, D> {
    /// Create an empty queue.
    pub fn of(rule: D) -> Self {
        Self { rule, queue: Fifo::default(), waiting: Backlog::default() }
    }
}

impl<P: Copy, D: Decide> Qdisc<P> for OverFifo<P, D> {
    const READS_FLOW: bool = D::READS_FLOW;

    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        if self.decide(now, &packet.meta, false, host).carry_out(&mut packet, host) {
            self.queue.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let Some(packet) = self.queue.pop() else {
            self.rule.on_idle(now);
            return Dequeue::Empty;
        };
        self.waiting.take(packet.meta.bytes);
        self.rule.leaves_by_clock(now, &packet.meta, self.waiting, || host.clock(now));
        Dequeue::Packet(packet)
    }

    #[inline]
    fn on_idle(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.rule.on_idle(now);
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        self.rule.next_timer(self.waiting)
    }

    fn on_timer(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.rule.on_timer(now, self.waiting);
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.waiting
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.rule.gauges(out);
    }

    #[inline]
    fn average(&self, _now: Time) -> Option<f64> {
        self.rule.average()
    }

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        self.rule.take_settings(settings)
    }

    fn decides_at_arrival(&self) -> bool {
        true
    }

    #[inline]
    fn decide(&mut self, now: Time, meta: &Meta, is_free: bool, host: &mut impl Host<P>) -> Verdict {
        let verdict = self.rule.decide(now, meta, self.waiting, host);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.rule.joins(meta);
            if is_free {
                self.rule.leaves(now, meta, self.waiting);
            } else {
                self.waiting.add(meta.bytes);
            }
        } else if is_free {
            self.rule.on_idle(now);
        }
        verdict
    }

    #[inline]
    fn leaves(&mut self, now: Time, meta: &Meta) {
        self.waiting.take(meta.bytes);
        self.rule.leaves(now, meta, self.waiting);
    }

    fn visited_by<V: Visitor<P>>(self, visitor: V) -> V::Output
    where
        P: Copy + Default + Send + Sync + 'static,
    {
        visitor.visit(self)
    }
}
