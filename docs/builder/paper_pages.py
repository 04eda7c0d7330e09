"""A page for each paper that is reproduced: its claims with their verdicts, what it leaves open, and how to run it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from aqmlab.papers.common.claims import FORMS
from aqmlab.papers.registry import PAPERS
from aqmlab.papers.reproduction import other_papers, paper_of, papers
from aqmlab.statistics import Verdict
from builder.page import Page, cell, plain, table

FOLDER = "papers"
VERDICTS = Path(__file__).parents[1] / "validation" / "claims.csv"
"""The verdicts of the last reproduction of all papers, which `validation/reproduce_claims.py` writes."""
COUNTED = "hold / fail / no effect / undecided / not engaged"
"""Words above the counts of verdicts."""
Row = Mapping[str, str]


def pages() -> list[Page]:
    """Make the overview and a page for each paper."""
    found = _verdicts()
    made = [_page(key, found.get(key, [])) for key in papers()]
    return [Page(f"{FOLDER}/index.md", "Overview", _overview(found)), *made]


def _overview(found: Mapping[str, list[Row]]) -> str:
    rows = []
    for key in papers():
        of_paper = found.get(key, [])
        counts = [_count([row[form] for row in of_paper]) for form in FORMS]
        paper = paper_of(key)
        rows.append([f"[{cell(paper.name)}]({key}.md)", plain(cell(paper.citation)), *counts])
    return "\n\n".join(
        [
            "# Papers reproduced",
            "Every simulated table and figure of these papers can be reproduced, with published values next to "
            "measured ones and a verdict on each claim. A claim *holds* or *fails* where the intervals of its runs "
            "show it. It shows *no effect* where they exclude one of half the printed size; otherwise it is "
            "*undecided*. It is *not engaged* if its event never happened in the runs. "
            "Its literal form is the authors' sentence, its strict form our stronger one. "
            "What a paper leaves open is a named reading; the report says how much each matters.",
            table(["paper", "source", *(f"{form}: {COUNTED}" for form in FORMS)], rows),
            f"{_effort([row for rows in found.values() for row in rows])} A claim that is judged against several "
            "baselines counts once for each. [All verdicts](../validation/claims.md) on one page; "
            "[inventories](inventories.md) of every line of each paper, with the claims that judge it.",
            f"Papers on other disciplines, each with a page of its verdicts: {_others()}. [Put a paper of your own on "
            "trial](../claims.md#put-a-paper-on-trial).",
            "```sh\naqmlab reproduce all --quick     # minutes\n"
            "aqmlab reproduce all             # all seeds, all readings\n```",
        ]
    )


def _others() -> str:
    return ", ".join(f"[{paper_of(key).name}](../validation/claims-{key}.md)" for key in other_papers())


def _count(verdicts: list[str]) -> str:
    return " / ".join(str(verdicts.count(str(verdict))) for verdict in Verdict)


def _page(key: str, found: list[Row]) -> Page:
    paper = paper_of(key)
    parts = [
        f"# {plain(paper.name)}",
        plain(paper.citation),
        _how(key),
        "## What it claims, and whether it holds",
        _seeds(found),
    ]
    for claim in paper.claims.texts():
        verdicts = [row for row in found if row["claim"] == claim.id]
        heading = f"### {claim.id}: {plain(claim.title)}" + (" (a question of ours)" if claim.own else "")
        heading += f" {{ #{claim.id} }}"
        parts += [heading, f"**Says**: {plain(cell(claim.quote))}", f"**Decided by**: {plain(cell(claim.test))}"]
        parts += [_verdict(row) for row in verdicts]
    rows = [[plain(cell(one[word])) for word in ("question", "chosen", "why")] for one in paper.files.choices()]
    parts += ["## What it leaves open, and what was chosen", table(["open", "chosen", "because"], rows)]
    parts += ["## Its scenarios", _scenarios(key)]
    return Page(f"{FOLDER}/{key}.md", paper.name, "\n\n".join(parts))


def _seeds(found: list[Row]) -> str:
    return f"{_effort(found)} Seeds a point: {found[0]['seeds'] if found else 'none'}."


def _effort(found: list[Row]) -> str:
    quick = any(row["effort"] == "quick" for row in found)
    return (
        "These are the verdicts of the quick form, with few seeds; all seeds decide more."
        if quick
        else "These are the verdicts of the full form, with all seeds and readings."
    )


def _how(key: str) -> str:
    return (
        f"```sh\naqmlab reproduce {key} --quick --report report     # about a minute\n"
        f"aqmlab reproduce {key} --report report             # all seeds and readings\n```\n\n"
        f'In Python: `aqmlab.reproduce("{key}")`. The report has every table and figure, published beside measured.'
    )


def _verdict(row: Row) -> str:
    about = [f"against {plain(row['against'])}"] if row["against"] else []
    about += [plain(row["reading"])] if row["reading"] else []
    verdicts = ", ".join(f"{form} **{row[form]}**" for form in FORMS if row[form])
    lines = [plain(line) for line in row["found"].splitlines() if line]
    return f"**Verdict{_in_brackets(about)}**: {verdicts}. " + "  \n".join(lines)


def _in_brackets(words: list[str]) -> str:
    return f" ({', '.join(words)})" if words else ""


def _scenarios(key: str) -> str:
    folder = resources.files(PAPERS[key])
    texts = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(".toml")}
    runnable = {name: text for name, text in sorted(texts.items()) if "\nformat = " in f"\n{text}"}
    return "\n\n".join(
        f"### {name}\n\n```sh\naqmlab run paper:{key}/{name}\n```\n\n```toml\n{text.strip()}\n```"
        for name, text in runnable.items()
    )


def _verdicts() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    with VERDICTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["paper"], []).append(row)
    return found
