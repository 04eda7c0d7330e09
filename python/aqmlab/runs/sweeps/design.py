"""The points of a sweep: every combination of a grid, values that go together, and drawn ones.

A key takes values as ``10p:50p:5`` or ``red,mred``, or has a range to draw from. A drawn point is a function of the
number of the draw alone, so asking for more points keeps the present ones. Sobol's points fill the ranges more evenly
than random ones (Sobol 1967; scrambled as Owen 1998 did).
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from aqmlab.errors import InputError
from aqmlab.scenario.toml_text import Value, override, plain

NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z%/]*)\s*")
WHOLE_UNITS = ("", "p", "b", "B")
MOST_VALUES = 1_000_000
FORM = "write it as key=from:to:count, key=from:to:count:log or key=v1,v2,..."
RANGE_FORM = "write it as key=from:to, key=from:to:log or key=v1,v2,..."

METHODS = ("random", "sobol")
MOST_POINTS = 10_000_000
"""More points in one go are taken for a mistake."""


@dataclass(frozen=True)
class Axis:
    """A key and the values it takes, as text."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Range:
    """A key and the range of its values: numbers between two ends, or one of some values.

    Attributes
    ----------
    key, unit
        The key, and the unit of both ends.
    ends
        The lowest and the highest number; None if there are `choices`, the values to choose from.
    log
        Whether every ratio, not every difference, is equally likely.
    whole
        Whether only whole numbers are meant: if both ends are, and are counts (packets, bytes or no unit).
    """

    key: str
    ends: tuple[float, float] | None
    unit: str = ""
    log: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()

    def value(self, share: float) -> str:
        """Return the value at a share of the range, 0 to 1.

        >>> range_of("delay", "10ms:100ms", "--range").value(0.5), range_of("n", "1:10", "--range").value(0.99)
        ('55ms', '10')
        """
        if self.ends is None:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        low, high = self.ends
        if self.whole and not self.log:
            return f"{min(math.floor(low + share * (high - low + 1)), int(high))}{self.unit}"
        number = _between(low, high, share, log=self.log)
        return f"{round(number) if self.whole else f'{number:.6g}'}{self.unit}"


def axis_of(key: str, values: Value, option: str) -> Axis:
    """Make an axis of a list of values, or of text: ``from:to:count``, ``from:to:count:log`` or ``v1,v2,...``.

    >>> axis_of("queue.bottleneck.max_th", "20p:60p:3", "--grid").values
    ('20p', '40p', '60p')
    >>> axis_of("flow.tcp.count", "1:1000:4:log", "--grid").values
    ('1', '10', '100', '1000')
    """
    values = plain(values)
    if isinstance(values, str):
        found = _steps(key, values, option) if ":" in values and not _bracketed(values) else _listed(values)
    else:
        try:
            found = [override(value) for value in (values if isinstance(values, Sequence) else [values])]
        except InputError as error:
            raise InputError(f"{option} {key}: {error}") from None
    if not found or not all(found):
        raise InputError(f"{option} {key}: the grid is empty ({FORM})")
    twice = [value for value in dict.fromkeys(found) if found.count(value) > 1] if len(found) < 1000 else []
    if twice:
        raise InputError(f"{option} {key}: {twice[0]} is given twice")
    return Axis(key, tuple(found))


def range_of(key: str, values: Value, option: str) -> Range:
    """Make a range of a list of values, or of text: ``from:to``, ``from:to:log`` or ``v1,v2,...``."""
    words = values.split(":") if isinstance(values, str) and not _bracketed(values) else []
    log = len(words) == 3 and words[2].strip() == "log"
    if not (len(words) == 2 or log):
        return Range(key, None, choices=axis_of(key, values, option).values)
    low, high, unit, whole = _ends(words[0], words[1], f"{option} {key}={values}", log=log, form=RANGE_FORM)
    return Range(key, (low, high), unit, log, whole)


def axes_of(given: Mapping[str, Value], option: str) -> tuple[Axis, ...]:
    """Make axes of keys and their values."""
    return tuple(axis_of(key, values, option) for key, values in given.items())


def ranges_of(given: Mapping[str, Value], option: str) -> tuple[Range, ...]:
    """Make ranges of keys and their values."""
    return tuple(range_of(key, values, option) for key, values in given.items())


def number_and_unit(text: str) -> tuple[float, str] | None:
    """Split ``45p`` into 45.0 and ``p``; None if it does not begin with a number.

    >>> number_and_unit("45p"), number_and_unit("red")
    ((45.0, 'p'), None)
    """
    found = NUMBER.fullmatch(text)
    return (float(found[1]), found[2]) if found else None


