//! A simple queue: one class, no adaptation, and of the dialect and the victim rule nothing that needs more steps than these. Its steps
//! are those of all queues without the ones that do nothing there, as a property test shows.

use aqmlab_units::Time;

use super::{DropDecision, Red, measured};
use crate::red::IdleWhen;
use crate::{Host, Meta, Verdict};

impl<P: Copy> Red<P> {
    /// Update the average of a simple queue. The link is busy, or `is_idle`.
    #[inline(always)]
    fn update_average(&mut self, now: Time, is_idle: bool) {
        let state = &mut self.averages[0];
        if is_idle {
            state.end_idleness(now, IdleWhen::Free);
        } else {
            state.average.on_arrival(measured(self.params.byte_mode.is_some(), self.waiting, None));
        }
    }

    /// Decide about an arrival at a simple queue, as [`Red::see_arrival`] and [`Red::drop_decision_with_room`] do without the steps that do
    /// nothing there.
    #[inline(always)]
    pub(super) fn judge_simple(
        &mut self,
        now: Time,
        bytes: u32,
        is_idle: bool,
        host: &mut impl Host<P>,
    ) -> DropDecision {
        self.update_average(now, is_idle);
        // The steps of an arrival whose average is below min_th, if there is room.
        if self.averages[0].average.value() < self.surely_below && !self.is_full(bytes, None) {
            self.count_below_min_th(bytes);
            return DropDecision::Accept;
        }
        self.drop_decision_with_room(0, bytes, host)
    }

    /// Return whether the link is idle.
    #[inline(always)]
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.packets == 0 && self.serving.is_none()
    }

    /// Return whether the queue is simple, and the victim always the arriving packet: a decision depends on nothing but the state of the
    /// queue, and on length and ECN field of the packet. A caller may then call the following, and nothing else of the kind, in place
    /// of those of [`Qdisc`](crate::Qdisc).
    pub fn decides_simply(&self) -> bool {
        self.is_simple && self.victim.is_arriving()
    }

    /// [`Qdisc::decide`](crate::Qdisc::decide).
    #[inline(always)]
    pub fn decide_simple(
        &mut self,
        now: Time,
        meta: &Meta,
        is_free: bool,
        host: &mut impl Host<P>,
    ) -> Verdict {
        let verdict = match self.judge_simple(now, meta.bytes, is_free, host) {
            DropDecision::Accept => Verdict::Accept,
            decision => self.verdict(decision, meta),
        };
        if !is_free && !matches!(verdict, Verdict::Drop(_)) {
            self.waiting.add(meta.bytes);
        }
        verdict
    }

    /// [`Qdisc::leaves`](crate::Qdisc::leaves).
    #[inline(always)]
    pub fn leaves_simple(&mut self, bytes: u32) {
        self.waiting.take(bytes);
    }

    /// [`Qdisc::on_idle`](crate::Qdisc::on_idle).
    #[inline(always)]
    pub fn on_idle_simple(&mut self, now: Time) {
        self.averages[0].idle_since = now;
    }

    /// Return the average in packets.
    #[inline(always)]
    pub fn average_simple(&self) -> f64 {
        self.in_packets(self.averages[0].average.value())
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
