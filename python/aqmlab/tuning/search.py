"""The search: Optuna's tree-structured Parzen estimator with constraints, from the starts on.

J. Bergstra, R. Bardenet, Y. Bengio and B. Kégl, "Algorithms for hyper-parameter optimization", NIPS 2011. The sampler's
seed is fixed, and settings are asked for in batches of a fixed size, whatever the number of cores: the same inputs give
the same answer.

Each batch of trials is run on the first seed, and its better half on the others (successive halving: K. Jamieson and
A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016); starts are run on
all seeds.
"""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.errors import InputError
from aqmlab.results.quantities import lack
from aqmlab.runs.bounds import Bound
from aqmlab.tuning.budget import SEARCH
from aqmlab.tuning.goals import Goal
from aqmlab.tuning.measurements import Bench, Body, Measured
from aqmlab.tuning.pareto import pareto_front
from aqmlab.tuning.ranges import Point
from aqmlab.tuning.space import Numbers, Space

if TYPE_CHECKING:
    import optuna

BATCH = 4
"""Settings that are tried at once."""
SAMPLER_SEED = 1
BROKEN = 1e6
"""Stands for the goal, and for the violation, of settings whose runs do not have the quantity."""


@dataclass(frozen=True)
class Trial:
    """Settings that were tried.

    Attributes
    ----------
    number
        Their place in the order, from 0.
    name
        The start's name, or ``trial 17``.
    body
        The queue's table.
    goal
        Mean over the seeds of the goal's quantile over the points, in the metric's unit.
    kept
        For each bound: the mean at the worst point, in its metric's unit.
    violation
        By what share of a bound the worst bound is broken; 0 or less where all are kept.
    seeds
        How many seeds it was run on: one if it was in the worse half of its batch there.
    """

    number: int
    name: str
    body: Body
    goal: float
    kept: tuple[float, ...]
    violation: float
    seeds: int = 0

    @property
    def feasible(self) -> bool:
        """Whether every bound is kept at every point."""
        return self.violation <= 0


@dataclass(frozen=True)
class Task:
    """Criteria by which settings are judged.

    Attributes
    ----------
    goal, bounds
        The quantity and the constraints.
    share
        Which quantile over the points counts for the goal; 1: the worst.
    unharmed
        Further quantities that settings must not make decisively worse than the defaults do.
    """

    goal: Goal
    bounds: tuple[Bound, ...]
    share: float
    unharmed: tuple[Goal, ...] = ()

    @property
    def is_felt(self) -> bool:
        """Whether the goal is what users of an application feel, which counts more than a bound."""
        return self.goal.metric.is_felt

    def judge(self, number: int, name: str, body: Body, found: Measured) -> Trial:
        """Sum up what was measured."""
        asked = (self.goal.metric, *(bound.metric for bound in self.bounds), *(one.metric for one in self.unharmed))
        for metric in asked:
            if metric.key not in found:
                raise InputError(f"the runs have {lack([metric.key], found)}")
        goal = float(np.mean(self.goal.over_points(found[self.goal.metric.key], self.share)))
        means = [found[bound.metric.key].mean(axis=1) for bound in self.bounds]
        kept = tuple(bound.worst(mean) for bound, mean in zip(self.bounds, means, strict=True))
        broken = [bound.violation(mean) for bound, mean in zip(self.bounds, means, strict=True)]
        violation = max(broken, default=0.0) if np.isfinite(goal) else np.inf
        seeds = found[self.goal.metric.key].shape[1]
        return Trial(number, name, body, goal, kept, float(violation), seeds)

    def order(self, trial: Trial) -> tuple[bool, float, float]:
        """Return a key that sorts the best first: those that keep the bounds by the goal, others by the violation."""
        goal = self.goal.sign * trial.goal
        return (not trial.feasible, goal if trial.feasible else trial.violation, goal)


def need_optuna() -> None:
    """Say how to get Optuna if it is not there."""
    if importlib.util.find_spec("optuna") is None:
        raise InputError("tune: needs Optuna, which is not installed: pip install 'aqmlab[tune]'")


