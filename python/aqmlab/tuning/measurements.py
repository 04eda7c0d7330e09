"""Runs of settings at points of the ranges, and what is read off them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.errors import InputError, Interrupted, ScenarioError, StorageError
from aqmlab.execution.pool import Job, Output, execute
from aqmlab.execution.runner import expected_cost, provenance
from aqmlab.results.metrics import delay_metrics, flow_metrics, link_metrics
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.toml_text import Value, inline
from aqmlab.tuning.ranges import Pairs, Point
from aqmlab.tuning.run_cache import Ledger, Values, run_key

TABLES = ("links", "flows", "delay_histogram")
"""Tables of a run that metrics need."""
Body = dict[str, Value]
"""A ``[queue.NAME]`` table."""
Measured = dict[str, np.ndarray]
"""Metric to its values: a row for each point, a column for each seed."""


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

    def accepts(self, body: Body) -> bool:
        """Whether the scenario is valid with settings: not every curve bears every max_p."""
        try:
            self.scenario(body)
        except ScenarioError:
            return False
        return True


@dataclass(frozen=True)
class Measurement(Job):
    """A run of which only the metrics of one link are kept, in the ledger, as soon as it is finished.

    Attributes
    ----------
    link
        The link.
    key
        The run's name in the ledger.
    ledger
        The finished runs.
    """

    link: str = ""
    key: str = ""
    ledger: Ledger = field(default_factory=lambda: Ledger(None), compare=False, repr=False)

    def perform(self, progress: Callable[[float], None]) -> Output:
        """Run, and keep the metrics."""
        output = super().perform(progress)
        self.ledger.add(self.key, metrics_of(output.tables, self.link))
        return Output(output.summary, {}, output.evaluated)


class Bench:
    """Measures settings at points; what is in its ledger is not run again.

    Parameters
    ----------
    place
        Where.
    ledger
        Finished runs.
    points
        Every point that will be asked for, checked with `body` at once, so that an unknown key is found at the start.
    body
        Settings that the scenario is checked with.
    workers, progress, engine
        As for `aqmlab.run`.
    """

    def __init__(
        self,
        place: Place,
        ledger: Ledger,
        points: Sequence[Point],
        body: Body,
        *,
        workers: int | None = None,
        progress: bool = True,
        engine: str = "auto",
    ) -> None:
        self.place, self.ledger = place, ledger
        self._workers, self._progress, self._engine = workers, progress, engine
        self._costs: dict[str, float] = {}
        for point in points:
            there = place.scenario(body, point)
            there.link(place.link)
            self._costs[point.name] = expected_cost(there) * (1 + 1e-3 * len(there.flows))
        self._summary = provenance(place.scenario(body))

    def measure(
        self, bodies: Sequence[Body], points: Sequence[Point], seeds: Sequence[int], *, title: str
    ) -> list[Measured]:
        """Measure several settings at once, so that no core waits: for each, its metrics by point and seed."""
        wanted = [[[self._job(body, point, seed) for seed in seeds] for point in points] for body in bodies]
        jobs = {job.key: job for body in wanted for point in body for job in point if job.key not in self.ledger}
        try:
            execute(list(jobs.values()), workers=self._workers, progress=self._progress, title=title)
        except Interrupted:
            raise Interrupted(self._how_to_go_on("interrupted")) from None
        except StorageError as error:
            raise StorageError(self._how_to_go_on(self.ledger.failure or str(error))) from None
        return [self._collected(body) for body in wanted]

    def _job(self, body: Body, point: Point, seed: int) -> Measurement:
        plan, pairs = self.place.plan, self.place.pairs(body, point)
        return Measurement(
            text=plan.text,
            filename=plan.filename,
            overrides=pairs,
            seed=seed,
            summary=self._summary,
            tables=TABLES,
            cost=self._costs[point.name],
            engine=self._engine,
            link=self.place.link,
            key=run_key(plan.text, pairs, seed, self.place.link),
            ledger=self.ledger,
        )

    def _collected(self, jobs: list[list[Measurement]]) -> Measured:
        runs = [[self.ledger[job.key] for job in point] for point in jobs]
        names = list(dict.fromkeys(name for point in runs for run in point for name in run))
        return {name: np.array([[run.get(name, np.nan) for run in point] for point in runs]) for name in names}

    def _how_to_go_on(self, what: str) -> str:
        if self.ledger.path is None:
            return f"{what}; {len(self.ledger)} runs finished, none kept (no output folder was given)"
        where = self.ledger.path.parent
        return f"{what}; {len(self.ledger)} runs kept in {where}; the same command goes on with the rest"


def metrics_of(tables: dict[str, pa.Table], link: str) -> Values:
    """Return the metrics of one link in one run."""

    def rows(name: str) -> pa.Table | None:
        table = tables.get(name)
        return None if table is None else table.filter(pc.equal(table["link"], link))

    own = rows("links")
    if own is None or not own.num_rows:
        raise InputError(f'tune: the runs have no link "{link}"')
    found = link_metrics(own.to_pylist()[0])
    if "flows" in tables:
        found |= flow_metrics(tables["flows"].to_pandas())
    delays = rows("delay_histogram")
    if delays is not None:
        found |= delay_metrics(delays.to_pylist())
    return {key: float(value) for key, value in found.items()}
