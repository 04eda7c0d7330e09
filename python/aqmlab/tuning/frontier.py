"""The frontier of the RED family between two goals, and the place of other disciplines against it.

The family is every combination of RED's curves, spacings of drops, victims and adaptations, each with its own
thresholds, max_p and w_q. It is searched with NSGA-II (K. Deb, A. Pratap, S. Agarwal and T. Meyarivan, "A fast and
elitist multiobjective genetic algorithm: NSGA-II", IEEE Trans. Evol. Comput. 6, 2002), and then for each other
discipline aimed at its own place: the first goal as good as possible with the second no worse. The frontier of a search
is the luckiest of many settings on a few seeds, so that its members are run again on fresh seeds and at new points, and
all statements are made there (`aqmlab.tuning.frontier_places`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.errors import InputError, joined
from aqmlab.results.evaluation import checked_engine
from aqmlab.results.quantities import interval_of
from aqmlab.runs.arguments import as_scenario
from aqmlab.runs.bounds import Bound
from aqmlab.runs.comparison_settings import one_queue
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.registry import discipline
from aqmlab.tuning.finding import Seeds, seeds_of
from aqmlab.tuning.frontier_outcome import Frontier, Named, Settings
from aqmlab.tuning.frontier_places import Placed, placed_against
from aqmlab.tuning.goals import Goal, goal_of, share_of
from aqmlab.tuning.measurements import Bench, Body, Measured
from aqmlab.tuning.pareto import pareto_front
from aqmlab.tuning.problem import Points, Problem, base_of, numbers_at, numbers_of, problem_of
from aqmlab.tuning.records import record_folder, write_records
from aqmlab.tuning.search import BROKEN, Task, need_optuna, search
from aqmlab.tuning.space import Numbers, Space
from aqmlab.tuning.starts import Start
from aqmlab.tuning.verification import fresh_seeds

if TYPE_CHECKING:
    import optuna

PARTS = ("curve", "spacing", "victim", "adaptation")
"""Parts of RED that the family combines."""
USUAL = {"victim": "arriving", "adaptation": "none"}
"""Words that a name leaves out."""
GENERATION = 20
"""Settings of one generation."""
MEMBERS = 5
"""Members along the frontier that are run again."""
NEAREST = 2
"""Further settings that are run again: the nearest to each other discipline."""
RECORD = "frontier.json"


def frontier(
    scenario: str | Path | Scenario,
    *,
    aqm: Sequence[str] = ("codel", "pie"),
    minimize: Sequence[str] = ("mean_delay_ms",),
    maximize: Sequence[str] = ("goodput_mbps",),
    over: Sequence[str] = (),
    queue: str | None = None,
    quantile: float = 0.5,
    trials: int = 200,
    seeds: int = 2,
    fresh: int = 20,
    overrides: Overrides = (),
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
    search_seed: int = 1,
) -> Frontier:
    """Find the frontier of the RED family between two goals, and place other disciplines against it.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    aqm
        Other disciplines, each with its defaults and the scenario's buffer; the scenario's own settings if it is its
        discipline.
    minimize, maximize
        The goals, two in all: metrics such as ``delay_p95_ms`` or ``goodput_mbps``.
    over
        Varied conditions, as for `aqmlab.tune`; none for the scenario as it is.
    queue
        The ``[queue.NAME]`` table; the first link with it is measured. Default: as for `aqmlab.compare_tuned`.
    quantile
        Which quantile over the points counts: 1 is the worst point, 0.5 the middle one.
    trials
        Settings of the family that are tried. A quarter as many are tried again near each other discipline.
    seeds, fresh
        Seeds of the search, and fresh seeds of the frontier and the other disciplines.
    overrides, workers, progress, engine
        As for `aqmlab.run`.
    out
        Folder for runs and records; the same call goes on where it was. None keeps all in memory.
    search_seed
        Seed of the search: another one makes another search of the same size.

    Returns
    -------
    Frontier
        The same scenario, arguments and version always give the same.

    Raises
    ------
    InputError, StorageError, Interrupted
        With one clear line.
    """
    need_optuna()
    plan = as_scenario(scenario, overrides=overrides)
    goals = _goals(minimize, maximize)
    number = seeds_of(trials, seeds, fresh, search_seed)
    queue = one_queue(plan, queue)
    problem = problem_of(plan, queue, aqm="red", vary=family(), over=over or None)
    others = [_other(problem, name) for name in dict.fromkeys(aqm)]
    if not others:
        raise InputError("frontier: name at least one discipline, for example --aqm codel,pie")
    root = None if out is None else Path(out)
    how: dict[str, Any] = {"workers": workers, "progress": progress, "engine": checked_engine(engine)}
    runs = ResultStore(root, create=True)
    bench = Bench(problem.place, runs, problem.points.all, dict(problem.space.base), command="frontier", **how)
    searching = _FrontierSearch(bench, problem, goals, share_of(quantile), number)
    tried = searching.spread(trials, others)
    placed = searching.judged(others, "other disciplines")
    for one in placed:
        tried += searching.aimed(one, tried, max(GENERATION, trials // 4))
    members = _spread_out(tried, goals, placed)
    confirmed = _confirm(bench, problem.points, goals, quantile, [*members, *placed], fresh)
    ahead = pareto_front(confirmed[: len(members)], partial(_costs, goals))
    found = Frontier(
        name=plan.name,
        hash=plan.hash,
        goals=goals,
        tried=tried,
        members=ahead,
        others=_places(ahead, confirmed[len(members) :], goals, len(members)),
        points=[point.name for point in problem.points.search],
        fresh_points=[point.name for point in problem.points.unseen],
        seeds=(seeds, fresh),
        search={"quantile": quantile, "over": list(over), "trials": trials, "search_seed": search_seed},
    )
    if root is None:
        return found
    asked = [queue, *(goal.words for goal in goals), *found.seeds, *found.search.values()]
    from aqmlab.reporting import plots

    folder = record_folder(root, plan, "frontier", [one.name for one in placed], asked)
    found = replace(found, folder=folder)
    write_records(folder, RECORD, found.data(), {"frontier.csv": found.csv()})
    plots.save(found.chart(), folder)
    return found


def _goals(minimize: Sequence[str], maximize: Sequence[str]) -> tuple[Goal, Goal]:
    found = [*(goal_of(key, None) for key in minimize), *(goal_of(None, key) for key in maximize)]
    if len(found) != 2 or found[0].metric.key == found[1].metric.key:
        raise InputError(
            "frontier: give two goals, for example --minimize delay_p95_ms --maximize goodput_mbps "
            f"(given: {joined([goal.words for goal in found]) or 'none'})"
        )
    return found[0], found[1]


def family() -> list[str]:
    """Return the words of RED's parts as ranges of a search: ``curve=linear,gentle,...``."""
    own = {parameter.key: parameter for parameter in discipline("red").own_parameters}
    return [f"{key}={','.join(own[key].choices)}" for key in PARTS]


