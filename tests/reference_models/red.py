"""Random Early Detection, the part that all reference models have in common.

S. Floyd, V. Jacobson, Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM ToN 1(4), 1993: the average
of section 4 (its idle exponent kept real), the linear curve, the count of packets since the last drop. The gentle
curve is S. Floyd's note of March 2000. The spacing "ns2-wait" and the guard of one packet are those of ns-2 2.35.

A queue here is what waits: the packet in transmission has left it. `limit` counts waiting packets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

PS = 1e-12
"""Seconds in a picosecond; times are whole picoseconds."""

EARLY, FORCED, OVERFLOW = "early", "forced", "overflow"


@dataclass(slots=True, eq=False)
class Packet:
    """One packet, with all that any of the disciplines looks at.

    `cls` is the priority level of the packet's flow, 0 without priority. `ttl` is the rest of `ttl_initial` here,
    `ttl_final` the rest of it at the destination (0: not known yet). `alert` is PC-RED's bit QOSA, which an
    earlier queue may have set, `rank` the class (0 is the most precious); queues write both.
    """

    number: int
    bytes: int
    flow: int
    cls: int
    kind: str
    dscp: int
    ect: bool
    ttl_initial: int
    ttl: int
    ttl_final: int
    alert: bool = False
    rank: int = 0


class Draws:
    """Random numbers from a list, in order of use."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.numbers = numbers
        self.used = 0

    def uniform(self) -> float:
        self.used += 1
        return self.numbers[self.used - 1]

    def below(self, n: int) -> int:
        """A whole number in 0 … n-1."""
        return math.floor(self.uniform() * n)


class Decision(NamedTuple):
    """Result of an arrival; the arriving packet itself waits unless it is among the dropped."""

    dropped: tuple[tuple[int, str], ...] = ()
    marked: tuple[int, ...] = ()


class Average:
    """Exponentially weighted average of a queue, in packets.

    `s` is the transmission time of a mean packet in seconds: an idle period counts as so many empty samples.
    """

    def __init__(self, w_q: float, s: float) -> None:
        self.w_q = w_q
        self.s = s
        self.value = 0.0
        self.idle = True
        self.idle_since = 0

    def update(self, now: int, q: int) -> None:
        if self.idle:
            self.value *= (1.0 - self.w_q) ** ((now - self.idle_since) * PS / self.s)
            self.idle_since = now  # the same period must not be counted again if this arrival is dropped
        else:
            self.value = (1.0 - self.w_q) * self.value + self.w_q * q

    def wake(self) -> None:
        """A packet that belongs to this average was accepted."""
        self.idle = False

    def rest(self, now: int) -> None:
        """Nothing that belongs to this average waits or is in transmission."""
        if not self.idle:
            self.idle = True
            self.idle_since = now


@dataclass(slots=True)
class Law:
    """Drop probability as a function of the average, and the packets since the last drop."""

    min_th: float
    max_th: float
    max_p: float
    gentle: bool = False
    count: int = -1

    def p_b(self, average: float) -> float:
        if average < self.min_th:
            return 0.0
        if average < self.max_th:
            return self.max_p * (average - self.min_th) / (self.max_th - self.min_th)
        if self.gentle and average < 2.0 * self.max_th:
            return self.max_p + (1.0 - self.max_p) * (average - self.max_th) / self.max_th
        return 1.0


def p_a(spacing: str, p_b: float, count: int) -> float:
    """Probability for this packet, given the packets since the last drop."""
    if spacing == "none":
        return p_b
    if spacing == "floyd93":  # gaps are uniform on 1 … 1/p_b
        return 1.0 if count * p_b >= 1.0 else p_b / (1.0 - count * p_b)
    if spacing == "ns2-wait":  # gaps are uniform on 1/p_b … 2/p_b
        if count * p_b < 1.0:
            return 0.0
        return p_b / (2.0 - count * p_b) if count * p_b < 2.0 else 1.0
    raise ValueError(spacing)


@dataclass(frozen=True)
class Settings:
    """Settings outside the law: the average's weight, the buffer, and the dialect."""

    w_q: float
    limit: int
    spacing: str
    guard_one: bool = True
    ecn: bool = False
    mark_forced: bool = False
    mean_packet: int = 1000


