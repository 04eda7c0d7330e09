"""Points of a sweep as checked scenarios. All are checked before the first run is begun."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aqmlab.errors import InputError
from aqmlab.runs.jobs import expected_cost
from aqmlab.scenario.file import PINNED_SEEDS, Scenario


@dataclass(frozen=True, slots=True)
class Point:
    """One scenario of a study.

    Attributes
    ----------
    values
        Its values of the sweep's keys.
    scenario
        Hash of the scenario without its seeds.
    text
        The scenario, with everything applied.
    cost
        About how long a run takes, in seconds of one core.
    """

    values: tuple[str, ...]
    scenario: str
    text: str
    cost: float


def check_points(
    base: Scenario,
    keys: Sequence[str],
    points: Sequence[tuple[str, ...]],
    warnings: set[str],
    progress: Callable[[float], None],
) -> list[Point]:
    """Check the scenario with each point's values, and return the points; `warnings` gets probable mistakes.

    `progress` is called with the share that is checked, 0 to 1.
    """
    if PINNED_SEEDS[0] in keys:
        raise InputError(f"{PINNED_SEEDS[0]}: cannot be swept; say --seeds, every point gets them all")
    checked = []
    for number, values in enumerate(points):
        progress(number / len(points))
        checked.append(_checked(base, keys, values, warnings))
    return checked


def _checked(base: Scenario, keys: Sequence[str], values: tuple[str, ...], warnings: set[str]) -> Point:
    found = base.with_overrides((*zip(keys, values, strict=True), PINNED_SEEDS))
    warnings.update(map(str, found.warnings))
    return Point(values, found.hash, found.normalized, expected_cost(found))
