"""Papers reproduced: run what is missing, set published beside measured, judge every claim."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab import _core, store
from aqmlab.errors import InputError
from aqmlab.pool import execute
from aqmlab.reporting.build import REPRODUCTION
from aqmlab.runner import missing
from aqmlab.scenario import unknown

if TYPE_CHECKING:
    from aqmlab.reporting.page import Page

PAPERS = {"mred": "aqmlab.papers.mred"}


@dataclass(frozen=True)
class Reproduction:
    """A paper reproduced.

    Attributes
    ----------
    paper
        Its key, for example ``mred``.
    tables
        The paper's tables, published beside measured.
    claims
        A verdict per claim and baseline, with what was found.
    readings
        How much each reading matters.
    folder
        The runs.
    report
        The HTML page.
    """

    paper: str
    tables: dict[str, pd.DataFrame]
    claims: pd.DataFrame
    readings: pd.DataFrame
    folder: Path
    report: Path


def reproduce(
    paper: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    workers: int | None = None,
    out: str | Path = "results",
    report: str | Path | None = None,
    progress: bool = True,
) -> Reproduction:
    """Reproduce a paper's tables and figures, and judge its claims.

    Parameters
    ----------
    paper
        ``mred``.
    quick
        Few seeds and a part of the readings: under a minute on two cores.
    seeds
        Seeds a point; default 50, or 8 if quick.
    workers
        Worker processes; default: one per processor core.
    out
        Folder for the runs, in a folder named as the paper. Runs that it holds are not run again.
    report
        Folder for the page and its figures; default: with the runs.
    progress
        Show a progress bar if stderr is a terminal.
    """
    module = _module(paper)
    if seeds is not None and seeds < 2:
        raise InputError("seeds: at least 2, since an interval needs them")
    effort = module.Effort.of(quick=quick, seeds=seeds)
    root = Path(out) / paper
    store.guarded(root, lambda: root.mkdir(parents=True, exist_ok=True))
    began = time.monotonic()
    planned = module.jobs(effort, root)
    todo = []
    for setup, jobs in planned:
        left = missing(jobs)
        if left:
            store.prepare(setup.folder(root), scenario=setup.plan.normalized)
        todo += left
    store.log(root, f"reproduce {paper} {effort}: {len(todo)} runs to do")
    execute(todo, workers=workers, progress=progress, title=f"reproduce {paper}")
    record = {"paper": paper, "version": _core.version(), "effort": effort.to_json()}
    store.save(root / REPRODUCTION, store.to_json(record))
    built = module.build(effort, root)
    page = built.page.write(Path(report) if report is not None else root)
    for name, table in {**built.tables, "claims": built.claims, "readings": built.readings}.items():
        store.save(page.parent / f"{name}.csv", table.to_csv(index=False))
    store.log(root, f"done after {time.monotonic() - began:.2f} s")
    return Reproduction(paper, built.tables, built.claims, built.readings, root, page)


def page_of(folder: Path) -> Page:
    """Build the page of a reproduction from its runs."""
    record = store.read_json(folder / REPRODUCTION)
    module = _module(record["paper"])
    page: Page = module.build(module.Effort.from_json(record["effort"]), folder).page
    return page


def _module(paper: str) -> Any:  # noqa: ANN401 - a paper's package has `Effort`, `jobs` and `build`
    if paper not in PAPERS:
        raise InputError(unknown("paper", paper, sorted(PAPERS)))
    return importlib.import_module(PAPERS[paper])
