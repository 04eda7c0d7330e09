"""The command that runs a scenario in other programs beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.cli.application import File, Json, Out, SeedsOption, Set, Workers, command
from aqmlab.cli.output import print_json, print_table, print_wrapped, say
from aqmlab.cli.values import parse_overrides, parse_seeds
from aqmlab.errors import InputError, counted


@command("aqmlab crosscheck my.toml --with ns2,tc --seeds 5 --report report", long=True)
def crosscheck(
    file: File,
    with_: Annotated[
        str | None, typer.Option("--with", help="Programs: ns2, ns3, tc, with commas; default: all.", metavar="A,B,...")
    ] = None,
    kernels: Annotated[
        str | None,
        typer.Option("--kernels", help="In place of programs: Linux kernels, as 6.1,6.12.", metavar="A,B,..."),
    ] = None,
    qdisc: Annotated[
        list[str] | None,
        typer.Option("--qdisc", help='With --kernels: a discipline, as "pie target 15ms"; again for more.'),
    ] = None,
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
    """Compare a scenario in ns-2, ns-3, Linux or several kernels. Python: aqmlab.cross_check."""
    common = {
        "seeds": parse_seeds(seeds),
        "overrides": parse_overrides(set_),
        "margin": margin,
        "workers": workers,
        "out": out,
        "report": report,
    }
    if kernels is None:
        if qdisc:
            raise InputError("--qdisc: is for --kernels")
        _programs(file, "ns2,ns3,tc" if with_ is None else with_, common, as_json=as_json)
    elif with_ is not None:
        raise InputError("--kernels: is in place of --with")
    else:
        _kernels(file, kernels, qdisc or (), common, as_json=as_json)
    if report is not None and not as_json:
        say(f"Report: {report / 'report.html'}")


def _programs(file: Path, programs: str, common: dict[str, Any], *, as_json: bool) -> None:
    """Run the scenario in other programs, and print where they agree."""
    from aqmlab.interop.crosscheck.checking import cross_check
    from aqmlab.interop.crosscheck.page import headline, margins, side_by_side

    found = cross_check(file, programs=programs, **common)
    if as_json:
        print_json(found.data())
        return
    n = len(found.seeds)
    print_table(side_by_side(found), title=f"{found.name}: {counted(n, 'run')} a program, 95 % intervals")
    for side in found.sides:
        print_wrapped(f"{headline(side)}.")
        for one in side.differences:
            print_wrapped(f"{one.name} ({one.kind}): {one.text}", indent="  ")
    if any(side.lines for side in found.sides):
        print_wrapped(margins(found.margin))
    for side in found.sides:
        say(f"{side.title}: {side.folder / side.files[0]}")


def _kernels(file: Path, kernels: str, qdiscs: Sequence[str], common: dict[str, Any], *, as_json: bool) -> None:
    """Run Linux's own disciplines in several kernels, and print what changed."""
    from aqmlab.interop.several_kernels.checking import cross_check_kernels
    from aqmlab.interop.several_kernels.page import heading, in_words, margins_of_kernels, measures

    found = cross_check_kernels(file, kernels=kernels, qdiscs=qdiscs, **common)
    if as_json:
        print_json(found.data())
        return
    for qdisc in found.qdiscs:
        print_table(measures(found, qdisc), title=f"{qdisc}: {heading(found)}")
        for change in found.changes():
            if change.qdisc == qdisc:
                print_wrapped(in_words(change))
        print()
    for note in found.notes:
        print_wrapped(f"Not run: {note}.")
    print_wrapped(margins_of_kernels(found.margin))
    for image in found.kernels:
        say(f"{image.release}: kernel {image.manifest['sha256']['kernel'][:16]}, image {image.folder}")
