"""Published beside measured, and what each reading changes: as numbers for files, and as text for reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from aqmlab.reporting.intervals import with_intervals
from aqmlab.statistics import Interval

Row = Mapping[str, str | float]


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
        Per column: printed, measured, ±95 % (half the width of the interval) and ratio, measured / printed.
    """
    found = []
    for row in rows:
        cells: dict[str, str | float] = dict(row)
        for column in columns:
            value, other = measured(row, column), printed(row, column)
            if other is not None:
                cells[f"{column} {paper}"] = other
            cells[f"{column} measured"] = value.mean
            cells[f"{column} ±95 %"] = value.half_width
            if other is not None:
                cells[f"{column} ratio"] = value.mean / other if other else float("nan")
            cells["seeds"] = value.n
        found.append(cells)
    return pd.DataFrame(found)


def beside_text(
    table: pd.DataFrame, columns: Sequence[str], *, keys: Sequence[str], paper: str = "printed"
) -> pd.DataFrame:
    """Return one of the paper's tables for reading: each mean with its interval in one cell."""
    shown = table[[*keys, "seeds"]].copy()
    for column in columns:
        if f"{column} {paper}" in table:
            shown[f"{column} {paper}"] = table[f"{column} {paper}"]
        shown[f"{column} measured"] = with_intervals(table[f"{column} measured"], table[f"{column} ±95 %"])
        if f"{column} ratio" in table:
            shown[f"{column} ratio"] = ["" if r != r else f"{r:.3f}" for r in table[f"{column} ratio"]]
    return shown
