"""How sure is that? Means with intervals, paired differences, and verdicts on claims.

All intervals are Student's, from independent runs (seeds). Where two disciplines ran with the same seeds, their
difference is taken seed by seed (common random numbers), so what the traffic does to both cancels.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

LEVEL = 0.95
"""Confidence of every interval unless another is asked for."""


class Verdict(enum.StrEnum):
    """What the runs say about a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Interval:
    """A mean and how far to trust it.

    Attributes
    ----------
    mean
        The mean of the runs.
    sd
        Standard deviation of the runs (n - 1); NaN for a single run.
    n
        Number of runs.
    low, high
        Bounds of the confidence interval of the mean; NaN for a single run.
    level
        Confidence, 0 to 1.
    """

    mean: float
    sd: float
    n: int
    low: float
    high: float
    level: float = LEVEL

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        """Return ``mean ± half width (n = ...)``."""
        if math.isnan(self.low):
            return f"{self.mean:.5g} (n = {self.n})"
        return f"{self.mean:.5g} ± {self.half_width:.2g} (n = {self.n})"


@dataclass(frozen=True)
class Difference:
    """The difference a - b, seed by seed.

    Attributes
    ----------
    interval
        Its mean, sd, n and bounds.
    p
        Two-sided p value of "no difference"; NaN for a single pair.
    """

    interval: Interval
    p: float

    @property
    def mean(self) -> float:
        """Mean difference."""
        return self.interval.mean


def interval(values: Sequence[float] | np.ndarray, *, level: float = LEVEL) -> Interval:
    """Mean, standard deviation and Student interval of independent runs.

    Parameters
    ----------
    values
        One number per run; runs that gave none (NaN) are left out.
    level
        Confidence, 0 to 1.

    Examples
    --------
    >>> interval([1.0, 2.0, 3.0])
    Interval(mean=2.0, sd=1.0, n=3, low=-0.4841..., high=4.4841..., level=0.95)
    """
    x = _clean(values)
    n = len(x)
    if n == 0:
        return Interval(math.nan, math.nan, 0, math.nan, math.nan, level)
    mean = float(np.mean(x))
    if n == 1:
        return Interval(mean, math.nan, 1, math.nan, math.nan, level)
    sd = float(np.std(x, ddof=1))
    half = student_quantile(0.5 + level / 2, n - 1) * sd / math.sqrt(n)
    return Interval(mean, sd, n, mean - half, mean + half, level)


def paired(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray, *, level: float = LEVEL) -> Difference:
    """Difference a - b of runs that share their seeds, in the same order.

    Examples
    --------
    >>> d = paired([3.0, 4.0, 6.0], [1.0, 3.0, 3.0])
    >>> round(d.mean, 3), round(d.p, 4)
    (2.0, 0.0742)
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"paired runs must be as many on each side, not {x.size} and {y.size}")
    found = interval(x - y, level=level)
    return Difference(found, _p_value(found))


def verdict_above(found: Interval, bound: float = 0.0) -> Verdict:
    """Judge the claim "above `bound`": holds or fails where the whole interval lies on one side.

    >>> verdict_above(interval([1.0, 2.0, 3.0]), -1.0)
    <Verdict.HOLDS: 'holds'>
    """
    if found.low > bound:
        return Verdict.HOLDS
    if found.high < bound:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def verdict_below(found: Interval, bound: float = 0.0) -> Verdict:
    """Judge the claim "below `bound`"."""
    return opposite(verdict_above(found, bound))


def verdict_within(found: Interval, bound: float) -> Verdict:
    """Judge the claim "equal within ± `bound`": the interval lies wholly inside, wholly outside, or neither."""
    return verdict_between(found, -bound, bound)


def verdict_between(found: Interval, low: float, high: float) -> Verdict:
    """Judge the claim "between `low` and `high`": the interval lies wholly inside, wholly outside, or neither.

    >>> verdict_between(interval([2.0, 2.1, 2.2]), 1.0, 3.0)
    <Verdict.HOLDS: 'holds'>
    """
    if low < found.low and found.high < high:
        return Verdict.HOLDS
    if found.low > high or found.high < low:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def opposite(verdict: Verdict) -> Verdict:
    """Exchange "holds" and "fails"."""
    exchange = {Verdict.HOLDS: Verdict.FAILS, Verdict.FAILS: Verdict.HOLDS}
    return exchange.get(verdict, verdict)


def verdict_all(verdicts: Sequence[Verdict], p: Sequence[float], *, level: float = LEVEL) -> Verdict:
    """Judge a claim that has several parts, all of which must hold.

    It holds if every part holds (an intersection-union test, which needs no correction). It fails if a part
    fails and still does so after Holm's correction for having looked at several parts.

    >>> verdict_all([Verdict.HOLDS, Verdict.FAILS], [0.001, 0.04])
    <Verdict.FAILS: 'fails'>
    >>> verdict_all([Verdict.HOLDS, Verdict.UNDECIDED, Verdict.FAILS], [0.6, 0.5, 0.04])
    <Verdict.UNDECIDED: 'undecided'>
    """
    if verdicts and all(v is Verdict.HOLDS for v in verdicts):
        return Verdict.HOLDS
    adjusted = holm(p)
    if any(v is Verdict.FAILS and q < 1 - level for v, q in zip(verdicts, adjusted, strict=True)):
        return Verdict.FAILS
    return Verdict.UNDECIDED


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p values for looking at several at once (Holm 1979, step-down). NaN stays NaN and counts as none.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted((i for i, value in enumerate(p) if not math.isnan(value)), key=lambda i: p[i])
    adjusted = [math.nan] * len(p)
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p[i]))
        adjusted[i] = running
    return adjusted


def student_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t distribution.

    >>> round(student_quantile(0.975, 9), 3)
    2.262
    """
    return float(special.stdtrit(degrees, probability))


def jain(values: Sequence[float] | np.ndarray) -> float:
    """Jain's fairness index: 1 if all are equal, 1/n if one has everything (Jain, Chiu and Hawe 1984).

    >>> jain([1.0, 1.0]), jain([2.0, 0.0])
    (1.0, 0.5)
    """
    x = np.asarray(values, dtype=float)
    squares = float(np.sum(x * x))
    return float(np.sum(x)) ** 2 / (len(x) * squares) if squares > 0 else math.nan


def _p_value(found: Interval) -> float:
    if found.n < 2:
        return math.nan
    if found.sd == 0:
        return 1.0 if found.mean == 0 else 0.0
    t = abs(found.mean) / (found.sd / math.sqrt(found.n))
    return 2 * float(special.stdtr(found.n - 1, -t))


def _clean(values: Sequence[float] | np.ndarray) -> np.ndarray:
    x = np.asarray(values, dtype=float)
    kept: np.ndarray = x[~np.isnan(x)]
    return kept
