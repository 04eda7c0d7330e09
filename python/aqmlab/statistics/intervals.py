"""Student's interval of the mean of independent runs (seeds)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from aqmlab.statistics.text import interval_text

LEVEL = 0.95
"""Confidence of every interval unless another is asked for."""

ROUNDING = 1e-12
"""Runs that differ by no more than this share of their size are equal."""

Values = Sequence[float] | np.ndarray
Bounds = tuple[float, float]
"""Least and greatest value that a quantity can have, in its own unit."""
UNBOUNDED: Bounds = (-math.inf, math.inf)


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
        Bounds of the confidence interval of the mean; NaN for a single run and for runs that are all equal.
    level
        Confidence, 0 to 1.
    is_clipped
        Whether an end is at a bound of the quantity (`within`).
    """

    mean: float
    sd: float
    n: int
    low: float
    high: float
    level: float = LEVEL
    is_clipped: bool = field(default=False, repr=False, compare=False)

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def margin(self) -> float:
        """Half the width; if clipped, the larger of the distances of the ends from the mean.

        >>> Interval(9.99, 0.1, 4, 9.89, 10.09).within((0.0, 10.0)).margin
        0.0999...
        """
        return max(self.mean - self.low, self.high - self.mean) if self.is_clipped else self.half_width

    @property
    def constant(self) -> bool:
        """Whether there are several runs and all are equal: nothing is known of how the mean varies."""
        return self.n > 1 and self.sd == 0

    def times(self, factor: float) -> Interval:
        """Return the interval in another unit, for a factor above 0.

        >>> Interval(0.5, 0.02, 4, 0.25, 0.75).times(100).low
        25.0
        """
        return replace(
            self,
            mean=factor * self.mean,
            sd=factor * self.sd,
            low=factor * self.low,
            high=factor * self.high,
        )

    def within(self, bounds: Bounds) -> Interval:
        """Return the interval clipped to the bounds of the quantity.

        >>> Interval(0.99, 0.02, 4, 0.96, 1.02).within((0.0, 1.0)).high
        1.0
        """
        if math.isnan(self.low):
            return self
        # Rounding may put the mean of runs at a bound beyond it.
        low, high = min(max(self.low, bounds[0]), self.mean), max(min(self.high, bounds[1]), self.mean)
        return replace(self, low=low, high=high, is_clipped=self.is_clipped or (low, high) != (self.low, self.high))

    def __str__(self) -> str:
        """Return ``mean ± half width (n = ...)``; an asymmetric interval as ``mean (low to high, n = ...)``."""
        return f"{interval_text(self.mean, self.low, self.high, significant=2)} (n = {self.n})"


def interval(values: Values, *, level: float = LEVEL) -> Interval:
    """Mean, standard deviation and Student interval of independent runs; no interval if all runs are equal.

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
    if sd == 0 or float(np.ptp(x)) <= ROUNDING * float(np.max(np.abs(x))):
        return Interval(mean, 0.0, n, math.nan, math.nan, level)
    half = student_quantile(0.5 + level / 2, n - 1) * sd / math.sqrt(n)
    return Interval(mean, sd, n, mean - half, mean + half, level)


def prediction_factor(n: int, *, level: float = LEVEL) -> float:
    """Return the half-width of the interval for one further run, in standard deviations of `n` runs.

    >>> round(prediction_factor(5), 2)
    3.04
    """
    return student_quantile(0.5 + level / 2, n - 1) * math.sqrt(1 + 1 / n)


def student_quantile(probability: float, degrees: float) -> float:
    """Quantile of Student's t distribution.

    >>> round(student_quantile(0.975, 9), 3)
    2.262
    """
    from scipy.special import stdtrit  # its import takes a tenth of a second, and commands without intervals need none

    return float(stdtrit(degrees, probability))


def student_p(t: float, degrees: float) -> float:
    """Two-sided p value of Student's t.

    >>> round(student_p(2.262157, 9), 3)
    0.05
    """
    from scipy.special import stdtr

    return 2 * float(stdtr(degrees, -abs(t)))


def finished(values: Values) -> np.ndarray:
    """Leave out the runs that gave no number (NaN)."""
    x = np.asarray(values, dtype=float)
    kept: np.ndarray = x[~np.isnan(x)]
    return kept
