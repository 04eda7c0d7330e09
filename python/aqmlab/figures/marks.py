"""Colours, markers and dashes of series: each discipline has the same ones in every figure and in the laboratory.

A family of disciplines has a hue: RED and its adaptations are blue, those with another curve orange, CoDel's relatives
green, PIE's pink, queues without drop decisions grey. Members differ in shade or dash, and always in the marker.
`tests/python/test_marks.py` computes the distances of all pairs, for protan and deutan viewers too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from aqmlab.figures.chart import Series

Dash = Literal["solid", "dash", "dot", "dashdot", "longdash"]

PALETTE = (
    "#2277dd", "#cc6611", "#229955", "#cc00aa", "#ff3388", "#778888", "#776633", "#007766", "#0099dd", "#ee6666",
    "#9988aa", "#bb3366",
)  # fmt: skip
"""Line colours: each has a contrast of at least 3 to the white and to the dark page."""
SHADES = ("#6644ff", "#bb4400", "#bb6677", "#666677", "#669933")
"""Second shades of blue, orange, pink, grey and green, for members of a family; other series do not have them."""
COLORS = PALETTE + SHADES
GREY = 5
"""Index of the colour for series that are shown only for comparison."""
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot", "longdash")
SHAPES = (
    "circle", "square", "triangle-up", "diamond", "triangle-down", "x", "pentagon", "star", "cross", "hexagon",
    "triangle-left", "triangle-right",
)  # fmt: skip
"""Markers of series without a discipline, by the place of their colour."""
DISCIPLINES: dict[str, tuple[int, Dash, str]] = {
    "red": (0, "solid", "circle"),
    "adaptive-red": (0, "dash", "diamond"),
    "load-red": (0, "dot", "triangle-up"),
    "feng-red": (0, "dashdot", "triangle-down"),
    "gentle-red": (12, "dash", "pentagon"),
    "sred": (12, "dot", "triangle-left"),
    "mred": (1, "solid", "square"),
    "double-slope-red": (1, "dot", "triangle-down"),
    "nlred": (13, "dash", "star"),
    "codel": (2, "solid", "triangle-up"),
    "cobalt": (2, "dash", "pentagon"),
    "cake": (16, "dash", "hexagon"),
    "fq-codel": (7, "solid", "star"),
    "exred": (3, "solid", "diamond"),
    "pie": (4, "solid", "triangle-down"),
    "fq-pie": (4, "dash", "star"),
    "pi": (14, "solid", "hexagon"),
    "pi2": (14, "dash", "pentagon"),
    "dualpi2": (14, "dot", "cross"),
    "drop-tail": (GREY, "solid", "x"),
    "sfq": (GREY, "dash", "star"),
    "drr": (GREY, "dot", "hexagon"),
    "priority": (15, "solid", "triangle-left"),
    "wfq": (15, "dash", "triangle-right"),
    "rio": (6, "solid", "pentagon"),
    "wred": (6, "dash", "square"),
    "adaptive-rio": (10, "solid", "triangle-left"),
    "pc-red": (8, "solid", "cross"),
    "choke": (8, "dash", "triangle-left"),
    "ddred": (9, "solid", "hexagon"),
    "ddred-tail": (9, "dash", "triangle-right"),
    "blue": (11, "solid", "triangle-right"),
    "sfb": (11, "dash", "star"),
    "rem": (11, "dot", "square"),
    "avq": (11, "dashdot", "diamond"),
}
"""Discipline to the place of its colour in `COLORS`, the dash of its lines, and its marker."""


@dataclass(frozen=True)
class Mark:
    """Colour of a series as text, the shape of its points, and the dash of its line.

    `on_line`: lines of many points have markers too, which tell them apart without colour.
    """

    color: str
    marker: str = "circle"
    dash: Dash = "solid"
    on_line: bool = False


def mark_of(discipline: str) -> Mark:
    """Return the mark of a discipline.

    >>> mark_of("mred").marker, mark_of("gentle-red").dash
    ('square', 'dash')
    """
    place, dash, marker = DISCIPLINES[discipline]
    return Mark(COLORS[place], marker, dash, on_line=True)


def discipline_in(name: str) -> str | None:
    """Return the discipline that a series is named after, with or without more words behind a comma or colon.

    >>> discipline_in("gentle RED, printed"), discipline_in("FQ-CoDel"), discipline_in("red-tight")
    ('gentle-red', 'fq-codel', None)
    """
    word = _parts(name)[0].lower().replace(" ", "-")
    return word if word in DISCIPLINES else None


def marks(series: Sequence[Series]) -> list[Mark]:
    """Return the marks of a chart's series.

    A series of a discipline, by its name or its attribute `discipline`, has that discipline's colour and marker. The
    discipline's dash is left out if a series of the chart is dashed or dotted for another reason. Several series of a
    discipline ("codel, bbr" and "codel, cubic") keep its colour: lines differ in the dash, points in the marker. If
    all of them are of one discipline, colours tell them apart instead.
    The other series have the colour that they ask for, or the next one if a series of the chart has it, with the
    marker and dash of that colour.
    """
    of = _disciplines(series)
    plain = all(one.mode not in ("dashed", "dotted") for one in series)
    words = list(dict.fromkeys(_parts(one.name)[1] for one in series if one.name in of))
    repeated = _repeated(series, of)
    own = {name: mark_of(found) for name, found in of.items()}
    shared = len({mark.color for mark in own.values()}) < len(set(of.values()))
    taken = {mark.color for mark in own.values()}
    others: dict[str, Mark] = {}
    found = []
    for one in series:
        mark = own.get(one.name) or others.get(one.name)
        if mark is None:
            others[one.name] = mark = _other(one.color, taken)
            if one.color != GREY:
                taken.add(mark.color)
        elif repeated and one.name in of:
            place = list(own).index(one.name) if shared else words.index(_parts(one.name)[1])
            mark = _variant(mark, place, one, plain=plain)
        if not plain or one.mode not in ("line", "steps"):
            mark = Mark(mark.color, mark.marker, "solid", mark.on_line)
        found.append(mark)
    return found


def _parts(name: str) -> tuple[str, str]:
    """Split a name at its first comma or colon."""
    at = min((place for place in (name.find(","), name.find(":")) if place >= 0), default=len(name))
    return name[:at].strip(), name[at + 1 :].strip()


def _disciplines(series: Sequence[Series]) -> dict[str, str]:
    """Return the discipline of each name; none if all are of one discipline, so that only colours differ."""
    named = {one.name: found for one in series if (found := discipline_in(one.name)) is not None}
    if not named:
        named = {one.name: one.discipline for one in series if one.discipline in DISCIPLINES}
        repeats = len(set(named.values())) < len(named)
        return {} if repeats else named
    repeated = _repeated(series, named)
    # Bars have neither a dash nor a marker.
    return {} if repeated and (len(set(named.values())) == 1 or any(mode == "bar" for _, mode in repeated)) else named


def _repeated(series: Sequence[Series], of: dict[str, str]) -> set[tuple[str | None, str]]:
    """Return the disciplines, each with a mode, of which several series have another name."""
    names: dict[tuple[str | None, str], set[str]] = {}
    for one in series:
        if one.name in of and one.listed:
            names.setdefault((of[one.name], one.mode), set()).add(one.name)
    return {key for key, found in names.items() if len(found) > 1}


def _other(wanted: int, taken: set[str]) -> Mark:
    """Return the mark of a series without a discipline, of the first colour from the wanted one on that is free."""
    places = [(wanted + step) % len(PALETTE) for step in range(len(PALETTE))]
    free = [place for place in places if PALETTE[place] not in taken]
    place = wanted % len(PALETTE) if wanted == GREY or not free else free[0]
    if place == GREY:
        return Mark(PALETTE[GREY])
    return Mark(PALETTE[place], SHAPES[place], DASHES[place % len(DASHES)], on_line=True)


def _variant(mark: Mark, place: int, one: Series, *, plain: bool) -> Mark:
    """Return the mark of one of several series of a discipline: another dash for lines, another marker for the rest."""
    if plain and one.mode in ("line", "steps"):
        return Mark(mark.color, mark.marker, DASHES[place % len(DASHES)], mark.on_line)
    return Mark(mark.color, SHAPES[place % len(SHAPES)], mark.dash, mark.on_line)
