use aqmlab_units::{Span, Time};

use crate::red::Red;
use crate::{
    Backlog, Dequeue, DropTail, Gauge, Host, Meta, NonRed, Packet, Qdisc, Resolved, TinStats, Verdict,
    Visitor,
};

/// Any discipline, dispatched statically.
#[derive(Clone, Debug)]
pub enum Discipline<P> {
    /// Drop-tail.
    DropTail(Box<DropTail<P>>),
    /// RED and its descendants.
    Red(Box<Red<P>>),
    /// The non-RED disciplines.
    NonRed(Box<NonRed<P>>),
}

impl<P: Copy + Default> Qdisc<P> for Discipline<P> {
    #[inline(always)]
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        match self {
            Self::DropTail(q) => q.enqueue(now, packet, host),
            Self::Red(q) => q.enqueue(now, packet, host),
            Self::NonRed(q) => q.enqueue(now, packet, host),
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        match self {
            Self::DropTail(q) => q.dequeue(now, host),
            Self::Red(q) => q.dequeue(now, host),
            Self::NonRed(q) => q.dequeue(now, host),
        }
    }

    #[inline(always)]
    fn enqueue_dequeue(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        match self {
            Self::DropTail(q) => q.enqueue_dequeue(now, packet, host),
            Self::Red(q) => q.enqueue_dequeue(now, packet, host),
            Self::NonRed(q) => q.enqueue_dequeue(now, packet, host),
        }
    }

    #[inline(always)]
    fn enqueue_from(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) {
        match self {
            Self::DropTail(q) => q.enqueue_from(now, packet, host),
            Self::Red(q) => q.enqueue_from(now, packet, host),
            Self::NonRed(q) => q.enqueue_from(now, packet, host),
        }
    }

    #[inline(always)]
    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        match self {
            Self::DropTail(q) => q.dequeue_into(now, packet, host),
            Self::Red(q) => q.dequeue_into(now, packet, host),
            Self::NonRed(q) => q.dequeue_into(now, packet, host),
        }
    }

    #[inline(always)]
    fn on_idle(&mut self, now: Time, host: &mut impl Host<P>) {
        match self {
            Self::DropTail(q) => q.on_idle(now, host),
            Self::Red(q) => q.on_idle(now, host),
            Self::NonRed(q) => q.on_idle(now, host),
        }
    }

    fn not_before(&self, now: Time) -> Option<Time> {
        match self {
            Self::DropTail(_) | Self::Red(_) => None,
            Self::NonRed(q) => q.not_before(now),
        }
    }

    fn is_timed(&self) -> bool {
        match self {
            Self::DropTail(_) => false,
            Self::Red(q) => q.is_timed(),
            Self::NonRed(q) => q.is_timed(),
        }
    }

    #[inline(always)]
    fn next_timer(&self) -> Option<Time> {
        match self {
            Self::DropTail(q) => q.next_timer(),
            Self::Red(q) => q.next_timer(),
            Self::NonRed(q) => q.next_timer(),
        }
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        match self {
            Self::DropTail(q) => q.on_timer(now, host),
            Self::Red(q) => q.on_timer(now, host),
            Self::NonRed(q) => q.on_timer(now, host),
        }
    }

    fn on_answer(&mut self, now: Time, delay: Span) {
        match self {
            Self::DropTail(_) | Self::Red(_) => {}
            Self::NonRed(q) => q.on_answer(now, delay),
        }
    }

    #[inline(always)]
    fn backlog(&self) -> Backlog {
        match self {
            Self::DropTail(q) => q.backlog(),
            Self::Red(q) => q.backlog(),
            Self::NonRed(q) => q.backlog(),
        }
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        match self {
            Self::DropTail(q) => <DropTail<P> as Qdisc<P>>::gauges(&**q, now, out),
            Self::Red(q) => q.gauges(now, out),
            Self::NonRed(q) => q.gauges(now, out),
        }
    }

    #[inline(always)]
    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        match self {
            Self::DropTail(q) => <DropTail<P> as Qdisc<P>>::gauge(&**q, now, name),
            Self::Red(q) => q.gauge(now, name),
            Self::NonRed(q) => q.gauge(now, name),
        }
    }

    #[inline(always)]
    fn average(&self, now: Time) -> Option<f64> {
        match self {
            Self::DropTail(q) => Qdisc::<P>::average(&**q, now),
            Self::Red(q) => Qdisc::<P>::average(&**q, now),
            Self::NonRed(q) => q.average(now),
        }
    }

    fn tins(&self, out: &mut dyn FnMut(TinStats)) {
        if let Self::NonRed(q) = self {
            q.tins(out);
        }
    }

    fn reset_stats(&mut self) {
        if let Self::NonRed(q) = self {
            q.reset_stats();
        }
    }

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        match self {
            Self::DropTail(q) => <DropTail<P> as Qdisc<P>>::take_settings(&mut **q, settings),
            Self::Red(q) => q.take_settings(settings),
            Self::NonRed(q) => q.take_settings(settings),
        }
    }

    fn warnings(&self) -> Vec<String> {
        match self {
            Self::DropTail(_) => Vec::new(),
            Self::Red(q) => q.warnings(),
            Self::NonRed(q) => q.warnings(),
        }
    }

    fn decides_at_arrival(&self) -> bool {
        match self {
            Self::DropTail(q) => <DropTail<P> as Qdisc<P>>::decides_at_arrival(&**q),
            Self::Red(q) => q.decides_at_arrival(),
            Self::NonRed(q) => q.decides_at_arrival(),
        }
    }

    #[inline(always)]
    fn decide(&mut self, now: Time, meta: &Meta, is_free: bool, host: &mut impl Host<P>) -> Verdict {
        match self {
            Self::DropTail(q) => Qdisc::<P>::decide(&mut **q, now, meta, is_free, host),
            Self::Red(q) => q.decide(now, meta, is_free, host),
            Self::NonRed(q) => q.decide(now, meta, is_free, host),
        }
    }

    #[inline(always)]
    fn leaves(&mut self, now: Time, meta: &Meta) {
        match self {
            Self::DropTail(q) => q.leaves(now, meta),
            Self::Red(q) => q.leaves(now, meta),
            Self::NonRed(q) => q.leaves(now, meta),
        }
    }

    fn visited_by<V: Visitor<P>>(self, visitor: V) -> V::Output
    where
        P: Copy + Default + Send + Sync + 'static,
    {
        match self {
            Self::DropTail(q) => q.visited_by(visitor),
            Self::Red(q) => q.visited_by(visitor),
            Self::NonRed(q) => q.visited_by(visitor),
        }
    }
}
