"""Sweep a scenario: every point of a design, with every seed, each run done once and kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from aqmlab import _core
from aqmlab.errors import InputError, listed
from aqmlab.results.evaluation import Evaluated, Evaluation, checked_engine
from aqmlab.results.folders import log
from aqmlab.runs.arguments import Seeds, as_scenario, seed_list
from aqmlab.runs.comparison_settings import managed_queues
from aqmlab.runs.progress import Throttled, bar_over
from aqmlab.runs.scheduler import Workers
from aqmlab.runs.store.block import EncodedBlock
from aqmlab.runs.store.index import StudyRow
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.blocks import Block, check_points, cut
from aqmlab.runs.sweeps.design import METHODS, Design, axes_of, ranges_of
from aqmlab.runs.sweeps.file import SweepFile, read_sweep
from aqmlab.runs.sweeps.sweep import Study
from aqmlab.scenario.file import Overrides, Scenario, override_pairs
from aqmlab.scenario.toml_text import Value

DISCIPLINE = "aqm"
"""Key of a sweep that stands for the discipline of the bottleneck's queue."""
MOST_RUNS = 50_000_000
"""More runs in one go are taken for a mistake."""
MOST_DEATHS = 10
"""A block at which workers died more often than this is given up: it may be what kills them."""
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
    given, base = _read(scenario, overrides)
    wanted = seed_list(given.seeds if seeds is None else seeds, base)
    method, draws, draw_seed = _draws(given, random=random, sobol=sobol, draw_seed=draw_seed)
    design = Design(
        grid=given.grid + axes_of(grid or {}, "grid"),
        zipped=given.zipped + axes_of(zipped or {}, "zip"),
        ranges=given.ranges + ranges_of(ranges or {}, "range"),
        method=method,
        draws=draws,
        draw_seed=draw_seed,
    )
    if DISCIPLINE in design.keys:
        design = design.renamed(DISCIPLINE, _discipline_key(base))
    runs = design.size * len(wanted)
    if runs > MOST_RUNS:
        raise InputError(f"the study has {runs:,} runs (allowed: up to {MOST_RUNS:,})")
    warnings: set[str] = set()
    with bar_over("points", [1.0], shown=progress, runs=design.size) as bar:
        points = check_points(base, design, warnings, Throttled(partial(bar.report, 0)))
    version = _core.version()
    blocks = cut(points, wanted, version, engine=engine, place=Path(out))
    with ResultStore(out, create=True) as store:
        pairs = [(point.scenario, point.values) for point in points]
        title = name or given.name or base.name
        row = store.index.put_study(title, version, design.keys, wanted, design.shape, pairs)
        with Workers(workers, progress=progress, executor=executor, dask=dask, deaths=MOST_DEATHS) as own:
            evaluation = _done(store, blocks, own, warnings, row)
        return Study.read(store, row, evaluation=evaluation, warnings=tuple(sorted(warnings)))


def _read(scenario: str | Path | Scenario, overrides: Overrides) -> tuple[SweepFile, Scenario]:
    """Return the settings of a sweep file, empty for a scenario, and the scenario with all overrides."""
    given = None if isinstance(scenario, Scenario) else read_sweep(scenario)
    if given is None:
        base = as_scenario(scenario, overrides=overrides)
        return SweepFile(base.filename), base
    return given, Scenario.load(given.scenario, overrides=given.overrides + override_pairs(overrides))


def _discipline_key(base: Scenario) -> str:
    """Return the key for which ``aqm`` stands: the discipline of the queue that `compare` exchanges."""
    try:
        queues = managed_queues(base)
    except InputError:
        queues = list(dict.fromkeys(link.queue for link in base.links))
    keys = [f"queue.{queue}.aqm" for queue in queues]
    if len(keys) != 1:
        raise InputError(f"{DISCIPLINE}: the scenario has several queues (allowed: {listed(keys)})")
    return keys[0]


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


def _done(
    store: ResultStore, blocks: Sequence[Block], workers: Workers, warnings: set[str], row: StudyRow
) -> Evaluation:
    """Do the runs that a store lacks; return how they were evaluated. `warnings` gets those of the runs."""
    began, what = time.monotonic(), f"sweep {row.name} {row.study[:8]}"
    left = _left(store, blocks)
    total, to_do = sum(block.runs for block in blocks), sum(block.runs for block in left)
    log(store.root, f"start {what}: {total} runs, {to_do} to do")
    evaluated: list[Evaluated] = []

    def claim(number: int) -> Block | bool:
        names = store.claims.claim([key.name for key in left[number].keys])
        return names is not None and (left[number].only(set(names)) if names else True)

    def take(_: int, done: EncodedBlock) -> None:
        store.add(done)
        evaluated.extend(done.evaluated)
        warnings.update(done.warnings)

    workers.each(left, take, title=row.name, claim=claim, known=total - to_do)
    seconds = time.monotonic() - began
    log(store.root, f"done {what}: {len(evaluated)} runs in {seconds:.2f} s")
    return Evaluation(tuple(evaluated), seconds)


def _left(store: ResultStore, blocks: Sequence[Block]) -> list[Block]:
    """Return the runs that are still to do; before, drop those whose files are missing, and adopt those in folders."""
    store.claims.enter()  # removes locks of killed processes, even if all runs are finished
    store.drop_lost(key.name for block in blocks for key in block.keys)
    for block in blocks if store.index.rows("SELECT 1 FROM folders LIMIT 1") else ():
        found = block.adopted(store)
        if found is not None:
            store.add(found)
    left = []
    for block in blocks:
        names = {key.name for key in block.keys}
        lacking = names - store.index.has_runs(names)
        if lacking:
            left.append(block.only(lacking))
    return left
