"""The table of runs and the printed numbers, as arrays for the many small selections of claims, tables and figures.

pandas takes about a hundred times as long for a selection: it checks its arguments and makes frames and indexes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.runs import ALLOWED
from aqmlab.papers.common.vocabulary import SEED, Range, Value, Vocabulary, Where

Key = tuple[Value, ...]


@dataclass(frozen=True)
class BySeed:
    """A quantity by seed, for each combination of values of the columns averaged over or compared along.

    Attributes
    ----------
    seeds
        Ascending.
    keys
        The values of the columns, ascending, numbers before text; one empty tuple if there are no such columns.
    values
        A row per seed and a column per key; NaN where a run is missing.
    """

    seeds: np.ndarray
    keys: list[Key]
    values: np.ndarray

    def at(self, keys: Sequence[Key], seeds: np.ndarray) -> np.ndarray:
        """Return the values of some keys and seeds that it has, a row per seed."""
        rows, columns = np.searchsorted(self.seeds, seeds), [self.keys.index(key) for key in keys]
        return np.ascontiguousarray(self.values[rows][:, columns])

    def common(self, other: BySeed | None) -> tuple[list[Key], np.ndarray]:
        """Return the keys and seeds that both have."""
        if other is None:
            return self.keys, self.seeds
        return [key for key in self.keys if key in other.keys], np.intersect1d(self.seeds, other.seeds)


class RunTable:
    """The rows of a frame, which does not change meanwhile. What was selected once is kept."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._columns: dict[str, np.ndarray] = {}
        self._fits: dict[tuple[str, tuple[Value, ...] | Range], np.ndarray] = {}

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of this name."""
        return name in self.frame

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a column."""
        if name not in self._columns:
            column = self.frame[name]
            self._columns[name] = column.to_numpy() if column.dtype.kind in "iufb" else column.to_numpy(dtype=object)
        return self._columns[name]

    def fits(self, where: Where, without: Mapping[str, tuple[Value, ...] | Range] | None = None) -> np.ndarray:
        """Return which rows have these values, and not those of `without` (if there are any)."""
        found = np.ones(len(self.frame), dtype=bool)
        for name, values in where.items():
            found &= self._fit(name, values)
        return found & ~self.fits(without) if without else found

    def _fit(self, name: str, values: tuple[Value, ...] | Range) -> np.ndarray:
        known = (name, values)
        if known not in self._fits:
            column = self[name]
            if isinstance(values, Range):
                self._fits[known] = np.array([value in values for value in column.tolist()], dtype=bool)
            else:
                none = np.zeros(len(column), dtype=bool)
                self._fits[known] = np.logical_or.reduce([none, *(column == value for value in values)])
        return self._fits[known]

    def known(self, quantity: str) -> np.ndarray:
        """Return which rows have a quantity."""
        found: np.ndarray = ~np.isnan(self[quantity].astype(float))
        return found

    def places(self, fits: np.ndarray, columns: Sequence[str]) -> list[Key]:
        """Return the different values of some columns, in the order of the rows."""
        rows = np.flatnonzero(fits)
        return list(dict.fromkeys(zip(*(self[name][rows].tolist() for name in columns), strict=True)))

    def by_seed(self, fits: np.ndarray, quantity: str, over: Sequence[str]) -> BySeed | None:
        """Return a quantity by seed, in the rows that have it; None if one seed has several runs for the same key."""
        rows = np.flatnonzero(fits & self.known(quantity))
        seeds, at_seed = np.unique(self[SEED][rows], return_inverse=True)
        own = list(zip(*(self[name][rows].tolist() for name in over), strict=True)) if over else [()] * len(rows)
        keys = sorted(set(own), key=lambda key: [(isinstance(value, str), value) for value in key])
        place = {key: index for index, key in enumerate(keys)}
        at_key = np.array([place[key] for key in own], dtype=int)
        values = np.full((len(seeds), len(keys)), np.nan)
        values[at_seed, at_key] = self[quantity][rows]
        if np.count_nonzero(~np.isnan(values)) < len(rows):
            return None
        return BySeed(seeds, keys, values)


def table_of_runs(vocabulary: Vocabulary, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the declared columns, the seed and every quantity under its own name."""
    for name in [*vocabulary.columns, SEED]:
        _has(runs, name, "column")
    table = runs[[*vocabulary.columns, SEED]].copy()
    for name, quantity in vocabulary.quantities.items():
        if quantity.column:
            _has(runs, quantity.column, f"quantity {name}: column")
            table[name] = _numbers(runs, quantity.column, f"quantity {name}: column {quantity.column}")
    return _with_formulas(vocabulary, table)


def table_of_printed(vocabulary: Vocabulary, cells: Iterable[Cell]) -> pd.DataFrame:
    """Return the printed numbers in the form of `table_of_runs`, as one seed; "" where a column is not printed."""
    rows: dict[tuple[Value, ...], dict[str, Value]] = {}
    cells, columns = list(cells), vocabulary.columns
    for name, quantity in vocabulary.quantities.items():
        for cell in cells if quantity.on_paper else ():
            if cell.matches(quantity.on_paper) and not math.isnan(cell.value):
                key = tuple(cell.columns.get(column, "") for column in columns)
                rows.setdefault(key, dict(zip(columns, key, strict=True)))[name] = cell.value
    table = pd.DataFrame(list(rows.values()), columns=[*columns, *vocabulary.quantities]).assign(**{SEED: 1})
    return _with_formulas(vocabulary, table)


def _with_formulas(vocabulary: Vocabulary, table: pd.DataFrame) -> pd.DataFrame:
    columns = cast("Mapping[str, pd.Series]", table)  # `DataFrame.eval` parses the names of all columns each time
    for name, quantity in vocabulary.quantities.items():
        if quantity.formula and not len(table):
            table[name] = math.nan
        elif quantity.formula:
            try:
                table[name] = pd.eval(quantity.formula, local_dict={}, global_dict={}, resolvers=[columns])
            except (NameError, SyntaxError, ValueError) as error:
                raise InputError(f"quantity {name}: formula {quantity.formula!r}: {error}") from None
    return table


def _numbers(runs: pd.DataFrame, column: str, where: str) -> np.ndarray:
    try:
        return runs[column].to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {error} (allowed: {ALLOWED})") from None


def _has(runs: pd.DataFrame, name: str, kind: str) -> None:
    if name not in runs:
        raise InputError(f"claims and the table of runs: {unknown(kind, name, [str(c) for c in runs.columns])}")
