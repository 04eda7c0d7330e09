"""The figure of a tuning: every trial, the Pareto front, and the settings that were confirmed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aqmlab.figures.chart import Chart, Series
from aqmlab.tuning.search import Task, Trial
from aqmlab.tuning.verification import Confirmed


def chart_of(
    queue: str, task: Task, *, trials: Sequence[Trial], front: Sequence[Trial], confirmed: Sequence[Confirmed]
) -> Chart:
    """Draw the goal against the first bound's quantity, or against the trial's number if there is no bound."""
    goal = task.goal.metric
    if not task.bounds:
        usable = [trial for trial in trials if np.isfinite(trial.goal)]
        series = [Series("trials", [t.number + 1 for t in usable], [t.goal for t in usable], mode="points", color=5)]
        return Chart("tune", f"Tuning {queue}", f"{goal.title} of every trial", "trial", goal.label, series)
    bound = task.bounds[0]
    usable = [trial for trial in trials if np.isfinite([trial.goal, trial.kept[0]]).all()]
    series = [
        _points("trials", usable, color=5),
        Series("front", [t.kept[0] for t in front], [t.goal for t in front], mode="line", color=0),
        *(_confirmed(one, color) for color, one in enumerate(confirmed, 1)),
    ]
    text = (
        f"{goal.title} against {bound.metric.title.lower()} at the worst point: each of {len(usable)} trials, their "
        f"Pareto front, and on fresh seeds {', '.join(one.name for one in confirmed)}; {bound.words} was asked for."
    )
    return Chart("tune", f"Tuning {queue}: {bound.words}", text, bound.metric.label, goal.label, series)


def _points(name: str, trials: Sequence[Trial], *, color: int) -> Series:
    return Series(name, [t.kept[0] for t in trials], [t.goal for t in trials], mode="points", color=color)


def _confirmed(one: Confirmed, color: int) -> Series:
    bar = one.goal
    return Series(
        f"{one.name}, fresh seeds",
        [one.kept[0].interval.mean],
        [bar.mean],
        low=[bar.low],
        high=[bar.high],
        mode="points",
        color=color,
    )
