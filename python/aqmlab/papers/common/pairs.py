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
from aqmlab.papers.common.claim_file import (
    SEED,
    ClaimFile,
    Column,
    Mechanism,
    Other,
    Test,
    Value,
    Where,
)
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.run_table import BySeed, RunTable


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


def pairs_of(file: ClaimFile, place: str, test: Test, quantity: str, baseline: Where, runs: RunTable) -> Iterator[Pair]:
    """Return both sides of every cell, paired by seed; errors name `place`."""
    rows = runs.fits(test.of, test.without) & runs.fits(test.at)
    against = _against(test, baseline, quantity)
    if against is not None:
        where, other = against
        right = runs.fits({**test.of, **where}, test.without) & runs.fits(test.at)
    for at in _cells_of(file, test, runs, rows & runs.known(quantity)):
        here = runs.fits(at)
        a = _by_seed(runs, rows & here, quantity, test, place)
        b = None if against is None else _by_seed(runs, right & here, other, test, place)
        words = {name: values[0] for name, values in at.items() if isinstance(values, tuple)}
        if test.along:
            acted = _acted(test.mechanism, test, at, runs)
            column = file.column(test.along)
            found = _steps(test, column, words, a, b)
            yield from (replace(pair, engaged=acted and pair.engaged) for pair in found)
            continue
        keys, seeds = a.common(b)
        if not keys or not len(seeds):
            continue
        x = a.at(keys, seeds).mean(axis=1)
        y = None if b is None else b.at(keys, seeds).mean(axis=1)
        if np.isnan(x).all() or (y is not None and np.isnan(y).all()):
            continue
        engaged = _acted(test.mechanism, test, at, runs) and not _identical(test, x, y)
        yield Pair(words, x, y, engaged)


def _against(test: Test, baseline: Where, quantity: str) -> tuple[Where, str] | None:
    """Return the columns in which the other side differs, and its quantity; None if it is a number."""
    if isinstance(test.than, Other):
        return {**test.than.where, **baseline}, test.than.quantity or quantity
    return (baseline, quantity) if baseline else None


def _steps(test: Test, column: Column, words: dict[str, Value], a: BySeed, b: BySeed | None) -> Iterator[Pair]:
    """Return a pair for each step along a column: the higher value and the lower; words go in their declared order."""
    keys, seeds = a.common(b)
    values = a.at(keys, seeds) if b is None else a.at(keys, seeds) - b.at(keys, seeds)
    rows = {key[0]: row for key, row in zip(keys, values.T, strict=True) if not np.isnan(row).all()}
    words_only = all(isinstance(value, str) for value in rows)
    order = sorted(rows, key=lambda value: _order(column, value)) if words_only else sorted(rows)
    steps = list(pairwise(order)) if test.steps == "each" else [(order[0], order[-1])] if len(order) > 1 else []
    for lower, higher in steps:
        both = ~(np.isnan(rows[lower]) | np.isnan(rows[higher]))
        if both.any():
            x, y = rows[higher][both], rows[lower][both]
            yield Pair({**words, test.along: higher}, x, y, not _identical(test, x, y))


def _cells_of(file: ClaimFile, test: Test, runs: RunTable, fits: np.ndarray) -> list[Where]:
    """Return the combinations of the columns in `each`, in the declared order of their values."""
    if not fits.any():
        return []
    if not test.each:
        return [{}]

    def place(at: tuple[Value, ...]) -> list[int]:
        return [_order(file.column(name), value) for name, value in zip(test.each, at, strict=True)]

    found = sorted(runs.places(fits, test.each), key=place)
    return [{name: (value,) for name, value in zip(test.each, at, strict=True)} for at in found]


def _order(column: Column, value: Value) -> int:
    declared = list(column.values or ())
    return declared.index(value) if value in declared else len(declared)


def _by_seed(runs: RunTable, fits: np.ndarray, quantity: str, test: Test, place: str) -> BySeed:
    """Return one quantity by seed, for each combination of values of `mean_over` and `along`."""
    over = [*test.mean_over, *([test.along] if test.along else [])]
    found = runs.by_seed(fits, quantity, over)
    if found is None:
        rows = runs.frame[fits]
        differing = [
            c for c in rows.columns if c not in (SEED, *over) and rows[c].nunique() > 1 and rows[c].dtype == "O"
        ]
        hint = f"; they differ in {', '.join(differing)}" if differing else ""
        raise InputError(f"{place}: several runs of one seed in a cell{hint}; name columns in of, each or mean_over")
    if test.along and test.mean_over:
        rows = runs.frame[fits & runs.known(quantity)]
        wide = rows.pivot_table(index=SEED, columns=test.along, values=quantity, aggfunc="mean")
        return BySeed(wide.index.to_numpy(), [(key,) for key in wide.columns], wide.to_numpy(dtype=float))
    return found


def _identical(test: Test, a: np.ndarray, b: np.ndarray | None) -> bool:
    """Whether runs under different parameters are the same, in a test for which this is no answer."""
    about_one = test.compare == "between" and len(test.factor) == 2 and test.factor[0] <= 1 <= test.factor[1]
    tolerant = test.compare == "equal" or about_one or test.margin > 0 or test.statistic == "exact"
    return b is not None and not tolerant and len(a) > 0 and np.array_equal(a, b, equal_nan=True)


def _acted(mechanism: Mechanism | None, test: Test, at: Where, runs: RunTable) -> bool:
    """Whether the mechanism of a claim acted in a cell."""
    if mechanism is None:
        return True
    where = test.of if mechanism.of is None else {**test.of, **mechanism.of}
    fits = runs.fits(where) & runs.fits(test.at) & runs.fits(at)
    listed = [name for name, values in where.items() if isinstance(values, tuple) and len(values) > 1]
    groups = [dict(zip(listed, key, strict=True)) for key in runs.places(fits, listed)] if listed else [{}]
    values = runs[mechanism.quantity]
    return bool(fits.any()) and all(
        _meets(mechanism, values[fits & runs.fits({name: (value,) for name, value in group.items()})])
        for group in groups
    )


def _meets(mechanism: Mechanism, values: np.ndarray) -> bool:
    found = np.array([np.nansum(values)]) if mechanism.total else values
    if mechanism.above is not None:
        return bool((found > mechanism.above).any())
    return bool((found < float(mechanism.below or 0)).any())
