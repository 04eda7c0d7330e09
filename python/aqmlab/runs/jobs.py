"""The job: one run to do, of whatever kind.

A job is a key, a source and a place. The source computes the run: a `Simulation` of a scenario, of which either tables
or the answer of a reducer are kept, or a `Call` of a function that has no scenario. The place keeps the result: the
folder of a seed, or a store. `missing` asks places and store for the jobs that are left to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

import pyarrow as pa

from aqmlab import _core
from aqmlab.results.evaluation import Evaluated, checked_engine, cores_of, peak_memory
from aqmlab.results.folders import seed_folder
from aqmlab.results.keys import ALL_TABLES, RunKey, question, tables_reducer
from aqmlab.results.output import Output, provenance
from aqmlab.results.parquet import Columns, has_rows, to_arrow
from aqmlab.runs.portions import Work
from aqmlab.runs.store.index import INDEX
from aqmlab.runs.store.store import Place, ResultStore, SeedFolder
from aqmlab.scenario.file import Scenario

BITS_A_SECOND = 1.3e10
"""About how many bits of link capacity one core simulates in a second; only proportions matter."""


class Reducer(Protocol):
    """Makes plain data of a simulated run; its tables are not kept."""

    @property
    def name(self) -> str:
        """A stable name with all that the answer depends on besides the run; never the place of the code.

        It changes when the reducer computes something else.
        """

    @property
    def in_python(self) -> bool:
        """Whether it takes so long in Python that runs belong into processes."""

    def __call__(self, tables: dict[str, Columns], seed: int) -> Mapping[str, Any]:
        """Return the answer. The tables are the core's; the reducer may take them out of the dictionary."""


