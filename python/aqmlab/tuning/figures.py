"""The figure of a tuning: every trial, the Pareto front, and the settings that were confirmed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aqmlab.errors import counted
from aqmlab.figures.chart import Chart, Mode, Series
from aqmlab.tuning.search import Task, Trial
from aqmlab.tuning.verification import Confirmed


def chart_of(
    queue: str, task: Task, *, trials: Sequence[Trial], front: Sequence[Trial], confirmed: Sequence[Confirmed]
) -> Chart:
    """Draw the goal against the first bound's quantity, or against the trial's number if there is no bound."""
    goal = task.goal.metric
    if not task.bounds:
        usable = [trial for trial in trials if np.isfinite(trial.goal)]
        series = [
            Series(
                "trials", [t.number + 1 for t in usable], [goal.scale * t.goal for t in usable], mode="points", color=5
            )
        ]
        return Chart("tune", f"Tuning {queue}", f"{goal.title} of every trial", "trial", goal.label, series)
    bound = task.bounds[0]
    usable = [trial for trial in trials if np.isfinite([trial.goal, trial.kept[0]]).all()]
    series = [
        _of_trials("trials", task, usable, mode="points", color=5),
        _of_trials("front", task, front, mode="line", color=0),
        *(_confirmed(task, one, color) for color, one in enumerate(confirmed, 1)),
    ]
    text = (
        f"{goal.title} against {bound.metric.in_sentence} at the worst point: each of "
        f"{counted(len(usable), 'trial')}, their Pareto front, and on fresh seeds "
        f"{', '.join(one.name for one in confirmed)}; {bound.words} was asked for."
    )
    return Chart("tune", f"Tuning {queue}: {bound.words}", text, bound.metric.label, goal.label, series)


def _of_trials(name: str, task: Task, trials: Sequence[Trial], *, mode: Mode, color: int) -> Series:
    kept, goal = task.bounds[0].metric.scale, task.goal.metric.scale
    return Series(name, [kept * t.kept[0] for t in trials], [goal * t.goal for t in trials], mode=mode, color=color)


def _confirmed(task: Task, one: Confirmed, color: int) -> Series:
    kept, goal = task.bounds[0].metric.scale, task.goal.metric.scale
    return Series(
        f"{one.name}, fresh seeds",
        [kept * one.kept[0].interval.mean],
        [goal * one.goal.mean],
        low=[goal * one.goal.low],
        high=[goal * one.goal.high],
        mode="points",
        color=color,
    )
