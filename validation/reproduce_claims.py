#!/usr/bin/env python3
"""The claims of the reproduced papers and their verdicts: a page and tables, which the documentation site reads.

reproduce_claims.py [DIR] [--full] [--paper KEY]    runs `aqmlab reproduce all`, or one paper for a page of its own,
                                                    in its quick form unless --full is given; runs that DIR holds
                                                    already are not repeated
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd

import aqmlab
from aqmlab.papers.common.claims import FORMS
from aqmlab.papers.common.gaps import GAPS, gaps_words
from aqmlab.papers.outcome import Overview, Reproduction
from aqmlab.papers.overview import gaps_of
from aqmlab.papers.registry import EVERY_PAPER
from aqmlab.papers.reproduction import paper_of
from aqmlab.statistics import Verdict

TITLE = "The claims of the reproduced papers"
TABLE = Path(__file__).resolve().parents[1] / "docs" / "validation" / "claims.csv"
READINGS = TABLE.with_name("claim-readings.csv")
COLUMNS = [
    "paper", "effort", "seeds", "claim", "title", "against", "reading", *FORMS, "printed",
    *(f"{form}: {what}" for what in ("by", "seeds") for form in FORMS), "found", "own",
]  # fmt: skip
EFFORTS = {False: "quick", True: "full"}
LARGEST = 20
"""So many gaps to printed numbers are shown."""
BEGUN = re.compile(r"reproduce (\S+) (\w+\(.*\)): (\d+) runs to do$")
ENDED = re.compile(r"^(\S+) .*done after ([\d.]+) s(?:, ([\d.]+) s of processor time)?$")
Row = dict[Hashable, Any]


def report(folder: Path | None = None, *, full: bool = False, paper: str = "all") -> tuple[str, bool]:
    """Reproduce all papers, or one, write the tables, and return the page and whether every claim was judged."""
    only = None if paper == "all" else [paper]
    with tempfile.TemporaryDirectory() as own:
        found = aqmlab.reproduce_all(only=only, quick=not full, out=folder or own, report=own, pictures=False)
        text, claims = page(found, full=full, paper=paper), table(found, full=full)
    claims.reindex(columns=COLUMNS, fill_value="").to_csv(table_of(paper), index=False)
    if only is None:
        readings_table(found).to_csv(READINGS, index=False)
    return text, set(claims["literal"]) | set(claims["strict"]) <= {"", *map(str, Verdict)}


def table_of(paper: str) -> Path:
    """Return the file of the verdicts: that of all papers, or of one.

    >>> table_of("codel").name
    'claims-codel.csv'
    """
    return TABLE if paper == "all" else TABLE.with_name(f"claims-{paper}.csv")


def table(found: Overview, *, full: bool) -> pd.DataFrame:
    """Return all claims with the effort that their verdicts come from."""
    seeds = {paper.paper: paper.seeds for paper in found.papers}
    return found.claims.fillna("").assign(effort=EFFORTS[full], seeds=found.claims["paper"].map(seeds))


def readings_table(found: Overview) -> pd.DataFrame:
    """Return the verdicts under every reading, a row for each claim, form and reading."""
    tables = []
    for one in found.papers:
        own = one.tables["reading-verdicts"]
        own = own if "form" in own else own.assign(form="strict")
        keys = ["question", "reading", "form"]
        tables.append(own.melt(keys, var_name="claim", value_name="verdict").assign(paper=one.paper))
    every = pd.concat(tables, ignore_index=True)
    return every.loc[every["verdict"] != "", ["paper", "claim", "form", "question", "reading", "verdict"]]


def page(found: Overview, *, full: bool, paper: str = "all") -> str:
    """Write the page on all papers, or on one."""
    rows = table(found, full=full).to_dict("records")
    of_papers = {one.paper: [row for row in rows if row["paper"] == one.paper] for one in found.papers}
    counts = "\n".join(_counts(one, of_papers[one.paper]) for one in found.papers)
    readings = readings_table(found)
    sections = "\n\n".join(_paper(one, of_papers[one.paper], readings) for one in found.papers)
    tables = f"The table is `{table_of(paper).name}` next to this page."
    if paper == "all":
        tables = (
            "The tables are `claims.csv` and, with the verdicts under every reading, `claim-readings.csv` next to this "
            "page."
        )
    first = (
        f'{effort_text(found.papers, full=full, paper=paper)} "Shown" means that every claim was judged, not that it '
        "holds. A claim that is judged against several baselines or under several readings counts once for each. "
        f"{tables}"
    )
    return f"""\
{fill(first, 120, break_on_hyphens=False)}

The literal form of a claim is its authors' sentence, the strict form our stronger one. The table below counts for each
form: holds / fails / no effect / undecided / not engaged. "No effect": the runs exclude an effect of half the printed
size, or of the margin that the claim names. "Not engaged": the event of the claim never happened in the runs.

| paper | runs | literal | strict |
|---|---|---|---|
{counts}

{gaps_section(found.papers)}

