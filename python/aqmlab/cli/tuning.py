"""The command that finds parameters: tune."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.application import Engine, Json, Set, Workers, command
from aqmlab.cli.output import print_json, print_rows, print_table, say, warn
from aqmlab.cli.values import parse_overrides, parse_settings
from aqmlab.errors import InputError

if TYPE_CHECKING:
    from aqmlab.interop.settings import Dialect
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
    str | None, typer.Option("--minimize", help="The goal: a metric such as delay_p95_ms.", metavar="METRIC")
]
Maximize = Annotated[
    str | None, typer.Option("--maximize", help="The goal: a metric such as goodput_mbps.", metavar="METRIC")
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
Aqm = Annotated[
    str | None,
    typer.Option("--aqm", help="The discipline, or several: red,codel; default: the queue's own.", metavar="NAME"),
]
OptionalFile = Annotated[
    Path | None, typer.Argument(help="Scenario file (TOML); none with --uplink.", metavar="[FILE.toml]")
]
UplinkRate = Annotated[
    str | None, typer.Option("--uplink", help="In place of a file: the rate of an uplink, 50Mbps.", metavar="RATE")
]
Rtt = Annotated[str, typer.Option("--rtt", help="With --uplink: round trips without queueing.", metavar="LOW:HIGH")]
For = Annotated[
    str,
    typer.Option("--for", help="With --uplink: what it is used for, of downloads, calls and web.", metavar="USES"),
]
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
Trials = Annotated[
    int | None,
    typer.Option("--trials", help="Settings to try; default: 60, 24 with --uplink.", min=1, metavar="N"),
]
Seeds = Annotated[
    int | None, typer.Option("--seeds", help="Seeds of each trial; default: 3, 2 with --uplink.", min=1, metavar="N")
]
Fresh = Annotated[
    int | None,
    typer.Option("--fresh", help="Fresh seeds of the confirmation; default: 20, 10 with --uplink.", min=2, metavar="N"),
]
EFFORT, QUICKER = (60, 3, 20), (24, 2, 10)
"""Trials, their seeds and fresh seeds: by default, and with --uplink, where an answer is wanted within minutes."""
Details = Annotated[
    bool, typer.Option("--details", help="Also the texts for all systems, the Pareto front, intervals and tests.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="The folder; default: results/NAME-tune.", metavar="DIR"),
]


@command("aqmlab tune --uplink 50Mbps --for 'calls and downloads' --aqm red,fq-codel", long=True)
def tune(
    file: OptionalFile = None,
    uplink: UplinkRate = None,
    rtt: Rtt = "20ms:100ms",
    uses: For = "downloads",
    over: Over = None,
    minimize: Minimize = None,
    maximize: Maximize = None,
    keep: Keep = None,
    queue: Queue = "bottleneck",
    aqm: Aqm = None,
    vary: Vary = None,
    against: Against = None,
    quantile: Quantile = 1.0,
    trials: Trials = None,
    seeds: Seeds = None,
    fresh: Fresh = None,
    set_: Set = None,
    out: Out = None,
    workers: Workers = None,
    engine: Engine = "auto",
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Find a queue's parameters that hold over ranges of conditions. Python: aqmlab.tune."""
    from aqmlab.execution.runner import as_scenario
    from aqmlab.tuning.tuner import tune as work

    if uplink is not None and file is None:
        from aqmlab.tuning.uplink import uplink as described

        own = described(uplink, rtt, uses)
        plan, over = own.scenario.with_overrides(parse_overrides(set_)), over or list(own.over)
        if minimize is None and maximize is None:
            minimize, keep = own.minimize, keep or list(own.keep)
    elif file is not None and uplink is None:
        plan = as_scenario(file, overrides=parse_overrides(set_))
    else:
        raise InputError("tune: give a scenario file, or --uplink RATE for one that is made, for example 50Mbps")
    _warn_of_points(minimize, maximize, *(keep or ()))
    effort = EFFORT if uplink is None else QUICKER
    folder = out if out is not None else Path("results") / f"{plan.label}-tune"
    names = [name.strip() for name in aqm.split(",")] if aqm else [None]
    answers = [
        work(
            plan,
            minimize=minimize,
            maximize=maximize,
            keep=keep or (),
            over=over or (),
            queue=queue,
            aqm=name,
            vary=vary or (),
            against_settings=parse_settings("--against", against),
            quantile=quantile,
            trials=trials or effort[0],
            seeds=seeds or effort[1],
            fresh=fresh or effort[2],
            workers=workers,
            out=folder / name if name is not None and len(names) > 1 else folder,
            engine=engine,
        )
        for name in names
    ]
    if as_json:
        data = [{**found.data(), "folder": str(found.folder)} for found in answers]
        print_json(data[0] if len(data) == 1 else data)
    elif len(answers) == 1:
        _show(answers[0], details=details)
    else:
        _show_all(answers, details=details)


