"""ns-3's disciplines beside RED: which attribute has which of our parameters.

A parameter that ns-3 has no attribute for is named where it is not what ns-3 does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.crosscheck.ns3.words import flag, number, seconds
from aqmlab.crosscheck.tool import Kind, Semantic

Write = Callable[[Any], str]


@dataclass(frozen=True)
class Beside:
    """A discipline.

    Attributes
    ----------
    kind
        Its type.
    words
        Our parameter to an attribute and how it is written.
    always
        Attributes that make it what ours is.
    rules
        What ns-3 does otherwise, by a name.
    """

    kind: str
    words: Mapping[str, tuple[str, Write]]
    always: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)


def size(limit: float | str) -> str:
    """Write a limit in packets or bytes.

    >>> size(100), size("64000B")
    ('100p', '64000B')
    """
    return f"{round(float(limit.removesuffix('B')))}B" if isinstance(limit, str) else f"{round(limit)}p"


def whole(value: float | str) -> str:
    """Write a whole number, of bytes perhaps."""
    return str(round(float(value.removesuffix("B") if isinstance(value, str) else value)))


CODEL: dict[str, tuple[str, Write]] = {
    "limit": ("MaxSize", size),
    "target": ("Target", seconds),
    "interval": ("Interval", seconds),
    "ecn": ("UseEcn", flag),
}
BESIDE: dict[str, Beside] = {
    "codel": Beside(
        "ns3::CoDelQueueDisc",
        {**CODEL, "max_packet": ("MinBytes", whole)},
        rules={
            "control law": "ns-3 computes interval/sqrt(count) as Linux does, with a 16-bit reciprocal root and times in "
            "units of 1024 ns; the difference is below a thousandth",
        },
    ),
}


def attributes_beside(aqm: str, own: Mapping[str, Any]) -> dict[str, str]:
    """Return attributes of a discipline with our parameters."""
    known = BESIDE[aqm]
    made = {name: write(own[key]) for key, (name, write) in known.words.items() if own.get(key) is not None}
    return {**made, **known.always}


def differences_beside(aqm: str, own: Mapping[str, Any], name: str) -> Iterator[Semantic]:
    """Name our parameters for which ns-3 has no attribute, and its other rules."""
    known = BESIDE[aqm]
    for what, text in known.rules.items():
        yield Semantic(what, f"{name}: {text}.", Kind.DIFFERS)
    for key, value in own.items():
        if key not in known.words and value is not None:
            text = f"{name}: ns-3 has no attribute for {key} = {_said(value)}."
            yield Semantic(f"parameter {key}", text, Kind.DIFFERS)


def _said(value: object) -> str:
    return flag(value) if isinstance(value, bool) else number(value) if isinstance(value, int | float) else str(value)
