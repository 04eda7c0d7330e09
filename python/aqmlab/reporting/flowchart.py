"""Flow charts of algorithms as data: boxes on a grid and arrows between them, drawn as SVG and PNG."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from matplotlib.patches import FancyBboxPatch, Polygon

from aqmlab.figures.marks import PALETTE
from aqmlab.reporting.mpl_style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["step", "question", "start", "end"]
Via = Literal["", "side", "below", "left", "right"]
Point = tuple[float, float]

COLUMN_IN, GAP_IN, LINE_IN = 2.65, 0.38, 0.155
"""Width of a column, space between rows and height of a line of text, in inches."""
WIDTH_IN: dict[Kind, float] = {"step": 2.1, "question": 2.35, "start": 1.8, "end": 1.8}
LETTERS: dict[Kind, int] = {"step": 32, "question": 20, "start": 24, "end": 24}
COLORS: dict[Kind, int] = {"step": 0, "question": 1, "start": 2, "end": 2}
LANE_IN = 0.16
"""How far beside a column an arrow runs that passes other boxes."""


@dataclass(frozen=True)
class Box:
    """One box.

    Attributes
    ----------
    key
        Name by which arrows refer to it.
    text
        Its text; broken into lines by itself, and at every newline.
    column, row
        Its place on the grid, from the left and from the top; halves are allowed.
    kind
        A step, a question (a diamond), or a start or end (rounded).
    """

    key: str
    text: str
    column: float
    row: int
    kind: Kind = "step"

    @property
    def lines(self) -> list[str]:
        """The text, broken."""
        return [line for part in self.text.split("\n") for line in textwrap.wrap(part, LETTERS[self.kind]) or [""]]

    @property
    def height(self) -> float:
        """Its height in inches; a diamond needs room above and below its text."""
        return LINE_IN * len(self.lines) + (0.62 if self.kind == "question" else 0.24)


@dataclass(frozen=True)
class Arrow:
    """An arrow between two boxes.

    Attributes
    ----------
    start, end
        Keys of the boxes.
    label
        Text at its start, for example "yes".
    via
        How it leaves if it is not straight: ``side`` (across, then up or down), ``below`` (down, then across), or
        ``right`` and ``left`` (by the edge of its column, past other boxes). Default: the first of these that runs
        through no box.
    """

    start: str
    end: str
    label: str = ""
    via: Via = ""


@dataclass(frozen=True)
class FlowChart:
    """An algorithm as boxes and arrows.

    Attributes
    ----------
    key
        Its file name without the ending.
    title
        Its heading.
    alt
        Description of the chart for users of screen readers.
    boxes, arrows
        The elements to draw.
    """

    key: str
    title: str
    alt: str
    boxes: list[Box]
    arrows: list[Arrow] = field(default_factory=list)

    @property
    def size_in(self) -> tuple[float, float]:
        """Width and height in inches."""
        columns = [box.column for box in self.boxes]
        rows = _rows(self.boxes)
        height = max(top + tall for top, tall in rows.values())
        return (max(columns) - min(columns) + 1) * COLUMN_IN + 2 * LANE_IN, height + 2 * LANE_IN


def draw(ax: Axes, chart: FlowChart) -> None:
    """Draw a flow chart on an axis whose unit is an inch.

    >>> from matplotlib.figure import Figure
    >>> chart = FlowChart("c", "Title", "one step", [Box("a", "arrive", 0, 0), Box("b", "drop", 0, 1)],
    ...                   [Arrow("a", "b")])
    >>> draw(Figure().add_subplot(), chart)
    """
    places = _places(chart.boxes)
    for arrow in chart.arrows:
        _arrow(ax, chart.boxes, places, arrow)
    for box in chart.boxes:
        _box(ax, box, places[box.key])
    width, height = chart.size_in
    left = min(x for x, _ in places.values()) - COLUMN_IN / 2 - LANE_IN
    ax.set_xlim(left, left + width)
    ax.set_ylim(-height + LANE_IN, LANE_IN)
    ax.set_aspect("equal")
    ax.set_axis_off()


def _rows(boxes: list[Box]) -> dict[int, tuple[float, float]]:
    """Per row: its top, and its height, both in inches from the top of the chart."""
    top, found = 0.0, {}
    for row in sorted({box.row for box in boxes}):
        tall = max(box.height for box in boxes if box.row == row)
        found[row] = (top, tall)
        top += tall + GAP_IN
    return found


def _places(boxes: list[Box]) -> dict[str, Point]:
    rows = _rows(boxes)
    return {b.key: (b.column * COLUMN_IN, -(rows[b.row][0] + rows[b.row][1] / 2)) for b in boxes}


def _path(boxes: list[Box], places: dict[str, Point], arrow: Arrow) -> list[Point]:
    if arrow.via:
        return _route(boxes, places, arrow, arrow.via)
    ways: tuple[Via, ...] = ("side", "below", "right", "left")
    routes = [_route(boxes, places, arrow, via) for via in ways]
    return next((route for route in routes if not _blocking(boxes, places, arrow, route)), routes[0])


def _route(boxes: list[Box], places: dict[str, Point], arrow: Arrow, via: Via) -> list[Point]:
    by_key = {box.key: box for box in boxes}
    start, end = by_key[arrow.start], by_key[arrow.end]
    (x0, y0), (x1, y1) = places[arrow.start], places[arrow.end]
    side = 1 if x1 > x0 else -1
    down = 1 if y1 < y0 else -1
    if via in ("left", "right"):
        return _around(start, end, places, -1 if via == "left" else 1)
    if start.column == end.column:
        if end.row > start.row and not any(b.column == start.column and start.row < b.row < end.row for b in boxes):
            return [(x0, y0 - start.height / 2), (x1, y1 + end.height / 2)]
        return _around(start, end, places, 1)
    if start.row == end.row:
        return [(x0 + side * _half(start), y0), (x1 - side * _half(end), y1)]
    if via == "below":
        return [(x0, y0 - down * start.height / 2), (x0, y1), (x1 - side * _half(end), y1)]
    return [(x0 + side * _half(start), y0), (x1, y0), (x1, y1 + down * end.height / 2)]


def _around(start: Box, end: Box, places: dict[str, Point], way: int) -> list[Point]:
    """Leave at the left (-1) or right (1), along the edge of the column, and come in at the side that faces it."""
    (x0, y0), (x1, y1) = places[start.key], places[end.key]
    lane = x0 + way * (COLUMN_IN / 2 - LANE_IN / 2)
    into = 1 if lane > x1 else -1
    return [(x0 + way * _half(start), y0), (lane, y0), (lane, y1), (x1 + into * _half(end), y1)]


def clashes(chart: FlowChart) -> list[str]:
    """Return the arrows that run through a box other than their ends; a correct chart has no such arrow.

    >>> boxes = [Box("a", "a", 0, 0), Box("b", "b", 1, 0), Box("c", "c", 2, 0)]
    >>> clashes(FlowChart("c", "", "", boxes, [Arrow("a", "c", via="side")]))
    ['a -> c runs through b']
    """
    places = _places(chart.boxes)
    return [
        f"{arrow.start} -> {arrow.end} runs through {key}"
        for arrow in chart.arrows
        for key in _blocking(chart.boxes, places, arrow, _path(chart.boxes, places, arrow))
    ]


def _blocking(boxes: list[Box], places: dict[str, Point], arrow: Arrow, route: list[Point]) -> list[str]:
    return [
        box.key
        for box in boxes
        if box.key not in (arrow.start, arrow.end) and any(_hits(p, q, box, places) for p, q in pairwise(route))
    ]


def _hits(p: Point, q: Point, box: Box, places: dict[str, Point]) -> bool:
    (x, y), margin = places[box.key], 0.02
    across = min(p[0], q[0]) < x + _half(box) + margin and max(p[0], q[0]) > x - _half(box) - margin
    return across and min(p[1], q[1]) < y + box.height / 2 and max(p[1], q[1]) > y - box.height / 2


def _half(box: Box) -> float:
    return WIDTH_IN[box.kind] / 2


def _arrow(ax: Axes, boxes: list[Box], places: dict[str, Point], arrow: Arrow) -> None:
    corners = _path(boxes, places, arrow)
    ax.plot(*zip(*corners, strict=True), color=PALETTE[5], lw=1.2, zorder=1, solid_capstyle="butt")
    head = {"arrowstyle": "-|>", "color": PALETTE[5], "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", corners[-1], corners[-2], arrowprops=head, zorder=2)
    if arrow.label:
        (x0, y0), (x1, y1) = corners[:2]
        flat = y0 == y1
        at = (x0 + 0.05 * (1 if x1 > x0 else -1), y0 + 0.03) if flat else (x0 + 0.06, y0 - 0.05)
        align = ("left" if x1 > x0 or not flat else "right", "bottom" if flat else "top")
        ax.annotate(arrow.label, at, ha=align[0], va=align[1], fontsize=8, fontstyle="italic")


def _box(ax: Axes, box: Box, place: Point) -> None:
    (x, y), half, tall = place, _half(box), box.height
    paint: dict[str, Any] = {
        "ec": PALETTE[COLORS[box.kind]],
        "fc": (*_rgb(PALETTE[COLORS[box.kind]]), 0.10),
        "lw": 1.4,
        "zorder": 3,
    }
    if box.kind == "question":
        corners = [(x - half, y), (x, y + tall / 2), (x + half, y), (x, y - tall / 2)]
        ax.add_patch(Polygon(corners, closed=True, **paint))
    else:
        rounding = 0.05 if box.kind == "step" else tall / 2
        style = f"round,pad=0,rounding_size={rounding}"
        ax.add_patch(FancyBboxPatch((x - half, y - tall / 2), 2 * half, tall, boxstyle=style, **paint))
    ax.annotate("\n".join(box.lines), place, ha="center", va="center", fontsize=8.2, color=INK, zorder=4)


def _rgb(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue
