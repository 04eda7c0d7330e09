"""How far apart two simulators' means surely are at most: 90 % intervals of the relative difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import fmean, stdev

from equivalence import CONFIDENCE, student_quantile, welch_interval


@dataclass(frozen=True)
class Comparison:
    """One quantity of one experiment. `low` and `high` end the interval of ours / ns-2 - 1."""

    experiment: str
    point: str
    quantity: str
    seeds: int
    means: tuple[float, float]
    """Ours, ns-2's."""
    low: float
    high: float
    bound: float | None
    """None: the difference is reported, not tested."""

    @property
    def shown(self) -> bool:
        """Whether equality within the bound is shown (two one-sided tests at 5 %), or no bound is set."""
        return self.bound is None or (-self.bound < self.low and self.high < self.bound)

    @property
    def seeds_needed(self) -> int | None:
        """How many seeds would show it, if mean and spread stay; None if the difference is itself too large."""
        if self.bound is None:
            return None
        room = self.bound - abs(self.low + self.high) / 2
        half = (self.high - self.low) / 2
        return ceil(self.seeds * (half / room) ** 2) if room > 0 else None


def compare(
    names: tuple[str, str, str], ours: Sequence[float], theirs: Sequence[float], bound: float | None, *, paired: bool
) -> Comparison:
    """Compares seeds; `paired` if the runs of a seed share their list of transfers."""
    low, high = paired_interval(ours, theirs) if paired else welch_interval(ours, theirs)
    base = fmean(theirs)
    return Comparison(*names, len(ours), (fmean(ours), base), low / base, high / base, bound)


def paired_interval(a: Sequence[float], b: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The confidence interval of the mean of a - b, pair by pair."""
    differences = [x - y for x, y in zip(a, b, strict=True)]
    n = len(differences)
    half = student_quantile(0.5 + confidence / 2, n - 1) * stdev(differences) / sqrt(n)
    return fmean(differences) - half, fmean(differences) + half


def markdown(comparisons: Sequence[Comparison]) -> str:
    """The comparisons as a table."""
    lines = [
        "| experiment | at | quantity | seeds | ours | ns-2 | 90 % interval of difference | bound | equal |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for c in comparisons:
        lines.append(
            f"| {c.experiment} | {c.point} | {c.quantity} | {c.seeds} | {c.means[0]:.5g} | {c.means[1]:.5g} "
            f"| {c.low:+.2%} to {c.high:+.2%} | {_percent(c.bound)} | {_verdict(c)} |"
        )
    tested = [c for c in comparisons if c.bound is not None]
    shown = sum(c.shown for c in tested)
    return "\n".join([*lines, "", f"Equal within the bound in {shown} of {len(tested)} comparisons.", ""])


def _percent(bound: float | None) -> str:
    return "" if bound is None else f"{100 * bound:.2g}%"


def _verdict(c: Comparison) -> str:
    if c.bound is None:
        return "only reported"
    if c.shown:
        return "shown"
    needed = c.seeds_needed
    return f"**not shown** ({needed} seeds needed)" if needed else "**not shown** (the difference is too large)"
