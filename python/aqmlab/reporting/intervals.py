"""Tables of intervals: as numbers for files, and as text for reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from aqmlab.reporting.fragments import plus_minus
from aqmlab.statistics import Interval


def intervals_table(rows: Iterable[Mapping[str, str | float | Interval]]) -> pd.DataFrame:
    """Return rows of words, numbers and intervals as numbers: an interval becomes its mean and a ± column."""
    found = []
    for row in rows:
        cells: dict[str, str | float] = {}
        for name, value in row.items():
            if isinstance(value, Interval):
                cells[name], cells[f"± {name}"] = value.mean, value.half_width
            else:
                cells[name] = value
        found.append(cells)
    return pd.DataFrame(found)


def intervals_text(table: pd.DataFrame, *, signed: Sequence[str] = ()) -> pd.DataFrame:
    """Return an `intervals_table` for reading: mean and interval in one cell; `signed` columns show a plus."""
    shown = pd.DataFrame(index=table.index)
    for column in table.columns:
        if f"± {column}" in table:
            shown[column] = with_intervals(table[column], table[f"± {column}"], signed=column in signed)
        elif not column.startswith("± "):
            shown[column] = table[column]
    return shown


def with_intervals(means: pd.Series, halves: pd.Series, *, signed: bool = False) -> list[str]:
    """Write means with half the widths of their intervals."""
    return [plus_minus(mean, half, signed=signed) for mean, half in zip(means, halves, strict=True)]
