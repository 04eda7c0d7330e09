"""The command that reproduces papers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.application import Engine, Json, Out, ReportFolder, Workers, command
from aqmlab.cli.output import (
    WIDTH,
    evaluation_data,
    print_evaluation,
    print_json,
    print_rows,
    print_screen,
    print_table,
    print_wrapped,
    say,
    table_lines,
)
from aqmlab.errors import counted, joined, shell_word
from aqmlab.papers.registry import OTHER_PAPERS, PAPERS

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.papers.outcome import Overview, Reproduction

LITERAL, STRICT = FORMS = ("literal", "strict")
"""Both forms of a claim, as in `aqmlab.papers.common.claims`, whose import takes a second."""
VERDICTS = ("holds", "fails", "no effect", "undecided", "not engaged")
PAPER_HELP = f"{', '.join(PAPERS)}, all (of these), {', '.join(OTHER_PAPERS)}, or the folder of another paper."
_ABOUT = {"against": "against", "reading": "reading"}
"""Columns of the table of claims that give the subject of a verdict, with the word before them."""


@command(
    "aqmlab reproduce mred --quick --report report",
    "aqmlab reproduce my-paper --new",
    "aqmlab reproduce my-paper --quick",
    long=True,
)
def reproduce(
    paper: Annotated[str, typer.Argument(help=PAPER_HELP)],
    new: Annotated[bool, typer.Option("--new", help="Begin a paper in this new or empty folder.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds: all takes 2 minutes on two cores.")] = False,
    report: ReportFolder = None,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Seeds a point; default: the paper's.", min=2)] = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    pictures: Annotated[
        bool | None,
        typer.Option("--pictures/--no-pictures", help="Every figure as PNG and SVG too; default: not with --quick."),
    ] = None,
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
        say(f"Next: aqmlab reproduce {shell_word(paper)} --quick")
        return
    effort: dict[str, Any] = {
        "quick": quick,
        "seeds": seeds,
        "workers": workers,
        "out": out,
        "report": report,
        "engine": engine,
        "pictures": pictures,
    }
    if paper == reproduction.ALL:
        _print_overview(reproduction.reproduce_all(**effort), as_json=as_json, details=details)
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
    """Print the verdicts of a paper in a sentence, and the claims that do not hold with their titles.

    With details all claims have titles, and there are verdicts by baseline and reading, with reasons.
    """
    finding = "" if found.card is None else found.card.finding
    rows = _by_claim(found.claims)
    held = [] if details else [claim for claim, _, verdict in rows if verdict == VERDICTS[0]]
    listed = [row for row in rows if row[0] not in held]
    hold = f"{joined(held)} {'holds' if len(held) == 1 else 'hold'}. " if held and listed else ""
    which = "all claims hold" if not listed else "claims that do not hold" if held else "claims"
    print_screen(
        " ".join(filter(None, [_answer(found.name, found.claims, found.notice), finding])),
        f"{found.folder.name}: {which} as their authors state them",
        table_lines(["claim", "title", "verdict"], listed, width=WIDTH) if listed else (),
        "" if details else f"{hold}--details prints all titles, our stricter form, baselines and reasons.",
        [found.notice] if found.notice else [],
    )
    if details:
        _print_details(found)
        _print_reasons(found.claims)
        print()
    print_evaluation(found.evaluation, details=details)
    say(f"Report: {found.report}")


def _print_overview(found: Overview, *, as_json: bool, details: bool) -> None:
    if as_json:
        data = {
            "report": str(found.report),
            "claims": found.claims.to_dict("records"),
            "papers": [_reproduction_data(one) for one in found.papers],
            "evaluation": evaluation_data(found.evaluation),
        }
        print_json(data)
        return
    from aqmlab.papers.overview import notice_over

    notice = notice_over(found.papers)
    rows = [[one.paper, form, *counts] for one in found.papers for form, counts in _verdicts_of(one)]
    print_screen(
        _answer(counted(len(found.papers), "paper"), found.claims, notice),
        "Verdicts on the claims of each paper",
        table_lines(["paper", "form", *VERDICTS], rows, 2, width=WIDTH),
        "Literal: the claim as its authors state it; strict: our stronger form; no effect: none of half the printed "
        "size; not engaged: the runs never had the situation of the claim. Our questions are left out."
        f"{'' if details else ' --details prints all claims and findings.'}",
        [notice] if notice else [],
    )
    for one in found.papers if details else ():
        print_rows(["claim", "title", "verdict"], _by_claim(one.claims))
        _print_details(one)
        say(f"  {one.report}")
        print()
    print_evaluation(found.evaluation, details=details)
    say(f"Report: {found.report}")


def _answer(name: str, claims: pd.DataFrame, notice: str) -> str:
    """Count the verdicts on claims as their authors state them in words; with a notice they are preliminary.

    Verdicts on the project's own questions are counted apart.

    >>> import pandas as pd
    >>> verdicts = {"literal": ["holds", "holds", "fails", "", "fails"], "own": [False, False, False, False, True]}
    >>> _answer("MRED", pd.DataFrame(verdicts), "")
    'Claims of MRED as their authors state them: of 3 verdicts 2 hold and 1 fails. Our questions: of 1 verdict 1 fails.'
    """
    from aqmlab.papers.common.claims import by_author

    theirs, ours = by_author(claims)
    head = "Preliminary: claims" if notice else "Claims"
    own = f" Our questions: {_verdict_words(ours)}." if len(ours) else ""
    return f"{head} of {name} as their authors state them: {_verdict_words(theirs)}.{own}"


def _verdict_words(claims: pd.DataFrame) -> str:
    from aqmlab.papers.common.claims import COUNTED

    found = Counter(verdict for verdict in claims[LITERAL] if verdict)
    counts = [(found[str(verdict)], words) for verdict, words in COUNTED.items() if found[str(verdict)]]
    words = joined([f"{n} {one if n == 1 else many}" for n, (one, many) in counts]) if counts else "none was judged"
    return f"of {counted(found.total(), 'verdict')} {words}"


def _by_claim(claims: pd.DataFrame) -> list[list[str]]:
    """Return a row for each claim: its id, its title, and the verdicts over its baselines and readings."""
    from aqmlab.papers.common.claims import COUNTED

    rows = []
    for (claim, title), own in claims.groupby(["claim", "title"], sort=False):
        found = Counter(verdict for verdict in own[LITERAL] if verdict)
        words = [_count_words(found[str(verdict)], verbs) for verdict, verbs in COUNTED.items() if found[str(verdict)]]
        about = f"{title} (our question)" if "own" in own and own["own"].iloc[0] else str(title)
        rows.append([str(claim), about, next(iter(found), "-") if len(found) < 2 else ", ".join(words)])
    return rows


def _count_words(count: int, verbs: tuple[str, str]) -> str:
    """Return a count of verdicts.

    >>> _count_words(2, ("is undecided", "are undecided")), _count_words(1, ("holds", "hold"))
    ('2 undecided', '1 holds')
    """
    from aqmlab.papers.common.claims import short

    return f"{count} {short(verbs[count > 1])}"


def _verdicts_of(one: Reproduction) -> list[tuple[str, list[str]]]:
    """Return the counts of verdicts of each form, on the authors' claims alone."""
    from aqmlab.papers.common.claims import by_author

    theirs, _ = by_author(one.claims)
    return [(form, [str((theirs[form] == verdict).sum()) for verdict in VERDICTS]) for form in FORMS]


