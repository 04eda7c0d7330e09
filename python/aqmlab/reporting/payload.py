"""Charts as a page stores them: compressed, with no more digits and points than a screen shows."""

from __future__ import annotations

import base64
import gzip
import json
import math
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from aqmlab.reporting.charts import Figure

DIGITS = 6
"""Significant digits of a number in a chart and in the table below it."""
COLUMNS = 1200
"""Pixel columns of a line: of more points than two in each, the lowest and the highest in each are kept."""
LIBRARY = "vendor/plotly/plotly-cartesian.min.js"
"""The chart library: plotly.js with the traces of plane axes alone."""


def packed(text: str) -> str:
    """Return a text compressed by gzip, in base64; the same text gives the same bytes.

    >>> gzip.decompress(base64.b64decode(packed("a" * 1000))).decode() == "a" * 1000, len(packed("a" * 1000))
    (True, 40)
    """
    return base64.b64encode(gzip.compress(text.encode(errors="backslashreplace"), compresslevel=9, mtime=0)).decode()


def packed_json(data: object) -> str:
    """Return plain data as JSON, compressed as `packed`."""
    return packed(json.dumps(data, separators=(",", ":"), sort_keys=True, allow_nan=False))


@cache
def library() -> str:
    """Return the text of the chart library."""
    return resources.files("aqmlab.reporting").joinpath(LIBRARY).read_text(encoding="utf-8")


@cache
def packed_library() -> str:
    """Return the chart library, compressed as `packed`."""
    return packed(library())


def compact(plot: Figure) -> Figure:
    """Return the traces and the layout of a figure as plain data, rounded to `DIGITS`, long lines thinned."""
    return {"data": [_plain(_thinned(trace)) for trace in plot["data"]], "layout": _plain(plot["layout"])}


def _thinned(trace: dict[str, Any]) -> dict[str, Any]:
    """Return a trace; of a long line from left to right only the points that a screen can show."""
    is_line = trace["type"] == "scatter" and "lines" in trace.get("mode", "") and "fill" not in trace
    if not is_line or "error_y" in trace or "error_x" in trace:
        return trace
    x, y = _numbers(trace["x"]), _numbers(trace["y"])
    if x is None or y is None or len(y) <= 2 * COLUMNS or np.any(np.diff(x) < 0):
        return trace
    kept = kept_points(x, y)
    return {**trace, "x": x[kept], "y": y[kept]}


def kept_points(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the places of the ends of a line and of its lowest and highest point in each of `COLUMNS` columns.

    >>> x = np.arange(10_000.0)
    >>> kept = kept_points(x, np.where(x == 4321, 9.0, np.sin(x)))
    >>> len(kept) <= 2 * COLUMNS + 2, 4321 in kept, int(kept[0]), int(kept[-1])
    (True, True, 0, 9999)
    """
    column = np.minimum((COLUMNS * (x - x[0]) / ((x[-1] - x[0]) or 1.0)).astype(int), COLUMNS - 1)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    missing = np.isnan(y)
    lengths = np.diff(np.append(starts, len(y)))
    found = [np.array([0, len(y) - 1]), np.flatnonzero(missing & ~np.append(missing[1:], False))]  # a gap stays one
    for values, extreme in ((np.where(missing, np.inf, y), np.minimum), (np.where(missing, -np.inf, y), np.maximum)):
        ends = np.repeat(extreme.reduceat(values, starts), lengths)
        at = np.flatnonzero(values == ends)
        found.append(at[np.flatnonzero(np.diff(column[at], prepend=-1))])
    return np.unique(np.concatenate(found))


def _numbers(values: object) -> np.ndarray | None:
    """Return an array of numbers as such; None for words."""
    array = np.asarray(values)
    return array.astype(float) if array.dtype.kind in "fiu" else None


def _plain(value: Any) -> Any:  # noqa: ANN401 - any part of a figure
    """Return a part of a figure as plain data."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return _rounded(float(value))
    return int(value) if isinstance(value, np.integer) else value


def _rounded(value: float) -> float | int | None:
    """Return a number with `DIGITS` significant digits; None for a missing one."""
    if not math.isfinite(value):
        return None
    found = float(f"{value:.{DIGITS}g}")
    return int(found) if found.is_integer() and abs(found) < 1e15 else found