def _warn_of_points(*texts: str | None) -> None:
    """Warn of metrics that are written with points, as earlier versions showed them: ``delay.p95``."""
    from aqmlab.execution.until import metric_named

    for text in texts:
        found = re.match(r"\s*([A-Za-z]\w*(?:\.\w+)+)", text or "")
        if found is not None:
            warn(f"{found[1]} is deprecated; use {metric_named(found[1])}, as in the tables")


def _show_all(answers: Sequence[Tuned], *, details: bool) -> None:
    """Show several disciplines: side by side with their commands of tc, or with all details behind one another."""
    from aqmlab.tuning.outcome import side_by_side

    if details:
        for found in answers:
            _show(found, details=True)
            print()
    task, (_, _, fresh) = answers[0].task, answers[0].seeds
    bounds = " and ".join(bound.words for bound in task.bounds)
    print(f"{answers[0].name}: {task.goal.words}{f', keep {bounds}' if bounds else ''}\n")
    print_table(side_by_side(answers), title=f"Tuned, on {fresh} fresh seeds, 95 % intervals")
    for found in answers:
        print(f"{found.aqm}: {next((one.text for one in found.dialects), 'tc does not have it')}")
        for line in found.why_undecided():
            print(f"  {line}")
    if any(found.dialects for found in answers):
        print(
            "DEV: the interface. Where its own rate is above the link's, a shaper (tbf, htb) has to make the queue:\n"
            "aqmlab export FILE --to tc writes one."
        )
    say(f"Results: {answers[0].folder.parent if answers[0].folder else ''}")


def _show(found: Tuned, *, details: bool) -> None:
    from aqmlab.tuning.outcome import short

    bounds = " and ".join(bound.words for bound in found.task.bounds)
    trial, choice, fresh = found.seeds
    say(f"{found.name}: {found.task.goal.words}{f', keep {bounds}' if bounds else ''}")
    print(f"{len(found.trials)} trials on {trial} seeds at {len(found.points)} points, the best again on {choice}\n")
    print(found.scenario_text + "\n")
    points = len(found.points) + len(found.fresh_points)
    title = f"On {fresh} fresh seeds at {points} points, {len(found.fresh_points)} of them new; 95 % intervals"
    print_table(found.answer_table(), title=title)
    for settings in (found.confirmed, *(entry.reference for entry in found.against)):
        print(f"{settings.name}: {short(settings.body)}")
    for line in found.why_undecided():
        print(line)
    print()
    if details:
        _show_tables(found)
    shown = found.dialects if details else found.dialects[:1]
    for one in shown:
        _show_dialect(one)
    for line in found.notes:
        print(f"Note: {line}")
    if found.holds.value != "holds":
        warn(f"on fresh seeds the constraints are {_doubt(found)}")
    others = ", ".join(one.title for one in found.dialects if one not in shown)
    if not details:
        print(f"With --details: {f'texts for {others}, ' if others else ''}the Pareto front, all intervals and tests")
    say(f"Results: {found.folder}")


def _show_tables(found: Tuned) -> None:
    print_table(found.settings_table(), title="Worst points, 95 % intervals")
    if found.against:
        print_table(found.differences_table(), title=f"Tuned - reference: {found.task.goal.metric.label}; p by Holm")
    front = found.front_table()
    if len(front):
        rest = f", {MOST_SHOWN} of {len(front)}" if len(front) > MOST_SHOWN else ""
        print_table(front.head(MOST_SHOWN), title=f"Pareto front of the trials{rest}")


def _show_dialect(one: Dialect) -> None:
    print(f"{one.title}\n\n{one.text}\n")
    print_rows(["parameter", "effective value"], [[key, value] for key, value in one.effective.items()])
    for note in one.notes:
        print(f"- {note}")
    print()


def _doubt(found: Tuned) -> str:
    broken = [kept for kept in found.confirmed.kept if kept.verdict.value != "holds"]
    words = {"fails": "broken", "undecided": "undecided"}
    return "; ".join(
        f"{words[k.verdict.value]}: {k.bound.words} at {k.point}, where it is {k.interval}" for k in broken
    )
