"""How simulation and reality agree: each quantity with both intervals, the difference, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aqmlab.results.quantities import NOT_NEGATIVE, quantity, shown_in
from aqmlab.results.result import Result
from aqmlab.statistics import Verdict, mean_interval, verdict_between, verdict_of_every, welch
from aqmlab.statistics.intervals import Bounds, Interval
from aqmlab.statistics.text import interval_text

GOODPUT_WITHIN = 0.03
"""Simulated goodput may differ from the live one by so much, relative to it."""
DELAY_WITHIN = 0.15
"""And the mean queueing delay by so much."""


def in_percent(share: float, sign: str = "") -> str:
    """Write a share in per cent, with three digits at least.

    >>> in_percent(0.154), in_percent(-1.2345, "+"), in_percent(0.03), in_percent(math.nan)
    ('15.4', '-123', '3', 'undefined')
    """
    value = 100 * share
    return format(value, f"{sign}.0f" if abs(value) >= 1000 else f"{sign}.3g") if math.isfinite(value) else "undefined"


@dataclass(frozen=True)
class Line:
    """One quantity in both worlds.

    Attributes
    ----------
    what, unit
        The quantity.
    live, simulated
        Its means with intervals.
    relative
        (simulated - live) / live with its interval (Welch's, as the runs of the two worlds are independent).
    within
        The bound that the relative difference is judged by; None if it is not judged.
    is_percent
        Whether people read the share in %.
    """

    what: str
    unit: str
    live: Interval
    simulated: Interval
    relative: Interval
    within: float | None = None
    is_percent: bool = False

    @property
    def verdict(self) -> Verdict | None:
        """Whether the difference is within its bound; None without one, undecided from a single run."""
        if self.within is None:
            return None
        if math.isnan(self.relative.low):
            return Verdict.UNDECIDED
        return verdict_between(self.relative, -self.within, self.within)

    @property
    def near(self) -> bool:
        """Whether the difference of the means alone is within the bound."""
        return self.within is None or abs(self.relative.mean) <= self.within


@dataclass(frozen=True)
class Agreement:
    """All quantities."""

    lines: list[Line]

    @classmethod
    def of(cls, live: Result, simulated: Result) -> Agreement:
        """Compare live runs with simulated ones of the same scenario."""
        return cls(list(_lines(live, simulated)))

    @property
    def judged(self) -> list[Line]:
        """The lines with a bound."""
        return [line for line in self.lines if line.within is not None]

    def answer(self) -> str:
        """Say whether simulation and real TCP agree, by the judged quantities."""
        parts = [
            f"{line.what.replace('Mean q', 'mean q')} {in_percent(line.relative.mean, '+')} %, {line.verdict}"
            for line in self.judged
        ]
        return f"Simulation against real TCP: {'; '.join(parts)}." if parts else "No quantity is judged by a bound."

    @property
    def verdict(self) -> Verdict:
        """Whether simulation and real TCP agree in all judged quantities; it fails if one fails."""
        return verdict_of_every([line.verdict for line in self.judged]) if self.judged else Verdict.UNDECIDED

    def headline(self) -> str:
        """Say within how many per cent simulation and real TCP agree, with the verdict; "" without a judged quantity.

        The percentage is the largest difference in the intervals of the judged quantities, or of their means without
        intervals.
        """
        ends = [
            abs(end)
            for line in self.judged
            for end in (line.relative.mean, line.relative.low, line.relative.high)
            if math.isfinite(end)
        ]
        if not ends:
            return ""
        parts = [
            f"{line.what.replace('Mean q', 'mean q')} {_text(line.relative, scale=100.0, signed=True)} % "
            f"(allowed {in_percent(line.within or 0)} %)"
            for line in self.judged
        ]
        within = f"Simulation within {in_percent(max(ends))} % of real TCP: {self.verdict}."
        return f"{within} Difference of {', '.join(parts)}."

    def differences(self) -> pd.DataFrame:
        """Return all lines for a page: means with their intervals, the difference and its bound in %, the verdict."""
        table = self.text(judged=False)
        table["allowed, %"] = ["" if line.within is None else in_percent(line.within) for line in self.lines]
        table["verdict"] = ["" if line.verdict is None else str(line.verdict) for line in self.lines]
        return table[["quantity", "verdict", "difference, %", "allowed, %", "live", "simulated"]]

    def text(self, *, judged: bool) -> pd.DataFrame:
        """Return all lines, or the judged ones, for reading: means with their intervals, and the difference in %."""
        return pd.DataFrame(
            [
                {
                    "quantity": f"{line.what}, {_unit(line)}" if _unit(line) else line.what,
                    "live": _text(line.live, scale=_scale(line)),
                    "simulated": _text(line.simulated, scale=_scale(line)),
                    "difference, %": _text(line.relative, scale=100.0, signed=True),
                    "verdict": "" if line.within is None else f"{line.verdict}, within {in_percent(line.within)} %",
                }
                for line in (self.judged if judged else self.lines)
            ]
        )

    def short_text(self) -> pd.DataFrame:
        """Return the judged lines for a terminal: the verdict with the allowed difference in brackets."""
        table = self.text(judged=True)
        table["verdict"] = [f"{line.verdict} ({in_percent(line.within or 0)} %)" for line in self.judged]
        return table

    def table(self) -> pd.DataFrame:
        """Return all lines as a table."""
        return pd.DataFrame(
            [
                {
                    "quantity": line.what,
                    "unit": line.unit,
                    "live": line.live.mean,
                    "live low": line.live.low,
                    "live high": line.live.high,
                    "simulated": line.simulated.mean,
                    "simulated low": line.simulated.low,
                    "simulated high": line.simulated.high,
                    "difference": line.relative.mean,
                    "low": line.relative.low,
                    "high": line.relative.high,
                    "within": math.nan if line.within is None else line.within,
                    "verdict": "" if line.verdict is None else str(line.verdict),
                }
                for line in self.lines
            ]
        )


def _unit(line: Line) -> str:
    return "%" if line.is_percent else "" if line.unit == "1" else line.unit


def _scale(line: Line) -> float:
    return 100.0 if line.is_percent else 1.0


def _text(found: Interval, *, scale: float = 1.0, signed: bool = False) -> str:
    if math.isnan(found.mean):
        return "-"
    return interval_text(scale * found.mean, scale * found.low, scale * found.high, signed=signed)


def _lines(live: Result, simulated: Result) -> Iterator[Line]:
    groups = group_goodput(live)
    for group in groups.columns:
        if group in (beside := group_goodput(simulated)).columns:
            yield _line(f"goodput of {group}", "Mb/s", groups[group], beside[group], GOODPUT_WITHIN, NOT_NEGATIVE)
    one, other = live.metrics(), simulated.metrics()
    if "goodput_mbps" in one.columns and len(groups.columns) > 1:
        yield _line("TCP goodput", "Mb/s", one["goodput_mbps"], other["goodput_mbps"], GOODPUT_WITHIN, NOT_NEGATIVE)
    for key in shown_in("agreement"):
        if key in one.columns and key in other.columns:
            what = quantity(key)
            within = DELAY_WITHIN if key == "mean_delay_ms" else None
            line = _line(what.title, what.unit, one[key], other[key], within, what.bounds)
            yield replace(line, is_percent=what.is_percent)


def group_goodput(result: Result) -> pd.DataFrame:
    """Goodput of each group in Mb/s, a row a run; that of UDP is what arrived."""
    flows = result.flows
    measured = np.array([s["summary"]["duration_s"] - s["summary"]["warmup_s"] for s in result.summaries])
    bytes_ = flows["goodput_bytes"].where(flows["transport"] != "udp", flows["arrived_bytes"])
    sums = bytes_.groupby([flows["seed"], flows["group"]], sort=False).sum().unstack("group")
    return (sums.loc[result.seeds] * 8 / 1e6).div(measured, axis="index")


def _line(
    what: str,
    unit: str,
    live: pd.Series[float],
    simulated: pd.Series[float],
    within: float | None,
    bounds: Bounds,
) -> Line:
    own, other = live.to_numpy(dtype=float), simulated.to_numpy(dtype=float)
    base = float(np.nanmean(own)) if np.isfinite(own).any() else math.nan
    scale = 1 / base if base else math.nan
    # The simulated mean is within the bounds of the quantity.
    found = welch(other, own).interval.within((bounds[0] - base, bounds[1] - base))
    relative = Interval(
        found.mean * scale, found.sd * scale, found.n, found.low * scale, found.high * scale, found.level
    )
    live_mean, other_mean = (mean_interval(values, bounds=bounds)[0] for values in (own, other))
    return Line(what, unit, live_mean, other_mean, relative, within)
