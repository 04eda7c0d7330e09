"""Figures for paper, by matplotlib: PNG and SVG, the same bytes every time.

Every function takes an axis, so it can draw into your own figures:

>>> from matplotlib.figure import Figure
>>> from aqmlab.figures.chart import Chart, Series
>>> chart = Chart("c", "Title", "a rising line", "t, s", "queue, packets", [Series("red", [0, 1], [0, 2])])
>>> draw(Figure().add_subplot(), chart)
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from aqmlab.errors import InputError, unknown
from aqmlab.figures.chart import cell_edges, named_on_axis
from aqmlab.figures.marks import marks
from aqmlab.results.folders import guarded, write_file
from aqmlab.results.outputs import save_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.figures.chart import Chart, Heat, Series
    from aqmlab.figures.marks import Mark

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
SIZE_IN = (7.2, 4.2)
MOST_ENTRIES = 20
"""Entries of a legend on the screen."""
SPARSE = 0.07
"""Distance of the markers on a line of many points, as a share of the axes."""
MM_IN = 1 / 25.4
PAPER_STYLE: Any = {"font.size": 7.5, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6}
"""Differences from `STYLE` in a figure for a paper, which is printed at its own size."""
FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Endings of files, and the metadata that is left out so that the files are the same every time."""
INK = "#010203"
"""Stands for the page's own text colour: in an SVG it becomes ``currentColor``."""
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": "#7b828d",
    "grid.alpha": 0.25,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "aqmlab",
    "svg.fonttype": "none",
    # TrueType: journals of IEEE and ACM reject Type 3.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}


def draw(ax: Axes, chart: Chart) -> None:
    """Draw a chart on an axis; one with panels divides it."""
    if chart.panels:
        _panels(ax, chart)
        return
    # Labels of contour lines are placed by the scales.
    if chart.x_log:
        ax.set_xscale("log")
    if chart.y_log:
        ax.set_yscale("log")
    if chart.heat is not None:
        _heat(ax, chart, chart.heat)
    for low, high, label in chart.shades:
        ax.axvspan(low, high, color="#7b828d", alpha=0.15, lw=0, label=label)
    for height, label in chart.levels:
        ax.axhline(height, color="#7b828d", lw=1, ls=":", label=label)
    for place, label in chart.x_levels:
        ax.axvline(place, color="#7b828d", lw=1, ls="-.", label=label)
    own = dict(zip((id(series) for series in chart.series), marks(chart.series), strict=True))
    boxes = [s for s in chart.series if s.mode == "box"]
    bars = [s for s in chart.series if s.mode == "bar"]
    for series in chart.series:
        if series.mode not in ("box", "bar"):
            _line(ax, series, own[id(series)], outlined=chart.heat is not None, flat=chart.flat)
    _bars(ax, bars, [own[id(series)].color for series in bars])
    _boxes(ax, boxes, [own[id(series)].color for series in boxes])
    if chart.flat:
        ax.invert_yaxis()
    ax.set_xlabel(chart.x_label)
    ax.set_ylabel(chart.y_label)
    ax.set_title(chart.title, loc="left", fontsize=_points(10.5), fontweight="bold")
    if chart.x_range:
        ax.set_xlim(*chart.x_range)
    if chart.y_range:
        ax.set_ylim(*chart.y_range)
    if len(ax.get_legend_handles_labels()[1]) > (0 if chart.heat else 1) and not named_on_axis(chart):
        # On a heat map no place is free.
        below: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, -0.14), "ncols": 3} if chart.heat else {}
        _legend(ax, MOST_ENTRIES, **below)


