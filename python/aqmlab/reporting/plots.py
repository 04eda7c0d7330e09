"""Figures for paper, by matplotlib: PNG and SVG, the same bytes every time.

Every function takes an axis, so it can draw into your own figures:

>>> from matplotlib.figure import Figure
>>> from aqmlab.figures.chart import Chart, Series
>>> chart = Chart("c", "Title", "a rising line", "t, s", "queue, packets", [Series("red", [0, 1], [0, 2])])
>>> draw(Figure().add_subplot(), chart)
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
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
from aqmlab.figures.chart import cell_edges, is_table, panels_of
from aqmlab.figures.marks import marks
from aqmlab.reporting import labels
from aqmlab.reporting.mpl_style import INK, MARKERS, PAPER_STYLE, SHADE_COLOR, SIZES, STYLE, points
from aqmlab.reporting.ticks import DIGIT, LETTER, place_ticks, words
from aqmlab.results.folders import guarded, make_folder, write_file
from aqmlab.results.outputs import save_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.figures.chart import Chart, Heat, Series
    from aqmlab.figures.marks import Mark

SIZE_IN = (7.2, 4.2)
SPARSE = 9
"""Markers on a line of more points than that, evenly along the horizontal axis."""
MM_IN = 1 / 25.4
PANELS_ACROSS = {"column": 2, "wide": 4, None: 3}
"""Panels beside each other, by the size of the figure."""
FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Endings of files, and the metadata that is left out so that the files are the same every time."""


def draw(ax: Axes, chart: Chart, *, across: int = PANELS_ACROSS[None]) -> None:
    """Draw a chart on an axis; one with panels divides it, with so many panels beside each other."""
    found = panels_of(chart)
    if found:
        _panels(ax, chart, found, 1 if chart.panels else min(across, len(found)))
        return
    own = dict(zip((id(series) for series in chart.series), marks(chart.series), strict=True))
    _draw(ax, chart, own)


def _draw(ax: Axes, chart: Chart, own: Mapping[int, Mark], *, alone: bool = True) -> None:
    """Draw a chart without panels; not `alone` without names: it is one of several."""
    # Labels of contour lines are placed by the scales. Cells of equal size have none.
    if chart.x_log and not is_table(chart):
        ax.set_xscale("log")
    if chart.y_log and not is_table(chart):
        ax.set_yscale("log")
    if chart.heat is not None:
        _heat(ax, chart, chart.heat)
    for low, high, label in chart.shades:
        ax.axvspan(low, high, color=SHADE_COLOR, alpha=0.15, lw=0, label=label)
    boxes = [s for s in chart.series if s.mode == "box"]
    bars = [s for s in chart.series if s.mode == "bar"]
    lines = [s for s in chart.series if s.mode not in ("box", "bar")]
    single = sum(s.listed for s in lines) == 1
    for place, series in enumerate(lines):
        _line(ax, series, own[id(series)], place, outlined=chart.heat is not None, flat=chart.flat, single=single)
    _bars(ax, bars, [own[id(series)].color for series in bars])
    _boxes(ax, boxes, [own[id(series)].color for series in boxes])
    if chart.flat:
        ax.invert_yaxis()
    if chart.x_range:
        ax.set_xlim(*chart.x_range)
    if chart.y_range:
        ax.set_ylim(*chart.y_range)
    labels.draw_levels(ax, chart)
    worded = "y" if chart.flat else "x" if boxes or bars or _is_worded(lines) else ""
    if not is_table(chart):
        place_ticks(ax, x_log=chart.x_log, y_log=chart.y_log, x_values=chart.x_ticks, words_on=worded)
    if alone:
        _words_around(ax, chart, own)


