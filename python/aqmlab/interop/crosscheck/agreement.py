"""Do two programs measure the same? Two one-sided tests of each measure (TOST), with margins that are stated.

Runs of two programs are independent even where their seeds have the same number, as each draws by its own generator. So
the difference of the means gets Welch's interval; at the level of 90 % it lies within the margin exactly where both
one-sided tests at 5 % reject a difference of that size (Schuirmann 1987). The verdicts:

* *equal*: the interval lies wholly within the margin,
* *differs*: it lies wholly outside,
* *undecided*: neither; more runs decide.

Where nothing is left to chance in a scenario there is one number a side, and the verdict is by the
margin. Numbers that are equal to five digits in all runs of both sides are *the same*.

| measure | margin: this share of our mean | or, if larger, |
|---|---|---|
| goodput | 2 % | 1 kb/s |
| utilization | 1 % | 0.002 |
| loss, marks | 10 % | 0.0005 |
| mean queue, mean backlog | 5 % | 0.1 packets |
| mean queueing delay | 5 % | 0.1 ms |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aqmlab.interop.crosscheck.tool import Key, Measure, Measured
from aqmlab.results.quantities import NOT_NEGATIVE, SHARE
from aqmlab.statistics import Interval, mean_interval, paired, welch

LEVEL = 0.90
MARGINS = {
    Measure.GOODPUT: (0.02, 1e3),
    Measure.UTILIZATION: (0.01, 0.002),
    Measure.LOSS: (0.10, 0.0005),
    Measure.MARKS: (0.10, 0.0005),
    Measure.MEAN_QUEUE: (0.05, 0.1),
    Measure.MEAN_BACKLOG: (0.05, 0.1),
    Measure.MEAN_DELAY: (0.05, 1e-4),
}
"""Share of our mean, and the least margin in the measure's unit."""
SHARES = (Measure.UTILIZATION, Measure.LOSS, Measure.MARKS)
SAME = 1e-5
"""Relative difference of numbers that are the same."""


class Agreement(StrEnum):
    """Whether two programs agree in a measure."""

    SAME = "the same"
    EQUAL = "equal"
    DIFFERS = "differs"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Line:
    """One measure at one place, ours and another's.

    Attributes
    ----------
    measure, place
        The measure, and its link or group.
    ours, theirs
        Means with their intervals.
    difference
        Theirs minus ours, with the interval of the test.
    margin
        Largest difference that counts as equal, in the measure's unit.
    agreement
        The verdict.
    """

    measure: Measure
    place: str
    ours: Interval
    theirs: Interval
    difference: Interval
    margin: float
    agreement: Agreement

    @property
    def words(self) -> str:
        """The verdict with the difference in per cent of ours (in the unit where ours is 0)."""
        if self.agreement is Agreement.SAME:
            return "the same"
        shown = f"{self._relative(self.difference.mean)}"
        if not math.isnan(self.difference.low) and self.difference.low != self.difference.high:
            shown += f" ({self._relative(self.difference.low)} to {self._relative(self.difference.high)})"
        by = " by" if self.agreement is Agreement.DIFFERS else ":"
        return f"{self.agreement}{by} {shown}"

    def data(self) -> dict[str, Any]:
        """Return everything for other programs."""
        return {
            "measure": str(self.measure),
            "place": self.place,
            "ours": self.ours.mean,
            "ours_sd": self.ours.sd,
            "theirs": self.theirs.mean,
            "theirs_sd": self.theirs.sd,
            "difference": self.difference.mean,
            "low": self.difference.low,
            "high": self.difference.high,
            "margin": self.margin,
            "agreement": str(self.agreement),
        }

    def _relative(self, value: float) -> str:
        return f"{100 * value / self.ours.mean:+.2g} %" if self.ours.mean else f"{value:+.2g}"


def agreement(
    ours: Mapping[int, Measured],
    theirs: Mapping[int, Measured],
    *,
    certain: bool,
    margin: float = 1.0,
    by_seed: bool = False,
) -> list[Line]:
    """Compare all measures that both sides have.

    Parameters
    ----------
    ours, theirs
        Measurements by seed.
    certain
        Whether nothing is left to chance, so that one run is all there is.
    margin
        Factor of all margins.
    by_seed
        Whether runs of the same seed are pairs: the interval is then Student's of their differences.
    """
    keys: dict[Key, None] = {key: None for measured in ours.values() for key in measured}
    there = {key for measured in theirs.values() for key in measured}
    order = list(Measure)
    wanted = sorted((key for key in keys if key in there), key=lambda key: order.index(key[0]))
    return [_line(key, ours, theirs, certain=certain, factor=margin, by_seed=by_seed) for key in wanted]


def _line(
    key: Key,
    ours: Mapping[int, Measured],
    theirs: Mapping[int, Measured],
    *,
    certain: bool,
    factor: float,
    by_seed: bool,
) -> Line:
    measure, place = key
    if by_seed:
        both = [seed for seed in ours if key in ours[seed] and key in theirs.get(seed, {})]
        ours, theirs = ({seed: side[seed] for seed in both} for side in (ours, theirs))
    a, b = ([run[key] for run in side.values() if key in run] for side in (ours, theirs))
    left, right = mean_of(measure, a), mean_of(measure, b)
    share, least = MARGINS[measure]
    margin = factor * max(share * abs(left.mean), least)
    found = (paired if by_seed else welch)(b, a, level=LEVEL).interval
    if certain:
        off = right.mean - left.mean
        found = Interval(off, 0.0, found.n, off, off, LEVEL)
    same = all(math.isclose(x, left.mean, rel_tol=SAME) for x in [*a, *b])
    verdict = Agreement.SAME if same else _verdict(found, margin)
    return Line(measure, place, left, right, found, margin, verdict)


def mean_of(measure: Measure, values: Sequence[float]) -> Interval:
    """Return the mean of a measure over runs with its interval, within the measure's bounds.

    >>> mean_of(Measure.LOSS, [0.0, 0.01]).low
    0.0
    """
    return mean_interval(values, bounds=SHARE if measure in SHARES else NOT_NEGATIVE)[0]


def _verdict(found: Interval, margin: float) -> Agreement:
    if -margin <= found.low and found.high <= margin:
        return Agreement.EQUAL
    if found.low > margin or found.high < -margin:
        return Agreement.DIFFERS
    return Agreement.UNDECIDED
