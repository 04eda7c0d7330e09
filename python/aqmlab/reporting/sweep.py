"""The report of a sweep: delay against goodput over all points, then each metric as lines with bands or as maps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aqmlab.errors import counted, joined
from aqmlab.figures import parameter_map
from aqmlab.figures.chart import Chart, Mode, Series
from aqmlab.figures.runs import slug
from aqmlab.figures.trade_off import X_LABEL, Y_LABEL
from aqmlab.reporting.provenance import program
from aqmlab.results.quantities import difference_of, quantity, shown_in
from aqmlab.runs.comparison_matrix import Cell
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.grid import choice_of, count_tests, grid_table, grid_text, is_choice
from aqmlab.runs.sweeps.sweep import SEED, Study, points_text
from aqmlab.statistics.intervals import LEVEL

if TYPE_CHECKING:
    from aqmlab.reporting.page import Page
    from aqmlab.results.quantities import Quantity

INDEX = "index.sqlite"
FEWEST_FOR_MAP = 2
MOST_LINES = 8
"""Lines of a chart; where there would be more, the points are drawn without lines."""
MOST_POINTS = 20
"""Points of a chart that are named, where no key of numbers joins them to lines."""
WIDE = 30.0
"""Delays are on a logarithmic axis if the largest is so many times the smallest."""
MOST_PANELS = 9
"""Panels of a chart, one for each combination of the keys that have neither the axis nor the lines."""
MOST_TICKS = 8
"""Values of a key up to which the axis has a tick at each, and at no other place."""
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
    varied = joined(keys)
    return f"{varied} varied: {study.name}" if varied else study.name


def sweep_finding(study: Study) -> str:
    """Return the finding in one sentence: the best choice over all conditions, or the range over conditions alone."""
    points = study.points()
    varied = [key for key in study.keys if points[key].nunique() > 1]
    choices = [key for key in varied if is_choice(key)]
    conditions = [key for key in varied if key not in choices]
    found = [key for key in shown_in("finding") if key in points and not points[key].isna().all()]
    if conditions and (not choices or not _is_grid(points, [], varied)):
        parts = [_range_words(study, points, key, conditions) for key in found]
    else:
        parts = [_best_words(study, points, key, choices) for key in found]
    over = f", means over {', '.join(short(study, key) for key in conditions)}" if choices and conditions else ""
    runs = f"{counted(len(points), 'point')}, {counted(len(study.seeds), 'seed')} each{over}"
    return f"{_first_up('; '.join(parts))} ({runs})." if parts else f"{_first_up(runs)}."


def _best_words(study: Study, points: pd.DataFrame, key: str, choices: Sequence[str]) -> str:
    """Say with which choice a metric is least or most, as the mean over the conditions, and whether that is decided."""
    what = quantity(key)
    if len(points) == 1:
        return f"{what.in_sentence} {_with_unit(what, float(points[key].iloc[0]))}"
    chosen = list(choices) or list(study.keys)
    means = points.groupby(chosen, sort=False)[key].mean().dropna()
    means = means.sort_values(ascending=what.better == "lower", kind="stable")
    names = [_values_words(study, chosen, one if isinstance(one, tuple) else (one,)) for one in means.index]
    value = _with_unit(what, float(means.iloc[0]))
    if means.iloc[0] == means.iloc[-1]:
        return f"{what.in_sentence} {value} with all"
    best = f"{'least' if what.better == 'lower' else 'most'} {what.in_sentence} ({value}) with {names[0]}"
    runs = study.runs.groupby([*chosen, SEED], sort=False)[key].mean().unstack(SEED).loc[means.index[:2]]
    return best if _is_decided(key, runs) else f"{best}, not decided against {names[1]}"


def _is_decided(key: str, runs: pd.DataFrame) -> bool:
    """Whether two rows of runs, a column a seed, differ at 5 %."""
    best, second = runs.dropna(axis="columns").to_numpy(dtype=float)
    if len(best) < 2:
        return False
    found = difference_of(key, best, second, level=LEVEL)
    return found.constant or found.difference.p < 1 - LEVEL


def _range_words(study: Study, points: pd.DataFrame, key: str, conditions: Sequence[str]) -> str:
    """Say between which values a metric lies over the conditions, of which none is better."""
    what = quantity(key)
    values = points[key].to_numpy(dtype=float)
    low, high = points.iloc[int(np.nanargmin(values))], points.iloc[int(np.nanargmax(values))]
    ends = [
        f"{_with_unit(what, float(row[key]))} at {_values_words(study, study.keys, [row[one] for one in study.keys])}"
        for row in (low, high)
    ]
    return f"{what.in_sentence} from {ends[0]} to {ends[1]}"


def _with_unit(what: Quantity, value: float) -> str:
    return f"{Cell.of(what.key, value, math.nan, math.nan).estimate}{what.unit_words}"


def of_sweep(study: Study, metrics: Sequence[str] | None = None) -> Iterator[Chart]:
    """Yield the figures of a sweep: delay against goodput, then a line or map chart of each metric.

    `metrics` are the keys of the metrics; default: those of the report.
    """
    points = study.points()
    trade = trade_off(study, points)
    if trade is not None and metrics is None:
        yield trade
    numbers, words = _kinds(study, points)
    wanted = shown_in("sweep-report") if metrics is None else metrics
    for key in [key for key in wanted if key in points and not points[key].isna().all()]:
        if not numbers:
            yield _dots(study, points, key)
        elif len(numbers) == 2 and not words and _is_grid(points, numbers, words):
            yield from maps(study, points, key, numbers)
        elif len(numbers) == 1 or _is_grid(points, numbers, words):
            x, by, panels = layout(points, numbers, words)
            yield lines(study, points, key, x=x, by=by, panels=panels)
        else:
            for x in numbers:
                yield lines(study, points, key, x=x, by=[one for one in (*numbers, *words) if one != x])


def layout(points: pd.DataFrame, numbers: Sequence[str], words: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Choose the key on the axis, those that name lines, and those that name panels.

    The key of numbers with the most values is on the axis. Disciplines are lines, in one colour each everywhere; if
    there are none, the key with the fewest values. One key has panels, and more have where lines would be too many.
    """
    count = {key: points[key].nunique() for key in (*numbers, *words)}
    x = max(numbers, key=lambda key: count[key])
    disciplines = [key for key in words if key.endswith(".aqm")]
    rest = [key for key in (*words, *numbers) if key != x and key not in disciplines]
    by = disciplines or [min(rest, key=lambda key: count[key])] if rest or disciplines else []
    rest = [key for key in rest if key not in by]
    panels: list[str] = []
    for key in sorted(rest, key=lambda key: count[key]):
        inside = int(np.prod([count[one] for one in panels])) * count[key]
        too_many = int(np.prod([count[one] for one in by])) * count[key] > MOST_LINES
        if inside <= MOST_PANELS and (not panels or too_many):
            panels.append(key)
        else:
            by.append(key)
    return x, by, panels


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
    points = study.points()
    if _is_compared(study, points):
        begin("Differences")
        grid = grid_table(study)
        first = points[choice_of(study)].iloc[0]
        page.table(
            grid_text(study, grid),
            caption=f"Means with 95 % intervals. Arrows: higher or lower than {first} at the same condition (5 %, "
            f"Holm's correction over all {count_tests(grid)} tests); no arrow: undecided. For LaTeX: `aqmlab results "
            f"export {page.path_to(study.folder)} {study.hash[:8]} --table grid --out grid.tex`",
        )
    begin("Points")
    page.table(
        points_table(study, points), caption=f"{counted(len(points), 'point')}: means with their 95 % intervals."
    )
    with page.folded("Every metric with its interval"):
        page.table(points, caption="The columns `_low` and `_high` are the ends of the 95 % intervals.", digits=4)
    begin("How it was made")
    page.text(
        f"aqmlab {study.version}, sweep `{study.name}` with hash `{study.hash[:8]}`, {len(study.runs)} runs. "
        f"All numbers: `aqmlab results export {page.path_to(study.folder)} {study.hash[:8]} --table points "
        "--out points.csv`"
    )


