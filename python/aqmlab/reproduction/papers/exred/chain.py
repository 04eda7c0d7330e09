"""What theory says of the paper's open loop, at any load: (2) to (6) and (9) to (13), and what they leave out.

The paper's chain puts the number in system for the average (w = 1); it is solved here. The chain of number and average
(w = 0.02) takes longer and is one of the reproduction's computations, see `Averaged`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aqmlab.reproduction.papers.common.open_loop import Numbers, numbers_of, solved_numbers
from aqmlab.reproduction.papers.exred.plan import CAPACITY, CURVE, SERVICE_RATE, TAIL, Effort, solutions
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.best_curve import SHAPES
from aqmlab.theory.queueing.chain import Chain, solve_chain
from aqmlab.theory.queueing.runs import Runs, consecutive_drops


@cache
def solved(scheme: str, load: float) -> Chain:
    """Return the paper's chain (9) of a scheme at a load."""
    return solve_chain(curve(scheme), load=load, capacity=CAPACITY, service_rate=SERVICE_RATE)


@cache
def runs(scheme: str, load: float) -> Runs:
    """Return the drops in a row of that chain."""
    return consecutive_drops(solved(scheme, load))


@cache
def curve(scheme: str) -> DropCurve:
    """Return a scheme's curve with the paper's parameters.

    >>> curve("ExRED")([30, 100]).tolist()
    [0.1, 1.0]
    """
    return DropCurve.of(SHAPES[scheme], **CURVE, name=scheme)


def chain(scheme: str, load: float, quantity: str) -> float | None:
    """Return one number of the paper's chain; ``mean_run_eq11`` is (11), None where it has no value.

    >>> round(chain("ExRED", 1.0, "throughput"), 6), chain("drop-tail", 1.0, "mean_run_eq11")
    (964.67625, None)
    """
    return runs(scheme, load).mean_eq11 if quantity == "mean_run_eq11" else _numbers(scheme, load)[quantity]


def longer(scheme: str, load: float, n: int, *, eq10: bool = False) -> float | None:
    """Return P(N > n): exact, or by the paper's (10), None where that has no value."""
    return runs(scheme, load).longer_eq10(n) if eq10 else runs(scheme, load).longer(n)


@dataclass(frozen=True)
class Averaged:
    """The chain of number in system and average, w = 0.02, by scheme and load.

    Drop-tail has no average: for it the paper's chain answers, at every load.
    """

    numbers: Mapping[tuple[str, float], Numbers]

    @classmethod
    def read(cls, effort: Effort, root: Path) -> Averaged:
        """Read the solutions."""
        return cls(
            {
                (str(point.key["scheme"]), float(point.key["load"])): solved_numbers(point, root)
                for point in solutions(effort)
            }
        )

    def __call__(self, scheme: str, load: float, quantity: str) -> float | None:
        """Return one number; None at a load that was not solved, or where drops are too rare for this chain."""
        if scheme == TAIL:
            return _numbers(scheme, load)[quantity]
        found = self.numbers.get((scheme, load), {}).get(quantity, math.nan)
        return None if math.isnan(found) else found

    @property
    def loads(self) -> list[float]:
        """The loads that were solved, ascending."""
        return sorted({load for _, load in self.numbers})

    @property
    def loads_with_drops(self) -> list[float]:
        """The loads at which no curve drops too rarely for this chain."""
        rare = {load for (_, load), numbers in self.numbers.items() if math.isnan(numbers["mean_run"])}
        return [load for load in self.loads if load not in rare]


@cache
def _numbers(scheme: str, load: float) -> Numbers:
    return numbers_of(solved(scheme, load))
