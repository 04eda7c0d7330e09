"""The command that runs a scenario in other programs beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import File, Json, Out, SeedsOption, Set, Workers, command
from aqmlab.cli.output import print_json, print_table
from aqmlab.cli.values import parse_overrides, parse_seeds


@command("aqmlab crosscheck my.toml --with ns2,tc --seeds 5 --report report", long=True)
def crosscheck(
    file: File,
    with_: Annotated[
        str, typer.Option("--with", help="Programs: ns2, ns3, tc, with commas; default: all.", metavar="A,B,...")
    ] = "ns2,ns3,tc",
    seeds: SeedsOption = None,
    set_: Set = None,
    margin: Annotated[
        float, typer.Option("--margin", help="Factor of the margins within which values are equal.", metavar="X")
    ] = 1.0,
    out: Out = Path("results"),
    report: Annotated[
        Path | None, typer.Option("--report", help="Folder for a page with everything.", metavar="DIR")
    ] = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Run a scenario in ns-2, ns-3 and Linux too: where they agree. Python: aqmlab.cross_check."""
    from aqmlab.interop.crosscheck.checking import cross_check
    from aqmlab.interop.crosscheck.page import headline, margins, side_by_side

    found = cross_check(
        file,
        programs=with_,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        margin=margin,
        workers=workers,
        out=out,
        report=report,
    )
    if as_json:
        print_json(found.data())
        return
    n = len(found.seeds)
    print_table(side_by_side(found), title=f"{found.name}: {n} run{'' if n == 1 else 's'} a program, 95 % intervals")
    for side in found.sides:
        print(f"{headline(side)}.")
        for one in side.differences:
            print(f"  {one.name} ({one.kind}): {one.text}")
    if any(side.lines for side in found.sides):
        print(margins(found.margin))
    for side in found.sides:
        print(f"{side.title}: {side.folder / side.files[0]}")
    if report is not None:
        print(f"Report: {report / 'report.html'}")
