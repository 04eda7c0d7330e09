"""Bounds of quantities: at least, or at most, a value."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.errors import InputError
from aqmlab.results.quantities import SHARE, Quantity, quantity
from aqmlab.runs.until import metric_named
from aqmlab.statistics import Interval, Verdict, verdict_above, verdict_below

UNITS = {
    "ms": {"": 1.0, "us": 1e-3, "ms": 1.0, "s": 1e3},
    "Mb/s": {"": 1.0, "kbps": 1e-3, "Mbps": 1.0, "Mb/s": 1.0, "Gbps": 1e3},
    "s": {"": 1.0, "ms": 1e-3, "s": 1.0},
    "packets": {"": 1.0, "p": 1.0},
    "1": {"": 1.0},
}
"""Unit of a metric to the units of its bounds; bounds of other metrics have no unit or the metric's own."""
_BOUND = re.compile(
    r"\s*([A-Za-z][\w.-]*)(?:@([^\s<>=]+(?:->[^\s<>=]+)*))?\s*(>=|<=|>|<)\s*([-+0-9.eE]+)\s*([A-Za-z/%]*)\s*"
)


@dataclass(frozen=True)
class Bound:
    """A constraint: the mean of a quantity is at least, or at most, a value.

    Attributes
    ----------
    metric
        The quantity.
    sign
        1 for "at least", -1 for "at most".
    value
        The bound, in the metric's unit.
    strict
        Whether equality violates it.
    link
        The measured link; "" for the bottleneck.
    """

    metric: Quantity
    sign: int
    value: float
    strict: bool = False
    link: str = ""

    @property
    def words(self) -> str:
        """The bound for people, in the unit that tables show: ``utilization>=0.95``, ``loss<=10.9%``."""
        percent = "%" if self.metric.is_percent else ""
        return f"{self._relation}{self.metric.scale * self.value:.12g}{percent}"

    @property
    def plain(self) -> str:
        """The bound for programs, in the quantity's own unit: ``loss<=0.109``."""
        return f"{self._relation}{self.value:.12g}"

    @property
    def _relation(self) -> str:
        at = f"@{self.link} " if self.link else ""
        return f"{self.metric.key}{at}{'>' if self.sign > 0 else '<'}{'' if self.strict else '='}"

    def judged(self, verdict: Verdict, mean: float) -> str:
        """Write a verdict with the measured mean, for a table: ``holds: 8.2 %``."""
        return f"{verdict}: {self.metric.text(mean)}"

    def worst(self, means: np.ndarray) -> float:
        """Return the mean at the point that is nearest to breaking the bound, or breaks it most."""
        return float(self.sign * np.min(self.sign * means))

    def violation(self, means: np.ndarray) -> float:
        """Return the share of the bound by which the worst point breaks it; negative where all points keep it.

        >>> round(Bound(quantity("utilization"), 1, 0.8).violation(np.array([0.9, 0.6])), 12)
        0.25
        """
        worst = self.worst(means)
        return math.inf if math.isnan(worst) else self.sign * (self.value - worst) / max(abs(self.value), 1e-9)

    def verdict(self, found: Interval) -> Verdict:
        """Judge one point: holds or fails where the whole interval lies on one side of the bound."""
        if found.mean == self.value:
            if found.sd != 0:
                return Verdict.UNDECIDED
            return Verdict.FAILS if self.strict else Verdict.HOLDS
        return verdict_above(found, self.value) if self.sign > 0 else verdict_below(found, self.value)


def bounds_of(texts: Sequence[str], *, option: str) -> list[Bound]:
    """Read bounds, each once; messages name the option.

    >>> [bound.words for bound in bounds_of(["utilization>=95%", "delay.p99@up < 0.05s"], option="--assert")]
    ['utilization>=0.95', 'delay_p99_ms@up <50']
    """
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{option}: a bound is a text such as utilization>=0.95, not {type(text).__name__}")
    found = {bound.words: bound for bound in (_bound(text, option) for text in texts)}
    return list(found.values())


def _bound(text: str, option: str) -> Bound:
    match = _BOUND.fullmatch(text)
    if match is None:
        raise InputError(
            f'{option} "{text}": write it as METRIC>=VALUE, METRIC<=VALUE, > or <, for example utilization>=0.95'
        )
    name, link, sign, number, unit = match.groups()
    what = quantity(metric_named(name))
    least, greatest = what.bounds
    units = UNITS.get(what.unit, {"": 1.0, what.unit: 1.0}) | ({"%": 0.01} if (least, greatest) == SHARE else {})
    if unit not in units:
        known = ", ".join(u for u in units if u) or "a number alone"
        raise InputError(f'{option} "{text}": {what.key} has no unit {unit} (allowed: {known})')
    try:
        value = float(number) * units[unit]
    except ValueError:
        raise InputError(f'{option} "{text}": {number} is not a number') from None
    if not math.isfinite(value) or not least <= value <= greatest:
        raise InputError(f'{option} "{text}": {what.key} never has the value {what.text(value)} ({_allowed(what)})')
    return Bound(what, 1 if sign[0] == ">" else -1, value, strict=sign in "<>", link=link or "")


def _allowed(what: Quantity) -> str:
    """Return the range of a quantity for a message; of a share in %, how a number without a unit is read too."""
    least, greatest = what.bounds
    if not math.isfinite(greatest):
        return f"allowed: at least {what.text(least)}"
    alone = "; a number alone is a fraction" if what.is_percent else ""
    return f"allowed: from {what.scale * least:g} to {what.text(greatest)}{alone}"
