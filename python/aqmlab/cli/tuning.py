"""The command that finds parameters: tune."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from aqmlab import extensions
from aqmlab.cli.application import Engine, Json, Quantile, Set, Workers, command, command_words
from aqmlab.cli.output import (
    WIDTH,
    lines_of,
    print_json,
    print_rows,
    print_screen,
    print_table,
    print_wrapped,
    say,
    warn,
)
from aqmlab.cli.values import parse_names, parse_overrides, parse_settings
from aqmlab.errors import BoundsError, InputError, counted, shell_word, unknown

if TYPE_CHECKING:
    from aqmlab.scenario.dialect import Dialect
    from aqmlab.scenario.file import Scenario
    from aqmlab.tuning.outcome import Tuned
    from aqmlab.tuning.uplink import Uplink

ROUTER = "aqmlab.routers", "linux"
"""Entry point of the add-on that writes commands to paste."""
MOST_SHOWN = 12
"""Rows of the Pareto front that are shown; all are in the answer's file."""


Over = Annotated[
    list[str] | None,
    typer.Option(
        "--over",
        help="What varies: flows=10:200, rtt=20ms:200ms, rate=2Mbps:20Mbps or dotted.key=LOW:HIGH; default: flows "
        "and rtt from half to twice the scenario's.",
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
        help="A bound at every point: utilization>=0.95.",
        metavar="METRIC>=VALUE",
    ),
]
Queue = Annotated[str | None, typer.Option("--queue", help="The queue to tune.", metavar="NAME")]
Aqm = Annotated[
    str | None,
    typer.Option("--aqm", help="Disciplines: red,codel; default: the queue's own.", metavar="NAME"),
]
OptionalFile = Annotated[
    Path | None, typer.Argument(help="Scenario file (TOML); none with --uplink.", metavar="[FILE.toml]")
]
UplinkRate = Annotated[
    str | None,
    typer.Option("--uplink", help="No file: a rate such as 20mbit, 100/20Mbps (down/up).", metavar="RATE"),
]
Rtt = Annotated[
    str | None,
    typer.Option("--rtt", help="Round trip of the uplink, or its range; 20ms:100ms.", metavar="LOW[:HIGH]"),
]
For = Annotated[
    str | None,
    typer.Option("--for", help="Uses of the uplink: downloads, calls, web; downloads.", metavar="USES"),
]
Control = Annotated[str | None, typer.Option("--tcp", help="Congestion control on the uplink; cubic.", metavar="NAME")]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        help="A further parameter, or another range: limit=20:200.",
        metavar="KEY=LOW:HIGH",
    ),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        help="Compare with: \"A={ aqm = 'red', max_th = '15p' }\".",
        metavar="NAME=TABLE",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", help="Settings to try; 60, uplink 24.", min=1, metavar="N"),
]
Seeds = Annotated[int | None, typer.Option("--seeds", help="Seeds of a trial; 3, uplink 2.", min=1, metavar="N")]
Fresh = Annotated[
    int | None,
    typer.Option(
        "--fresh", help="Seeds to confirm; 20, uplink 5; up to 4 times as many if undecided.", min=2, metavar="N"
    ),
]
BudgetText = Annotated[
    str | None,
    typer.Option("--budget", help="Time for all disciplines; uplink: 5min.", metavar="TIME"),
]
Both = Annotated[bool, typer.Option("--both", help="Also commands for arriving packets (ifb).")]
Dev = Annotated[str, typer.Option("--dev", help="The interface in the commands.", metavar="NAME")]
Layer = Annotated[str, typer.Option("--layer", help="ethernet, docsis, vdsl, adsl, or cake's keyword.", metavar="NAME")]
DETAILS_HINT = "--details prints all settings, notes, tests and texts for other systems."
UPLINK_BUDGET_S = 300.0
UPLINK_AQMS = "fq-codel,codel,pie"
"""Disciplines that are tried for an uplink: routers with Linux have them."""
EFFORT, QUICKER = (60, 3, 20), (24, 2, 5)
"""Trials, their seeds and fresh seeds: by default, and with --uplink, where an answer is wanted within a minute."""
Details = Annotated[bool, typer.Option("--details", help="Also settings, notes, texts for all systems, tests.")]
Report = Annotated[Path | None, typer.Option("--report", help="Also write a page (.html).", metavar="PAGE.html")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="The folder; default: results/NAME-tune.", metavar="DIR"),
]


