"""Natural bounds of the quantities that papers measure, and the one interval of a mean in their tables and figures.

Quantities are named as in the table of runs. One that `aqmlab.results.quantities` knows has the bounds of that metric;
the others are listed here. A quantity that is not listed is at least 0.
"""

from __future__ import annotations

import enum
import math
import re
from pathlib import Path

import pandas as pd

from aqmlab.papers.common.runs import values as values_of
from aqmlab.results.output import metrics_of, output_in_folder
from aqmlab.results.quantities import SHARE, is_quantity
from aqmlab.results.quantities import quantity as described
from aqmlab.statistics import Interval, mean_interval
from aqmlab.statistics.intervals import UNBOUNDED, Bounds, Values

SHARES = re.compile(
    r"loss_(trace|data|both|in|out)|p_(drop|plus|minus|non|high)|u_be(_arrived|_delivered)?|utilization_(arrived|delivered)"
    r"|fairness|longer(_\d+)?|r_p|queued_plus|one_by_one|second_path|same_flow|near_losses"
    r"|(eq3|eq4|packets|picks|drops)_(plus|minus|non)|(above|empty|below|over|near|swing|forced|c)_share|share_plus|stable"
)
"""Quantities between 0 and 1."""
OTHERS: dict[str, Bounds] = {
    "mean_run": (1.0, math.inf),
    "second_lead": (0.0, 0.5),
    **dict.fromkeys(("longer_than_tails", "synchrony", "loss_lag"), (-1.0, 1.0)),
    **dict.fromkeys(("more_than_tails", "utility", "run_per_packet", "phase", "phase_bound", "together"), UNBOUNDED),
}
"""Quantities with other bounds."""
NOT_NEGATIVE: Bounds = (0.0, math.inf)


class Kind(enum.Enum):
    """The number averaged over the runs: a quantity, or its difference or ratio between two disciplines (by seed)."""

    VALUE = "a"
    DIFFERENCE = "a - b"
    RATIO = "a / b"
    PERCENT = "100 (a / b - 1)"


def bounds_of(quantity: str, kind: Kind = Kind.VALUE, other: str = "") -> Bounds:
    """Return the least and the greatest value of a quantity a, or of its difference from b, or ratio to b.

    b is the quantity `other`; "" stands for the same quantity.

    >>> bounds_of("p_drop"), bounds_of("wait_ms"), bounds_of("jain", Kind.DIFFERENCE), bounds_of("L", Kind.PERCENT)
    ((0.0, 1.0), (0.0, inf), (-1.0, 1.0), (-100.0, inf))
    """
    low, high = _bounds(quantity)
    if kind is Kind.VALUE:
        return low, high
    if kind is Kind.DIFFERENCE:
        return difference_of_bounds((low, high), _bounds(other or quantity))
    if min(low, _bounds(other or quantity)[0]) < 0:
        return UNBOUNDED
    return (0.0, math.inf) if kind is Kind.RATIO else (-100.0, math.inf)


def difference_of_bounds(a: Bounds, b: Bounds, factor: float = 1.0) -> Bounds:
    """Return the bounds of a - factor b; the factor is positive.

    >>> difference_of_bounds((0.0, 1.0), (0.0, 1.0), 3.0), difference_of_bounds((0.0, math.inf), (5.0, 5.0))
    ((-3.0, 1.0), (-5.0, inf))
    """
    return a[0] - factor * b[1], a[1] - factor * b[0]


def _bounds(quantity: str) -> Bounds:
    if quantity in OTHERS:
        return OTHERS[quantity]
    if is_quantity(quantity):
        return described(quantity).bounds
    return SHARE if SHARES.fullmatch(quantity) else NOT_NEGATIVE


def quantity_interval(values: Values, quantity: str, kind: Kind = Kind.VALUE, other: str = "") -> Interval:
    """Return the mean over the runs with its interval (Student's, or Hall's if skewed), clipped to `bounds_of`.

    Parameters
    ----------
    values
        One number per run; NaN where a run has none.
    quantity
        Its name in the table of runs.
    kind
        Whether `values` are the quantity itself, or differences or ratios of it.
    other
        The quantity on the other side of a difference or ratio, if it is not the same.

    >>> quantity_interval([0.98, 1.0, 0.99], "utilization").high, quantity_interval([3.0, 0.0, 0.0], "timeouts").low
    (1.0, 0.0)
    """
    return mean_interval(values, bounds=bounds_of(quantity, kind, other))[0]


def quantities_of(folder: Path, link: str) -> dict[str, float]:
    """Return all quantities of one run at a link, by their names in ``aqmlab list quantities``."""
    return metrics_of(output_in_folder(folder).tables, link)


def measured(runs: pd.DataFrame, quantity: str, **where: str | float) -> Interval:
    """Return the mean of one quantity at one point, with its interval (`quantity_interval`)."""
    return quantity_interval(values_of(runs, quantity, **where), quantity)
