"""Command that makes a scenario from a file of another program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Json, command
from aqmlab.cli.output import print_json, say
from aqmlab.errors import printable


@command("aqmlab import queues.tc --out my.toml", name="import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(
            help="An ns-2 study, lines of tc, a configuration of Cisco IOS or Junos, a capture, or a trace.",
            metavar="FILE",
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Of an ns-2 study: its arguments (argv).", metavar="[-- ARGUMENT...]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The scenario file; default: standard output.", metavar="FILE.toml")
    ] = None,
    form: Annotated[
        str, typer.Option("--as", help="Of a capture: arrivals (open loop) or flows (closed loop).", metavar="FORM")
    ] = "arrivals",
    approximate: Annotated[
        bool,
        typer.Option("--approximate", help="Import an ns-2 study although the scenario has not all that it sets."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a scenario of an ns-2 study, configuration, capture or trace. Python: aqmlab.import_scenario."""
    from aqmlab.interop.importing.reading import import_scenario
    from aqmlab.results.outputs import check_ending, save_output

    if out is not None:
        check_ending(out, "toml")
    folder = out.parent if out is not None else ""
    found = import_scenario(file, form=form, approximate=approximate, arguments=arguments or (), folder=folder)
    if out is not None:
        save_output(out, found.text)
    if as_json:
        own = {"kind": found.kind, "notes": found.notes, "differences": found.differences, "text": found.text}
        print_json({**own, "file": str(out) if out else None})
        return
    for difference in found.differences:
        print(printable(f"aqmlab: difference: {difference}"), file=sys.stderr)
    for note in found.notes:
        print(printable(f"aqmlab: note: {note}"), file=sys.stderr)
    if out is None:
        print(found.text, end="")
    else:
        say(f"Imported: {out}")
