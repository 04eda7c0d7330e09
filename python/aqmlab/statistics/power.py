"""Number of runs that would decide an undecided difference, if mean and scatter stay the same."""

from __future__ import annotations

import math

from aqmlab.statistics.intervals import LEVEL, Interval, student_quantile

POWER = 0.8
"""Probability with which so many runs decide, if mean and standard deviation are those that were observed."""
MOST = 100_000
"""A number of runs beyond which the observed difference counts as none."""


def runs_needed(found: Interval, bound: float, *, level: float = LEVEL, power: float = POWER) -> float:
    """Return the number of runs at which the interval excludes a bound with a given probability; inf above `MOST`.

    The smallest n with n >= ((t(1 - alpha/2) + t(power)) s / d)^2, where d is the mean's distance from the bound and
    s the standard deviation of a run, or of the difference of two.

    >>> from aqmlab.statistics import paired
    >>> runs_needed(paired([1.0, 2.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]).interval, 0.0)
    55
    """
    distance, sd = abs(found.mean - bound), found.sd
    if math.isnan(sd) or not distance:
        return math.inf
    if sd == 0:
        return 2
    n = 2
    while n <= MOST:
        quantiles = student_quantile(0.5 + level / 2, n - 1) + student_quantile(power, n - 1)
        needed = (quantiles * sd / distance) ** 2
        if n >= needed:
            return n
        n = min(max(n + 1, math.floor(needed) if n > 50 else n + 1), MOST + 1)
    return math.inf
