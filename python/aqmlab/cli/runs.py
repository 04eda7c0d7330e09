"""Commands that simulate: run, compare, report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.cli.application import Engine, File, Json, MaxRuns, Out, SeedsOption, Set, UntilOption, Workers, app
from aqmlab.cli.output import (
    evaluation_data,
    print_evaluation,
    print_json,
    print_stopping,
    print_table,
    stopping_data,
)
from aqmlab.cli.values import parse_overrides, parse_seeds, parse_until
from aqmlab.errors import InputError, printable


@app.command()
def run(
    file: File,
    seeds: SeedsOption = None,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    until: UntilOption = None,
    max_runs: MaxRuns = None,
    as_json: Json = False,
) -> None:
    """Run a scenario over its seeds: a table with intervals, and files. Python: aqmlab.run."""
    from aqmlab.execution.runner import run as work
    from aqmlab.results.summary import level_words
    from aqmlab.results.warmup_check import settling

    result = work(
        file,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
        engine=engine,
        **parse_until(until, max_runs),
    )
    summary = result.summary()
    settled = settling(result)
    for line in result.warnings:
        print(printable(f"aqmlab: warning: {line}"), file=sys.stderr)
    if as_json:
        data = {
            "scenario": {"name": result.name, "hash": result.hash},
            "seeds": result.seeds,
            "link": result.bottleneck,
            "folder": str(result.folder),
            "warnings": result.warnings,
            "metrics": summary.to_dict("records"),
            "warm_up": None if settled is None else settled.data(),
            "stopping": stopping_data(result.stopping),
            "evaluation": evaluation_data(result.evaluation),
        }
        print_json(data)
        return
    n = len(result.seeds)
    title = f"{result.name}: link {result.bottleneck}, {n} seed{'' if n == 1 else 's'}"
    print_table(summary, title=f"{title}, {level_words(n, result.level)}")
    for line in settled.lines() if settled is not None else ():
        print(line)
    print_stopping(result.stopping)
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
    until: UntilOption = None,
    max_runs: MaxRuns = None,
    as_json: Json = False,
) -> None:
    """Compare disciplines on the same traffic: differences with intervals and verdicts. Python: aqmlab.compare."""
    from aqmlab.execution.comparison import compare as work
    from aqmlab.execution.comparison_tables import DIFFERENCE_COLUMNS
    from aqmlab.results.summary import level_words
    from aqmlab.results.warmup_check import settling

    found = work(
        file,
        aqm=[name.strip() for name in aqm.split(",") if name.strip()],
        queue=queue,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
        engine=engine,
        **parse_until(until, max_runs),
    )
    settled = {name: one for name, result in found.results.items() if (one := settling(result, link=found.link))}
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
            "pairing": found.pairing_lines(),
            "warm_up": {name: one.data() for name, one in settled.items()},
            "stopping": stopping_data(found.stopping),
            "evaluation": evaluation_data(found.evaluation),
        }
        print_json(data)
        return
    words = level_words(len(found.seeds), found.level)
    print_table(found.means, title=f"{found.name}: means at link {found.link}, {words}")
    title = f"Differences against {found.aqm[0]}, {words}; verdicts by Holm's p over a discipline's metrics"
    print_table(found.differences[list(DIFFERENCE_COLUMNS)], title=title)
    for line in [*found.pairing_lines(), *found.notes]:
        print(line)
    for name, one in settled.items():
        for line in one.lines():
            print(f"{name}: {line}")
    print_stopping(found.stopping)
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
    from aqmlab import reporting, reports

    if out is not None and figure is None:
        raise InputError("--out: is for one figure; give --figure KEY too")
    told: dict[str, Any]
    if figure is None:
        path = reports.report(folder)
        told, text = {"report": str(path)}, f"Report: {path}"
    else:
        files = [str(path) for path in reporting.figure(folder, figure, out=out)]
        told, text = {"files": files}, f"Figure: {', '.join(files)}"
    if as_json:
        print_json(told)
    else:
        print(text)
