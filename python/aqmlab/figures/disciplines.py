"""One metric, discipline beside discipline: points with intervals, bars, boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aqmlab.errors import InputError
from aqmlab.figures.chart import Chart, Mode, Series
from aqmlab.figures.runs import Runs, discipline_at, link_in, named, slug
from aqmlab.results.quantities import quantity

if TYPE_CHECKING:
    from aqmlab.runs.comparison import Comparison


ZEROS = (-0.02, 1.0)
"""Axis of values that are all 0: quantities are not negative."""


def compared(comparison: Comparison, key: str) -> Chart:
    """Means of one metric with their intervals, as points; a discipline a line."""
    return _means(comparison, key, "points")


def bars(comparison: Comparison, key: str) -> Chart:
    """Means of one metric with their intervals, as bars from 0."""
    return _means(comparison, key, "bar")


def spread(runs: Runs, key: str, *, link: str | None = None) -> Chart:
    """Box plot of one metric over the seeds."""
    what, place = quantity(key), link_in(runs, link)
    series = [
        Series(
            name,
            [],
            _values(result.metrics(link=place), key),
            mode="box",
            color=index,
            discipline=discipline_at(result, place),
        )
        for index, (name, result) in enumerate(named(runs).items())
    ]
    return Chart(
        key=f"spread-{slug(key)}",
        title=f"{what.title} over the seeds",
        alt=f"Box plot of {what.title} for {', '.join(named(runs))}.",
        x_label="",
        y_label=what.label,
        series=series,
    )


def _values(table: Any, key: str) -> Any:  # noqa: ANN401 - a pandas table and a numpy array
    if key not in table.columns:
        raise InputError(f"{key} was not measured (there are: {', '.join(table.columns[1:])})")
    return quantity(key).scale * table[key].to_numpy(dtype=float)


def _means(comparison: Comparison, key: str, mode: Mode) -> Chart:
    what = quantity(key)
    rows = comparison.means[comparison.means["metric"] == key].to_dict("records")
    if not rows:
        raise InputError(f"{comparison.name}: {key} was not measured")
    for row in rows:
        row |= {end: what.scale * row[end] for end in ("mean", "low", "high")}
    names = [str(row["aqm"]) for row in rows]
    if mode == "bar":
        mean, low, high = ([row[part] for row in rows] for part in ("mean", "low", "high"))
        series = [Series(what.title, names, mean, low, high, mode="bar")]
    else:
        series = [
            Series(name, [name], [row["mean"]], [row["low"]], [row["high"]], mode=mode, color=index)
            for index, (name, row) in enumerate(zip(names, rows, strict=True))
        ]
    return Chart(
        key=f"{'bars' if mode == 'bar' else 'compare'}-{slug(key)}",
        title=what.title,
        alt="; ".join(f"{row['aqm']}: {row['mean']:.5g} {what.shown_unit}".rstrip() for row in rows),
        x_label="" if mode == "bar" else what.label,
        y_label=what.label if mode == "bar" else "",
        series=series,
        flat=mode != "bar",
        x_range=ZEROS if mode != "bar" and all(row["mean"] == 0 and not row["high"] > 0 for row in rows) else None,
    )
