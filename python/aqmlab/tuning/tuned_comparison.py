"""Comparison of disciplines at their defaults and at their best: equal searches, then fresh seeds for all of them.

Each discipline has the same number of trials over its own parameters, on training seeds at training conditions
(`finding`). Then the default and the tuned settings of all disciplines run on the same fresh seeds, at the training
conditions and at conditions that no trial has seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError
from aqmlab.results import folders
from aqmlab.results.evaluation import checked_engine
from aqmlab.runs.arguments import as_scenario
from aqmlab.runs.comparison_settings import baseline_of, entries_of, exchange, lacking, one_queue
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.tuning.finding import Effort, find, seeds_of
from aqmlab.tuning.goals import goal_while, share_of
from aqmlab.tuning.measurements import Bench, Body, Measured
from aqmlab.tuning.problem import Points, Problem, problem_of, varied
from aqmlab.tuning.ranges import usual_ranges
from aqmlab.tuning.records import record_folder, write_records
from aqmlab.tuning.search import SAMPLER_SEED, Task, need_optuna
from aqmlab.tuning.starts import Start
from aqmlab.tuning.tuned_outcome import Entry, OnFresh, Searched, TunedComparison
from aqmlab.tuning.verification import confirmed, fresh_seeds

DEFAULT = "as compared"
"""Name of the start that has a discipline's settings before the search."""
RECORD, TABLE = folders.TUNED_COMPARISON, "tuned-comparison.csv"


def compare_tuned(
    scenario: str | Path | Scenario,
    *,
    aqm: Sequence[str],
    goal: str,
    over: Sequence[str] = (),
    baseline: str | None = None,
    queue: str | None = None,
    vary: Sequence[str] = (),
    quantile: float = 1.0,
    trials: int = 40,
    seeds: int = 3,
    fresh: int = 20,
    search_seed: int | None = None,
    overrides: Overrides = (),
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
) -> TunedComparison:
    """Compare disciplines at their defaults and tuned, each with the same search budget.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    aqm
        Names of at least two disciplines. The default of one is its settings in `aqmlab.compare`: the scenario's
        parameters as far as it knows them.
    goal
        A quantity and bounds of its mean at every condition: ``min delay_p99_ms while utilization>=0.95``; several
        bounds with ``and``.
    over
        Varied conditions, as for `aqmlab.tune`. Default: half to twice the scenario's flows, and of a dumbbell half to
        twice its round trip.
    baseline
        The discipline that the others are compared with; default: the first.
    queue
        The ``[queue.NAME]`` table that is exchanged and tuned.
    vary
        Further parameters to search, or other ranges, of each discipline that has the parameter: ``limit=20:200``; of
        one discipline ``wred:limit=20:200``.
    quantile
        Which quantile over the conditions counts for the goal: 1 is the worst one.
    trials, seeds
        Number of settings to try for each discipline, and most seeds of each.
    fresh
        Fresh seeds of the comparison.
    search_seed
        Seed of a second search with other training seeds, 2 to 90. Disciplines whose comparison it changes are tied.
    overrides, workers, progress, engine
        As for `aqmlab.run`.
    out
        Folder for runs and records; the same call goes on where it was. None keeps all in memory.

    Returns
    -------
    TunedComparison
        The same scenario, arguments and version always give the same.

    Raises
    ------
    InputError, StorageError, Interrupted
        With one clear line.
    """
    need_optuna()
    plan = as_scenario(scenario, overrides=overrides)
    names = list(entries_of(aqm, {}))
    base = baseline_of(names, baseline)
    quantity, bounds = goal_while(goal)
    task = Task(quantity, bounds, share_of(quantile))
    searches = _searches(search_seed)
    effort = {seed: Effort(trials, seeds_of(trials, seeds, fresh, seed), True, False) for seed in searches}
    asked = list(over) or usual_ranges(plan)
    tuned = one_queue(plan, queue)
    notes = lacking(plan, [tuned], {name: {"aqm": name} for name in names})
    own_vary = varied(vary, names)
    defaults = {name: _default(plan, tuned, name, notes) for name in names}
    problems = {name: _problem(plan, tuned, name, defaults[name], own_vary[name], asked) for name in names}
    notes += dict.fromkeys(line for problem in problems.values() for line in problem.warnings)
    points = problems[base].points
    root = None if out is None else Path(out)
    runs = ResultStore(root, create=True)
    how: dict[str, Any] = {"workers": workers, "progress": progress, "engine": checked_engine(engine)}
    found: dict[str, list[tuple[Searched, Body]]] = {}
    for number, (name, problem) in enumerate(problems.items(), 1):
        title = f"{name} ({number} of {len(names)})"
        bench = Bench(problem.place, runs, points.all, dict(problem.space.base), title=title, **how)
        found[name] = [_searched(bench, problem, task, one) for one in effort.values()]
    bodies = {name: [defaults[name], *(body for _, body in found[name])] for name in names}
    bench = Bench(problems[base].place, runs, points.all, dict(problems[base].space.base), title="compare", **how)
    measured = iter(
        bench.measure(
            [body for own in bodies.values() for body in own],
            points.all,
            fresh_seeds(fresh),
            title="fresh seeds",
        )
    )
    entries = []
    for name in names:
        labels = ["default", *(f"tuned, search seed {seed}" for seed in searches)]
        pairs_of = zip(labels, bodies[name], strict=True)
        default, *others = [_on_fresh(label, task, points, body, next(measured)) for label, body in pairs_of]
        pairs = zip(found[name], others, strict=True)
        own = [replace(searched, settings=settings) for (searched, _), settings in pairs]
        entries.append(Entry(name, default, own, problems[name].space.dimensions))
    outcome = TunedComparison(
        name=plan.name,
        hash=plan.hash,
        queue=tuned,
        link=problems[base].place.link,
        baseline=base,
        task=task,
        entries=entries,
        trials=trials,
        seeds=(seeds, effort[SAMPLER_SEED].number.choice, fresh),
        over=asked,
        usual=not over,
        points=[point.name for point in points.search],
        held_out=[point.name for point in points.unseen],
        notes=notes,
    )
    if root is None:
        return outcome
    kept = [tuned, outcome.goal_words, base, *asked, trials, *outcome.seeds, outcome.search_seeds]
    kept += [task.share, *(entry.words_searched for entry in entries)]
    folder = record_folder(root, plan, "tuned", names, kept)
    outcome = replace(outcome, folder=folder)
    write_records(folder, RECORD, outcome.data(), {TABLE: outcome.csv()})
    return outcome


