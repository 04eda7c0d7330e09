"""Runs of settings at points of the ranges, and the quantities read from them."""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import ClassVar

import numpy as np

from aqmlab.errors import ScenarioError
from aqmlab.results.parquet import Columns
from aqmlab.results.quantities import QUANTITIES, run_quantities
from aqmlab.runs.jobs import Job, expected_cost, missing, reduced
from aqmlab.runs.progress import is_quiet
from aqmlab.runs.scheduler import Workers
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.toml_text import Value, inline
from aqmlab.tuning.budget import Budget
from aqmlab.tuning.ranges import Pairs, Point

Values = dict[str, float]
"""Metric to its value in one run."""
Body = dict[str, Value]
"""A ``[queue.NAME]`` table."""
Measured = dict[str, np.ndarray]
"""Metric to its values: a row for each point, a column for each seed."""


SAY_EVERY_S = 10.0
"""Time between two lines about progress where stderr is no terminal, which has a bar."""


@dataclass(frozen=True)
class Place:
    """Where settings are tried.

    Attributes
    ----------
    plan
        The scenario.
    queue, link
        The queue whose parameters are searched, and the link that is measured.
    """

    plan: Scenario
    queue: str
    link: str

    def pairs(self, body: Body, point: Point | None = None) -> Pairs:
        """Return the overrides that put settings into the queue, at a point."""
        own = (f"queue.{self.queue}", inline(body))
        probes = (("probe.delay_histogram", "true"), ("probe.links", inline([self.link])))
        return (*self.plan.overrides, own, *probes, *(point.pairs if point is not None else ()))

    def scenario(self, body: Body, point: Point | None = None) -> Scenario:
        """Return the scenario with settings, at a point, checked."""
        return Scenario.from_text(self.plan.text, filename=self.plan.filename, overrides=self.pairs(body, point))

    def is_same(self, one: Body, other: Body) -> bool:
        """Whether two tables make the same queue, written-out defaults included."""
        links = [self.scenario(body).link(self.link) for body in (one, other)]
        return (links[0].aqm, links[0].parameters) == (links[1].aqm, links[1].parameters)

    def accepts(self, body: Body) -> bool:
        """Whether the scenario is valid with settings: not every curve bears every max_p."""
        try:
            self.scenario(body)
        except ScenarioError:
            return False
        return True


@dataclass(frozen=True)
class LinkMetrics:
    """Computes the quantities of one link in a run."""

    link: str
    in_python: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The stable name for keys of runs; it differs when there are other quantities."""
        return f"metrics {zlib.crc32(' '.join(QUANTITIES).encode()):08x} {self.link}"

    def __call__(self, tables: dict[str, Columns], seed: int) -> Values:
        """Return the quantities."""
        return run_quantities(tables, self.link)


class Bench:
    """Measures settings at points; stored runs are not repeated.

    Parameters
    ----------
    place
        Where.
    answers
        The store's answers of finished runs.
    points
        Every point that will be asked for, checked with `body` at once, so that an unknown key is found at the start.
    body
        Settings that the scenario is checked with.
    workers, progress, engine
        As for `aqmlab.run`.
    budget
        Records how long runs take.
    title, command
        The discipline, and the command, for lines about progress.
    """

    def __init__(
        self,
        place: Place,
        answers: ResultStore,
        points: Sequence[Point],
        body: Body,
        *,
        workers: int | None = None,
        progress: bool = True,
        engine: str = "auto",
        budget: Budget | None = None,
        title: str = "",
        command: str = "tune",
    ) -> None:
        self.place, self.answers = place, answers
        self._workers, self._progress, self._engine = workers, progress, engine
        self.budget, self._title, self._command = budget or Budget(), title, command
        self._said = time.monotonic()
        self._costs: dict[str, float] = {}
        for point in points:
            there = place.scenario(body, point)
            there.link(place.link)
            self._costs[point.name] = expected_cost(there) * (1 + 1e-3 * len(there.flows))
        self._metrics = LinkMetrics(place.link)

    def measure(
        self, bodies: Sequence[Body], points: Sequence[Point], seeds: Sequence[int], *, title: str
    ) -> list[Measured]:
        """Measure several settings at once, so that no core waits: for each, its metrics by point and seed."""
        wanted = [[self._jobs(body, point, seeds) for point in points] for body in bodies]
        jobs = {job.key: job for body in wanted for point in body for job in point}
        self._execute(missing(list(jobs.values())), f"{self._title}: {title}" if self._title else title)
        return [self._collected(body) for body in wanted]

    def measure_valid(
        self, bodies: Sequence[Body], points: Sequence[Point], seeds: Sequence[int], *, title: str
    ) -> list[Measured | None]:
        """Do the same; None for settings that the scenario cannot have."""
        valid = [self.place.accepts(body) for body in bodies]
        found = iter(self.measure(list(compress(bodies, valid)), points, seeds, title=title))
        return [next(found) if one else None for one in valid]

    def _execute(self, jobs: Sequence[Job], title: str) -> None:
        """Do runs, with a line on stderr from time to time where there is no progress bar, and tell the budget."""
        began, done = time.monotonic(), 0

        def finished(_: int) -> None:
            nonlocal done
            done += 1
            now = time.monotonic()
            if now - self._said >= SAY_EVERY_S and self._progress and not (is_quiet() or sys.stderr.isatty()):
                self._said = now
                print(f"aqmlab: {self._command} {title}, {done} of {len(jobs)} runs", file=sys.stderr, flush=True)

        with Workers(self._workers, progress=self._progress) as workers:
            workers.execute(jobs, title=title, finished=finished)
        self.budget.ran(len(jobs), time.monotonic() - began)

    def _jobs(self, body: Body, point: Point, seeds: Sequence[int]) -> list[Job]:
        plan = self.place.scenario(body, point)
        cost = self._costs[point.name]
        return reduced(plan, seeds, self._metrics, store=self.answers, cost=cost, engine=self._engine)

    def _collected(self, jobs: list[list[Job]]) -> Measured:
        runs = [[self._values(job) for job in point] for point in jobs]
        names = list(dict.fromkeys(name for point in runs for run in point for name in run))
        return {name: np.array([[run.get(name, np.nan) for run in point] for point in runs]) for name in names}

    def _values(self, job: Job) -> Values:
        found = self.answers.get(job.key)
        return {key: np.nan if value is None else float(value) for key, value in found.items()}
