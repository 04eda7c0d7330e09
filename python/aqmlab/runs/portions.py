"""Work in portions: jobs that are handed to a worker together, each computed while the one before is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
PORTION_S = 1.0
"""Most that a portion of several jobs costs, in seconds of one core: long against handing it over."""
PORTIONS = 4
"""Portions per worker into which the remaining work is divided: they become smaller, so all workers end together."""
WAITING = 4
"""Results that may wait to be stored."""


class Work(Protocol[T]):
    """A picklable piece of work for a worker. A run is a `aqmlab.runs.jobs.Job`."""

    @property
    def place(self) -> Path | None:
        """The folder that keeps the result; None if it stays in memory."""

    @property
    def cost(self) -> float:
        """About how long it takes, in seconds of one core. Only proportions matter."""

    @property
    def in_python(self) -> bool:
        """Whether it works in Python for long, so that it belongs into a process of its own."""

    @property
    def cores(self) -> int:
        """How many processor cores it keeps busy."""

    def compute(self, progress: Callable[[float], None]) -> T:
        """Do the job. `progress` is called with the share that is done, 0 to 1."""

    def keep(self, result: T) -> T:
        """Store the result, and return the part of it that the caller needs. Another thread may call this."""


@dataclass(frozen=True)
class Portion(Generic[T]):
    """Jobs that one worker does."""

    jobs: Sequence[Work[T]]

    @property
    def cost(self) -> float:
        """About how long all of them take, in seconds of one core."""
        return sum(job.cost for job in self.jobs)

    def perform(self, progress: Callable[[float], None]) -> list[T]:
        """Do one after the other; results are stored, for which the disk is waited for, while the next are computed."""
        before, kept = 0.0, list[Future[T]]()
        with ThreadPoolExecutor(1, thread_name_prefix="store") as storing:
            for job in self.jobs:
                result = job.compute(self._share(progress, before, job.cost))
                if len(kept) >= WAITING:
                    kept[-WAITING].result()
                kept.append(storing.submit(job.keep, result))
                before += job.cost
            return [one.result() for one in kept]

    def _share(self, progress: Callable[[float], None], before: float, cost: float) -> Callable[[float], None]:
        """Report the share of a job of this cost, which comes after others of `before`, as one of the portion."""
        whole = self.cost
        return lambda share: progress((before + share * cost) / whole)


def in_portions(costs: Sequence[float], workers: int) -> list[list[int]]:
    """Divide jobs of these costs among portions, the costliest first, so that no core is left alone with a long one.

    C. D. Polychronopoulos and D. J. Kuck, "Guided Self-Scheduling", IEEE Trans. Computers 36(12), 1987: a portion is a
    part of the remaining work.

    >>> in_portions([0.1, 3.0, 0.1, 0.1], workers=1)
    [[1], [0], [2], [3]]
    >>> [len(portion) for portion in in_portions([0.25] * 32, workers=1)]
    [4, 4, 4, 4, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1]
    """
    portions: list[list[int]] = []
    left, room = sum(costs), 0.0
    for index in sorted(range(len(costs)), key=lambda index: -costs[index]):
        if costs[index] > room:
            portions.append([])
            room = min(PORTION_S, left / (PORTIONS * workers))
        portions[-1].append(index)
        room -= costs[index]
        left -= costs[index]
    return portions
