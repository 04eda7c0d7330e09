"""The difference of two samples of runs: paired by seed, or Welch's.

Two disciplines that run with the same seeds see the same traffic (common random numbers). The traffic's effect on
both cancels in the difference of a pair: its variance is (s_a^2 + s_b^2)(1 - r) for equal deviations, where r is the
correlation that pairing achieved. Where r is near 0, as with greedy TCP, whose feedback soon makes another path of any
difference, nothing cancels, and Welch's interval has the same width with up to twice the degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from aqmlab.statistics.intervals import LEVEL, Interval, Values, finished, interval, student_p, student_quantile


@dataclass(frozen=True)
class Difference:
    """The difference a - b.

    Attributes
    ----------
    interval
        Its mean, sd, n and bounds.
    p
        Two-sided p value of "no difference"; NaN for a single pair and for pairs that all differ by the same.
    """

    interval: Interval
    p: float

    @property
    def mean(self) -> float:
        """Mean difference."""
        return self.interval.mean


def paired(a: Values, b: Values, *, level: float = LEVEL) -> Difference:
    """Difference a - b of runs that share their seeds, in the same order (Student).

    Examples
    --------
    >>> d = paired([3.0, 4.0, 6.0], [1.0, 3.0, 3.0])
    >>> round(d.mean, 3), round(d.p, 4)
    (2.0, 0.0742)
    """
    return difference_from_zero(interval(differences(a, b), level=level))


def welch(a: Values, b: Values, *, level: float = LEVEL) -> Difference:
    """Difference a - b of independent runs, whose variances may differ (Welch 1947).

    The interval's `sd` is that of the difference of two runs, its `n` the runs of the smaller sample.

    Examples
    --------
    >>> d = welch([3.0, 4.0, 5.0], [1.0, 2.0, 3.0])
    >>> round(d.mean, 3), round(d.p, 4)
    (2.0, 0.0705)
    """
    x, y = finished(a), finished(b)
    n = min(len(x), len(y))
    mean = float(np.mean(x) - np.mean(y)) if n else math.nan
    if n < 2:
        return Difference(Interval(mean, math.nan, n, math.nan, math.nan, level), math.nan)
    parts = np.var(x, ddof=1) / len(x), np.var(y, ddof=1) / len(y)
    sd = math.sqrt(float(np.var(x, ddof=1) + np.var(y, ddof=1)))
    error = math.sqrt(sum(parts))
    if error == 0:
        return difference_from_zero(Interval(mean, 0.0, n, math.nan, math.nan, level))
    degrees = sum(parts) ** 2 / (parts[0] ** 2 / (len(x) - 1) + parts[1] ** 2 / (len(y) - 1))
    half = student_quantile(0.5 + level / 2, degrees) * error
    return Difference(Interval(mean, sd, n, mean - half, mean + half, level), student_p(mean / error, degrees))


def differences(a: Values, b: Values) -> np.ndarray:
    """Differences of runs that share their seeds, in the same order."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"paired runs must be as many on each side, not {x.size} and {y.size}")
    found: np.ndarray = x - y
    return found


def difference_from_zero(found: Interval) -> Difference:
    """Give Student's interval of a mean difference its p value of "no difference".

    Differences that are equal in all runs have none unless they are 0: they do not show how the mean varies.
    """
    if found.n < 2:
        return Difference(found, math.nan)
    if found.sd == 0:
        return Difference(found, 1.0 if found.mean == 0 else math.nan)
    return Difference(found, student_p(found.mean / (found.sd / math.sqrt(found.n)), found.n - 1))
