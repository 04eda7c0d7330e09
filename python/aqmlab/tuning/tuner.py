"""From goal, constraints and ranges to settings: starts, search, choice, confirmation, answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab import extensions
from aqmlab.errors import BoundsError, InputError, unknown
from aqmlab.results import folders
from aqmlab.results.evaluation import checked_engine
from aqmlab.runs.bounds import Bound, bounds_of
from aqmlab.runs.runner import as_scenario
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.parts import DROP_TAIL, Link, packets
from aqmlab.scenario.registry import Discipline, discipline
from aqmlab.scenario.toml_text import Value
from aqmlab.tuning.budget import Budget
from aqmlab.tuning.goals import goal_of
from aqmlab.tuning.measurements import Bench, Body, Place
from aqmlab.tuning.outcome import TUNED, Rerun, Tuned
from aqmlab.tuning.ranges import Point, fresh_points, ranges_of, search_points
from aqmlab.tuning.search import Task, Trial, need_optuna, search
from aqmlab.tuning.space import RED, Numbers, Space, least_weight, space_of
from aqmlab.tuning.starts import ANALYTIC, AUTOMATIC, DEFAULTS, FILE, Start, analytic, automatic, defaults, has_red
from aqmlab.tuning.verification import Against, Confirmed, against, beats, choose, confirm_until_decided, looks_of

RECORD = folders.TUNING
ADD_ONS = "aqmlab.dialects"
"""Entry points of add-ons that write a queue for other systems."""
Writer = Callable[[Scenario, str], list[Dialect]]
SCENARIO_FILE = "tuned.toml"
"""The scenario with the settings, for `run`, `check`, `export` and `live`."""
BEST_TRIAL = "best trial"
"""Settings that the search found, where the defaults are the answer."""
OWN = (DEFAULTS, AUTOMATIC)
"""Names of the starts that are a discipline's own defaults."""
FRESH_POINTS = 2
"""Interior points for each range that only the confirmation sees."""


@dataclass(frozen=True)
class Seeds:
    """Seeds of a trial, of the choice among the best, and of the confirmation."""

    trial: int
    choice: int
    fresh: int


