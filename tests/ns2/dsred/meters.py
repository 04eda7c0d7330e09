"""The markers of ns-2's DiffServ module once more, in doubles: they show that the committed tables are understood.

The arithmetic is that of tests/data/ns2/dsred/README.md. A decision has a margin, the relative distance of the compared
values; a table is admitted only if no margin is so small that another order of rounding could turn the decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

GREEN, YELLOW, RED = 0, 1, 2
DRAW_UNIT = 1.0 / (4294967087.0 + 1.0)
"""A draw of ns-2 is an integer times this."""


class Meter:
    """One marker. Parameters: cir, pir in bit/s; cbs, ebs, pbs in bytes; window in seconds."""

    def __init__(self, kind: str, parameters: Mapping[str, float], draws: Iterator[float]) -> None:
        self.decide = {
            "token-bucket": self._token_bucket,
            "srtcm": self._srtcm,
            "trtcm": self._trtcm,
            "tsw2cm": self._tsw2cm,
            "tsw3cm": self._tsw3cm,
        }[kind]
        self.cir = parameters["cir"] / 8.0
        self.pir = parameters.get("pir", 0.0) / 8.0
        self.cbs, self.ebs, self.pbs = (parameters.get(name, 0.0) for name in ("cbs", "ebs", "pbs"))
        self.window = parameters.get("window", 1.0)
        self.committed, self.excess, self.peak = self.cbs, self.ebs, self.pbs
        self.average = self.cir
        self.last = 0.0
        self.draws = draws
        self.drawn = 0
        self.margin = float("inf")

    def color(self, now: float, size: int) -> int:
        """The colour of a packet of `size` bytes that arrives at `now` (seconds)."""
        color = self.decide(now, size)
        self.last = now
        return color

    def _fits(self, bucket: float, size: int) -> bool:
        self.margin = min(self.margin, abs(bucket - size) / size)
        return bucket - size >= 0

    def _exceeds(self, value: float, bound: float) -> bool:
        self.margin = min(self.margin, abs(value - bound) / bound)
        return value > bound

    def _draw(self) -> float:
        self.drawn += 1
        return next(self.draws)

    def _fill(self, bucket: float, rate: float, size: float, now: float) -> float:
        return min(bucket + rate * (now - self.last), size)

    def _token_bucket(self, now: float, size: int) -> int:
        self.committed = self._fill(self.committed, self.cir, self.cbs, now)
        if self._fits(self.committed, size):
            self.committed -= size
            return GREEN
        return RED

    def _srtcm(self, now: float, size: int) -> int:
        tokens = self.cir * (now - self.last)
        spill = max(0.0, tokens - (self.cbs - self.committed))
        self.committed = min(self.committed + tokens, self.cbs)
        self.excess = min(self.excess + spill, self.ebs)
        if self._fits(self.committed, size):
            self.committed -= size
            return GREEN
        if self._fits(self.excess, size):
            self.excess -= size
            return YELLOW
        return RED

    def _trtcm(self, now: float, size: int) -> int:
        self.committed = self._fill(self.committed, self.cir, self.cbs, now)
        self.peak = self._fill(self.peak, self.pir, self.pbs, now)
        if not self._fits(self.peak, size):
            return RED
        self.peak -= size
        if not self._fits(self.committed, size):
            return YELLOW
        self.committed -= size
        return GREEN

    def _measure(self, now: float, size: int) -> float:
        self.average = (self.average * self.window + size) / (now - self.last + self.window)
        return self.average

    def _tsw2cm(self, now: float, size: int) -> int:
        average = self._measure(now, size)
        if not self._exceeds(average, self.cir):
            return GREEN
        return GREEN if self._exceeds(self._draw(), 1.0 - self.cir / average) else RED

    def _tsw3cm(self, now: float, size: int) -> int:
        rate = self._measure(now, size) * (1.0 - self._draw())
        if self._exceeds(rate, self.pir):
            return RED
        return YELLOW if self._exceeds(rate, self.cir) else GREEN
