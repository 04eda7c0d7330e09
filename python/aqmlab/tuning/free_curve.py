"""A free monotone curve in the numbers of a search.

It rises from 0 at min_th through p_b at a quarter, at half and at three quarters of the way to max_p at max_th, and
from there to 1 at its end, which may be at max_th. RED's and gentle RED's curves are free curves, and each other curve
of the family is near one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

POINTS = "points"
"""Word of the curve, and the key of its points."""
HEIGHTS = ("p_b(1/4) / p_b(1/2)", "p_b(1/2) / p_b(3/4)", "p_b(3/4) / max_p")
"""Dimensions of the inner heights, each a share of the next one, from 0 to 1."""
END = "end / max_th"
"""Dimension of the end of the curve."""
LATEST_END = 3.0
REPLACED = ("min_th", "max_th", "max_p")
"""Parameters that the points stand for."""


def points_of(min_th: float, max_th: float, max_p: float, numbers: Mapping[str, Any]) -> list[list[float]]:
    """Return the points, averages in packets.

    Parameters
    ----------
    min_th, max_th, max_p
        Thresholds in packets, min_th below max_th, and p_b at max_th.
    numbers
        The dimensions `HEIGHTS` and `END`.

    >>> linear = dict(zip(HEIGHTS, (0.5, 2 / 3, 0.75), strict=True))
    >>> points_of(10, 30, 0.1, {**linear, END: 1.0})
    [[10.0, 0.0], [15.0, 0.025], [20.0, 0.05], [25.0, 0.075], [30.0, 0.1], [30.0, 1.0]]
    """
    heights = [max_p]
    for key in reversed(HEIGHTS):
        heights.insert(0, heights[0] * numbers[key])
    inner = [[min_th + (max_th - min_th) * step / len(heights), height] for step, height in enumerate(heights, 1)]
    found = [[min_th, 0.0], *inner, [max_th * numbers[END], 1.0]]
    return [[float(f"{value:.4g}") for value in point] for point in found]


def numbers_of_points(points: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the numbers of a search whose `points_of` are these, apart from rounding; the heights are above 0.

    >>> found = numbers_of_points([[10, 0], [15, 0.025], [20, 0.05], [25, 0.075], [30, 0.1], [60, 1]])
    >>> found["max_th"], found["max_p"], found["end / max_th"], found["p_b(1/4) / p_b(1/2)"]
    (30, 0.1, 2.0, 0.5)
    """
    (min_th, _), *inner, (max_th, max_p), (end, _) = points
    heights = [*(height for _, height in inner), max_p]
    shares = [low / high if high > 0 else 0.0 for low, high in pairwise(heights)]
    return {
        "min_th": min_th,
        "max_th": max_th,
        "max_p": max_p,
        **dict(zip(HEIGHTS, shares, strict=True)),
        END: end / max_th,
    }


def is_free_curve(points: object) -> bool:
    """Whether points are those of `points_of`, and not a profile of a user with other places."""
    if not isinstance(points, list) or len(points) != len(HEIGHTS) + 3:
        return False
    places = [place for place, _ in points[:-1]]
    steps = [high - low for low, high in pairwise(places)]
    even = min(steps) > 0 and max(steps) - min(steps) < 0.02 * sum(steps)
    return bool(even and points[0][1] == 0 and points[-1][1] == 1)