@dataclass(frozen=True)
class _FrontierSearch:
    """The search: its runs, goals and seeds."""

    bench: Bench
    problem: Problem
    goals: tuple[Goal, Goal]
    share: float
    number: Seeds

    @property
    def seeds(self) -> range:
        """Seeds of the search."""
        return self.number.trial_seeds()

    def spread(self, trials: int, others: Sequence[Named]) -> list[Settings]:
        """Search the whole frontier; it begins with the starts and with other disciplines of the family."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        space = self.problem.space
        found: list[Settings] = []
        distributions = {dimension.key: dimension.distribution() for dimension in space.dimensions}
        sampler = optuna.samplers.NSGAIISampler(population_size=GENERATION, seed=self.number.search)
        study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
        for _, numbers in numbers_of(self.problem.place, space, self.problem.starts):
            for word in _words(space, "curve"):
                study.enqueue_trial({**numbers, "curve": word}, skip_if_exists=True)
        for _, numbers in numbers_of(self.problem.place, space, [Start(name, body) for _, name, body in others]):
            study.enqueue_trial(numbers, skip_if_exists=True)
        while len(found) < trials:
            asked = [study.ask(distributions) for _ in range(min(GENERATION, trials - len(found)))]
            bodies = [space.body(one.params) for one in asked]
            own = [("red", _parts(body), body) for body in bodies]
            judged = self.judged(own, f"trials {len(found) + 1}-{len(found) + len(asked)} of {trials}")
            for one, settings in zip(asked, judged, strict=True):
                _tell(study, one, self.goals, settings)
            found += judged
        return found

    def aimed(self, at: Settings, tried: Sequence[Settings], trials: int) -> list[Settings]:
        """Search near a discipline: the first goal as good as possible with the second no worse than its own."""
        first, second = self.goals
        bound = Bound(second.metric, -second.sign, at.goals[1])
        near = nearest(at, tried, self.goals, GENERATION)
        found = search(
            self.bench,
            self.problem.space,
            Task(first, (bound,), self.share),
            starts=[(one.name, numbers) for one in near if (numbers := self._numbers(one.body)) is not None],
            points=self.problem.points.search,
            seeds=self.seeds,
            trials=trials + len(near),
            sampler_seed=self.number.search,
        )
        full = [one for one in found if one.seeds == len(self.seeds)]
        return self.judged([("red", _parts(one.body), one.body) for one in full], f"near {at.name}")

    def judged(self, settings: Sequence[Named], title: str) -> list[Settings]:
        """Run settings on the seeds of the search; the goals of invalid settings are NaN."""
        bodies = [body for _, _, body in settings]
        measured = self.bench.measure_valid(bodies, self.problem.points.search, self.seeds, title=title)
        found = []
        for (aqm, name, body), own in zip(settings, measured, strict=True):
            goals: tuple[float, ...] = (math.nan, math.nan)
            if own is not None:
                goals = tuple(float(np.mean(one)) for one in _of_seeds(own, self.goals, self.share))
            found.append(Settings(aqm, name, body, goals))
        return found

    def _numbers(self, body: Body) -> Numbers | None:
        return numbers_at(self.bench.place, self.problem.space, body)


def _of_seeds(found: Measured, goals: Sequence[Goal], share: float) -> list[np.ndarray]:
    """Return of each goal its value in each seed."""
    for goal in goals:
        if goal.metric.key not in found:
            raise InputError(f"frontier: these runs have no {goal.metric.key} (they have {', '.join(found)})")
    return [goal.over_points(found[goal.metric.key], share) for goal in goals]


def _words(space: Space, key: str) -> tuple[str, ...]:
    return next(dimension.choices for dimension in space.dimensions if dimension.key == key)


def _parts(body: Body) -> str:
    """Name settings of the family by their parts, the usual ones left out.

    >>> _parts({"curve": "mred", "spacing": "linux", "victim": "arriving", "adaptation": "none"})
    'mred, linux'
    """
    return ", ".join(str(body[key]) for key in PARTS if key in body and body[key] != USUAL.get(key))


def _other(problem: Problem, name: str) -> Named:
    """Return another discipline with its defaults, or with the settings of the file if that is its discipline."""
    place, chosen = problem.place, discipline(name)
    is_own = place.plan.link(place.link).aqm == chosen.name
    body = base_of(place.plan, place.queue, chosen, same=is_own)
    place.scenario(body, problem.points.search[0])
    return chosen.name, chosen.name, body


def _tell(study: optuna.Study, asked: optuna.trial.Trial, goals: Sequence[Goal], settings: Settings) -> None:
    values = [goal.sign * value for goal, value in zip(goals, settings.goals, strict=True)]
    study.tell(asked, values if np.isfinite(values).all() else [BROKEN, BROKEN])


def nearest(at: Settings, tried: Sequence[Settings], goals: Sequence[Goal], count: int = NEAREST) -> list[Settings]:
    """Return the settings with the smallest deficit in their worse goal, as a share of the frontier's range."""
    front = _front(tried, goals)
    spans = [np.ptp([one.goals[index] for one in front]) or 1.0 for index in range(len(goals))]

    def lacks(one: Settings) -> float:
        lost = [
            goal.sign * (own - other) / span
            for goal, own, other, span in zip(goals, one.goals, at.goals, spans, strict=True)
        ]
        return max(lost)

    unique = {repr(one.body): one for one in tried if np.isfinite(one.goals).all()}
    return sorted(unique.values(), key=lacks)[:count]


