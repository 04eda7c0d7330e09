"""The command that characterizes disciplines by RFC 7928."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.application import Engine, Json, Out, Set, Workers, command
from aqmlab.cli.output import (
    evaluation_data,
    print_evaluation,
    print_json,
    print_screen,
    print_table,
    print_wrapped,
    say,
    table_lines,
    text_of,
)
from aqmlab.cli.values import parse_overrides
from aqmlab.errors import counted

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.rfc7928.suite import Characterization


@command("aqmlab rfc7928 --aqm red,codel --section 6.2 --quick --report report", long=True)
def rfc7928(
    aqm: Annotated[str, typer.Option("--aqm", help="Disciplines; drop-tail is always beside them.", metavar="A,B,...")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds, short runs: 8 disciplines in a minute on two cores.")
    ] = False,
    section: Annotated[
        list[str] | None,
        typer.Option("--section", help="Only this section of the RFC, such as 6.2. May be given often.", metavar="S"),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Folder for the page; default: with the runs.", metavar="DIR")
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Seeds of each scenario; default: 20.", min=2)] = None,
    set_: Set = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="Write every figure as PNG and SVG too.")] = False,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    details: Annotated[
        bool, typer.Option("--details", help="Also print every scenario, and the requirements by level.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Characterize disciplines by RFC 7928, in one report. Python: aqmlab.characterize."""
    from aqmlab.rfc7928.suite import characterize

    found = characterize(
        aqm=[name.strip() for name in aqm.split(",") if name.strip()],
        sections=section,
        quick=quick,
        seeds=seeds,
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
        report=report,
        engine=engine,
        pictures=pictures,
    )
    if as_json:
        print_json(
            {
                "aqm": found.aqm,
                "quick": found.quick,
                "folder": str(found.folder),
                "report": str(found.report),
                "requirements": found.requirements.to_dict("records"),
                "skipped": found.skipped,
                **{name: table.to_dict("records") for name, table in found.tables.items()},
                "seconds": found.seconds,
                "evaluation": evaluation_data(found.evaluation),
            }
        )
        return
    _print(found, details=details)


def _print(found: Characterization, *, details: bool) -> None:
    """Print the differences against drop-tail, counted by discipline; with details scenario by scenario."""
    from aqmlab.rfc7928.tables import against_text, counts_against, tests_of

    against = found.tables["against"]
    scenarios = int(against.groupby(["section", "scenario"]).ngroups) if len(against) else 0
    counts = counts_against(against)
    columns = list(counts.columns)
    hint = "" if details else " --details prints every scenario."
    print_screen(
        _answer(counts, scenarios),
        f"Queueing delay and goodput against drop-tail in {counted(scenarios, 'scenario')}",
        table_lines(columns, [[text_of(value) for value in row] for row in counts.itertuples(index=False)], 2),
        f"Decided at 5 %, Holm's correction over {counted(tests_of(against), 'test')}.{hint}" if len(against) else "",
        [_requirements(found.requirements["status"])],
    )
    if details:
        levels = found.requirements.groupby(["level", "status"], sort=False).size().reset_index(name="requirements")
        print_table(levels, title="Requirements of RFC 7928", labels=2)
        print_table(against_text(against), title="Change against drop-tail, 95 % intervals", labels=3)
    for name, reason in found.skipped.items():
        print_wrapped(f"not runnable in this version: {name}, {reason}")
    print_evaluation(found.evaluation, details=details)
    if details:
        print(f"Done in {time.strftime('%M:%S', time.gmtime(found.seconds))} minutes.")
    say(f"Report: {found.report}")


def _answer(counts: pd.DataFrame, scenarios: int) -> str:
    """Say in how many scenarios delay and goodput of each discipline are decidedly less and more."""
    if not scenarios:
        return "No scenario of these sections is comparable with drop-tail."
    parts: dict[str, list[str]] = {}
    for row in counts.to_dict("records"):
        found = [f"{word} {row['of']} in {row[word]}" for word in ("less", "more") if row[word]]
        parts.setdefault(row["discipline"], []).append(" and ".join(found) or f"no decided difference in {row['of']}")
    words = "; ".join(f"{name} has {', '.join(own)}" for name, own in parts.items())
    return f"Against drop-tail, of {counted(scenarios, 'scenario')}: {words}."


def _requirements(status: pd.Series[str]) -> str:
    """Return the number of requirements of the RFC with each status."""
    found = status.value_counts()
    counts = ", ".join(f"{found[word]} {word}" for word in sorted(found.index, key=lambda word: word != "answered"))
    return f"Requirements of RFC 7928: {counts}."