@dataclass(frozen=True)
class Simulation:
    """The simulation of a scenario.

    Attributes
    ----------
    scenario, summary
        The scenario, and provenance that goes into the run's summary.
    tables
        Names of the tables to keep; None keeps all.
    reducer
        Makes the answer that is kept in place of summary and tables; None keeps these.
    engine
        One of `aqmlab.results.evaluation.ENGINES`. It changes no result, so it is no part of the key.
    spare_core
        Whether a second core is free.
    """

    scenario: Scenario
    summary: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tables: tuple[str, ...] | None = None
    reducer: Reducer | None = None
    engine: str = "auto"
    spare_core: bool = False

    @property
    def in_python(self) -> bool:
        """Whether the reducer takes long in Python."""
        return self.reducer is not None and self.reducer.in_python

    def output(self, seed: int, progress: Callable[[float], None] | None) -> Output:
        """Simulate, and reduce. `progress` is called with the share that is done, 0 to 1, unless it is None."""
        began, cpu = time.perf_counter(), time.thread_time()
        raw = self.scenario.core.run(seed, progress, engine=self.engine, spare_core=self.spare_core)
        took, took_cpu = time.perf_counter() - began, time.thread_time() - cpu
        why, hops = raw["why_events"] or "", int(raw["summary"]["packet_hops"])
        found = self.kept(raw, seed)
        return replace(found, evaluated=Evaluated(raw["engine"], why, hops, peak_memory(), took, took_cpu))

    def kept(self, raw: _core.RunOutput, seed: int) -> Output:
        """Return the kept tables of a run of this scenario that the core has finished."""
        tables = cast("dict[str, Columns]", raw["tables"])
        if self.reducer is not None:
            return Output(dict(self.reducer(tables, seed)), {})
        wanted = [name for name in (tables if self.tables is None else self.tables) if name in tables]
        made = {name: to_arrow(tables[name], seed=seed) for name in wanted if has_rows(tables[name])}
        return self._output(seed, raw["summary"], made)

    def stored(self, store: ResultStore, key: RunKey, besides: Path | None = None) -> Output | None:
        """Return what `output` would, of a run in a block or folder of a store; one that kept all tables will do.

        None if the store has none, or if the answer of a reducer is wanted. `besides` is a folder to leave out.
        """
        keys = () if self.reducer else dict.fromkeys((key, replace(key, reducer=ALL_TABLES)))
        found = next(filter(None, (store.find(one, besides) for one in keys)), None)
        return found and self._output(key.seed, found.summary["summary"], found.tables)

    def _output(self, seed: int, numbers: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Output:
        names = tables if self.tables is None else self.tables
        kept = {name: tables[name] for name in names if name in tables and tables[name].num_rows}
        return Output({**self.summary, "seed": seed, "summary": numbers}, kept)


@dataclass(frozen=True)
class Call:
    """The call of a function that has no scenario.

    Attributes
    ----------
    function
        A function of a module (it must be picklable) that takes `arguments` as keywords and returns plain data.
    arguments
        Plain data, as JSON knows it.
    by_chance
        Whether the function takes the seed too.
    in_python
        Whether it works in Python for long, so that it belongs into a process of its own.
    """

    function: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    by_chance: bool = True
    in_python: bool = True
    engine: ClassVar[str] = ""

    def output(self, seed: int, progress: Callable[[float], None] | None) -> Output:
        """Call the function."""
        own = {"seed": seed} if self.by_chance else {}
        return Output(dict(self.function(**self.arguments, **own)), {})


@dataclass(frozen=True)
class Job(Work[Output]):
    """One run to do.

    Attributes
    ----------
    key
        The key of the run: all inputs that determine its result.
    source
        Computes it.
    store
        The place that keeps the result; None keeps it in memory.
    """

    key: RunKey
    source: Simulation | Call
    store: Place | None = field(default=None, compare=False)

    def is_done(self) -> bool:
        """Whether the place has the result."""
        return self.store is not None and self.store.has(self.key)

    def take(self, store: ResultStore) -> bool:
        """Copy the result into the folder of this job from another folder or a block; whether there was one."""
        if not (isinstance(self.source, Simulation) and isinstance(self.store, SeedFolder)):
            return False
        found = self.source.stored(store, self.key, besides=self.store.path)
        if found is not None:
            self.keep(found)
        return found is not None

    def compute(self, progress: Callable[[float], None]) -> Output:
        """Do the run."""
        return self.source.output(self.key.seed, progress)

    def keep(self, result: Output) -> Output:
        """Store the result; return only the parts that are not stored in files."""
        if self.store is None:
            return result
        self.store.put(self.key, result)
        return replace(result, tables={})

    def alone(self) -> Job:
        """Return the same job; its engine may take the second core."""
        if not isinstance(self.source, Simulation):
            return self
        return replace(self, source=replace(self.source, spare_core=True))

    def with_engine(self, engine: str) -> Job:
        """Return the same job, evaluated by another engine."""
        if not isinstance(self.source, Simulation) or self.source.engine == engine:
            return self
        return replace(self, source=replace(self.source, engine=engine), cores=cores_of(engine))


def jobs_for(
    plan: Scenario,
    seeds: Iterable[int],
    *,
    folder: Path | None,
    tables: tuple[str, ...] | None = None,
    engine: str = "auto",
) -> list[Job]:
    """Make the jobs that keep tables of one scenario, one per seed.

    Parameters
    ----------
    folder
        The scenario's folder; None keeps the runs in memory.
    tables
        Names of the tables to keep; None keeps all.
    """
    source = Simulation(plan, provenance(plan), tables, engine=checked_engine(engine))
    places = {seed: None if folder is None else SeedFolder(seed_folder(folder, seed), plan.hash) for seed in seeds}
    return _jobs(source, plan.run_hash, tables_reducer(tables), places, expected_cost(plan))


def reduced(
    plan: Scenario, seeds: Iterable[int], reducer: Reducer, *, store: Place | None, cost: float, engine: str = "auto"
) -> list[Job]:
    """Make the jobs that keep the answer of a reducer for one scenario, one per seed."""
    source = Simulation(plan, reducer=reducer, engine=checked_engine(engine))
    return _jobs(source, plan.run_hash, reducer.name, dict.fromkeys(seeds, store), cost)


def called(name: str, call: Call, seeds: Iterable[int], *, store: Place | None, cost: float = 1.0) -> list[Job]:
    """Make the jobs of a function that has no scenario, one per seed.

    Parameters
    ----------
    name
        The stable name of the function's result.
    """
    return _jobs(call, question(call.arguments), name, dict.fromkeys(seeds, store), cost)


def _jobs(
    source: Simulation | Call, scenario: str, reducer: str, places: Mapping[int, Place | None], cost: float
) -> list[Job]:
    """Make the jobs of a source, one for each seed with its place."""
    version = _core.version()
    how: dict[str, Any] = {"cost": cost, "in_python": source.in_python, "cores": cores_of(source.engine)}
    return [
        Job(
            RunKey(version, scenario, seed, reducer), source, store, place=None if store is None else store.place, **how
        )
        for seed, store in places.items()
    ]


def missing(jobs: Sequence[Job], root: Path | None = None) -> list[Job]:
    """Return the jobs that must be computed.

    Parameters
    ----------
    root
        The store's folder. Runs that it has, and that a job wants in a folder of its own, are copied there.
    """
    left = [job for job in jobs if not job.is_done()]
    if root is None or not left or not (root / INDEX).is_file():
        return left
    with ResultStore(root) as store:
        return [job for job in left if not job.take(store)]


def note(jobs: Iterable[Job], root: Path) -> None:
    """Note in the store which folders have the runs of these jobs, which are done."""
    with ResultStore(root, create=True) as store:
        store.note((job.key, job.store.path) for job in jobs if isinstance(job.store, SeedFolder))


def expected_cost(plan: Scenario) -> float:
    """Return about how long a run takes, in seconds of one core, by the capacity of the managed queues."""
    return max((plan.managed_bps or plan.slowest_bps) * plan.duration_s / BITS_A_SECOND, 1e-3)
