"""Two disciplines compared in one quantity: the test that suits the runs, its interval, the size of the effect."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aqmlab.statistics.effect import cliffs_delta, hedges_g
from aqmlab.statistics.estimate import Method, mean_difference
from aqmlab.statistics.intervals import LEVEL, UNBOUNDED, Bounds, Values, interval
from aqmlab.statistics.pairing import Choice, Pairing, pairing
from aqmlab.statistics.pairs import Difference, differences, welch


@dataclass(frozen=True)
class Compared:
    """The difference a - b of two samples of runs with the same seeds.

    Attributes
    ----------
    difference
        With its interval and p, by the test that was chosen.
    pairing
        The effect of pairing; `pairing.test` is the test that was chosen.
    method
        How the interval was made.
    hedges_g, cliffs_delta
        Sizes of the effect.
    base
        Mean of b.
    """

    difference: Difference
    pairing: Pairing
    method: Method
    hedges_g: float
    cliffs_delta: float
    base: float

    @property
    def constant(self) -> bool:
        """Whether the difference is the same in all of several runs, so that nothing can be tested."""
        return self.difference.interval.constant

    @property
    def test(self) -> str:
        """The test in words: ``Welch``, ``paired Student``, ``paired Hall``; "" for a single run."""
        if self.method is Method.NONE:
            return ""
        return str(self.method) if self.method is Method.WELCH else f"paired {self.method}"


def compare_means(a: Values, b: Values, *, level: float = LEVEL, bounds: Bounds = UNBOUNDED) -> Compared:
    """Compare the means of runs that share their seeds, in the same order.

    Paired or Welch's test by the correlation achieved (`Pairing`); pairs whose differences are too skewed for Student's
    interval get Hall's (`aqmlab.statistics.estimate`). The interval is clipped to the differences of values
    within `bounds`.

    >>> found = compare_means([3.0, 4.0, 6.0, 5.0, 9.0], [1.0, 2.0, 4.0, 3.5, 7.0])
    >>> found.test, round(found.difference.mean, 3), round(found.pairing.correlation, 3)
    ('paired Hall', 1.9, 0.995)
    """
    achieved = pairing(a, b)
    if achieved.test is Choice.WELCH:
        found, method = welch(a, b, level=level), Method.WELCH
    else:
        found, method = mean_difference(differences(a, b), level=level)
    width = bounds[1] - bounds[0]
    found = replace(found, interval=found.interval.within((-width, width)))
    return Compared(found, achieved, method, hedges_g(a, b), cliffs_delta(a, b), interval(b).mean)
