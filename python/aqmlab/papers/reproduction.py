"""Reproduction of papers: missing runs, published beside measured numbers, and a verdict on every claim."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from aqmlab import _core
from aqmlab.errors import InputError, StorageError, in_code_of, unknown
from aqmlab.papers.checks import check
from aqmlab.papers.common import Claims, Effort, Paper, PaperFiles
from aqmlab.papers.common.planned import Planned
from aqmlab.papers.outcome import Overview, Reproduction
from aqmlab.papers.overview import page_over
from aqmlab.papers.registry import EVERY_PAPER, OTHER_PAPERS, PAPERS
from aqmlab.reporting.build import REPRODUCTION
from aqmlab.reporting.page import Page
from aqmlab.results import folders
from aqmlab.results.evaluation import Evaluation, checked_engine, evaluation_of
from aqmlab.runs.jobs import Job, missing, note
from aqmlab.runs.portions import Work
from aqmlab.runs.progress import phase
from aqmlab.runs.scheduler import Workers, execute

RUNS, DRAWS = "aqmlab.runs.jobs", "aqmlab.reporting.plots"
"""Modules that worker processes need for runs and for figures."""
ALL = "all"
"""The command line's word for all extensions of RED."""


@dataclass(frozen=True)
class _PaperTask:
    """A paper, how much of it to run, and where."""

    paper: str
    effort: Any
    root: Path

    def planned(self) -> Planned:
        return paper_of(self.paper).planned(self.effort, self.root)

    def build(
        self, report: Path, *, planned: Planned | None = None, pictures: bool = True, workers: Workers | None = None
    ) -> Reproduction:
        """Build the page; `planned` may have read runs already, and `workers` may draw."""
        own, built = paper_of(self.paper), (planned or self.planned()).build()
        page = built.page.write(report, pictures=pictures, workers=workers)
        for name, table in {**built.tables, "claims": built.claims, "readings": built.readings}.items():
            folders.save(page.parent / f"{name}.csv", table.to_csv(index=False))
        return Reproduction(
            paper=self.paper,
            name=own.name,
            citation=own.citation,
            tables=built.tables,
            claims=built.claims,
            readings=built.readings,
            folder=self.root,
            report=page,
            contents=built.page.contents,
            seeds=self.effort.seeds,
            seeds_run=built.seeds,
            card=built.paper,
            notice=built.page.notice,
        )


@dataclass(frozen=True)
class _PageJob(Work[Reproduction]):
    """A page to build from runs that are there."""

    task: _PaperTask
    report: Path
    pictures: bool = True

    def compute(self, progress: Callable[[float], None]) -> Reproduction:
        found = self.task.build(self.report, pictures=self.pictures)
        progress(1.0)
        return found


def _page_jobs(tasks: Mapping[_PaperTask, Path], *, pictures: bool = True) -> list[_PageJob]:
    return [_PageJob(task, at, pictures, place=at.parent, in_python=True) for task, at in tasks.items()]


def papers() -> list[str]:
    """Return the keys of the papers that `reproduce_all` reproduces."""
    return _installed(PAPERS)


def other_papers() -> list[str]:
    """Return the keys of the papers that `reproduce` alone reproduces."""
    return _installed(OTHER_PAPERS)


def _installed(packages: Mapping[str, str]) -> list[str]:
    return [key for key, package in packages.items() if importlib.util.find_spec(package) is not None]


def reproduce(
    paper: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    workers: int | None = None,
    out: str | Path = "results",
    report: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
    pictures: bool | None = None,
) -> Reproduction:
    """Reproduce a paper's tables and figures, and judge its claims.

    Parameters
    ----------
    paper
        A key of `papers` or `other_papers`, for example ``mred``, or a folder that has a ``paper.py``.
    quick
        Few seeds and a part of the readings: about a minute on two cores, or less. Verdicts are preliminary.
    seeds
        Seeds a point; default: the paper's own number.
    workers
        Runs at a time; default: one per processor core.
    out
        Folder for the runs, in a folder named as the paper. Runs that it holds are not run again.
    report
        Folder for the page and its figures; default: with the runs.
    progress
        Show a progress bar if stderr is a terminal.
    engine
        As for `aqmlab.run`.
    pictures
        Write every figure as PNG and SVG too; default: where the version is not quick.
    """
    checked_engine(engine)
    task = _task(paper, quick=quick, seeds=seeds, out=Path(out))
    target = Path(report) if report is not None else task.root
    owned = contextlib.nullcontext() if paper in EVERY_PAPER else in_code_of(f"paper {Path(paper).name}")
    with owned, Workers(workers, progress=progress) as own:
        with phase(f"{task.paper}: plan", shown=progress):
            planned = task.planned()
        evaluation = _run({task: planned}, own, engine=engine, finished=planned.finished)
        own.import_ahead(DRAWS)
        with phase(f"{task.paper}: claims and page", shown=progress):
            found = task.build(target, planned=planned, pictures=_drawn(pictures, quick=quick), workers=own)
    return replace(found, evaluation=evaluation)


