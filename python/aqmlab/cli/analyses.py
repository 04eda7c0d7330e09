"""The command that plots theory over simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.application import Engine, File, Json, Out, ReportFolder, SeedsOption, Set, Workers, command
from aqmlab.cli.output import (
    evaluation_data,
    lines_of,
    print_evaluation,
    print_json,
    print_screen,
    print_table,
    print_wrapped,
    say,
    warn,
)
from aqmlab.cli.values import parse_overrides, parse_seeds
from aqmlab.errors import counted

if TYPE_CHECKING:
    from aqmlab.reporting.analysis.outcome import Analysis

MOST_QUANTITIES = 4
"""Quantities of the whole queue that are printed without ``--details``."""


@command("aqmlab analyze example:dumbbell-red --seeds 5 --report report", long=True)
def analyze(
    file: File,
    seeds: SeedsOption = None,
    set_: Set = None,
    link: Annotated[
        str | None,
        typer.Option("--link", help="The link in question; default: the one that is managed.", metavar="NAME"),
    ] = None,
    no_simulation: Annotated[bool, typer.Option("--no-simulation", help="Theory alone.")] = False,
    out: Out = Path("results"),
    report: ReportFolder = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="Also every figure as PNG and SVG.")] = False,
    workers: Workers = None,
    engine: Engine = "auto",
    details: Annotated[
        bool, typer.Option("--details", help="Also print all quantities, shares by class, and assumptions.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare theory with simulation at a link, and explain the gaps. Python: aqmlab.analyze."""
    from aqmlab.reporting.analysis.analyzing import analyze as work

    found = work(
        file,
        link=link,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        simulate=not no_simulation,
        workers=workers,
        out=out,
        report=report,
        pictures=pictures,
        engine=engine,
    )
    for line in found.result.warnings if found.result is not None else ():
        warn(line)
    if as_json:
        evaluation = None if found.result is None else evaluation_data(found.result.evaluation)
        folders = {"folder": str(found.folder), "report": str(found.report)}
        print_json({**found.data(), **folders, "evaluation": evaluation})
        return
    _print(found, details=details)


def _print(found: Analysis, *, details: bool) -> None:
    """Print theory beside simulation; with details all quantities, shares by class, and violated assumptions."""
    from aqmlab.reporting.analysis.page import answer, readable_gaps

    n = len(found.seeds)
    runs = counted(n, "seed") if n else "not simulated"
    gaps = readable_gaps(found, shares=False, short=not details)
    gaps = gaps[(gaps.drop(columns="quantity") != "").any(axis="columns")] if len(gaps) else gaps
    bracket = "; in brackets: model - simulation" if found.theory.columns and n else ""
    print_screen(
        answer(found),
        f"{found.name}: link {found.link}, {found.model.curve.name}, {runs}{bracket}",
        lines_of(gaps if details else gaps.head(MOST_QUANTITIES)) if len(gaps) else (),
        "" if details else "--details prints all quantities, shares by class and violated assumptions.",
    )
    if details:
        _print_details(found)
        print_wrapped(", ".join(f"{part} {seconds:.1f} s" for part, seconds in found.seconds.items()))
    if found.result is not None:
        print_evaluation(found.result.evaluation, details=details)
    say(f"Report: {found.report}")


def _print_details(found: Analysis) -> None:
    from aqmlab.reporting.analysis.page import readable_gaps

    if found.theory.shares.columns:
        print_table(readable_gaps(found, shares=True), title=found.theory.shares.about)
    if found.no_shares:
        print_wrapped(f"Shares by class: {found.no_shares}")
    for one in found.violated:
        print_wrapped(f"Violated: {one.text}")
        print_wrapped(one.how, indent="  ")
