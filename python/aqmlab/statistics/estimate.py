"""Which interval a mean gets: Student's, or a wider one where the runs are too skewed for it.

Student's interval of a mean of n runs errs by terms of the order of skewness / sqrt(n). Where that is above 0.25, the
interval is Hall's (`aqmlab.statistics.skewed`), widened to hold Student's: Hall's alone corrects for skewness, but is
too narrow where the tails are heavy on both sides, as those of differences are; Student's is not. Runs that are all
equal have no interval: they do not show how the mean varies. `docs/validation/statistics.md` shows the interval's
coverage, by distribution and number of runs, and compares it with other methods.
"""

from __future__ import annotations

import enum
import math
from dataclasses import replace

import numpy as np

from aqmlab.statistics.intervals import LEVEL, UNBOUNDED, Bounds, Interval, Values, finished, interval
from aqmlab.statistics.pairs import Difference, difference_from_zero
from aqmlab.statistics.skewed import hall_mean

SKEWED = 0.25
"""Skewness / sqrt(n) above which runs are too skewed for Student's interval."""
FEWEST = 5
"""With fewer runs the interval is always Student's: skewness does not show in them."""


class Method(enum.StrEnum):
    """How an interval was made."""

    NONE = "none"
    STUDENT = "Student"
    WELCH = "Welch"
    HALL = "Hall"
    ORDER = "order statistics"


def mean_interval(values: Values, *, level: float = LEVEL, bounds: Bounds = UNBOUNDED) -> tuple[Interval, Method]:
    """Return the mean of independent runs with the interval that suits them, and how that was made.

    Parameters
    ----------
    values
        One number per run; runs that gave none (NaN) are left out.
    level
        Confidence, 0 to 1.
    bounds
        Bounds of the quantity; the interval is clipped to them.

    >>> mean_interval([1, 2, 3])[1], mean_interval([1, 1, 2, 1, 3, 2, 1, 4, 9, 2, 1, 2])[1], mean_interval([4, 4])[1]
    (<Method.STUDENT: 'Student'>, <Method.HALL: 'Hall'>, <Method.NONE: 'none'>)
    """
    found, method = mean_difference(values, level=level)
    return found.interval.within(bounds), method


def mean_difference(values: Values, *, level: float = LEVEL) -> tuple[Difference, Method]:
    """Do the same for differences of pairs, with the p value of "no difference"."""
    x = finished(values)
    plain = difference_from_zero(interval(x, level=level))
    if math.isnan(plain.interval.low):
        return plain, Method.NONE
    if too_skewed(x):
        return _wider(hall_mean(x, level=level), plain), Method.HALL
    return plain, Method.STUDENT


def too_skewed(values: Values) -> bool:
    """Whether Student's interval is not to be trusted for the mean of these runs.

    >>> too_skewed([0.0] * 19 + [1.0]), too_skewed(range(20))
    (True, False)
    """
    x = finished(values)
    return len(x) >= FEWEST and abs(skewness(x)) / math.sqrt(len(x)) > SKEWED


def skewness(values: Values) -> float:
    """Skewness of the population that the runs are a sample of (G1, with the correction for n); 0 if they are equal.

    >>> round(skewness([1.0, 2.0, 6.0]), 4)
    1.4579
    """
    x = finished(values)
    n = len(x)
    off = x - np.mean(x)
    variance = float(np.mean(off**2))
    if n < 3 or variance <= (1e-12 * float(np.max(np.abs(x), initial=0.0))) ** 2:
        return 0.0
    return float(np.mean(off**3)) / math.pow(variance, 1.5) * math.sqrt(n * (n - 1)) / (n - 2)


def _wider(one: Difference, other: Difference) -> Difference:
    """Return the interval that holds both, and the greater p."""
    low, high = min(one.interval.low, other.interval.low), max(one.interval.high, other.interval.high)
    return Difference(replace(other.interval, low=low, high=high), max(one.p, other.p))
