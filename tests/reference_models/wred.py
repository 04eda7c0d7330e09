"""WRED: a law for each class, one average of the whole queue for all.

Cisco's weighted RED as the DiffServ module of ns-2 has it (mode WRED).
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_models.red import Average, Packet
from reference_models.rio import Rio


class Wred(Rio):
    """RIO whose classes share the average."""

    def number_of_averages(self) -> int:
        return 1

    def averages_touched(self, packet: Packet) -> Sequence[int]:
        return (0,)

    def waiting(self, k: int) -> int:
        return len(self.queue)

    def average(self, packet: Packet) -> Average:
        return self.averages[0]
