"""Faults of the words in a figure: letters that are too small, words that touch each other or leave the figure."""

from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from aqmlab.reporting import plots
from aqmlab.reporting.mpl_style import LEAST_POINTS, STYLE

TOUCH_POINTS = 0.3
"""Depth in points by which boxes of letters may overlap: they are a little higher than the letters."""


def faults(chart, size):
    """Draw a chart at a size (None, "column", "wide") and return the faults of its words."""
    look = plots.look(size)
    with mpl.rc_context(STYLE | look.style):
        figure = plots.figure_of(chart, look)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        shown = [(text, text.get_window_extent(canvas.renderer)) for text in words_of(figure)]
        depth = TOUCH_POINTS * figure.dpi / 72
        found = [
            f"{one.get_text()!r} has {one.get_fontsize():.2f} pt"
            for one, _ in shown
            if one.get_fontsize() < LEAST_POINTS
        ]
        width, height = canvas.get_width_height()
        for one, box in shown:
            if min(box.x0, box.y0) < -depth or box.x1 > width + depth or box.y1 > height + depth:
                found.append(f"{one.get_text()!r} leaves the figure")
        for (one, box), (other, near) in combinations(shown, 2):
            across = min(box.x1, near.x1) - max(box.x0, near.x0)
            along = min(box.y1, near.y1) - max(box.y0, near.y0)
            if min(across, along) > depth:
                found.append(f"{one.get_text()!r} and {other.get_text()!r} overlap")
    return found


def words_of(figure):
    """Return the texts of a figure that are seen; labels of ticks outside the view are not."""
    hidden = set()
    for axis in figure.findobj(Axis):
        low, high = sorted(axis.get_view_interval())
        margin = 1e-6 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not axis.get_visible() or not axis.axes.axison or not low - margin <= tick.get_loc() <= high + margin:
                hidden |= {id(tick.label1), id(tick.label2)}
    return [
        one for one in figure.findobj(Text) if one.get_visible() and one.get_text().strip() and id(one) not in hidden
    ]
