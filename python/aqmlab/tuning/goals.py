"""Goals of tuning: a quantity to make small or large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aqmlab.errors import InputError
from aqmlab.results.quantities import Quantity, quantity
from aqmlab.runs.until import metric_named


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
