"""The time budget of a tuning: when the search ends, and how many seeds the time allows afterwards.

The search may spend `SEARCH` of the budget, the choice among the best up to `CHOICE`, the confirmation the rest. Runs
that have begun are finished, and the least numbers of seeds are always run: the budget may be exceeded by these.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from aqmlab.errors import InputError
from aqmlab.tuning.ranges import number_of

SEARCH, CHOICE = 0.4, 0.6
"""Shares of the budget after which the search ends, and after which the choice ends."""
NOTE = "the time budget was spent"
"""Beginning of the note on the work that the budget left out."""
LEAST_SEEDS = 4
"""Seeds that are run however little time is left: fewer decide nothing."""


class Budget:
    """Measures the time since it was made.

    Parameters
    ----------
    seconds
        The budget; None has no limit.
    clock
        Returns the time in s.
    """

    def __init__(self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock, self._began = clock, clock()
        self._runs, self._running_s = 0, 0.0
        self.cuts: dict[str, str] = {}

    def ran(self, runs: int, seconds: float) -> None:
        """Record that runs took so many seconds, all together."""
        self._runs, self._running_s = self._runs + runs, self._running_s + seconds

    def is_spent(self, share: float = 1.0) -> bool:
        """Whether a share of the budget is spent."""
        return self.seconds is not None and self._clock() - self._began >= share * self.seconds

    def seeds(self, wanted: int, runs_a_seed: int, share: float = 1.0) -> int:
        """Return how many seeds of `runs_a_seed` runs end before a share of the budget is spent; at most `wanted`.

        >>> budget = Budget(100.0, clock=lambda: 0.0)
        >>> budget.ran(10, 10.0)
        >>> budget.seeds(20, 10), budget.seeds(20, 10, 0.5), budget.seeds(20, 100)
        (10, 5, 4)
        """
        if self.seconds is None or not self._runs:
            return wanted
        left = share * self.seconds - (self._clock() - self._began)
        affordable = math.floor(left / (runs_a_seed * self._running_s / self._runs))
        return min(wanted, max(LEAST_SEEDS, affordable))

    def cut(self, what: str, done: int, wanted: int) -> None:
        """Record how much of the wanted work was done, if it is less, in place of an earlier record of such work."""
        self.cuts.pop(what, None)
        if done < wanted:
            self.cuts[what] = f"{done} of {wanted}"

    def note(self) -> str:
        """Return a sentence on the work that the budget left out; "" for none."""
        if not self.cuts or self.seconds is None:
            return ""
        return f"{NOTE}: {', '.join(f'{done} {what}' for what, done in self.cuts.items())} (--budget sets another)"


def budget_s(text: str) -> float:
    """Read a budget: ``90s``, ``5min``.

    >>> budget_s("5min")
    300.0
    """
    seconds, unit = number_of(text, f'--budget "{text}"')
    if unit != "s" or not 0 < seconds < math.inf:
        raise InputError(f'--budget "{text}": a time above 0, for example 90s or 5min')
    return seconds
