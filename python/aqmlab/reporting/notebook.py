"""HTML of results, comparisons, sweeps and figures in a notebook: a title, a figure and a table.

Figures are SVG, so that they need no script and are there when a saved notebook is opened again.
"""

from __future__ import annotations

import html as escaping
from functools import singledispatch

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from aqmlab.errors import InputError, counted
from aqmlab.figures import compared, pareto_front, queue_against_time
from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting.compare import matrix_table
from aqmlab.reporting.mpl_style import STYLE
from aqmlab.reporting.plots import SIZE_IN, draw, svg_text
from aqmlab.results.quantities import quantity, shown_in
from aqmlab.results.result import Result
from aqmlab.results.summary import level_words
from aqmlab.runs.comparison import Comparison
from aqmlab.runs.sweeps.sweep import Study, points_text

MOST_POINTS = 20
"""Points of a sweep that the table shows."""


@singledispatch
def html(shown: object) -> str:
    """Return the HTML that a notebook shows for an object."""
    raise TypeError(f"no page for {type(shown).__name__}")


@html.register
def _(chart: Chart) -> str:
    with rc_context(STYLE):
        figure = Figure(figsize=SIZE_IN, layout="constrained")
        draw(figure.add_subplot(), chart)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        svg = svg_text(figure)
    picture = svg[svg.index("<svg") :].replace("<svg", '<svg style="max-width: 100%; height: auto"', 1)
    label = escaping.escape(chart.alt or chart.title)
    return f'<figure role="img" aria-label="{label}" style="margin: 0; max-width: 48em">{picture}</figure>'


@html.register
def _(result: Result) -> str:
    count = len(result.seeds)
    title = f"{result.name}: link {result.bottleneck}, {counted(count, 'seed')}"
    table = result.summary()
    table["metric"] = [quantity(key).title for key in table["metric"]]
    return _page(title, _queue_of(result), table, level_words(count, result.level, distinct=result.distinct_runs))


@html.register
def _(found: Comparison) -> str:
    table = matrix_table(found.matrix())
    note = f"Means over {counted(len(found.seeds), 'seed')} at link {found.link}"
    return _page(f"{found.name}: {found.answer()}", _means_of(found), table, note)


@html.register
def _(study: Study) -> str:
    points = study.points()
    title = f"{study.name}: {counted(len(points), 'point')}, {counted(len(study.runs), 'run')}"
    metrics = [key for key in shown_in("notebook") if key in points.columns]
    table = points_text(study, points.head(MOST_POINTS), metrics)
    rest = f"{counted(len(points) - MOST_POINTS, 'point')} more: .points() has all" if len(points) > MOST_POINTS else ""
    table = table.rename(columns={key: quantity(key).label for key in metrics})
    return _page(title, _line_of(study, points, metrics), table, rest)


def _page(title: str, chart: Chart | None, table: pd.DataFrame, note: str) -> str:
    parts = [f"<p><strong>{escaping.escape(title)}</strong></p>"]
    parts += [html(chart)] if chart is not None else []
    parts.append(table.to_html(index=False, border=0, float_format=lambda value: f"{value:.4g}", na_rep="-"))
    parts += [f"<p>{escaping.escape(note)}</p>"] if note else []
    return "\n".join(parts)


def _queue_of(result: Result) -> Chart | None:
    """Return the queue of the first run, if it was sampled."""
    try:
        return queue_against_time(result.of_seed(result.seeds[0]))
    except InputError:  # without probe.queue_interval there is nothing to draw
        return None


def _means_of(found: Comparison) -> Chart:
    """Return goodput against delay; without TCP flows the first metric there is."""
    known = set(found.means["metric"])
    if {"mean_delay_ms", "goodput_mbps"} <= known:
        return pareto_front(found)
    return compared(found, next(key for key in shown_in("notebook") if key in known))


def _line_of(study: Study, points: pd.DataFrame, metrics: list[str]) -> Chart | None:
    """Return the first metric against the first key, if that has numbers: a line for each value of the others."""
    if not study.keys or not metrics or not pd.api.types.is_numeric_dtype(points[study.keys[0]]):
        return None
    key, *others = study.keys
    what = quantity(metrics[0])
    groups = points.groupby(others, sort=False) if others else [(("",), points)]
    series = []
    for number, (values, rows) in enumerate(groups):
        name = ", ".join(f"{other} {value}" for other, value in zip(others, values, strict=False)) or what.title
        rows = rows.sort_values(key)
        y, low, high = (what.scale * rows[f"{what.key}{end}"].to_numpy(dtype=float) for end in ("", "_low", "_high"))
        x = np.asarray(rows[key], dtype=float)
        series.append(Series(name, x, y, low=low, high=high, color=number))
    unit = f", {study.units[key]}" if study.units[key] else ""
    title = f"{what.title} against {key}"
    return Chart("sweep", title, f"{title}: {counted(len(series), 'line')}", f"{key}{unit}", what.label, series)
