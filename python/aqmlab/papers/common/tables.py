"""A paper's tables as ``page.toml`` states them: as numbers for files, and as text for reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from aqmlab.errors import InputError
from aqmlab.papers.common.cells import Content, Printed, content, select
from aqmlab.papers.common.checks import one_of
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.page_file import PageFile, Table
from aqmlab.papers.common.run_table import RunTable
from aqmlab.reporting.intervals import intervals_table, intervals_text, with_intervals
from aqmlab.statistics import Interval

Row = Mapping[str, str | float]


def made(
    name: str, page: PageFile, runs: pd.DataFrame, readings: Mapping[tuple[str, str], pd.DataFrame], printed: Printed
) -> pd.DataFrame:
    """Return a table of ``page.toml`` in numbers.

    Parameters
    ----------
    name, page
        Which one.
    runs
        The table of runs of the chosen reading.
    readings
        Question and name of every reading to its runs.
    printed
        The printed numbers.
    """
    table, place = page.tables[name], f"{page.file}: table {name}"

    def cells(own: RunTable, at: Row) -> dict[str, Content]:
        found = {
            title: content(numbers, own, at, printed, f"{place}: column {title}")
            for title, numbers in table.columns.items()
        }
        exact = {title: one.mean for title, one in found.items() if isinstance(one, Interval) and table.exact}
        return {**found, **exact}

    if table.rows is None:
        some = {key: select(own, table.of, place) for key, own in readings.items()}
        rows = [
            {"question": key[0], "reading": key[1], **cells(RunTable(own), {})} for key, own in some.items() if len(own)
        ]
        return intervals_table(rows)
    titles, places, every = table.rows, _places(table, runs, place), RunTable(runs)
    words = [
        {title: page.label(column, at[column]) if table.labelled else at[column] for column, title in titles.items()}
        for at in places
    ]
    if not table.beside:
        return intervals_table([{**word, **cells(every, at)} for word, at in zip(words, places, strict=True)])
    lines = []
    for word, at in zip(words, places, strict=True):
        paper = {title: printed.number(numbers, at) for title, numbers in table.columns.items()}
        found = {title: (_measured(one), paper[title]) for title, one in cells(every, at).items()}
        lines.append(beside_row(word, found))
    return pd.DataFrame(lines)


def shown(name: str, page: PageFile, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of ``page.toml`` for reading: each mean with its interval in one cell, values in words."""
    stated = page.tables.get(name, Table())
    rows = stated.rows or {}
    words = {
        title: [page.labels[column].get(value, value) for value in table[title]]
        for column, title in rows.items()
        if column in page.labels and not stated.labelled
    }
    if stated.beside:
        return beside_text(table, list(stated.columns), keys=list(rows.values())).assign(**words)
    signed = [title for title, numbers in stated.columns.items() if numbers.signed]
    found = intervals_text(table.assign(**words), signed=signed)
    formats = {
        title: ".2g" if numbers.p else "+.4g"
        for title, numbers in stated.columns.items()
        if numbers.p or (numbers.printed and numbers.signed)
    }
    return found.assign(**{title: [f"{value:{form}}" for value in table[title]] for title, form in formats.items()})


def _places(table: Table, runs: pd.DataFrame, place: str) -> list[dict[str, str | float]]:
    """Return the combinations of the columns in `rows`, in the order of `of`, or else of the runs."""
    columns = list(table.rows or ())
    for column in columns:
        one_of(column, [str(name) for name in runs], place, "column")
    found = select(runs, table.of, place)[columns].drop_duplicates()
    order = {name: list(table.of.get(name, dict.fromkeys(found[name].tolist()))) for name in columns}
    places = [{str(key): value for key, value in at.items()} for at in found.to_dict("records")]
    return sorted(places, key=lambda at: [order[name].index(at[name]) for name in columns])


def _measured(found: Content) -> Interval:
    if not isinstance(found, Interval):
        raise InputError(f"a column beside printed numbers is a quantity, not {found!r}")
    return found


def beside(
    rows: Iterable[Row],
    columns: Sequence[str],
    *,
    measured: Callable[[Row, str], Interval],
    printed: Callable[[Row, str], float | None],
    paper: str = "printed",
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
    paper
        The word for what stands beside, such as "printed" or "model".

    Returns
    -------
    DataFrame
        Per column: printed, measured, the ends of its 95 % interval (low, high) and ratio, measured / printed.
    """
    return pd.DataFrame(
        [beside_row(row, {name: (measured(row, name), printed(row, name)) for name in columns}, paper) for row in rows]
    )


def beside_row(row: Row, cells: Mapping[str, tuple[Interval, float | None]], paper: str = "printed") -> Row:
    """Return one row of `beside`: its key, and of each column the measured interval and the printed number."""
    found: dict[str, str | float] = dict(row)
    for column, (value, other) in cells.items():
        if other is not None:
            found[f"{column} {paper}"] = other
        found[f"{column} measured"] = value.mean
        found[f"{column} measured low"], found[f"{column} measured high"] = value.low, value.high
        if other is not None:
            found[f"{column} ratio"] = value.mean / other if other else float("nan")
        found["seeds"] = value.n
    return found


def beside_text(
    table: pd.DataFrame, columns: Sequence[str], *, keys: Sequence[str], paper: str = "printed"
) -> pd.DataFrame:
    """Return one of the paper's tables for reading: each mean with its interval in one cell."""
    shown = table[[*keys, "seeds"]].copy()
    for column in columns:
        if f"{column} {paper}" in table:
            shown[f"{column} {paper}"] = table[f"{column} {paper}"]
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
