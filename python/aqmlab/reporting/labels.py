"""Words beside the data of a figure for paper: legend, names at the ends of lines, levels, clipped peaks."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from aqmlab.figures.chart import named_on_axis
from aqmlab.reporting.mpl_style import DASHES, INK, LEVEL_COLOR, LEVELS, points
from aqmlab.reporting.ticks import LETTER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.figures.chart import Chart, Series

MOST_ENTRIES = 20
"""Entries of a legend."""
MOST_ROWS = 9
PLAIN_ROWS = 5
"""Rows of a legend that a figure has room for; with more, it grows."""
FEW_LINES = 4
"""Lines up to which each may have its name at its end."""
SHORT = 16
"""Letters of a name that stands at the end of a line."""
LINE = 1.3
"""Height of a line of text, as a share of its font size."""
SWING = 3.0
"""A line that rises and falls by more than so many times its range has no name at its end."""


def wrapped(text: str, length_points: float, size: float) -> str:
    r"""Break a text into lines that are no longer than a length.

    >>> wrapped("share of arrivals dropped or marked", 120, 7.5)
    'share of arrivals dropped or\nmarked'
    """
    return textwrap.fill(text, max(8, int(length_points / (LETTER * size))), break_long_words=False)


def size_points(ax: Axes) -> tuple[float, float]:
    """Return width and height of an axis in points, before the layout is known: that of the last drawing."""
    box = ax.get_window_extent()
    return float(box.width * 72 / ax.figure.dpi), float(box.height * 72 / ax.figure.dpi)


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return rising places that are a gap apart, each as near to the given one as its neighbours allow.

    >>> spread([1.0, 1.2, 5.0], 1.0)
    [0.6, 1.6, 5.0]
    """
    groups: list[list[float]] = []
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _first(groups[-1], gap) < _first(groups[-2], gap) + gap * len(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    return [round(_first(group, gap) + gap * n, 12) for group in groups for n in range(len(group))]


def _first(group: Sequence[float], gap: float) -> float:
    """Return the lowest place of a group around its middle."""
    return float(np.mean(group)) - gap * (len(group) - 1) / 2


def ends_of_lines(ax: Axes, chart: Chart) -> dict[str, float]:
    """Return the height at which each line ends, if lines are few, calm, and end apart from each other."""
    shown = [one for one in chart.series if one.listed]
    if not 2 <= len(shown) <= FEW_LINES or chart.heat is not None or chart.flat:
        return {}
    if any(one.mode not in ("line", "steps", "dashed", "dotted") or len(one.name) > SHORT for one in shown):
        return {}
    ends = {}
    for one in shown:
        found = _end(ax, one)
        if found is None:
            return {}
        ends[one.name] = found
    gap = _gap(ax)
    heights = sorted(_to_axis(ax, list(ends.values())))
    return ends if min(np.diff(heights), default=1.0) >= gap else {}


def _end(ax: Axes, one: Series) -> float | None:
    """Return the height of a calm line at the right edge of the axis; None if it ends before or outside."""
    x, y = np.asarray(one.x, dtype=float), np.asarray(one.y, dtype=float)
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 2:
        return None
    x, y = x[known], y[known]
    low, high = ax.get_xlim()
    at = ax.transData.transform([(x[-1], y[-1]), (low, y[-1]), (high, y[-1])])[:, 0]
    if at[0] < at[1] + 0.93 * (at[2] - at[1]) or not min(ax.get_ylim()) <= y[-1] <= max(ax.get_ylim()):
        return None
    swing = float(np.abs(np.diff(y)).sum()) / max(float(np.ptp(y)), 1e-300)
    return float(y[-1]) if swing <= SWING else None


def _gap(ax: Axes) -> float:
    """Return the height of a line of text as a share of the axis; the layout may still take a quarter of it."""
    return LINE * points(8.5) / max(0.72 * size_points(ax)[1], 1.0)


def _to_axis(ax: Axes, heights: Sequence[float]) -> list[float]:
    """Return heights of data as shares of the axis."""
    at = [ax.transData.transform((ax.get_xlim()[0], height))[1] for height in heights]
    return [float(ax.transAxes.inverted().transform((0, one))[1]) for one in at]


def name_beside(ax: Axes, levels: Sequence[tuple[float, str]], ends: dict[str, float], colors: dict[str, str]) -> None:
    """Write the names of levels and of lines at the right of the axis, apart from each other."""
    low, high = sorted(ax.get_ylim())
    room = 0.25 * size_points(ax)[0]
    rows = [
        (height, wrapped(label, room, points(8.5)), INK) for height, label in levels if low <= height <= high and label
    ]
    rows += [(height, name, colors[name]) for name, height in ends.items()]
    if not rows:
        return
    rows.sort(key=lambda row: row[0])
    at = spread(_to_axis(ax, [height for height, *_ in rows]), _gap(ax))
    for place, (_, label, color) in zip(at, rows, strict=True):
        shift = ScaledTranslation(points(8.5) * 0.5 / 72, 0, ax.figure.dpi_scale_trans)
        ax.text(
            1, place, label, transform=ax.transAxes + shift, ha="left", va="center", fontsize=points(8.5), color=color
        )


def draw_levels(ax: Axes, chart: Chart) -> None:
    """Draw horizontal and vertical levels, each with another dash."""
    for index, (height, _) in enumerate(chart.levels):
        ax.axhline(height, color=LEVEL_COLOR, lw=1, ls=LEVELS[index % len(LEVELS)])
    for index, (place, label) in enumerate(chart.x_levels):
        ax.axvline(place, color=LEVEL_COLOR, lw=1, ls=LEVELS[(index + len(chart.levels)) % len(LEVELS)])
        shift = ScaledTranslation(0, points(8.5) * 0.25 / 72, ax.figure.dpi_scale_trans)
        words: dict[str, Any] = {"transform": ax.get_xaxis_transform() + shift, "ha": "center", "va": "bottom"}
        ax.text(place, 1, label, fontsize=points(8.5), clip_on=False, **words)


def draw_peak(ax: Axes, chart: Chart) -> None:
    """Mark the greatest value beyond the scale with an arrow at its place."""
    if chart.clipped is None:
        return
    at, words = chart.clipped
    arrow: dict[str, Any] = {"arrowstyle": "-|>", "color": INK, "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    transform = ax.get_xaxis_transform()
    ax.annotate("", (at, 1.0), (at, 0.9), xycoords=transform, textcoords=transform, arrowprops=arrow)
    ax.annotate(
        words, (at, 0.99), (points(8.5) * 0.6, 0), xycoords=transform, textcoords="offset points", ha="left", va="top",
        fontsize=points(8.5),
    )  # fmt: skip


def legend(ax: Axes, chart: Chart, *, named: bool, entries: dict[str, Any] | None = None, lift: float = 0.0) -> float:
    """Put a legend above an axis if names need one; return its height in points.

    `named` says that the lines have their names at their ends. `entries` are those of panels, by name; `lift` is free
    room above the axis, as a multiple of the font size.
    """
    handles, labels = ax.get_legend_handles_labels() if entries is None else (list(entries.values()), list(entries))
    listed = {one.name for one in chart.series}
    rows = [
        (handle[0] if isinstance(handle, ErrorbarContainer) else handle, label)
        for handle, label in zip(handles, labels, strict=True)
        if not (named and label in listed)
    ]
    alone = len(rows) == 1 and rows[0][1] in listed and chart.heat is None
    if not rows or alone or named_on_axis(chart):
        return 0.0
    size = points(8.5)
    width = 0.9 * ax.figure.bbox.width * 72 / ax.figure.dpi * ax.get_position().width / 0.775
    longest = max(len(label) for _, label in rows)
    columns = max(1, min(len(rows), int(width / ((longest * LETTER + 4.3) * size))))
    most = min(MOST_ENTRIES, MOST_ROWS * columns)
    if len(rows) > most:
        more = len(rows) - most + 1
        rows = [*rows[: most - 1], (Patch(alpha=0), f"and {more} more")]
    columns = min(columns, len(rows))
    names = [wrapped(label, width - 4 * size, size) for _, label in rows]
    extra = lift + (LINE if chart.x_levels else 0.0)
    ax.legend(
        [handle for handle, _ in rows], names, fontsize=size, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns,
        borderaxespad=0.3 + extra, columnspacing=1.2, labelspacing=0.3,
    )  # fmt: skip
    lines = sum(max(name.count("\n") + 1 for name in names[row::columns]) for row in range(-(-len(names) // columns)))
    if lines > PLAIN_ROWS and isinstance(ax.figure, Figure) and len(ax.figure.axes) == 1:
        broad, tall = ax.figure.get_size_inches()
        ax.figure.set_size_inches(broad, tall + (lines - PLAIN_ROWS) * LINE * size / 72)
    return size * (LINE * lines + 1.2 + extra)


def dash_of(name: str) -> Any:  # noqa: ANN401 - as matplotlib's line styles
    """Return a dash by its name in plotly."""
    return DASHES[name]
