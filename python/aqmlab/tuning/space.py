"""The parameters that are searched, and how numbers of the search become settings of a queue.

Of a queue with RED's parameters these are max_th, min_th as a share of max_th (so that it is always below), max_p and
w_q, all on logarithmic scales; the buffer (``limit``) stays as the scenario has it. A discipline that controls the
delay has its target, with CoDel the interval, with a PI controller its two gains, in `RANGES`. Thresholds are whole
packets, all else has three digits: no finer than a configuration can hold or a run can resolve.

An average that is slower than a run never gets to where it would stay, and settings that live on that fail in longer
runs. So w_q is at least so large that the average's time constant, 1/(w_q C), is a tenth of the measured time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aqmlab.errors import InputError, unknown
from aqmlab.scenario.parts import packets
from aqmlab.scenario.registry import Discipline, Parameter
from aqmlab.scenario.toml_text import Value
from aqmlab.tuning.free_curve import (
    END,
    HEIGHTS,
    LATEST_END,
    POINTS,
    REPLACED,
    is_free_curve,
    numbers_of_points,
    points_of,
)
from aqmlab.tuning.measurements import Body
from aqmlab.tuning.ranges import number_of, written

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

CLASS = "class"
"""Beginning of the key of a class's parameter: ``class.out.max_th``."""
Numbers = dict[str, Any]
"""Dimension to its value in the search."""
SHARE = "min_th / max_th"
PACKETS = ("limit", "min_th", "max_th")
UNITS = {"packets": "p", "s": "s", "B": "B"}
"""Units that a value of a scenario has to have, or may have."""
EXAMPLES = {"p": "20:200", "s": "1ms:30ms", "B": "300B:3000B"}
RED = frozenset({"min_th", "max_th", "max_p", "w_q"})
OF_CLASSES = ("rio", "wred", "adaptive-rio")
"""Disciplines whose thresholds belong to their classes."""
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    **{name: {"target": (5e-4, 0.05), "interval": (0.01, 0.5)} for name in ("codel", "fq-codel", "cobalt")},
    "cake": {"rtt": (0.01, 1.0)},
    **{name: {"target": (1e-3, 0.1), "alpha": (0.0625, 1.25), "beta": (0.125, 12.5)} for name in ("pie", "fq-pie")},
    **{name: {"target": (1e-3, 0.1), "alpha": (0.02, 2.0), "beta": (0.2, 20.0)} for name in ("pi2", "dualpi2")},
}
"""Search ranges of the disciplines that control the delay: times in s, gains a decade around the RFCs' values."""
FALSE, TRUE = "false", "true"
"""Words of a parameter that is on or off."""
CURVE = (*HEIGHTS, END)
"""Dimensions of a free curve."""
LINEAR = {**dict(zip(HEIGHTS, (1 / 2, 2 / 3, 3 / 4), strict=True)), END: 1.0}
"""RED's linear curve in them."""
GENTLE_END = 2.0
ENDINGS = {LINEAR[END]: "linear", GENTLE_END: "gentle"}
"""End of a curve that is straight up to max_th, and the word for this curve."""
TIME_CONSTANTS = 10
"""Time constants of the average that the measured time of a run must have room for."""