{sections}
"""


def effort_text(papers: Sequence[Reproduction], *, full: bool, paper: str = "all") -> str:
    """Say which effort made the page, and how long its runs took by the logs of the store."""
    command = f"aqmlab reproduce {paper}" if full else f"aqmlab reproduce {paper} --quick"
    form = (
        "the full form, with all seeds and all readings"
        if full
        else "the quick form, with few seeds and a part of the readings: the full form decides some of what is "
        "undecided here"
    )
    seconds, worked, interrupted = time_taken([one.folder / "log.txt" for one in papers])
    calls = f"{interrupted} interrupted call{'s' if interrupted > 1 else ''}"
    more = f", without {calls} that left no time" if interrupted else ""
    processor = f", {_duration(worked)} of processor time" if worked else ""  # not in logs of earlier versions
    took = f"{_duration(seconds)} by the log of the store{processor}{more}"
    return f"Made by {form} (`{command}`). Its runs took {took}."


def _duration(seconds: float) -> str:
    hours, minutes = seconds / 3600, seconds / 60
    return f"{hours:.1f} h" if hours > 1 else f"{minutes:.0f} min" if minutes > 2 else f"{seconds:.0f} s"


def time_taken(logs: Iterable[Path]) -> tuple[float, float, int]:
    """Return the seconds of all calls that made runs of the last effort, by the clock and of the processors.

    The third number is that of calls that did not end.

    Papers that were run in one call have the same line at its end, which counts once.
    """
    ended: set[tuple[str, float, float]] = set()
    interrupted = 0
    for log in logs:
        calls: list[tuple[str, int, tuple[str, float, float] | None]] = []
        for line in log.read_text(encoding="utf-8").splitlines():
            if begun := BEGUN.search(line):
                calls.append((begun[2], int(begun[3]), None))
            elif calls and (end := ENDED.search(line)):
                calls[-1] = (*calls[-1][:2], (end[1], float(end[2]), float(end[3] or 0)))
        own = [(runs, end) for effort, runs, end in calls if effort == calls[-1][0]]
        ended |= {end for runs, end in own if runs and end is not None}
        interrupted = max(interrupted, sum(end is None for _, end in own))
    return sum(clock for _, clock, _ in ended), sum(worked for _, _, worked in ended), interrupted


def gaps_section(papers: Sequence[Reproduction]) -> str:
    """Write the gaps to printed numbers, largest first."""
    words = [f"- {one.name}: {gaps_words(one.tables[GAPS])}" for one in papers if len(one.tables[GAPS])]
    without = [one.name for one in papers if not len(one.tables[GAPS])]
    words += [f"- {', '.join(without)}: no measured number is printed."] if without else []
    every = gaps_of(papers)
    if every.empty:
        return "\n\n".join(["## Gaps to printed numbers", *words])
    rows = [
        [r["paper"], r["cell"], r["printed"], r["measured"], f"{r['factor']:.3g}", r["held out"], r["explained"]]
        for r in every.head(LARGEST).to_dict("records")
    ]
    head = ["paper", "number", "printed", "measured", "factor", "held out", "explained"]
    return "\n\n".join(
        [
            "## Gaps to printed numbers",
            f"The {len(rows)} largest of {len(every)}. The factor is measured / printed or its inverse. Held out: no "
            "reading was chosen by the number. A gap is explained if one further run would be as far from the mean "
            "with a probability of 5 % or more, or by what `readings.toml` says.",
            "\n".join(words),
            _table(head, rows),
        ]
    )


def _paper(one: Reproduction, rows: list[Row], readings: pd.DataFrame) -> str:
    head = ["claim", "about", "form", "verdict", "shown best by", "seeds to decide", "other readings"]
    verdicts = [_verdict(row, form, readings) for row in rows for form in FORMS if row[form]]
    text = (
        "Shown best by: the clearest failure, or else the least clear comparison, with its 95 % interval. Seeds to "
        "decide: with 80 % power, if means and scatter stay. Other readings: the verdicts under those tried at this "
        "effort, with fewer seeds (holds / fails / no effect / undecided / not engaged)."
    )
    return "\n\n".join([f"## {one.name}", text, _table(head, verdicts), "\n".join(_line(row) for row in rows)])


def _verdict(row: Row, form: str, readings: pd.DataFrame) -> list[str]:
    names = [row["claim"], f"{row['claim']} ({row['against']})"]
    others = readings[
        (readings["paper"] == row["paper"])
        & (readings["form"] == form)
        & readings["claim"].isin(names)
        & (readings["question"] != "chosen")
    ]
    counted = Counter(others["verdict"])
    moved = " / ".join(str(counted[str(verdict)]) for verdict in Verdict) if len(others) else ""
    return [row["claim"], _about(row), form, row[form], row[f"{form}: by"], row[f"{form}: seeds"], moved]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _counts(one: Reproduction, rows: list[Row]) -> str:
    counts = [" / ".join(str([row[form] for row in rows].count(str(v))) for v in Verdict) for form in FORMS]
    return f"| {' | '.join([one.name, one.card.run if one.card else '', *counts])} |"


def _about(row: Row) -> str:
    return ", ".join(f"{word}{row[key]}" for key, word in (("against", "against "), ("reading", "")) if row.get(key))


def _line(row: Row) -> str:
    about = f", {_about(row)}" if _about(row) else ""
    ours = " (ours)" if row.get("own") is True else ""
    verdicts = ", ".join(f"{form} **{row[form]}**" for form in FORMS if row[form])
    found = " ".join(str(row["found"]).split())
    return f"- **{row['claim']}** {row['title']}{about}{ours}: {verdicts}. {found}"


def title_of(paper: str) -> str:
    """Return the title of the page on all papers, or on one."""
    return TITLE if paper == "all" else f"The claims of {paper_of(paper).name}"


def main(arguments: Sequence[str]) -> int:
    """Write page and tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="where the runs are kept")
    parser.add_argument("--full", action="store_true", help="all seeds and all readings, which is published")
    parser.add_argument("--paper", default="all", choices=["all", *EVERY_PAPER], help="one paper, with its own page")
    options = parser.parse_args(arguments)
    text, shown = report(options.folder, full=options.full, paper=options.paper)
    words = "Everything here is shown." if shown else "**Not everything here is shown.**"
    table_of(options.paper).with_suffix(".md").write_text(
        f"# {title_of(options.paper)}\n\n{words}\n\n{text.strip()}\n", encoding="utf-8"
    )
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
