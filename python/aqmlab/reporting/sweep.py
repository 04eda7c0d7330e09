"""The report of a sweep: delay against goodput over all points, then each metric as lines with bands or as maps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aqmlab.figures import parameter_map
from aqmlab.figures.chart import Chart, Mode, Series
from aqmlab.figures.runs import slug
from aqmlab.figures.trade_off import X_LABEL, Y_LABEL
from aqmlab.reporting.fragments import number
from aqmlab.results.quantities import quantity, shown_in
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.sweep import Study, points_text

if TYPE_CHECKING:
    from aqmlab.reporting.page import Page

INDEX = "index.sqlite"
FEWEST_FOR_MAP = 2
MOST_LINES = 8
"""Lines of a chart; where there would be more, the points are drawn without lines."""
MOST_POINTS = 20
"""Points of a chart that are named, where no key of numbers joins them to lines."""
WIDE = 30.0
"""Delays are on a logarithmic axis if the largest is so many times the smallest."""
MOST_MAPS = 4
"""Maps of a metric, one for each combination of the other keys."""
UNITS = {"p": "packets"}
"""Units of scenario files as figures write them."""
RATIO = 3.0
"""An axis is logarithmic if the largest step is so many times as long as the smallest."""


def sweeps_in(folder: Path) -> list[Study]:
    """Return the sweeps of a store of which runs are finished; none if the folder is no store."""
    if not (folder / INDEX).exists():
        return []
    with ResultStore(folder) as store:
        found = [Study.read(store, row) for row in store.studies()]
    return [one for one in found if len(one.runs)]


def sweep_title(study: Study) -> str:
    """Return a title in words that names the varied settings."""
    keys = [short(study, key) for key in study.keys]
    varied = f"{', '.join(keys[:-1])} and {keys[-1]}" if len(keys) > 1 else keys[0]
    return f"{varied} varied: {study.name}"


def sweep_finding(study: Study) -> str:
    """Return the finding in one sentence: between which points delay and goodput lie."""
    points = study.points()
    parts = []
    for key in shown_in("finding"):
        if key not in points or points[key].isna().all():
            continue
        values = points[key].to_numpy(dtype=float)
        what = quantity(key)
        least = "least" if what.better == "lower" else "most"
        place = int(np.nanargmin(values) if least == "least" else np.nanargmax(values))
        unit = "" if what.unit == "1" else f" {what.unit}"
        value = f"{number(float(values[place]), digits=4)}{unit}"
        parts.append(f"{least} {_lower(what.title)} ({value}) at {_point_words(study, points.iloc[place])}")
    runs = f"{len(points)} points, {len(study.seeds)} seed{'' if len(study.seeds) == 1 else 's'} each"
    return f"{_first_up('; '.join(parts))} ({runs})."


def of_sweep(study: Study) -> Iterator[Chart]:
    """Yield the figures of a sweep: delay against goodput, then a line or map chart of each metric."""
    points = study.points()
    trade = trade_off(study, points)
    if trade is not None:
        yield trade
    numbers, words = _kinds(study, points)
    for key in [key for key in shown_in("sweep-report") if key in points and not points[key].isna().all()]:
        if not numbers:
            yield _dots(study, points, key)
        elif len(numbers) == 1:
            yield lines(study, points, key, x=numbers[0], by=words)
        elif len(numbers) == 2 and _is_grid(points, numbers, words):
            yield from maps(study, points, key, numbers, words)
        else:
            for x in numbers:
                yield lines(study, points, key, x=x, by=[one for one in (*numbers, *words) if one != x])


def add_sweep(page: Page, study: Study, *, alone: bool = False) -> None:
    """Add a sweep; `alone` as for a run."""
    charts = list(of_sweep(study))
    begin = page.section if alone else page.heading
    page.section("At a glance" if alone else sweep_title(study))
    if not alone:
        page.text(sweep_finding(study))
    for chart in charts[:1]:
        page.chart(chart, command=_figure_command(page, study, chart.key))
    begin("Evidence")
    for chart in charts[1:]:
        page.chart(chart, command=_figure_command(page, study, chart.key))
    begin("Points")
    points = study.points()
    page.table(points_table(study, points), caption=f"{len(points)} points: means with their 95 % intervals.")
    with page.folded("Every metric with its interval"):
        page.table(points, caption="The columns `_low` and `_high` are the ends of the 95 % intervals.", digits=4)
    begin("How it was made")
    page.text(
        f"aqmlab {study.version}, sweep `{study.name}` with hash `{study.hash[:8]}`, {len(study.runs)} runs. "
        f"All numbers: `aqmlab results export {page.path_to(study.folder)} {study.hash[:8]} --table points "
        "--out points.csv`"
    )


def trade_off(study: Study, points: pd.DataFrame) -> Chart | None:
    """Mean goodput against mean delay, a point a point of the sweep, joined along the first key of numbers.

    Names begin with the discipline, whose marker they get.
    """
    if "goodput_mbps" not in points or points["goodput_mbps"].isna().all():
        return None
    numbers, _ = _kinds(study, points)
    along = numbers[:1]
    by = sorted((key for key in study.keys if key not in along), key=lambda key: not key.endswith(".aqm"))
    series = []
    groups = list(_groups(study, points, by))
    many = len(groups) > (MOST_LINES if along else MOST_POINTS)
    all_delays = points["mean_delay_ms"].to_numpy(dtype=float)
    for index, (name, rows) in enumerate([("all points", points)] if many else groups):
        own = rows.sort_values(along) if along else rows
        mode: Mode = "points" if many or not along else "line"
        delays = own["mean_delay_ms"].to_numpy(dtype=float)
        series.append(Series(name or study.name, delays, *_bounds(own, "goodput_mbps"), mode, color=index))
    joined = f" Points of a line are in the order of {short(study, along[0])}." if along and not many else ""
    return Chart(
        key=slug(f"sweep-{study.name}-trade-off"),
        title="Delay against goodput over all points",
        alt=f"Mean goodput against mean queueing delay, {len(points)} points. {sweep_finding(study)}",
        x_label=X_LABEL,
        y_label=Y_LABEL,
        series=series,
        x_log=bool(all_delays.min() > 0 and all_delays.max() >= WIDE * all_delays.min()),
        caption=f"Better is up and to the left.{joined} Bars: 95 % intervals of the goodput.",
    )


def lines(study: Study, points: pd.DataFrame, key: str, *, x: str, by: Sequence[str]) -> Chart:
    """Return a metric against a key of numbers, a line with a band for each combination of the others."""
    what = quantity(key)
    groups = list(_groups(study, points, by))
    many = len(groups) > MOST_LINES
    series = []
    for index, (name, rows) in enumerate([("all points", points)] if many else groups):
        own = rows.sort_values(x)
        mode: Mode = "points" if many else "line"
        at = own[x].to_numpy(dtype=float)
        series.append(Series(name or what.title, at, *_bounds(own, key), mode, color=index, band=not many))
    words = "; ".join(f"{one.name} {one.y[0]:.4g} to {one.y[-1]:.4g}" for one in series)
    return Chart(
        key=slug(f"sweep-{study.name}-{key}-over-{x}"),
        title=f"{what.title} against {short(study, x)}",
        alt=f"{what.label} against {_label(study, x)}, from the least to the greatest: {words}.",
        x_label=_label(study, x),
        y_label=what.label,
        series=series,
        x_log=_steps_grow(np.sort(points[x].unique().astype(float))),
        caption="Bands: 95 % intervals." if len(study.seeds) > 1 and not many else "",
    )


def maps(study: Study, points: pd.DataFrame, key: str, numbers: Sequence[str], words: Sequence[str]) -> Iterator[Chart]:
    """Yield colours of a metric over two keys of numbers, a map for each combination of the others."""
    x, y = numbers
    what = quantity(key)
    for name, rows in itertools.islice(_groups(study, points, words), MOST_MAPS):
        known = rows.dropna(subset=[key])
        if min(known[x].nunique(), known[y].nunique()) < FEWEST_FOR_MAP:
            continue  # short runs have no value of some metrics
        chart = parameter_map(
            rows, x=x, y=y, value=key, x_label=_label(study, x), y_label=_label(study, y), label=what.label,
            x_log=_steps_grow(np.sort(rows[x].unique())), y_log=_steps_grow(np.sort(rows[y].unique())),
        )  # fmt: skip
        title = f"{what.title} over {short(study, x)} and {short(study, y)}"
        yield replace(
            chart,
            key=slug(f"sweep-{study.name}-{key}-map{f'-{name}' if name else ''}"),
            title=f"{title}: {name}" if name else title,
        )


def points_table(study: Study, points: pd.DataFrame) -> pd.DataFrame:
    """Return the points for reading: the swept keys, then each drawn metric with its interval."""
    shown = shown_in("sweep-report")
    table = points_text(study, points, shown).drop(columns=["point", "n"])
    labels = {key: _label(study, key) for key in study.keys} | {key: quantity(key).label for key in shown}
    return table.rename(columns=labels)


def short(study: Study, key: str) -> str:
    """Return the last word of a dotted key, or the whole key if another one ends alike."""
    last = key.rpartition(".")[2]
    return last if sum(other.rpartition(".")[2] == last for other in study.keys) == 1 else key


def _dots(study: Study, points: pd.DataFrame, key: str) -> Chart:
    """Return a metric of points that differ in words alone, a line of the chart a point."""
    what = quantity(key)
    series = [
        Series(name, [name], *_bounds(rows, key), "points", color=index)
        for index, (name, rows) in enumerate(_groups(study, points, study.keys))
    ]
    return Chart(
        key=slug(f"sweep-{study.name}-{key}"),
        title=what.title,
        alt="; ".join(f"{one.name}: {one.y[0]:.5g} {what.unit}" for one in series),
        x_label=what.label,
        y_label="",
        series=series,
        flat=True,
    )


def _bounds(points: pd.DataFrame, key: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the means of a metric, and the ends of their intervals."""
    mean, low, high = (points[column].to_numpy(dtype=float) for column in (key, f"{key}_low", f"{key}_high"))
    return mean, low, high