@command("aqmlab tune --uplink 50Mbps --for 'calls and downloads' --aqm red,fq-codel", long=True)
def tune(
    file: OptionalFile = None,
    uplink: UplinkRate = None,
    rtt: Rtt = None,
    uses: For = None,
    tcp: Control = None,
    over: Over = None,
    minimize: Minimize = None,
    maximize: Maximize = None,
    keep: Keep = None,
    queue: Queue = None,
    aqm: Aqm = None,
    vary: Vary = None,
    against: Against = None,
    quantile: Quantile = 1.0,
    trials: Trials = None,
    seeds: Seeds = None,
    fresh: Fresh = None,
    set_: Set = None,
    budget: BudgetText = None,
    both: Both = False,
    dev: Dev = "DEV",
    layer: Layer = "ethernet",
    out: Out = None,
    workers: Workers = None,
    engine: Engine = "auto",
    details: Details = False,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Find a queue's parameters that hold over ranges of conditions. Python: aqmlab.tune."""
    from aqmlab.tuning.budget import budget_s
    from aqmlab.tuning.ranges import derived_words, usual_ranges

    own: Uplink | None = None
    if uplink is not None and file is None:
        from aqmlab.tuning.uplink import uplink as described

        own = described(uplink, rtt or "20ms:100ms", uses or "downloads", tcp or "cubic")
        plan, over = own.scenario.with_overrides(parse_overrides(set_)), over or list(own.over)
        if minimize is None and maximize is None:
            minimize, maximize, keep = own.minimize, own.maximize, keep or list(own.keep)
    elif file is not None and uplink is None:
        from aqmlab.runs.arguments import as_scenario

        for option, value in {"--rtt": rtt, "--for": uses, "--tcp": tcp}.items():
            if value is not None:
                raise InputError(f"{option}: needs --uplink; a scenario file has traffic of its own")
        plan = as_scenario(file, overrides=parse_overrides(set_))
    elif file is not None:
        raise InputError(f"tune: {file} and --uplink exclude each other; give one of them")
    else:
        raise InputError("tune: give a scenario file, or --uplink RATE for one that is made, for example 50Mbps")
    derived = "" if over else derived_words(over := usual_ranges(plan))
    effort = EFFORT if own is None else QUICKER
    folder = out if out is not None else Path("results") / f"{plan.label}-tune"
    if aqm is None and own is not None:
        aqm = UPLINK_AQMS
    seconds = budget_s(budget) if budget else None if own is None else UPLINK_BUDGET_S
    how: dict[str, Any] = {
        "minimize": minimize,
        "maximize": maximize,
        "keep": keep or (),
        "over": over,
        "queue": queue,
        "vary": vary or (),
        "against_settings": parse_settings("--against", against),
        "quantile": quantile,
        "trials": trials or effort[0],
        "seeds": seeds or effort[1],
        "fresh": fresh or effort[2],
        "workers": workers,
        "engine": engine,
    }
    if own is not None:
        how |= {"unharmed": own.unharmed if own.felt(minimize, maximize) else (), "prefer_defaults": True}
        how |= {"best_anyway": True}
    names: list[str | None] = [*parse_names("--aqm", aqm)] if aqm is not None else [None]
    _check_shaper(dev, layer)
    if report is not None:
        from aqmlab.reporting.reports import page_file

        page_file(report)
    answers = _answers(plan, names, folder, seconds, how)
    last = LastStep(both=both, down_bps=None if own is None else own.down_bps, dev=dev, layer=layer)
    pages = {} if report is None else {"report": str(_page(answers, last, report))}
    if as_json:
        data = [{**found.data(), "folder": str(found.folder), **pages} for found in answers]
        print_json(data[0] if len(data) == 1 else data)
        return
    _show(answers, last, () if own is None else own.notes, derived, details=details)
    for path in pages.values():
        say(f"Report: {path}")


class LastStep(NamedTuple):
    """Arguments of the function that writes the commands to paste (`aqmlab.interop.tc.recommendation.recommend`)."""

    both: bool
    down_bps: float | None
    dev: str
    layer: str


def _check_shaper(dev: str, layer: str) -> None:
    layers = extensions.load(*ROUTER).LAYERS
    if layer not in layers:
        raise InputError(f"--layer: {unknown('layer', layer, list(layers))}")
    if not re.fullmatch(r"[A-Za-z0-9_.@-]{1,15}", dev):
        raise InputError(f'--dev "{dev}": is not the name of an interface (allowed: up to 15 of A-Z a-z 0-9 _ . @ -)')


def _answers(
    plan: Scenario, names: Sequence[str | None], folder: Path, seconds: float | None, how: dict[str, Any]
) -> list[Tuned]:
    """Tune the disciplines one after the other, then decide between them; one that fails does not hinder the next."""
    from aqmlab.tuning.decision import until_decided
    from aqmlab.tuning.problem import varied
    from aqmlab.tuning.tuner import checked
    from aqmlab.tuning.tuner import tune as work

    began, found, count = time.monotonic(), [], len(names)
    own_vary = varied(how["vary"], [name for name in names if name is not None]) if names != [None] else {}
    shared = {key: how[key] for key in ("queue", "over", "against_settings")}
    for aqm, vary in own_vary.items():
        checked(plan, aqm=aqm, vary=vary, **shared)
    for number, name in enumerate(names):
        left = None if seconds is None else max(1.0, seconds - (time.monotonic() - began)) / (count - number)
        place: dict[str, Any] = {"out": folder}
        if name is not None and count > 1:
            place = {"out": folder / name, "title": f"{name} ({number + 1} of {count})"}
        try:
            vary = how["vary"] if name is None else own_vary[name]
            found.append(work(plan, aqm=name, store=folder, budget=left, **place, **{**how, "vary": vary}))
        except InputError:
            raise
        except BoundsError as error:
            if count == 1:
                raise
            warn(f"{name}: {error}")
    if not found:
        raise BoundsError("tune: no discipline keeps the constraints")
    return until_decided(found)


def _recommended(answers: Sequence[Tuned], last: LastStep) -> tuple[Tuned, Any, list[str], str]:
    """Return the discipline to use, its commands (None if Linux has none), notes on those without, and the reason."""
    from aqmlab.tuning.decision import best_of, reason

    recommend, written, missing = extensions.load(*ROUTER).recommend, [], []
    for found in answers:
        try:
            written.append((found, recommend(found, **last._asdict())))
        except InputError as error:
            missing.append(f"Linux has no command for {found.aqm}: {error}")
    usable = [found for found, _ in written] or list(answers)
    best = best_of(usable)
    made = next((made for found, made in written if found is best), None)
    why = reason(usable, best, [one for one in answers if one not in usable])
    return best, made, missing, why


def _show(answers: Sequence[Tuned], last: LastStep, remarks: Sequence[str], derived: str, *, details: bool) -> None:
    """Print the discipline to use, its commands, the table of disciplines; with details all settings and tests."""
    from aqmlab.tuning.decision import side_by_side, with_settings
    from aqmlab.tuning.goals import intervals_named

    best, made, missing, why = _recommended(answers, last)
    several = len(answers) > 1
    if details:
        for found in answers:
            _show_details(found)
    table = side_by_side(answers, best) if several else best.answer_table()
    points, new = len(best.points) + len(best.fresh_points), len(best.fresh_points)
    seeds = "fresh seeds" if several else counted(best.seeds[2], "fresh seed")
    warnings = [f"{found.aqm}: {line}" if several else line for found in answers for line in _warnings(found, several)]
    if best.against_drop_tail().startswith("Against drop-tail: worse"):
        warn(f"drop-tail is better here than {best.aqm}; try other disciplines, for example --aqm fq-codel")
    notes = [*filter(None, [derived]), *missing, *warnings, *(made.notes if made is not None else ())]
    if details:
        notes += [*remarks, *(made.differences if made is not None else ())]
        notes += ["live has no calls and web pages: delete these flows from the file for a live run"] * bool(
            best.tuned.applications
        )
    shared = "; differences on shared seeds" if several else ""
    asked = " and ".join([best.task.goal.words, *(f"keep {bound.words}" for bound in best.task.bounds)])
    intervals = intervals_named(table[best.task.goal.metric.label])
    print_screen(
        f"Use this: {best.aqm} {with_settings(best)}: {why}",
        f"{best.name}: {asked}; {seeds} at {counted(points, 'point')}, {new} of them new, {intervals}{shared}",
        lines_of(table, width=WIDTH),
        "" if details else DETAILS_HINT,
        [f"Note: {line}" for line in notes],
        commands=made.lines if made is not None else (),
    )
    folder = best.folder
    if folder is not None:
        say(f"Results: {folder.parent if several else folder}; the tuned scenario: {folder / 'tuned.toml'}")


def _warnings(found: Tuned, several: bool) -> list[str]:
    """Return the warnings of an answer, and, if it is the only one, its open comparisons; the table has the rest."""
    from aqmlab.tuning.budget import NOTE

    if several:
        return [line for line in found.warnings if line.startswith((NOTE, "vary "))]
    return [*found.warnings, *found.why_undecided()]


def _page(answers: Sequence[Tuned], last: LastStep, path: Path) -> Path:
    """Write the page of a tuning."""
    from aqmlab.tuning.page import write_page

    best, made, _, why = _recommended(answers, last)
    command = _again(command_words.get(), path.parent)
    return write_page(answers, best, () if made is None else made.lines, path, why=why, command=command)


def _again(given: Sequence[str], folder: Path) -> str:
    """Return the command line for a terminal in a folder: without the option for the page, files relative to it.

    >>> _again(["tune", "--uplink", "5Mbps", "--for", "calls, web", "--report", "a/b.html"], Path("a"))
    "aqmlab tune --uplink 5Mbps --for 'calls, web'"
    """
    kept: list[str] = []
    rest = iter(given)
    for word in rest:
        if word == "--report":
            next(rest, None)
        elif not word.startswith("--report="):
            at_out = bool(kept) and kept[-1] == "--out"
            is_place = not word.startswith("-") and (at_out or Path(word).is_file())
            kept.append(os.path.relpath(word, folder) if is_place else word)
    return " ".join(["aqmlab", *map(shell_word, kept)])


def _show_details(found: Tuned) -> None:
    """Print an answer with its settings, tables, notes, and the texts for other systems."""
    from aqmlab.tuning.outcome import short

    trial, choice, fresh = found.seeds
    tried, per_trial = counted(len(found.trials), "trial"), f"up to {counted(trial, 'seed')}"
    print_wrapped(
        f"{found.aqm}: {tried} on {per_trial} at {counted(len(found.points), 'point')}, "
        f"the best again on up to {choice}"
    )
    print()
    print(found.scenario_text + "\n")
    title = f"{found.aqm} on {counted(fresh, 'fresh seed')}, 95 % intervals"
    print_table(found.answer_table(), title=title)
    for settings in (found.confirmed, *(entry.reference for entry in found.against)):
        print_wrapped(f"{settings.name}: {short(settings.body)}")
    print_wrapped(found.against_drop_tail())
    for line in (*found.why_undecided(), *found.notes, *found.warnings):
        print_wrapped(f"Note: {line}")
    print()
    _show_tables(found)
    for one in found.dialects:
        _show_dialect(one)
    if found.holds.value != "holds":
        warn(f"{found.aqm}: on fresh seeds the constraints are {_doubt(found)}")


def _show_tables(found: Tuned) -> None:
    print_table(found.settings_table(), title="Worst points, 95 % intervals")
    if found.against:
        print_table(found.differences_table(), title=f"Tuned - reference: {found.task.goal.metric.label}; p by Holm")
    front = found.front_table()
    if len(front):
        rest = f", {MOST_SHOWN} of {len(front)}" if len(front) > MOST_SHOWN else ""
        print_table(front.head(MOST_SHOWN), title=f"Pareto front of the trials{rest}")


def _show_dialect(one: Dialect) -> None:
    alone = ", the queue alone, without a shaper" if one.name == "tc" else ""
    print(f"{one.title}{alone}\n\n{one.text}\n")
    print_rows(["parameter", "effective value"], [[key, value] for key, value in one.effective.items()])
    for note in one.notes:
        print_wrapped(f"- {note}")
    print()


def _doubt(found: Tuned) -> str:
    broken = [kept for kept in found.confirmed.kept if kept.verdict.value != "holds"]
    words = {"fails": "broken", "undecided": "undecided"}
    return "; ".join(
        f"{words[k.verdict.value]}: {k.bound.words} at {k.point}, where it is {k.interval.times(k.bound.metric.scale)}"
        for k in broken
    )
