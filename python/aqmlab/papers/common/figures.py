"""A paper's figures as ``page.toml`` states them: quantities against a column of the runs, or samples against time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, StorageError, unknown
from aqmlab.figures import MAX_POINTS
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers.common.cells import Printed, by_seed, mean_of, select
from aqmlab.papers.common.checks import one_of
from aqmlab.papers.common.claim_file import SEED
from aqmlab.papers.common.page_file import Figure, Numbers, PageFile
from aqmlab.papers.common.run_table import RunTable
from aqmlab.papers.common.runs import Setup, pick
from aqmlab.results import folders

SAME = tuple({f.name for f in fields(Chart)} & {f.name for f in fields(Figure)} - {"alt", "caption"})
"""Fields that a chart and a figure of ``page.toml`` share."""

THROUGHPUT = "throughput"
"""The table of samples that is made of those of the flows."""


def drawn(
    name: str, page: PageFile, runs: pd.DataFrame, printed: Printed, setups: Sequence[Setup], root: Path
) -> Chart:
    """Return a figure of ``page.toml``.

    Parameters
    ----------
    name, page
        Which one.
    runs
        The table of runs of the chosen reading.
    printed
        The printed numbers.
    setups, root
        All scenarios, and where their runs are: for samples against time.
    """
    figure, place = page.figures[name], f"{page.file}: figure {name}"
    series, words, levels = [], [], []
    for index, (title, numbers) in enumerate(figure.lines.items()):
        at = f"{place}: line {title}"
        if figure.x == SEED and numbers.printed:
            levels.append((printed.number(numbers, {}) or math.nan, title))
            continue
        if figure.samples:
            line, said = _against_time(figure, numbers, setups, root, at)
        else:
            line, said = _against(page, figure, numbers, runs, printed, at)
        color = _color(numbers, page.colors, index)
        x, y, *bounds = line
        low, high = bounds or (None, None)
        series.append(Series(title, x, y, low, high, numbers.mode, color))
        words.append(f"{title} {said}")
    alt = figure.alt or f"{figure.y_label} against {figure.x_label}: {{lines}}."
    return Chart(name, "", alt.replace("{lines}", "; ".join(words)), "", "", series, levels=levels)


def dressed(name: str, chart: Chart, figure: Figure, colors: Mapping[str, int], caption: str) -> Chart:
    """Return a chart with the title, labels and so on that ``page.toml`` states, and its colours."""
    own = {key: value for key in SAME if (value := getattr(figure, key)) not in ("", None, False, [], ())}
    if figure.alt and not figure.lines:
        own["alt"] = figure.alt
    series = chart.series if figure.lines else [replace(s, color=colors.get(s.name, s.color)) for s in chart.series]
    return replace(chart, **own, key=name, series=series, caption=caption or chart.caption)


def _against(
    page: PageFile, figure: Figure, numbers: Numbers, runs: pd.DataFrame, printed: Printed, place: str
) -> tuple[tuple[np.ndarray, ...], str]:
    """Return abscissae, means and bounds of one line, and its points in words."""
    if numbers.printed:
        found = {float(key[figure.x]): value for key, value in printed.numbers(numbers, {})}
        x, y = np.array(list(found)), np.array(list(found.values()))
        return (numbers.scale * x, y), _points(x, y)
    rows = select(runs, {**figure.of, **numbers.of}, place)
    one_of(figure.x, [str(name) for name in runs], f"{place}: x", "column")
    if numbers.quantity in rows:
        rows = rows[rows[numbers.quantity].notna()]
    places = list(dict.fromkeys(rows[figure.x].tolist()))
    if figure.x == SEED:
        y = by_seed(numbers, RunTable(rows), {}, place)
        return (np.array(sorted(places)), y), f"{np.mean(y):.5g} on average"
    every = RunTable(runs)
    means = [mean_of(numbers, every, {figure.x: x}, place) for x in places]
    x = (
        np.array([page.label(figure.x, at) for at in places])
        if isinstance(places[0], str)
        else numbers.scale * np.array(places, dtype=float)
    )
    y, low, high = (np.array([getattr(one, key) for one in means]) for key in ("mean", "low", "high"))
    return (x, y, low, high), _points(x, y)


def _points(x: np.ndarray, y: np.ndarray) -> str:
    return ", ".join(f"{height:.4g} at {at}" for at, height in zip(x.tolist(), y.tolist(), strict=True))


def _against_time(
    figure: Figure, numbers: Numbers, setups: Sequence[Setup], root: Path, place: str
) -> tuple[tuple[np.ndarray, ...], str]:
    """Return times and samples of one line, and their mean in words."""
    of: dict[str, Any] = {name: values[0] for name, values in numbers.of.items()}
    found = pick(setups, **of)
    if len(found) != 1:
        raise InputError(f"{place}: {len(found)} scenarios have {of}; it takes one")
    setup: Setup = found[0]
    seeds = range(1, setup.seeds + 1) if figure.seeds == 0 else (figure.seeds,)
    runs = [
        samples(setup.run_folder(root, seed), numbers.samples or figure.samples, numbers.quantity, figure.link)
        for seed in seeds
    ]
    time, first = runs[0]
    y = numbers.scale * (np.nanmean([own for _, own in runs], axis=0) if len(runs) > 1 else first)
    y = moving(y, numbers.smooth) if numbers.smooth > 1 else y
    begin, end = figure.time_range or (time[0], np.inf)
    here = (time >= begin) & (time < end)
    settled = y[time >= setup.plan.warmup_s]
    step = max(1, int(here.sum()) // MAX_POINTS)
    return (time[here][::step], y[here][::step]), f"{np.mean(settled):.3g} with s.d. {np.std(settled):.3g}"


def samples(folder: Path, table: str, name: str, link: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Return the times in s and the values of one column of a table of samples, or of one gauge of a discipline.

    The table ``throughput`` is made of those of the flows.

    Raises
    ------
    StorageError
        If the run has no such table, column or gauge.
    """
    rows = throughput(folder) if table == THROUGHPUT else table_of(folder, table)
    if link and "link" in rows:
        rows = rows[rows["link"] == link]
    if name in rows:
        return rows["t_s"].to_numpy(), rows[name].to_numpy(dtype=float)
    if "value" not in rows or name not in set(rows["name"]):
        names = sorted(set(rows["name"])) if "value" in rows else [str(column) for column in rows]
        raise StorageError(f"{folder}: table {table}: {unknown('name', name, names)}")
    rows = rows[rows["name"] == name]
    return rows["t_s"].to_numpy(), rows["value"].to_numpy(dtype=float)


