"""The grid on which an average is put, and how a value between two of its nodes is shared among them.

A value x becomes shares of the four nodes around it, so that the mean, the variance and the third moment are those of
x (Lagrange's cubic weights, of which some are negative). Two nodes that keep only the mean would add the variance
h^2 f (1-f) at every step, with h the spacing and f the place between them; an average with weight w forgets in 1/w
steps, hence its variance would be too large by about h^2/(12 w). Four nodes do without at ten times the spacing; for
a large w two are as good, and keep every probability positive.

The nodes lie close where the law of the average is sharp: at 0, and where the curve jumps. At a jump J an arrival that
finds q decides between the averages above and below J - (q - J) w/(1-w). With the spacing w/(1-w) and nodes at
J +- (1/2, 3/2, ...) of it these borders lie in the middle between two nodes for every whole q, so that all the mass of
a node is on the right side; a whole fraction of that spacing does the same. From there the spacing grows by a tenth
from node to node.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from aqmlab.theory.drop_curve import Array

Places = NDArray[np.intp]
FINE = 0.025
"""Widest spacing at 0 and at a jump, in packets."""
EVEN = 12
"""Nodes on each side of a jump before the spacing grows."""
GROWTH = 1.1


def nodes(low: float, high: float, *, step: float, w_q: float, jumps: Sequence[float] = ()) -> Array:
    """Return the nodes of a grid.

    Parameters
    ----------
    low, high
        Its ends in packets.
    step
        Widest spacing in packets.
    w_q
        Weight of the average, below 1.
    jumps
        Averages in packets at which the curve jumps.

    Examples
    --------
    >>> grid = nodes(0.0, 40.0, step=0.5, w_q=0.02, jumps=[30.0])
    >>> close = grid[abs(grid - 30) < 0.05]
    >>> ((close - 30) / (0.02 / 0.98)).round(6).tolist()
    [-1.5, -0.5, 0.5, 1.5]
    """
    fine = w_q / (1 - w_q)
    fine /= math.ceil(fine / min(step, FINE, (1 - w_q) / 2))
    inside = [jump for jump in jumps if low + fine < jump < high - fine]
    edges = [low, *inside, high]
    parts = []
    for index, (left, right) in enumerate(pairwise(edges)):
        first = left + fine / 2 if index > 0 else left
        last = right - fine / 2 if index < len(inside) else right
        upwards = _spacings(fine if index > 0 or low == 0 else step, step)
        downwards = _spacings(fine if index < len(inside) else step, step)
        parts.append(_fill(first, last, upwards, downwards))
    found = np.unique(np.concatenate(parts))
    return found if len(found) >= 4 else np.linspace(low, high, 4)


def shares(x: Array, grid: Array, *, cubic: bool = True) -> tuple[Places, Array]:
    """Return the nodes that each value is shared among, and its shares; both have one more axis, the first.

    Beyond the ends all goes to the end; between the outermost two nodes, and with `cubic` off, two nodes share.

    >>> at, share = shares(np.array([2.5]), np.arange(6.0))
    >>> at.ravel().tolist(), share.ravel().tolist()
    ([1, 2, 3, 4], [-0.0625, 0.5625, 0.5625, -0.0625])
    """
    last = len(grid) - 2
    x = np.clip(x, grid[0], grid[-1])
    cell = np.clip(np.searchsorted(grid, x, side="right") - 1, 0, last)
    place = (x - grid[cell]) / (grid[cell + 1] - grid[cell])
    if not cubic:
        return np.stack([cell, cell + 1]), np.stack([1 - place, place])
    at = np.clip(cell - 1, 0, len(grid) - 4) + np.arange(4).reshape(4, *([1] * x.ndim))
    knots = grid[at]
    share = np.ones(knots.shape)
    for i in range(4):
        for j in range(4):
            if i != j:
                share[i] *= (x - knots[j]) / (knots[i] - knots[j])
    linear = np.where(at == cell, 1 - place, np.where(at == cell + 1, place, 0.0))
    return at, np.where((cell == 0) | (cell == last), linear, share)


def _spacings(start: float, step: float) -> Iterator[float]:
    """Yield spacings: some equal ones, then growing ones up to `step`."""
    for _ in range(EVEN):
        yield start
    while True:
        start = min(start * GROWTH, step)
        yield start


def _fill(low: float, high: float, upwards: Iterator[float], downwards: Iterator[float]) -> Array:
    """Return nodes from both ends, the finer side first, until they meet."""
    left, right = [low], [high]
    up, down = next(upwards), next(downwards)
    while right[-1] - left[-1] > 1.5 * min(up, down):
        if up <= down:
            left.append(left[-1] + up)
            up = next(upwards)
        else:
            right.append(right[-1] - down)
            down = next(downwards)
    return np.array(left + right[::-1])
