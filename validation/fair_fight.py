#!/usr/bin/env python3
"""The papers' ideas against a tuned RED: every discipline with the same search budget, on fresh seeds and conditions.

fair_fight.py [PAPER ...]    runs the comparisons of these papers (default: all that describe one)

Writes ``fight.json`` into each paper's package and ``docs/validation/fair-fight.md``. Runs are kept in a folder of the
system's temporary directory, so that an interrupted call continues.
"""

from __future__ import annotations

import json
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.papers.common.fight import RECORD, fights_of, record_of, records_of, sentence, table
from aqmlab.papers.common.files import PaperFiles
from aqmlab.papers.registry import PAPERS

TITLE = "The papers' ideas against a tuned RED"
ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "validation" / "fair-fight.md"
RUNS = Path(tempfile.gettempdir()) / f"aqmlab-fair-fight-{_core.version()}"


def run(key: str) -> None:
    """Run the comparisons of a paper, and write its record."""
    files = PaperFiles(key)
    began, records = time.monotonic(), []
    for fight in fights_of(files):
        found = fight.run(files, RUNS)
        records.append(record_of(fight, found))
        print(f"{key}: {sentence(records[-1])}", flush=True)
    place = ROOT / "python" / "aqmlab" / "papers" / key.replace("-", "_") / RECORD
    place.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{key}: {time.monotonic() - began:.0f} s", flush=True)


def report() -> tuple[str, bool]:
    """Return the page's text from the committed records, and whether all described comparisons have one."""
    parts = [
        "Is a paper's idea better than a RED that somebody tuned? Each discipline has the same number of trials over "
        "its own parameters on training seeds and conditions ([method](../tuning.md#each-discipline-at-its-best)); "
        "RED as the paper has it, RED tuned and all others run on fresh seeds, also at conditions that no trial saw. "
        "`python validation/fair_fight.py PAPER` repeats a paper. The settings in `fight.toml` of each paper, all "
        "intervals in `fight.json` beside it."
    ]
    is_whole = True
    for key in PAPERS:
        files = PaperFiles(key)
        records = records_of(files)
        is_whole &= len(records) == len(fights_of(files))
        parts += [f"{key}: described, not run yet."] if len(records) < len(fights_of(files)) else []
        for record in records:
            parts += [f"## {key}: {record['goal']}, {record['scenario']['name']}", sentence(record), record["why"]]
            parts += [_markdown(record), *record["lines"]]
    return "\n\n".join(part if part.startswith(("#", "|")) else fill(part) for part in parts), is_whole


def fill(text: str) -> str:
    """Wrap a paragraph at 120 columns; links stay whole."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _markdown(record: dict[str, Any]) -> str:
    rows = table(record)
    lines = [list(rows.columns), ["---"] * len(rows.columns), *rows.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def main(keys: Sequence[str]) -> int:
    """Run papers and write the page; return the exit code."""
    unknown = [key for key in keys if key not in PAPERS]
    if unknown:
        print(f"fair_fight: no paper {', '.join(unknown)} (there are {', '.join(PAPERS)})", file=sys.stderr)
        return 2
    for key in keys or [key for key in PAPERS if fights_of(PaperFiles(key))]:
        run(key)
    text, is_whole = report()
    verdict = "Everything here is shown." if is_whole else "**Not everything here is shown.**"
    REPORT.write_text(f"# {TITLE}\n\n{verdict}\n\n{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
