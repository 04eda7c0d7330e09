"""Goals of tuning: a quantity to make small or large, and bounds to keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.errors import InputError, minus
from aqmlab.results.quantities import Quantity, quantity
from aqmlab.runs.bounds import Bound, bounds_of
from aqmlab.runs.until import metric_named
from aqmlab.statistics import LEVEL, Interval
from aqmlab.statistics.text import interval_text

SENTENCE = re.compile(r"\s*(min|max)(?:imize)?\s+(\S+)(?:\s+while\s+(.+?))?\s*")
"""A goal with its bounds: ``min delay_p99_ms while utilization>=0.95 and loss<=2%``."""
EXAMPLE = "min delay_p99_ms while utilization>=0.95"


@dataclass(frozen=True)
class Goal:
    """A quantity to minimize, or to maximize.

    Attributes
    ----------
    metric
        The quantity, in its own unit.
    sign
        1 to minimize, -1 to maximize.
    """

    metric: Quantity
    sign: int

    @property
    def words(self) -> str:
        """Say it: ``minimize delay_p95_ms``."""
        return f"{'minimize' if self.sign > 0 else 'maximize'} {self.metric.key}"

    def over_points(self, values: np.ndarray, share: float) -> np.ndarray:
        """Return for each seed the quantile `share` over the points, from the best (0) to the worst (1).

        `values` has a row for each point and a column for each seed.

        >>> Goal(quantity("loss"), 1).over_points(np.array([[0.1, 0.2], [0.3, 0.1]]), 1.0).tolist()
        [0.3, 0.2]
        """
        found: np.ndarray = self.sign * np.quantile(self.sign * values, share, axis=0)
        return found


def goal_of(minimize: str | None, maximize: str | None) -> Goal:
    """Read the goal: exactly one of the two is given.

    >>> goal_of("delay_p95", None).words
    'minimize delay_p95_ms'
    """
    if (minimize is None) == (maximize is None):
        raise InputError("tune: give one goal, for example --minimize delay_p95_ms or --maximize goodput_mbps")
    if minimize is not None:
        return Goal(quantity(metric_named(minimize)), 1)
    return Goal(quantity(metric_named(str(maximize))), -1)


def goal_while(text: str) -> tuple[Goal, tuple[Bound, ...]]:
    """Read a goal with its bounds from one sentence.

    >>> goal, bounds = goal_while("min delay.p99 while utilization >= 95% and loss<=0.02")
    >>> goal.words, [bound.words for bound in bounds]
    ('minimize delay_p99_ms', ['utilization>=0.95', 'loss<=2%'])

    Raises
    ------
    InputError
        If the sentence has another form, an unknown metric, or an impossible bound.
    """
    match = SENTENCE.fullmatch(text)
    if match is None:
        raise InputError(f'tuned "{text}": write it as min METRIC or max METRIC while BOUND and BOUND ("{EXAMPLE}")')
    verb, metric, rest = match.groups()
    goal = Goal(quantity(metric_named(metric)), 1 if verb == "min" else -1)
    return goal, bounds_to_keep(re.split(r"\s+and\s+", rest) if rest else (), option="tuned")


def bounds_to_keep(texts: Sequence[str], *, option: str = "keep") -> tuple[Bound, ...]:
    """Read the constraints, which apply to the link of the tuned queue."""
    bounds = bounds_of(texts, option=option)
    for bound in bounds:
        if bound.link:
            raise InputError(
                f"{option} {bound.words}: a tuned queue is measured at its own link; leave out @{bound.link}"
            )
    return tuple(bounds)


def share_of(quantile: float) -> float:
    """Check a quantile over the points."""
    if not 0 <= quantile <= 1:
        raise InputError(f"quantile: {quantile:g} is out of range (allowed: 0, the best point, to 1, the worst)")
    return quantile


def shown(metric: Quantity, found: Interval, *, alone: bool = False, signed: bool = False) -> str:
    """Write a mean with its interval, or `alone`, in as many places as the interval needs, at most its quantity's.

    `signed` is for differences.

    >>> from aqmlab.results.quantities import quantity
    >>> shown(quantity("mos"), Interval(4.38449, 1e-5, 5, 4.38448, 4.3845))
    '4.38'
    >>> shown(quantity("mos"), Interval(4.183, 0.05, 5, 4.123, 4.243))
    '4.18 ± 0.06'
    >>> shown(quantity("mos"), Interval(-0.2, 0.05, 5, -0.26, -0.14), signed=True)
    '−0.20 ± 0.06'
    >>> wide = Interval(638.432, 21, 4, 604.7, 672.1)
    >>> shown(quantity("delay_p95_ms"), wide), shown(quantity("delay_p95_ms"), wide, alone=True)
    ('638 ± 34', '638')
    """
    digits, found = max(0, metric.shown_digits), found.times(metric.scale)
    mean, low, high = (f"{value:{'+' if signed else ''}z.{digits}f}" for value in (found.mean, found.low, found.high))
    if not found.low < found.high or low == high:
        return minus(mean)
    text = interval_text(found.mean, found.low, found.high, significant=2, digits=digits, signed=signed)
    return minus(text.partition(" ")[0] if alone else text)


def intervals_named(means: Iterable[str]) -> str:
    """Name the intervals of a column of `shown`, with the reason if some means have none.

    >>> intervals_named(["4.02 ± 0.10", "4.18 (4.12 to 4.20)"])
    '95 % intervals'
    >>> intervals_named(["4.02 ± 0.10", "4.38"])
    '95 % intervals where wider than the last digit'
    """
    where = "" if all(" " in one for one in means) else " where wider than the last digit"
    return f"{100 * LEVEL:g} % intervals{where}"
