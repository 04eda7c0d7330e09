"""Sizes of an effect that do not grow with the number of runs, unlike p values."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.statistics.intervals import Values, finished


def hedges_g(a: Values, b: Values) -> float:
    """Difference of the means in standard deviations of a run, corrected for few runs (Hedges 1981).

    The standard deviation is that of both samples together, whether the runs are paired or not: it says how large the
    difference is beside what seeds make. About 0.2 is called small, 0.5 medium, 0.8 large (Cohen 1988).

    >>> round(hedges_g([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]), 3)
    1.6
    """
    x, y = finished(a), finished(b)
    degrees = len(x) + len(y) - 2
    if min(len(x), len(y)) < 2:
        return math.nan
    pooled = ((len(x) - 1) * np.var(x, ddof=1) + (len(y) - 1) * np.var(y, ddof=1)) / degrees
    off = float(np.mean(x) - np.mean(y))
    if pooled == 0:
        return 0.0 if off == 0 else math.copysign(math.inf, off)
    return off / math.sqrt(float(pooled)) * (1 - 3 / (4 * degrees - 1))


def cliffs_delta(a: Values, b: Values) -> float:
    """P(a > b) - P(a < b) for a run of each: 1 if all of a are above all of b, 0 if neither is (Cliff 1993).

    >>> cliffs_delta([2.0, 3.0], [1.0, 2.0])
    0.75
    """
    x, y = finished(a), np.sort(finished(b))
    if not len(x) or not len(y):
        return math.nan
    below = np.searchsorted(y, x, side="left").sum()
    above = (len(y) - np.searchsorted(y, x, side="right")).sum()
    return float(below - above) / (len(x) * len(y))