def _drawn(pictures: bool | None, *, quick: bool) -> bool:
    return not quick if pictures is None else pictures


def reproduce_all(
    *,
    only: Sequence[str] | None = None,
    quick: bool = False,
    seeds: int | None = None,
    workers: int | None = None,
    out: str | Path = "results",
    report: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
    pictures: bool | None = None,
) -> Overview:
    """Reproduce the extensions of RED: their runs in one pool, a page for each, and a page over all.

    Parameters
    ----------
    only
        Keys of papers; default: those of `papers`.
    report
        Folder for the overview, with a folder for each paper's page; default: `out`.
    quick, seeds, workers, out, progress, engine, pictures
        As for `reproduce`; the quick version takes about 2 minutes on two cores.
    """
    checked_engine(engine)
    keys = papers() if only is None else list(dict.fromkeys(only))
    if not keys:
        raise InputError("reproduce_all: name at least one paper")
    tasks = [_task(key, quick=quick, seeds=seeds, out=Path(out)) for key in keys]
    target = Path(report) if report is not None else Path(out)
    with Workers(workers, progress=progress) as own:
        with phase(f"{len(tasks)} papers: plan", shown=progress):
            planned = {task: task.planned() for task in tasks}
        evaluation = _run(planned, own, engine=engine)
        drawn = _drawn(pictures, quick=quick)
        jobs = _page_jobs({task: target / task.root.name for task in tasks}, pictures=drawn)
        found = own.execute(jobs, title="pages")
    claims = pd.concat([one.claims.assign(paper=one.paper) for one in found], ignore_index=True)
    claims = claims[["paper", *(column for column in claims.columns if column != "paper")]]
    if "own" in claims:
        claims["own"] = [own is True for own in claims["own"]]
    claims = claims.fillna("")
    page = page_over(found, target).write(target, pictures=drawn)
    folders.save(target / "claims.csv", claims.to_csv(index=False))
    return Overview(found, claims, page, evaluation)


def page_of(folder: Path, *, pictures: bool = True) -> Path:
    """Build the page of a reproduction from its runs."""
    return _recorded(folder).build(folder, pictures=pictures).report


def overview_of(folders: Sequence[Path], target: Path, *, pictures: bool = True) -> Page:
    """Build the pages of several reproductions from their runs, each with its runs; return the page over all."""
    order = {key: number for number, key in enumerate(EVERY_PAPER)}
    tasks = sorted((_recorded(folder) for folder in folders), key=lambda task: order.get(task.paper, len(order)))
    jobs = _page_jobs({task: task.root for task in tasks}, pictures=pictures)
    return page_over(execute(jobs, progress=False), target)


def _run(
    planned: Mapping[_PaperTask, Planned],
    workers: Workers,
    *,
    engine: str,
    finished: Callable[[Job], None] = lambda _: None,
) -> Evaluation:
    """Run the missing runs of several papers in one pool, so that no core waits for the last run of one of them."""
    began = time.monotonic()
    tasks = list(planned)
    store = tasks[0].root.parent
    note((), store)
    batches = {task: [batch.with_engine(engine) for batch in planned[task].batches()] for task in tasks}
    runs = [job for own in batches.values() for batch in own for job in batch.jobs]
    workers.import_ahead(RUNS, runs)
    for own in batches.values():
        for batch in own:
            if not all(job.is_done() for job in batch.jobs):
                batch.prepare()
    todo = missing(runs, store)
    left = {id(job) for job in todo}
    for task in tasks:
        record = {"paper": task.paper, "version": _core.version(), "effort": task.effort.to_json()}
        folders.save_record(task.root / REPRODUCTION, record)
        count = sum(id(job) in left for batch in batches[task] for job in batch.jobs)
        folders.log(task.root, f"reproduce {task.paper} {task.effort}: {count} runs to do")
    title = f"reproduce {tasks[0].paper}" if len(tasks) == 1 else f"reproduce {len(tasks)} papers"
    outputs = workers.execute(todo, title=title, finished=lambda number: finished(todo[number]))
    evaluation = evaluation_of(outputs, time.monotonic() - began)
    note(runs, store)
    took, worked = time.monotonic() - began, sum(run.core_cpu_s for run in evaluation.runs)
    for task in tasks:
        folders.log(task.root, f"done after {took:.2f} s, {worked:.2f} s of processor time")
    return evaluation