def _front(tried: Sequence[Settings], goals: Sequence[Goal]) -> list[Settings]:
    """Return the Pareto front of settings, the best in the first goal first."""
    usable = [one for one in tried if np.isfinite(one.goals).all()]
    found = pareto_front(usable, lambda one: (goals[0].sign * one.goals[0], goals[1].sign * one.goals[1]))
    if not found:
        raise InputError("frontier: no setting has values of both goals: are flows active after the warm-up?")
    return found


def _spread_out(tried: Sequence[Settings], goals: Sequence[Goal], others: Sequence[Settings]) -> list[Settings]:
    """Return `MEMBERS` of the frontier, evenly along it, and the `NEAREST` to each other discipline."""
    front = _front(tried, goals)
    places = np.linspace(0, len(front) - 1, min(MEMBERS, len(front))).round().astype(int).tolist()
    found = [front[index] for index in dict.fromkeys(places)]
    for one in others:
        found += nearest(one, tried, goals)
    unique = {repr(one.body): one for one in found}
    return sorted(unique.values(), key=lambda one: goals[0].sign * one.goals[0])


def _confirm(
    bench: Bench,
    points: Points,
    goals: tuple[Goal, Goal],
    share: float,
    settings: Sequence[Settings],
    fresh: int,
) -> list[Placed]:
    """Run settings on fresh seeds, at the points of the search and at new ones."""
    found = bench.measure([one.body for one in settings], points.all, fresh_seeds(fresh), title="fresh seeds")
    placed = []
    for one, measured in zip(settings, found, strict=True):
        per_seed = tuple(_of_seeds(measured, goals, share))
        intervals = [interval_of(goal.metric.key, own)[0] for goal, own in zip(goals, per_seed, strict=True)]
        placed.append(Placed(one.aqm, one.name, one.body, tuple(intervals), per_seed))
    return placed


def _costs(goals: Sequence[Goal], one: Placed) -> tuple[float, float]:
    first, second = (goal.sign * found.mean for goal, found in zip(goals, one.goals, strict=True))
    return first, second


def _places(members: Sequence[Placed], others: Sequence[Placed], goals: Sequence[Goal], tried: int) -> list[Placed]:
    """Return the other disciplines, each with its place; the members are the front of `tried` settings."""
    return [placed_against(one, members, goals, others=len(others), tried=tried) for one in others]