def _bracketed(text: str) -> bool:
    return any(c in text for c in "{[\"'")


def _steps(key: str, text: str, option: str) -> list[str]:
    where = f"{option} {key}={text}"
    words = [word.strip() for word in text.split(":")]
    log = len(words) == 4 and words[3] == "log"
    if not (len(words) == 3 or log) or not words[2].isdigit():
        raise InputError(f"{where}: {FORM}")
    count = int(words[2])
    if count == 0:
        raise InputError(f"{where}: the grid is empty ({FORM})")
    if count > MOST_VALUES:
        raise InputError(f"{where}: too many values (allowed: up to {MOST_VALUES:,})")
    low, high, unit, _ = _ends(words[0], words[1], where, log=log, form=FORM)
    if count == 1:
        return [f"{low:.12g}{unit}"]
    return [f"{_between(low, high, i / (count - 1), log=log):.12g}{unit}" for i in range(count)]


def _ends(first: str, last: str, where: str, *, log: bool, form: str) -> tuple[float, float, str, bool]:
    low, high = number_and_unit(first), number_and_unit(last)
    if low is None or high is None:
        raise InputError(f"{where}: {form}; both ends are numbers, with a unit or without")
    if low[1] != high[1]:
        raise InputError(f'{where}: both ends need the same unit, not "{low[1]}" and "{high[1]}"')
    if low[0] >= high[0] or (log and low[0] <= 0):
        raise InputError(f"{where}: the first end must be {'above 0 and ' if log else ''}below the second")
    whole = low[1] in WHOLE_UNITS and not any(c in first + last for c in ".eE")
    return low[0], high[0], low[1], whole


def _between(low: float, high: float, share: float, *, log: bool) -> float:
    return low * (high / low) ** share if log else low + (high - low) * share


def _listed(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes."""
    found, depth, quote = [""], 0, ""
    for c in text:
        if c == "," and depth == 0 and not quote:
            found.append("")
            continue
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        depth += (c in "[{") - (c in "]}") if not quote else 0
        found[-1] += c
    return [value.strip() for value in found]


Part = TypeVar("Part", Axis, Range)


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
        for key, times in Counter(self.keys).items():
            if times > 1:
                raise InputError(f"{key}: is swept twice (allowed: each key in one of grid, zip and range)")
            table = key.removesuffix(".aqm")
            if table != key and table in self.keys:
                raise InputError(
                    f"{table}: is swept as a table, which has an aqm, and so is {key} (allowed: one of them)"
                )
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

    def renamed(self, old: str, new: str) -> Design:
        """Return the same design with another name for a key."""

        def named(one: Part) -> Part:
            return replace(one, key=new) if one.key == old else one

        return replace(
            self,
            grid=tuple(map(named, self.grid)),
            zipped=tuple(map(named, self.zipped)),
            ranges=tuple(map(named, self.ranges)),
        )

    @property
    def options(self) -> dict[str, str]:
        """Each key with the option that gives its values: ``--grid``, ``--zip`` or ``--range``."""
        parts: dict[str, Sequence[Axis | Range]] = {"--grid": self.grid, "--zip": self.zipped, "--range": self.ranges}
        return {one.key: option for option, part in parts.items() for one in part}

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys, in the order of a point's values."""
        return (*(axis.key for axis in (*self.grid, *self.zipped)), *(one.key for one in self.ranges))

    @property
    def size(self) -> int:
        """Number of points."""
        zipped = self.zipped[:1]
        return math.prod(len(axis.values) for axis in (*self.grid, *zipped)) * (self.draws or 1)

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
        chance, count, keys = np.random.default_rng(self.draw_seed), self.draws, len(self.ranges)
        found = _sobol(chance, count, keys) if self.method == "sobol" else chance.random((count, keys))
        return [tuple(one.value(u) for one, u in zip(self.ranges, row, strict=True)) for row in found.tolist()]


def _sobol(chance: np.random.Generator, count: int, keys: int) -> np.ndarray:
    from scipy.stats import qmc

    if keys > qmc.Sobol.MAXDIM:
        raise InputError(f"--sobol: too many keys (allowed: up to {qmc.Sobol.MAXDIM:,})")
    drawn: np.ndarray = qmc.Sobol(keys, scramble=True, rng=chance).random_base2(max(count - 1, 1).bit_length())[:count]
    return drawn
