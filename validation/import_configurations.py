"""The section of docs/validation/imports.md on configurations: what becomes of each file in tests/data/imports.

``python validation/import_configurations.py`` writes the section into the page; `import_studies` writes the whole page.
Expected outcomes are in tests/data/imports/expected.toml, which tests/python/test_importing_configurations.py compares.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation" / "imports.md"
FOLDER = ROOT / "tests" / "data" / "imports"
BEGIN = "\n## Configurations\n"
WHAT = """
Lines of tc, configurations of Cisco and Junos and RED scripts of ns-2 as public how-tos and the documentation of
routers have them. None may silently become another queue: a file is read *whole* (only the link's rate and delay are
assumed, where it has none), *approximated* with a note for each approximation, or *rejected* with a line.
`tests/data/imports/expected.toml` has the expected parameters of each queue, written by hand from the configuration.
"""
MOST_SHOWN = 3
"""Notes in a row of the table."""


def configurations() -> list[dict[str, Any]]:
    """Return the configurations with their expected outcomes."""
    text = (FOLDER / "expected.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["configuration"]
    return found


def section() -> str:
    """Return the section, up to the next one."""
    rows = configurations()
    count = Counter(row["outcome"] for row in rows)
    counts = ", ".join(f"{count[outcome]} {outcome}" for outcome in ("whole", "approximated", "rejected"))
    sums = f"{len(rows)} files: {counts}."
    lines = ["", sums, "", "| file | what it is | outcome | queue | notes, or the error |", "|---|---|---|---|---|"]
    lines += [f"| `{row['file']}` | {row['about']} | {row['outcome']} | {_queue(row)} | {_said(row)} |" for row in rows]
    return BEGIN + WHAT + "\n".join(lines) + "\n"


def _queue(row: dict[str, Any]) -> str:
    if row["outcome"] == "rejected":
        return ""
    leaves = sum(max(1, sum(_is_leaf(key) for key in one)) for one in row.get("classes", ()))
    below = f" of {leaves} classes" if leaves else ""
    return f"{row['queue']['aqm']}{below}, {row['rate_bps'] / 1e6:g} Mb/s"


def _is_leaf(key: str) -> bool:
    """Return whether a key names the discipline of a class of a class."""
    return key.count(".") == 2 and key.endswith(".aqm")


def _said(row: dict[str, Any]) -> str:
    if row["outcome"] == "rejected":
        return _code(row["message"].splitlines()[-1].strip().removeprefix(": ").partition(" (allowed")[0])
    notes = [_code(note) for note in row.get("notes", ())]
    more = [f"and {len(notes) - MOST_SHOWN} more"] if len(notes) > MOST_SHOWN else []
    return "; ".join(notes[:MOST_SHOWN] + more)


def _code(text: str) -> str:
    return f"`{text.replace('`', '').replace('|', '/')}`"


def written(page: str) -> str:
    """Return a page with the section in place of the one that it has, or before its last one."""
    begin = page.find(BEGIN)
    end = page.find("\n## ", begin + len(BEGIN)) if begin >= 0 else -1
    if begin < 0:
        begin = end = page.rfind("\n## ")
    return page[:begin] + section() + (page[end:] if end >= 0 else "")


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
