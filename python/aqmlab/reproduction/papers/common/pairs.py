"""Both sides of every cell of a test, from a table of runs or of printed numbers.

`claim_file` describes the format. A test has a cell for each combination of the columns in `each`; its sides are paired
by seed. Rows in which a quantity is NaN are no runs of it, so that a table may hold rows about different quantities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.reproduction.papers.common.claim_file import (
    SEED,
    ClaimFile,
    Column,
    Mechanism,
    Other,
    Range,
    Test,
    Value,
    Where,
)
from aqmlab.reproduction.papers.common.files import Cell


@dataclass(frozen=True)
class Pair:
    """Both sides of one cell, by seed; `b` is None if the other side is a number."""

    at: dict[str, Value]
    a: np.ndarray
    b: np.ndarray | None
    engaged: bool = True


def table_of_runs(file: ClaimFile, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the declared columns, the seed and every quantity under its own name."""
    for name in [*file.columns, SEED]:
        _has(runs, name, "column")
    table = runs[[*file.columns, SEED]].copy()
    for name, quantity in file.quantities.items():
        if quantity.column:
            _has(runs, quantity.column, f"quantity {name}: column")
            table[name] = runs[quantity.column].to_numpy(dtype=float)
    return _with_formulas(file, table)


def table_of_printed(file: ClaimFile, cells: Iterable[Cell]) -> pd.DataFrame:
    """Return the printed numbers in the form of `table_of_runs`, as one seed."""
    rows: dict[tuple[Value, ...], dict[str, Value]] = {}
    cells = list(cells)
    for name, quantity in file.quantities.items():
        for cell in cells if quantity.printed else ():
            own: dict[str, Value] = {"table": cell.table, "quantity": cell.quantity, "unit": cell.unit, **cell.key}
            if all(own.get(key) == value for key, value in quantity.printed.items()) and not math.isnan(cell.value):
                key = tuple(own.get(column, "") for column in file.columns)
                rows.setdefault(key, dict(zip(file.columns, key, strict=True)))[name] = cell.value
    table = pd.DataFrame(list(rows.values()), columns=[*file.columns, *file.quantities]).assign(**{SEED: 1})
    return _with_formulas(file, table)


def _with_formulas(file: ClaimFile, table: pd.DataFrame) -> pd.DataFrame:
    for name, quantity in file.quantities.items():
        if quantity.formula:
            try:
                table[name] = table.eval(quantity.formula) if len(table) else math.nan
            except (NameError, SyntaxError, ValueError) as error:
                raise InputError(f"quantity {name}: formula {quantity.formula!r}: {error}") from None
    return table


def _has(runs: pd.DataFrame, name: str, kind: str) -> None:
    if name not in runs:
        raise InputError(f"claims.toml and the table of runs: {unknown(kind, name, [str(c) for c in runs.columns])}")


def pairs_of(
    file: ClaimFile, place: str, test: Test, quantity: str, baseline: Where, runs: pd.DataFrame
) -> Iterator[Pair]:
    """Return both sides of every cell, paired by seed; errors name `place`."""
    rows = _select(runs[runs[quantity].notna()], test.of)
    rows = rows[~_mask(rows, test.without)] if test.without else rows
    rows = _select(rows, test.at)
    against = _against(test, baseline, quantity)
    if against is not None:
        where, other = against
        right = _select(runs[runs[other].notna()], {**test.of, **where})
        right = _select(right[~_mask(right, test.without)] if test.without else right, test.at)
    for at in _cells_of(file, test, rows, quantity):
        here = _select(rows, at)
        a = _by_seed(here, quantity, test, place)
        b = None if against is None else _by_seed(_select(right, at), other, test, place)
        words = {name: values[0] for name, values in at.items() if isinstance(values, tuple)}
        if test.along:
            acted = _acted(test.mechanism, test, at, runs)
            column = file.column(test.along)
            found = _steps(test, column, words, a, b)
            yield from (replace(pair, engaged=acted and pair.engaged) for pair in found)
            continue
        columns = a.columns if b is None else a.columns.intersection(b.columns)
        seeds = a.index if b is None else a.index.intersection(b.index)
        if not len(columns) or not len(seeds):
            continue
        x = _mean(a.loc[seeds, columns])
        y = None if b is None else _mean(b.loc[seeds, columns])
        if np.isnan(x).all() or (y is not None and np.isnan(y).all()):
            continue
        engaged = _acted(test.mechanism, test, at, runs) and not _identical(test, x, y)
        yield Pair(words, x, y, engaged)


def _against(test: Test, baseline: Where, quantity: str) -> tuple[Where, str] | None:
    """Return the columns in which the other side differs, and its quantity; None if it is a number."""
    if isinstance(test.than, Other):
        return {**test.than.where, **baseline}, test.than.quantity or quantity
    return (baseline, quantity) if baseline else None


