#!/usr/bin/env python3
"""The claims of the reproduced papers and their verdicts: a page and a table, which the documentation site reads.

reproduce_claims.py [DIR]    runs the quick form of `aqmlab reproduce all` (what DIR holds already is not run again)
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

import aqmlab
from aqmlab.reproduction.papers.common.claim_file import FORMS
from aqmlab.statistics import Verdict

TITLE = "The claims of the reproduced papers"
TABLE = Path(__file__).resolve().parents[1] / "docs" / "validation" / "claims.csv"
COLUMNS = ["paper", "seeds", "claim", "title", "against", "reading", "literal", "strict", "printed", "found", "own"]


def report(folder: Path | None = None) -> tuple[str, bool]:
    """Reproduce all papers in quick form, write the table, and return the page and whether every claim was judged."""
    with tempfile.TemporaryDirectory() as own:
        found = aqmlab.reproduce_all(quick=True, out=folder or own, report=own)
    claims = found.claims.fillna("")
    claims["seeds"] = claims["paper"].map({paper.paper: paper.seeds for paper in found.papers})
    claims.reindex(columns=COLUMNS, fill_value="").to_csv(TABLE, index=False)
    judged = set(claims["literal"]) | set(claims["strict"]) <= {"", *map(str, Verdict)}
    return page(claims, {paper.paper: paper.name for paper in found.papers}), judged


def page(claims: pd.DataFrame, names: dict[str, str]) -> str:
    """Write the page."""
    rows = claims.to_dict("records")
    of_papers = {paper: [row for row in rows if row["paper"] == paper] for paper in names}
    counts = "\n".join(_counts(names[paper], of_papers[paper]) for paper in names)
    lists = "\n\n".join(f"## {names[p]}\n\n" + "\n".join(_line(row) for row in of_papers[p]) for p in names)
    return f"""\
Made by the quick form, `aqmlab reproduce all --quick`: few seeds and a part of the readings, about five minutes on two
cores. `aqmlab reproduce all` has all seeds, and decides some of what is undecided here. "Shown" means that every claim
was judged, not that it holds. A claim that is judged against several baselines counts once for each. The table is
`claims.csv` beside this page.

The literal form of a claim is its authors' sentence, the strict form our stronger one. The table below counts for each
form: holds / fails / undecided / not engaged (what the claim is about never happened in the runs).

| paper | seeds | literal | strict |
|---|---|---|---|
{counts}

{lists}
"""


def _counts(name: str, rows: list[dict[Hashable, Any]]) -> str:
    counts = [" / ".join(str([row[form] for row in rows].count(str(v))) for v in Verdict) for form in FORMS]
    cells = [name, str(rows[0]["seeds"]), *counts]
    return f"| {' | '.join(cells)} |"


def _line(row: dict[Hashable, Any]) -> str:
    about = "".join(f", {word}{row[key]}" for key, word in (("against", "against "), ("reading", "")) if row.get(key))
    ours = " (ours)" if row["own"] is True else ""
    verdicts = ", ".join(f"{form} **{row[form]}**" for form in FORMS if row[form])
    found = " ".join(str(row["found"]).split())
    return f"- **{row['claim']}** {row['title']}{about}{ours}: {verdicts}. {found}"


def main(arguments: list[str]) -> int:
    """Write page and table."""
    text, shown = report(Path(arguments[0]) if arguments else None)
    words = "Everything here is shown." if shown else "**Not everything here is shown.**"
    TABLE.with_suffix(".md").write_text(f"# {TITLE}\n\n{words}\n\n{text.strip()}\n", encoding="utf-8")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
