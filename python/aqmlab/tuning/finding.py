"""The settings that a search finds: trials from the starts on, and the choice among the best on other seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.errors import BoundsError, InputError, counted
from aqmlab.tuning.measurements import Bench, Body
from aqmlab.tuning.problem import Problem, numbers_of
from aqmlab.tuning.search import SAMPLER_SEED, Task, Trial, search
from aqmlab.tuning.starts import ANALYTIC, AUTOMATIC, DEFAULTS, START
from aqmlab.tuning.verification import CHOICE_SEEDS, choose

OWN = (DEFAULTS, AUTOMATIC)
"""Names of the starts that are a discipline's own defaults."""
MOST_SEARCHES = 90
MOST_TRIALS = 100_000
SEEDS_APART = 10_000
"""Distance between the first seeds of two searches: more seeds than a search may have."""
HOPELESS = 0.5
"""Share of a noticeable difference that a trial must gain on the defaults for the search to go on."""


@dataclass(frozen=True)
class Seeds:
    """Seeds of a trial, of the choice among the best, and of the confirmation.

    Attributes
    ----------
    trial, choice, fresh
        Their numbers.
    search
        Seed of the sampler. Searches of different seeds use different seeds in their trials and in their choice.
    """

    trial: int
    choice: int
    fresh: int
    search: int = SAMPLER_SEED

    def trial_seeds(self) -> range:
        """Return the seeds of a trial.

        >>> Seeds(3, 8, 20).trial_seeds(), Seeds(3, 8, 20, search=2).trial_seeds()
        (range(1, 4), range(10001, 10004))
        """
        return self._apart(1, self.trial)

    def choice_seeds(self) -> range:
        """Return the seeds of the choice."""
        return self._apart(CHOICE_SEEDS, self.choice)

    def _apart(self, first: int, count: int) -> range:
        first += SEEDS_APART * (self.search - SAMPLER_SEED)
        return range(first, first + count)


def seeds_of(trials: int, seeds: int, fresh: int, search: int = SAMPLER_SEED) -> Seeds:
    """Return the numbers of seeds for numbers of trials, seeds of each, and fresh seeds; check all of them."""
    limits = {
        "trials": (trials, 1, MOST_TRIALS, ""),
        "seeds of a trial": (seeds, 1, SEEDS_APART, ""),
        "fresh seeds": (fresh, 2, SEEDS_APART, "; one has no interval"),
    }
    for what, (count, least, most, why) in limits.items():
        if not least <= count <= most:
            raise InputError(f"{what}: {count} is out of range (allowed: {least} to {most:,}{why})")
    if not 1 <= search <= MOST_SEARCHES:
        raise InputError(f"search seed {search} is out of range (allowed: 1 to {MOST_SEARCHES})")
    return Seeds(seeds, max(8, 2 * seeds, fresh), fresh, search)


@dataclass(frozen=True)
class Effort:
    """Number of trials, their seeds, and preferences where trials do not decide."""

    trials: int
    number: Seeds
    best_anyway: bool
    prefer_defaults: bool


@dataclass(frozen=True)
class Chosen:
    """The settings that were chosen, all trials, the references to confirm beside them, and notes."""

    body: Body
    trials: list[Trial]
    references: dict[str, Body]
    notes: list[str]
    warnings: list[str]


def find(bench: Bench, problem: Problem, task: Task, effort: Effort, *, as_it_is: str = "") -> Chosen:
    """Search from the starts, and choose among the best on other seeds.

    A start outside of the searched ranges is moved into them; the reference named `as_it_is` is a candidate unmoved.
    """
    points, references, number = problem.points, problem.references, effort.number
    begin = numbers_of(problem.place, problem.space, problem.starts)

    def is_hopeless(tried: Sequence[Trial]) -> bool:
        return effort.prefer_defaults and _winning_defaults(problem, task, tried) is not None

    tried = search(
        bench,
        problem.space,
        task,
        starts=begin,
        points=points.search,
        seeds=number.trial_seeds(),
        trials=effort.trials,
        sampler_seed=number.search,
        is_hopeless=is_hopeless,
    )
    unmoved = references.get(as_it_is)
    if unmoved is not None and not any(problem.place.is_same(unmoved, one.body) for one in tried if _is_valid(one)):
        (values,) = bench.measure([unmoved], points.search, number.trial_seeds(), title=as_it_is)
        tried.append(task.judge(len(tried), as_it_is, unmoved, values))
    missed = _missed(task, tried)
    if missed and not effort.best_anyway:
        raise BoundsError(f"tune: {missed}{_nearest_words(task, tried)}")
    notes: list[str] = []
    best = _winning_defaults(problem, task, tried) if effort.prefer_defaults else None
    if best is not None:
        step = HOPELESS * task.goal.metric.notable
        shown = f"by more than {step:.3g} {task.goal.metric.shown_unit}".rstrip() if step else "at all"
        seeds, tries = counted(number.trial, "seed"), counted(len(tried), "trial")
        notes.append(f"{best.name} win: none of {tries} is better {shown} on the {seeds} of the search")
    else:
        best = choose(bench, task, tried, points=points.search, seeds=number.choice_seeds())
    analytic_start = min((one for one in tried if one.name.startswith(ANALYTIC)), key=task.order, default=None)
    if analytic_start is not None and not effort.prefer_defaults:
        references = {f"{START}{analytic_start.name}": analytic_start.body, **references}
    return Chosen(best.body, tried, references, notes, [missed] if missed else [])


def _is_valid(trial: Trial) -> bool:
    """Whether the scenario is valid with the settings, so that they were run."""
    return math.isfinite(trial.violation)


def _winning_defaults(problem: Problem, task: Task, tried: Sequence[Trial]) -> Trial | None:
    """Return the trial of the discipline's own defaults if it keeps the bounds and no trial beats it noticeably.

    The best of many trials looks better than it is; so the defaults would win the confirmation too. On few seeds the
    defaults may look better than they are as well, so that less than a noticeable gain continues the search.
    """
    own = next((trial for trial in tried if trial.name in OWN), None)
    if own is None or not own.feasible or not problem.place.is_same(own.body, problem.references[own.name]):
        return None
    gain = max(task.goal.sign * (own.goal - trial.goal) for trial in tried if trial.feasible)
    return own if gain <= HOPELESS * task.goal.metric.notable else None


def _missed(task: Task, trials: Sequence[Trial]) -> str:
    """Say by how much the trial nearest to the bounds misses them; "" if it keeps them.

    Runs on other seeds may choose another trial, so that its settings are not named.
    """
    best = min(trials, key=task.order)
    if best.feasible:
        return ""
    if not math.isfinite(best.violation):
        return f"no trial has a {task.goal.metric.key} at every point: are flows active after the warm-up?"
    near = ", ".join(
        f"{bound.words}: best found {bound.metric.text(value, '.5g')}, "
        f"misses by {bound.metric.text(bound.sign * (bound.value - value), '.2g')}"
        for bound, value in zip(task.bounds, best.kept, strict=True)
        if bound.sign * value < bound.sign * bound.value
    )
    return f"none of {counted(len(trials), 'trial')} keeps the constraints at every point ({near})"


def _nearest_words(task: Task, trials: Sequence[Trial]) -> str:
    """Name the settings of the trial nearest to the bounds; "" if no trial was run."""
    best = min(trials, key=task.order)
    settings = ", ".join(f"{key} = {value}" for key, value in best.body.items())
    return f"; nearest: {settings}" if _is_valid(best) else ""
