"""Ranges of conditions while the queue's parameters stay: flows, round trips, rates, or any key of the scenario."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.errors import InputError, joined
from aqmlab.scenario.file import Scenario

Pairs = tuple[tuple[str, str], ...]
"""Overrides: dotted keys and values as text."""

TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
RATES = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "bit": 1.0, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9}
RATES_AT = {"dumbbell": "bottleneck", "chain": "link", "bus": "link", "diffserv": "core"}
"""Networks with one bottleneck: its part, which has the rate."""
MOST_RANGES = 6
"""With more, the corners alone are hundreds."""
COUNTS = ("", "p", "B")
"""Units of whole numbers: none, packets, bytes."""
DRAWS = 16
"""Points to draw for each point that no trial has seen: whole numbers repeat."""
_VALUE = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True)
class Range:
    """A range of one thing.

    Attributes
    ----------
    key
        As it was asked for: ``flows``, ``rtt``, ``rate``, or a dotted key.
    low, high
        Its ends: times in s, rates in bit/s, all else in its own unit.
    unit
        ``s``, ``bps``, or the unit as written.
    whole
        Whether only whole numbers are meant.
    overrides
        A function from a value to the overrides of the scenario.
    """

    key: str
    low: float
    high: float
    unit: str
    whole: bool
    overrides: Callable[[float], Pairs]

    def at(self, share: float) -> float:
        """Return the value a share of the way from low to high, on a logarithmic scale where both are above 0."""
        if share in (0, 1):
            return self.high if share else self.low
        if self.low > 0:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + share * (self.high - self.low)
        return float(round(value)) if self.whole else float(f"{value:.3g}")

    def text(self, value: float) -> str:
        """Write a value with its unit: ``20ms``."""
        return written(value, self.unit)


@dataclass(frozen=True)
class Point:
    """A point of the ranges: its name for people, and the scenario there as overrides.

    Attributes
    ----------
    name
        ``flows=10, rtt=20ms``.
    pairs
        The overrides.
    corner
        Whether it is a corner of the ranges.
    """

    name: str
    pairs: Pairs
    corner: bool


def written(value: float, unit: str) -> str:
    """Write a value as scenarios have it.

    >>> written(0.02, "s"), written(2e6, "bps"), written(10.0, ""), written(5.0, "p")
    ('20ms', '2Mbps', '10', '5p')
    """
    if unit == "s":
        return f"{value * 1e3:.10g}ms"
    if unit == "bps":
        return f"{value / 1e6:.10g}Mbps"
    return f"{value:.10g}{unit}"


def ranges_of(texts: Sequence[str], plan: Scenario) -> list[Range]:
    """Read ranges such as ``flows=10:200`` for a scenario."""
    if not texts:
        raise InputError("over: give at least one range, for example flows=10:200")
    if len(texts) > MOST_RANGES:
        raise InputError(f"over: {len(texts)} ranges are too many (allowed: up to {MOST_RANGES})")
    found = [_range(text, plan) for text in texts]
    keys = [one.key for one in found]
    if len(set(keys)) < len(keys):
        raise InputError(f"over: a range is given twice: {', '.join(keys)}")
    return found


def usual_ranges(plan: Scenario) -> list[str]:
    """Return ranges around a scenario, where it has them: flows and round trip from half to twice its own.

    Raises
    ------
    InputError
        If its flows have no name and it has no [dumbbell].
    """
    raw = plan.tables
    found: list[str] = []
    first: dict[str, Any] = next(iter(raw.get("flow", ())), {})
    count = first.get("count", 1)
    if first.get("name") is not None and isinstance(count, int):
        found.append(f"flows={max(1, count // 2)}:{2 * count}")
    parts = raw.get("dumbbell", {})
    line = parts.get("bottleneck", parts.get("up"))
    try:
        delays = [number_of(str(part["delay"]), "delay") for part in (line, parts["left"], parts["right"])]
    except (InputError, KeyError, TypeError):
        delays = []
    round_trip = 2 * sum(number for number, _ in delays)
    if round_trip > 0 and all(unit == "s" for _, unit in delays):
        found.append(f"rtt={written(round_trip / 2, 's')}:{written(2 * round_trip, 's')}")
    if not found:
        raise InputError("over: the scenario has no named flows and no [dumbbell]; give a range such as KEY=LOW:HIGH")
    return found


def derived_words(texts: Sequence[str]) -> str:
    """Return a note on conditions that were not given.

    >>> derived_words(["flows=2:8", "rtt=20ms:80ms"])
    'conditions derived from the scenario: flows=2:8 and rtt=20ms:80ms; --over sets others'
    """
    return f"conditions derived from the scenario: {joined(texts)}; --over sets others"


def search_points(ranges: Sequence[Range]) -> list[Point]:
    """Return the corners of the ranges and their centre."""
    corners = [_point(ranges, shares, corner=True) for shares in itertools.product((0.0, 1.0), repeat=len(ranges))]
    return [*corners, _point(ranges, (0.5,) * len(ranges), corner=False)]


def fresh_points(ranges: Sequence[Range], count: int, seen: Sequence[Point] = ()) -> list[Point]:
    """Return interior points that no trial has seen, spread evenly (Halton 1960); always the same.

    Narrow ranges of whole numbers may have fewer than `count`.
    """
    from scipy.stats.qmc import Halton

    sample = Halton(len(ranges), scramble=True, rng=1).random(DRAWS * count)
    drawn = [_point(ranges, tuple(shares), corner=False) for shares in sample.tolist()]
    known = {point.pairs for point in seen}
    unseen = {point.pairs: point for point in reversed(drawn) if point.pairs not in known}
    return [*reversed(unseen.values())][:count]


def at_rate(point: Point, plan: Scenario, link: str, share: float) -> Point | None:
    """Return a point at which a link has this share of its rate; None where no key of the network sets the rate."""
    raw = plan.tables
    key = _rate_key(raw, {**RATES_AT, "dumbbell": link if link in raw.get("dumbbell", ()) else "bottleneck"})
    if key is None or any(own == key for own, _ in point.pairs):
        return None
    rate = written(share * plan.link(link).rate_bps, "bps")
    return replace(point, pairs=(*point.pairs, (key, rate)))


def at_round_trip(point: Point, share: float) -> Point | None:
    """Return a point with this share of its round trip; None where the ranges do not set one."""

    def scaled(key: str, text: str) -> str:
        if not (key.startswith("dumbbell.") and key.endswith(".delay")):
            return text
        return f"{1e3 * share * number_of(text, key)[0]:.9g}ms"

    pairs = tuple((key, scaled(key, text)) for key, text in point.pairs)
    return None if pairs == point.pairs else replace(point, pairs=pairs)


def _point(ranges: Sequence[Range], shares: Sequence[float], *, corner: bool) -> Point:
    values = [one.at(share) for one, share in zip(ranges, shares, strict=True)]
    pairs = [pair for one, value in zip(ranges, values, strict=True) for pair in one.overrides(value)]
    name = ", ".join(f"{one.key}={one.text(value)}" for one, value in zip(ranges, values, strict=True))
    return Point(name, tuple(pairs), corner)


def _range(text: str, plan: Scenario) -> Range:
    key, sign, ends = text.partition("=")
    key = key.strip()
    words = ends.split(":")
    if not sign or not key or len(words) != 2:
        raise InputError(f'over "{text}": write it as KEY=LOW:HIGH, for example flows=10:200 or rtt=20ms:200ms')
    (low, unit), (high, other) = (number_of(word, f'over "{text}"') for word in words)
    if unit != other:
        raise InputError(f'over "{text}": both ends must have the same kind of unit')
    if not low < high:
        what = "is empty" if low == high else "is reversed"
        raise InputError(f'over "{text}": the range {what} (the low end comes first, and is below the high end)')
    whole = unit in COUNTS and low.is_integer() and high.is_integer()
    return Range(key, low, high, unit, whole, _meaning(key, low, unit, text, plan, whole=whole))


def number_of(word: str, where: str) -> tuple[float, str]:
    """Read a number with its unit: a time in s (``s``), a rate in bit/s (``bps``), or in the unit as written.

    Raises
    ------
    InputError
        If the text is not a number; the message begins with `where`.

    >>> number_of("20ms", "over"), number_of("7p", "vary")
    ((0.02, 's'), (7.0, 'p'))
    """
    match = _VALUE.fullmatch(word)
    try:
        number, unit = float(match.group(1)), match.group(2)  # type: ignore[union-attr]
        if not math.isfinite(number):
            raise ValueError
    except (AttributeError, ValueError):
        raise InputError(f'{where}: "{word}" is not a number with or without a unit') from None
    if unit in TIMES:
        return number * TIMES[unit], "s"
    if unit in RATES:
        return number * RATES[unit], "bps"
    return number, unit


def _meaning(key: str, low: float, unit: str, text: str, plan: Scenario, *, whole: bool) -> Callable[[float], Pairs]:
    """Return what values of a key are in the scenario."""
    raw = plan.tables
    if key == "flows":
        return _flows(low, unit, text, raw, whole=whole)
    if key == "rtt":
        return _round_trip(low, unit, text, raw)
    if key == "rate":
        return _rate(unit, text, raw)
    if key.startswith("run.seed"):
        raise InputError(f'over "{text}": seeds repeat a condition, and are none (options for seeds: --help)')
    if "." not in key:
        raise InputError(f'over "{text}": unknown key "{key}" (allowed: flows, rtt, rate, or a dotted key of the file)')
    return lambda value: ((key, written(value, unit)),)


def _flows(low: float, unit: str, text: str, raw: dict[str, Any], *, whole: bool) -> Callable[[float], Pairs]:
    name = next((group.get("name") for group in raw.get("flow", ())), None)
    if name is None:
        raise InputError(f'over "{text}": the first [[flow]] of the file has no name')
    if unit or low < 1 or not whole:
        raise InputError(f'over "{text}": flows are a whole number, from 1 on')
    return lambda value: ((f"flow.{name}.count", f"{round(value)}"),)


def _round_trip(low: float, unit: str, text: str, raw: dict[str, Any]) -> Callable[[float], Pairs]:
    """Round trip without queueing: the bottleneck keeps its delays while there is room; the rest goes to both sides."""
    if "dumbbell" not in raw:
        raise InputError(f'over "{text}": rtt is for a [dumbbell]; elsewhere name a delay, such as chain.link.delay')
    if unit != "s" or low <= 0:
        raise InputError(f'over "{text}": a round trip is a time above 0, for example rtt=20ms:200ms')
    parts = [part for part in ("bottleneck", "down", "up") if part in raw["dumbbell"]]
    own = {}
    for part in parts:
        number, kind = number_of(raw["dumbbell"][part]["delay"], f'over "{text}"')
        own[part] = number if kind == "s" else math.nan

    def pairs(value: float) -> Pairs:
        middle = {part: min(delay, value / 4) for part, delay in own.items()}
        side = (value / 2 - sum(middle.values()) / len(middle)) / 2
        return tuple(
            (f"dumbbell.{part}.delay", f"{delay * 1e3:.9g}ms")
            for part, delay in (*middle.items(), ("left", side), ("right", side))
        )

    return pairs


def _rate_key(raw: Mapping[str, Any], parts: Mapping[str, str] = RATES_AT) -> str | None:
    return next((f"{name}.{part}.rate" for name, part in parts.items() if part in raw.get(name, ())), None)


def _rate(unit: str, text: str, raw: dict[str, Any]) -> Callable[[float], Pairs]:
    key = _rate_key(raw)
    if key is None:
        raise InputError(f'over "{text}": this network has no one bottleneck; name the rate by its dotted key')
    if unit != "bps":
        raise InputError(f'over "{text}": a rate has a unit, for example rate=2Mbps:20Mbps')
    return lambda value: ((key, written(value, "bps")),)