class Red:
    """RED; its descendants override a hook or two."""

    def __init__(self, settings: Settings, laws: list[Law], rate_bps: float, draws: Draws) -> None:
        self.settings = settings
        self.laws = laws
        self.draws = draws
        self.queue: list[Packet] = []
        s = 8.0 * settings.mean_packet / rate_bps
        self.averages = [Average(settings.w_q, s) for _ in range(self.number_of_averages())]

    # --- the two inputs of a queue ---

    def enqueue(self, now: int, packet: Packet) -> Decision:
        self.on_arrival(now, packet)
        self.estimate(now, packet)
        reason = self.verdict(packet)
        if reason is None:
            self.accept(packet)
            decision = Decision()
        else:
            decision = self.strike(now, packet, reason)
        self.after_arrival(now, packet)
        return decision

    def dequeue(self, now: int) -> Packet | None:
        packet = self.queue.pop(0) if self.queue else None
        in_service = () if packet is None else self.averages_touched(packet)
        for k, average in enumerate(self.averages):
            if k not in in_service and self.waiting(k) == 0:
                average.rest(now)
        return packet

    # --- the steps of an arrival ---

    def estimate(self, now: int, packet: Packet) -> None:
        for k in self.averages_touched(packet):
            self.averages[k].update(now, self.waiting(k))

    def verdict(self, packet: Packet) -> str | None:
        """Why somebody has to go, or `None`."""
        law, average, q = self.law(packet), self.average(packet).value, len(self.queue)
        reason = None
        if average < law.min_th or (self.settings.guard_one and q <= 1):
            law.count = -1
        elif (p_b := law.p_b(average)) < 1.0:
            law.count += 1
            if self.draws.uniform() < p_a(self.settings.spacing, p_b, law.count):
                reason = EARLY
        else:
            reason = FORCED
        if q >= self.settings.limit:
            reason = OVERFLOW
        if reason is not None:
            law.count = 0
        return reason

    def accept(self, packet: Packet) -> None:
        self.queue.append(packet)
        for k in self.averages_touched(packet):
            self.averages[k].wake()

    def strike(self, now: int, packet: Packet, reason: str) -> Decision:
        """Mark or drop the victim, which need not be the arriving packet; return the decision."""
        victim = self.pick_victim(packet, reason)
        if self.may_mark(victim, reason):
            self.accept(packet)
            return Decision(marked=(victim.number,))
        if victim is not packet:
            self.queue.remove(victim)
            self.accept(packet)
        self.on_drop(now, victim)
        return Decision(dropped=((victim.number, reason),))

    def may_mark(self, victim: Packet, reason: str) -> bool:
        marks_now = reason == EARLY or (reason == FORCED and self.settings.mark_forced)
        return self.settings.ecn and victim.ect and marks_now

    # --- hooks ---

    def number_of_averages(self) -> int:
        return 1

    def averages_touched(self, packet: Packet) -> Sequence[int]:
        """Which averages an arrival updates."""
        return (0,)

    def waiting(self, k: int) -> int:
        """Return the number of packets that average `k` averages."""
        return len(self.queue)

    def average(self, packet: Packet) -> Average:
        """The average that this packet is judged by."""
        return self.averages[0]

    def law(self, packet: Packet) -> Law:
        return self.laws[0]

    def pick_victim(self, packet: Packet, reason: str) -> Packet:
        return packet

    def on_arrival(self, now: int, packet: Packet) -> None:
        """Before everything else."""

    def after_arrival(self, now: int, packet: Packet) -> None:
        """When the decision is taken."""

    def on_drop(self, now: int, victim: Packet) -> None:
        """The victim has left the queue."""

    # --- for the comparison ---

    def gauges(self, now: int) -> dict[str, float]:
        """State beyond the averages, under the names that the core reports."""
        return {}

    def state(self, now: int) -> str:
        """The state in words, for the report of a difference."""
        lines = [f"average {k}: {vars(average)}, waiting {self.waiting(k)}" for k, average in enumerate(self.averages)]
        lines += [f"law {k}: {law}" for k, law in enumerate(self.laws)]
        lines += [f"gauge {name}: {value!r}" for name, value in self.gauges(now).items()]
        lines += [f"draws used: {self.draws.used}, next: {self.draws.numbers[self.draws.used :][:2]}"]
        return "\n".join([*lines, "queue, head first:", *(f"  {packet}" for packet in self.queue)])
