"""Colours and markers of series: each discipline has the same ones in every figure.

Disciplines of one family share a colour and differ in the marker. Those that are compared most have a colour each,
which also differ for the colour-blind (protan and deutan; `tests/python/test_marks.py` computes the distances).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aqmlab.figures.chart import Series

PALETTE = (
    "#2277dd", "#cc6611", "#229955", "#cc00aa", "#ff3388", "#778888", "#776633", "#007766", "#0099dd", "#ee6666",
    "#9988aa", "#bb3366",
)  # fmt: skip
"""Line colours: each has a contrast of at least 3 to the white and to the dark page."""
GREY = 5
"""Index of the colour for series that are shown only for comparison."""
DISCIPLINES: dict[str, tuple[int, str]] = {
    "red": (0, "circle"),
    "gentle-red": (0, "square"),
    "adaptive-red": (0, "diamond"),
    "load-red": (0, "triangle-up"),
    "feng-red": (0, "triangle-down"),
    "sred": (0, "pentagon"),
    "mred": (1, "square"),
    "nlred": (1, "triangle-up"),
    "double-slope-red": (1, "triangle-down"),
    "codel": (2, "triangle-up"),
    "cobalt": (2, "pentagon"),
    "cake": (2, "star"),
    "exred": (3, "diamond"),
    "pie": (4, "triangle-down"),
    "fq-pie": (4, "star"),
    "pi": (4, "square"),
    "pi2": (4, "pentagon"),
    "dualpi2": (4, "hexagon"),
    "drop-tail": (GREY, "x"),
    "sfq": (GREY, "star"),
    "drr": (GREY, "hexagon"),
    "priority": (GREY, "triangle-left"),
    "wfq": (GREY, "triangle-right"),
    "rio": (6, "pentagon"),
    "wred": (6, "square"),
    "fq-codel": (7, "star"),
    "pc-red": (8, "cross"),
    "choke": (8, "triangle-left"),
    "ddred": (9, "hexagon"),
    "ddred-tail": (9, "triangle-right"),
    "adaptive-rio": (10, "triangle-left"),
    "blue": (11, "triangle-right"),
    "sfb": (11, "star"),
    "rem": (11, "square"),
    "avq": (11, "diamond"),
}
"""Discipline to the place of its colour in `PALETTE` and its marker."""


@dataclass(frozen=True)
class Mark:
    """Colour of a series as text, and the shape of its points; `known` for a discipline's own."""

    color: str
    marker: str = "circle"
    known: bool = False


def mark_of(discipline: str) -> Mark:
    """Return the mark of a discipline.

    >>> mark_of("mred").marker
    'square'
    """
    place, marker = DISCIPLINES[discipline]
    return Mark(PALETTE[place], marker, known=True)


def discipline_in(name: str) -> str | None:
    """Return the discipline that a series is named after, with or without more words behind a comma or colon.

    >>> discipline_in("gentle RED, printed"), discipline_in("FQ-CoDel"), discipline_in("red-tight")
    ('gentle-red', 'fq-codel', None)
    """
    word = name.partition(",")[0].partition(":")[0].strip().lower().replace(" ", "-")
    return word if word in DISCIPLINES else None


def marks(series: Sequence[Series]) -> list[Mark]:
    """Return the marks of a chart's series.

    A series named after a discipline has that discipline's mark. The others have the colour that they ask for, or
    the next one if a discipline of the chart has it. If a chart has two series of one discipline that nothing else
    tells apart, no series has a discipline's mark, unless all are points named as in "codel, bbr": then the marker is
    that of the discipline, and the colour that of the other word.
    """
    if crossed := _crossed(series):
        return crossed
    of = {one.name: discipline_in(one.name) for one in series}
    listed = [(of[one.name], one.mode) for one in series if one.listed and of[one.name] is not None]
    if len(set(listed)) < len(listed):
        of = dict.fromkeys(of, None)
    known = {name: mark_of(found) for name, found in of.items() if found is not None}
    taken = {mark.color for mark in known.values()}
    others: dict[str, Mark] = {}
    for one in series:
        if one.name in known or one.name in others:
            continue
        wanted = [PALETTE[(one.color + step) % len(PALETTE)] for step in range(len(PALETTE))]
        free = [color for color in wanted if color not in taken]
        others[one.name] = Mark(wanted[0] if one.color == GREY or not free else free[0])
        if known and one.color != GREY:
            taken.add(others[one.name].color)
    return [known.get(one.name) or others[one.name] for one in series]


def _crossed(series: Sequence[Series]) -> list[Mark]:
    """Return the marks of points that differ in the discipline and in another word; none for other series."""
    words = [one.name.partition(", ")[2] for one in series]
    found = [discipline_in(one.name) for one in series]
    if len(set(found)) == len(found) or not all(words) or any(one.mode != "points" for one in series):
        return []
    places = {word: place for place, word in enumerate(dict.fromkeys(words))}
    crossed = [
        Mark(PALETTE[places[word] % len(PALETTE)], mark_of(name).marker, known=True)
        for word, name in zip(words, found, strict=True)
        if name is not None
    ]
    return crossed if len(crossed) == len(series) else []
