"""The studentized bootstrap: an interval of the mean of skewed runs (Efron 1979, Hall 1988).

Not BCa, although that is better known: for ten runs of an exponential quantity BCa's 95 % interval holds the mean in
about 86 % of the cases, this one in 94 % (a test compares them). The draws are seeded: the same runs always give the
same interval.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from aqmlab.statistics.intervals import LEVEL, Interval, Values, finished
from aqmlab.statistics.pairs import Difference

RESAMPLES = 1999
SEED = 20170131
"""Seed of the draws."""
ROUNDING = 1e-9
"""A spread below this share of that of all runs is one of rounding."""
BATCH = 2_000_000
"""Most numbers that are drawn at a time."""


def bootstrap_mean(values: Values, *, level: float = LEVEL, resamples: int = RESAMPLES) -> Difference:
    """Mean with its studentized bootstrap interval, and the p value of "it is 0" from the same resamples.

    Each resample gives t* = (mean* - mean) / (sd* / sqrt(n)); the interval is mean - t*_q sd / sqrt(n) at the quantiles
    q of t*. Needs runs that differ.

    >>> found = bootstrap_mean([1.0, 2.0, 3.0, 4.0, 20.0, 2.0, 1.0, 3.0, 2.0, 1.0]).interval
    >>> found.low > 1.0, found.high > 10.0
    (True, True)
    """
    x = finished(values)
    n, mean, sd = len(x), float(np.mean(x)), float(np.std(x, ddof=1))
    error = sd / math.sqrt(n)
    t = np.sort(np.concatenate([_t_values(x, part) for part in _parts(n, resamples)]))
    low, high = np.quantile(t, [0.5 - level / 2, 0.5 + level / 2], method="closest_observation")
    seen = mean / error
    above, below = np.count_nonzero(t >= seen), np.count_nonzero(t <= seen)
    p = min(1.0, 2 * (1 + int(min(above, below))) / (1 + len(t)))
    return Difference(Interval(mean, sd, n, mean - float(high) * error, mean - float(low) * error, level), p)


def _parts(n: int, resamples: int) -> list[np.ndarray]:
    """Return the indices of all resamples, a few at a time."""
    if n * resamples <= BATCH:
        return [_indices(n, resamples)]
    rng = np.random.default_rng(SEED)
    most = max(1, BATCH // n)
    sizes = [min(most, resamples - done) for done in range(0, resamples, most)]
    return [rng.integers(0, n, (size, n), dtype=np.int32) for size in sizes]


@cache
def _indices(n: int, resamples: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, n, (resamples, n), dtype=np.int32)


def _t_values(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Student's t of resamples against the mean of all; infinite where a resample varies by no more than rounding."""
    drawn = x[indices]
    off = drawn.mean(axis=1) - x.mean()
    error = drawn.std(axis=1, ddof=1) / math.sqrt(len(x))
    error_of_all = x.std(ddof=1) / math.sqrt(len(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        t: np.ndarray = np.where(
            error > ROUNDING * error_of_all, off / error, np.where(off == 0, 0.0, np.sign(off) * math.inf)
        )
    return t
