"""RIO: RED with a law for packets in profile and another for those out of profile.

D. Clark, W. Fang, Explicit Allocation of Best-Effort Packet Delivery Service, IEEE/ACM ToN 6(4), 1998. Classes are in
order of precedence. Coupled (RIO-C): a class is judged by the average of itself and of all more precious classes, and
an arrival updates the averages it is a part of. Decoupled (RIO-D): a class has an average of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_models.red import Average, Draws, Law, Packet, Red, Settings

AF11 = 10
"""The code point of packets in profile."""


class Rio(Red):
    """Classes by code point; what no class claims is in the last one."""

    def __init__(
        self, settings: Settings, laws: list[Law], code_points: dict[int, int], rate_bps: float, draws: Draws
    ) -> None:
        self.code_points = code_points
        self.classes = len(laws)
        super().__init__(settings, laws, rate_bps, draws)

    def class_of(self, packet: Packet) -> int:
        return self.code_points.get(packet.dscp, self.classes - 1)

    def number_of_averages(self) -> int:
        return self.classes

    def on_arrival(self, now: int, packet: Packet) -> None:
        packet.rank = self.class_of(packet)

    def averages_touched(self, packet: Packet) -> Sequence[int]:
        return range(packet.rank, self.classes)

    def waiting(self, k: int) -> int:
        return sum([packet.rank <= k for packet in self.queue])

    def average(self, packet: Packet) -> Average:
        return self.averages[packet.rank]

    def law(self, packet: Packet) -> Law:
        return self.laws[packet.rank]


class RioDecoupled(Rio):
    """Every class sees its own packets only."""

    def averages_touched(self, packet: Packet) -> Sequence[int]:
        return (packet.rank,)

    def waiting(self, k: int) -> int:
        return sum([packet.rank == k for packet in self.queue])
