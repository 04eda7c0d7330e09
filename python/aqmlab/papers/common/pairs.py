"""Both sides of a comparison, from a table of runs or of printed numbers, paired by seed.

Rows in which a quantity is NaN are no runs of it, so that a table may hold rows about different quantities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from aqmlab.errors import InputError, unknown
from aqmlab.papers.common.run_table import BySeed, RunTable
from aqmlab.papers.common.vocabulary import SEED, Column, Value, Vocabulary, Where

Steps = Literal["each", "ends"]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A quantity of some runs, or its difference from that of others.

    Attributes
    ----------
    quantity, of
        The quantity, and the columns that select its runs.
    than, other
        The columns in which the other side's runs differ, and its quantity ("" for the same one); without other side
        None.
    limits, without
        Values of columns that are included or left out, on both sides.
    per
        Columns: a cell for each combination of their values.
    over
        Columns over whose values the mean is taken, seed by seed.
    """

    quantity: str
    of: Where = field(default_factory=dict)
    than: Where | None = None
    other: str = ""
    limits: Where = field(default_factory=dict)
    without: Where = field(default_factory=dict)
    per: tuple[str, ...] = ()
    over: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Both sides of one cell, by seed; `b` is None without other side."""

    at: dict[str, Value]
    a: np.ndarray
    b: np.ndarray | None


def pairs_of(
    words: Vocabulary, chosen: Selection, runs: RunTable, *, place: str = "", along: str = "", steps: Steps = "each"
) -> Iterator[Pair]:
    """Return both sides of every cell in the declared order of values.

    Parameters
    ----------
    words
        The declared columns.
    chosen
        The compared quantity.
    runs
        Table of runs, or of printed numbers.
    place
        Prefix of errors.
    along, steps
        A column: the sides of a pair are then the quantity (or difference) at a value of it and at the next lower one
        (``each``), or at the highest and at the lowest (``ends``).

    Raises
    ------
    InputError
        If the table lacks a column or quantity, or one seed has several runs in a cell.
    """
    _check(chosen, runs, place)
    rows = runs.fits(chosen.of, chosen.without) & runs.fits(chosen.limits)
    right, other = None, chosen.other or chosen.quantity
    if chosen.than is not None:
        right = runs.fits({**chosen.of, **chosen.than}, chosen.without) & runs.fits(chosen.limits)
    for at in _cells_of(words, chosen, runs, rows & runs.known(chosen.quantity)):
        here = runs.fits(at)
        a = _by_seed(runs, rows & here, chosen.quantity, chosen, along, place)
        b = None if right is None else _by_seed(runs, right & here, other, chosen, along, place)
        cell = {name: values[0] for name, values in at.items() if isinstance(values, tuple)}
        if along:
            yield from _steps(words.column(along), along, steps, cell, a, b)
            continue
        keys, seeds = a.common(b)
        if not keys or not len(seeds):
            continue
        x = a.at(keys, seeds).mean(axis=1)
        y = None if b is None else b.at(keys, seeds).mean(axis=1)
        if not np.isnan(x).all() and (y is None or not np.isnan(y).all()):
            yield Pair(cell, x, y)


def _check(chosen: Selection, runs: RunTable, place: str) -> None:
    for kind, names in (
        ("column", (*chosen.of, *(chosen.than or ()), *chosen.limits, *chosen.without, *chosen.per, *chosen.over)),
        ("quantity", (chosen.quantity, *([chosen.other] if chosen.other else []))),
    ):
        for name in names:
            if name not in runs:
                raise InputError(f"{place}: {unknown(kind, name, [str(column) for column in runs.frame])}")


def _steps(
    column: Column, along: str, steps: Steps, cell: dict[str, Value], a: BySeed, b: BySeed | None
) -> Iterator[Pair]:
    """Return a pair for each step along a column: the higher value and the lower; words go in their declared order."""
    keys, seeds = a.common(b)
    values = a.at(keys, seeds) if b is None else a.at(keys, seeds) - b.at(keys, seeds)
    rows = {key[0]: row for key, row in zip(keys, values.T, strict=True) if not np.isnan(row).all()}
    words_only = all(isinstance(value, str) for value in rows)
    order = sorted(rows, key=column.place) if words_only else sorted(rows)
    for lower, higher in pairwise(order) if steps == "each" else [(order[0], order[-1])] if len(order) > 1 else []:
        both = ~(np.isnan(rows[lower]) | np.isnan(rows[higher]))
        if both.any():
            yield Pair({**cell, along: higher}, rows[higher][both], rows[lower][both])


def _cells_of(words: Vocabulary, chosen: Selection, runs: RunTable, fits: np.ndarray) -> list[Where]:
    """Return the combinations of the columns in `per`, in the declared order of their values."""
    if not fits.any():
        return []
    if not chosen.per:
        return [{}]
    columns = [words.column(name) for name in chosen.per]

    def place(at: tuple[Value, ...]) -> list[int]:
        return [column.place(value) for column, value in zip(columns, at, strict=True)]

    found = sorted(runs.places(fits, chosen.per), key=place)
    return [{name: (value,) for name, value in zip(chosen.per, at, strict=True)} for at in found]


def _by_seed(runs: RunTable, fits: np.ndarray, quantity: str, chosen: Selection, along: str, place: str) -> BySeed:
    """Return one quantity by seed, for each combination of values of `over` and `along`."""
    over = [*chosen.over, *([along] if along else [])]
    found = runs.by_seed(fits, quantity, over)
    if found is None:
        rows = runs.frame[fits]
        differing = [
            c for c in rows.columns if c not in (SEED, *over) and rows[c].nunique() > 1 and rows[c].dtype == "O"
        ]
        hint = f"; they differ in {', '.join(differing)}" if differing else ""
        raise InputError(f"{place}: several runs of one seed in a cell{hint}; select columns, or use each or mean_over")
    if along and chosen.over:
        rows = runs.frame[fits & runs.known(quantity)]
        wide = rows.pivot_table(index=SEED, columns=along, values=quantity, aggfunc="mean")
        return BySeed(wide.index.to_numpy(), [(key,) for key in wide.columns], wide.to_numpy(dtype=float))
    return found
