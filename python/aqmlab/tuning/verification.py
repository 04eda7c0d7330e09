"""Choice among the best settings, and its check with fresh seeds.

The trial that looks best looks better than it is, since it is the luckiest of many on a few seeds. So the best are run
again on seeds of their own, and the best that keeps the bounds there is taken; and the reported numbers come from a
third set of seeds, and from points that no trial has seen.

The choice halves its candidates after a few common seeds, as the search does. The confirmation is looked at `LOOKS`
times at most, each time with twice the seeds, and ends when it is decided. Its p values and the levels of its bounds
are corrected for that many looks (Bonferroni), so that the verdicts err as seldom as if the number of seeds had been
fixed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.errors import InputError
from aqmlab.results.quantities import difference_of, interval_of
from aqmlab.runs.bounds import Bound
from aqmlab.statistics import LEVEL, Compared, Interval, Verdict, holm, verdict_all, verdict_of_every
from aqmlab.statistics.intervals import student_p
from aqmlab.tuning.budget import CHOICE
from aqmlab.tuning.measurements import Bench, Body, Measured
from aqmlab.tuning.ranges import Point
from aqmlab.tuning.search import Task, Trial

CHOICE_SEEDS = 1_000_001
"""First seed of the runs among which the choice is made."""
FRESH_SEEDS = 3_000_001
"""First seed of the runs that confirm."""
CHOICE_LEVEL = 0.99
"""Confidence with which a bound must hold for a choice: several are looked at, and one may hold by luck."""
AT_ONCE = 4
"""How many of the best are run again at once."""
FIRST_SEEDS = 3
"""Seeds after which the worse half of the best is dropped."""
LOOKS = 3
"""How often the confirmation is looked at, at most; each look has twice the seeds of the one before."""
ROUNDS = 4
"""After so many times `AT_ONCE` the search for one that keeps the bounds is given up."""


@dataclass(frozen=True)
class Kept:
    """A bound on fresh seeds.

    Attributes
    ----------
    bound
        The bound.
    point
        The point at which it is nearest to being broken, or broken most.
    interval
        The mean there.
    per_seed
        Of each seed, the quantity at its worst point.
    verdict
        Over all points: it holds if it holds at each; it fails if it fails at one even after Holm's correction.
    """

    bound: Bound
    point: str
    interval: Interval
    per_seed: np.ndarray
    verdict: Verdict


@dataclass(frozen=True)
class Confirmed:
    """Settings on fresh seeds.

    Attributes
    ----------
    name
        ``tuned``, or the name of a reference.
    body
        The queue's table.
    goal
        The goal, with its interval over the seeds.
    per_seed
        The goal of each seed.
    point
        The point that is worst for the goal.
    kept
        Each bound.
    unharmed
        Of each seed, each further quantity of the task.
    """

    name: str
    body: Body
    goal: Interval
    per_seed: np.ndarray
    point: str
    kept: tuple[Kept, ...]
    unharmed: tuple[np.ndarray, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether all bounds are kept."""
        return verdict_of_every([one.verdict for one in self.kept])


@dataclass(frozen=True)
class Against:
    """The tuned settings against a reference, on the same fresh seeds.

    Attributes
    ----------
    reference
        The reference.
    compared
        The difference of the goal, tuned - reference.
    kept
        The difference of each bound's quantity at its worst point, tuned - reference.
    p
        Its p after Holm's correction over all comparisons, and Bonferroni's for the looks.
    verdict
        ``better``, ``worse`` or ``undecided``. Settings that keep the bounds are better than settings that break them,
        and than settings with the worse goal, if the interval of the difference shows it, also after Holm's
        correction. So a candidate whose own bounds are undecided is never better.
    """

    reference: Confirmed
    compared: Compared
    kept: tuple[Compared, ...]
    p: float
    verdict: str


def choose(
    bench: Bench, task: Task, trials: Sequence[Trial], *, points: Sequence[Point], seeds: Sequence[int]
) -> Trial:
    """Run the best again on seeds of their own, and return the one to take."""
    usable = [trial for trial in trials if math.isfinite(trial.violation)]
    unique = list({repr(trial.body): trial for trial in ranked(task, usable)}.values())
    if not unique:
        raise InputError("tune: the goal or a bound has no value in some runs (Jain's index of one flow, for example)")
    again: list[tuple[Verdict, Trial]] = []
    seeds = seeds[: bench.budget.seeds(len(seeds), min(AT_ONCE, len(unique)) * len(points), CHOICE)]
    for begin in range(0, min(len(unique), AT_ONCE * ROUNDS), AT_ONCE):
        again += _halved(bench, task, unique[begin : begin + AT_ONCE], points=points, seeds=seeds)
        holding = [trial for verdict, trial in again if verdict is Verdict.HOLDS]
        if holding:
            return ranked(task, holding)[0]
        if bench.budget.is_spent(CHOICE):
            break
    return ranked(task, [trial for _, trial in again])[0]


