"""Small plots of differences with their intervals, as SVG that follows the page's colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT, EDGE = 228.0, 64.0, 5.0
"""Size of a plot and its free edge, in CSS pixels."""
WIDEST = 22.0
"""Most room of one difference."""
LEAST = 0.15
"""Least share of the scale on either side of zero."""
COMMON = 1e-12
"""Scale of differences that are all zero."""


@dataclass(frozen=True)
class Measured:
    """One difference.

    Attributes
    ----------
    mean, low, high
        The difference and its interval.
    verdict
        ``holds``, ``fails``, ``no effect``, ``undecided`` or ``not engaged``.
    printed
        The printed difference; None without any.
    bounds
        Between which it is claimed to lie.
    quantity
        Its quantity and unit: all plots of a quantity share a scale.
    place
        The case that it belongs to; a line parts it from the next.
    """

    mean: float
    low: float
    high: float
    verdict: str
    printed: float | None = None
    bounds: tuple[float, float] = (-math.inf, math.inf)
    quantity: str = ""
    place: str = ""


def plot(differences: Sequence[Measured], alt: str) -> Markup:
    """Draw differences beside each other: a mark and an interval for each, the zero line, and the claimed side.

    Differences of several quantities share the zero line, and each quantity has its own scale.

    >>> one = Measured(0.5, 0.25, 0.75, "holds", printed=0.4, bounds=(0.0, math.inf))
    >>> svg = plot([one], "one part holds")
    >>> svg.count("<circle"), svg.count('class="printed"'), svg.count('class="zero"')
    (1, 1, 1)
    """
    scales = _scales(differences)
    ends = [end / scales[one.quantity] for one in differences for end in _ends(one)] or [0.0]
    up, down = max(LEAST, *ends), max(LEAST, *(-end for end in ends))
    room = min(WIDEST, (WIDTH - 2 * EDGE) / max(len(differences), 1))

    def height(value: float) -> float:
        return EDGE + (HEIGHT - 2 * EDGE) * (up - min(max(value, -down), up)) / (up + down)

    def height_in(scale: float) -> Callable[[float], float]:
        return lambda value: height(value / scale)

    marks: list[str] = []
    shades: list[str] = []
    for place, one in enumerate(differences):
        x, scale = EDGE + room * (place + 0.5), scales[one.quantity]
        top, bottom = (height(side / scale) for side in reversed(one.bounds))
        shades.append(_tag("rect", x=x - room / 2, y=top, width=room, height=max(bottom - top, 1.0)))
        before = differences[place - 1] if place else one
        if (before.quantity, before.place) != (one.quantity, one.place):
            left = x - room / 2
            marks.append(_tag("line", "part", x1=left, x2=left, y1=0, y2=HEIGHT))
        marks += _marks(one, x, height_in(scale), room)
    zero = _tag("line", "zero", x1=0, x2=WIDTH, y1=height(0.0), y2=height(0.0))
    inside = f'<g class="claimed">{"".join(shades)}</g>{zero}{"".join(marks)}'
    return Markup(
        f'<svg class="differences" role="img" aria-label="{escape(alt)}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'width="{WIDTH:g}" height="{HEIGHT:g}">{inside}</svg>'
    )


def _marks(one: Measured, x: float, height: Callable[[float], float], room: float) -> Iterator[str]:
    """Yield the marks of a difference: interval, mean and printed value."""
    if not math.isfinite(one.mean):
        return
    size = min(3.4, max(1.2, 0.32 * room))
    name, y = one.verdict.replace(" ", "-"), height(one.mean)
    if math.isfinite(one.low) and math.isfinite(one.high) and one.high > one.low:
        yield _tag("line", name, x1=x, x2=x, y1=height(one.low), y2=height(one.high))
    if one.verdict == "fails":
        yield _tag("rect", name, x=x - size, y=y - size, width=2 * size, height=2 * size)
    else:
        yield _tag("circle", name, cx=x, cy=y, r=size)
    if one.printed is not None and math.isfinite(one.printed):
        at, half = height(one.printed), size + 1.2
        points = f"{x - half:.1f},{at:.1f} {x:.1f},{at - half:.1f} {x + half:.1f},{at:.1f} {x:.1f},{at + half:.1f}"
        yield f'<polygon class="printed" points="{points}"/>'


def _ends(one: Measured) -> list[float]:
    """Return the finite numbers that the scale has to show."""
    return [value for value in (one.mean, one.low, one.high) if math.isfinite(value)]


def _scales(differences: Sequence[Measured]) -> dict[str, float]:
    """Return the scale of each quantity: its largest measured number. A printed one beyond it lies on the edge."""
    found: dict[str, float] = {}
    for one in differences:
        found[one.quantity] = max([found.get(one.quantity, COMMON), *map(abs, _ends(one))])
    return found


def _tag(tag: str, name: str = "", **numbers: float) -> str:
    words = "".join(f' {key}="{value:.1f}"' for key, value in numbers.items())
    named = f' class="{name}"' if name else ""
    return f"<{tag}{named}{words}/>"
