"""Queues of flows served in turn: RFC 8290, section 4, over any law of one queue.

Either no two flows have the same queue, or all have: no hash, and no longest of several that are equally long.
"""

from __future__ import annotations

from typing import ClassVar

from reference_models.non_red import Packet, ReferenceModel
from reference_models.non_red.controllers import Pie
from reference_models.non_red.laws import CoDel
from reference_models.red import OVERFLOW, Draws


class Fair(ReferenceModel):
    """Deficit round robin, new queues first."""

    quantum = 1514
    linux = False
    """A new queue that has run empty goes to the old ones only if there are some."""
    inner: ClassVar[type[ReferenceModel]]

    def __init__(self, draws: Draws, rate_bps: float, *, limit: int, collide: bool = False) -> None:
        super().__init__(draws, rate_bps)
        self.limit, self.collide = limit, collide
        self.lanes: dict[int, ReferenceModel] = {}
        self.credits: dict[int, int] = {}
        self.new: list[int] = []
        self.old: list[int] = []

    def lane(self, flow: int) -> ReferenceModel:
        flow = self.key(flow)
        if flow not in self.lanes:
            self.lanes[flow] = self.inner(self.draws, self.rate_bps)
        lane = self.lanes[flow]
        lane.outcome, lane.ecn = self.outcome, self.ecn
        return lane

    def key(self, flow: int) -> int:
        return 0 if self.collide else flow

    def waiting(self) -> int:
        return sum(len(lane.queue) for lane in self.lanes.values())

    def begin(self, flow: int) -> None:
        flow = self.key(flow)
        if flow not in self.new + self.old:
            self.new.append(flow)
            self.credits[flow] = self.quantum

    def leaves(self, now: float) -> Packet | None:
        while self.new or self.old:
            turns = self.new or self.old
            flow = turns[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.quantum
                self.old.append(turns.pop(0))
                continue
            lane = self.lane(flow)
            lane.catch_up(now)
            packet = lane.leaves(now)
            if packet is not None:
                self.credits[flow] -= packet.bytes
                return packet
            turns.pop(0)
            if turns is self.new and (self.old or not self.linux):
                self.old.append(flow)
        return None


class FqCoDel(Fair):
    """RFC 8290: CoDel checks the backlog of all queues together; a full buffer drops half of the longest queue."""

    def __init__(self, draws: Draws, rate_bps: float, *, limit: int, collide: bool = False) -> None:
        super().__init__(draws, rate_bps, limit=limit, collide=collide)
        whole = self

        class Lane(CoDel):
            def backlog(self) -> int:
                return sum(CoDel.backlog(lane) for lane in whole.lanes.values())

        self.inner = Lane  # type: ignore[misc]

    def arrives(self, now: float, packet: Packet) -> None:
        self.lane(packet.flow).queue.append(packet)
        self.begin(packet.flow)
        if self.waiting() > self.limit:
            longest = max(self.lanes.values(), key=CoDel.backlog)
            for _ in range(min(64, max(1, len(longest.queue) // 2))):
                self.drop(longest.queue.pop(0), OVERFLOW)


class FqPie(Fair):
    """Linux `sch_fq_pie.c`: PIE for each queue; a full buffer drops the arriving packet."""

    linux = True
    inner = Pie

    def arrives(self, now: float, packet: Packet) -> None:
        lane = self.lane(packet.flow)
        lane.catch_up(now)
        lane.limit = self.limit - self.waiting() + len(lane.queue)
        lane.arrives(now, packet)
        if packet in lane.queue:
            self.begin(packet.flow)