@dataclass(frozen=True)
class Dimension:
    """One number, or one word, that is searched.

    Attributes
    ----------
    key
        The queue's parameter, or `SHARE`.
    low, high
        Its ends, in the parameter's unit; on a logarithmic scale where low is above 0.
    whole
        Whether it is a whole number.
    choices
        Words; empty for a number.
    unit
        The parameter's unit, which its values are written with: ``packets``, ``s``, ``B``, or ``1``.
    """

    key: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    choices: tuple[str, ...] = ()
    unit: str = "1"

    @property
    def of_class(self) -> tuple[str, str] | None:
        """The class and its parameter that ``class.NAME.KEY`` names; None for a parameter of the queue.

        >>> Dimension("class.out.max_th").of_class, Dimension("max_th").of_class
        (('out', 'max_th'), None)
        """
        head, _, rest = self.key.partition(".")
        name, _, key = rest.partition(".")
        return (name, key) if head == CLASS else None

    def distribution(self) -> BaseDistribution:
        """Return it as Optuna knows it."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.choices:
            return CategoricalDistribution(self.choices)
        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.low >= 1)
        return FloatDistribution(self.low, self.high, log=self.low > 0)

    @property
    def words(self) -> str:
        """The key with its range: ``target 0.5ms to 50ms``, ``spacing linux or none``.

        >>> Dimension("target", 5e-4, 0.05, unit="s").words, Dimension("spacing", choices=("linux", "none")).words
        ('target 0.5ms to 50ms', 'spacing linux or none')
        """
        if self.choices:
            return f"{self.key} {' or '.join(self.choices)}"
        return f"{self.key} {self.value(self.low)} to {self.value(self.high)}"

    def inside(self, value: Any) -> Any:  # noqa: ANN401 - a number or a word
        """Bring a value into the range."""
        if isinstance(value, bool):
            value = TRUE if value else FALSE
        if self.choices:
            return value if value in self.choices else self.choices[0]
        near = min(max(float(value), self.low), self.high)
        return round(near) if self.whole else near

    def value(self, number: Any) -> Value:  # noqa: ANN401 - a number or a word
        """Return a number of the search as a scenario has it.

        >>> Dimension("target", 1e-3, 0.1, unit="s").value(0.0051234), Dimension("limit", 2, 9, True).value(4)
        ('5.12ms', 4)
        """
        if self.choices:
            return number == TRUE if set(self.choices) <= {FALSE, TRUE} else str(number)
        found = round(number) if self.whole else float(f"{number:.3g}")
        return written(found, UNITS[self.unit]) if self.unit in UNITS else found


@dataclass(frozen=True)
class Space:
    """All dimensions, and the table that they override.

    Attributes
    ----------
    base
        The queue's table, with everything that stays.
    dimensions
        The dimensions of the search.
    """

    base: Mapping[str, Value]
    dimensions: tuple[Dimension, ...]

    @property
    def base_words(self) -> dict[str, str]:
        """The words of the table."""
        return {key: value for key, value in self.base.items() if isinstance(value, str) and key not in PACKETS}

    @property
    def needs(self) -> set[str]:
        """The numbers that effective parameters must have to be numbers of the search."""
        keys = {one.key for one in self.dimensions if not (one.choices or one.of_class)} - set(CURVE)
        return keys - {SHARE} | {"min_th", "max_th"} if SHARE in keys else keys

    def body(self, numbers: Numbers) -> Body:
        """Return the queue's table for numbers of the search.

        >>> searched = (Dimension("max_th", 2, 100, True, unit="packets"), Dimension(SHARE, 0.05, 0.9))
        >>> space = Space({"aqm": "red", "limit": "100p"}, searched)
        >>> space.body({"max_th": 30, SHARE: 0.3333})
        {'aqm': 'red', 'limit': '100p', 'max_th': '30p', 'min_th': '10p'}
        """
        found = dict(self.base)
        for dimension in self.dimensions:
            value = numbers[dimension.key]
            if dimension.of_class:
                found[CLASS] = _with(found[CLASS], dimension.of_class, dimension.value(value))
            elif dimension.key in (SHARE, "min_th") and "max_th" in numbers:
                wanted = value * numbers["max_th"] if dimension.key == SHARE else value
                found["min_th"] = f"{min(max(1, round(wanted)), round(numbers['max_th']) - 1)}p"
            elif dimension.key not in CURVE:
                found[dimension.key] = dimension.value(value)
        return _with_points(found, numbers) if found.get("curve") == POINTS and END in numbers else found

    def numbers(self, effective: Mapping[str, Any], packet: float) -> Numbers:
        """Return the numbers of the search that are nearest to effective parameters (`Link.parameters`).

        Of a free curve the points are among them. In its dimensions all curves but gentle RED's are the linear one.
        """
        found: Numbers = {}
        effective = {**effective, **LINEAR, END: GENTLE_END if effective.get("curve") == "gentle" else LINEAR[END]}
        if is_free_curve(effective.get(POINTS)):
            effective |= numbers_of_points(effective[POINTS])
        for dimension in self.dimensions:
            if dimension.of_class:
                value: Any = _in_class(self.base[CLASS], dimension.of_class)
            elif dimension.key == SHARE:
                value = packets(effective["min_th"], packet) / packets(effective["max_th"], packet)
            elif dimension.key in PACKETS:
                value = packets(effective[dimension.key], packet)
            else:
                value = effective.get(dimension.key, dimension.low)
                if isinstance(value, str) and not dimension.choices:
                    value = number_of(value, dimension.key)[0]
            found[dimension.key] = dimension.inside(value)
        return found


def _with_points(body: Body, numbers: Numbers) -> Body:
    """Return a queue's table with the points of a curve, or with the word for a straight one."""
    named = ENDINGS.get(numbers[END])
    if named and all(math.isclose(numbers[key], LINEAR[key]) for key in HEIGHTS):
        return {**body, "curve": named}
    low, high = (number_of(str(body[key]), key)[0] for key in ("min_th", "max_th"))
    points: Any = points_of(low, high, float(numbers["max_p"]), numbers)
    return {**{key: value for key, value in body.items() if key not in REPLACED}, POINTS: points}