def paper_of(name: str) -> Paper:
    """Return a paper by its key, or by its folder, which is not one of this package's.

    Raises
    ------
    InputError
        If there is no such paper, or the folder has no ``paper.py`` that defines ``PAPER``.
    """
    if name in (*papers(), *other_papers()):
        return _paper_in(importlib.import_module(EVERY_PAPER[name]), EVERY_PAPER[name])
    if not Path(name).is_dir():
        raise InputError(unknown("paper", name, ["FOLDER", *papers(), ALL, *other_papers()]))
    return _in_folder(Path(name).resolve())


def begin(folder: Path) -> list[Path]:
    """Begin a paper: write a scenario, printed numbers, readings, and a ``paper.py`` with one claim into a folder.

    Raises
    ------
    InputError
        If there is such a file, or the folder is not empty.
    """
    if folder.exists() and not (folder.is_dir() and folders.guarded(folder, lambda: not any(folder.iterdir()))):
        raise InputError(f"{folder}: is there already (allowed: a new folder, or an empty one)")
    _check_name(folder)
    folders.guarded(folder, lambda: folder.mkdir(parents=True, exist_ok=True))
    files = [one for one in resources.files("aqmlab.papers.common.template").iterdir() if one.is_file()]
    kept = sorted((one for one in files if one.name != "__init__.py"), key=lambda one: one.name)
    for one in kept:
        folders.save(folder / one.name, one.read_text(encoding="utf-8"))
    return [folder / one.name for one in kept]


def _check_name(folder: Path) -> None:
    """Raise if a paper's folder is called like a paper of this package, whose runs it would replace."""
    if folder.resolve().name in (*EVERY_PAPER, ALL):
        raise InputError(f"{folder}: is also the name of a paper of aqmlab; choose another name for the folder")


@cache
def _in_folder(folder: Path) -> Paper:
    """Run the ``paper.py`` of a folder, which may import other modules beside it."""
    path = folder / "paper.py"
    if not path.is_file():
        raise InputError(f"{folder}: has no paper.py; begin a paper in a new folder: aqmlab reproduce FOLDER --new")
    _check_name(folder)
    spec = importlib.util.spec_from_file_location(f"paper_in_{folder.name.replace('-', '_')}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    sys.modules[spec.name] = module
    try:
        with in_code_of(f"paper {folder.name}"):
            spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    found = _paper_in(module, str(path))
    check(found)
    if not found.claims.all:
        raise InputError(f"{path}: CLAIMS has no claim")
    with in_code_of(f"paper {folder.name}"):
        found.claims.texts()
    return found


def _paper_in(module: ModuleType, place: str) -> Paper:
    found = getattr(module, "PAPER", None)
    if not isinstance(found, Paper):
        raise InputError(f"{place}: defines no PAPER, which is an aqmlab.papers.common.Paper")
    given: dict[str, Any] = vars(found)
    if not (isinstance(given["effort"], type) and issubclass(given["effort"], Effort)):
        raise InputError(f"{place}: PAPER: effort: is a class derived from aqmlab.papers.common.Effort")
    for name, kind in {"files": PaperFiles, "claims": Claims}.items():
        if not isinstance(given[name], kind):
            raise InputError(f"{place}: PAPER: {name}: is {kind.__name__} of aqmlab.papers.common")
    for name in ("setups", "measure", "page"):
        if not callable(given[name]):
            raise InputError(f"{place}: PAPER: {name}: is a function")
    return found


def _task(paper: str, *, quick: bool, seeds: int | None, out: Path) -> _PaperTask:
    found = paper_of(paper)
    if seeds is not None and seeds < 2:
        raise InputError("seeds: at least 2, since an interval needs them")
    with in_code_of(f"paper {found.files.key}: Effort"):
        effort = found.effort.of(quick=quick, seeds=seeds)
    if effort.seeds < 2:
        raise InputError(f"{found.files.name}: Effort: seeds is {effort.seeds}; an interval needs at least 2")
    root = out / found.files.key
    folders.make_folder(root)
    return _PaperTask(found.files.name, effort, root)


def _recorded(folder: Path) -> _PaperTask:
    record = folders.read_record(folder / REPRODUCTION, {"paper": str, "effort": dict})
    paper = paper_of(record["paper"])
    try:
        effort = paper.effort.from_json(record["effort"])
    except TypeError:  # other fields
        raise StorageError(f"{folder / REPRODUCTION}: is damaged; delete it and run the same command again") from None
    return _PaperTask(record["paper"], effort, folder)