def _halved(
    bench: Bench, task: Task, trials: Sequence[Trial], *, points: Sequence[Point], seeds: Sequence[int]
) -> list[tuple[Verdict, Trial]]:
    """Run trials on a few common seeds, and the better half on all; return that half, as judged there."""
    racing = list(trials)
    for count in (min(FIRST_SEEDS, len(seeds)), len(seeds)):
        found = bench.measure([one.body for one in racing], points, seeds[:count], title="the best again")
        judged = [task.judge(one.number, one.name, one.body, values) for one, values in zip(racing, found, strict=True)]
        if count < len(seeds):
            racing = ranked(task, judged)[: math.ceil(len(judged) / 2)]
    settings = [
        confirmed("", one.body, task, points, values, level=CHOICE_LEVEL)
        for one, values in zip(racing, found, strict=True)
    ]
    return [(one.verdict, trial) for one, trial in zip(settings, judged, strict=True)]


def ranked(task: Task, trials: Sequence[Trial]) -> list[Trial]:
    """Return trials, the best first; among equals for users, the largest distance to the bounds decides."""
    plain = sorted(trials, key=task.order)
    step = task.goal.metric.notable
    if not (plain and plain[0].feasible and step and task.bounds):
        return plain
    best = plain[0].goal
    gaps = {trial.number: math.floor(abs(trial.goal - best) / step) if trial.feasible else 0 for trial in plain}
    return sorted(plain, key=lambda one: (not one.feasible, gaps[one.number], one.violation))


def fresh_seeds(count: int) -> range:
    """Return seeds of runs that confirm."""
    return range(FRESH_SEEDS, FRESH_SEEDS + count)


def confirm(
    bench: Bench,
    task: Task,
    settings: Mapping[str, Body],
    *,
    points: Sequence[Point],
    seeds: int,
) -> list[Confirmed]:
    """Run settings on fresh seeds; they share the seeds, so that differences may be paired."""
    possible = bench.budget.seeds(seeds, len(settings) * len(points))
    bench.budget.cut("fresh seeds", possible, seeds)
    found = bench.measure(list(settings.values()), points, fresh_seeds(possible), title="fresh seeds")
    named = zip(settings.items(), found, strict=True)
    return [confirmed(name, body, task, points, values, looks=LOOKS) for (name, body), values in named]


def confirm_until_decided(
    bench: Bench,
    task: Task,
    settings: Mapping[str, Body],
    *,
    points: Sequence[Point],
    seeds: int,
    least: int = 0,
) -> tuple[Confirmed, list[Against]]:
    """Confirm the first of the settings against the others; double the seeds, to ``4 seeds``, until it is decided.

    The first look has at least `least` seeds. The time budget may end it earlier.
    """
    begin = 0
    for wanted in looks_of(seeds):
        if begin and bench.budget.seeds(wanted, len(settings) * len(points)) < wanted:
            break
        begin = wanted
        if wanted < least:
            continue
        tuned, *references = confirm(bench, task, settings, points=points, seeds=wanted)
        found = against(task, tuned, references)
        if not any(is_open(task, tuned, one) for one in found):
            return tuned, found
    tuned, *references = confirm(bench, task, settings, points=points, seeds=begin)
    if len(tuned.per_seed) == begin:  # else `confirm` has recorded that it had less
        bench.budget.cut("fresh seeds", begin, wanted)
    return tuned, against(task, tuned, references)


def looks_of(seeds: int) -> list[int]:
    """Return the numbers of seeds at the looks.

    >>> looks_of(5)
    [5, 10, 20]
    """
    return [seeds * 2**look for look in range(LOOKS)]


def is_open(task: Task, tuned: Confirmed, entry: Against) -> bool:
    """Whether further seeds could decide a comparison that is undecided."""
    decided = is_decided(task, entry.compared, entry.p)
    if Verdict.UNDECIDED in (tuned.verdict, entry.reference.verdict):
        return not decided or tuned.verdict is Verdict.UNDECIDED
    both_fail = tuned.verdict is entry.reference.verdict is Verdict.FAILS
    return not decided and (task.is_felt or (entry.verdict == "undecided" and not both_fail))


def is_decided(task: Task, compared: Compared, p: float) -> bool:
    """Whether a difference of the goal is decided: by its corrected p, or as one that users would not notice."""
    difference = compared.difference.interval
    if p < 1 - LEVEL or difference.constant:
        return True
    return math.isfinite(difference.low) and max(abs(difference.low), abs(difference.high)) < task.goal.metric.notable