def throughput(folder: Path, column: str = "arrived_bytes") -> pd.DataFrame:
    """Throughput over time in Mb/s of each group of flows and in all: a row per bin that ends at ``t_s``."""
    flows = table_of(folder, "flows").set_index("flow")["group"]
    rows = table_of(folder, "flow_samples")
    rows = rows.assign(group=rows["flow"].map(flows))
    by_group = rows.pivot_table(index="t_s", columns="group", values=column, aggfunc="sum")
    rates = by_group.diff().div(np.diff(by_group.index, prepend=np.nan), axis=0).iloc[1:] * 8e-6
    return rates.assign(total=rates.sum(axis=1)).reset_index()


def table_of(folder: Path, name: str) -> pd.DataFrame:
    """Return one table of one run.

    Raises
    ------
    StorageError
        If the run has none.
    """
    found = folders.read_table(folder, name)
    if found is None:
        raise StorageError(f"{folder}: holds no table {name}")
    data: pd.DataFrame = found.to_pandas()
    return data


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


def _color(numbers: Numbers, colors: Mapping[str, int], index: int) -> int:
    """Return the stated colour, otherwise that of one of the line's values, otherwise that of its position."""
    if numbers.color is not None:
        return numbers.color
    named = [colors[str(value)] for values in numbers.of.values() for value in values if str(value) in colors]
    return named[0] if named else index
