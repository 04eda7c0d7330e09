"""Runs until an interval is narrow enough.

After at least 20 runs, and again whenever there are half as many more, the interval of each quantity is looked at; when
all are narrow enough, no more is run. Stopping at such a look is stopping when the runs happen to agree: an interval
that is made as if their number had been fixed in advance holds the truth too seldom (93 to 94 % instead of 95 % for
normal runs, less for skewed ones). So the intervals that are looked at, and reported at the end, are made at a level
of 1 - 0.8 (1 - level), 96 % instead of 95 %; with that they hold the truth as often as they say
(`docs/validation/statistics.md`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aqmlab.errors import InputError
from aqmlab.statistics.intervals import LEVEL, Interval

FEWEST = 20
"""Runs before the first look."""
GROWTH = 1.5
"""Runs at a look, relative to those at the look before."""
SPENT = 0.8
"""Share of 1 - level that the interval at a look may use."""
MOST = 1000
"""Default limit of runs."""

T = TypeVar("T")
Widths = Mapping[str, float]
"""Margin of an interval by goal, in the goal's unit; NaN for no interval."""
_GOAL = re.compile(r"ci(?:\(\s*([A-Za-z0-9_.]+)\s*\))?\s*=\s*([0-9.eE+-]+)\s*(%?)")


@dataclass(frozen=True)
class Goal:
    """How narrow an interval is asked for.

    Attributes
    ----------
    metric
        As the user wrote it; "" for the main quantity.
    target
        Largest margin of the interval (`Interval.margin`): a share of the mean if `relative`, else in the metric's
        unit.
    relative
        Whether it is meant relative to the mean.
    """

    metric: str
    target: float
    relative: bool

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Read ``ci(metric)=1%``, ``ci=1%`` or, in the metric's unit, ``ci(mean_delay_ms)=0.5``.

        >>> Goal.parse("ci(goodput)=1%")
        Goal(metric='goodput', target=0.01, relative=True)
        """
        found = _GOAL.fullmatch(text.strip())
        try:
            target = float(found[2]) if found else math.nan
        except ValueError:
            target = math.nan
        if not found or not math.isfinite(target) or target <= 0:
            raise InputError(
                f"until {text}: write ci(METRIC)=W%, for example ci(goodput)=1%, or ci(METRIC)=W in the metric's "
                "unit; W, above 0, is half the width of the interval, or its longer side where a limit clips it"
            )
        return cls(found[1] or "", target / 100 if found[3] else target, bool(found[3]))

    @property
    def text(self) -> str:
        """The goal as it is written.

        >>> Goal.parse("ci( goodput ) = 1 %").text
        'ci(goodput)=1%'
        """
        of = f"({self.metric})" if self.metric else ""
        return f"ci{of}={100 * self.target:g}%" if self.relative else f"ci{of}={self.target:g}"

    def width(self, found: Interval, mean: float) -> float:
        """Return the margin of an interval in the goal's unit; NaN if it is relative to a mean of 0.

        0 if all runs are equal: further runs add nothing.
        """
        if found.constant:
            return 0.0
        if not self.relative:
            return found.margin
        return found.margin / abs(mean) if mean else math.nan

    def shown(self, width: float) -> str:
        """Write a width in the goal's unit."""
        if math.isnan(width):
            return "no interval"
        return f"{100 * width:.3g} %" if self.relative else f"{width:.3g}"


@dataclass(frozen=True)
class Look:
    """A look at the runs: their number, and the margin of each goal's interval."""

    runs: int
    widths: Widths


@dataclass(frozen=True)
class Stopping:
    """How runs ended that were to go on until intervals are narrow enough.

    Attributes
    ----------
    goals
        The goals that the caller gave.
    looks
        The looks, in order.
    most
        The most runs that were allowed.
    level
        Level at which the intervals hold the truth.
    """

    goals: tuple[Goal, ...]
    looks: tuple[Look, ...]
    most: int
    level: float = LEVEL

    @property
    def runs(self) -> int:
        """Number of runs in the end."""
        return self.looks[-1].runs

    @property
    def reached(self) -> bool:
        """Whether all intervals became as narrow as asked for."""
        return _reached(self.goals, self.looks[-1].widths)

    def lines(self) -> list[str]:
        """Say it, a line a goal."""
        last = self.looks[-1].widths
        lines = []
        for goal in self.goals:
            width = last[goal.text]
            word = "reached" if width <= goal.target else "undecided: not reached"
            found = f"± {goal.shown(width)}; at most {self.most} runs"
            lines.append(f"{goal.text}: {word} after {self.runs} runs ({found})")
        made, hold = f"{100 * spent(self.level):.4g} %", f"{100 * self.level:g} %"
        return [*lines, f"Intervals are made at {made}, so that {hold} hold although their width ended the runs."]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "goals": [goal.text for goal in self.goals],
            "reached": self.reached,
            "runs": self.runs,
            "most": self.most,
            "interval_level": spent(self.level),
            "looks": [{"runs": look.runs, "half_widths": dict(look.widths)} for look in self.looks],
        }


def goals_of(until: str | Sequence[str]) -> tuple[Goal, ...]:
    """Read one goal or several; several may stand in one text, with commas between."""
    texts = [until] if isinstance(until, str) else list(until)
    goals = {goal.text: goal for text in texts for goal in map(Goal.parse, text.split(","))}
    return tuple(goals.values())


def spent(level: float) -> float:
    """Level of the intervals at a look.

    >>> round(spent(0.95), 4)
    0.96
    """
    return 1 - SPENT * (1 - level)


def run_until(
    goals: Sequence[Goal],
    more: Callable[[Sequence[int]], T],
    widths: Callable[[T], Widths],
    *,
    fewest: int = FEWEST,
    most: int = MOST,
) -> tuple[T, Stopping]:
    """Run seeds 1, 2, ... until the intervals are narrow enough, or `most` are run.

    Parameters
    ----------
    goals
        The goals for the intervals.
    more
        Runs these further seeds; returns what there is of all seeds so far.
    widths
        Margins of the intervals of that result, at level `spent`, by the goals' texts.
    fewest, most
        Runs before the first look, and in all.

    Returns
    -------
    tuple
        The runs' result in the end, and how they ended.
    """
    check_numbers(fewest, most)
    looks: list[Look] = []
    done, wanted = 0, min(fewest, most)
    while True:
        found = more(range(done + 1, wanted + 1))
        looks.append(Look(wanted, widths(found)))
        done = wanted
        if done >= most or _reached(goals, looks[-1].widths):
            return found, Stopping(tuple(goals), tuple(looks), most)
        wanted = min(most, math.ceil(GROWTH * done))


def check_numbers(fewest: int, most: int) -> None:
    """Reject numbers of runs with which the intervals would not hold."""
    if fewest < FEWEST:
        raise InputError(f"until: {fewest} runs before the first look are too few (allowed: {FEWEST} or more)")
    if most < fewest:
        raise InputError(f"until: at most {most} runs is below the {fewest} of the first look")


def _reached(goals: Sequence[Goal], widths: Widths) -> bool:
    return all(widths[goal.text] <= goal.target for goal in goals)
