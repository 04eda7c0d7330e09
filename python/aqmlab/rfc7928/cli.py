"""The command that characterizes disciplines by RFC 7928."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Engine, Json, Out, Set, Workers, command
from aqmlab.cli.output import evaluation_data, print_evaluation, print_json, print_table, say
from aqmlab.cli.values import parse_overrides


@command("aqmlab rfc7928 --aqm red,codel --section 6.2 --quick --report report", long=True)
def rfc7928(
    aqm: Annotated[str, typer.Option("--aqm", help="Disciplines; drop-tail is always beside them.", metavar="A,B,...")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds, short runs: 8 disciplines in 3 minutes on two cores.")
    ] = False,
    section: Annotated[
        list[str] | None,
        typer.Option("--section", help="Only this section of the RFC, such as 6.2. May be given often.", metavar="S"),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Folder for the page; default: with the runs.", metavar="DIR")
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Seeds of each scenario; default: 20.", min=2)] = None,
    set_: Set = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="Write every figure as PNG and SVG too.")] = False,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    as_json: Json = False,
) -> None:
    """Characterize disciplines by RFC 7928, in one report. Python: aqmlab.characterize."""
    from aqmlab.rfc7928.suite import characterize
    from aqmlab.rfc7928.tables import tests_of

    found = characterize(
        aqm=[name.strip() for name in aqm.split(",") if name.strip()],
        sections=section,
        quick=quick,
        seeds=seeds,
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
        report=report,
        engine=engine,
        pictures=pictures,
    )
    if as_json:
        print_json(
            {
                "aqm": found.aqm,
                "quick": found.quick,
                "folder": str(found.folder),
                "report": str(found.report),
                "requirements": found.requirements.to_dict("records"),
                "skipped": found.skipped,
                **{name: table.to_dict("records") for name, table in found.tables.items()},
                "seconds": found.seconds,
                "evaluation": evaluation_data(found.evaluation),
            }
        )
        return
    counts = found.requirements.groupby(["level", "status"], sort=False).size().reset_index(name="requirements")
    print_table(counts, title="Requirements of RFC 7928")
    against = found.tables["against"]
    title = f"Queueing delay and goodput against drop-tail; 5 %, Holm's correction over {tests_of(against)} tests"
    print_table(against, title=title)
    for name, reason in found.skipped.items():
        print(f"not runnable in this version: {name}, {reason}")
    print_evaluation(found.evaluation)
    print(f"Done in {time.strftime('%M:%S', time.gmtime(found.seconds))} minutes.")
    say(f"Report: {found.report}")