def search(
    bench: Bench,
    space: Space,
    task: Task,
    *,
    starts: Sequence[tuple[str, Numbers]],
    points: Sequence[Point],
    seeds: Sequence[int],
    trials: int,
    sampler_seed: int = SAMPLER_SEED,
    is_hopeless: Callable[[Sequence[Trial]], bool] = lambda _: False,
) -> list[Trial]:
    """Try settings, the starts first; return all that were tried, in order.

    After half of the trials, `is_hopeless` may end the search.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    distributions = {dimension.key: dimension.distribution() for dimension in space.dimensions}
    names: dict[int, str] = {}
    found: list[Trial] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna calls constraints and multivariate sampling experimental.
        study = optuna.create_study(direction="minimize", sampler=_sampler(trials, len(starts), sampler_seed))
        for number, (name, numbers) in enumerate(starts[:trials]):
            study.enqueue_trial(numbers)
            names[number] = name
        while len(found) < trials and not (found and bench.budget.is_spent(SEARCH)):
            if 2 * len(found) >= trials and is_hopeless(found):
                return found
            asked = [study.ask(distributions) for _ in range(min(BATCH, trials - len(found)))]
            bodies = [space.body(one.params) for one in asked]
            title = f"trials {asked[0].number + 1}-{asked[-1].number + 1} of {trials}"
            named = [(one.number, names.get(one.number), body) for one, body in zip(asked, bodies, strict=True)]
            batch = _halved(task, named, partial(_judged, bench, task, points=points, title=title), seeds)
            for one, trial in zip(asked, batch, strict=True):
                _tell(study, one, task, trial)
            found += batch
    bench.budget.cut("trials", len(found), trials)
    return found


Asked = tuple[int, str | None, Body]
"""Settings to try: their number, the start's name, and the queue's table."""


def _halved(
    task: Task, asked: Sequence[Asked], judged: Callable[..., list[Trial]], seeds: Sequence[int]
) -> list[Trial]:
    """Try settings on the first seed, and the starts and the better half on all."""
    first = judged(asked, seeds=seeds[:1])
    ranked = sorted((trial for trial in first if math.isfinite(trial.violation)), key=task.order)
    starts = {number for number, name, _ in asked if name is not None}
    better = {trial.number for trial in ranked[: math.ceil(len(asked) / 2)]} | starts
    if len(seeds) == 1:
        return first
    again = judged([one for one in asked if one[0] in better], seeds=seeds)
    on_all = {trial.number: trial for trial in again}
    return [on_all.get(trial.number, trial) for trial in first]


def _judged(
    bench: Bench,
    task: Task,
    asked: Sequence[Asked],
    *,
    points: Sequence[Point],
    seeds: Sequence[int],
    title: str,
) -> list[Trial]:
    """Try settings on seeds; settings that no scenario may have are infinitely bad."""
    measured = bench.measure_valid([body for _, _, body in asked], points, seeds, title=title)
    found = []
    for (number, start, body), values in zip(asked, measured, strict=True):
        name = start or f"trial {number + 1}"
        if values is not None:
            found.append(task.judge(number, name, body, values))
        else:
            found.append(Trial(number, name, body, math.nan, (math.nan,) * len(task.bounds), math.inf))
    return found


def _tell(study: optuna.Study, asked: optuna.trial.Trial, task: Task, trial: Trial) -> None:
    asked.set_user_attr("violation", min(trial.violation, BROKEN))
    study.tell(asked, task.goal.sign * trial.goal if np.isfinite(trial.goal) else BROKEN)


def _sampler(trials: int, starts: int, seed: int) -> optuna.samplers.TPESampler:
    import optuna

    return optuna.samplers.TPESampler(
        seed=seed,
        n_startup_trials=starts + max(4, trials // 6),
        multivariate=True,
        constant_liar=True,
        constraints_func=_violation,
    )


def _violation(trial: optuna.trial.FrozenTrial) -> Sequence[float]:
    return (float(trial.user_attrs["violation"]),)


def front(trials: Sequence[Trial], task: Task) -> list[Trial]:
    """Return the Pareto front of the goal against the first bound's quantity, the best goal first.

    A trial is on it if none is better in one and as good in the other.
    """
    if not task.bounds:
        return []
    sign, side = task.goal.sign, task.bounds[0].sign
    usable = [trial for trial in trials if np.isfinite([trial.goal, trial.kept[0]]).all()]
    return pareto_front(usable, lambda trial: (sign * trial.goal, -side * trial.kept[0]))