def _print_details(one: Reproduction) -> None:
    """Print the verdicts of both forms of each claim, by baseline and reading, and the card."""
    columns = [key for key in ("claim", "against", "reading") if key in one.claims and (one.claims[key] != "").any()]
    print_table(one.claims[[*columns, *FORMS]], title=f"{one.folder.name}: verdicts", labels=len(columns))
    _print_card(one)


def _print_reasons(claims: pd.DataFrame) -> None:
    """Print the verdicts of each claim with what was found."""
    for record in claims.to_dict("records"):
        about = "".join(f", {word} {record[key]}" for key, word in _ABOUT.items() if record.get(key))
        verdicts = [f"{form} {record[form]}" for form in FORMS if record[form]]
        print()
        print_wrapped(f"{record['claim']}{about}: {', '.join(verdicts)}")
        for line in record["found"].splitlines():
            print_wrapped(line, indent="  ")


def _print_card(one: Reproduction) -> None:
    """Print the discipline that the paper is about, the tally by form, and the finding."""
    from aqmlab.scenario.registry import disciplines

    card = one.card
    if card is None:
        return
    of_paper = [discipline.doc for discipline in disciplines() if discipline.name == one.paper]
    print_wrapped(": ".join([one.name, *of_paper]))
    for tally in card.tallies:
        print_wrapped(f"{tally.form}: {', '.join(f'{count} {word}' for _, count, word in tally.counts)}", indent="  ")
    if card.finding:
        print_wrapped(f"finding: {card.finding}", indent="  ")
        print_wrapped(card.shows, indent="    ")


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