def _searches(second: int | None) -> list[int]:
    if second is None:
        return [SAMPLER_SEED]
    if second == SAMPLER_SEED:
        raise InputError(f"search seed {second}: is that of the first search; give another, for example 2")
    return [SAMPLER_SEED, second]


def _default(plan: Scenario, queue: str, name: str, notes: list[str]) -> Body:
    return dict(exchange(plan, [queue], name, {"aqm": name}, notes).queue_table(queue))


def _problem(
    plan: Scenario, queue: str, name: str, default: Mapping[str, Any], vary: Sequence[str], over: Sequence[str]
) -> Problem:
    found = problem_of(plan, queue, aqm=name, vary=vary, over=over, further={DEFAULT: default})
    if not found.points.unseen:
        raise InputError(f"over {', '.join(over)}: no condition is left to hold out; give a wider range")
    return replace(found, starts=[Start(DEFAULT, dict(default)), *found.starts])


def _searched(bench: Bench, problem: Problem, task: Task, effort: Effort) -> tuple[Searched, Body]:
    chosen = find(bench, problem, task, effort, as_it_is=DEFAULT)
    return Searched(effort.number.search, chosen.trials, chosen.warnings), chosen.body


def _on_fresh(name: str, task: Task, points: Points, body: Body, found: Measured) -> OnFresh:
    """Summarize the runs of settings on fresh seeds, at all conditions and at the held-out ones."""
    unseen = {key: values[len(points.search) :] for key, values in found.items()}
    return OnFresh(confirmed(name, body, task, points.all, found), confirmed(name, body, task, points.unseen, unseen))
