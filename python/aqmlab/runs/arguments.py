"""Scenario and seeds as arguments of functions that run."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError
from aqmlab.scenario.file import LARGEST_SEED, MOST_SEEDS, Overrides, Scenario

Seeds = int | Iterable[int] | None


def as_scenario(scenario: str | Path | Scenario, *, overrides: Overrides = ()) -> Scenario:
    """Load a scenario, or apply overrides to one that is loaded."""
    if isinstance(scenario, Scenario):
        return scenario.with_overrides(overrides) if overrides else scenario
    return Scenario.load(scenario, overrides=overrides)


def seed_list(seeds: Seeds, plan: Scenario) -> list[int]:
    """Expand `seeds` into a list without repeats, in order."""
    if seeds is None:
        return list(plan.seeds)
    if isinstance(seeds, Integral):
        if int(seeds) > MOST_SEEDS:
            raise InputError(f"seeds: {seeds} are too many (allowed: up to {MOST_SEEDS:,})")
        seeds = range(1, int(seeds) + 1)
    given: list[Any] = list(seeds)  # type: ignore[arg-type]
    for seed in given:
        if not isinstance(seed, Integral) or isinstance(seed, bool):
            raise InputError(f"seeds: {seed!r} is not a seed (allowed: whole numbers)")
    found = sorted({int(seed) for seed in given})
    if found and max(found) > LARGEST_SEED:
        raise InputError(f"seeds: {max(found)} is too large (allowed: up to {LARGEST_SEED})")
    if len(found) > MOST_SEEDS:
        raise InputError(f"seeds: {len(found)} are too many (allowed: up to {MOST_SEEDS:,})")
    if not found or min(found) < 0:
        raise InputError("seeds: at least one, and none below 0 (a number n means the seeds 1 to n)")
    return found
