"""Median and other quantiles of the runs, with the interval that order statistics give (Conover 1999, section 3.2).

It is right for every distribution and needs no bootstrap: how many of n runs lie below a quantile is binomial. Its
level is 95 % or a little more, as a binomial number can hit it; where the runs are too few for any interval, as below
29 for a 90 % quantile, it has none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aqmlab.statistics.intervals import LEVEL, Interval, Values, finished


def quantile_interval(values: Values, share: float = 0.5, *, level: float = LEVEL) -> Interval:
    """Quantile of the runs (default: the median) with its interval; `mean` of the interval is the quantile.

    >>> found = quantile_interval([3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0, 5.0, 3.5, 8.0])
    >>> found.mean, found.low, found.high
    (3.75, 1.5, 8.0)
    """
    x = finished(values)
    n = len(x)
    if n == 0:
        return Interval(math.nan, math.nan, 0, math.nan, math.nan, level)
    from scipy.stats import quantile_test

    bounds: Any = quantile_test(x, p=share).confidence_interval(level)
    sd = float(np.std(x, ddof=1)) if n > 1 else math.nan
    low, high = float(bounds.low), float(bounds.high)
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = math.nan, math.nan
    return Interval(float(np.quantile(x, share)), sd, n, low, high, level)
