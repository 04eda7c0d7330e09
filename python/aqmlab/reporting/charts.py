"""Figures for the screen, as plotly.js reads them: zoom, hover, legend to switch lines off.

For paper: `aqmlab.reporting.plots`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.figures.chart import cell_edges, is_table, named_on_axis, panels_of
from aqmlab.figures.marks import marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aqmlab.figures.chart import Chart, Heat, Series
    from aqmlab.figures.marks import Mark

NEAR = 3.2
"""Decades up to which a logarithmic axis has labels at 1, 2 and 5."""
ACROSS = 3
"""Panels beside each other."""
GAP = 0.03
"""Room between them, as a part of the width."""
LEGEND_PX = 760
"""Width of a legend on a page."""
SHADE: dict[str, Any] = {"fillcolor": "#7b828d", "opacity": 0.15, "line": {"width": 0}}
LEVELS = ("dot", "dash", "dashdot", "longdash")
"""Dashes of levels, which differ without colour."""
BUTTONS_PX = 36
"""Height of plotly's buttons above a chart."""
SPARSE = 14
"""Markers on a line of many points, which tell it apart without colour."""
Figure = dict[str, Any]
"""Traces (``data``) and ``layout``, by the schema of plotly.js."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def figure(chart: Chart) -> Figure:
    """Return an interactive figure of a chart: its traces and its layout, by the schema of plotly.js.

    >>> from aqmlab.figures.chart import Chart, Series
    >>> chart = Chart("c", "Title", "a rising line", "t, s", "queue, packets", [Series("red", [0, 1], [0, 2])])
    >>> [trace["name"] for trace in figure(chart)["data"]]
    ['red']
    """
    own = marks(chart.series)
    chart = _plain(chart)
    traces = [_trace(series, mark, flat=chart.flat) for series, mark in zip(chart.series, own, strict=True)]
    if panels_of(chart):
        return _panels(chart, traces, own)
    bands = [_band(series, mark) for series, mark in zip(chart.series, own, strict=True) if series.band]
    legend = sum(series.listed for series in chart.series) > 1 and not named_on_axis(chart)
    if chart.heat is not None:
        for trace in traces:
            trace["marker"]["line"] = {"color": "#ffffff", "width": 1.5}
        outlines = [_outline(series) for series in chart.series if series.mode in ("line", "dashed", "dotted")]
        traces = [_colours(chart, chart.heat), *_lines(chart.heat), *outlines, *traces]
        legend = len(chart.series) > 0
    x, y = _axes(chart)
    shapes, annotations = _guides(chart)
    if chart.clipped is not None:
        annotations.append(_peak(*chart.clipped))
    layout = _layout(above=_above(chart) if legend else BUTTONS_PX, legend=legend) | {
        "xaxis": x | {"title": {"text": chart.x_label}},
        "yaxis": y | {"title": {"text": chart.y_label}},
        "shapes": shapes,
        "annotations": annotations,
    }
    return {"data": [*bands, *traces], "layout": layout}


def _guides(chart: Chart, panel: str = "", *, named: bool = True) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the shapes of shades and levels in a panel, and their annotations.

    `panel` is what follows x and y in the names of its axes.
    """
    along = {"xref": f"x{panel}", "yref": f"y{panel} domain", "y0": 0, "y1": 1}
    across = {"xref": f"x{panel} domain", "x0": 0, "x1": 1, "yref": f"y{panel}"}
    shapes: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    for low, high, label in chart.shades:
        shapes.append({"type": "rect", "x0": low, "x1": high, **along, **SHADE})
        words.append({"text": label, "x": low, "y": 1, "xanchor": "left", "yanchor": "top"})
    for index, (height, label) in enumerate(chart.levels):
        shapes.append({"type": "line", "y0": height, "y1": height, **across, "line": _level(index)})
        words.append({"text": label, "x": 1, "y": height, "xanchor": "right", "yanchor": "bottom"})
    for index, (place, label) in enumerate(chart.x_levels, len(chart.levels)):
        at = np.log10(place) if chart.x_log else place
        shapes.append({"type": "line", "x0": at, "x1": at, **along, "line": _level(index)})
        words.append({"text": label, "x": at, "y": 1, "xanchor": "left", "yanchor": "top"})
    annotations = [
        {"showarrow": False, "xref": shape["xref"], "yref": shape["yref"], **word}
        for shape, word in zip(shapes, words, strict=True)
    ]
    return shapes, annotations if named else []


