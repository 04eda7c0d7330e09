"""Which points a sweep has: every combination of a grid, values that go together, and drawn ones.

A drawn point is a function of the number of the draw alone, so asking for more points keeps the present ones. Sobol's
points fill the ranges more evenly than random ones (Sobol 1967; scrambled as Owen 1998 did).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from aqmlab.errors import InputError
from aqmlab.runs.sweeps.axes import Axis, Range, check_keys

METHODS = ("random", "sobol")
MOST_POINTS = 10_000_000
"""More points in one go are taken for a mistake."""


@dataclass(frozen=True)
class Design:
    """The points of a sweep: grid x zipped rows x draws.

    Attributes
    ----------
    grid
        Keys of which every combination is a point.
    zipped
        Keys that step together: their first values, their second values, and so on.
    ranges, method, draws, draw_seed
        Keys that are drawn: by ``random`` or ``sobol``, how many times, and the seed of the draws.
    """

    grid: tuple[Axis, ...] = ()
    zipped: tuple[Axis, ...] = ()
    ranges: tuple[Range, ...] = ()
    method: str = ""
    draws: int = 0
    draw_seed: int = 1

    def __post_init__(self) -> None:
        check_keys(self.keys)
        lengths = {len(axis.values) for axis in self.zipped}
        if len(lengths) > 1:
            told = ", ".join(f"{axis.key} has {len(axis.values)}" for axis in self.zipped)
            raise InputError(f"--zip: all keys need as many values ({told})")
        if self.ranges and not self.draws:
            raise InputError("--range: say how many points to draw (--random N or --sobol N)")
        if self.draws and not self.ranges:
            raise InputError(f"--{self.method}: say what to draw from (--range key=from:to)")
        if self.size > MOST_POINTS:
            raise InputError(f"the study has {self.size:,} points (allowed: up to {MOST_POINTS:,})")

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys, in the order of a point's values."""
        return (*(axis.key for axis in (*self.grid, *self.zipped)), *(one.key for one in self.ranges))

    @property
    def size(self) -> int:
        """Number of points."""
        grid = math.prod(len(axis.values) for axis in self.grid)
        rows = len(self.zipped[0].values) if self.zipped else 1
        return grid * rows * (self.draws or 1)

    @property
    def shape(self) -> tuple[tuple[str, ...], ...]:
        """The values of every key, if the points are all their combinations; else empty."""
        plain = not (self.zipped or self.ranges)
        return tuple(axis.values for axis in self.grid) if plain else ()

    def points(self) -> list[tuple[str, ...]]:
        """Return the values of all points; the last key changes fastest.

        >>> Design(grid=(Axis("a", ("1", "2")), Axis("b", ("x", "y")))).points()
        [('1', 'x'), ('1', 'y'), ('2', 'x'), ('2', 'y')]
        """
        grid = itertools.product(*(axis.values for axis in self.grid))
        rows = list(zip(*(axis.values for axis in self.zipped), strict=True)) if self.zipped else [()]
        drawn = self._drawn() if self.ranges else [()]
        return [(*a, *b, *c) for a, b, c in itertools.product(grid, rows, drawn)]

    def _drawn(self) -> list[tuple[str, ...]]:
        shares = _sobol if self.method == "sobol" else _random
        found = shares(self.draws, len(self.ranges), self.draw_seed).tolist()
        return [tuple(one.value(u) for one, u in zip(self.ranges, row, strict=True)) for row in found]


def _random(count: int, keys: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((count, keys))


def _sobol(count: int, keys: int, seed: int) -> np.ndarray:
    from scipy.stats import qmc

    if keys > qmc.Sobol.MAXDIM:
        raise InputError(f"--sobol: too many keys (allowed: up to {qmc.Sobol.MAXDIM:,})")
    engine = qmc.Sobol(keys, scramble=True, rng=np.random.default_rng(seed))
    drawn: np.ndarray = engine.random_base2(max(count - 1, 1).bit_length())[:count]
    return drawn
