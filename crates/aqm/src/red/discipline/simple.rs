//! A simple queue: one class, no adaptation, and of the dialect and the victim rule nothing that needs more steps than these. Its steps
//! are those of all queues without the ones that do nothing there, as a property test shows.

use aqmlab_units::Time;

use super::{DropDecision, Red, measured};
use crate::red::IdleWhen;
use crate::{Backlog, Dequeue, Gauge, Host, Meta, Packet, Qdisc, Resolved, Verdict};

impl<P: Copy> Red<P> {
    /// Update the average of a simple queue, and return it. The link is busy, or `is_idle`.
    #[inline(always)]
    fn update_average(&mut self, now: Time, is_idle: bool) -> f64 {
        self.idle_ended = self.idles_by_dequeue;
        let state = &mut self.averages[0];
        if is_idle {
            state.end_idleness(now, IdleWhen::Free)
        } else {
            state.average.on_arrival(measured(self.params.byte_mode.is_some(), self.waiting, None))
        }
    }

    /// Decide about an arrival at a simple queue whose victims are searched in the queue, as [`Red::see_arrival`] and
    /// [`Red::drop_decision_with_room`] do without the steps that do nothing there.
    #[inline(always)]
    pub(super) fn judge_simple(
        &mut self,
        now: Time,
        bytes: u32,
        is_idle: bool,
        host: &mut impl Host<P>,
    ) -> DropDecision {
        let average = self.update_average(now, is_idle);
        if self.passes_below(average, bytes) {
            return DropDecision::Accept;
        }
        self.drop_decision_with_room(0, bytes, host)
    }

    /// Decide about an arrival at a simple queue whose victims are the arriving packets. The link is busy, or `is_idle`.
    #[inline(always)]
    pub(super) fn decide_simple(
        &mut self,
        now: Time,
        meta: &Meta,
        is_idle: bool,
        host: &mut impl Host<P>,
    ) -> Verdict {
        let average = self.update_average(now, is_idle);
        if self.passes_below(average, meta.bytes) {
            return Verdict::Accept;
        }
        // A copy, so that the header need not be in memory for others.
        self.decide_above(&{ *meta }, host)
    }

    /// Decide about an arrival whose average is at or above min_th, or that finds no room.
    #[inline(never)]
    fn decide_above(&mut self, meta: &Meta, host: &mut impl Host<P>) -> Verdict {
        let decision = self.drop_decision_with_room(0, meta.bytes, host);
        self.verdict(decision, meta)
    }

    /// If the average is below min_th and there is room, take the steps of an arrival that is accepted then, and return true.
    #[inline(always)]
    fn passes_below(&mut self, average: f64, bytes: u32) -> bool {
        let passes = average < self.surely_below && !self.is_full(bytes, None);
        if passes {
            self.count_below_min_th(bytes);
        }
        passes
    }

    /// Return whether the link is idle; in Linux's arithmetic, whether an idle time runs.
    #[inline(always)]
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.packets == 0 && self.serving.is_none() && !self.idle_ended
    }

    /// An arrival finds the link idle since `idle_since`, or since a later time that the queue knows. If the queue is simple and the average
    /// below min_th, the packet passes: take the steps that [`Qdisc::enqueue_dequeue`](crate::Qdisc::enqueue_dequeue) takes then, and
    /// return true. If not, change nothing.
    #[inline(always)]
    pub fn passes_below_min_th(&mut self, now: Time, idle_since: Time, meta: &mut Meta) -> bool {
        // The average does not grow by an arrival at an idle link.
        let is_below = self.averages[0].average.value() < self.surely_below;
        if !(self.is_simple && is_below) || self.is_full(meta.bytes, None) {
            return false;
        }
        if !self.victim.is_arriving() {
            self.victim.on_arrival(now, meta);
        }
        let state = &mut self.averages[0];
        // The last arrival may have ended the idle time, and was dropped.
        state.idle_since = state.idle_since.max(idle_since);
        self.update_average(now, true);
        self.count_below_min_th(meta.bytes);
        self.serving = Some((0, meta.bytes));
        true
    }

    /// Count an arrival whose average is below min_th.
    #[inline(always)]
    fn count_below_min_th(&mut self, bytes: u32) {
        let state = &mut self.class_states[0];
        state.spacing.count(bytes);
        state.is_below_min_th(&self.params.dialect);
    }
}

/// A simple queue whose victims are the arriving packets, for a caller that keeps the packets: a decision depends on nothing but the state
/// of the queue, the time since which the link is idle, and length and ECN field of the packet.
#[derive(Clone, Debug)]
pub struct SimpleRed<P> {
    red: Red<P>,
}

impl<P: Copy> SimpleRed<P> {
    pub(super) fn new(red: Red<P>) -> Self {
        Self { red }
    }
}

impl<P: Copy> Qdisc<P> for SimpleRed<P> {
    const READS_FLOW: bool = false;

    fn enqueue(&mut self, _now: Time, _packet: Packet<P>, _host: &mut impl Host<P>) {
        unreachable!("the caller keeps the packets")
    }

    fn dequeue(&mut self, _now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        unreachable!("the caller keeps the packets")
    }

    #[inline(always)]
    fn on_idle(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.red.averages[0].idle_since = now;
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn backlog(&self) -> Backlog {
        self.red.waiting
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.red.gauges(now, out);
    }

    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        self.red.gauge(now, name)
    }

    #[inline(always)]
    fn average(&self, _now: Time) -> Option<f64> {
        Some(self.red.in_packets(self.red.averages[0].average.value()))
    }

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        self.red.take_curve(settings)
    }

    fn warnings(&self) -> Vec<String> {
        self.red.warnings()
    }

    fn decides_at_arrival(&self) -> bool {
        true
    }

    #[inline(always)]
    fn decide(&mut self, now: Time, meta: &Meta, is_free: bool, host: &mut impl Host<P>) -> Verdict {
        let verdict = self.red.decide_simple(now, meta, is_free, host);
        if !is_free && !matches!(verdict, Verdict::Drop(_)) {
            self.red.waiting.add(meta.bytes);
        }
        verdict
    }

    #[inline(always)]
    fn leaves(&mut self, _now: Time, meta: &Meta) {
        self.red.waiting.take(meta.bytes);
    }
}
