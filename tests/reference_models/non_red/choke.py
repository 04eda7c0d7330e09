"""CHOKe: a packet that meets one of its own flow in the queue is dropped, and that packet too.

R. Pan, B. Prabhakar, K. Psounis, CHOKe: A Stateless Active Queue Management Scheme, INFOCOM 2000; Linux `sch_choke.c`.
"""

from __future__ import annotations

from reference_models.red import EARLY, Decision, Packet, Red


class Choke(Red):
    """RED that first compares an arrival with packets drawn from the queue, while the average is above min_th."""

    drawn = 1

    def strike(self, now: int, packet: Packet, reason: str) -> Decision:
        if reason != EARLY or not self.matched:
            return super().strike(now, packet, reason)
        for victim in self.matched:
            self.queue.remove(victim)
        return Decision(dropped=tuple((one.number, EARLY) for one in (*self.matched, packet)))

    def verdict(self, packet: Packet) -> str | None:
        self.matched: list[Packet] = []
        if self.average(packet).value > self.law(packet).min_th:
            left = list(self.queue)
            for _ in range(self.drawn):
                if left and (met := left[self.draws.below(len(left))]).flow == packet.flow:
                    left.remove(met)
                    self.matched.append(met)
        return EARLY if self.matched else super().verdict(packet)
