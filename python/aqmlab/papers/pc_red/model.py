"""A flow's average dropping rate a_d in closed form: section 4.B of the paper, equation (7) and Figure 3.

One drop of X bytes in every interval g, starting from L / 2:

    a_d(n) = (1 - w)^n L/2 + (1 - (1 - w)^n) X
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

Number = TypeVar("Number", float, np.ndarray)

LIMIT = 300.0
"""L of Figure 3, in bytes an interval."""
DROPPED = 500.0
"""X of Figure 3, in bytes."""
WEIGHTS = (0.001, 0.003, 0.00558, 0.01113, 0.03, 0.1)
"""The weights drawn: the ends of the paper's range (0.003, 0.03), and those that reach L after 100 and 50 intervals."""


def average_rate(w: float, n: Number, *, limit: float = LIMIT, dropped: float = DROPPED) -> Number:
    """a_d after n intervals with a drop each.

    >>> round(average_rate(0.01, 50), 3)
    288.248
    """
    kept: Number = (1 - w) ** n
    return kept * limit / 2 + (1 - kept) * dropped


def step(a_d: float, *, w: float, intervals: float, dropped: float) -> float:
    """a_d after one more drop, so many intervals after the last one (equation 7).

    >>> step(150.0, w=0.01, intervals=1, dropped=500.0)
    153.5
    """
    return float((1 - w) ** intervals) * a_d + w * dropped


def intervals_to_cross(w: float, *, limit: float = LIMIT, dropped: float = DROPPED) -> int:
    """First whole number of intervals at which a_d is above L.

    >>> intervals_to_cross(0.003), intervals_to_cross(0.03)
    (187, 19)
    """
    return math.floor(math.log(_share(limit, dropped)) / math.log1p(-w)) + 1


def weight_to_cross(n: float, *, limit: float = LIMIT, dropped: float = DROPPED) -> float:
    """Return the weight with which a_d reaches L after n intervals.

    >>> round(weight_to_cross(50), 5), round(weight_to_cross(100), 5)
    (0.01113, 0.00558)
    """
    return -math.expm1(math.log(_share(limit, dropped)) / n)


def _share(limit: float, dropped: float) -> float:
    """(1 - w)^n at which a_d is L; X must be above L, else a_d never gets there."""
    if not dropped > limit > 0:
        raise ValueError(f"a_d reaches L only if X is above it, not with L = {limit:g} and X = {dropped:g}")
    return (dropped - limit) / (dropped - limit / 2)
