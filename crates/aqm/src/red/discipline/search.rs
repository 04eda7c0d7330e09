//! Decisions where the victim is searched in the queue: the victim rules other than that of the arriving packet.

use aqmlab_units::Time;

use super::{DropDecision, Red};
use crate::red::victim::Among;
use crate::{DropReason, Host, Packet};

impl<P: Copy> Red<P> {
    /// Decide about an arrival where the victim is searched in the queue, and carry the decision out. Return whether the caller is to
    /// accept the packet; one that takes part in the search is accepted here.
    #[inline(always)]
    pub(super) fn offer_to_search(
        &mut self,
        now: Time,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> bool {
        if let Some(reason) = self.victim.on_arrival(now, &mut packet.meta) {
            host.dropped(*packet, reason);
            return false;
        }
        let (class, bytes) = (self.class_of(&packet.meta), packet.meta.bytes);
        let decision = if self.is_simple {
            self.judge_simple(now, bytes, self.is_idle(), host)
        } else if self.overflows_first(class, bytes) {
            self.victim.on_drop(now, &packet.meta);
            host.dropped(*packet, DropReason::OVERFLOW);
            return false;
        } else {
            self.see_arrival(now, class);
            if self.victim.compares() && self.drop_matches(class, packet, host) {
                return false;
            }
            self.drop_decision_with_room(class, bytes, host)
        };
        let accepted = decision == DropDecision::Accept;
        let dropped = !accepted && self.drop_or_mark_victim(now, *packet, decision, host);
        self.adapt_after_decision(now, class, &packet.meta, dropped);
        accepted
    }

    /// Compare the arrival with packets of the queue (CHOKe). Drop those that match, and then the arrival. Return whether any
    /// matched.
    #[inline(never)]
    fn drop_matches(&mut self, class: usize, packet: &Packet<P>, host: &mut impl Host<P>) -> bool {
        let draws = self.victim.draws(self.average_of(class), &self.class_states[class].curve);
        let mut matched = false;
        for _ in 0..draws {
            if let Some(slot) = self.queue.draw(&self.victim, &packet.meta, host) {
                let victim = self.queue.at(slot);
                self.queue.remove(slot);
                self.left(&victim.meta);
                host.dropped(victim, DropReason::EARLY);
                matched = true;
            }
        }
        if matched {
            host.dropped(*packet, DropReason::EARLY);
        }
        matched
    }

    /// Choose the victim of this decision, and mark or drop it. Return whether it was dropped.
    #[inline(never)]
    fn drop_or_mark_victim(
        &mut self,
        now: Time,
        mut packet: Packet<P>,
        decision: DropDecision,
        host: &mut impl Host<P>,
    ) -> bool {
        let among = self.victim.among(decision.reason(), self.waiting.packets == 0);
        if among == Among::Arriving {
            let accepted = self.verdict(decision, &packet.meta).carry_out(&mut packet, host);
            if accepted {
                self.accept(packet);
            } else {
                self.victim.on_drop(now, &packet.meta);
            }
            return !accepted;
        }
        if among == Among::All {
            self.accept(packet);
        }
        let slot = self.queue.pick(&self.victim, host);
        let dropped = slot.is_some_and(|slot| self.drop_or_mark_slot(now, slot, decision, host));
        if among == Among::Waiting {
            self.accept(packet);
        }
        dropped
    }

    /// Mark or drop the packet in a slot. Return whether it was dropped.
    fn drop_or_mark_slot(
        &mut self,
        now: Time,
        slot: usize,
        decision: DropDecision,
        host: &mut impl Host<P>,
    ) -> bool {
        let mut victim = self.queue.at(slot);
        if self.verdict(decision, &victim.meta).carry_out(&mut victim, host) {
            self.queue.mark(slot);
            return false;
        }
        self.queue.remove(slot);
        self.left(&victim.meta);
        self.victim.on_drop(now, &victim.meta);
        true
    }
}
