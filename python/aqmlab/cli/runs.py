"""Commands that simulate: run, compare, report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.cli.application import Engine, File, Json, Out, SeedsOption, Set, Workers, app
from aqmlab.cli.output import evaluation_data, print_evaluation, print_json, print_table
from aqmlab.cli.words import parse_overrides, parse_seeds
from aqmlab.errors import InputError


@app.command()
def run(
    file: File,
    seeds: SeedsOption = None,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    as_json: Json = False,
) -> None:
    """Run a scenario over its seeds: a table with intervals, and files. Python: aqmlab.run."""
    from aqmlab.runner import run as work

    result = work(
        file, seeds=parse_seeds(seeds), overrides=parse_overrides(set_), workers=workers, out=out, engine=engine
    )
    summary = result.summary()
    for line in result.warnings:
        print(f"aqmlab: warning: {line}", file=sys.stderr)
    if as_json:
        data = {
            "scenario": {"name": result.name, "hash": result.hash},
            "seeds": result.seeds,
            "link": result.bottleneck,
            "folder": str(result.folder),
            "warnings": result.warnings,
            "metrics": summary.to_dict("records"),
            "evaluation": evaluation_data(result.evaluation),
        }
        print_json(data)
        return
    print_table(summary, title=f"{result.name}: link {result.bottleneck}, {len(result.seeds)} seeds")
    print_evaluation(result.evaluation)
    print(f"Results: {result.folder}")


@app.command()
def compare(
    file: File,
    aqm: Annotated[str, typer.Option("--aqm", help="Disciplines, the first is compared against.", metavar="A,B,...")],
    queue: Annotated[str, typer.Option("--queue", help="The queue whose discipline is exchanged.")] = "bottleneck",
    seeds: SeedsOption = None,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    as_json: Json = False,
) -> None:
    """Compare disciplines on the same traffic: paired differences with intervals. Python: aqmlab.compare."""
    from aqmlab.comparison import compare as work

    found = work(
        file,
        aqm=[name.strip() for name in aqm.split(",") if name.strip()],
        queue=queue,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
        engine=engine,
    )
    if as_json:
        data = {
            "scenario": found.name,
            "queue": found.queue,
            "link": found.link,
            "aqm": found.aqm,
            "folder": str(found.folder),
            "notes": found.notes,
            "means": found.means.to_dict("records"),
            "differences": found.differences.to_dict("records"),
            "evaluation": evaluation_data(found.evaluation),
        }
        print_json(data)
        return
    print_table(found.means, title=f"{found.name}: means at link {found.link}")
    print_table(found.differences, title=f"Paired differences against {found.aqm[0]}, 95 % intervals")
    for note in found.notes:
        print(note)
    print_evaluation(found.evaluation)
    print(f"Results: {found.folder}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A results folder.", metavar="DIR")],
    figure: Annotated[
        str | None, typer.Option("--figure", help="Only this figure of the page, as a picture.", metavar="KEY")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="With --figure: the file, .png, .svg or .pdf.", metavar="FILE"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build one self-contained HTML page of a results folder. Python: aqmlab.report, aqmlab.reporting.figure."""
    from aqmlab import reporting

    if out is not None and figure is None:
        raise InputError("--out: is for one figure; give --figure KEY too")
    told: dict[str, Any]
    if figure is None:
        path = reporting.report(folder)
        told, text = {"report": str(path)}, f"Report: {path}"
    else:
        files = [str(path) for path in reporting.figure(folder, figure, out=out)]
        told, text = {"files": files}, f"Figure: {', '.join(files)}"
    if as_json:
        print_json(told)
    else:
        print(text)