def _words_around(ax: Axes, chart: Chart, own: Mapping[int, Mark]) -> None:
    """Write labels of the axes, title, legend and names beside the data."""
    width, height = labels.size_points(ax)
    size = float(mpl.rcParams["font.size"])
    ax.set_xlabel(labels.wrapped(chart.x_label, width, size))
    ax.set_ylabel(labels.wrapped(chart.y_label, 0.85 * height, size))
    ends = labels.ends_of_lines(ax, chart)
    colors = {one.name: own[id(one)].color for one in chart.series}
    labels.name_beside(ax, chart.levels, ends, colors)
    labels.draw_peak(ax, chart)
    above = labels.legend(ax, chart, named=bool(ends))
    if chart.title:
        ax.set_title(chart.title, loc="left", fontsize=points(10.5), fontweight="bold", pad=above + 0.5 * size)


def _is_worded(lines: Sequence[Series]) -> bool:
    return any(len(one.x) > 0 and isinstance(one.x[0], str) for one in lines)


def _panels(ax: Axes, chart: Chart, found: Sequence[tuple[str, list[Series]]], across: int) -> None:
    """Draw panels with shared axes, row by row, and the names of all lines above."""
    own = dict(zip((id(series) for series in chart.series), marks(chart.series), strict=True))
    size = float(mpl.rcParams["font.size"])
    width_points, height_points = labels.size_points(ax)
    rows = -(-len(found) // across)
    gap_x, gap_y = 0.05, 2.0 * size / max(height_points, 1.0)
    width, height = (1 - gap_x * (across - 1)) / across, (1 - gap_y * (rows - 1)) / rows
    first: Axes | None = None
    for place, (name, series) in enumerate(found):
        row, column = divmod(place, across)
        at = (column * (width + gap_x), 1 - height - row * (height + gap_y), width, height)
        inset = ax.inset_axes(at, sharex=first, sharey=first)
        first = first or inset
        _draw(inset, replace(chart, series=series), own, alone=False)
        inset.set_title(labels.wrapped(name, width * width_points, size), loc="left", fontsize=points(9), pad=2)
        lowest = place + across >= len(found)
        inset.tick_params(labelbottom=lowest, labelleft=column == 0)
        if column == across - 1 or place == len(found) - 1:
            labels.name_beside(inset, chart.levels, {}, {})
    assert first is not None, "a chart with panels has some"
    x_label = labels.wrapped(chart.x_label, width_points, size)
    y_label = labels.wrapped(chart.y_label, 0.85 * height_points, size)
    if across == 1:
        ax.child_axes[-1].set_xlabel(x_label)
        ax.child_axes[(rows - 1) // 2].set_ylabel(y_label)
    else:
        longest = max(map(len, words(np.asarray(first.yaxis.get_majorticklocs()))), default=1)
        ax.set_xlabel(x_label, labelpad=2.0 * size)
        ax.set_ylabel(y_label, labelpad=(longest * DIGIT + 1.3) * size)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    seen: dict[str, Any] = {}
    titles = {name for name, _ in found} if chart.panels else set()
    insets: Sequence[Any] = ax.child_axes
    for drawn in insets:
        for handle, label in zip(*drawn.get_legend_handles_labels(), strict=True):
            if label not in titles:
                seen.setdefault(label, handle)
    above = labels.legend(ax, chart, named=False, entries=seen, lift=1.6)
    if chart.title:
        pad = above + (2.2 * size if above == 0 else 0.5 * size)
        ax.set_title(chart.title, loc="left", fontsize=points(10.5), fontweight="bold", pad=pad)


@dataclass(frozen=True)
class Look:
    """How a figure is made: its size in inches, what differs from `STYLE`, dots per inch, panels beside each other.

    `titled`: with the title, which a paper has in its caption.
    """

    size_in: tuple[float, float] = SIZE_IN
    style: Mapping[str, Any] = field(default_factory=dict)
    dpi: int = 150
    titled: bool = True
    across: int = PANELS_ACROSS[None]

    def paint(self, ax: Axes, chart: Chart) -> None:
        """Draw a chart, for a paper without its title."""
        draw(ax, chart if self.titled else replace(chart, title=""), across=self.across)

    def size_of(self, chart: Chart) -> tuple[float, float]:
        """Return the size of a figure in inches: higher for each further row of panels."""
        count = 0 if chart.panels else len(panels_of(chart))
        rows = -(-count // min(self.across, count)) if count else 1
        width, height = self.size_in
        return width, height * (1 + 0.45 * (rows - 1))


SCREEN = Look()
PAPER = {
    "column": Look((88 * MM_IN, 62 * MM_IN), PAPER_STYLE, 300, titled=False, across=PANELS_ACROSS["column"]),
    "wide": Look((180 * MM_IN, 90 * MM_IN), PAPER_STYLE, 300, titled=False, across=PANELS_ACROSS["wide"]),
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
    fitted = replace(own, size_in=own.size_of(chart))
    return save_figure(lambda ax: fitted.paint(ax, chart), folder / file_stem(chart.key), own=fitted)


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
        figure = figure_of(chart, own)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=path.suffix[1:], dpi=own.dpi, metadata=FORMATS[path.suffix])
    save_output(path, buffer.getvalue())
    return path


def figure_of(chart: Chart, own: Look) -> Figure:
    """Return a figure of a chart, to be drawn in the style of its look."""
    figure = Figure(figsize=own.size_of(chart), dpi=own.dpi, layout="constrained")
    own.paint(figure.add_subplot(), chart)
    return figure


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
    make_folder(stem.parent)
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
    return Markup(_own_ids(text[text.index("<svg") :]))


def _own_ids(svg: str) -> str:
    """Return an SVG with ids unique on its page, without unused ids.

    >>> _own_ids('<svg><g id="figure_1"/><path id="m"/><use xlink:href="#m"/></svg>')
    '<svg><g/><path id="id0ea98-m"/><use xlink:href="#id0ea98-m"/></svg>'
    """
    own = f"i{hashlib.sha256(svg.encode()).hexdigest()[:6]}-"
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="{own}{found[1]}"' if found[1] in used else "", svg)
    return re.sub(r'(href="|url\()#', rf"\1#{own}", svg)


def _heat(ax: Axes, chart: Chart, heat: Heat) -> None:
    low, high = heat.span
    z = np.ma.masked_invalid(heat.values)
    if is_table(chart):
        _table(ax, heat, z)
        return
    x, y = cell_edges(heat.x, log=chart.x_log), cell_edges(heat.y, log=chart.y_log)
    # As a bitmap in an SVG too: thousands of cells would make it large, and seams would be seen between them.
    cells = ax.pcolormesh(x, y, z, cmap="cividis", vmin=low, vmax=high, rasterized=True)
    ax.figure.colorbar(cells, ax=ax, label=heat.label)
    if heat.lines:
        levels, colors = zip(*heat.lines, strict=True)
        drawn = ax.contour(heat.x, heat.y, z, levels=levels, colors=colors, linewidths=1, zorder=1.5)
        ax.clabel(drawn, fontsize=points(8.5), fmt=lambda level: f"{level:g}", zorder=1.6)


def _table(ax: Axes, heat: Heat, z: Any) -> None:  # noqa: ANN401 - a masked array
    """Draw few values as cells of equal size, each with its number."""
    low, high = heat.span
    cells = ax.pcolormesh(z, cmap="cividis", vmin=low, vmax=high, edgecolors="white", lw=0.8, rasterized=True)
    ax.figure.colorbar(cells, ax=ax, label=heat.label)
    for row, column in zip(*np.nonzero(~np.ma.getmaskarray(z)), strict=True):
        value = float(z[row, column])
        bright = value > (low + high) / 2
        ax.text(
            column + 0.5, row + 0.5, f"{value:.3g}", ha="center", va="center", fontsize=points(8.5),
            color="#000000" if bright else "#ffffff",
        )  # fmt: skip
    ax.set_xticks(np.arange(len(heat.x)) + 0.5, [f"{one:g}" for one in heat.x])
    ax.set_yticks(np.arange(len(heat.y)) + 0.5, [f"{one:g}" for one in heat.y])
    ax.tick_params(length=0)
    ax.grid(visible=False)


def _line(ax: Axes, series: Series, mark: Mark, place: int, *, outlined: bool, flat: bool, single: bool) -> None:
    errors = series.errors()
    many = len(series.y) > 60
    name = series.name if series.listed else "_" + series.name
    width = mpl.rcParams["lines.linewidth"] * (0.7 if many else 1.0)
    style: dict[str, Any] = {"color": mark.color, "label": name, "lw": width}
    size = mpl.rcParams["lines.markersize"]
    shape = MARKERS[mark.marker]
    style["ms"] = size * SIZES.get(mark.marker, 1.0)
    if series.mode == "dashed":
        style |= {"ls": "--", "marker": shape if mark.on_line and not many else None, "mfc": "none"}
    elif series.mode == "dotted":
        style |= {"ls": ":", "marker": shape if mark.on_line and not many else None, "mfc": "none"}
    elif series.mode == "points":
        style |= {"ls": "none", "marker": shape}
    elif series.mode == "ring":
        style |= {"ls": "none", "marker": "o", "ms": 2.2 * size, "mfc": "none", "mew": 0.4 * size}
    else:
        style |= {"ls": labels.dash_of(mark.dash)}
        if series.mode == "steps":
            style["drawstyle"] = "steps-post"
        if series.listed and mark.on_line and not (many and single):
            style |= {"marker": shape}
    if style.get("marker") and series.mode not in ("points", "ring") and (errors is None or series.band):
        style["markevery"] = _sparse(ax, np.asarray(series.x), place)
    if outlined:
        style["path_effects"] = [withStroke(linewidth=width + 2, foreground="white")]
    x, y = np.asarray(series.x), np.asarray(series.y, dtype=float)
    if flat:
        ax.errorbar(y, x, xerr=None if errors is None else np.vstack(errors), capsize=2.5, elinewidth=1, **style)
    elif errors is None or series.band:
        ax.plot(x, y, **style)
        if errors is not None:
            ax.fill_between(x, y - errors[0], y + errors[1], color=mark.color, alpha=0.18, lw=0)
    else:
        ax.errorbar(x, y, yerr=np.vstack(errors), capsize=0.5 * size, elinewidth=0.6 * width, **style)


def _sparse(ax: Axes, x: np.ndarray, place: int) -> list[int] | None:
    """Return the points of a line that have a marker, at other places for each line; None for all points."""
    if len(x) <= SPARSE or x.dtype.kind not in "fiu":
        return None
    at = np.log10(np.where(x > 0, x, np.nan)) if ax.get_xscale() == "log" else x.astype(float)
    if not np.isfinite(at).any():
        return None
    low, high = np.nanmin(at), np.nanmax(at)
    wanted = low + (high - low) * (np.arange(SPARSE) + (0.15 + 0.37 * place) % 1) / SPARSE
    return sorted({int(np.nanargmin(np.abs(at - one))) for one in wanted})


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
    _fit_names(ax, names)
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
    _fit_names(ax, [s.name for s in boxes])


def _fit_names(ax: Axes, names: Sequence[str]) -> None:
    """Break the names below an axis, or turn them, where they would touch."""
    room = 0.95 * labels.size_points(ax)[0] / max(len(names), 1)
    size = float(mpl.rcParams["font.size"])
    at = ax.get_xticks()
    broken = ["\n".join(name.replace("-", "-\n").split()) for name in names]
    longest = max(len(part) for name in broken for part in name.split("\n"))
    if max(map(len, names)) * LETTER * size <= room:
        return
    if longest * LETTER * size <= room:
        ax.set_xticks(at, broken)
    else:
        ax.set_xticks(at, names, rotation=90)
