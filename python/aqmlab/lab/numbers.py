"""Data of runs for the page: the numbers that `aqmlab run` has, and charts as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aqmlab.figures.chart import Chart
from aqmlab.figures.marks import marks
from aqmlab.lab.simulation import Run
from aqmlab.results.metrics import TABLES, metric, run_metrics

Array = np.ndarray[Any, np.dtype[np.float64]]
NUMBERS = ("goodput_mbps", "utilization", "loss", "marks", "mean_queue", "mean_delay_ms", "delay_p95_ms", "jain", "mos",
           "page_load_s", "stalled")  # fmt: skip
SELDOM = ("marks", "mos", "page_load_s", "stalled")
"""Quantities that are left out where no run has them."""
DIGITS = 5


def numbers(run: Run, link: str) -> dict[str, float]:
    """Return the quantities of one run, as `aqmlab run` has them."""
    tables = run.output["tables"]
    columns = {
        key: {name: values if isinstance(values, list) else column(tables[key], name) for name, values in own.items()}
        for key, own in tables.items()
        if key in TABLES
    }
    found = run_metrics(columns, link)
    return {key: float(found.get(key, math.nan)) for key in NUMBERS}


def number_rows(runs: Sequence[Run], values: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """Return the table of numbers: one row for each quantity, one value for each run."""
    rows = []
    for key in NUMBERS:
        shown = [None if math.isnan(own[key]) else own[key] for own in values]
        if key not in SELDOM or any(shown):
            rows.append({**described(key), "values": shown})
    return rows


def described(key: str) -> dict[str, Any]:
    """Return a quantity's description in the table of numbers.

    >>> described("loss")["title"], described("loss")["unit"], described("loss")["digits"]
    ('Loss', '', 5)
    """
    what = metric(key)
    unit = "" if what.unit == "1" else what.unit
    return {"key": key, "title": what.title, "unit": unit, "digits": what.digits, "doc": what.doc}


def column(table: dict[str, Any], name: str) -> Array:
    """Return a numeric column of a table of the core."""
    dtype, data = table[name]
    return np.frombuffer(data, dtype).astype(float)


def chart_data(chart: Chart) -> dict[str, Any]:
    """Return a chart as data for the page."""
    return {
        "key": chart.key,
        "title": chart.title,
        "alt": chart.alt,
        "caption": chart.caption,
        "x_label": chart.x_label,
        "y_label": chart.y_label,
        "x_range": chart.x_range,
        "y_range": chart.y_range,
        "shades": chart.shades,
        "levels": [(finite([height])[0], name) for height, name in chart.levels],
        "series": [
            {"name": s.name, "mode": s.mode, "paint": mark.color, "x": finite(s.x), "y": finite(s.y)}
            for s, mark in zip(chart.series, marks(chart.series), strict=True)
        ],
    }


def finite(values: Any) -> list[float | None]:  # noqa: ANN401 - whatever numpy takes
    """Return numbers with few digits; infinities and NaN become None, JSON's null.

    >>> finite([1234.5678, 0.001234567, float("nan")])
    [1234.6, 0.0, None]
    """
    found = np.asarray(values, dtype=float)
    good = np.isfinite(found)
    size = np.abs(found[good]).max(initial=0.0)
    digits = DIGITS - (math.floor(math.log10(size)) if size > 0 else 0)
    kept: list[float | None] = np.round(found, max(digits - 1, 0)).tolist()
    return kept if good.all() else [value if fine else None for value, fine in zip(kept, good, strict=True)]