def _is_compared(study: Study, points: pd.DataFrame) -> bool:
    """Whether disciplines are compared at several conditions, with runs enough for a test."""
    numbers, words = _kinds(study, points)
    disciplines = [key for key in words if key.endswith(".aqm")]
    return len(disciplines) == 1 and len(study.seeds) > 1 and _is_grid(points, numbers, words)


def trade_off(study: Study, points: pd.DataFrame) -> Chart | None:
    """Mean goodput against mean delay, a point a point of the sweep, joined along the first key of numbers.

    Names begin with the discipline, whose colour and marker they get. Where lines would be too many, the points of a
    discipline have one name.
    """
    if "goodput_mbps" not in points or points["goodput_mbps"].isna().all():
        return None
    numbers, _ = _kinds(study, points)
    along = numbers[:1]
    by = sorted((key for key in study.keys if key not in along), key=lambda key: not key.endswith(".aqm"))
    series = []
    groups = list(_groups(study, points, by))
    many = len(groups) > (MOST_LINES if along else MOST_POINTS)
    disciplines = [key for key in by if key.endswith(".aqm") and points[key].nunique() > 1]
    if many:
        groups = [(name or "all points", rows) for name, rows in _groups(study, points, disciplines)]
    all_delays = points["mean_delay_ms"].to_numpy(dtype=float)
    for index, (name, rows) in enumerate(groups):
        own = rows.sort_values(along) if along else rows
        mode: Mode = "points" if many or not along else "line"
        delays = own["mean_delay_ms"].to_numpy(dtype=float)
        series.append(Series(name or study.name, delays, *_bounds(own, "goodput_mbps"), mode, color=index))
    joined = f" Points of a line are in the order of {short(study, along[0])}." if along and not many else ""
    return Chart(
        key=slug(f"sweep-{study.name}-trade-off"),
        title="Delay against goodput over all points",
        alt=f"Mean goodput against mean queueing delay, {counted(len(points), 'point')}. {sweep_finding(study)}",
        x_label=X_LABEL,
        y_label=Y_LABEL,
        series=series,
        x_log=bool(all_delays.min() > 0 and all_delays.max() >= WIDE * all_delays.min()),
        caption=f"Better is up and to the left.{joined} Bars: 95 % intervals of the goodput.",
    )


