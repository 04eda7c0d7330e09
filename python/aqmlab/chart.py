"""A figure as data: drawn on paper by `aqmlab.plots` (matplotlib) and on screen by `aqmlab.charts` (plotly)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Mode = Literal["line", "dashed", "points", "bar", "box"]

PALETTE = ("#2f7fd6", "#cf5f1d", "#1d9268", "#a95bc9", "#d2475a", "#7b828d", "#8a7a12", "#12898f")
"""Line colours: each has a contrast of at least 3.6 to white and to the dark page, and differs for the colour-blind."""


@dataclass(frozen=True)
class Series:
    """One line, row of points, row of bars or box.

    Attributes
    ----------
    name
        What the legend says.
    x, y
        The points; the x of bars may be words, a box has only y.
    low, high
        Confidence bounds of each y, if there are any.
    mode
        How it is drawn.
    color
        Its place in `PALETTE`: the same thing has the same colour in every figure of a report.
    """

    name: str
    x: Sequence[float] | Sequence[str] | np.ndarray
    y: Sequence[float] | np.ndarray
    low: Sequence[float] | np.ndarray | None = None
    high: Sequence[float] | np.ndarray | None = None
    mode: Mode = "line"
    color: int = 0

    @property
    def paint(self) -> str:
        """Return the colour as text."""
        return PALETTE[self.color % len(PALETTE)]

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
class Chart:
    """A figure.

    Attributes
    ----------
    key
        Its file name without the ending.
    title, caption
        Heading, and one sentence below it.
    alt
        What the figure shows, for those who cannot see it.
    x_label, y_label
        Axis labels with units.
    series
        What is drawn.
    x_range, y_range
        Limits of the axes; None lets them fit the data.
    x_log, y_log
        Logarithmic axes.
    shades
        Vertical bands: from, to, label.
    levels
        Horizontal lines: height, label.
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
