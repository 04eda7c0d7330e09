"""Run a scenario over its seeds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from aqmlab.results import folders
from aqmlab.results.evaluation import Evaluation, evaluation_of
from aqmlab.results.result import Result
from aqmlab.runs.arguments import Seeds, as_scenario, seed_list
from aqmlab.runs.jobs import jobs_for, missing, note
from aqmlab.runs.scheduler import execute
from aqmlab.runs.until import Until, run_until_narrow
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.statistics.sequential import MOST


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
        Dotted keys and values that replace those of the file: ``{"queue.bottleneck.max_th": "45p"}``.
    workers
        Runs at a time; default: one per processor core, and per two cores with the engine ``parallel``.
    out
        Folder for the results. Runs that it already holds (same scenario, seed and version) are not run again.
        None keeps the results in memory.
    progress
        Show a progress bar if stderr is a terminal.
    engine
        ``events``, ``windows``, ``parallel`` (windows on two cores, for a single long run), or ``auto``: windows where
        the scenario allows them. The results are the same.
    until
        Run seeds 1, 2, ... until intervals are narrow enough: ``ci(goodput)=1%`` asks for half a width of 1 % of the
        mean, ``ci(mean_delay_ms)=0.5`` for one of 0.5 ms; of a clipped interval its longer side counts. Several goals
        are a list. `seeds`, if given, is then the number of runs before the first look, 20 or more.
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
    how: dict[str, Any] = {"workers": workers, "progress": progress, "engine": engine}
    if until is not None:
        further = partial(run, plan, out=out, **how)
        found, stopping = run_until_narrow(until, lambda new: {"": further(seeds=new)}, seeds=seeds, most=max_runs)
        return replace(found[""], stopping=stopping)
    wanted = seed_list(seeds, plan)
    root = None if out is None else Path(out)
    folder = root and root / plan.label
    overridden = " ".join(f"--set {key}={value}" for key, value in plan.overrides)
    start = f"start {plan.filename} {overridden} seeds {_ranges(wanted)}"
    results, evaluation = run_plans({"": (plan, folder)}, wanted, root, title=plan.name, start=start, **how)
    if folder is not None:
        folders.log(folder, f"done: {'; '.join(evaluation.lines())}")
    return replace(results[""], evaluation=evaluation)


def run_plans(
    plans: Mapping[str, tuple[Scenario, Path | None]],
    seeds: list[int],
    root: Path | None,
    *,
    title: str,
    workers: int | None,
    progress: bool,
    engine: str,
    start: str = "",
) -> tuple[dict[str, Result], Evaluation]:
    """Run scenarios in one pool, so that no core waits for the slowest; return their results, and the evaluation.

    Parameters
    ----------
    plans
        Label to scenario and its folder; None keeps the runs in memory.
    root
        The store that the folders are in.
    start
        A line for the logs of the folders, to which the number of missing runs is added.
    """
    jobs = list(
        chain.from_iterable(jobs_for(plan, seeds, folder=folder, engine=engine) for plan, folder in plans.values())
    )
    for plan, folder in plans.values():
        if folder is not None:
            folders.prepare(folder, scenario=plan.normalized)
    todo = missing(jobs, root)
    for _, folder in plans.values() if start else ():
        if folder is not None:
            folders.log(folder, f"{start}, {len(todo)} of them to run")
    began = time.monotonic()
    outputs = execute(todo, workers=workers, progress=progress, title=title)
    evaluation = evaluation_of(outputs, time.monotonic() - began)
    if root is not None:
        note(jobs, root)
    results = {}
    for number, (label, (plan, folder)) in enumerate(plans.items()):
        own = outputs[number * len(seeds) : (number + 1) * len(seeds)]
        results[label] = (
            Result.load(folder, seeds=seeds) if folder else Result.from_outputs(own, scenario_text=plan.normalized)
        )
    return results, evaluation


def _ranges(seeds: list[int]) -> str:
    whole = seeds[-1] - seeds[0] + 1 == len(seeds)  # they are in order, none twice
    return f"{seeds[0]}-{seeds[-1]}" if whole and len(seeds) > 1 else ",".join(map(str, seeds))
