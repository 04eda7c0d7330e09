"""A paper's figures: quantities against a column of the runs, or samples against time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.figures import MAX_POINTS
from aqmlab.figures.chart import Mode
from aqmlab.papers.common.cells import Cells, Printed, mean_at, numbers_of, pair_at, select
from aqmlab.papers.common.expressions import Numbers
from aqmlab.papers.common.recorded import samples
from aqmlab.papers.common.run_table import RunTable
from aqmlab.papers.common.runs import Setup
from aqmlab.papers.common.vocabulary import SEED, Value, Where


class Look(TypedDict, total=False):
    """Labels, ranges and so on of a chart; see `aqmlab.figures.chart.Chart`."""

    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_log: bool
    y_log: bool
    panels: bool
    levels: list[tuple[float, str]]
    shades: list[tuple[float, float, str]]


@dataclass(frozen=True)
class Line:
    """A line of a figure.

    Attributes
    ----------
    content
        Its quantity, numbers, or printed numbers.
    mode, color
        How it is drawn; without colour that of one of its runs' values, or of its position.
    scale
        Factor on its abscissa, or on its samples against time.
    samples
        The table of its samples against time, if it is not the figure's.
    smooth
        Samples over which it is averaged against time.
    """

    content: str | Numbers | Printed
    mode: Mode = "line"
    color: int | None = None
    scale: float = 1.0
    samples: str = ""
    smooth: int = 1


class Named(Look, total=False):
    """The same with name, title and description."""

    key: str
    title: str
    alt: str


Lines = Mapping[str, Line | str | Numbers | Printed]


def lines_of(lines: Lines) -> dict[str, Line]:
    """Return lines by their names."""
    return {title: one if isinstance(one, Line) else Line(one) for title, one in lines.items()}


def color_of(line: Line, of: Where, colors: Mapping[str, int], index: int) -> int:
    """Return the stated colour, otherwise that of one of the runs' values, otherwise that of the line's position."""
    if line.color is not None:
        return line.color
    values = [value for own in of.values() if isinstance(own, tuple) for value in own]
    return next((colors[str(value)] for value in values if str(value) in colors), index)


def against(
    x: str, line: Line, of: Where, runs: pd.DataFrame, cells: Cells, labels: Mapping[Value, str], place: str
) -> tuple[tuple[np.ndarray, ...], str]:
    """Return abscissae, means and bounds of one line, and its points in words."""
    numbers = numbers_of(line.content, cells.runs)
    shared = {name: values for name, values in of.items() if name != x}
    if numbers is None or isinstance(line.content, Printed):
        paper = line.content.paper if isinstance(line.content, Printed) else {}
        printed = [] if numbers is None else cells.all_printed(numbers, shared, paper)
        found = {float(key[x]): value for key, value in printed}
        at, height = np.array(list(found)), np.array(list(found.values()))
        return (line.scale * at, height), _points(at, height)
    numbers = replace(numbers, of={**shared, **numbers.of})
    rows = select(runs, {**of, **numbers.of}, place)
    if x not in runs:
        raise InputError(f"{place}: x: {unknown('column', x, [str(name) for name in runs])}")
    if numbers.quantity in rows:
        rows = rows[rows[numbers.quantity].notna()]
    places = list(dict.fromkeys(rows[x].tolist()))
    if x == SEED:
        pair = pair_at(numbers, RunTable(rows), {}, place)
        height = np.zeros(0) if pair is None else numbers.difference(pair)
        return (np.array(sorted(places)), height), f"{np.mean(height):.5g} on average"
    every = RunTable(runs)
    means = [mean_at(numbers, every, {x: (own,)}, place) for own in places]
    words = bool(places) and isinstance(places[0], str)
    named = [labels.get(own, str(own)) for own in places]
    at = np.array(named) if words else line.scale * np.array(places, dtype=float)
    height, low, high = (np.array([getattr(one, key) for one in means]) for key in ("mean", "low", "high"))
    return (at, height, low, high), _points(at, height)


def _points(x: np.ndarray, y: np.ndarray) -> str:
    return ", ".join(f"{height:.4g} at {at}" for at, height in zip(x.tolist(), y.tolist(), strict=True))


def against_time(
    line: Line, setup: Setup, root: Path, *, table: str, link: str, seed: int, time_range: tuple[float, float] | None
) -> tuple[tuple[np.ndarray, np.ndarray], str]:
    """Return times and samples of one line, and their mean in words; the mean of all runs if `seed` is 0."""
    name = line.content if isinstance(line.content, str) else getattr(line.content, "quantity", "")
    seeds = range(1, setup.seeds + 1) if seed == 0 else (seed,)
    runs = [samples(setup.run_folder(root, one), line.samples or table, name, link) for one in seeds]
    time, first = runs[0]
    y = line.scale * (np.nanmean([own for _, own in runs], axis=0) if len(runs) > 1 else first)
    y = moving(y, line.smooth) if line.smooth > 1 else y
    begin, end = time_range or (time[0], np.inf)
    here = (time >= begin) & (time < end)
    settled = y[time >= setup.plan.warmup_s]
    step = max(1, int(here.sum()) // MAX_POINTS)
    return (time[here][::step], y[here][::step]), f"{np.mean(settled):.3g} with s.d. {np.std(settled):.3g}"


def moving(values: np.ndarray, width: int) -> np.ndarray:
    """Mean over the last `width` samples (fewer at the start).

    >>> moving(np.array([1.0, 3.0, 5.0]), 2)
    array([1., 2., 4.])
    """
    total = np.concatenate([[0.0], np.cumsum(np.nan_to_num(values))])
    end = np.arange(1, len(values) + 1)
    begin = np.maximum(end - width, 0)
    found: np.ndarray = (total[end] - total[begin]) / (end - begin)
    return found