def _level(index: int) -> dict[str, Any]:
    """Return the line of a level."""
    return {"color": "#7b828d", "dash": LEVELS[index % len(LEVELS)], "width": 1}


def _peak(at: float, words: str) -> dict[str, Any]:
    """Return the arrow at a value beyond the scale, with words for it."""
    return {
        "x": at, "y": 1, "xref": "x", "yref": "y domain", "text": words, "showarrow": True, "arrowhead": 2, "ax": 0,
        "ay": 26, "xanchor": "left", "yanchor": "middle", "standoff": 0, "arrowwidth": 1.2,
    }  # fmt: skip


def _plain(chart: Chart) -> Chart:
    """Return the chart with texts as plotly shows them letter by letter; it takes some tags of HTML as markup."""
    series = [replace(one, name=plain(one.name), panel=plain(one.panel), x=_words(one.x)) for one in chart.series]
    clipped = chart.clipped and (chart.clipped[0], plain(chart.clipped[1]))
    return replace(
        chart,
        x_label=plain(chart.x_label),
        y_label=plain(chart.y_label),
        series=series,
        clipped=clipped,
        shades=[(low, high, plain(label)) for low, high, label in chart.shades],
        levels=[(height, plain(label)) for height, label in chart.levels],
        x_levels=[(place, plain(label)) for place, label in chart.x_levels],
        heat=replace(chart.heat, label=plain(chart.heat.label)) if chart.heat is not None else None,
    )


def _words(x: Sequence[float] | Sequence[str] | np.ndarray) -> Sequence[float] | Sequence[str] | np.ndarray:
    """Return the places of points, words among them as `plain`."""
    return [plain(str(one)) for one in x] if any(isinstance(one, str) for one in x) else x


