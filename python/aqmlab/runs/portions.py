"""Work in portions: jobs that are handed to a worker together, each computed while the one before is stored."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
Results = tuple[list[T], float]
"""The results of the jobs of a portion, in order, and how long all took, in s."""
PORTION_S = 1.0
"""Most that a portion of several jobs takes, in s: long against handing it over, short against the work it may lose."""
PORTIONS = 4
"""Portions per worker into which the remaining work is divided: they become smaller, so all workers end together."""
KEPT = 4
"""Results that may wait to be stored."""
FORGETTING = 0.7
"""Weight of the earlier pace against that of the last portion."""


@dataclass(frozen=True, kw_only=True)
class Work(ABC, Generic[T]):
    """A picklable piece of work for a worker. A run is a `aqmlab.runs.jobs.Job`.

    Attributes
    ----------
    place
        The folder that keeps the result; None if it stays in memory.
    cost
        About how long it takes, in seconds of one core. Only proportions matter.
    in_python
        Whether it works in Python for long, so that it belongs into a process of its own.
    cores, runs
        How many processor cores it keeps busy, and how many runs it is.
    """

    place: Path | None = None
    cost: float = 1.0
    in_python: bool = False
    cores: int = 1
    runs: int = 1

    @abstractmethod
    def compute(self, progress: Callable[[float], None]) -> T:
        """Do the work. `progress` is called with the share that is done, 0 to 1."""

    def alone(self) -> Work[T]:
        """Return the same work where no other is done meanwhile and a second core is free."""
        return self

    def keep(self, result: T) -> T:
        """Store the result, and return the part of it that the caller needs. Another thread may call this."""
        return result


@dataclass(frozen=True)
class Portion(Generic[T]):
    """Jobs that one worker does."""

    jobs: Sequence[Work[T]]

    @property
    def cost(self) -> float:
        """About how long all of them take, in seconds of one core."""
        return sum(job.cost for job in self.jobs)

    def perform(self, progress: Callable[[float], None]) -> Results[T]:
        """Do one after the other; results are stored, for which the disk is waited for, while the next are computed."""
        began, before, kept = time.perf_counter(), 0.0, list[Future[T]]()
        with ThreadPoolExecutor(1, thread_name_prefix="store") as storing:
            for job in self.jobs:
                result = job.compute(self._part(progress, before, job.cost))
                if len(kept) >= KEPT:
                    kept[-KEPT].result()
                kept.append(storing.submit(job.keep, result))
                before += job.cost
            return [one.result() for one in kept], time.perf_counter() - began

    def _part(self, progress: Callable[[float], None], before: float, cost: float) -> Callable[[float], None]:
        """Report the share of a job of this cost, which comes after others of `before`, as one of the portion."""
        whole = self.cost
        return lambda share: progress((before + share * cost) / whole)


class Waiting:
    """Jobs that wait, by number, the costliest first, so that no core is left alone with a long one.

    C. D. Polychronopoulos and D. J. Kuck, "Guided Self-Scheduling", IEEE Trans. Computers 36(12), 1987: a portion is a
    part of the remaining work. The time that it takes follows from the measured pace; before the first measurement, and
    after a worker died at it, a job is a portion of its own.

    Attributes
    ----------
    pace
        Seconds that work of cost 1 takes, the last portions weighted most; None before the first measurement.

    >>> waiting = Waiting([0.25] * 20)
    >>> waiting.learn(cost=1.0, seconds=1.0)
    >>> [len(waiting.portion(workers=1)) for _ in range(11)]
    [4, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1]
    """

    def __init__(self, costs: Sequence[float]) -> None:
        self._costs = costs
        self._numbers = deque(sorted(range(len(costs)), key=lambda number: -costs[number]))
        self._left = sum(costs)
        self._alone: set[int] = set()
        self.pace: float | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def portion(
        self, workers: int, most_s: float = PORTION_S, accepts: Callable[[int], bool | None] = lambda _: True
    ) -> list[int]:
        """Take the next portion for one of so many workers: at least one job, if any is accepted.

        A portion of several jobs takes `most_s` seconds at most. `accepts` says whether a job is to be done now (True),
        later (None), or not at all.
        """
        room = min(most_s / self.pace, self._left / (PORTIONS * workers)) if self.pace else 0.0
        taken: list[int] = []
        for _ in range(len(self._numbers)):
            number = self._numbers[0]
            if taken and (self._costs[number] > room or not self._alone.isdisjoint((number, *taken))):
                break
            self._numbers.popleft()
            accepted = accepts(number)
            if accepted is None:
                self._numbers.append(number)
                continue
            self._left -= self._costs[number]
            if accepted:
                taken.append(number)
                room -= self._costs[number]
        return taken

    def again(self, numbers: Sequence[int]) -> None:
        """Put jobs back at which a worker died: at the front, each a portion of its own."""
        self._numbers.extendleft(reversed(numbers))
        self._left += sum(self._costs[number] for number in numbers)
        self._alone.update(numbers)

    def learn(self, cost: float, seconds: float) -> None:
        """Note how long a portion of this cost took."""
        found = max(seconds, 1e-9) / cost
        self.pace = found if self.pace is None else FORGETTING * self.pace + (1 - FORGETTING) * found
