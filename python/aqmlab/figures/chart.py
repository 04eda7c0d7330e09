"""A figure as data: `plots` (matplotlib) draws it for paper, `charts` (plotly.js) for the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from aqmlab.results.displays import Shown

Mode = Literal["line", "dashed", "dotted", "steps", "points", "ring", "bar", "box"]


@dataclass(frozen=True)
class Series:
    """One line, row of points, row of bars or box.

    Attributes
    ----------
    name
        Name in the legend.
    x, y
        The points; the x of bars may be words, a box has only y.
    low, high
        Confidence bounds of each y, if there are any.
    mode
        How it is drawn. Steps hold a value until the next point; a ring is a wide circle around a point.
    color
        Its place in `aqmlab.figures.marks.PALETTE`, unless it is of a discipline, which has its own colour and marker.
    discipline
        The discipline of which it is, where its name does not say it.
    panel
        Name of the panel in which it is, in a chart of several.
    listed
        Whether the legend names it; not where another series of the same name is its other part.
    band
        Draw the bounds of a line as a band, not as error bars.
    """

    name: str
    x: Sequence[float] | Sequence[str] | np.ndarray
    y: Sequence[float] | np.ndarray
    low: Sequence[float] | np.ndarray | None = None
    high: Sequence[float] | np.ndarray | None = None
    mode: Mode = "line"
    color: int = 0
    listed: bool = True
    band: bool = False
    discipline: str = ""
    panel: str = ""

    def errors(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Lengths of the error bars below and above, or None if no point has any."""
        if self.low is None or self.high is None:
            return None
        y = np.asarray(self.y, dtype=float)
        below, above = y - np.asarray(self.low, dtype=float), np.asarray(self.high, dtype=float) - y
        if np.isnan(below).all():
            return None
        return np.nan_to_num(below), np.nan_to_num(above)


@dataclass(frozen=True)
class Heat:
    """Values over a plane, drawn as colours below the series.

    The colours (cividis) go from dark to bright with the value, so that they can be told apart without colour too.

    Attributes
    ----------
    x, y
        Where the values are, rising.
    z
        The values: one row for each y, one column for each x; values that are not finite are left blank.
    label
        Quantity that the colours show, with unit.
    levels
        Values at which a line is drawn that bears its value.
    """

    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    z: Sequence[Sequence[float]] | np.ndarray
    label: str
    levels: Sequence[float] = ()

    def __post_init__(self) -> None:
        for name, values in (("x", self.x), ("y", self.y)):
            if len(values) < 2 or not (np.diff(np.asarray(values, dtype=float)) > 0).all():
                raise ValueError(f"{name} of a heat map must be two or more values that rise")
        shape, due = np.shape(self.z), (len(self.y), len(self.x))
        if shape != due:
            raise ValueError(
                f"z of a heat map has the shape {shape}, not one row for each y and one column for x: {due}"
            )

    @property
    def values(self) -> np.ndarray:
        """Return z as numbers, nan where it is blank."""
        z = np.asarray(self.z, dtype=float)
        return np.where(np.isfinite(z), z, np.nan)

    @property
    def span(self) -> tuple[float, float]:
        """Return the least and the greatest value, which are the ends of the colours; 0 and 1 if all are blank."""
        found = self.values[np.isfinite(self.values)]
        return (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)

    @property
    def lines(self) -> list[tuple[float, str]]:
        """Return the levels between the least and the greatest value, each with a colour seen on its own."""
        low, high = self.span
        inside = sorted(float(level) for level in set(self.levels) if low < level < high)
        return [(level, "#ffffff" if level - low < (high - level) else "#000000") for level in inside]


def cell_edges(centres: Sequence[float] | np.ndarray, *, log: bool = False) -> np.ndarray:
    """Return the borders of cells, halfway between their centres as the axis shows it.

    >>> cell_edges([1, 2, 4]).tolist(), cell_edges([1, 100], log=True).round(9).tolist()
    ([0.5, 1.5, 3.0, 5.0], [0.1, 10.0, 1000.0])
    """
    at = np.asarray(centres, dtype=float)
    at = np.log10(at) if log else at
    half = np.diff(at) / 2
    edges = np.concatenate([[at[0] - half[0]], at[:-1] + half, [at[-1] + half[-1]]])
    return 10.0**edges if log else edges


@dataclass(frozen=True, repr=False)
class Chart(Shown):
    """A figure.

    Attributes
    ----------
    key
        Its file name without the ending.
    title, caption
        Heading, and one sentence below it.
    alt
        Description of the figure for users of screen readers.
    x_label, y_label
        Axis labels with units.
    series
        The series to draw.
    x_range, y_range
        Limits of the axes; None lets them fit the data.
    x_log, y_log
        Logarithmic axes.
    shades
        Vertical bands: from, to, label.
    levels
        Horizontal lines: height, label.
    x_levels
        Vertical lines: place, label.
    heat
        Values over the plane, drawn below everything else.
    panels
        Small multiples: each series has a panel of its own, one above the other, with shared axes. Where series name
        their panels, those stand beside each other.
    flat
        Points lie: their x, which are words, are on the vertical axis, the first at the top.
    x_ticks
        Values that have a tick on the horizontal axis; none: round values.
    clipped
        Place on the horizontal axis of the greatest value above `y_range`, and words for it.
    """

    key: str
    title: str
    alt: str
    x_label: str
    y_label: str
    series: list[Series]
    caption: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    x_log: bool = False
    shades: list[tuple[float, float, str]] = field(default_factory=list)
    levels: list[tuple[float, str]] = field(default_factory=list)
    y_log: bool = False
    heat: Heat | None = None
    panels: bool = False
    x_levels: list[tuple[float, str]] = field(default_factory=list)
    flat: bool = False
    x_ticks: Sequence[float] = ()
    clipped: tuple[float, str] | None = None

    def __repr__(self) -> str:
        """Say in a line what it is; its points would fill pages.

        >>> Chart("queue", "The queue", "", "time, s", "packets", [Series("red", [0], [1])])
        <Chart queue: The queue; packets against time, s; 1 series>
        """
        return f"<Chart {self.key}: {self.title}; {self.y_label} against {self.x_label}; {len(self.series)} series>"


MOST_CELLS = 8
"""Values of an axis up to which a heat map has cells of equal size with printed numbers."""


def is_table(chart: Chart) -> bool:
    """Whether a heat map has few values: equal cells with their numbers, each value a category."""
    heat = chart.heat
    return heat is not None and not chart.series and not heat.levels and max(len(heat.x), len(heat.y)) <= MOST_CELLS


def panels_of(chart: Chart) -> list[tuple[str, list[Series]]]:
    """Return the panels of a chart with the series of each; none if it has no panels."""
    if chart.panels:
        return [(one.name, [one]) for one in chart.series]
    found: dict[str, list[Series]] = {}
    for one in chart.series:
        found.setdefault(one.panel, []).append(one)
    return list(found.items()) if len(found) > 1 else []


def named_on_axis(chart: Chart) -> bool:
    """Whether an axis names the series, so that no legend has to."""
    return all(series.mode == "box" or (series.mode == "points" and _is_words(series.x)) for series in chart.series)


def _is_words(values: Sequence[float] | Sequence[str] | np.ndarray) -> bool:
    return len(values) > 0 and isinstance(values[0], str)
