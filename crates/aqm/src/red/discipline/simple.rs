//! A simple queue: one class, no adaptation, and of the dialect and the victim rule nothing that needs more steps than these. Its steps
//! are those of all queues without the ones that do nothing there, as a property test shows.

use aqmlab_units::Time;

use super::{DropDecision, Red, measured};
use crate::red::IdleWhen;
use crate::{Host, Meta, Packet};

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

    /// [`Red::offer`] at a simple queue: the same steps, without those that do nothing there. Return whether the caller is to accept
    /// the packet, which is of class 0.
    #[inline(always)]
    pub(super) fn offer_simple(
        &mut self,
        now: Time,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> bool {
        if !self.victim.is_arriving() {
            self.victim.on_arrival(now, &mut packet.meta);
        }
        self.update_average(now, self.waiting.packets == 0 && self.serving.is_none());
        if self.accepts_below_min_th(packet.meta.bytes) {
            return true;
        }
        let decision = self.drop_decision_with_room(0, packet.meta.bytes, host);
        if decision == DropDecision::Accept {
            return true;
        }
        self.drop_or_mark_victim(now, 0, *packet, decision, host);
        false
    }

    /// Update the average of a simple queue at an arrival. The link is busy, or idle since `idle_since`. Return the average in packets.
    #[inline(always)]
    pub fn see_arrival(&mut self, now: Time, idle_since: Option<Time>) -> f64 {
        if let Some(since) = idle_since {
            // The last arrival may have ended the idle time, and was dropped.
            let state = &mut self.averages[0];
            state.idle_since = state.idle_since.max(since);
        }
        self.update_average(now, idle_since.is_some());
        self.average_of(0)
    }

    /// Accept an arrival whose average is below min_th, if there is room: the steps of [`Red::judge`] that such an arrival takes.
    /// Return whether it is accepted; if not, [`Red::judge`] decides.
    #[inline(always)]
    pub fn accepts_below_min_th(&mut self, bytes: u32) -> bool {
        if self.averages[0].average.value() >= self.surely_below || self.is_full(bytes, None) {
            return false;
        }
        self.count_below_min_th(bytes);
        true
    }

    /// An arrival finds the link idle since `idle_since`, or since a later time that the queue knows. If the queue is simple and the average
    /// below min_th, the packet passes: take the steps that [`Qdisc::enqueue_dequeue`](crate::Qdisc::enqueue_dequeue) takes then, and
    /// return the average in packets. If not, return `None` and change nothing.
    #[inline(always)]
    pub fn passes_below_min_th(&mut self, now: Time, idle_since: Time, meta: &mut Meta) -> Option<f64> {
        // The average does not grow by an arrival at an idle link.
        let is_below = self.averages[0].average.value() < self.surely_below;
        if !(self.is_simple && is_below) || self.is_full(meta.bytes, None) {
            return None;
        }
        if !self.victim.is_arriving() {
            self.victim.on_arrival(now, meta);
        }
        let average = self.see_arrival(now, Some(idle_since));
        self.count_below_min_th(meta.bytes);
        self.serving = Some((0, meta.bytes));
        Some(average)
    }

    /// Count an arrival whose average is below min_th.
    #[inline(always)]
    fn count_below_min_th(&mut self, bytes: u32) {
        let state = &mut self.class_states[0];
        state.spacing.count(bytes);
        state.is_below_min_th(&self.params.dialect);
    }
}

/// The plain queue: one class, whose victims are the arriving packets. What it decides is a function of its own state, of number and
/// bytes of what waits, and of the time since which the link is idle. So a caller that knows these may keep the packets, and
/// call the following in place of [`crate::Qdisc`].
impl<P: Copy> Red<P> {
    /// Return whether this queue is plain: a decision depends on nothing else than its own state and what [`Red::judge`] is given.
    pub fn is_plain(&self) -> bool {
        self.is_simple && self.victim.is_arriving() && self.waiting.packets == 0
    }

    /// Decide about an arrival that the average has seen. If it is not accepted, the caller goes on with [`Red::carry_out`].
    #[inline(always)]
    pub fn judge(&mut self, bytes: u32, host: &mut impl Host<P>) -> DropDecision {
        self.drop_decision_with_room(0, bytes, host)
    }

    /// Mark an arrival or drop it. Return whether it is accepted all the same, marked.
    pub fn carry_out(&self, decision: DropDecision, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let is_marked = self.marks(packet, decision, host);
        if !is_marked {
            host.dropped(*packet, decision.reason());
        }
        is_marked
    }

    /// Note that an accepted packet waits, since the link is busy.
    #[inline(always)]
    pub fn waits(&mut self, bytes: u32) {
        self.waiting.add(bytes);
    }

    /// Note that a packet that waited leaves a plain queue by service.
    #[inline(always)]
    pub fn leaves(&mut self, bytes: u32) {
        self.waiting.take(bytes);
    }
}
