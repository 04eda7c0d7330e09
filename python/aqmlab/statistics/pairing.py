"""Gain of pairing by seed, and the test of the difference that follows from it.

The test is chosen by the correlation r of the two samples: paired where r is above 0 at the 10 % level, Welch's where
it is about 0, and paired again where r is below 0 at the 30 % level. Pairing independent runs only costs degrees of
freedom, but Welch's interval of correlated runs has the wrong width: too wide for r > 0, too narrow for r < 0,
hence the lenient levels. With them the interval of the test that was chosen holds the truth as often as it should,
whatever the correlation (`docs/validation/statistics.md`). Whether pairing *gained* is a statement of its own, and
rests on the 95 % interval of r.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np

from aqmlab.statistics.intervals import LEVEL, Values, student_quantile

TOGETHER = 0.1
"""One-sided p of "r is not above 0" below which the test is the paired one."""
AGAINST = 0.3
"""One-sided p of "r is not below 0" below which the test is the paired one."""
FEWEST_PAIRS = 10
"""With fewer pairs a correlation says nothing, and the test is the paired one, which is right for any."""


class Gain(enum.StrEnum):
    """Whether pairing helped, by the 95 % interval of the correlation."""

    YES = "yes"
    NONE = "none shown"
    HARM = "harm"


class Choice(enum.StrEnum):
    """A test of a difference of means."""

    PAIRED = "paired"
    WELCH = "Welch"


@dataclass(frozen=True)
class Pairing:
    """Result of pairing two samples by seed.

    Attributes
    ----------
    n
        Number of pairs.
    correlation, low, high
        Pearson's r and its 95 % interval (Fisher's z); NaN where a sample does not vary or there are too few pairs.
    variance_ratio
        Variance of the mean difference when paired, relative to that of independent runs; about 1 - r.
    """

    n: int
    correlation: float
    low: float
    high: float
    variance_ratio: float

    @property
    def test(self) -> Choice:
        """The test that the correlation asks for."""
        if self.n < FEWEST_PAIRS or math.isnan(self.correlation) or abs(self.correlation) >= 1:
            return Choice.PAIRED
        t = self.correlation * math.sqrt((self.n - 2) / (1 - self.correlation**2))
        from scipy.special import stdtr

        not_above, not_below = float(stdtr(self.n - 2, -t)), float(stdtr(self.n - 2, t))
        return Choice.PAIRED if not_above < TOGETHER or not_below < AGAINST else Choice.WELCH

    @property
    def gain(self) -> Gain:
        """Whether pairing helped."""
        if self.low > 0:
            return Gain.YES
        return Gain.HARM if self.high < 0 else Gain.NONE

    @property
    def runs_share(self) -> float:
        """Runs that pairs need for an interval, relative to the runs that independent samples need.

        Both by Student's quantile at their own degrees of freedom: pairs have n - 1, two samples about 2n - 2. NaN
        where that is unknown.
        """
        return share_of_runs(self.variance_ratio, self.n)


def pairing(a: Values, b: Values, *, level: float = LEVEL) -> Pairing:
    """Measure what pairing achieved for two samples in the same order of seeds.

    >>> found = pairing([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 7.0])
    >>> round(found.correlation, 3), round(found.variance_ratio, 3), str(found.test), str(found.gain)
    (0.986, 0.032, 'paired', 'yes')
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    n = len(x)
    if n < 3:
        return Pairing(n, math.nan, math.nan, math.nan, math.nan)
    apart = float(np.var(x, ddof=1) + np.var(y, ddof=1))
    ratio = float(np.var(x - y, ddof=1)) / apart if apart > 0 else math.nan
    sd = float(np.std(x, ddof=1)), float(np.std(y, ddof=1))
    if min(sd) == 0:
        return Pairing(n, math.nan, math.nan, math.nan, ratio)
    r = float(np.clip(np.cov(x, y)[0, 1] / (sd[0] * sd[1]), -1, 1))
    low, high = _fisher(r, n, level)
    return Pairing(n, r, low, high, ratio)


def share_of_runs(variance_ratio: float, pairs: int, *, level: float = LEVEL) -> float:
    """Number of pairs that give the interval which `pairs` independent runs of each side give, over `pairs`.

    Greatest lower bound over real numbers; at least 2 pairs are needed for any interval.

    >>> round(share_of_runs(0.1, 50), 2), round(share_of_runs(1.0, 50), 2)
    (0.15, 1.02)
    """
    if math.isnan(variance_ratio) or pairs < 2:
        return math.nan
    wanted = student_quantile(0.5 + level / 2, 2 * pairs - 2) ** 2 / pairs

    def excess(n: float) -> float:
        return student_quantile(0.5 + level / 2, n - 1) ** 2 * variance_ratio / n - wanted

    if excess(2) <= 0:
        return 2 / pairs
    from scipy.optimize import brentq

    most = 2 * pairs * max(1.0, variance_ratio)
    return float(brentq(excess, 2, most)) / pairs


def _fisher(r: float, n: int, level: float) -> tuple[float, float]:
    """Interval of a correlation (Fisher 1915: artanh r is about normal with variance 1/(n - 3))."""
    if n < 4:
        return math.nan, math.nan
    if abs(r) >= 1:
        return r, r
    from scipy.special import ndtri

    half = float(ndtri(0.5 + level / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
