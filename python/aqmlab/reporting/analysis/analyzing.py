"""Analyze a scenario: compute the models, simulate, compare, and write the page."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab.reporting.analysis.outcome import Analysis
from aqmlab.results import folders
from aqmlab.runs.arguments import Seeds, as_scenario, seed_list
from aqmlab.runs.progress import phase
from aqmlab.runs.runner import run
from aqmlab.theory.scenario.agreement import Measured, gaps, of_result
from aqmlab.theory.scenario.evidence import evidence
from aqmlab.theory.scenario.model import model_of
from aqmlab.theory.scenario.theory import FEW_SEEDS, Theory, theory_of
from aqmlab.theory.scenario.theory_tables import class_table, loop_table, swing_table

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.parts import safe

SAMPLES = 2000
"""About so many samples of the queue a run takes if its file asks for none."""
FOLDER = "analysis"
RECORD = "analysis.json"


def analyze(
    scenario: str | Path | Scenario,
    *,
    link: str | None = None,
    seeds: Seeds = None,
    overrides: Overrides = (),
    simulate: bool = True,
    workers: int | None = None,
    out: str | Path | None = None,
    report: str | Path | None = None,
    pictures: bool = False,
    progress: bool = True,
    engine: str = "auto",
) -> Analysis:
    """Compute what theory says of a scenario, simulate it, and compare the two.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    link
        The link in question; default: see `aqmlab.theory.scenario.model.bottleneck_of`.
    seeds
        As for `aqmlab.run`; default: the first five of the file.
    simulate
        Without, only theory is computed.
    overrides, workers, progress, engine
        As for `aqmlab.run`.
    out
        Folder for the runs; those that it holds already are not run again. The page goes into ``analysis/`` beside
        them, that of a link asked for into ``analysis-LINK/``. None keeps everything in memory.
    report
        Folder for the page, if it shall go elsewhere.
    pictures
        Also write every figure as PNG and SVG.

    Raises
    ------
    ScenarioError, InputError, StorageError, Interrupted
        With one clear line each.
    """
    plan = as_scenario(scenario, overrides=overrides)
    model = model_of(plan, link=link)
    wanted = seed_list(list(plan.seeds)[:FEW_SEEDS] if seeds is None else seeds, plan)
    if simulate:
        plan = observed(plan, model.link.name)
    folder = None if out is None or (report is not None and not simulate) else Path(out) / plan.label
    place = _place(folder, report, name=FOLDER if link is None else f"{FOLDER}-{safe(link)}")
    began = time.monotonic()
    with phase("theory", shown=progress):
        theory = theory_of(model, seeds=wanted)
    seconds = {"theory": time.monotonic() - began}
    result = None
    if simulate:
        began = time.monotonic()
        result = run(plan, seeds=wanted, out=out, workers=workers, progress=progress, engine=engine)
        seconds["simulation"] = time.monotonic() - began
    with phase("comparison", shown=progress):
        found = _build(theory, result, folder)
    if place is None:
        return replace(found, seconds=seconds)
    began = time.monotonic()
    from aqmlab.reporting.analysis.page import page_of

    with phase("page", shown=progress):
        path = page_of(found).write(place, pictures=pictures)
    folders.save(place / RECORD, folders.to_json(found.data()))
    seconds["page"] = time.monotonic() - began
    return replace(found, report=path, seconds=seconds)


def observed(plan: Scenario, link: str) -> Scenario:
    """Return the scenario with the link's queue and gauges sampled; recording changes no run."""
    extra: dict[str, Any] = {}
    if plan.probe["queue_interval_s"] is None:
        extra["probe.queue_interval"] = f"{max(plan.duration_s / SAMPLES, 1e-3):.6g}s"
    if link not in plan.probe["links"]:
        extra["probe.links"] = [*plan.probe["links"], link]
    parts = plan.link(link).parameters.values()
    if plan.probe["discipline_interval_s"] is None and ("pc-red" in parts or "adaptive-rio" in parts):
        extra["probe.discipline_interval"] = f"{max(plan.duration_s / SAMPLES, 1e-3):.6g}s"
    return plan.with_overrides(extra) if extra else plan


def _place(folder: Path | None, report: str | Path | None, *, name: str) -> Path | None:
    """Create the folder of the page and return it, so that errors of the path are found before any work is done."""
    if report is None and folder is None:
        return None
    place = folder / name if report is None and folder is not None else Path(str(report))
    folders.make_folder(place)
    return place


def gaps_of(theory: Theory, result: Result | None, measured: list[Measured]) -> pd.DataFrame:
    """Return the gaps of the whole queue, then those of the shares by class."""
    shares = theory.shares
    whole = gaps(theory.columns, measured)
    if not shares.columns:
        return whole
    found = [] if result is None else shares.measured(result)
    return pd.concat([whole, gaps(shares.columns, found, shares.quantities)], ignore_index=True)


def _build(theory: Theory, result: Result | None, folder: Path | None) -> Analysis:
    model = theory.model
    measured = [] if result is None else [of_result(model, result)]
    shown = [] if result is None else evidence(theory, result)
    return Analysis(
        name=model.scenario.name,
        hash=model.scenario.hash,
        link=model.link.name,
        reason=model.reason,
        theory=theory,
        result=result,
        gaps=gaps_of(theory, result, measured),
        classes=class_table(theory, result),
        loop=loop_table(theory),
        swings=swing_table(theory, result),
        assumptions=[*theory.assumptions, *shown],
        folder=folder,
    )