def plain(text: str) -> str:
    """Return a text for plotly in which nothing is markup.

    >>> plain('<a href="x">1 & 2</a>')
    '&lt;a href="x"&gt;1 &amp; 2&lt;/a&gt;'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _panels(chart: Chart, traces: Sequence[dict[str, Any]], own: Sequence[Mark]) -> Figure:
    """Draw panels: one above the other for single series, beside each other otherwise."""
    found = panels_of(chart)
    columns = 1 if chart.panels else min(ACROSS, len(found))
    rows = -(-len(found) // columns)
    gap = 0.07 if columns == 1 else 0.28 / rows
    width, height = (1 - GAP * (columns - 1)) / columns, (1 - gap * (rows - 1)) / rows
    mark_of = dict(zip((id(one) for one in chart.series), own, strict=True))
    trace_of = dict(zip((id(one) for one in chart.series), traces, strict=True))
    above = BUTTONS_PX + 8 if chart.panels else _above(chart) + 20
    layout = _layout(above=above, legend=not chart.panels) | {"shapes": [], "annotations": []}
    if not chart.panels:
        layout["legend"]["y"] = 1.1
    shared = str((rows - 1) * columns + 1) if rows > 1 else ""  # all follow the axes at the lower left
    drawn: list[dict[str, Any]] = []
    seen: set[str] = set()
    for place, (name, inside) in enumerate(found):
        row, column = divmod(place, columns)
        panel = str(place + 1) if place else ""
        axes = {"xaxis": f"x{panel}", "yaxis": f"y{panel}"}
        for one in inside:
            if one.band:
                drawn.append(_band(one, mark_of[id(one)]) | axes)
            listed = one.listed and one.name not in seen and not chart.panels
            drawn.append(trace_of[id(one)] | axes | {"showlegend": listed})
            seen.add(one.name)
        shapes, annotations = _guides(chart, panel, named=place == 0)
        layout["shapes"] += shapes
        layout["annotations"] += [*annotations, _name(name, panel)]
        lowest = place + columns >= len(found)
        x, y = _axes(chart)
        left, bottom = (width + GAP) * column, (height + gap) * (rows - 1 - row)
        x |= {"anchor": f"y{panel}", "domain": [left, left + width]}
        y |= {"anchor": f"x{panel}", "domain": [bottom, bottom + height]}
        x |= {"title": {"text": chart.x_label}} if lowest else {"showticklabels": False}
        y |= {"showticklabels": False} if column else {}
        if (row, column) == ((rows - 1) // 2, 0):
            y["title"] = {"text": chart.y_label}
        if panel != shared:
            x, y = x | {"matches": f"x{shared}"}, y | {"matches": f"y{shared}"}
        layout |= {f"xaxis{panel}": x, f"yaxis{panel}": y}
    return {"data": drawn, "layout": layout}


def _name(name: str, panel: str) -> dict[str, Any]:
    """Return the name of a panel, above it."""
    return {
        "text": f"<b>{name}</b>", "x": 0, "y": 1, "xref": f"x{panel} domain", "yref": f"y{panel} domain",
        "xanchor": "left", "yanchor": "bottom", "showarrow": False,
    }  # fmt: skip


def _layout(*, above: int, legend: bool) -> dict[str, Any]:
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13},
        "margin": {"l": 64, "r": 16, "t": above, "b": 56},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "showlegend": legend,
        "barmode": "group",
    }


def _axes(chart: Chart) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the horizontal and the vertical axis, without titles."""
    x: dict[str, Any] = {"automargin": True, "zeroline": False, "showline": True, "ticks": "outside"}
    y = dict(x)
    if chart.flat:
        y |= {"autorange": "reversed", "showgrid": False}
    if is_table(chart):
        return x | {"type": "category"}, y | {"type": "category"}
    if chart.x_log:
        x |= {"type": "log"} | ({"dtick": "D2"} if _decades(chart) <= NEAR else {})
    if len(chart.x_ticks):
        x |= {"tickvals": list(chart.x_ticks), "ticktext": [f"{one:g}" for one in chart.x_ticks]}
    if chart.x_range:
        x["range"] = [float(v) for v in (np.log10(chart.x_range) if chart.x_log else chart.x_range)]
    if chart.y_log:
        y |= {"type": "log", "exponentformat": "power"}
    if chart.y_range:
        y["range"] = [float(v) for v in (np.log10(chart.y_range) if chart.y_log else chart.y_range)]
    return x, y


def _decades(chart: Chart) -> float:
    """Return the decades that a logarithmic horizontal axis spans."""
    values = chart.x_range or [float(x) for one in chart.series for x in (np.min(one.x), np.max(one.x)) if len(one.x)]
    positive = [value for value in values if float(value) > 0]
    return float(np.log10(max(positive) / min(positive))) if positive else 0.0


