"""The command that finds parameters: tune."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.application import Engine, File, Json, Set, Workers, app
from aqmlab.cli.output import print_json, print_rows, print_table
from aqmlab.cli.values import parse_overrides, parse_settings
from aqmlab.errors import printable

if TYPE_CHECKING:
    from aqmlab.tuning.outcome import Tuned

MOST_SHOWN = 12
"""Rows of the Pareto front that are shown; all are in the answer's file."""


Over = Annotated[
    list[str] | None,
    typer.Option(
        "--over",
        help="What varies: flows=10:200, rtt=20ms:200ms, rate=2Mbps:20Mbps or dotted.key=LOW:HIGH. May be given often.",
        metavar="KEY=LOW:HIGH",
    ),
]
Minimize = Annotated[
    str | None, typer.Option("--minimize", help="The goal: a metric such as delay.p95.", metavar="METRIC")
]
Maximize = Annotated[
    str | None, typer.Option("--maximize", help="The goal: a metric such as goodput.", metavar="METRIC")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        help="A bound on a metric's mean at every point: utilization>=0.95. May be given often.",
        metavar="METRIC>=VALUE",
    ),
]
Queue = Annotated[str, typer.Option("--queue", help="The queue to tune.", metavar="NAME")]
Aqm = Annotated[str | None, typer.Option("--aqm", help="The discipline; default: the queue's own.", metavar="NAME")]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        help="A further parameter to search, or another range: limit=20:200. May be given often.",
        metavar="KEY=LOW:HIGH",
    ),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        help="Further settings to compare with: \"RED 5/15={ aqm = 'red', min_th = '5p', max_th = '15p' }\".",
        metavar="NAME=TABLE",
    ),
]
Quantile = Annotated[
    float,
    typer.Option("--quantile", help="Which quantile over the points counts for the goal; 1: the worst.", metavar="Q"),
]
Trials = Annotated[int, typer.Option("--trials", help="How many settings are tried.", min=1, metavar="N")]
Seeds = Annotated[int, typer.Option("--seeds", help="Seeds of each trial.", min=1, metavar="N")]
Fresh = Annotated[int, typer.Option("--fresh", help="Fresh seeds of the confirmation.", min=2, metavar="N")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for runs and answer; default: results/NAME-tune.", metavar="DIR"),
]


@app.command()
def tune(
    file: File,
    over: Over = None,
    minimize: Minimize = None,
    maximize: Maximize = None,
    keep: Keep = None,
    queue: Queue = "bottleneck",
    aqm: Aqm = None,
    vary: Vary = None,
    against: Against = None,
    quantile: Quantile = 1.0,
    trials: Trials = 60,
    seeds: Seeds = 3,
    fresh: Fresh = 20,
    set_: Set = None,
    out: Out = None,
    workers: Workers = None,
    engine: Engine = "auto",
    as_json: Json = False,
) -> None:
    """Find a queue's parameters that hold over whole ranges, confirmed on fresh seeds. Python: aqmlab.tune."""
    from aqmlab.execution.runner import as_scenario
    from aqmlab.tuning.tuner import tune as work

    plan = as_scenario(file, overrides=parse_overrides(set_))
    found = work(
        plan,
        minimize=minimize,
        maximize=maximize,
        keep=keep or (),
        over=over or (),
        queue=queue,
        aqm=aqm,
        vary=vary or (),
        against_settings=parse_settings("--against", against),
        quantile=quantile,
        trials=trials,
        seeds=seeds,
        fresh=fresh,
        workers=workers,
        out=out if out is not None else Path("results") / f"{plan.label}-tune",
        engine=engine,
    )
    if as_json:
        print_json({**found.data(), "folder": str(found.folder)})
    else:
        _show(found)


def _show(found: Tuned) -> None:
    bounds = " and ".join(bound.words for bound in found.task.bounds)
    trial, choice, fresh = found.seeds
    print(f"{found.name}: {found.task.goal.words}{f', keep {bounds}' if bounds else ''}")
    print(f"{len(found.trials)} trials on {trial} seeds at {len(found.points)} points, the best again on {choice}\n")
    print(found.scenario_text + "\n")
    from aqmlab.tuning.outcome import short

    points = len(found.points) + len(found.fresh_points)
    title = f"On {fresh} fresh seeds at {points} points, {len(found.fresh_points)} of them new, 95 % intervals"
    print_table(found.settings_table(), title=title)
    for settings in (found.confirmed, *(entry.reference for entry in found.against)):
        print(f"{settings.name}: {short(settings.body)}")
    print()
    if found.against:
        print_table(found.differences_table(), title=f"Tuned - reference: {found.task.goal.metric.label}; p by Holm")
    front = found.front_table()
    if len(front):
        rest = f", {MOST_SHOWN} of {len(front)}" if len(front) > MOST_SHOWN else ""
        print_table(front.head(MOST_SHOWN), title=f"Pareto front of the trials{rest}")
    for one in found.dialects:
        print(f"{one.title}\n\n{one.text}\n")
        print_rows(["parameter", "effective value"], [[key, value] for key, value in one.effective.items()])
        for note in one.notes:
            print(f"- {note}")
        print()
    for line in found.notes:
        print(f"Note: {line}")
    if found.holds.value != "holds":
        print(printable(f"aqmlab: warning: on fresh seeds the constraints are {_doubt(found)}"), file=sys.stderr)
    print(f"Results: {found.folder}")


def _doubt(found: Tuned) -> str:
    broken = [kept for kept in found.confirmed.kept if kept.verdict.value != "holds"]
    words = {"fails": "broken", "undecided": "undecided"}
    return "; ".join(
        f"{words[k.verdict.value]}: {k.bound.words} at {k.point}, where it is {k.interval}" for k in broken
    )
