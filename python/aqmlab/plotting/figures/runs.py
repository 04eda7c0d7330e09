"""What all figures need of runs: their names, the link in question, and fewer rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from aqmlab.errors import InputError, unknown
from aqmlab.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.execution.comparison import Comparison

Runs: TypeAlias = "Result | Mapping[str, Result] | Comparison"
"""One result, several with a name each, or a comparison of disciplines."""

MAX_POINTS = 2000


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
