"""The coupled queue of ns-2's DiffServ module once more, to show that the committed tables are understood.

The arithmetic is that of tests/data/ns2/dsred/README.md, in single precision where ns-2 uses it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Outcome of an arrival."""

    ACCEPTED = "accepted"
    EARLY = "early"
    FORCED = "forced"
    OVERFLOW = "overflow"


@dataclass(frozen=True)
class Threshold:
    """A class: packets, packets, probability, weight."""

    min_th: int
    max_th: int
    max_p: float
    w_q: float


class Class:
    """The state of a class."""

    def __init__(self, threshold: Threshold) -> None:
        self.threshold = threshold
        self.average = 0.0
        self.waiting = 0
        self.count = -1
        self.idle = True
        self.idle_since = 0.0


class CoupledQueue:
    """Classes in order of precedence, limit in packets, `ptc` packets a second. `margin` is the least distance of a
    draw from its probability, `unclamped` the number of arrivals with a negative probability."""

    def __init__(self, thresholds: Sequence[Threshold], limit: int, ptc: float, draws: Iterator[float]) -> None:
        self.classes = [Class(threshold) for threshold in thresholds]
        self.limit = limit
        self.ptc = ptc
        self.draws = draws
        self.drawn = 0
        self.margin = float("inf")
        self.unclamped = 0

    def arrive(self, now: float, k: int) -> Outcome:
        """A packet of class `k` arrives at `now` (seconds)."""
        if sum(c.waiting for c in self.classes) >= self.limit:
            return Outcome.OVERFLOW
        for i in range(k, len(self.classes)):
            self._average(now, i)
        outcome = self._judge(self.classes[k])
        if outcome is Outcome.ACCEPTED:
            self.classes[k].waiting += 1
            for c in self.classes[k:]:
                c.idle = False
        return outcome

    def depart(self, now: float, k: int) -> None:
        """The transmission of a packet of class `k` starts."""
        self.classes[k].waiting -= 1
        if any(c.waiting for c in self.classes[: k + 1]):
            return
        for c in self.classes[k:]:
            if c.waiting:
                break
            c.idle, c.idle_since = True, now

    def _average(self, now: float, i: int) -> None:
        c = self.classes[i]
        slots = int(self.ptc * (now - c.idle_since)) if c.idle else 0
        average = c.average
        for _ in range(slots + 1):
            average = _single(average * (1.0 - c.threshold.w_q))
        for other in self.classes[: i + 1]:
            average = _single(average + other.threshold.w_q * other.waiting)
        c.average = average

    def _judge(self, c: Class) -> Outcome:
        t = c.threshold
        if c.average <= t.min_th:
            c.count = -1
            return Outcome.ACCEPTED
        if c.average > t.max_th:
            c.count = 0
            return Outcome.FORCED
        c.count += 1
        p_b = t.max_p * (c.average - t.min_th) / (t.max_th - t.min_th)
        p_a = p_b / (1.0 - c.count * p_b)
        u = next(self.draws)
        self.drawn += 1
        self.margin = min(self.margin, abs(u - p_a))
        self.unclamped += p_a < 0.0
        if u <= p_a:
            c.count = 0
            return Outcome.EARLY
        return Outcome.ACCEPTED


def _single(x: float) -> float:
    """`x` rounded to single precision."""
    return float(struct.unpack("f", struct.pack("f", x))[0])
