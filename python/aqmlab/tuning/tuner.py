"""From goal, constraints and ranges to settings: starts, search, choice, confirmation, answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab import extensions
from aqmlab.errors import minus
from aqmlab.results import folders
from aqmlab.results.evaluation import checked_engine
from aqmlab.runs.arguments import as_scenario
from aqmlab.runs.comparison_settings import one_queue
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.toml_text import Value
from aqmlab.tuning.budget import Budget
from aqmlab.tuning.finding import OWN, Chosen, Effort, Seeds, find, seeds_of
from aqmlab.tuning.goals import bounds_to_keep, goal_of, share_of
from aqmlab.tuning.measurements import Bench, Body
from aqmlab.tuning.outcome import Rerun, Tuned
from aqmlab.tuning.problem import Problem, problem_of
from aqmlab.tuning.ranges import derived_words, usual_ranges
from aqmlab.tuning.records import write_records
from aqmlab.tuning.search import SAMPLER_SEED, Task, Trial, need_optuna
from aqmlab.tuning.starts import BEST_TRIAL, TUNED
from aqmlab.tuning.verification import Against, Confirmed, against, beats, confirm_until_decided, looks_of

RECORD = folders.TUNING
ADD_ONS = "aqmlab.dialects"
"""Entry points of add-ons that write a queue for other systems."""
Writer = Callable[[Scenario, str], list[Dialect]]
SCENARIO_FILE = "tuned.toml"
"""The scenario with the settings, for `run`, `check`, `export` and `live`."""


def tune(
    scenario: str | Path | Scenario,
    *,
    minimize: str | None = None,
    maximize: str | None = None,
    keep: Sequence[str] = (),
    over: Sequence[str] = (),
    queue: str | None = None,
    aqm: str | None = None,
    vary: Sequence[str] = (),
    against_settings: Mapping[str, Mapping[str, Value]] | None = None,
    quantile: float = 1.0,
    trials: int = 60,
    seeds: int = 3,
    fresh: int = 20,
    search_seed: int = SAMPLER_SEED,
    overrides: Overrides = (),
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
    unharmed: Sequence[str] = (),
    prefer_defaults: bool = False,
    best_anyway: bool = False,
    budget: float | None = None,
    store: str | Path | None = None,
    title: str = "",
) -> Tuned:
    """Find the parameters of a queue that hold over whole ranges.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    minimize, maximize
        The goal, one of the two: a metric such as ``delay_p95_ms`` or ``goodput_mbps``.
    keep
        Bounds that the mean must keep at every point: ``utilization>=0.95``, ``delay_p99_ms<=50ms``.
    over
        Varied conditions: ``flows=10:200`` (the first group of flows), ``rtt=20ms:200ms`` (of a dumbbell),
        ``rate=2Mbps:20Mbps``, or any dotted key of the scenario. Default: as for `aqmlab.compare_tuned`.
    queue
        The ``[queue.NAME]`` table to tune; the first link with it is measured. Default: as for `aqmlab.compare_tuned`.
    aqm
        The discipline; default: the queue's own.
    vary
        Further parameters to search, or other ranges: ``limit=20:200``, ``spacing=linux,ns2-wait``.
    against_settings
        Further settings to compare with, by name, each a queue's table.
    quantile
        Which quantile over the points counts for the goal: 1 is the worst point, 0.5 the middle one.
    trials
        How many settings are tried, starts among them.
    seeds
        Seeds of each trial; those in the worse half of a batch of four have one.
    fresh
        Fresh seeds of the confirmation: twice and four times as many where they leave a comparison undecided. At most
        as many others (8 if it is fewer) choose among the best.
    search_seed
        Seed of the search, 1 to 90: another one has other trials on other seeds, and the same fresh seeds.
    overrides, workers, progress, engine
        As for `aqmlab.run`.
    out
        Folder for the finished runs and the answer; the same call goes on where it was. None keeps all in memory.
    unharmed
        Metrics to be small that the answer must not make decisively worse than the discipline's defaults do; needs
        `prefer_defaults`.
    prefer_defaults
        Whether the discipline's own defaults are the answer unless other settings beat them decisively, paired by
        seed on fresh seeds, with Holm's correction.
    best_anyway
        Whether the settings nearest to the bounds are the answer where no trial keeps them; `Tuned.notes` says by how
        much they miss.
    budget
        Seconds that may be spent; the answer then depends on the machine's speed. None: no limit.
    store
        Folder for the finished runs if it is another than `out`: several disciplines share the runs of drop-tail.
    title
        The name of the work in lines about progress; default: the discipline.

    Returns
    -------
    Tuned
        The same scenario, arguments and version always give the same, unless `budget` is given and spent.

    Raises
    ------
    InputError, Error, StorageError, Interrupted
        With one clear line; `Error` if no trial keeps the bounds, with the best that was found.
    """
    need_optuna()
    writers = [extensions.load(ADD_ONS, name) for name in extensions.names(ADD_ONS)]
    plan = as_scenario(scenario, overrides=overrides)
    small = tuple(goal_of(key, None) for key in unharmed)
    task = Task(goal_of(minimize, maximize), bounds_to_keep(keep), share_of(quantile), small)
    number = seeds_of(trials, seeds, fresh, search_seed)
    problem = checked(plan, queue=queue, aqm=aqm, vary=vary, over=over, against_settings=against_settings)
    folder = None if out is None else Path(out)
    how: dict[str, Any] = {"workers": workers, "progress": progress, "engine": checked_engine(engine)}
    how |= {"budget": Budget(budget), "title": title or problem.chosen.name}
    runs = ResultStore(folder if store is None else Path(store), create=True)
    bench = Bench(problem.place, runs, problem.points.all, dict(problem.space.base), **how)
    effort = Effort(trials, number, best_anyway=best_anyway, prefer_defaults=prefer_defaults)
    chosen = find(bench, problem, task, effort)

    def confirmed_on(least: int) -> Tuned:
        answer = _confirm(bench, problem, task, chosen, number.fresh, least)
        answer = _or_defaults(task, answer) if prefer_defaults else answer
        found = _tuned(problem, task, answer, number, writers, folder)
        points = problem.points
        found = replace(found, rerun=Rerun(bench, points.search, points.all, looks_of(number.fresh), confirmed_on))
        if folder is not None:
            from aqmlab.reporting import plots

            texts = {"queue.toml": found.scenario_text + "\n", SCENARIO_FILE: found.tuned.normalized}
            write_records(folder, RECORD, found.data(), texts)
            plots.save(found.chart(), folder)
        return found

    return confirmed_on(0)


def checked(
    plan: Scenario,
    *,
    queue: str | None,
    aqm: str | None,
    vary: Sequence[str],
    over: Sequence[str],
    against_settings: Mapping[str, Mapping[str, Value]] | None = None,
) -> Problem:
    """Return the search problem of `tune` with the same arguments, which raises the same errors, without any run."""
    asked = list(over) or usual_ranges(plan)
    problem = problem_of(plan, one_queue(plan, queue), aqm=aqm, vary=vary, over=asked, further=against_settings or {})
    if not over:
        problem.notes.append(derived_words(asked))
    return problem


@dataclass(frozen=True)
class _Answer:
    """The best settings, confirmed, with the references confirmed beside them, and notes on the search.

    `same` names the references with these settings.
    """

    body: Body
    same: list[str]
    trials: list[Trial]
    confirmed: Confirmed
    against: list[Against]
    notes: list[str]
    warnings: list[str]


def _confirm(bench: Bench, problem: Problem, task: Task, chosen: Chosen, fresh: int, least: int) -> _Answer:
    """Confirm the chosen settings beside the references, on at least so many fresh seeds."""
    same = [name for name, body in chosen.references.items() if problem.place.is_same(body, chosen.body)]
    others = {name: body for name, body in chosen.references.items() if name not in same}
    settings = {TUNED: chosen.body, **others}
    confirmed, compared = confirm_until_decided(
        bench, task, settings, points=problem.points.all, seeds=fresh, least=least
    )
    warnings = [*chosen.warnings, *filter(None, [bench.budget.note()])]
    return _Answer(chosen.body, same, chosen.trials, confirmed, compared, chosen.notes, warnings)


def _or_defaults(task: Task, answer: _Answer) -> _Answer:
    """Return the discipline's defaults as the answer unless the settings found beat them decisively."""
    own = next((one for one in answer.against if one.reference.name in OWN), None)
    if own is None or beats(task, answer.confirmed, own):
        return answer
    found = own.compared.difference.interval
    text = (
        f"{own.reference.name} win: the best trial does not beat them decisively ({task.goal.metric.key} differs by "
        f"{minus(f'{found.mean:+.3g}, {found.low:.3g} to {found.high:.3g}')}; p {own.p:.2g})"
    )
    notes = [*answer.notes, *_same_words(BEST_TRIAL, answer.same), text]
    winner, loser = replace(own.reference, name=TUNED), replace(answer.confirmed, name=BEST_TRIAL)
    others = [one.reference for one in answer.against if one is not own]
    return replace(
        answer,
        body=winner.body,
        same=[],
        confirmed=winner,
        against=against(task, winner, [loser, *others]),
        notes=notes,
    )