def tune(
    scenario: str | Path | Scenario,
    *,
    minimize: str | None = None,
    maximize: str | None = None,
    keep: Sequence[str] = (),
    over: Sequence[str],
    queue: str = "bottleneck",
    aqm: str | None = None,
    vary: Sequence[str] = (),
    against_settings: Mapping[str, Mapping[str, Value]] | None = None,
    quantile: float = 1.0,
    trials: int = 60,
    seeds: int = 3,
    fresh: int = 20,
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
        ``rate=2Mbps:20Mbps``, or any dotted key of the scenario.
    queue
        The ``[queue.NAME]`` table to tune; the first link with it is measured.
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
    task = Task(goal_of(minimize, maximize), _kept(keep), _share(quantile), small)
    number = _numbers(trials, seeds, fresh)
    problem = _problem(plan, queue, aqm=aqm, vary=vary, over=over, further=against_settings or {})
    folder = None if out is None else Path(out)
    how: dict[str, Any] = {"workers": workers, "progress": progress, "engine": checked_engine(engine)}
    how |= {"budget": Budget(budget), "title": title or problem.chosen.name}
    runs = ResultStore(folder if store is None else Path(store), create=True)
    bench = Bench(problem.place, runs, problem.points.all, dict(problem.space.base), **how)
    effort = _Effort(trials, number, best_anyway=best_anyway, prefer_defaults=prefer_defaults)
    chosen = _find(bench, problem, task, effort)

    def confirmed_on(least: int) -> Tuned:
        answer = _confirm(bench, problem, task, chosen, number.fresh, least)
        answer = _or_defaults(task, answer) if prefer_defaults else answer
        found = _tuned(problem, task, answer, number, writers, folder)
        points = problem.points
        found = replace(found, rerun=Rerun(bench, points.search, points.all, looks_of(number.fresh), confirmed_on))
        if folder is not None:
            _write(found, folder)
        return found

    return confirmed_on(0)


@dataclass(frozen=True)
class _Points:
    """The points of the search, and those that only the confirmation has."""

    search: list[Point]
    unseen: list[Point]

    @property
    def all(self) -> list[Point]:
        return [*self.search, *self.unseen]


@dataclass(frozen=True)
class _Problem:
    """The search problem: the queue and its parameters, points, starts, and settings to compare with."""

    place: Place
    chosen: Discipline
    space: Space
    points: _Points
    starts: list[Start]
    references: dict[str, Body]
    notes: list[str]


@dataclass(frozen=True)
class _Answer:
    """The best settings, confirmed, with the references confirmed beside them, and notes on how they were found."""

    body: Body
    trials: list[Trial]
    confirmed: Confirmed
    against: list[Against]
    notes: list[str]
    warnings: list[str]


def _problem(
    plan: Scenario, queue: str, *, aqm: str | None, vary: Sequence[str], over: Sequence[str],
    further: Mapping[str, Mapping[str, Value]],
) -> _Problem:  # fmt: skip
    """Check the request, and return it as a problem; every reference must make a valid scenario."""
    ranges = ranges_of(over, plan)
    points = _Points(search_points(ranges), fresh_points(ranges, FRESH_POINTS * len(ranges)))
    place = Place(plan, queue, _measured(plan, queue).name)
    chosen, space = _space(place, aqm, vary, points.search)
    notes: list[str] = []
    starts = _starts(place, chosen, space, points.search, notes)
    references: dict[str, Body] = {start.name: start.body for start in starts if not start.name.startswith(ANALYTIC)}
    references |= {name: dict(body) for name, body in further.items()}
    for body in references.values():
        place.scenario(body, points.search[0])
    return _Problem(place, chosen, space, points, starts, references, notes)


HOPELESS = 0.5
"""Share of a noticeable difference that a trial must gain on the defaults for the search to go on."""


@dataclass(frozen=True)
class _Effort:
    """Number of trials, their seeds, and preferences where trials do not decide."""

    trials: int
    number: Seeds
    best_anyway: bool
    prefer_defaults: bool


@dataclass(frozen=True)
class _Chosen:
    """The settings that were chosen, all trials, the references to confirm beside them, and notes."""

    body: Body
    trials: list[Trial]
    references: dict[str, Body]
    notes: list[str]
    warnings: list[str]


def _find(bench: Bench, problem: _Problem, task: Task, effort: _Effort) -> _Chosen:
    """Search from the starts, and choose among the best on other seeds."""
    points, references, number = problem.points, problem.references, effort.number
    begin = _numbers_of(problem.place, problem.space, problem.starts)
    own = range(1, number.trial + 1)

    def is_hopeless(tried: Sequence[Trial]) -> bool:
        return effort.prefer_defaults and _winning_defaults(problem, task, tried) is not None

    tried = search(
        bench,
        problem.space,
        task,
        starts=begin,
        points=points.search,
        seeds=own,
        trials=effort.trials,
        is_hopeless=is_hopeless,
    )
    missed = _missed(task, tried)
    if missed and not effort.best_anyway:
        raise BoundsError(f"tune: {missed}")
    notes: list[str] = []
    best = _winning_defaults(problem, task, tried) if effort.prefer_defaults else None
    if best is not None:
        step = HOPELESS * task.goal.metric.notable
        shown = f"by more than {step:.3g} {task.goal.metric.shown_unit}".rstrip() if step else "at all"
        seeds = f"{number.trial} seed{'s' * (number.trial > 1)}"
        notes.append(f"{best.name} win: none of {len(tried)} trials is better {shown} on the {seeds} of the search")
    else:
        best = choose(bench, task, tried, points=points.search, seeds=number.choice)
    analytic_start = min((one for one in tried if one.name.startswith(ANALYTIC)), key=task.order, default=None)
    if analytic_start is not None and not effort.prefer_defaults:
        references = {f"start: {analytic_start.name}": analytic_start.body, **references}
    return _Chosen(best.body, tried, references, notes, [missed] if missed else [])


def _winning_defaults(problem: _Problem, task: Task, tried: Sequence[Trial]) -> Trial | None:
    """Return the trial of the discipline's own defaults if it keeps the bounds and no trial beats it noticeably.

    The best of many trials looks better than it is; so the defaults would win the confirmation too. On few seeds the
    defaults may look better than they are as well, so that less than a noticeable gain continues the search.
    """
    own = next((trial for trial in tried if trial.name in OWN), None)
    if own is None or not own.feasible or not problem.place.is_same(own.body, problem.references[own.name]):
        return None
    gain = max(task.goal.sign * (own.goal - trial.goal) for trial in tried if trial.feasible)
    return own if gain <= HOPELESS * task.goal.metric.notable else None


def _confirm(bench: Bench, problem: _Problem, task: Task, chosen: _Chosen, fresh: int, least: int) -> _Answer:
    """Confirm the chosen settings beside the references, on at least so many fresh seeds."""
    same = [name for name, body in chosen.references.items() if problem.place.is_same(body, chosen.body)]
    others = {name: body for name, body in chosen.references.items() if name not in same}
    settings = {TUNED: chosen.body, **others}
    confirmed, compared = confirm_until_decided(
        bench, task, settings, points=problem.points.all, seeds=fresh, least=least
    )
    notes = [*chosen.notes, *(f"the answer has the same settings as {name}" for name in same)]
    warnings = [*chosen.warnings, *filter(None, [bench.budget.note()])]
    return _Answer(chosen.body, chosen.trials, confirmed, compared, notes, warnings)


def _or_defaults(task: Task, answer: _Answer) -> _Answer:
    """Return the discipline's defaults as the answer unless the settings found beat them decisively."""
    own = next((one for one in answer.against if one.reference.name in OWN), None)
    if own is None or beats(task, answer.confirmed, own):
        return answer
    found = own.compared.difference.interval
    text = (
        f"{own.reference.name} win: the best trial does not beat them decisively ({task.goal.metric.key} differs by "
        f"{found.mean:+.3g}, {found.low:.3g} to {found.high:.3g}; p {own.p:.2g})"
    )
    winner, loser = replace(own.reference, name=TUNED), replace(answer.confirmed, name=BEST_TRIAL)
    others = [one.reference for one in answer.against if one is not own]
    return replace(
        answer,
        body=winner.body,
        confirmed=winner,
        against=against(task, winner, [loser, *others]),
        notes=[*answer.notes, text],
    )


def _tuned(
    problem: _Problem, task: Task, answer: _Answer, number: Seeds, writers: Sequence[Writer], folder: Path | None
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
        notes=[*problem.notes, *over_both_queues(problem.chosen.name, task), *answer.notes],
        warnings=answer.warnings,
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


def _measured(plan: Scenario, queue: str) -> Link:
    """Return the first link with a queue."""
    for link in plan.links:
        if link.queue == queue:
            return link
    raise InputError(unknown("queue", queue, list(dict.fromkeys(one.queue for one in plan.links))))


def _space(place: Place, aqm: str | None, vary: Sequence[str], points: Sequence[Point]) -> tuple[Discipline, Space]:
    """Return the discipline, and its search space."""
    plan, link = place.plan, place.plan.link(place.link)
    chosen = discipline(aqm or link.aqm)
    base = _base(plan, place.queue, chosen, same=chosen.name == link.aqm)
    size = float(link.parameters.get("mean_packet", 1000))
    rate = min(place.scenario(base, point).link(link.name).rate_bps for point in points)
    slowest = least_weight(rate / (8 * size), plan.duration_s - plan.warmup_s)
    limit = packets(link.parameters["limit"], size)
    return chosen, space_of(chosen, base, limit=limit, slowest=slowest, vary=vary)


def _kept(texts: Sequence[str]) -> tuple[Bound, ...]:
    """Read the constraints, which apply to the link of the tuned queue."""
    bounds = bounds_of(texts, option="keep")
    for bound in bounds:
        if bound.link:
            raise InputError(f"keep {bound.words}: a tuned queue is measured at its own link; leave out @{bound.link}")
    return tuple(bounds)


def _share(quantile: float) -> float:
    if not 0 <= quantile <= 1:
        raise InputError(f"tune: quantile {quantile:g} is not from 0 (the best point) to 1 (the worst)")
    return quantile


def _numbers(trials: int, seeds: int, fresh: int) -> Seeds:
    if trials < 1 or seeds < 1:
        raise InputError("tune: at least one trial, and one seed for each")
    if fresh < 2:
        raise InputError("tune: at least 2 fresh seeds, as one has no interval")
    if max(seeds, fresh) > 10_000 or trials > 100_000:
        raise InputError("tune: too many (allowed: up to 10,000 seeds and 100,000 trials)")
    return Seeds(seeds, max(8, 2 * seeds, fresh), fresh)


def _base(plan: Scenario, queue: str, chosen: Discipline, *, same: bool) -> Body:
    """Return what stays of the queue's table: between RED's all but its parts, with another discipline the buffer."""
    table = plan.queue_table(queue)
    if same:
        return {**table, "aqm": chosen.name}
    if not (has_red(chosen) and set(table) & RED):
        return defaults(chosen, _marking(plan, table)).body
    known = {parameter.key for parameter in chosen.own_parameters} - {"curve", "adaptation", "victim"}
    return {"aqm": chosen.name, **{key: value for key, value in table.items() if key in known}}


def _starts(place: Place, chosen: Discipline, space: Space, points: Sequence[Point], notes: list[str]) -> list[Start]:
    table = place.plan.queue_table(place.queue)
    # For an uplink there is no file; its queue is drop-tail.
    own = Start(DROP_TAIL if table["aqm"] == DROP_TAIL else FILE, dict(table))
    if not has_red(chosen):
        return [defaults(chosen, _marking(place.plan, table)), own]
    designs = analytic(place, chosen, space, points, notes)
    if not designs:
        notes.append("no analytic design: it needs greedy TCP flows, and a queue with one set of RED's parameters")
    return [*designs, automatic(_marking(place.plan, table)), own]


def _marking(plan: Scenario, table: Body) -> Body:
    """Return a queue's table with ECN where flows negotiate it: another discipline than the scenario's then marks."""
    return {"ecn": True, **table} if any(flow.parameters.get("ecn") for flow in plan.flows) else table


def _numbers_of(place: Place, space: Space, starts: Sequence[Start]) -> list[tuple[str, Numbers]]:
    """Return the starts as numbers of the search; of those that come to the same settings only the first.

    A start that lacks the searched parameters, such as a file's own CoDel where RED is tuned, is only compared with.
    """
    found: dict[str, tuple[str, Numbers]] = {}
    for start in starts:
        link = place.scenario(start.body).link(place.link)
        if not space.needs <= set(link.parameters):
            continue
        own = space.numbers(link.parameters, float(link.parameters.get("mean_packet", 1000)))
        found.setdefault(repr(space.body(own)), (start.name, own))
    return list(found.values())


def _missed(task: Task, trials: Sequence[Trial]) -> str:
    """Say by how much the trial nearest to the bounds misses them; "" if it keeps them."""
    best = min(trials, key=task.order)
    if best.feasible:
        return ""
    if not math.isfinite(best.violation):
        return f"no trial has a {task.goal.metric.key} at every point: are flows active after the warm-up?"
    near = ", ".join(
        f"{bound.words}: best found {value:.5g}, misses by {bound.sign * (bound.value - value):.2g}"
        for bound, value in zip(task.bounds, best.kept, strict=True)
        if bound.sign * value < bound.sign * bound.value
    )
    settings = ", ".join(f"{key} = {value}" for key, value in best.body.items())
    return f"none of {len(trials)} trials keeps the constraints at every point ({near}; with {settings})"


def _write(found: Tuned, folder: Path) -> None:
    from aqmlab.reporting import plots

    folders.guarded(folder, lambda: folder.mkdir(parents=True, exist_ok=True))
    folders.save(folder / RECORD, folders.to_json(found.data()))
    folders.save(folder / "queue.toml", found.scenario_text + "\n")
    folders.save(folder / SCENARIO_FILE, found.tuned.normalized)
    plots.save(found.chart(), folder)
