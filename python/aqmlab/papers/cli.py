"""The command that reproduces papers."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.application import Engine, Json, Out, Workers, command
from aqmlab.cli.output import evaluation_data, print_evaluation, print_json, print_table, say
from aqmlab.papers.registry import PAPERS

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.papers.outcome import Overview, Reproduction

WIDTH = 80
"""Columns of the terminal."""
_ABOUT = {"against": "against", "reading": "reading"}
"""Columns of the table of claims that give the subject of a verdict, with the word before them."""


@command(
    "aqmlab reproduce mred --quick --report report",
    "aqmlab reproduce my-paper --new",
    "aqmlab reproduce my-paper --quick",
    long=True,
)
def reproduce(
    paper: Annotated[str, typer.Argument(help=f"{', '.join(PAPERS)}, all, or the folder of another paper.")],
    new: Annotated[bool, typer.Option("--new", help="Begin a paper in this new folder, from a template.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds: all papers in 5 minutes on two cores.")] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Folder for the page; default: with the runs.", metavar="DIR"),
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Seeds a point; default: the paper's.", min=2)] = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    details: Annotated[
        bool, typer.Option("--details", help="Also print the reason of each verdict, and objections.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Reproduce papers: published and measured values, verdicts. Python: aqmlab.reproduce[_all]."""
    from aqmlab.papers import reproduction

    if new:
        for path in reproduction.begin(Path(paper)):
            say(str(path))
        say(f"Next: aqmlab reproduce {paper} --quick")
        return
    effort: dict[str, Any] = {
        "quick": quick,
        "seeds": seeds,
        "workers": workers,
        "out": out,
        "report": report,
        "engine": engine,
    }
    if paper == reproduction.ALL:
        _print_overview(reproduction.reproduce_all(**effort), as_json=as_json)
        return
    found = reproduction.reproduce(paper, **effort)
    if as_json:
        print_json({**_reproduction_data(found), "evaluation": evaluation_data(found.evaluation)})
        return
    _print_reproduction(found, details=details)


@command("aqmlab demo", long=True)
def demo(
    report: Annotated[Path, typer.Option("--report", help="Folder for the page.", metavar="DIR")] = Path("report/mred"),
    out: Out = Path("results"),
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in the browser.")] = False,
) -> None:
    """Reproduce the MRED paper in a minute, and open the report. Python: aqmlab.reproduce."""
    from aqmlab.lab.laboratory import show
    from aqmlab.papers.reproduction import reproduce

    found = reproduce("mred", seeds=10, out=out, report=report)
    _print_reproduction(found, details=False)
    if not no_open and (reason := show(Path(found.report).absolute().as_uri())):
        say(f"The report is not opened: {reason}")
    print("Next: aqmlab compare example:dumbbell-red --aqm red,mred,codel")


def _print_reproduction(found: Reproduction, *, details: bool) -> None:
    """Print the claims of a paper with their verdicts, and the finding; with details the reasons too."""
    if found.notice:
        _say(found.notice)
        print()
    print_table(_verdicts(found.claims, "claim"), title=f"{found.paper}: claims")
    _print_card(found)
    if details:
        _print_reasons(found.claims)
    print()
    if not details:
        _say(f"`aqmlab reproduce {found.paper} --details` prints reasons and objections.")
    print_evaluation(found.evaluation)
    say(f"Report: {found.report}")


def _print_overview(found: Overview, *, as_json: bool) -> None:
    if as_json:
        data = {
            "report": str(found.report),
            "claims": found.claims.to_dict("records"),
            "papers": [_reproduction_data(one) for one in found.papers],
            "evaluation": evaluation_data(found.evaluation),
        }
        print_json(data)
        return
    from aqmlab.papers.common.claims import tally
    from aqmlab.papers.overview import notice_over

    if notice := notice_over(found.papers):
        _say(notice)
        print()
    print_table(_verdicts(found.claims, "paper", "claim"), title="Claims of all papers")
    _say(tally(found.claims))
    for one in found.papers:
        print()
        _print_card(one)
        say(f"  {one.report}")
    print()
    print_evaluation(found.evaluation)
    say(f"Report: {found.report}")


def _print_reasons(claims: pd.DataFrame) -> None:
    """Print the verdicts of each claim with what was found."""
    from aqmlab.papers.common.claims import FORMS

    for record in claims.to_dict("records"):
        about = "".join(f", {word} {record[key]}" for key, word in _ABOUT.items() if record.get(key))
        verdicts = [f"{form} {record[form]}" for form in FORMS if record[form]]
        print(f"\n{record['claim']}{about}: {', '.join(verdicts)}")
        for line in record["found"].splitlines():
            print(f"  {line}")


def _print_card(one: Reproduction) -> None:
    """Print the discipline that the paper is about, the tally by form, and the finding."""
    from aqmlab.scenario.registry import disciplines

    card = one.card
    if card is None:
        return
    of_paper = [discipline.doc for discipline in disciplines() if discipline.name == one.paper]
    _say(": ".join([one.name, *of_paper]))
    for tally in card.tallies:
        _say(f"{tally.form}: {', '.join(f'{count} {word}' for _, count, word in tally.counts)}", indent="  ")
    if card.finding:
        _say(f"finding: {card.finding}", indent="  ")
        _say(card.shows, indent="    ")


def _say(text: str, *, indent: str = "") -> None:
    """Print a paragraph of at most 80 columns."""
    lines = textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    print("\n".join(lines))


def _verdicts(claims: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Return the columns of the table of claims; the title of a claim stands in its first row alone."""
    columns = [*keys, "title", "against", "reading", "literal", "strict"]
    shown = claims[[column for column in columns if column in claims]]
    return shown.assign(title=shown["title"].mask(shown.duplicated([*keys, "title"]), ""))


def _reproduction_data(found: Reproduction) -> dict[str, Any]:
    return {
        "paper": found.paper,
        "finding": None if found.card is None else {"says": found.card.finding, "shows": found.card.shows},
        "notice": found.notice,
        "report": str(found.report),
        "folder": str(found.folder),
        "claims": found.claims.to_dict("records"),
        "readings": found.readings.to_dict("records"),
        "tables": {name: table.to_dict("records") for name, table in found.tables.items()},
    }
