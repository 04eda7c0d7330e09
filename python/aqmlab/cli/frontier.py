"""The command that places disciplines against the frontier of the RED family: frontier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Engine, File, Json, Out, Quantile, Set, Workers, command
from aqmlab.cli.output import WIDTH, lines_of, print_json, print_screen, print_table, print_wrapped, say
from aqmlab.cli.tuning import Over, Queue
from aqmlab.cli.values import parse_names, parse_overrides
from aqmlab.errors import counted

Aqm = Annotated[str, typer.Option("--aqm", help="Disciplines to place: codel,pie,my-red.", metavar="NAME,NAME")]
Minimize = Annotated[
    list[str] | None,
    typer.Option("--minimize", help="A goal; default: mean_delay_ms.", metavar="METRIC"),
]
Maximize = Annotated[
    list[str] | None,
    typer.Option("--maximize", help="A goal; default: goodput_mbps.", metavar="METRIC"),
]
Trials = Annotated[int, typer.Option("--trials", help="Settings of the family to try.", min=1, metavar="N")]
Seeds = Annotated[int, typer.Option("--seeds", help="Seeds of a trial.", min=1, metavar="N")]
Fresh = Annotated[int, typer.Option("--fresh", help="Fresh seeds of the frontier.", min=3, metavar="N")]
SearchSeed = Annotated[int, typer.Option("--search-seed", help="Another search.", min=1, metavar="N")]
Details = Annotated[bool, typer.Option("--details", help="Also the settings of each member.")]


@command("aqmlab frontier example:dumbbell-red --aqm codel,pie", long=True)
def frontier(
    file: File,
    aqm: Aqm = "codel,pie",
    minimize: Minimize = None,
    maximize: Maximize = None,
    over: Over = None,
    queue: Queue = None,
    quantile: Quantile = 0.5,
    trials: Trials = 200,
    seeds: Seeds = 2,
    fresh: Fresh = 20,
    search_seed: SearchSeed = 1,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Place disciplines against the best that RED's parts can do. Python: aqmlab.frontier."""
    from aqmlab.runs.arguments import as_scenario
    from aqmlab.tuning.frontier import frontier as work

    plan = as_scenario(file, overrides=parse_overrides(set_))
    both = minimize is None and maximize is None
    found = work(
        plan,
        aqm=parse_names("--aqm", aqm) if aqm else [],
        minimize=minimize or (("mean_delay_ms",) if both else ()),
        maximize=maximize or (("goodput_mbps",) if both else ()),
        over=over or (),
        queue=queue,
        quantile=quantile,
        trials=trials,
        seeds=seeds,
        fresh=fresh,
        workers=workers,
        out=out,
        engine=engine,
        search_seed=search_seed,
    )
    if as_json:
        print_json({**found.data(), "folder": str(found.folder)})
        return
    points = len(found.points) + len(found.fresh_points)
    share = "the worst of " if quantile == 1 else f"quantile {quantile:g} over "
    conditions = f" at {share}{points} points, {len(found.fresh_points)} of them new" if points > 1 else ""
    print_screen(
        found.answer,
        f"{found.name}: {' and '.join(goal.words for goal in found.goals)}; "
        f"{counted(len(found.tried), 'setting')} tried, {fresh} fresh seeds{conditions}, 95 % intervals",
        lines_of(found.table(), width=WIDTH),
        "Numbered: members of the frontier, by RED's curve, spacing, victim and adaptation."
        + ("" if details else " --details prints their settings."),
    )
    if details:
        for number, one in enumerate(found.members, 1):
            print_wrapped(f"{number}: {', '.join(f'{key} {value}' for key, value in one.body.items())}")
        print_table(found.evidence_table(), title="Others against the frontier; p corrected")
    say(f"Results: {found.folder}")
