"""How many seeds would decide what is undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence

from aqmlab.reproduction.papers.common.claims import Part
from aqmlab.statistics import LEVEL, Difference, student_quantile

POWER = 0.8
"""Probability with which so many seeds decide, if mean and standard deviation are those that were observed."""
MOST = 100_000
"""A number of seeds beyond which the observed difference counts as none."""


def seeds_needed(difference: Difference, bound: float, *, level: float = LEVEL, power: float = POWER) -> float:
    """Return the number of pairs at which the interval excludes a bound with a given probability; inf above `MOST`.

    The smallest n with n >= ((t(1 - alpha/2) + t(power)) s / d)^2, where d is the mean's distance from the bound and
    s the standard deviation of the differences.

    >>> from aqmlab.statistics import paired
    >>> seeds_needed(paired([1.0, 2.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]), 0.0)
    55
    """
    distance, sd = abs(difference.mean - bound), difference.interval.sd
    if math.isnan(sd):
        return math.inf
    if sd == 0:
        return 2 if distance else math.inf
    n = 2
    while n <= MOST:
        quantiles = student_quantile(0.5 + level / 2, n - 1) + student_quantile(power, n - 1)
        needed = (quantiles * sd / distance) ** 2 if distance else math.inf
        if n >= needed:
            return n
        n = min(max(n + 1, math.floor(needed) if n > 50 else n + 1), MOST + 1)
    return math.inf


def seeds_words(parts: Sequence[Part]) -> list[str]:
    """Say how many seeds would decide an undecided form.

    It fails once one cell on the wrong side does (with Holm's correction, at most the level over the number of cells);
    if all cells are on the claimed side, it holds once all do.
    """
    wrong = [part for part in parts if not part.bounds[0] < part.difference.mean < part.bounds[1]]
    if wrong:
        level = 1 - (1 - LEVEL) / len(parts)
        needed = min(seeds_needed(part.difference, _nearest(part), level=level) for part in wrong)
        way = "fail"
    else:
        needed = max(seeds_needed(part.difference, _nearest(part)) for part in parts)
        way = "hold"
    if math.isinf(needed):
        return [f"More than {MOST:,} seeds would be needed to decide it: the observed differences are as good as none."]
    return [f"About {needed:,} seeds would decide it (it would {way}), at the observed means and {POWER:.0%} power."]


def _nearest(part: Part) -> float:
    finite = [bound for bound in part.bounds if math.isfinite(bound)]
    return min(finite, key=lambda bound: abs(part.difference.mean - bound))
