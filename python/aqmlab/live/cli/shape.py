"""The command that makes this machine the bottleneck of other people's traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Json, Set, command
from aqmlab.cli.output import print_json
from aqmlab.cli.values import parse_overrides
from aqmlab.errors import InputError, printable
from aqmlab.live.linux import need_linux


@command("sudo aqmlab shape my.toml --in eth0 --out eth1 --stats terminal", long=True)
def shape(
    file: Annotated[
        Path | None,
        typer.Argument(help="Scenario file (TOML) with the link; flows may be left out.", metavar="CONFIG.toml"),
    ] = None,
    into: Annotated[
        str | None, typer.Option("--in", help="Interface at which forward traffic comes in.", metavar="IF")
    ] = None,
    out: Annotated[str | None, typer.Option("--out", help="Interface at which it goes out.", metavar="IF")] = None,
    netns: Annotated[
        str | None,
        typer.Option("--netns", help="In place of --in: a namespace whose default route it is.", metavar="NAME"),
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option(
            "--address", help="With --netns: the namespace's address behind it. May be given often.", metavar="ADDRESS"
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option("--link", help="Which link of the file; default: the only one, else bottleneck.", metavar="NAME"),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option("--rate", help="In place of the link's rate: 10Mbps, or trace:FILE.", metavar="RATE|trace:FILE"),
    ] = None,
    set_: Set = None,
    stats: Annotated[
        list[str] | None,
        typer.Option(
            "--stats",
            help="terminal, tc, jsonl, jsonl=FILE, prometheus, prometheus=PORT; several with commas.",
            metavar="VIEW",
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option("--interval", help="How often the statistics come, in s: 0.01 to 10.", metavar="S")
    ] = 0.1,
    keep_awake: Annotated[
        bool, typer.Option("--keep-awake", help="Keep the processors from sleeping, so that packets are late less.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Also take an interface that carries the default route.")] = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="Undo what a killed shape has left (rules, forwarding), and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Be the bottleneck between two interfaces until Ctrl-C. SIGHUP reads the file again. Python: aqmlab.live.shape."""
    need_linux("shape")
    from aqmlab.live.shape import clean as work_of_clean
    from aqmlab.live.shape import shape as work
    from aqmlab.live.telemetry.views import ON_STDOUT

    if clean:
        undone = work_of_clean()
        if as_json:
            print_json({"undone": undone})
        else:
            print(printable("\n".join(undone) or "nothing was left"))
        return
    if file is None:
        raise InputError("shape: CONFIG.toml is missing (or --clean)")
    if not 0.01 <= interval <= 10:
        raise InputError(f"--interval {interval:g}: is out of range (allowed: 0.01 to 10 s)")
    if as_json and any(word in ON_STDOUT for entry in stats or () for word in entry.split(",")):
        raise InputError("--stats: stdout is for --json (allowed with it: jsonl=FILE, prometheus)")
    done = work(
        file,
        into=into,
        out=out,
        netns=netns,
        addresses=address or (),
        link=link,
        rate=rate,
        overrides=parse_overrides(set_),
        stats=stats or (),
        interval_s=interval,
        keep_awake=keep_awake,
        yes=yes,
    )
    if as_json:
        print_json({"reloads": done.reloads, "outcome": done.outcome})
    else:
        print(done.line())
