"""RED in ns-2 and ns-3, which have the same parts: what neither can express, and what both understand otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.translation import Fixed, Table

SPACINGS = ("ns2-wait", "ns2-nowait", "floyd93", "linux")
"""Spacings that a program with and without "wait" can have; the last two are nearly as without."""
ADAPTATIONS = ("none", "feng", "adaptive-red")
RULES = Table(
    "adaptation of max_p",
    (),
    (
        Fixed(
            "adapt_from",
            "last-change",
            "measures the interval from the last change of max_p",
            "clock of the adaptation",
        ),
        Fixed("gentle_slope", "initial", "keeps the slope above max_th of the initial max_p", "slope above max_th"),
    ),
)
"""Rules of both programs for the adaptation of max_p, where other readings differ."""


def missing_parts(
    own: Mapping[str, Any], name: str, program: str, parts: Mapping[str, tuple[str, ...]]
) -> Iterator[Semantic]:
    """Yield the parts of RED that a program lacks; `parts` maps keys to the values that it has, the usual one first."""
    for key, values in parts.items():
        if (value := str(own.get(key, values[0]))) not in values:
            there = ", ".join(values)
            text = f'{name}: {program}\'s RED has no {key} "{value}" (there: {there}).'
            yield Semantic(f"{key} {value}", text, Kind.INEXPRESSIBLE)


def adaptation_differences(own: Mapping[str, Any], name: str, program: str) -> Iterator[Semantic]:
    """Yield the differences of a program's adaptation of max_p."""
    if own.get("adaptation") == "feng" and (own["max_p_low"] > 0 or own["max_p_high"] < 1):
        text = f"{name}: {program} does not keep Feng's max_p between max_p_low and max_p_high."
        yield Semantic("bounds of max_p", text, Kind.DIFFERS)
    for what, clauses in RULES.rules(own, program).items():
        yield Semantic(what, f"{name}: the scenario has {'; '.join(clauses)}.", Kind.DIFFERS)
    if own.get("adapt_clock") == "timer":
        text = f'{name}: {program} adapts at arrivals, the scenario has adapt_clock = "timer".'
        yield Semantic("clock of the adaptation", text, Kind.DIFFERS)
