use aqmlab_units::{Span, Time};

#[cfg(feature = "red")]
use crate::red::Red;
use crate::{
    Backlog, Dequeue, DropTail, Gauge, Host, Meta, NonRed, Packet, Qdisc, Resolved, TinStats, Verdict,
    Visitor,
};

/// Any discipline of the families that are compiled, dispatched statically.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Discipline<P> {
    /// Drop-tail.
    DropTail(Box<DropTail<P>>),
    /// RED and its descendants.
    #[cfg(feature = "red")]
    Red(Box<Red<P>>),
    /// The non-RED disciplines.
    NonRed(Box<NonRed<P>>),
}

/// Call the same method on whichever discipline is held.
macro_rules! whichever {
    ($self:ident, $q:ident => $call:expr) => {
        match $self {
            Self::DropTail($q) => $call,
            #[cfg(feature = "red")]
            Self::Red($q) => $call,
            Self::NonRed($q) => $call,
        }
    };
}

impl<P: Copy + Default> Qdisc<P> for Discipline<P> {
    #[inline(always)]
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        whichever!(self, q => q.enqueue(now, packet, host));
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        whichever!(self, q => q.dequeue(now, host))
    }

    #[inline(always)]
    fn enqueue_dequeue(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        whichever!(self, q => q.enqueue_dequeue(now, packet, host))
    }

    #[inline(always)]
    fn enqueue_from(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) {
        whichever!(self, q => q.enqueue_from(now, packet, host));
    }

    #[inline(always)]
    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        whichever!(self, q => q.dequeue_into(now, packet, host))
    }

    #[inline(always)]
    fn on_idle(&mut self, now: Time, host: &mut impl Host<P>) {
        whichever!(self, q => q.on_idle(now, host));
    }

    fn not_before(&self, now: Time) -> Option<Time> {
        match self {
            Self::NonRed(q) => q.not_before(now),
            _ => None,
        }
    }

    fn is_timed(&self) -> bool {
        match self {
            Self::DropTail(_) => false,
            #[cfg(feature = "red")]
            Self::Red(q) => q.is_timed(),
            Self::NonRed(q) => q.is_timed(),
        }
    }

    #[inline(always)]
    fn next_timer(&self) -> Option<Time> {
        whichever!(self, q => q.next_timer())
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        whichever!(self, q => q.on_timer(now, host));
    }

    fn on_answer(&mut self, now: Time, delay: Span) {
        if let Self::NonRed(q) = self {
            q.on_answer(now, delay);
        }
    }

    #[inline(always)]
    fn backlog(&self) -> Backlog {
        whichever!(self, q => q.backlog())
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        whichever!(self, q => Qdisc::<P>::gauges(&**q, now, out));
    }

    #[inline(always)]
    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        whichever!(self, q => Qdisc::<P>::gauge(&**q, now, name))
    }

    #[inline(always)]
    fn average(&self, now: Time) -> Option<f64> {
        whichever!(self, q => Qdisc::<P>::average(&**q, now))
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
            #[cfg(feature = "red")]
            Self::Red(q) => q.take_settings(settings),
            Self::NonRed(q) => q.take_settings(settings),
        }
    }

    fn warnings(&self) -> Vec<String> {
        match self {
            Self::DropTail(_) => Vec::new(),
            #[cfg(feature = "red")]
            Self::Red(q) => q.warnings(),
            Self::NonRed(q) => q.warnings(),
        }
    }

    fn decides_at_arrival(&self) -> bool {
        whichever!(self, q => Qdisc::<P>::decides_at_arrival(&**q))
    }

    #[inline(always)]
    fn decide(&mut self, now: Time, meta: &Meta, is_free: bool, host: &mut impl Host<P>) -> Verdict {
        whichever!(self, q => Qdisc::<P>::decide(&mut **q, now, meta, is_free, host))
    }

    #[inline(always)]
    fn leaves(&mut self, now: Time, meta: &Meta) {
        whichever!(self, q => q.leaves(now, meta));
    }

    fn visited_by<V: Visitor<P>>(self, visitor: V) -> V::Output
    where
        P: Copy + Default + Send + Sync + 'static,
    {
        whichever!(self, q => q.visited_by(visitor))
    }
}