def _same_words(which: str, names: Sequence[str]) -> list[str]:
    return [f"the {which} has the same settings as {name}" for name in names]


def _tuned(
    problem: Problem, task: Task, answer: _Answer, number: Seeds, writers: Sequence[Writer], folder: Path | None
) -> Tuned:
    place, points = problem.place, problem.points
    tuned = place.scenario(answer.body)
    return Tuned(
        name=place.plan.name,
        hash=place.plan.hash,
        queue=place.queue,
        link=place.link,
        aqm=problem.chosen.name,
        task=task,
        body=answer.body,
        confirmed=answer.confirmed,
        against=answer.against,
        trials=answer.trials,
        points=[point.name for point in points.search],
        fresh_points=[point.name for point in points.unseen],
        seeds=(number.trial, number.choice, len(answer.confirmed.per_seed)),
        tuned=tuned,
        notes=[
            *problem.notes,
            *over_both_queues(problem.chosen.name, task),
            *answer.notes,
            *_same_words("answer", answer.same),
        ],
        warnings=[*problem.warnings, *answer.warnings],
        dialects=[one for write in writers for one in write(tuned, place.link)],
        folder=folder,
    )


def over_both_queues(aqm: str, task: Task) -> list[str]:
    """Return a note for each delay of the task that is over both queues of DualPI2."""
    metrics = (task.goal.metric, *(bound.metric for bound in task.bounds))
    delays = [one.key for one in metrics if one.group == "delay" and "." not in one.key]
    if aqm != "dualpi2":
        return []
    return [
        f"{key} is over the packets of both queues of dualpi2 (of one queue: delay_p95_ms.L, delay_p95_ms.C)"
        for key in dict.fromkeys(delays)
    ]
