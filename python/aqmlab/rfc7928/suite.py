"""The whole suite: which scenarios, which of them this version can run, and the report over what was measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from aqmlab import _core
from aqmlab.errors import InputError, ScenarioError
from aqmlab.results import folders
from aqmlab.results.displays import OneLine
from aqmlab.results.evaluation import Evaluation, checked_engine, evaluation_of
from aqmlab.rfc7928 import fairness, mixes, multiple, sensitivity, stability, transports
from aqmlab.rfc7928.case import Case, Effort
from aqmlab.rfc7928.collected import Collected, Measured
from aqmlab.rfc7928.measuring import Metrics
from aqmlab.rfc7928.settings import Settings, settings_of
from aqmlab.runs.jobs import Job, missing, reduced
from aqmlab.runs.progress import phase
from aqmlab.runs.scheduler import execute
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.file import Overrides, Scenario, override_pairs

NAME = "rfc7928"
"""Folder of the runs below the folder for results."""
BITS_A_SECOND = 8e8
"""About how many bits of link capacity one core simulates and measures in a second; only proportions matter."""
SECTIONS = ("4.3.1", "4.4", "4.5", "5.1", "5.2", "5.3", "5.4", "6.2", "7.2", "8.2", "8.3", "9.1", "9.2", "10.2")
"""Sections that can be requested alone; a beginning such as 8 or 5.1.2 will do."""


@dataclass(frozen=True, repr=False)
class Characterization(OneLine):
    """Disciplines characterized.

    Attributes
    ----------
    aqm
        The disciplines, drop-tail first.
    requirements
        A row a requirement of the RFC: section, level, what it asks, where the report answers it, and whether it does.
    tables
        ``groups``: a row for each discipline, scenario, phase and group of flows, every metric with its interval;
        ``links``: the same of the bottleneck; ``against``: goodput and delay against drop-tail with verdicts.
    folder, report
        The runs, and the HTML page.
    skipped
        Scenarios that this version cannot run: name to reason.
    quick
        Whether it is the quick form.
    seconds
        How long everything took, the page included.
    evaluation
        How the runs of the call that made this were evaluated.
    """

    aqm: list[str]
    requirements: pd.DataFrame
    tables: dict[str, pd.DataFrame]
    folder: Path
    report: Path
    skipped: dict[str, str]
    quick: bool
    seconds: float = field(compare=False)
    evaluation: Evaluation | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class _Planned:
    case: Case
    plan: Scenario

    def jobs(self, answers: ResultStore, engine: str) -> list[Job]:
        metrics = Metrics(self.case.what())
        cost = max(self.case.rates_bps.values()) * self.case.end_s / BITS_A_SECOND
        return reduced(self.plan, range(1, self.case.seeds + 1), metrics, store=answers, cost=cost, engine=engine)


def characterize(
    *,
    aqm: Sequence[str],
    sections: Sequence[str] | None = None,
    quick: bool = False,
    seeds: int | None = None,
    overrides: Overrides = (),
    workers: int | None = None,
    out: str | Path = "results",
    report: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
    pictures: bool = False,
) -> Characterization:
    """Characterize queue disciplines by all of RFC 7928's scenarios and metrics, beside drop-tail.

    Parameters
    ----------
    aqm
        Names of disciplines; drop-tail is always there.
    sections
        Only these of the RFC, for example ``["5.1", "6.2"]``; default: all.
    quick
        Few seeds and short runs: eight disciplines in less than a minute on two cores.
    seeds
        Runs of each scenario; default: 20, in the quick form 5.
    overrides
        Settings of disciplines: ``{"queue.red.max_p": "0.05"}``.
    workers
        Runs at a time; default: one per processor core.
    out
        Folder for the runs, in a folder ``rfc7928``. Runs that it holds are not run again.
    report
        Folder for the page and its tables; default: with the runs.
    progress
        Show a progress bar if stderr is a terminal.
    engine
        As for `aqmlab.run`.
    pictures
        Write every figure as PNG and SVG too.

    Examples
    --------
    >>> found = characterize(aqm=["red"], quick=True, sections=["5.2"], seeds=2, out=getfixture("tmp_path"))
    >>> sorted(set(found.tables["groups"]["discipline"]))
    ['drop-tail', 'red']
    """
    from aqmlab.rfc7928.page import build

    began = time.monotonic()
    if seeds is not None and seeds < 2:
        raise InputError("seeds: at least 2, since an interval needs them")
    checked_engine(engine)
    effort = Effort.of(quick=quick, seeds=seeds)
    disciplines = settings_of(list(aqm), override_pairs(overrides))
    planned, skipped = _plan(cases(effort, disciplines, _wanted(sections)))
    root = Path(out) / NAME
    measured, evaluation = _measure(planned, root, effort, workers=workers, progress=progress, engine=engine)
    target = Path(report) if report is not None else root
    with phase(f"{NAME}: page", shown=progress):
        built = build(Collected(measured, disciplines), effort, skipped=skipped)
        page = built.page.write(target, pictures=pictures)
    for name, table in {**built.tables, "requirements": built.requirements}.items():
        folders.save(target / f"{name}.csv", table.to_csv(index=False))
    seconds = time.monotonic() - began
    folders.log(root, f"done after {seconds:.1f} s")
    return Characterization(
        aqm=[one.name for one in disciplines],
        requirements=built.requirements,
        tables=built.tables,
        folder=root,
        report=page,
        skipped=skipped,
        quick=quick,
        seconds=seconds,
        evaluation=evaluation,
    )


def _measure(
    planned: Sequence[_Planned], root: Path, effort: Effort, *, workers: int | None, progress: bool, engine: str
) -> tuple[list[Measured], Evaluation]:
    """Run the missing runs of the planned cases; return each case's measurements, and how the runs were evaluated."""
    began = time.monotonic()
    folders.guarded(root, lambda: root.mkdir(parents=True, exist_ok=True))
    answers = ResultStore(root.parent, create=True)
    jobs = [one.jobs(answers, engine) for one in planned]
    todo = missing(list({job.key: job for own in jobs for job in own}.values()))
    for one in planned:
        folders.prepare(root / "scenarios" / one.plan.label, scenario=one.plan.normalized)
    folders.log(root, f"rfc7928 {_core.version()} {effort}: {len(todo)} runs to do")
    outputs = execute(todo, workers=workers, progress=progress, title=NAME)
    measured = [
        Measured(one.case, one.plan, [answers.get(job.key) for job in own])
        for one, own in zip(planned, jobs, strict=True)
    ]
    return measured, evaluation_of(outputs, time.monotonic() - began)