def lines(
    study: Study, points: pd.DataFrame, key: str, *, x: str, by: Sequence[str], panels: Sequence[str] = ()
) -> Chart:
    """Return a metric against a key of numbers, a line with a band for each combination of the others.

    `panels` are the keys of which each combination has a panel.
    """
    what = quantity(key)
    names = list(dict.fromkeys(name for name, _ in _groups(study, points, by)))
    many = len(names) > MOST_LINES
    series = []
    for panel, inside in _groups(study, points, panels):
        for name, rows in [("all points", inside)] if many else _groups(study, inside, by):
            own = rows.sort_values(x)
            mode: Mode = "points" if many else "line"
            at, place = own[x].to_numpy(dtype=float), 0 if many else names.index(name)
            title = name or what.title
            series.append(Series(title, at, *_bounds(own, key), mode, color=place, band=not many, panel=panel))
    words = "; ".join(
        f"{one.panel + ', ' if one.panel else ''}{one.name} {one.y[0]:.4g} to {one.y[-1]:.4g}" for one in series
    )
    run = np.sort(points[x].unique().astype(float))
    said = ["Bands: 95 % intervals."] if len(study.seeds) > 1 and not many else []
    said += [f"Panels: {', '.join(short(study, one) for one in panels)}."] if panels else []
    return Chart(
        key=slug(f"sweep-{study.name}-{key}-over-{x}"),
        title=f"{what.title} against {short(study, x)}",
        alt=f"{what.label} against {_label(study, x)}, from the least to the greatest: {words}.",
        x_label=_label(study, x),
        y_label=what.label,
        series=series,
        x_log=_steps_grow(run),
        x_ticks=[float(one) for one in run] if len(run) <= MOST_TICKS else (),
        caption=" ".join(said),
    )


def maps(study: Study, points: pd.DataFrame, key: str, numbers: Sequence[str]) -> Iterator[Chart]:
    """Yield the map of a metric over two keys of numbers, as colours with the printed means where values are few."""
    x, y = numbers
    what = quantity(key)
    known = points.dropna(subset=[key])
    if min(known[x].nunique(), known[y].nunique()) < FEWEST_FOR_MAP:
        return  # short runs have no value of some metrics
    chart = parameter_map(
        points.assign(**{key: what.scale * points[key]}),
        x=x,
        y=y,
        value=key,
        x_label=_label(study, x),
        y_label=_label(study, y),
        label=what.label,
        x_log=_steps_grow(np.sort(points[x].unique())),
        y_log=_steps_grow(np.sort(points[y].unique())),
    )
    title = f"{what.title} over {short(study, x)} and {short(study, y)}"
    yield replace(chart, key=slug(f"sweep-{study.name}-{key}-map"), title=title)


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
        alt="; ".join(f"{one.name}: {one.y[0]:.5g} {what.shown_unit}".rstrip() for one in series),
        x_label=what.label,
        y_label="",
        series=series,
        flat=True,
    )


def _bounds(points: pd.DataFrame, key: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the means of a metric, and the ends of their intervals, as they are shown: shares in %."""
    scale, columns = quantity(key).scale, (key, f"{key}_low", f"{key}_high")
    mean, low, high = (scale * points[column].to_numpy(dtype=float) for column in columns)
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


def _label(study: Study, key: str) -> str:
    unit = study.units.get(key, "")
    return f"{short(study, key)}, {UNITS.get(unit, unit)}" if unit else short(study, key)


def _steps_grow(values: np.ndarray) -> bool:
    """Whether positive values are spread so unevenly that a logarithmic axis shows them better."""
    steps = np.diff(values.astype(float))
    return bool(len(steps) > 1 and values.min() > 0 and steps.max() >= RATIO * steps.min())


def _figure_command(page: Page, study: Study, key: str) -> str:
    return f"{program(page)} report {page.path_to(study.folder)} --figure {key}"


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
