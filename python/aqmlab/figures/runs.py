"""Helpers of all figures: names of runs, choice of the link, and thinning of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from aqmlab.errors import InputError, counted, unknown
from aqmlab.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.runs.comparison import Comparison

Runs: TypeAlias = "Result | Mapping[str, Result] | Comparison"
"""One result, several with a name each, or a comparison of disciplines."""

MAX_POINTS = 2000
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


def has_rows(result: Result, table: str, link: str) -> bool:
    """Whether a table has rows of a link."""
    return table in result.tables and bool((result.tables[table]["link"] == link).any())


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
    return counted(len(result.seeds), "run")
