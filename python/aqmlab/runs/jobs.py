"""The job: one run to do, of whatever kind.

A job is a key, a source and a store. The source computes the run: a `Simulation` of a scenario, of which either tables
or the answer of a reducer are kept, or a `Call` of a function that has no scenario. The store keeps the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, cast

from aqmlab import _core
from aqmlab.results.evaluation import Evaluated, checked_engine, peak_memory
from aqmlab.results.folders import seed_folder
from aqmlab.results.keys import RunKey, question, tables_reducer
from aqmlab.results.output import Output, provenance
from aqmlab.results.parquet import Columns, to_arrow
from aqmlab.runs.store.kept import SeedFolder, Store
from aqmlab.scenario.file import Scenario

BITS_A_SECOND = 1.3e10
"""About how many bits of link capacity one core simulates in a second; only proportions matter."""


class Reducer(Protocol):
    """Makes plain data of a simulated run; its tables are not kept."""

    @property
    def name(self) -> str:
        """A stable name with all that the answer depends on besides the run: a part of the run's key.

        It never depends on the place of the code. It changes when the reducer computes something else.
        """

    @property
    def in_python(self) -> bool:
        """Whether it takes so long in Python that runs belong into processes."""

    def __call__(self, tables: dict[str, Columns], seed: int) -> Mapping[str, Any]:
        """Return the answer. The tables are the core's; the reducer may take them out of the dictionary."""


class Source(Protocol):
    """Computes a run."""

    @property
    def in_python(self) -> bool:
        """Whether it works in Python for long, so that it belongs into a process of its own."""

    def output(self, seed: int, progress: Callable[[float], None]) -> Output:
        """Compute the run of a seed. `progress` is called with the share that is done, 0 to 1."""


@dataclass(frozen=True)
class Simulation:
    """The simulation of a scenario.

    Attributes
    ----------
    scenario
        The scenario.
    summary
        Provenance that goes into the run's summary.
    tables
        Names of the tables to keep; None keeps all.
    reducer
        Makes the answer that is kept in place of summary and tables; None keeps these.
    engine
        One of `aqmlab.results.evaluation.ENGINES`. It changes no result, so it is no part of the key.
    """

    scenario: Scenario
    summary: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tables: tuple[str, ...] | None = None
    reducer: Reducer | None = None
    engine: str = "auto"

    @property
    def in_python(self) -> bool:
        """Whether the reducer takes long in Python."""
        return self.reducer is not None and self.reducer.in_python

    def output(self, seed: int, progress: Callable[[float], None]) -> Output:
        """Simulate, and reduce."""
        raw = self.scenario.core.run(seed, progress, engine=self.engine)
        numbers = raw["summary"]
        evaluated = Evaluated(raw["engine"], raw["why_events"] or "", int(numbers["packet_hops"]), peak_memory())
        if self.reducer is not None:
            answer = dict(self.reducer(cast("dict[str, Columns]", raw["tables"]), seed))
            return Output(answer, {}, replace(evaluated, peak_bytes=peak_memory()))
        wanted = raw["tables"] if self.tables is None else [name for name in self.tables if name in raw["tables"]]
        made = {name: to_arrow(raw["tables"][name], seed=seed) for name in wanted}
        tables = {name: table for name, table in made.items() if table.num_rows}
        return Output({**self.summary, "seed": seed, "summary": numbers}, tables, evaluated)


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
    """

    function: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any]
    by_chance: bool = True

    @property
    def in_python(self) -> bool:
        """Say yes."""
        return True

    def output(self, seed: int, progress: Callable[[float], None]) -> Output:
        """Call the function."""
        own = {"seed": seed} if self.by_chance else {}
        return Output(dict(self.function(**self.arguments, **own)), {})


@dataclass(frozen=True)
class Job:
    """One run to do.

    Attributes
    ----------
    key
        The key of the run: all inputs that determine its result.
    source
        Computes it.
    store
        Keeps the result; None keeps it in memory.
    cost
        About how long it takes, in seconds of one core. Only proportions matter.
    """

    key: RunKey
    source: Source
    store: Store | None = None
    cost: float = 1.0

    @property
    def place(self) -> Path | None:
        """The folder that keeps the result; None if it stays in memory."""
        return None if self.store is None else self.store.place

    @property
    def in_python(self) -> bool:
        """Whether it works in Python for long, so that it belongs into a process of its own."""
        return self.source.in_python

    @property
    def cores(self) -> int:
        """How many processor cores it keeps busy."""
        return 2 if isinstance(self.source, Simulation) and self.source.engine == "parallel" else 1

    def is_done(self) -> bool:
        """Whether the store has the result."""
        return self.store is not None and self.store.has(self.key)

    def compute(self, progress: Callable[[float], None]) -> Output:
        """Do the run."""
        return self.source.output(self.key.seed, progress)

    def keep(self, result: Output) -> Output:
        """Store the result; return only the parts that are not stored in files."""
        if self.store is None:
            return result
        self.store.put(self.key, result.summary, result.tables)
        return replace(result, tables={})

    def with_engine(self, engine: str) -> Job:
        """Return the same job, evaluated by another engine."""
        if not isinstance(self.source, Simulation) or self.source.engine == engine:
            return self
        return replace(self, source=replace(self.source, engine=engine))


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
    cost, version, reducer = expected_cost(plan), _core.version(), tables_reducer(tables)
    return [
        Job(
            RunKey(version, plan.run_hash, seed, reducer),
            source,
            None if folder is None else SeedFolder(seed_folder(folder, seed), plan.hash),
            cost,
        )
        for seed in seeds
    ]


def reduced(
    plan: Scenario, seeds: Iterable[int], reducer: Reducer, *, store: Store | None, cost: float, engine: str = "auto"
) -> list[Job]:
    """Make the jobs that keep the answer of a reducer for one scenario, one per seed."""
    source = Simulation(plan, reducer=reducer, engine=checked_engine(engine))
    version, name = _core.version(), reducer.name
    return [Job(RunKey(version, plan.run_hash, seed, name), source, store, cost) for seed in seeds]


def called(name: str, call: Call, seeds: Iterable[int], *, store: Store | None, cost: float = 1.0) -> list[Job]:
    """Make the jobs of a function that has no scenario, one per seed.

    Parameters
    ----------
    name
        The stable name of the function's result.
    """
    version, asked = _core.version(), question(call.arguments)
    return [Job(RunKey(version, asked, seed, name), call, store, cost) for seed in seeds]


def expected_cost(plan: Scenario) -> float:
    """Return about how long a run takes, in seconds of one core, by the capacity of the managed queues."""
    return cost_of(plan.managed_bps, plan.slowest_bps, plan.duration_s)


def cost_of(managed_bps: float, slowest_bps: float, duration_s: float) -> float:
    """Return the same from the rates in bit/s of all managed links together and of the slowest link.

    >>> cost_of(1e7, 1e6, 13.0)
    0.01
    """
    return max((managed_bps or slowest_bps) * duration_s / BITS_A_SECOND, 1e-3)