def _legend(ax: Axes, most: int, **placing: Any) -> None:  # noqa: ANN401 - matplotlib's keywords
    """Put a legend on an axis; of more than `most` entries the last are only counted, so that data have a place."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > most:
        from matplotlib.patches import Patch

        more = len(labels) - most + 1
        handles, labels = [*handles[: most - 1], Patch(alpha=0)], [*labels[: most - 1], f"and {more} more"]
    ax.legend(handles, labels, fontsize=_points(8.5), **placing)


def _panels(ax: Axes, chart: Chart) -> None:
    """Draw each series in a panel of its own, one above the other."""
    count = len(chart.series)
    gap = 0.1
    height = (1 - gap * (count - 1)) / count
    first: Axes | None = None
    for row, series in enumerate(chart.series):
        inset = ax.inset_axes((0, 1 - height - row * (height + gap), 1, height), sharex=first, sharey=first)
        first = first or inset
        middle, last = row == (count - 1) // 2, row == count - 1
        one = replace(
            chart,
            title="",
            series=[series],
            panels=False,
            x_label=chart.x_label if last else "",
            y_label=chart.y_label if middle else "",
        )
        draw(inset, one)
        inset.set_title(series.name, loc="left", fontsize=_points(9), pad=2)
        inset.tick_params(labelbottom=last)
        if (legend := inset.get_legend()) is not None:
            legend.remove()
        if row == 0 and (chart.shades or chart.levels):
            inset.legend(*_unnamed(inset, series.name), fontsize=_points(8), loc="upper right")
    ax.set_axis_off()
    ax.set_title(chart.title, loc="left", fontsize=_points(10.5), fontweight="bold", pad=16)


def _unnamed(ax: Axes, name: str) -> tuple[list[Any], list[str]]:
    """Return the entries of a legend but one."""
    handles, labels = ax.get_legend_handles_labels()
    kept = [(handle, label) for handle, label in zip(handles, labels, strict=True) if label != name]
    return [handle for handle, _ in kept], [label for _, label in kept]


def _points(size: float) -> float:
    """Return a size of letters in points, given for the font size of `STYLE`, at the font size in force.

    >>> with mpl.rc_context({"font.size": 7.6}):
    ...     round(_points(8.5), 3)
    6.8
    """
    return float(size * mpl.rcParams["font.size"] / STYLE["font.size"])


@dataclass(frozen=True)
class Look:
    """How a figure is made: its size in inches, what differs from `STYLE`, dots per inch, columns of its legend."""

    size_in: tuple[float, float] = SIZE_IN
    style: Mapping[str, Any] = field(default_factory=dict)
    dpi: int = 150
    legend_columns: int | None = None

    def paint(self, ax: Axes, chart: Chart) -> None:
        """Draw a chart; for a paper without its title, which the caption has, and with the legend above the axes."""
        if self.legend_columns is None:
            draw(ax, chart)
            return
        draw(ax, replace(chart, title=""))
        legend = ax.get_legend()
        if legend is not None and chart.heat is None:
            above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": self.legend_columns}
            _legend(ax, 4 * self.legend_columns, borderaxespad=0.2, columnspacing=1.2, **above)


SCREEN = Look()
PAPER = {
    "column": Look((88 * MM_IN, 62 * MM_IN), PAPER_STYLE, 300, 3),
    "wide": Look((180 * MM_IN, 90 * MM_IN), PAPER_STYLE, 300, 6),
}
"""Figures for a paper, of the width of one column (88 mm) or of two (180 mm)."""


def look(size: str | None) -> Look:
    """Return how a figure of a size is made: ``column``, ``wide``, or None for the screen.

    >>> [round(length * 25.4) for length in look("column").size_in]
    [88, 62]
    """
    if size is not None and size not in PAPER:
        raise InputError(unknown("size", size, list(PAPER)))
    return SCREEN if size is None else PAPER[size]


def save(chart: Chart, folder: Path, *, size: str | None = None) -> list[Path]:
    """Write a chart as ``<key>.png`` and ``<key>.svg``; `size` as for `save_as`."""
    own = look(size)
    return save_figure(lambda ax: own.paint(ax, chart), folder / file_stem(chart.key), own=own)


def file_stem(key: str) -> str:
    """Return a figure's key as a file name, if it is one; a key with ``/`` or a leading dot would leave the folder."""
    if not key or "/" in key or "\0" in key or key.startswith("."):
        raise InputError(f"figure {key!r}: cannot be a file name (allowed: no / and no . at its beginning)")
    return key


def save_as(chart: Chart, path: Path, *, size: str | None = None) -> Path:
    """Write a chart into one file, in the format that its ending says.

    Parameters
    ----------
    size
        ``column`` (88 mm) or ``wide`` (180 mm): for a paper, with letters of 7.5 points and without a title, which
        the caption has. None: for the screen.
    """
    own = look(size)
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: figures are written as {', '.join(FORMATS)}")
    with mpl.rc_context(STYLE | own.style):
        figure = Figure(figsize=own.size_in, layout="constrained")
        own.paint(figure.add_subplot(), chart)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=path.suffix[1:], dpi=own.dpi, metadata=FORMATS[path.suffix])
    save_output(path, buffer.getvalue())
    return path


def save_figure(
    paint: Callable[[Axes], None],
    stem: Path,
    *,
    size_in: tuple[float, float] = SIZE_IN,
    own: Look | None = None,
    png: bool = True,
) -> list[Path]:
    """Paint on a new figure and write it as PNG (on white) and SVG (transparent, in the page's text colour).

    `own` says how it is made; without it, `SCREEN` with the size in inches. Without `png` only the SVG is written.
    """
    own = own or replace(SCREEN, size_in=size_in)
    with mpl.rc_context(STYLE | own.style):
        figure = Figure(figsize=own.size_in, layout="constrained")
        paint(figure.add_subplot())
        figure.set_dpi(own.dpi)
        canvas: Any = FigureCanvasAgg(figure)
        # `savefig` would draw the figure twice, the first time for its layout alone.
        buffer = io.BytesIO()
        canvas.print_png(buffer, metadata=FORMATS[".png"])
        figure.set_layout_engine("none")  # all is in its place
        files = {".png": buffer.getvalue()} if png else {}
        files[".svg"] = svg_text(figure).encode()
    guarded(stem.parent, lambda: stem.parent.mkdir(parents=True, exist_ok=True))
    paths = {stem.with_name(stem.name + ending): data for ending, data in files.items()}
    for path, data in paths.items():
        guarded(path, partial(write_file, path, data))
    return list(paths)


