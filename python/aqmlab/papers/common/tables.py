"""A paper's tables, as numbers for files and as text for reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict

import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.papers.common.cells import Cells, Content, P, Printed, select
from aqmlab.papers.common.expressions import Numbers
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.run_table import RunTable
from aqmlab.papers.common.vocabulary import Where
from aqmlab.reporting.intervals import intervals_text, with_intervals
from aqmlab.statistics import Interval

Row = Mapping[str, str | float]
Cellwise = Mapping[str, str | float | Interval]
"""A row whose numbers may have intervals."""


class Look(TypedDict, total=False):
    """Heading, caption and so on of a table; see `Table`."""

    heading: str
    listed: bool
    caption: str
    digits: int


def places_of(rows: Sequence[str], of: Where, runs: pd.DataFrame, place: str) -> list[dict[str, str | float]]:
    """Return the combinations of some columns, in the order of the values of `of`, or else of the runs."""
    for column in rows:
        if column not in runs:
            raise InputError(f"{place}: {unknown('column', column, [str(name) for name in runs])}")
    found = select(runs, of, place)[list(rows)].drop_duplicates()
    order = {
        name: list(values if isinstance(values := of.get(name), tuple) else dict.fromkeys(found[name].tolist()))
        for name in rows
    }
    places = [{str(key): value for key, value in at.items()} for at in found.to_dict("records")]
    return sorted(places, key=lambda at: [order[name].index(at[name]) for name in rows])


def row_of(
    columns: Mapping[str, Content], cells: Cells, table: RunTable, at: Where, place: str, *, exact: bool = False
) -> dict[str, str | float | Interval]:
    """Return the contents of a row; exact numbers have no intervals."""
    found = {title: cells.value(one, table, at, f"{place}: column {title}") for title, one in columns.items()}
    return {title: one.mean if isinstance(one, Interval) and exact else one for title, one in found.items()}


def measured_in(found: str | float | Interval) -> Interval:
    """Return the measured number of a column beside printed ones."""
    if not isinstance(found, Interval):
        raise InputError(f"a column beside printed numbers is a quantity, not {found!r}")
    return found


def for_reading(table: pd.DataFrame, columns: Mapping[str, Content]) -> pd.DataFrame:
    """Return a table of numbers for reading: each mean with its interval in one cell."""
    numbers = {title: one.numbers if isinstance(one, P | Printed) else one for title, one in columns.items()}
    signed = [title for title, one in numbers.items() if isinstance(one, Numbers) and one.signed]
    found = intervals_text(table, signed=signed)
    formats = {title: ".2g" for title, one in columns.items() if isinstance(one, P)}
    formats |= {title: "+.4g" for title, one in columns.items() if isinstance(one, Printed) and title in signed}
    return found.assign(**{title: [f"{value:{form}}" for value in table[title]] for title, form in formats.items()})


def beside(
    rows: Iterable[Row],
    columns: Sequence[str],
    *,
    measured: Callable[[Row, str], Interval],
    printed: Callable[[Row, str], float | None],
) -> pd.DataFrame:
    """One of a paper's tables beside what was measured.

    Parameters
    ----------
    rows
        The keys of each row, for example ``{"n": 5}``.
    columns
        The paper's columns, for example ``["RED", "MRED"]``.
    measured, printed
        Give a cell's interval and its printed number (None where nothing is printed).

    Returns
    -------
    DataFrame
        Per column: printed, measured, the ends of its 95 % interval (low, high) and ratio, measured / printed.
    """
    return pd.DataFrame(
        [beside_row(row, {name: (measured(row, name), printed(row, name)) for name in columns}) for row in rows]
    )


def beside_row(row: Row, cells: Mapping[str, tuple[Interval, float | None]]) -> Row:
    """Return one row of `beside`: its key, and of each column the measured interval and the printed number."""
    found: dict[str, str | float] = dict(row)
    for column, (value, other) in cells.items():
        if other is not None:
            found[f"{column} printed"] = other
        found[f"{column} measured"] = value.mean
        found[f"{column} measured low"], found[f"{column} measured high"] = value.low, value.high
        if other is not None:
            found[f"{column} ratio"] = value.mean / other if other else float("nan")
        found["seeds"] = value.n
    return found


def beside_text(table: pd.DataFrame, columns: Sequence[str], *, keys: Sequence[str]) -> pd.DataFrame:
    """Return one of the paper's tables for reading: each mean with its interval in one cell."""
    shown = table[[*keys, "seeds"]].copy()
    for column in columns:
        if f"{column} printed" in table:
            shown[f"{column} printed"] = table[f"{column} printed"]
        shown[f"{column} measured"] = with_intervals(table, f"{column} measured")
        if f"{column} ratio" in table:
            shown[f"{column} ratio"] = ["" if r != r else f"{r:.3f}" for r in table[f"{column} ratio"]]
    return shown


def parameters(
    cells: Iterable[Cell], effective: Callable[[Cell], object], *, found: str = "in the scenario"
) -> pd.DataFrame:
    """Return printed parameters beside the effective ones of what was run.

    Parameters
    ----------
    cells
        The printed ones.
    effective
        Gives the effective one: a number, or text with a unit.
    found
        The title of its column.
    """
    rows = []
    for cell in cells:
        value = plain_number(effective(cell))
        row: dict[str, object] = {"parameter": cell.quantity, "unit": cell.unit, "printed": cell.value, found: value}
        rows.append(
            {**row, "same": "yes" if math.isclose(value, cell.value, rel_tol=1e-9) else "no", "note": cell.note}
        )
    return pd.DataFrame(rows)


def plain_number(value: object) -> float:
    """Return a parameter as a number in s, packets or bytes, which the core gives as such or as text with a unit.

    >>> plain_number("200ms"), plain_number("5s"), plain_number(0.9), plain_number("60p")
    (0.2, 5.0, 0.9, 60.0)
    """
    if isinstance(value, int | float):
        return float(value)
    text = str(value)
    for unit, size in (("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("p", 1.0), ("B", 1.0), ("", 1.0)):
        digits = text.removesuffix(unit)
        if text.endswith(unit) and digits.replace(".", "", 1).replace("e-", "", 1).isdigit():
            return float(digits) * size
    return math.nan
