"""The open loop that papers analyse: Poisson arrivals, exponential service, no feedback; simulated, and by its chains.

Three models answer in the same words (`loop_numbers`, `aqmlab.theory.queueing.chain_numbers`): the event simulation,
the birth-death chain in which the number in system stands for the average (w = 1), and the chain of number and average
(w < 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.papers.common.runs import Computation, answers_of
from aqmlab.results.quantities import ratio
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.best_curve import SHAPES
from aqmlab.theory.queueing.chain import Chain, solve_chain
from aqmlab.theory.queueing.chain_numbers import Numbers, averaged_chain, numbers_of
from aqmlab.theory.queueing.runs import Runs, consecutive_drops

TAIL = "drop-tail"
LONGEST = 20
"""Longest run of drops that is counted."""
SECONDS_AN_ARRIVAL = 8e-8
SECONDS_A_SOLUTION = 0.25


def open_loop(*, queue: str, load: float, service_rate: float, arrivals: int, seed: int) -> dict[str, Any]:
    """Run one queue under Poisson arrivals and exponential service; see `aqmlab._core.open_loop`."""
    return dict(_core.open_loop(queue, load * service_rate, service_rate, arrivals, arrivals // 20, seed))


@dataclass(frozen=True)
class Queue:
    """A paper's queue in the open loop: its parameters for any curve, and results of the chain of the number in system.

    Attributes
    ----------
    min_th, max_th, max_p, limit
        Of the curve, in packets.
    capacity
        Packets in the system at most, the one in service included.
    service_rate
        Packets per second.
    w_q
        The weight of the average.
    """

    min_th: float
    max_th: float
    max_p: float
    limit: float
    capacity: int
    service_rate: float
    w_q: float

    def parameters(self, shape: str, scale: float = 1.0) -> dict[str, Any]:
        """Return what `DropCurve.of` takes for a shape of `SHAPES`, thresholds multiplied."""
        thresholds = {"min_th": scale * self.min_th, "max_th": scale * self.max_th}
        return {"aqm": SHAPES[shape], **thresholds, "max_p": self.max_p, "limit": self.limit}

    @cache  # noqa: B019 - the queues are constants
    def curve(self, shape: str) -> DropCurve:
        """Return a curve with these parameters."""
        return DropCurve.of(**self.parameters(shape), name=shape)

    @cache  # noqa: B019
    def chain(self, shape: str, load: float) -> Chain:
        """Solve the chain in which the number in system stands for the average (w = 1)."""
        return solve_chain(self.curve(shape), load=load, capacity=self.capacity, service_rate=self.service_rate)

    @cache  # noqa: B019
    def runs(self, shape: str, load: float) -> Runs:
        """Return the drops in a row of that chain."""
        return consecutive_drops(self.chain(shape, load))

    @cache  # noqa: B019
    def numbers(self, shape: str, load: float) -> Numbers:
        """Return the numbers of that chain."""
        return numbers_of(self.chain(shape, load))

    def solution(self, shape: str, load: float, scale: float = 1.0) -> Computation:
        """Make one point of the chain of number and average, thresholds multiplied."""
        own = {"load": load, "capacity": self.capacity, "service_rate": self.service_rate, "w_q": self.w_q}
        return Computation(
            key={"scheme": shape, "load": load, "scale": scale},
            name="averaged chain",
            function=averaged_chain,
            arguments={"curve": self.parameters(shape, scale), **own},
            cost=SECONDS_A_SOLUTION,
            by_chance=False,
        )


@dataclass(frozen=True)
class Averaged:
    """Results of the chain of number and average, by shape and load; for drop-tail (no average), of its own chain."""

    queue: Queue
    known: Mapping[tuple[str, float], Numbers]

    @classmethod
    def read(cls, queue: Queue, points: Iterable[Computation], root: Path) -> Averaged:
        """Read the solutions."""
        known = {(str(p.key["scheme"]), float(p.key["load"])): solved_numbers(p, root) for p in points}
        return cls(queue, known)

    def __call__(self, shape: str, load: float, quantity: str) -> float | None:
        """Return one number; None at a load that was not solved, or where drops are too rare for this chain."""
        if shape == TAIL:
            return self.queue.numbers(shape, load)[quantity]
        found = self.known.get((shape, load), {}).get(quantity, math.nan)
        return None if math.isnan(found) else found

    @property
    def loads(self) -> list[float]:
        """The loads that were solved, ascending."""
        return sorted({load for _, load in self.known})

    @property
    def loads_with_drops(self) -> list[float]:
        """The loads at which no curve drops too rarely for this chain."""
        rare = {load for (_, load), numbers in self.known.items() if math.isnan(numbers["mean_run"])}
        return [load for load in self.loads if load not in rare]


def solved_numbers(point: Computation, root: Path) -> Numbers:
    """Read one solution of that chain."""
    return {key: math.nan if found is None else found for key, found in point.read(root, answers_of(root))[0].items()}


def loop_numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of one run of the open loop, from its answer.

    Throughput is in packets per second, the wait in ms; ``longer_n`` is P(N > n), the share of runs of drops that
    are longer than n; NaN without a drop.

    >>> found = {"p_drop": 0.1, "throughput": 900.0, "mean_wait_s": 0.01, "mean_run": 1.5, "drops": 6, "arrivals": 60,
    ...          "runs_longer_than": [4, 2] + [0] * 30}
    >>> numbers = loop_numbers(found)
    >>> numbers["longer_1"], numbers["longer_2"], numbers["wait_ms"]
    (0.5, 0.0, 10.0)
    """
    runs = found["runs_longer_than"]
    numbers = {
        "drops": float(found["drops"]),
        "p_drop": found["p_drop"],
        "throughput": found["throughput"],
        "wait_ms": found["mean_wait_s"] * 1e3,
        "mean_run": math.nan if found["mean_run"] is None else found["mean_run"],
        "pairs": ratio(runs[1], found["arrivals"]),
    }
    return numbers | {f"longer_{n}": ratio(runs[n], runs[0]) for n in range(LONGEST + 1)}