def _above(chart: Chart) -> int:
    """Return the room for the rows of the legend, and for plotly's buttons above them, in pixels."""
    names = [len(name) for name in dict.fromkeys(series.name for series in chart.series if series.listed)] or [0]
    a_row = max(1, LEGEND_PX // (7 * max(names) + 50))
    return 40 + 20 * -(-len(names) // a_row)


def _trace(series: Series, mark: Mark, *, flat: bool) -> dict[str, Any]:
    if series.mode == "box":
        y = np.asarray(series.y)
        return {"type": "box", "y": y, "name": series.name, "marker": {"color": mark.color}, "boxpoints": "all"}
    bounds = series.errors()
    errors: dict[str, Any] = {}
    if bounds is not None and not series.band:
        errors["error_x" if flat else "error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": bounds[1],
            "arrayminus": bounds[0],
            "thickness": 1.2,
        }
    if series.mode == "bar":
        y = np.asarray(series.y)
        return {
            "type": "bar",
            "x": list(series.x),
            "y": y,
            "name": series.name,
            "marker": {"color": mark.color},
            **errors,
        }
    many = len(series.y) > 60
    lines = "lines+markers" if mark.on_line and series.listed else "lines"
    shown = {"points": "markers", "ring": "markers"}
    dash = {"dashed": "dash", "dotted": "dot"}.get(series.mode, mark.dash)
    shape = mark.marker if mark.marker in ("x", "cross") else f"{mark.marker}-open"
    symbol = {"dashed": shape, "dotted": shape, "ring": "circle-open"}
    more: dict[str, Any] = {"line": {"width": 2.5}} if series.mode == "ring" else {}
    if len(series.y) > 2 * SPARSE and series.mode != "points":
        more["maxdisplayed"] = SPARSE
    x, y = np.asarray(series.x), np.asarray(series.y, dtype=float)
    return {
        "type": "scatter",
        "x": y if flat else x,
        "y": x if flat else y,
        **errors,
        "name": series.name,
        "legendgroup": series.name,
        "showlegend": series.listed,
        "mode": shown.get(series.mode, lines),
        "line": {
            "color": mark.color,
            "width": 1.4 if many else 2,
            "dash": dash,
            "shape": "hv" if series.mode == "steps" else "linear",
        },
        "marker": {
            "size": 16 if series.mode == "ring" else 8,
            "symbol": symbol.get(series.mode, mark.marker),
            "color": mark.color,
            **more,
        },
    }


def _band(series: Series, mark: Mark) -> dict[str, Any]:
    """Return the bounds of a line as a filled band."""
    x, low, high = (np.asarray(values, dtype=float) for values in (series.x, series.low, series.high))
    known = np.isfinite(low) & np.isfinite(high)
    x, low, high = x[known], low[known], high[known]
    red, green, blue = (int(mark.color[start : start + 2], 16) for start in (1, 3, 5))
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([high, low[::-1]]),
        "mode": "lines",
        "fill": "toself",
        "fillcolor": f"rgba({red},{green},{blue},0.18)",
        "line": {"width": 0},
        "legendgroup": series.name,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _colours(chart: Chart, heat: Heat) -> dict[str, Any]:
    low, high = heat.span
    colours = {
        "type": "heatmap",
        "z": heat.values,
        "zmin": low,
        "zmax": high,
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": heat.label, "side": "right"}, "outlinewidth": 0},
        "hoverongaps": False,
    }
    if is_table(chart):  # few values: cells of equal size, each with its number
        return colours | {
            "x": [f"{one:g}" for one in heat.x],
            "y": [f"{one:g}" for one in heat.y],
            "texttemplate": "%{z:.3~g}",
            "xgap": 2,
            "ygap": 2,
            "hovertemplate": "%{x}, %{y}: %{z:.4~g}<extra></extra>",
        }
    # Plotly puts the borders of cells halfway between their centres, but not as a logarithmic axis shows it.
    return colours | {
        "x": cell_edges(heat.x, log=True) if chart.x_log else np.asarray(heat.x, dtype=float),
        "y": cell_edges(heat.y, log=True) if chart.y_log else np.asarray(heat.y, dtype=float),
        "hovertemplate": "%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>",
    }


def _lines(heat: Heat) -> list[dict[str, Any]]:
    return [
        {
            "type": "contour",
            "x": np.asarray(heat.x, dtype=float),
            "y": np.asarray(heat.y, dtype=float),
            "z": heat.values,
            "autocontour": False,
            "contours": {
                "coloring": "none",
                "start": level,
                "end": level,
                "size": 1,
                "showlabels": True,
                "labelformat": ".4~g",
                "labelfont": {"color": color, "size": 12},
            },
            "line": {"color": color, "width": 1.4},
            "showscale": False,
            "showlegend": False,
            "hoverinfo": "skip",
        }
        for level, color in heat.lines
    ]


def _outline(series: Series) -> dict[str, Any]:
    """Return the bright edge of a line, by which it is seen on every colour."""
    return {
        "type": "scatter",
        "x": np.asarray(series.x),
        "y": np.asarray(series.y, dtype=float),
        "mode": "lines",
        "line": {"color": "#ffffff", "width": 4.5},
        "showlegend": False,
        "hoverinfo": "skip",
    }
