"""The decision between tuned disciplines: further seeds for the finalists, the one to use, and the reason in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from aqmlab.errors import joined
from aqmlab.results.quantities import Quantity, difference_of
from aqmlab.scenario.parts import DROP_TAIL
from aqmlab.statistics import LEVEL, Compared, Verdict
from aqmlab.tuning.budget import NOTE
from aqmlab.tuning.goals import Goal, shown
from aqmlab.tuning.outcome import Tuned, short
from aqmlab.tuning.starts import AUTOMATIC, DEFAULTS
from aqmlab.tuning.verification import Against, Confirmed, corrected_p, is_decided

RANK = (Verdict.HOLDS, Verdict.UNDECIDED, Verdict.FAILS)
"""Verdicts on the bounds, the best first."""


def best_of(answers: Sequence[Tuned]) -> Tuned:
    """Return the discipline to use: the one with the best mean of the goal on fresh seeds.

    Disciplines that hold the bounds come before those whose bounds are undecided, and these before those that fail
    them: a discipline that fails a bound is the answer only if all do.
    """
    return _finalists(answers)[1]


def until_decided(answers: Sequence[Tuned]) -> list[Tuned]:
    """Confirm the finalists on further fresh seeds until they are decided, or until each has as many as it may have."""
    found = list(answers)
    while True:
        pool, best = _finalists(found)
        compared = _against_others(best, pool)
        undecided = [one for one, difference, p in compared if not is_decided(best.task, difference, p)]
        fewest = min(len(one.confirmed.per_seed) for one in (best, *undecided))
        grown = {id(one): _with_more_seeds(one, fewest) for one in ([best, *undecided] if undecided else [])}
        if all(one is None for one in grown.values()):
            return [_with_note(one) for one in found]
        found = [grown.get(id(one)) or one for one in found]


def _with_more_seeds(one: Tuned, fewest: int) -> Tuned | None:
    """Return an answer on the look after `fewest` seeds; None after its last look or without seeds or time left."""
    if one.rerun is None:
        return None
    wanted, there = next((seeds for seeds in one.rerun.looks if seeds > fewest), 0), len(one.confirmed.per_seed)
    budget = one.rerun.bench.budget
    if there >= wanted:
        return None
    if budget.is_spent():
        budget.cut("fresh seeds", there, wanted)
        return None
    grown = one.rerun.again(wanted)
    return grown if len(grown.confirmed.per_seed) > there else None


def _with_note(one: Tuned) -> Tuned:
    """Return an answer with the present note of its time budget, which looks without further seeds may have changed."""
    note = one.rerun.bench.budget.note() if one.rerun is not None else ""
    if not note:
        return one
    return replace(one, warnings=[*(line for line in one.warnings if not line.startswith(NOTE)), note])


def _finalists(answers: Sequence[Tuned]) -> tuple[list[Tuned], Tuned]:
    """Return the disciplines with the best verdict on the bounds, and the one with the best mean of the goal."""
    pool, best = finalists(answers[0].task.goal, [one.confirmed for one in answers])
    return [answers[index] for index in pool], answers[best]


def finalists(goal: Goal, settings: Sequence[Confirmed]) -> tuple[list[int], int]:
    """Return the places of the settings with the best verdict on the bounds, and of the best mean among them."""
    best_rank = min(RANK.index(one.verdict) for one in settings)
    pool = [index for index, one in enumerate(settings) if RANK.index(one.verdict) == best_rank]
    return pool, min(pool, key=lambda index: goal.sign * settings[index].goal.mean)


def _against_others(best: Tuned, pool: Sequence[Tuned]) -> list[tuple[Tuned, Compared, float]]:
    """Compare the others of a pool with the best, on the seeds that both have, with corrected p."""
    others = [one for one in pool if one is not best]
    key = best.task.goal.metric.key
    compared = []
    for one in others:
        seeds = min(len(one.confirmed.per_seed), len(best.confirmed.per_seed))
        compared.append(difference_of(key, best.confirmed.per_seed[:seeds], one.confirmed.per_seed[:seeds]))
    return list(zip(others, compared, corrected_p([one.difference.p for one in compared]), strict=True))


def side_by_side(answers: Sequence[Tuned], best: Tuned) -> pd.DataFrame:
    """Return a row for each tuned discipline: the goal, its difference from the best, the bounds, and the defaults.

    The difference has the interval of a comparison on the seeds that both have.
    """
    rows, apart = [], {id(one): compared for one, compared, _ in _against_others(best, answers)}
    for found in answers:
        metric = found.task.goal.metric
        row = {"aqm": found.aqm, metric.label: shown(metric, found.confirmed.goal)}
        if apart:
            row[f"minus {best.aqm}"] = _difference(metric, apart.get(id(found)))
        row |= {kept.bound.words: kept.bound.judged(kept.verdict, kept.interval.mean) for kept in found.confirmed.kept}
        own = [entry for entry in found.against if entry.reference.name in (DEFAULTS, AUTOMATIC)]
        row["against defaults"] = own[0].verdict if own else "same"
        row["seeds"] = str(len(found.confirmed.per_seed))
        rows.append(row)
    return pd.DataFrame(rows)


def _difference(metric: Quantity, compared: Compared | None) -> str:
    """Write the difference of another discipline from the best with its interval; "" for the best itself."""
    if compared is None:
        return ""
    found = compared.difference.interval  # best - other
    return shown(metric, replace(found, mean=-found.mean, low=-found.high, high=-found.low), signed=True)


def with_settings(best: Tuned) -> str:
    """Describe the found settings of a discipline: ``with its defaults``, or ``with target 19.2ms``."""
    own = [entry for entry in best.against if entry.reference.name in (DEFAULTS, AUTOMATIC)]
    searched = short({key: value for key, value in best.body.items() if key != "aqm"})
    return f"with {searched}" if own and searched else "with its defaults" if not own else "as tuned"


def reason(answers: Sequence[Tuned], best: Tuned, without_command: Sequence[Tuned] = ()) -> str:
    """Say in one or two sentences why a discipline is the one to use: goal, drop-tail, the others, the bounds.

    `without_command` are those that Linux has no command for; they are named if they are better.
    """
    metric, own = best.task.goal.metric, best.confirmed.goal
    points = len(best.points) + len(best.fresh_points)
    worst = f" at the worst of {points} conditions" if best.task.share == 1 and points > 1 else ""
    words = [f"{metric.in_sentence} {shown(metric, own)}{metric.unit_words}{worst}"]
    tail = next((entry.reference.goal for entry in best.against if entry.reference.name == DROP_TAIL), None)
    if tail is not None:
        words[0] += f" ({shown(metric, tail, alone=True)} with drop-tail)"
    pool, _ = _finalists(answers)
    better: list[str] = []
    even: list[str] = []
    for one, compared, p in _against_others(best, pool):
        is_better = p < 1 - LEVEL and best.task.goal.sign * compared.difference.interval.mean < 0
        (better if is_better else even).append(one.aqm)
    words += [f"better than {joined(better)}"] if better else []
    words += [f"not distinguishable from {joined(even)}"] if even else []
    for kept in best.confirmed.kept:
        mean = kept.bound.metric.text(kept.interval.mean)
        words.append(f"{kept.bound.words} {kept.verdict} ({mean} at {kept.point})")
    return f"{', '.join(words)}.{_excluded(answers, best, pool)}{_unusable(best, without_command)}"


def _excluded(answers: Sequence[Tuned], best: Tuned, pool: Sequence[Tuned]) -> str:
    """Name the disciplines with a better goal outside the bounds, or state that all fail the bounds."""
    if best.holds is Verdict.FAILS:
        if any(_is_drop_tail(entry) and entry.reference.verdict is Verdict.HOLDS for entry in best.against):
            return " Only drop-tail keeps the bound."
        return " No other discipline keeps the bound." if len(answers) > 1 else " No setting that was tried keeps it."
    sign, others = best.task.goal.sign, [one for one in answers if one not in pool]
    better = [
        one
        for one, compared, p in _against_others(best, [best, *others])
        if p < 1 - LEVEL and sign * compared.difference.interval.mean > 0
    ]
    words = {Verdict.FAILS: "but fails the bound", Verdict.UNDECIDED: "but its bound is undecided"}
    return "".join(
        f" Better, {words[verdict]}: {joined([_with_goal(one) for one in better if one.holds is verdict])}."
        for verdict in words
        if any(one.holds is verdict for one in better)
    )


def _unusable(best: Tuned, without_command: Sequence[Tuned]) -> str:
    """Name the disciplines without a command of Linux that keep the bounds better, or the goal as well."""

    def place(one: Tuned) -> tuple[int, float]:
        return RANK.index(one.holds), best.task.goal.sign * one.confirmed.goal.mean

    better = [f"{_with_goal(one)}, bound {one.holds}" for one in without_command if place(one) < place(best)]
    return f" Linux has no command for {joined(better)}." if better else ""


def _with_goal(one: Tuned) -> str:
    return f"{one.aqm} ({shown(one.task.goal.metric, one.confirmed.goal, alone=True)})"


def _is_drop_tail(entry: Against) -> bool:
    return entry.reference.body.get("aqm", DROP_TAIL) == DROP_TAIL
