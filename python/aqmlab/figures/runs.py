"""Helpers of all figures: names of runs, choice of the link, and thinning of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from aqmlab.errors import InputError, unknown
from aqmlab.figures.chart import Series
from aqmlab.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.runs.comparison import Comparison

Runs: TypeAlias = "Result | Mapping[str, Result] | Comparison"
"""One result, several with a name each, or a comparison of disciplines."""

MAX_POINTS = 2000
HEADROOM = 1.25
"""Height of the scale over the greatest value after the warm-up; the words for a peak stand there."""
MARGIN = 1.06
"""Height of the scale over the greatest value if nothing is clipped."""
CLIP = 1.25
"""A peak of the warm-up is clipped if it is more than so many times as high as the rest of the figure."""
LOW_SHARE, HIGH_SHARE = 0.005, 0.999
"""Shares between which the axis of a distribution lies."""


def named(runs: Runs) -> dict[str, Result]:
    """Return the results, each with the name that a legend gives it."""
    if isinstance(runs, Result):
        return {runs.name: runs}
    found = dict(runs if isinstance(runs, Mapping) else runs.results)
    if not found:
        raise InputError("a figure needs at least one result")
    return found


def link_in(runs: Runs, link: str | None) -> str:
    """Return the link that a figure is about: the one asked for, the comparison's, or the first result's bottleneck."""
    first = next(iter(named(runs).values()))
    chosen = link or (first.bottleneck if isinstance(runs, Result | Mapping) else runs.link)
    if chosen not in first.link_names:
        raise InputError(unknown("link", chosen, first.link_names))
    return chosen


def seed_in(result: Result, seed: int | None) -> int:
    """Return the seed asked for, or the first."""
    chosen = result.seeds[0] if seed is None else seed
    if chosen not in result.seeds:
        raise InputError(unknown("seed", str(chosen), [str(own) for own in result.seeds]))
    return chosen


def has_average(averages: pd.Series[float]) -> bool:
    """Whether a discipline has an average: one without shows nothing, or 0 throughout."""
    return bool((averages.notna() & averages.ne(0)).any())


def settings_at(result: Result, link: str) -> dict[str, Any]:
    """Return the effective parameters of a link's discipline; none where queues of one discipline differ."""
    names = result.links.loc[result.links["link"] == link, "aqm"]
    found = [one["parameters"] for one in result.summaries[0].get("readings", {}).values() if one["aqm"] in set(names)]
    return dict(found[0]) if len(found) == 1 else {}


def discipline_at(result: Result, link: str) -> str:
    """Return the discipline of a link, for its colour."""
    found = result.links.loc[result.links["link"] == link, "aqm"]
    return str(found.iloc[0]) if len(found) else ""


def thresholds(result: Result, link: str) -> list[tuple[float, str]]:
    """Return min_th and max_th of a link's discipline in packets, if it has them."""
    own = settings_at(result, link)
    if own.get("mode", "packets") != "packets":
        return []
    return [(float(own[key]), key) for key in ("min_th", "max_th") if _is_number(own.get(key))]


def target_ms(result: Result, link: str) -> list[tuple[float, str]]:
    """Return the delay target of a link's discipline in ms, if it has one."""
    own = settings_at(result, link)
    return [(float(own["target"]) * 1e3, "target")] if _is_number(own.get("target")) else []


def warmup_end(result: Result) -> float:
    """Return the time in s from which on a run counts for metrics."""
    return float(result.summaries[0].get("summary", {}).get("warmup_s", 0.0))


def warmup(result: Result) -> list[tuple[float, float, str]]:
    """Return the time of a run that counts for no metric as a band, in s."""
    length = warmup_end(result)
    return [(0.0, length, "warm-up")] if length > 0 else []


def steady_scale(
    series: Sequence[Series], after_s: float, unit: str, *, levels: Sequence[tuple[float, str]] = ()
) -> dict[str, Any]:
    """Return the scale of values against time that suits the part after the warm-up, and words for a clipped peak.

    The scale ends above the greatest value after the warm-up and above the levels. A peak of the warm-up that is
    more than `CLIP` times as high is beyond it; otherwise the scale holds all values.

    Returns
    -------
    dict
        ``y_range`` and ``clipped`` of a `Chart`; empty if all values are 0.

    >>> start = Series("codel", np.array([0.4, 2.0, 3.0]), np.array([100.0, 20.0, 30.0]))
    >>> steady_scale([start], 1.0, "packets")
    {'y_range': (0.0, 37.5), 'clipped': (0.4, 'peak 100 packets at 0.4 s')}
    >>> steady_scale([start], 0.0, "packets")
    {'y_range': (0.0, 106.0)}
    """
    steady, peak, at, whose = 0.0, 0.0, 0.0, ""
    for one in series:
        x, y = np.asarray(one.x, dtype=float), np.nan_to_num(np.asarray(one.y, dtype=float))
        if len(y) and (x >= after_s).any():
            steady = max(steady, float(y[x >= after_s].max()))
        if len(y) and y.max() > peak:
            peak, at, whose = float(y.max()), float(x[y.argmax()]), one.name
    top = max([steady, *(height for height, _ in levels)]) * HEADROOM
    if after_s <= 0 or not steady or at >= after_s or peak <= CLIP * top:
        tall = float(max([peak, *(height for height, _ in levels)]) * MARGIN)
        return {"y_range": (0.0, tall)} if tall else {}
    name = f"{whose}: " if sum(one.listed for one in series) > 1 else ""
    return {"y_range": (0.0, top), "clipped": (at, f"{name}peak {peak:.3g} {unit} at {at:.2g} s")}


def data_range(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float] | None:
    """Return the part of a logarithmic axis on which distributions rise: from 0.5 % to 99.9 %, three decades at most.

    Parameters
    ----------
    curves
        Values and cumulative shares of each distribution.

    >>> data_range([(np.array([0.001, 5.0, 10.0, 5000.0]), np.array([0.001, 0.5, 0.999, 1.0]))])
    (4.0, 12.5)
    """
    lows, highs = [], []
    for values, share in curves:
        rising = (share >= LOW_SHARE * share[-1]) & (values > 0) if len(share) else np.zeros(0, dtype=bool)
        if rising.any():
            lows.append(float(values[rising][0]))
            highs.append(float(values[min(int(np.searchsorted(share, HIGH_SHARE * share[-1])), len(values) - 1)]))
    if not lows or max(highs) <= 0:
        return None
    high = max(highs) * 1.25
    return max(min(lows) * 0.8, high / 1e3), high


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def thin(rows: pd.DataFrame, *, most: int = MAX_POINTS) -> pd.DataFrame:
    """Keep every k-th row, so that a figure stays light."""
    step = -(-len(rows) // most) if len(rows) else 1
    return rows.iloc[::step]


def slug(text: str) -> str:
    """Return a text as part of a file's name.

    >>> slug("r1->r2, class 3")
    'r1--r2--class-3'
    """
    return "".join(c if c.isalnum() else "-" for c in text).strip("-")


def of_seeds(result: Result) -> str:
    """Say over how many runs something is.

    >>> of_seeds(Result("a", "0", [1, 2], [], {}))
    '2 runs'
    """
    return f"{len(result.seeds)} run{'s' if len(result.seeds) > 1 else ''}"