def svg_text(figure: Figure) -> str:
    """Return a figure as SVG text without date, its ink in the colour of the page around it."""
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        canvas: Any = FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        for ax in figure.axes:
            ax.patch.set_alpha(0)
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    return buffer.getvalue().replace(INK, "currentColor")


def inline_svg(paint: Callable[[Axes], None], size_in: tuple[float, float]) -> Markup:
    """Paint on a new figure and return it as markup for a page."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size_in, layout="constrained")
        paint(figure.add_subplot())
        text = svg_text(figure)
    return Markup(text[text.index("<svg") :])


def _heat(ax: Axes, chart: Chart, heat: Heat) -> None:
    low, high = heat.span
    z = np.ma.masked_invalid(heat.values)
    x, y = cell_edges(heat.x, log=chart.x_log), cell_edges(heat.y, log=chart.y_log)
    # As a bitmap in an SVG too: thousands of cells would make it large, and seams would be seen between them.
    cells = ax.pcolormesh(x, y, z, cmap="cividis", vmin=low, vmax=high, rasterized=True)
    ax.figure.colorbar(cells, ax=ax, label=heat.label)
    if heat.lines:
        levels, colors = zip(*heat.lines, strict=True)
        drawn = ax.contour(heat.x, heat.y, z, levels=levels, colors=colors, linewidths=1, zorder=1.5)
        ax.clabel(drawn, fontsize=_points(8.5), fmt=lambda level: f"{level:g}", zorder=1.6)


def _line(ax: Axes, series: Series, mark: Mark, *, outlined: bool = False, flat: bool = False) -> None:
    errors = series.errors()
    many = len(series.y) > 60
    name = series.name if series.listed else "_" + series.name
    style: dict[str, Any] = {"color": mark.color, "label": name, "lw": 1.1 if many else 1.6}
    shape = MARKERS[mark.marker]
    if series.mode == "dashed":
        style |= {"ls": "--", "marker": None if many else shape, "mfc": "none", "ms": 5}
    elif series.mode == "dotted":
        style |= {"ls": ":", "marker": None if many else (shape if mark.known else "x"), "ms": 5}
    elif series.mode == "steps":
        style["drawstyle"] = "steps-post"
    elif series.mode == "points":
        style |= {"ls": "none", "marker": shape, "ms": 5}
    elif series.mode == "ring":
        style |= {"ls": "none", "marker": "o", "ms": 11, "mfc": "none", "mew": 2}
    elif not many:
        style |= {"marker": shape, "ms": 5}
    if mark.known and series.listed and many and series.mode in ("line", "steps"):
        style |= {"marker": shape, "ms": 5, "markevery": SPARSE}
    if outlined:
        style["path_effects"] = [withStroke(linewidth=style["lw"] + 2, foreground="white")]
    x, y = np.asarray(series.x), np.asarray(series.y, dtype=float)
    if flat:
        ax.errorbar(y, x, xerr=None if errors is None else np.vstack(errors), capsize=2.5, elinewidth=1, **style)
    elif errors is None or series.band:
        ax.plot(x, y, **style)
        if errors is not None:
            ax.fill_between(x, y - errors[0], y + errors[1], color=mark.color, alpha=0.18, lw=0)
    else:
        ax.errorbar(x, y, yerr=np.vstack(errors), capsize=2.5, elinewidth=1, **style)


def _bars(ax: Axes, bars: list[Series], colors: list[str]) -> None:
    if not bars:
        return
    names = [str(x) for x in bars[0].x]
    width = 0.8 / len(bars)
    at = np.arange(len(names))
    for index, series in enumerate(bars):
        errors = series.errors()
        ax.bar(
            at + (index - (len(bars) - 1) / 2) * width,
            np.asarray(series.y, dtype=float),
            width * 0.92,
            color=colors[index],
            label=series.name,
            yerr=None if errors is None else np.vstack(errors),
            error_kw={"ecolor": INK, "capsize": 2.5, "elinewidth": 1},
        )
    ax.set_xticks(at, names)
    ax.grid(visible=False, axis="x")


def _boxes(ax: Axes, boxes: list[Series], colors: list[str]) -> None:
    if not boxes:
        return
    drawn = ax.boxplot(
        [np.asarray(s.y, dtype=float) for s in boxes], tick_labels=[s.name for s in boxes], patch_artist=True
    )
    for patch, color in zip(drawn["boxes"], colors, strict=True):
        patch.set(facecolor=color, alpha=0.5, edgecolor=INK)
    for part in ("medians", "whiskers", "caps"):
        for line in drawn[part]:
            line.set_color(INK)
