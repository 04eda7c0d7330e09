"""The time of a run, and tasks that are due at given times of it."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from itertools import count


class Agenda:
    """Things to do at times of the run, in s since its start; things of the same time in the order they came.

    The start is a reading of the monotonic clock, which all processes of a machine share.
    """

    def __init__(self, start: float) -> None:
        self._start = start
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._serial = count()

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return time.monotonic() - self._start

    def at(self, when_s: float, what: Callable[[], None]) -> None:
        """Put something on it."""
        heapq.heappush(self._entries, (when_s, next(self._serial), what))

    def every(self, interval_s: float, until_s: float, what: Callable[[], None]) -> None:
        """Put something on it again and again, from 0 on."""
        for step in range(int(until_s / interval_s + 1e-9) + 1):
            self.at(step * interval_s, what)

    def do_what_is_due(self) -> None:
        """Do what should have been done by now."""
        while self._entries and self._entries[0][0] <= self.now:
            heapq.heappop(self._entries)[2]()

    def wait_s(self, longest: float) -> float:
        """How long nothing is due."""
        if not self._entries:
            return longest
        return min(max(self._entries[0][0] - self.now, 0.0), longest)