def confirmed(
    name: str,
    body: Body,
    task: Task,
    points: Sequence[Point],
    found: Measured,
    *,
    level: float = LEVEL,
    looks: int = 1,
) -> Confirmed:
    """Summarize measurements on fresh seeds; bounds are corrected for the number of `looks`."""
    values = found[task.goal.metric.key]
    per_seed = task.goal.over_points(values, task.share)
    worst = int(np.argmax(task.goal.sign * values.mean(axis=1)))
    kept = tuple(_kept(bound, points, found[bound.metric.key], level, looks) for bound in task.bounds)
    goal, _ = interval_of(task.goal.metric.key, per_seed, level=level)
    unharmed = tuple(one.over_points(found[one.metric.key], task.share) for one in task.unharmed)
    return Confirmed(name, body, goal, per_seed, points[worst].name, kept, unharmed)


def _kept(bound: Bound, points: Sequence[Point], values: np.ndarray, level: float, looks: int) -> Kept:
    key, strict = bound.metric.key, 1 - (1 - level) / looks
    intervals = [interval_of(key, row, level=level)[0] for row in values]
    verdicts = [bound.verdict(interval_of(key, row, level=strict)[0]) for row in values]
    worst = int(np.argmin([bound.sign * one.mean for one in intervals]))
    verdict = verdict_all(verdicts, [_p(one, bound.value) for one in intervals], level=strict)
    per_seed = bound.sign * np.min(bound.sign * values, axis=0)
    return Kept(bound, points[worst].name, intervals[worst], per_seed, verdict)


def _p(found: Interval, bound: float) -> float:
    """Return the two-sided p of "the mean is the bound" (Student)."""
    if found.n < 2:
        return 1.0
    if found.sd == 0:
        return 1.0 if found.mean == bound else 0.0
    return student_p((found.mean - bound) / (found.sd / math.sqrt(found.n)), found.n - 1)


def against(task: Task, tuned: Confirmed, references: Sequence[Confirmed]) -> list[Against]:
    """Compare the tuned settings with each reference."""
    return in_pairs(task, [(tuned, reference) for reference in references], looks=LOOKS)


def in_pairs(task: Task, pairs: Sequence[tuple[Confirmed, Confirmed]], *, looks: int) -> list[Against]:
    """Compare settings with a reference each; all pairs together have Holm's correction."""
    compared = [difference_of(task.goal.metric.key, own.per_seed, other.per_seed) for own, other in pairs]
    corrected = corrected_p([one.difference.p for one in compared], looks)
    return [
        Against(other, one, _kept_apart(own, other), p, _verdict(task, own, other, one, p))
        for (own, other), one, p in zip(pairs, compared, corrected, strict=True)
    ]


def corrected_p(p: Sequence[float], looks: int = LOOKS) -> list[float]:
    """Correct p values for several comparisons (Holm) and for `looks` looks (Bonferroni); NaN stays.

    >>> [round(one, 12) for one in corrected_p([0.001, 0.004, 0.6])]
    [0.009, 0.024, 1.0]
    """
    return [one if math.isnan(one) else min(1.0, looks * one) for one in holm(p)]


def _kept_apart(tuned: Confirmed, reference: Confirmed) -> tuple[Compared, ...]:
    pairs = zip(tuned.kept, reference.kept, strict=True)
    return tuple(difference_of(a.bound.metric.key, a.per_seed, b.per_seed) for a, b in pairs)


def _verdict(task: Task, tuned: Confirmed, reference: Confirmed, compared: Compared, p: float) -> str:
    found = compared.difference.interval
    low, high = sorted((task.goal.sign * found.low, task.goal.sign * found.high))
    apart = p < 1 - LEVEL
    own, other = tuned.verdict, reference.verdict
    if own is Verdict.HOLDS and (other is Verdict.FAILS or (apart and high < 0)):
        return "better"
    if other is Verdict.HOLDS and (own is Verdict.FAILS or (apart and low > 0)):
        return "worse"
    return "undecided"


def beats(task: Task, tuned: Confirmed, entry: Against) -> bool:
    """Whether settings beat a reference decisively.

    Where users feel the objective, they must notice the difference (`Metric.notable`), and no quantity of
    `Task.unharmed` may become decisively worse; but settings that hold the bounds beat settings that fail them, and
    settings that fail them beat none that do not. Otherwise the verdict counts.
    """
    if not task.is_felt:
        return entry.verdict == "better"
    fails, reference_fails = tuned.verdict is Verdict.FAILS, entry.reference.verdict is Verdict.FAILS
    if fails is not reference_fails:
        return reference_fails and tuned.verdict is Verdict.HOLDS
    pairs = zip(task.unharmed, tuned.unharmed, entry.reference.unharmed, strict=True)
    found = [difference_of(goal.metric.key, own, other) for goal, own, other in pairs]
    corrected = holm([one.difference.p for one in found])
    harmed = any(
        p < 1 - LEVEL and goal.sign * one.difference.interval.mean > 0
        for goal, one, p in zip(task.unharmed, found, corrected, strict=True)
    )
    gain = -task.goal.sign * entry.compared.difference.interval.mean
    return gain > task.goal.metric.notable and entry.p < 1 - LEVEL and not harmed
