"""Tables of intervals: as numbers for files, and as text for reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from aqmlab.reporting.fragments import bounded
from aqmlab.statistics import Interval


def intervals_table(rows: Iterable[Mapping[str, str | float | Interval]]) -> pd.DataFrame:
    """Return rows of words, numbers and intervals as numbers: an interval becomes its mean, a low and a high column.

    >>> intervals_table([{"phase": "whole", "loss": Interval(0.1, 0.1, 3, 0.0, 0.35)}]).to_dict("records")
    [{'phase': 'whole', 'loss': 0.1, 'loss low': 0.0, 'loss high': 0.35}]
    """
    found = []
    for row in rows:
        cells: dict[str, str | float] = {}
        for name, value in row.items():
            if isinstance(value, Interval):
                cells |= {name: value.mean, f"{name} low": value.low, f"{name} high": value.high}
            else:
                cells[name] = value
        found.append(cells)
    return pd.DataFrame(found)


def intervals_text(table: pd.DataFrame, *, signed: Sequence[str] = ()) -> pd.DataFrame:
    """Return an `intervals_table` for reading: mean and interval in one cell; `signed` columns show a plus."""
    shown = pd.DataFrame(index=table.index)
    means = [column for column in table.columns if f"{column} low" in table]
    ends = {f"{column} {end}" for column in means for end in ("low", "high")}
    for column in (column for column in table.columns if column not in ends):
        shown[column] = with_intervals(table, column, signed=column in signed) if column in means else table[column]
    return shown


def with_intervals(table: pd.DataFrame, column: str, *, signed: bool = False) -> list[str]:
    """Write the means of a column with their intervals, whose ends are in the columns of that name, low and high.

    A cell without a number is the end of a mean without an interval, as of seeds that all agree.

    >>> with_intervals(pd.DataFrame({"a": [1.0, 2.0], "a low": [0.9, ""], "a high": [1.1, ""]}), "a")
    ['1.00 ± 0.10', '2']
    """
    ends = (pd.to_numeric(table[f"{column} {end}"], errors="coerce") for end in ("low", "high"))
    rows = zip(table[column], *ends, strict=True)
    return [bounded(mean, low, high, signed=signed) for mean, low, high in rows]
