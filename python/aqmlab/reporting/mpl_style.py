"""Style of figures for paper, by matplotlib: sizes of letters, lines and markers, and their shapes."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

MARKERS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "triangle-left": "<",
    "triangle-right": ">",
    "cross": "P",
    "x": "X",
    "pentagon": "p",
    "star": "*",
    "hexagon": "h",
}
"""Shapes of points, by their names in plotly."""
SIZES = {"star": 1.6, "x": 1.2, "cross": 1.2, "pentagon": 1.2, "hexagon": 1.15, "diamond": 0.9}
"""Sizes of shapes relative to the circle's, so that all are seen alike."""
DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 1.8)),
    "dot": (0, (1.2, 1.4)),
    "dashdot": (0, (6, 1.6, 1.2, 1.6)),
    "longdash": (0, (10, 2.2)),
}
"""Dashes of lines, by their names in plotly, in line widths."""
LEVELS: tuple[Any, ...] = ((0, (1, 2)), (0, (6, 2.5)), (0, (6, 2, 1, 2)), (0, (12, 3)))
"""Dashes of levels and thresholds, which differ without colour."""
LEVEL_COLOR = "#666c75"
SHADE_COLOR = "#7b828d"
INK = "#010203"
"""Stands for the page's own text colour: in an SVG it becomes ``currentColor``."""
LEAST_POINTS = 7.0
"""Smallest letters, in points: IEEE and ACM ask for about 8, and accept 7."""
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "lines.markersize": 4.5,
    "lines.linewidth": 1.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": SHADE_COLOR,
    "grid.alpha": 0.25,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.handletextpad": 0.5,
    "svg.hashsalt": "aqmlab",
    "svg.fonttype": "none",
    # TrueType: journals of IEEE and ACM reject Type 3.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}
PAPER_STYLE: Any = {
    "font.size": 7.5,
    "lines.markersize": 3.0,
    "lines.linewidth": 1.1,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
}
"""Differences from `STYLE` in a figure for a paper, which is printed at its own size."""


def points(size: float) -> float:
    """Return a size of letters in points, given for the font size of `STYLE`, at the font size in force.

    Letters smaller than `LEAST_POINTS` become that size.

    >>> with mpl.rc_context({"font.size": 7.6}):
    ...     round(points(9.5), 3), points(8.5)
    (7.6, 7.0)
    """
    own = float(mpl.rcParams["font.size"])
    return max(size * own / float(STYLE["font.size"]), min(LEAST_POINTS, own))