def _with(classes: Any, place: tuple[str, str], value: Value) -> Any:  # noqa: ANN401 - tables of a scenario
    """Return a queue's classes with a parameter of one changed; its min_th stays below its max_th."""
    name, key = place
    changed = [{**table, key: value} if table["name"] == name else dict(table) for table in classes]
    for table in changed:
        if table["name"] == name and {"min_th", "max_th"} <= set(table):
            low, high = (number_of(str(table[one]), one)[0] for one in ("min_th", "max_th"))
            table["min_th"] = f"{min(low, max(1.0, high - 1)):g}p"
    return changed


def _in_class(classes: Any, place: tuple[str, str]) -> float:  # noqa: ANN401 - tables of a scenario
    """Return a parameter of a class; 0 if the class does not have it."""
    name, key = place
    table = next(table for table in classes if table["name"] == name)
    return number_of(str(table.get(key, 0)), key)[0]


def least_weight(capacity: float, measured_s: float) -> float:
    """Return the least w_q that is searched, for a capacity in packets/s and a measured time in s.

    >>> least_weight(1250, 20)
    0.0004
    """
    return min(0.1, TIME_CONSTANTS / (capacity * measured_s))


def space_of(aqm: Discipline, base: Mapping[str, Value], *, limit: float, slowest: float, vary: Sequence[str]) -> Space:
    """Return the search space of a discipline.

    Parameters
    ----------
    aqm
        The discipline.
    base
        The queue's table.
    limit
        Its buffer in packets.
    slowest
        The least w_q.
    vary
        Further parameters, or other ranges of those searched anyway: ``limit=20:200``, ``max_p=0.01:0.3``,
        ``spacing=linux,ns2-wait``.
    """
    own = {parameter.key: parameter for parameter in aqm.own_parameters}
    found: dict[str, Dimension] = {}
    top = max(3.0, math.floor(limit))
    curves = [one for one in (_asked(text, own, base) for text in vary) if one.key == "curve"]
    of_classes = CLASS in base or aqm.name in OF_CLASSES
    is_free = any(POINTS in one.choices for one in curves)
    if is_free and of_classes:
        raise InputError(f"vary curve: {aqm.name} has thresholds for each of its classes, so that no curve is free")
    if curves:
        base = {key: value for key, value in base.items() if key not in (POINTS, "curve")}
    if POINTS in base or of_classes:
        pass  # Thresholds belong to its classes, or to the points of its curve.
    elif aqm.name in RANGES:
        for key, (low, high) in RANGES[aqm.name].items():
            found[key] = Dimension(key, low, high, unit=own[key].unit)
    elif set(own) >= RED:
        found["max_th"] = Dimension("max_th", 2, top, whole=True, unit="packets")
        found[SHARE] = Dimension(SHARE, 0.05, 0.9)
        found["max_p"] = Dimension("max_p", 0.005, 1.0)
        found["w_q"] = Dimension("w_q", slowest, 0.5)
    else:
        found["limit"] = Dimension("limit", 2, top, whole=True, unit="packets")
    asked: set[str] = set()
    for text in vary:
        dimension = _asked(text, own, base)
        if dimension.key in asked:
            raise InputError(f'vary "{text}": {dimension.key} is given twice')
        if POINTS in base and dimension.key in REPLACED:
            raise InputError(f'vary "{text}": {dimension.key} has no effect, since the curve goes through points')
        asked.add(dimension.key)
        if dimension.key == "min_th":
            found.pop(SHARE, None)
        found[dimension.key] = dimension
    if is_free:
        found |= {key: Dimension(key, 0.0, 1.0) for key in HEIGHTS}
        found[END] = Dimension(END, 1.0, LATEST_END)
    if not found:
        raise InputError(
            f"vary: {aqm.name} has thresholds for each of its classes, or a curve through points: "
            "name a parameter to search, for example --vary limit=20:200"
        )
    return Space(base, tuple(found.values()))


