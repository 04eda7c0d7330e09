"""Theory of the paper's open loop, at any load: (2) to (6) and (9) to (13), and their omissions.

The paper's chain puts the number in system for the average (w = 1); it is solved here. The chain of number and average
(w = 0.02) takes longer and is one of the reproduction's computations, see `Averaged`.
"""

from __future__ import annotations

from pathlib import Path

from aqmlab.papers.common.open_loop import Averaged
from aqmlab.papers.exred.plan import LOOP, Effort, solutions


def chain(scheme: str, load: float, quantity: str) -> float | None:
    """Return one number of the paper's chain; ``mean_run_eq11`` is (11), None where it has no value.

    >>> round(chain("ExRED", 1.0, "throughput"), 6), chain("drop-tail", 1.0, "mean_run_eq11")
    (964.67625, None)
    """
    return LOOP.runs(scheme, load).mean_eq11 if quantity == "mean_run_eq11" else LOOP.numbers(scheme, load)[quantity]


def longer(scheme: str, load: float, n: int, *, eq10: bool = False) -> float | None:
    """Return P(N > n): exact, or by the paper's (10), None where that has no value."""
    runs = LOOP.runs(scheme, load)
    return runs.longer_eq10(n) if eq10 else runs.longer(n)


def averaged(effort: Effort, root: Path) -> Averaged:
    """Read the chain of number and average."""
    return Averaged.read(LOOP, solutions(effort), root)
