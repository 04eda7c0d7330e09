"""Figures for the screen, by plotly: zoom, hover, legend to switch lines off. For paper: `aqmlab.reporting.plots`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

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
LEGEND_PX = 760
"""Width of a legend on a page."""
SHADE: dict[str, Any] = {"fillcolor": "#7b828d", "opacity": 0.15, "line_width": 0}
LEVELS = ("dot", "dash", "dashdot", "longdash")
"""Dashes of levels, which differ without colour."""
BUTTONS_PX = 36
"""Height of plotly's buttons above a chart."""
SPARSE = 14
"""Markers on a line of many points, which tell it apart without colour."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def figure(chart: Chart) -> go.Figure:
    """Make an interactive figure of a chart.

    >>> from aqmlab.figures.chart import Chart, Series
    >>> chart = Chart("c", "Title", "a rising line", "t, s", "queue, packets", [Series("red", [0, 1], [0, 2])])
    >>> [trace.name for trace in figure(chart).data]
    ['red']
    """
    own = marks(chart.series)
    chart = _plain(chart)
    traces = [_trace(series, mark, flat=chart.flat) for series, mark in zip(chart.series, own, strict=True)]
    if panels_of(chart):
        return _panels(chart, traces, own)
    if chart.heat is not None:
        outlines = [_outline(series) for series in chart.series if series.mode in ("line", "dashed", "dotted")]
        traces = [_colours(chart, chart.heat), *_lines(chart.heat), *outlines, *traces]
    bands = [_band(series, mark) for series, mark in zip(chart.series, own, strict=True) if series.band]
    plot = go.Figure([*bands, *traces])
    legend = sum(series.listed for series in chart.series) > 1 and not named_on_axis(chart)
    if chart.heat is not None:
        plot.update_traces(marker_line={"color": "#ffffff", "width": 1.5}, selector={"type": "scatter"})
        legend = len(chart.series) > 0
    _layout(plot, above=_above(chart) if legend else BUTTONS_PX, legend=legend)
    plot.update_xaxes(title_text=chart.x_label)
    plot.update_yaxes(title_text=chart.y_label)
    if is_table(chart):
        plot.update_xaxes(type="category")
        plot.update_yaxes(type="category")
    else:
        _scales(plot, chart)
    for low, high, label in chart.shades:
        plot.add_vrect(low, high, **SHADE, annotation_text=label, annotation_position="inside top left")
    for index, (height, label) in enumerate(chart.levels):
        plot.add_hline(height, **_level(index), annotation_text=label)
    for index, (place, label) in enumerate(chart.x_levels, len(chart.levels)):
        plot.add_vline(np.log10(place) if chart.x_log else place, **_level(index), annotation_text=label)
    if chart.clipped is not None:
        plot.add_annotation(**_peak(*chart.clipped))
    if chart.flat:
        plot.update_yaxes(autorange="reversed", showgrid=False)
    return plot


def _level(index: int) -> dict[str, Any]:
    """Return the line of a level."""
    return {"line": {"color": "#7b828d", "dash": LEVELS[index % len(LEVELS)], "width": 1}}


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


def _panels(chart: Chart, traces: list[Any], own: Sequence[Mark]) -> go.Figure:
    """Draw panels: one above the other for single series, beside each other otherwise."""
    found = panels_of(chart)
    across = 1 if chart.panels else min(ACROSS, len(found))
    rows = -(-len(found) // across)
    plot = make_subplots(
        rows=rows, cols=across, shared_xaxes="all", shared_yaxes="all", horizontal_spacing=0.03,
        vertical_spacing=0.07 if across == 1 else 0.28 / rows,
    )  # fmt: skip
    mark_of = dict(zip((id(one) for one in chart.series), own, strict=True))
    trace_of = dict(zip((id(one) for one in chart.series), traces, strict=True))
    seen: set[str] = set()
    for place, (name, inside) in enumerate(found):
        row, col = place // across + 1, place % across + 1
        for one in inside:
            trace = trace_of[id(one)]
            if one.band:
                plot.add_trace(_band(one, mark_of[id(one)]), row=row, col=col)
            trace.showlegend = one.listed and one.name not in seen and not chart.panels
            seen.add(one.name)
            plot.add_trace(trace, row=row, col=col)
        first = place == 0
        for low, high, label in chart.shades:
            words = {"annotation_text": label, "annotation_position": "inside top left"} if first else {}
            plot.add_vrect(low, high, **SHADE, **words, row=row, col=col)
        for index, (height, label) in enumerate(chart.levels):
            words = {"annotation_text": label} if first else {}
            plot.add_hline(height, **_level(index), **words, row=row, col=col)
        plot.add_annotation(
            text=f"<b>{name}</b>", x=0, y=1, xref="x domain", yref="y domain", xanchor="left",
            yanchor="bottom", showarrow=False, row=row, col=col,
        )  # fmt: skip
    _layout(plot, above=(BUTTONS_PX + 8 if chart.panels else _above(chart) + 20), legend=not chart.panels)
    if not chart.panels:
        plot.update_layout(legend_y=1.1)
    for col in range(1, across + 1):
        last = max(place // across + 1 for place in range(len(found)) if place % across + 1 == col)
        plot.update_xaxes(title_text=chart.x_label, showticklabels=True, row=last, col=col)
    plot.update_yaxes(title_text=chart.y_label, row=(rows + 1) // 2, col=1)
    _scales(plot, chart)
    return plot


def _layout(plot: go.Figure, *, above: int, legend: bool) -> None:
    plot.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13},
        margin={"l": 64, "r": 16, "t": above, "b": 56},
        hovermode="closest",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        showlegend=legend,
        barmode="group",
    )
    axis: dict[str, Any] = {"automargin": True, "zeroline": False, "showline": True, "ticks": "outside"}
    plot.update_xaxes(**axis)
    plot.update_yaxes(**axis)


def _scales(plot: go.Figure, chart: Chart) -> None:
    if chart.x_log:
        plot.update_xaxes(type="log", **({"dtick": "D2"} if _decades(chart) <= NEAR else {}))
    if len(chart.x_ticks):
        plot.update_xaxes(tickvals=list(chart.x_ticks), ticktext=[f"{one:g}" for one in chart.x_ticks])
    if chart.x_range:
        limits = np.log10(chart.x_range) if chart.x_log else chart.x_range
        plot.update_xaxes(range=[float(v) for v in limits])
    if chart.y_log:
        plot.update_yaxes(type="log", exponentformat="power")
    if chart.y_range:
        heights = np.log10(chart.y_range) if chart.y_log else chart.y_range
        plot.update_yaxes(range=[float(v) for v in heights])


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


def _trace(series: Series, mark: Mark, *, flat: bool) -> Any:  # noqa: ANN401 - plotly has no common type for traces
    if series.mode == "box":
        return go.Box(y=np.asarray(series.y), name=series.name, marker_color=mark.color, boxpoints="all")
    bounds = series.errors()
    error = None
    if bounds is not None and not series.band:
        error = {
            "type": "data",
            "symmetric": False,
            "array": bounds[1],
            "arrayminus": bounds[0],
            "thickness": 1.2,
        }
    if series.mode == "bar":
        return go.Bar(
            x=list(series.x),
            y=np.asarray(series.y),
            error_y=error,
            name=series.name,
            marker_color=mark.color,
        )
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
    return go.Scatter(
        x=y if flat else x,
        y=x if flat else y,
        **{"error_x" if flat else "error_y": error},
        name=series.name,
        legendgroup=series.name,
        showlegend=series.listed,
        mode=shown.get(series.mode, lines),
        line={
            "color": mark.color,
            "width": 1.4 if many else 2,
            "dash": dash,
            "shape": "hv" if series.mode == "steps" else "linear",
        },
        marker={
            "size": 16 if series.mode == "ring" else 8,
            "symbol": symbol.get(series.mode, mark.marker),
            "color": mark.color,
            **more,
        },
    )


def _band(series: Series, mark: Mark) -> Any:  # noqa: ANN401
    """Return the bounds of a line as a filled band."""
    x, low, high = (np.asarray(values, dtype=float) for values in (series.x, series.low, series.high))
    known = np.isfinite(low) & np.isfinite(high)
    x, low, high = x[known], low[known], high[known]
    red, green, blue = (int(mark.color[start : start + 2], 16) for start in (1, 3, 5))
    return go.Scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        mode="lines",
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},0.18)",
        line={"width": 0},
        legendgroup=series.name,
        showlegend=False,
        hoverinfo="skip",
    )


def _colours(chart: Chart, heat: Heat) -> Any:  # noqa: ANN401
    if is_table(chart):
        return _table(heat)
    # Plotly puts the borders of cells halfway between their centres, but not as a logarithmic axis shows it.
    x = cell_edges(heat.x, log=True) if chart.x_log else np.asarray(heat.x, dtype=float)
    y = cell_edges(heat.y, log=True) if chart.y_log else np.asarray(heat.y, dtype=float)
    return go.Heatmap(
        x=x,
        y=y,
        **_coloured(heat),
        hovertemplate="%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>",
    )


def _coloured(heat: Heat) -> dict[str, Any]:
    """Return the arguments that both kinds of a map share: values, their range and colours."""
    low, high = heat.span
    bar = {"title": {"text": heat.label, "side": "right"}, "outlinewidth": 0}
    colors = {"zmin": low, "zmax": high, "colorscale": "Cividis", "colorbar": bar}
    return {"z": heat.values, **colors, "hoverongaps": False}


def _table(heat: Heat) -> Any:  # noqa: ANN401
    """Return few values as cells of equal size, each with its number."""
    return go.Heatmap(
        x=[f"{one:g}" for one in heat.x],
        y=[f"{one:g}" for one in heat.y],
        **_coloured(heat),
        texttemplate="%{z:.3~g}",
        xgap=2,
        ygap=2,
        hovertemplate="%{x}, %{y}: %{z:.4~g}<extra></extra>",
    )


def _lines(heat: Heat) -> list[Any]:
    return [
        go.Contour(
            x=np.asarray(heat.x, dtype=float),
            y=np.asarray(heat.y, dtype=float),
            z=heat.values,
            autocontour=False,
            contours={
                "coloring": "none",
                "start": level,
                "end": level,
                "size": 1,
                "showlabels": True,
                "labelformat": ".4~g",
                "labelfont": {"color": color, "size": 12},
            },
            line={"color": color, "width": 1.4},
            showscale=False,
            showlegend=False,
            hoverinfo="skip",
        )
        for level, color in heat.lines
    ]


def _outline(series: Series) -> Any:  # noqa: ANN401
    """Return the bright edge of a line, by which it is seen on every colour."""
    return go.Scatter(
        x=np.asarray(series.x),
        y=np.asarray(series.y, dtype=float),
        mode="lines",
        line={"color": "#ffffff", "width": 4.5},
        showlegend=False,
        hoverinfo="skip",
    )
