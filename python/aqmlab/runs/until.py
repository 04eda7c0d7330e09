"""`run` and `compare` until the intervals of named quantities are narrow enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.errors import InputError, unknown
from aqmlab.results.limits import loosest
from aqmlab.results.quantities import (
    LIST_COMMAND,
    QUANTITIES,
    Limits,
    difference_of,
    interval_of,
    is_quantity,
    lack,
    shown_in,
)
from aqmlab.scenario.file import MOST_SEEDS
from aqmlab.statistics.intervals import LEVEL
from aqmlab.statistics.sequential import FEWEST, Goal, Stopping, Widths, check_numbers, goals_of, run_until, spent

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result

Until = str | Sequence[str]
"""One goal or several: ``ci(goodput)=1%``."""


def run_until_narrow(
    until: Until,
    more: Callable[[Sequence[int]], Mapping[str, Result]],
    *,
    seeds: object,
    most: int,
    link: str | None = None,
) -> tuple[dict[str, Result], Stopping]:
    """Run seeds 1, 2, ... of a scenario, or of several, until intervals are narrow enough.

    Those of one scenario are the intervals of its means, those of several the intervals of the differences against the
    first. Relative goals are relative to the mean of the first.

    Parameters
    ----------
    until
        The goals.
    more
        Runs further seeds; returns the results by the scenarios' labels.
    seeds
        Runs before the first look; None for the least number that is allowed.
    most
        Most runs of each scenario.
    link
        The link in question; default: the bottleneck of each result.
    """
    goals = goals_of(until)
    for goal in goals:  # reject names that no metric has before anything is run
        if goal.metric:
            metric_named(goal.metric)
    fewest = first_look(seeds, most)
    so_far: dict[str, Result] = {}

    def extended(new: Sequence[int]) -> dict[str, Result]:
        for name, result in more(new).items():
            so_far[name] = so_far[name].with_runs(result) if name in so_far else result
        return so_far

    def widths(results: Mapping[str, Result]) -> Widths:
        tables = [result.metrics(link=link) for result in results.values()]
        there = set(tables[0].columns).intersection(*(table.columns for table in tables[1:]))
        limits = loosest([result.limits(link=link) for result in results.values()])
        return {goal.text: _width(goal, there, tables, limits) for goal in goals}

    return run_until(goals, extended, widths, fewest=fewest, most=most)


def _width(goal: Goal, there: Collection[str], tables: Sequence[pd.DataFrame], limits: Limits) -> float:
    """Return the largest of the widths that a goal is about; NaN if one of them is."""
    key = metric_of(goal, there)
    base, *others = (table[key].to_numpy() for table in tables)
    if not others:
        made, _ = interval_of(key, base, level=spent(LEVEL), limits=limits)
        return goal.width(made, made.mean)
    differences = [difference_of(key, values, base, level=spent(LEVEL), limits=limits) for values in others]
    wide = [goal.width(one.difference.interval, one.base) for one in differences]
    return math.nan if any(math.isnan(width) for width in wide) else max(wide)


def first_look(seeds: object, most: int) -> int:
    """Read `seeds` as the number of runs before the first look."""
    if seeds is None:
        seeds = FEWEST
    if not isinstance(seeds, int):
        raise InputError("until: seeds is the number of runs before the first look then, not a list")
    if most > MOST_SEEDS:
        raise InputError(f"until: at most {most} runs are too many (allowed: up to {MOST_SEEDS:,})")
    check_numbers(seeds, most)
    return seeds


def metric_of(goal: Goal, there: Collection[str]) -> str:
    """Return the metric that a goal is about, if the runs have it; ``ci=1%`` is about the first of view ``until``."""
    names = [metric_named(goal.metric)] if goal.metric else shown_in("until")
    for key in names:
        if key in there:
            return key
    raise InputError(f"until {goal.text}: these runs have {lack(names, there)}")


def metric_named(text: str) -> str:
    """Return the metric that a text means: its key, or the beginning of one key; of a group of flows ``KEY.GROUP``.

    A dot may stand for an underscore.

    >>> metric_named("goodput"), metric_named("delay.p95"), metric_named("loss"), metric_named("goodput.web")
    ('goodput_mbps', 'delay_p95_ms', 'loss', 'goodput_mbps.web')
    """
    whole, _, group = text.partition(".")
    of_group = [
        key for key, one in QUANTITIES.items() if one.of_groups and (key == whole or key.startswith(f"{whole}_"))
    ]
    if is_quantity(text) or (len(of_group) == 1 and group):
        return text if is_quantity(text) else f"{of_group[0]}.{group}"
    if text in QUANTITIES:
        return text
    start = text.replace(".", "_")
    found = [key for key in QUANTITIES if key == start or key.startswith(f"{start}_")]
    if len(found) == 1:
        return found[0]
    near = [key for key in QUANTITIES if text in key]
    if len(near) > 1:
        raise InputError(f'metric "{text}" may be {", ".join(near)}: name one of them')
    raise InputError(unknown("metric", text, list(QUANTITIES), see=LIST_COMMAND))
