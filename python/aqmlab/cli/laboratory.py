"""The command that opens the laboratory in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Json, Set, command
from aqmlab.cli.output import print_json, say
from aqmlab.cli.values import parse_overrides
from aqmlab.errors import InputError, to_stderr
from aqmlab.results.outputs import check_ending, save_output
from aqmlab.scenario.file import Overrides


@command("aqmlab lab example:dumbbell-red")
def lab(
    file: Annotated[
        Path | None, typer.Argument(help="Scenario file (TOML); default: a dumbbell with RED.", metavar="FILE.toml")
    ] = None,
    set_: Set = None,
    link: Annotated[
        str | None,
        typer.Option(
            "--link", help="The link in question; default: bottleneck, else the busiest managed.", metavar="NAME"
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", help="Port of the loopback interface; default: a free one.", min=0, max=65535)
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write the page to this file, which runs in any browser by itself.", metavar="FILE.html"
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address and open nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Turn a scenario's knobs in the browser; charts follow at once. Ctrl-C ends it. Python: aqmlab.open_lab."""
    from aqmlab.lab.laboratory import open_lab, show

    if out is not None:
        _write(out, file, link, parse_overrides(set_), as_json)
        return
    try:
        with open_lab(file, link=link, overrides=parse_overrides(set_), port=port) as laboratory:
            if as_json:
                print_json({"url": laboratory.url})
            else:
                sys.stdout.write(f"Laboratory: {laboratory.url}\nCtrl-C ends it.\n")
            sys.stdout.flush()
            why_not = "" if no_browser else show(laboratory.url)
            if why_not:
                to_stderr(why_not)
            laboratory.wait()
    except KeyboardInterrupt:
        to_stderr("laboratory closed")


def _write(out: Path, file: Path | None, link: str | None, overrides: Overrides, as_json: bool) -> None:
    from aqmlab.lab.page import standalone_page

    if out.is_dir():
        raise InputError(f"--out {out}: is a folder; name a file")
    check_ending(out, "html", needed=True)
    save_output(out, standalone_page(file, link=link, overrides=overrides))
    if as_json:
        print_json({"page": str(out)})
    else:
        say(f"Page: {out}")
