"""DDRED: the packet that has come least far goes.

E. Dedu, S. Linck, F. Spies, Distance-Dependent RED Policy, 2007: section IV. Method 1 compares the distance
d_r = TTL_i - TTL, method 2 the fraction (TTL_i - TTL)/(TTL_i - TTL_f) of the way. RED (gentle) decides when; with ECN
the nearest packet is marked instead of dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reference_models.red import EARLY, OVERFLOW, Average, Decision, Draws, Law, Packet, Red, Settings


@dataclass(frozen=True)
class Search:
    """How the victim is found."""

    distance: str = "ttl"  # method 1; or "fraction", method 2
    unknown: float = 1.0  # the fraction of a packet whose TTL_f is not known
    ties: str = "newest"  # or "oldest", "random"
    arrival_is_candidate: bool = False
    reach: str = "all"  # or "early": forced drops and overflow hit the arriving packet

    def way(self, packet: Packet) -> float:
        """How far the packet has come."""
        covered = packet.ttl_initial - packet.ttl
        if self.distance == "ttl":
            return covered
        if packet.ttl_final == 0:
            return self.unknown
        return min(1.0, max(0.0, covered / (packet.ttl_initial - packet.ttl_final)))

    def nearest(self, candidates: Sequence[Packet], draws: Draws) -> Packet:
        """The candidate that has come least far; candidates are in the order of the queue, head first."""
        ways = [self.way(packet) for packet in candidates]
        least = min(ways)
        if self.ties == "oldest":
            return candidates[ways.index(least)]
        equals = [packet for packet, way in zip(candidates, ways, strict=True) if way == least]
        if self.ties == "random":
            return equals[draws.below(len(equals))]
        return equals[-1]


class Ddred(Red):
    """RED that drops or marks the nearest packet of the queue."""

    def __init__(self, settings: Settings, law: Law, search: Search, rate_bps: float, draws: Draws) -> None:
        super().__init__(settings, [law], rate_bps, draws)
        self.search = search

    def pick_victim(self, packet: Packet, reason: str) -> Packet:
        if reason != EARLY and self.search.reach == "early":
            return packet
        if reason == OVERFLOW or self.search.arrival_is_candidate or not self.queue:
            return self.search.nearest([*self.queue, packet], self.draws)
        return self.search.nearest(self.queue, self.draws)


class DdredTail:
    """Tail drop that compares the arriving packet with the last `n` of a full queue."""

    def __init__(self, limit: int, n: int, search: Search) -> None:
        self.limit = limit
        self.n = n
        self.search = search
        self.queue: list[Packet] = []
        self.averages: list[Average] = []
        self.draws = Draws(())

    def enqueue(self, now: int, packet: Packet) -> Decision:
        if len(self.queue) < self.limit:
            self.queue.append(packet)
            return Decision()
        victim = self.search.nearest([*self.queue[-self.n :], packet], self.draws)
        if victim is not packet:
            self.queue.remove(victim)
            self.queue.append(packet)
        return Decision(dropped=((victim.number, OVERFLOW),))

    def dequeue(self, now: int) -> Packet | None:
        return self.queue.pop(0) if self.queue else None

    def gauges(self, now: int) -> dict[str, float]:
        return {}

    def state(self, now: int) -> str:
        return "\n".join(["queue, head first:", *(f"  {packet}" for packet in self.queue)])
