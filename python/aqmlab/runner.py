"""Run a scenario over its seeds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from aqmlab import _core, store
from aqmlab.errors import InputError
from aqmlab.evaluation import Evaluation, checked_engine, evaluation_of
from aqmlab.pool import Job, Work, execute
from aqmlab.result import Result
from aqmlab.scenario import LARGEST_SEED, MOST_SEEDS, Overrides, Scenario
from aqmlab.statistics.sequential import MOST
from aqmlab.until import Until, run_result_until

Seeds = int | Iterable[int] | None
_W = TypeVar("_W", bound=Work[object])

BITS_A_SECOND = 1.3e10
"""About how many bits of link capacity one core simulates in a second; only proportions matter."""


def run(
    scenario: str | Path | Scenario,
    *,
    seeds: Seeds = None,
    overrides: Overrides = (),
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
    until: Until | None = None,
    max_runs: int = MOST,
) -> Result:
    """Run a scenario once per seed.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    seeds
        A number n for the seeds 1 to n, or the seeds themselves; default: those of the file.
    overrides
        Dotted keys and values laid over the file: ``{"queue.bottleneck.max_th": "45p"}``.
    workers
        Runs at a time; default: one per processor core.
    out
        Folder for the results. Runs that it already holds (same scenario, seed and version) are not run again.
        None keeps the results in memory.
    progress
        Show a progress bar if stderr is a terminal.
    engine
        ``events``, ``windows``, or ``auto``: windows where the scenario allows them. The results are the same.
    until
        Run seeds 1, 2, ... until intervals are narrow enough: ``ci(goodput)=1%`` asks for half a width of 1 % of the
        mean, ``ci(mean_delay_ms)=0.5`` for one of 0.5 ms; several goals are a list. `seeds`, if given, is then the
        number of runs before the first look, 20 or more.
    max_runs
        With `until`, the most runs. `Result.stopping` says how it ended.

    Returns
    -------
    Result
        Tables over all seeds. The same scenario, seed and version always give the same bytes.

    Raises
    ------
    ScenarioError, InputError, StorageError, Interrupted
        With one clear line each.
    """
    plan = as_scenario(scenario, overrides=overrides)
    if until is not None:
        further = partial(run, plan, workers=workers, out=out, progress=progress, engine=engine)
        return run_result_until(until, lambda more: further(seeds=more), seeds=seeds, most=max_runs)
    wanted = seed_list(seeds, plan)
    if out is None:
        began = time.monotonic()
        jobs = jobs_for(plan, wanted, folder=None, engine=engine)
        outputs = execute(jobs, workers=workers, progress=progress, title=plan.name)
        evaluation = evaluation_of(outputs, time.monotonic() - began)
        return Result.from_outputs(outputs, scenario_text=plan.normalized, evaluation=evaluation)
    folder, evaluation = run_into(plan, wanted, out=Path(out), workers=workers, progress=progress, engine=engine)
    return Result.load(folder, seeds=wanted, evaluation=evaluation)


def run_into(
    plan: Scenario, seeds: list[int], *, out: Path, workers: int | None, progress: bool, engine: str = "auto"
) -> tuple[Path, Evaluation]:
    """Run what a results folder does not hold yet; return the scenario's folder in it, and how it went."""
    folder = out / plan.label
    jobs = jobs_for(plan, seeds, folder=folder, engine=engine)
    store.prepare(folder, scenario=plan.normalized)
    jobs = missing(jobs)
    overrides = " ".join(f"--set {key}={value}" for key, value in plan.overrides)
    store.log(folder, f"start {plan.filename} {overrides} seeds {_ranges(seeds)}, {len(jobs)} of them to run")
    began = time.monotonic()
    outputs = execute(jobs, workers=workers, progress=progress, title=plan.name)
    evaluation = evaluation_of(outputs, time.monotonic() - began)
    store.log(folder, f"done: {'; '.join(evaluation.lines())}")
    return folder, evaluation


def jobs_for(
    plan: Scenario,
    seeds: Iterable[int],
    *,
    folder: Path | None,
    tables: tuple[str, ...] | None = None,
    engine: str = "auto",
) -> list[Job]:
    """Make the jobs of one scenario, one per seed."""
    summary = provenance(plan)
    cost = expected_cost(plan)
    return [
        Job(
            text=plan.text,
            filename=plan.filename,
            overrides=plan.overrides,
            seed=seed,
            summary=summary,
            folder=None if folder is None else store.seed_folder(folder, seed),
            tables=tables,
            cost=cost,
            engine=checked_engine(engine),
        )
        for seed in seeds
    ]


def missing(jobs: Sequence[_W]) -> list[_W]:
    """Leave out the jobs whose results are already on disk."""
    return [job for job in jobs if not job.is_done()]


def expected_cost(plan: Scenario) -> float:
    """About how long a run takes, in seconds of one core: by what the queues that are managed can carry."""
    return cost_of(plan.managed_bps, plan.slowest_bps, plan.duration_s)


def cost_of(managed_bps: float, slowest_bps: float, duration_s: float) -> float:
    """Return the same from the rates in bit/s of all managed links together and of the slowest link.

    >>> cost_of(1e7, 1e6, 13.0)
    0.01
    """
    return max((managed_bps or slowest_bps) * duration_s / BITS_A_SECOND, 1e-3)


def provenance(plan: Scenario) -> dict[str, Any]:
    """Say what a result comes from: version, scenario and the reading (effective parameters) of every queue."""
    return {
        "format": 1,
        "version": _core.version(),
        "scenario": {"name": plan.name, "hash": plan.hash},
        "readings": plan.queues,
    }


def as_scenario(scenario: str | Path | Scenario, *, overrides: Overrides = ()) -> Scenario:
    """Load a scenario, or lay overrides over one that is loaded."""
    if isinstance(scenario, Scenario):
        return scenario.with_overrides(overrides) if overrides else scenario
    return Scenario.load(scenario, overrides=overrides)


def seed_list(seeds: Seeds, plan: Scenario) -> list[int]:
    """Expand `seeds` into a list without repeats, in order."""
    if seeds is None:
        return list(plan.seeds)
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise InputError(f"seeds: {seeds} are too many (allowed: up to {MOST_SEEDS:,})")
    found = list(range(1, seeds + 1)) if isinstance(seeds, int) else sorted(set(seeds))
    if found and max(found) > LARGEST_SEED:
        raise InputError(f"seeds: {max(found)} is too large (allowed: up to {LARGEST_SEED})")
    if len(found) > MOST_SEEDS:
        raise InputError(f"seeds: {len(found)} are too many (allowed: up to {MOST_SEEDS:,})")
    if not found or min(found) < 0:
        raise InputError("seeds: at least one, and none below 0 (a number n means the seeds 1 to n)")
    return found


def _ranges(seeds: list[int]) -> str:
    whole = seeds[-1] - seeds[0] + 1 == len(seeds)  # they are in order, none twice
    return f"{seeds[0]}-{seeds[-1]}" if whole and len(seeds) > 1 else ",".join(map(str, seeds))
