"""Sweep a scenario: every point of a design, with every seed, each run done once and kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aqmlab import _core
from aqmlab.errors import InputError, Interrupted, StorageError, WorkerError
from aqmlab.results.evaluation import Evaluation, checked_engine
from aqmlab.results.folders import log
from aqmlab.runs.pool import interrupts_noted
from aqmlab.runs.progress import Throttled, bar_over
from aqmlab.runs.runner import Seeds, as_scenario, seed_list
from aqmlab.runs.store.index import StudyRow
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.adoption import adopt
from aqmlab.runs.sweeps.axes import axis_of, range_of
from aqmlab.runs.sweeps.design import METHODS, Design
from aqmlab.runs.sweeps.execution import Execution, Tally
from aqmlab.runs.sweeps.executors import crew_for
from aqmlab.runs.sweeps.file import SweepFile, read_sweep
from aqmlab.runs.sweeps.plan import Block, cut, point_rows, sweep_row
from aqmlab.runs.sweeps.points import Point, check_points
from aqmlab.runs.sweeps.sweep import Study
from aqmlab.scenario.file import Overrides, Scenario, override_pairs
from aqmlab.scenario.toml_text import Value

MOST_RUNS = 50_000_000
"""More runs in one go are taken for a mistake."""
Values = Mapping[str, Value]


def sweep(
    scenario: str | Path | Scenario,
    *,
    grid: Values | None = None,
    zipped: Values | None = None,
    ranges: Values | None = None,
    random: int | None = None,
    sobol: int | None = None,
    draw_seed: int | None = None,
    seeds: Seeds = None,
    overrides: Overrides = (),
    name: str | None = None,
    out: str | Path = "results",
    workers: int | None = None,
    executor: Executor | None = None,
    dask: str | None = None,
    progress: bool = True,
    engine: str = "auto",
) -> Study:
    """Run a scenario at every point of a design, with every seed. Stored runs are not repeated.

    Parameters
    ----------
    scenario
        A scenario file, a scenario already loaded, or a sweep file; the other arguments are added to the latter.
    grid
        Dotted key to values: a list, ``"v1,v2"`` or ``"from:to:count"`` (``"from:to:count:log"``). Every combination
        is a point.
    zipped
        The same; the keys step together.
    ranges
        Dotted key to ``"from:to"``, ``"from:to:log"`` or a list, from which points are drawn.
    random, sobol
        How many points to draw, at random or as Sobol's sequence.
    draw_seed
        Seed of the draws; default 1.
    seeds, overrides, progress, engine
        As for `aqmlab.run`.
    name
        Name of the sweep; default: the scenario's.
    out
        The store.
    workers
        Processes on this machine; default: one per processor core.
    executor
        Any `concurrent.futures.Executor` whose workers can import aqmlab, in place of these processes.
    dask
        Address of a Dask scheduler, in place of these processes.

    Returns
    -------
    Study
        A row a run and a row a point.

    Raises
    ------
    ScenarioError, InputError
        If the design or the scenario at one of its points is not valid. Nothing is run then.
    Interrupted
        On Ctrl-C. Finished runs are kept.
    """
    checked_engine(engine)
    plan = _planned(scenario, overrides=overrides, seeds=seeds, name=name)
    design = _design(
        plan, grid=grid or {}, zipped=zipped or {}, ranges=ranges or {},
        draws=_draws(plan.given, random=random, sobol=sobol, draw_seed=draw_seed),
    )  # fmt: skip
    points, warnings = _checked_points(plan, design, progress=progress)
    row = sweep_row(plan.name, _core.version(), design, points, plan.seeds)
    work = _Sweep(row, points, engine=engine, workers=workers, executor=executor, dask=dask, progress=progress)
    with ResultStore(out, create=True) as store:
        tally, seconds = work.into(store)
        return Study.read(
            store,
            row,
            evaluation=Evaluation(tuple(tally.evaluated), seconds),
            simulation_s=tally.simulation_s,
            simulation_cpu_s=tally.simulation_cpu_s,
            warnings=tuple(sorted(warnings | tally.warnings)),
        )


@dataclass(frozen=True)
class _Planned:
    scenario: Scenario
    given: SweepFile
    seeds: list[int]
    name: str


def _planned(scenario: str | Path | Scenario, *, overrides: Overrides, seeds: Seeds, name: str | None) -> _Planned:
    """Return the settings of the sweep file combined with the arguments of the call."""
    given = None if isinstance(scenario, Scenario) else read_sweep(scenario)
    if given is None:
        base = as_scenario(scenario, overrides=overrides)
        given = SweepFile(base.filename)
    else:
        base = Scenario.load(given.scenario, overrides=given.overrides + override_pairs(overrides))
    wanted = seed_list(given.seeds if seeds is None else seeds, base)
    return _Planned(base, given, wanted, name or given.name or base.name)


def _design(plan: _Planned, *, grid: Values, zipped: Values, ranges: Values, draws: tuple[str, int, int]) -> Design:
    """Return the design of the sweep file with the keys of the call added; check the number of runs."""
    method, count, seed = draws
    given = plan.given
    design = Design(
        grid=(*given.grid, *(axis_of(key, values, "grid") for key, values in grid.items())),
        zipped=(*given.zipped, *(axis_of(key, values, "zip") for key, values in zipped.items())),
        ranges=(*given.ranges, *(range_of(key, values, "range") for key, values in ranges.items())),
        method=method,
        draws=count,
        draw_seed=seed,
    )
    runs = design.size * len(plan.seeds)
    if runs > MOST_RUNS:
        raise InputError(f"the study has {runs:,} runs (allowed: up to {MOST_RUNS:,})")
    return design


def _checked_points(plan: _Planned, design: Design, *, progress: bool) -> tuple[list[Point], set[str]]:
    """Return the points of a design, each of which makes a valid scenario, and the warnings about them."""
    warnings: set[str] = set()
    with bar_over("points", [1.0], shown=progress, runs=design.size) as bar:
        report = Throttled(partial(bar.report, 0))
        return check_points(plan.scenario, design.keys, design.points(), warnings, report), warnings


def _draws(given: SweepFile, *, random: int | None, sobol: int | None, draw_seed: int | None) -> tuple[str, int, int]:
    """Return how points are drawn, how many, and with which seed."""
    asked = {"random": random, "sobol": sobol}
    if all(value is None for value in asked.values()):
        asked = {method: given.draw.get(method) for method in METHODS}
    chosen = [(method, count) for method, count in asked.items() if count is not None]
    if len(chosen) > 1:
        raise InputError("draw points at random or as Sobol's sequence, not both")
    method, count = chosen[0] if chosen else ("", 0)
    if chosen and count < 1:
        raise InputError(f"--{method} {count}: the grid is empty (draw at least one point)")
    return method, count, given.draw.get("seed", 1) if draw_seed is None else draw_seed


@dataclass(frozen=True)
class _Sweep:
    """A sweep whose runs are wanted, and the executor for them."""

    row: StudyRow
    points: list[Point]
    engine: str
    workers: int | None
    executor: Executor | None
    dask: str | None
    progress: bool

    def into(self, store: ResultStore) -> tuple[Tally, float]:
        """Do the runs that a store lacks; return the statistics of the execution, and its time in s."""
        began = time.monotonic()
        blocks = cut(self.points, self.row.seeds, self.row.version)
        total = sum(len(block.runs) for block in blocks)
        store.index.put_study(self.row, point_rows(self.points))
        adopt(store, blocks, {point.scenario: point.text for point in self.points})
        missing = _missing(store, blocks)
        log(store.root, f"start sweep {self.row.name} {self.row.study[:8]}: {total} runs, {missing.runs} to do")
        tally = Tally()
        try:
            self._work(store, blocks, missing, total, tally)
        except KeyboardInterrupt:
            raise Interrupted(_how_to_go_on("interrupted", tally, total, store)) from None
        except (StorageError, WorkerError) as error:
            raise type(error)(_how_to_go_on(str(error), tally, total, store)) from None
        seconds = time.monotonic() - began
        log(
            store.root,
            f"done sweep {self.row.name} {self.row.study[:8]}: {len(tally.evaluated)} runs in {seconds:.2f} s",
        )
        return tally, seconds

    def _work(self, store: ResultStore, blocks: list[Block], missing: _Missing, total: int, tally: Tally) -> None:
        texts = {point.scenario: point.text for point in self.points}
        costs = [block.cost for block in blocks]
        crew = crew_for(
            workers=self.workers,
            executor=self.executor,
            dask=self.dask,
            blocks=missing.blocks,
            cost=missing.cost,
        )
        with (
            interrupts_noted() as interrupted,
            bar_over(self.row.name, costs, shown=self.progress, runs=total) as bar,
            crew as workers,
        ):
            Execution(store, workers, texts, self.engine, bar, interrupted, tally).work(blocks)


@dataclass(frozen=True)
class _Missing:
    runs: int
    blocks: int
    cost: float


def _missing(store: ResultStore, blocks: list[Block]) -> _Missing:
    """Return the runs that are still to do. Runs whose files are missing are first removed from the index."""
    store.drop_lost(key.name for block in blocks for key in block.runs)
    left = []
    for block in blocks:
        stored = store.index.has_runs(key.name for key in block.runs)
        left.append((block.cost / len(block.runs), len(block.runs) - len(stored)))
    open_blocks = [(cost, count) for cost, count in left if count]
    runs = sum(count for _, count in open_blocks)
    return _Missing(runs, len(open_blocks), sum(cost * count for cost, count in open_blocks))


def _how_to_go_on(what: str, tally: Tally, total: int, store: ResultStore) -> str:
    return (
        f"{what}; {tally.stored} of {total} runs finished and kept in {store.root}; "
        "the same command goes on with the rest"
    )
