"""Command that checks the decisions of a module in the Linux kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Json, Set, WhichLink, command
from aqmlab.cli.output import print_json, warn
from aqmlab.cli.values import parse_overrides
from aqmlab.errors import Error, counted, printable


@command("aqmlab replay my.toml decisions.bin --link bottleneck")
def replay(
    scenario: Annotated[Path, typer.Argument(help="The scenario file that was exported.", metavar="FILE.toml")],
    log: Annotated[Path, typer.Argument(help="The log of decisions.", metavar="LOG")],
    link: WhichLink = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Repeat the decisions that a kernel module or BPF qdisc logged.

    Both are written by `aqmlab export`. The log is equal bit by bit, or the first difference is an error.
    Python: aqmlab.replay_decisions.
    """
    from aqmlab.interop.kernel.replay import replay_decisions

    found = replay_decisions(scenario, log, link=link, overrides=parse_overrides(set_))
    if found.difference is not None:
        raise Error(printable(f"{log}: {found.difference}"))
    if not found.decisions:
        raise Error(printable(f"{log}: holds no decision, so that nothing was compared"))
    if as_json:
        told = {"records": found.records, "decisions": found.decisions, "marks": found.marks, "drops": found.drops}
        print_json(told | ({} if found.changed is None else {"changed": found.changed}))
        return
    if found.changed is not None:
        warn(f"{log}: tc changed a parameter at record {found.changed}; decisions from there on are not replayed")
    print(
        f"{counted(found.decisions, 'decision is', 'decisions are')} equal bit by bit "
        f"({counted(found.drops, 'drop')}, {counted(found.marks, 'mark')})."
    )
