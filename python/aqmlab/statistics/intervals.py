"""Student's interval of the mean of independent runs (seeds)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

LEVEL = 0.95
"""Confidence of every interval unless another is asked for."""

Values = Sequence[float] | np.ndarray


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


def interval(values: Values, *, level: float = LEVEL) -> Interval:
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
    x = finished(values)
    n = len(x)
    if n == 0:
        return Interval(math.nan, math.nan, 0, math.nan, math.nan, level)
    mean = float(np.mean(x))
    if n == 1:
        return Interval(mean, math.nan, 1, math.nan, math.nan, level)
    sd = float(np.std(x, ddof=1))
    half = student_quantile(0.5 + level / 2, n - 1) * sd / math.sqrt(n)
    return Interval(mean, sd, n, mean - half, mean + half, level)


def student_quantile(probability: float, degrees: float) -> float:
    """Quantile of Student's t distribution.

    >>> round(student_quantile(0.975, 9), 3)
    2.262
    """
    return float(special.stdtrit(degrees, probability))


def student_p(t: float, degrees: float) -> float:
    """Two-sided p value of Student's t.

    >>> round(student_p(2.262157, 9), 3)
    0.05
    """
    return 2 * float(special.stdtr(degrees, -abs(t)))


def finished(values: Values) -> np.ndarray:
    """Leave out the runs that gave no number (NaN)."""
    x = np.asarray(values, dtype=float)
    kept: np.ndarray = x[~np.isnan(x)]
    return kept