def _kinds(study: Study, points: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the keys whose values are numbers, and the others; those of one value count for neither."""
    varied = [key for key in study.keys if points[key].nunique() > 1]
    numbers = [key for key in varied if pd.api.types.is_numeric_dtype(points[key])]
    return numbers, [key for key in varied if key not in numbers]


def _is_grid(points: pd.DataFrame, numbers: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the points are all combinations of their values, at least two of each."""
    sizes = [points[key].nunique() for key in (*numbers, *words)]
    return min(sizes) >= FEWEST_FOR_MAP and int(np.prod(sizes)) == len(points)


def _groups(study: Study, points: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the points of each combination of some keys, named by it; "" if there are no such keys."""
    if not by:
        yield "", points
        return
    for values, rows in points.groupby(list(by), sort=False):
        yield _values_words(study, by, values), rows


def _values_words(study: Study, keys: Sequence[str], values: Sequence[Any]) -> str:
    """Write values with their keys; a value that is a word stands for itself."""
    parts = []
    for key, value in zip(keys, values, strict=True):
        unit = study.units.get(key, "")
        if isinstance(value, str):
            parts.append(value)
        else:
            parts.append(f"{short(study, key)} = {value:g}{f' {UNITS.get(unit, unit)}' if unit else ''}")
    return ", ".join(parts)


def _point_words(study: Study, row: pd.Series[Any]) -> str:
    return _values_words(study, study.keys, [row[key] for key in study.keys])


def _label(study: Study, key: str) -> str:
    unit = study.units.get(key, "")
    return f"{short(study, key)}, {UNITS.get(unit, unit)}" if unit else short(study, key)


def _steps_grow(values: np.ndarray) -> bool:
    """Whether positive values are spread so unevenly that a logarithmic axis shows them better."""
    steps = np.diff(values.astype(float))
    return bool(len(steps) > 1 and values.min() > 0 and steps.max() >= RATIO * steps.min())


def _figure_command(page: Page, study: Study, key: str) -> str:
    return f"aqmlab report {page.path_to(study.folder)} --figure {key}"


def _lower(title: str) -> str:
    return title if title.startswith(("TCP", "RTT")) else title[:1].lower() + title[1:]


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
