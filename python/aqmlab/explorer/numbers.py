"""What the page gets of runs: the numbers that `aqmlab run` has, and charts as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.explorer.simulation import Run
from aqmlab.plotting.chart import Chart
from aqmlab.plotting.marks import marks
from aqmlab.results.metrics import delay_metrics, flow_metrics, link_metrics, metric

Array = np.ndarray[Any, np.dtype[np.float64]]
NUMBERS = ("goodput_mbps", "utilization", "loss", "marks", "mean_queue", "mean_delay_ms", "delay_p95_ms", "jain")
FLOW_COLUMNS = ("goodput_bps", "mean_rtt_s", "retransmissions", "sent", "timeouts")
"""What `aqmlab.results.metrics` needs of the flows."""
DIGITS = 5


def numbers(run: Run, link: str) -> dict[str, float]:
    """Return the quantities of one run, as `aqmlab run` has them."""
    tables = run.output["tables"]
    links = tables["links"]
    row = links["link"].index(link)
    found = link_metrics({name: column(links, name)[row] for name in links if name not in ("link", "aqm")})
    flows = {name: column(tables["flows"], name) for name in FLOW_COLUMNS}
    found |= flow_metrics(pd.DataFrame({"transport": tables["flows"]["transport"], **flows}))
    delays = tables["delay_histogram"]
    bins = zip(*(column(delays, name).tolist() for name in ("low_s", "high_s", "count")), strict=True)
    rows = [
        {"low_s": low, "high_s": high, "count": count}
        for name, (low, high, count) in zip(delays["link"], bins, strict=True)
        if name == link
    ]
    found |= delay_metrics(rows)
    return {key: float(found.get(key, math.nan)) for key in NUMBERS}


def number_rows(runs: Sequence[Run], values: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """Return the table of numbers: one row for each quantity, one value for each run."""
    rows = []
    for key in NUMBERS:
        what = metric(key)
        shown = [None if math.isnan(own[key]) else own[key] for own in values]
        if key == "marks" and not any(shown):
            continue
        unit = "" if what.unit == "1" else what.unit
        rows.append({"key": key, "title": what.title, "unit": unit, "digits": what.digits, "values": shown,
                     "doc": what.doc})  # fmt: skip
    return rows


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
    """Return numbers with few digits; what is not finite becomes None, JSON's null.

    >>> finite([1234.5678, 0.001234567, float("nan")])
    [1234.6, 0.0, None]
    """
    found = np.asarray(values, dtype=float)
    good = np.isfinite(found)
    size = np.abs(found[good]).max(initial=0.0)
    digits = DIGITS - (math.floor(math.log10(size)) if size > 0 else 0)
    kept: list[float | None] = np.round(found, max(digits - 1, 0)).tolist()
    return kept if good.all() else [value if fine else None for value, fine in zip(kept, good, strict=True)]