def cases(effort: Effort, disciplines: Sequence[Settings], sections: Sequence[str] = SECTIONS) -> list[Case]:
    """List all scenarios for all disciplines; in section 10.2 the other discipline is the next of the list."""
    own = [one for one in disciplines if not one.is_baseline]
    found: list[Case] = []
    for index, one in enumerate(disciplines):
        other = own[index % len(own)] if len(own) > 1 else disciplines[0]
        found += transports.cases(effort, one)
        found += fairness.cases(effort, one)
        found += stability.cases(effort, one)
        found += mixes.cases(effort, one)
        found += multiple.cases(effort, one, other)
        if _asked("4.3.1", sections) or _asked("8.3", sections):
            found += sensitivity.cases(effort, one)
    return [case for case in found if _asked(case.section, sections)]


def _asked(section: str, sections: Sequence[str]) -> bool:
    return any(section == asked or section.startswith(f"{asked}.") for asked in sections)


def _wanted(sections: Sequence[str] | None) -> Sequence[str]:
    """Check the sections that are asked for; section 8.2 belongs to 8.3 and 4.3.1, whose base it is."""
    if not sections:
        return SECTIONS
    for asked in sections:
        if not any(
            known == asked or known.startswith(f"{asked}.") or asked.startswith(f"{known}.") for known in SECTIONS
        ):
            raise InputError(
                f'section "{asked}": has no scenario (allowed: {", ".join(SECTIONS)}, or a part of one such as 8.2.6)'
            )
    return [*sections, *(["8.2.3"] if {"4.3.1", "8.3", "4", "4.3"} & set(sections) else [])]


def _plan(found: Sequence[Case]) -> tuple[list[_Planned], dict[str, str]]:
    """Check all scenarios. One that needs what this version lacks is left out; any other mistake is an error."""
    planned, skipped = [], {}
    for case in found:
        try:
            plan = Scenario.from_text(case.text, filename=f"rfc7928 {case.name}", overrides=case.overrides)
        except ScenarioError as error:
            if not case.needs:
                raise
            skipped[case.name] = f"{case.title}: needs {case.needs} ({error.problems[0].message})"
            continue
        planned.append(_Planned(case, plan))
    return planned, skipped