def _steps(
    test: Test, column: Column, words: dict[str, Value], a: pd.DataFrame, b: pd.DataFrame | None
) -> Iterator[Pair]:
    """Return a pair for each step along a column: the higher value and the lower; words go in their declared order."""
    if b is not None:
        a = (a - b).dropna(axis="columns", how="all")
    words_only = all(isinstance(value, str) for value in a.columns)
    order = sorted(a.columns, key=lambda value: _order(column, value)) if words_only else sorted(a.columns)
    steps = list(pairwise(order)) if test.steps == "each" else [(order[0], order[-1])] if len(order) > 1 else []
    for lower, higher in steps:
        both = a[[lower, higher]].dropna()
        if len(both):
            x, y = both[higher].to_numpy(), both[lower].to_numpy()
            yield Pair({**words, test.along: higher}, x, y, not _identical(test, x, y))


def _cells_of(file: ClaimFile, test: Test, rows: pd.DataFrame, quantity: str) -> list[Where]:
    """Return the combinations of the columns in `each`, in the declared order of their values."""
    if rows.empty:
        return []
    if not test.each:
        return [{}]
    found = list(dict.fromkeys(rows.loc[rows[quantity].notna(), list(test.each)].itertuples(index=False, name=None)))

    def place(at: tuple[Value, ...]) -> list[int]:
        return [_order(file.column(name), value) for name, value in zip(test.each, at, strict=True)]

    return [{name: (value,) for name, value in zip(test.each, at, strict=True)} for at in sorted(found, key=place)]


def _order(column: Column, value: Value) -> int:
    declared = list(column.values or ())
    return declared.index(value) if value in declared else len(declared)


def _by_seed(rows: pd.DataFrame, quantity: str, test: Test, place: str) -> pd.DataFrame:
    """Return one quantity with a row per seed and a column per value of what is averaged or goes along."""
    over = [*test.mean_over, *([test.along] if test.along else [])]
    if rows.duplicated([SEED, *over]).any():
        differing = [
            c for c in rows.columns if c not in (SEED, *over) and rows[c].nunique() > 1 and rows[c].dtype == "O"
        ]
        hint = f"; they differ in {', '.join(differing)}" if differing else ""
        raise InputError(f"{place}: several runs of one seed in a cell{hint}; name columns in of, each or mean_over")
    if not over:
        return rows.set_index(SEED)[[quantity]].set_axis([""], axis="columns")
    if test.along and test.mean_over:
        wide = rows.pivot_table(index=SEED, columns=test.along, values=quantity, aggfunc="mean")
    else:
        wide = rows.pivot(index=SEED, columns=over if len(over) > 1 else over[0], values=quantity)
    found: pd.DataFrame = wide.dropna(axis="columns", how="all")
    return found


def _mean(table: pd.DataFrame) -> np.ndarray:
    """Return the mean over columns, seed by seed; NaN where one is missing."""
    found: np.ndarray = table.mean(axis="columns", skipna=False).to_numpy(dtype=float)
    return found


def _identical(test: Test, a: np.ndarray, b: np.ndarray | None) -> bool:
    """Whether runs under different parameters are the same, in a test for which this is no answer."""
    about_one = test.compare == "between" and len(test.factor) == 2 and test.factor[0] <= 1 <= test.factor[1]
    tolerant = test.compare == "equal" or about_one or test.margin > 0 or test.statistic == "exact"
    return b is not None and not tolerant and len(a) > 0 and np.array_equal(a, b, equal_nan=True)


def _acted(mechanism: Mechanism | None, test: Test, at: Where, runs: pd.DataFrame) -> bool:
    """Whether the mechanism of a claim acted in a cell."""
    if mechanism is None:
        return True
    where = test.of if mechanism.of is None else {**test.of, **mechanism.of}
    rows = _select(_select(_select(runs, where), test.at), at)
    listed = [name for name, values in where.items() if isinstance(values, tuple) and len(values) > 1]
    groups = [rows] if not listed else [group for _, group in rows.groupby(listed)]
    return bool(len(rows)) and all(_meets(mechanism, group[mechanism.quantity]) for group in groups)


def _meets(mechanism: Mechanism, values: pd.Series[float]) -> bool:
    found = np.array([values.sum()]) if mechanism.total else values.to_numpy(dtype=float)
    if mechanism.above is not None:
        return bool((found > mechanism.above).any())
    return bool((found < float(mechanism.below or 0)).any())


def _select(rows: pd.DataFrame, where: Where) -> pd.DataFrame:
    return rows[_mask(rows, where)] if where else rows


def _mask(rows: pd.DataFrame, where: Where) -> np.ndarray:
    fits = np.ones(len(rows), dtype=bool)
    for name, values in where.items():
        column = rows[name]
        if isinstance(values, Range):
            fits &= np.array([value in values for value in column], dtype=bool)
        else:
            fits &= column.isin(list(values)).to_numpy()
    return fits
