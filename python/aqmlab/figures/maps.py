"""A quantity over parameters: lines against one, a map of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.errors import InputError
from aqmlab.figures.chart import MOST_CELLS, Chart, Heat, Series
from aqmlab.figures.runs import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def against(table: pd.DataFrame, *, x: str, key: str, title: str, x_label: str, y_label: str) -> Chart:
    """Means with error bars against a number, such as the number of flows.

    Parameters
    ----------
    table
        Columns: `x`, ``series``, ``mean``, ``low``, ``high``, and optionally ``mode`` and ``color``.
    """
    series = []
    for index, (name, rows) in enumerate(table.groupby("series", sort=False)):
        first = rows.iloc[0]
        series.append(
            Series(
                str(name),
                rows[x].to_numpy(dtype=float),
                rows["mean"].to_numpy(dtype=float),
                rows["low"].to_numpy(dtype=float),
                rows["high"].to_numpy(dtype=float),
                mode=first.get("mode", "line"),
                color=int(first.get("color", index)),
            )
        )
    names = ", ".join(s.name for s in series)
    run = sorted({float(value) for value in table[x]})
    ticks = run if len(run) <= MOST_CELLS else []
    return Chart(key, title, f"{y_label} against {x_label}: {names}.", x_label, y_label, series, x_ticks=ticks)


def parameter_map(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    x_label: str = "",
    y_label: str = "",
    label: str = "",
    levels: Sequence[float] = (),
    x_log: bool = False,
    y_log: bool = False,
) -> Chart:
    """Colours of a quantity over two parameters; rows with the same parameters (seeds) are averaged.

    Parameters
    ----------
    table
        One row a run, or a mean: the columns `x`, `y` and `value` are numbers.
    x, y, value
        Names of the columns.
    x_label, y_label, label
        Labels of the axes and colours, with units; default: the columns' names.
    levels
        Values at which a line is drawn.
    x_log, y_log
        Logarithmic axes.
    """
    for name in (x, y, value):
        if name not in table.columns:
            raise InputError(f'the table has no column "{name}" (there are: {", ".join(map(str, table.columns))})')
    grid = table.pivot_table(index=y, columns=x, values=value, aggfunc="mean", sort=True)
    if min(grid.shape) < 2:
        raise InputError(f"a map needs two values of {x} and two of {y} at least")
    z = grid.to_numpy(dtype=float)
    heat = Heat(grid.columns.to_numpy(dtype=float), grid.index.to_numpy(dtype=float), z, label or value, levels)
    words = []
    for word, place in (("largest", np.nanargmax(z)), ("least", np.nanargmin(z))):
        row, column = divmod(int(place), z.shape[1])
        words.append(f"{word} {z[row, column]:.4g} at {x} {heat.x[column]:g} and {y} {heat.y[row]:g}")
    return Chart(
        key=f"map-{slug(value)}",
        title=f"{label or value} over {x} and {y}",
        alt=f"Colours of {label or value} over {x} and {y}: {', '.join(words)}.",
        x_label=x_label or x,
        y_label=y_label or y,
        series=[],
        heat=heat,
        x_log=x_log,
        y_log=y_log,
    )