def _of_class(text: str, key: str, own: Mapping[str, Parameter], base: Mapping[str, Value]) -> str:
    """Return the parameter that ``class.NAME.KEY`` names, checked; other keys stay."""
    pair = Dimension(key).of_class
    if not pair:
        return key
    tables: Any = base.get(CLASS, ())
    names = [table["name"] for table in tables]
    if not names:
        raise InputError(f'vary "{text}": the queue has no classes')
    if pair[0] not in names:
        raise InputError(f'vary "{text}": {unknown("class", pair[0], names)}')
    allowed = [one for one in ("min_th", "max_th", "max_p") if one in own]
    if pair[1] not in allowed:
        raise InputError(f'vary "{text}": {unknown("parameter of a class", pair[1], allowed)}')
    return pair[1]


def _asked(text: str, own: Mapping[str, Parameter], base: Mapping[str, Value]) -> Dimension:
    whole, sign, values = text.partition("=")
    whole = whole.strip()
    key = _of_class(text, whole, own, base)
    if not sign or not values.strip():
        raise InputError(f'vary "{text}": write it as KEY=LOW:HIGH or KEY=WORD,WORD')
    if key not in own:
        raise InputError(f"vary: {unknown('parameter', key, list(own))}")
    parameter = own[key]
    allowed = (FALSE, TRUE) if isinstance(parameter.default, bool) else parameter.choices
    if allowed == (FALSE, TRUE) or (allowed and not values.strip()[0].isdigit()):
        words = tuple(word.strip() for word in values.split(","))
        for word in words:
            if word not in allowed:
                raise InputError(f"vary {key}: {unknown('word', word, list(allowed))}")
        if len(set(words)) < len(words):
            raise InputError(f"vary {key}: a word is given twice")
        return Dimension(key, choices=words)
    low, high = _ends(text, parameter, values)
    if not low < high:
        raise InputError(f'vary "{text}": the low end must be below the high end')
    if key == "max_th" and low < 2:
        raise InputError(f'vary "{text}": max_th begins at 2 packets, so that min_th is below it')
    if (parameter.low is not None and low < parameter.low) or (parameter.high is not None and high > parameter.high):
        raise InputError(f'vary "{text}": out of range (allowed: {parameter.allowed})')
    return Dimension(whole, low, high, whole=parameter.unit in ("packets", "B"), unit=parameter.unit)


def _ends(text: str, parameter: Parameter, values: str) -> tuple[float, float]:
    """Return both ends of a range in the parameter's unit."""
    words = values.split(":")
    unit = UNITS.get(parameter.unit, "")
    example = f"{parameter.key}={EXAMPLES.get(unit, '0.01:0.3')}"
    if len(words) != 2:
        raise InputError(f'vary "{text}": write it as LOW:HIGH, for example {example}')
    ends = []
    for word in words:
        number, own = number_of(word, f'vary "{text}"')
        if own != unit and (own or unit == "s"):
            raise InputError(f'vary "{text}": "{word.strip()}" has another unit (allowed: for example {example})')
        ends.append(number)
    return ends[0], ends[1]
