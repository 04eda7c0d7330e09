"""Hall's interval of the mean of skewed runs (Hall 1992, "On the removal of skewness by transformation").

Student's statistic t = (mean - mu) / (sd / sqrt(n)) of skewed runs is itself skewed. Hall's cubic removes that to the
order 1/n. With W = t / sqrt(n) and the skewness g of the sample,

    T(W) = W + g W^2 / 3 + g^2 W^3 / 27 + g / (6 n)

has about Student's distribution (times 1 / sqrt(n)), and its inverse is explicit:

    W(T) = 3 / g ((1 + g (T - g / (6 n)))^(1/3) - 1).

No runs are drawn again, so that no resample without variance can divide by nothing. A sample of n runs has a skewness
of at most about sqrt(n), reached by one outlier, of which it says little; g is therefore limited to 0.4 sqrt(n).
`docs/validation/statistics.md` compares this interval with Student's, BCa and the studentized bootstrap.
"""

from __future__ import annotations

import math

import numpy as np

from aqmlab.statistics.intervals import LEVEL, Interval, Values, finished, student_p, student_quantile
from aqmlab.statistics.pairs import Difference

MOST = 0.4
"""Largest skewness / sqrt(n) that the transformation uses."""


def hall_mean(values: Values, *, level: float = LEVEL) -> Difference:
    """Return the mean with Hall's interval, and the p value of "the mean is 0".

    Needs runs that differ.

    >>> found = hall_mean([1.0, 2.0, 3.0, 4.0, 20.0, 2.0, 1.0, 3.0, 2.0, 1.0]).interval
    >>> round(found.low, 2), round(found.high, 2)
    (0.72, 11.95)
    """
    x = finished(values)
    n, mean, sd = len(x), float(np.mean(x)), float(np.std(x, ddof=1))
    limit = MOST * math.sqrt(n)
    g = min(max(_skewness(x), -limit), limit)
    quantile = student_quantile(0.5 + level / 2, n - 1) / math.sqrt(n)
    low, high = mean - sd * _inverse(quantile, g, n), mean - sd * _inverse(-quantile, g, n)
    return Difference(Interval(mean, sd, n, low, high, level), student_p(_transform(mean / sd, g, n), n - 1))


def _transform(w: float, g: float, n: int) -> float:
    """Return sqrt(n) T(W)."""
    return math.sqrt(n) * (w + g * w**2 / 3 + g**2 * w**3 / 27 + g / (6 * n))


def _inverse(t: float, g: float, n: int) -> float:
    """Return W(T)."""
    if abs(g) < 1e-6:
        return t
    return 3 / g * (math.cbrt(1 + g * (t - g / (6 * n))) - 1)


def _skewness(x: np.ndarray) -> float:
    """Return the skewness of the sample itself: third central moment / sd^3, both with divisor n."""
    off = x - np.mean(x)
    return float(np.mean(off**3)) / math.pow(float(np.mean(off**2)), 1.5)
