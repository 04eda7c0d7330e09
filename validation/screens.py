#!/usr/bin/env python3
"""Write docs/validation/screens.md: the screen of each command at 80 columns, beside those before the common layout.

screens.py [--work FOLDER] [--only WORD ...]

`docs/validation/screens-before.json` has number of lines, widest line and first lines of the same commands before their
outputs had a common layout. `aqmlab live` needs root; without it the screen is left out. `--only sweep live` runs these
commands and keeps the other screens of the page.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEFORE = ROOT / "docs" / "validation" / "screens-before.json"
PAGE = ROOT / "docs" / "validation" / "screens.md"
COLUMNS = 80
LIVE = ROOT / "tests" / "python" / "small.toml"
INTRODUCTION = """\
# Screens at a glance

Output of each command in a terminal of 80 columns, written by `python validation/screens.py`. "Before" is the state
before all commands got the layout of `compare`: a sentence, a short table, the rest with `--details` or in the report.
`tests/python/test_terminal_commands.py` checks widths and heads. Numbers of a few seeds are examples, not results.
"""


def main() -> None:
    """Run the commands and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder for results; default: a temporary one")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="commands to run; the page keeps the others")
    given = parser.parse_args()
    before = json.loads(BEFORE.read_text())
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        shutil.copy(LIVE, work)
        kept = {} if given.only is None else kept_screens(PAGE.read_text(), given.only)
        after = {command: kept[command] if command in kept else screen(command, work) for command in before}
    rows = ["| command | lines before | lines now | widest before | widest now |", "|---|---|---|---|---|"]
    parts = []
    for command, lines in after.items():
        old = before[command]
        now = (str(len(lines)), str(max(map(len, lines)))) if lines else ("not run", "")
        rows.append(f"| `{command}` | {old['lines']} | {now[0]} | {old['widest']} | {now[1]} |")
        more = f"\n... ({old['lines']} lines)" if old["lines"] > len(old["first"]) else ""
        parts += [f"## {command.partition(' ')[2]}", "", "Now:", "", *fenced(lines or ["(not run)"])]
        parts += ["Before:", "", *fenced([*old["first"], *more.splitlines()])]
    PAGE.write_text("\n".join([INTRODUCTION, *rows, "", *parts]))


def kept_screens(page: str, without: list[str]) -> dict[str, list[str]]:
    """Return the screens of a page by command; commands with one of these first words are left out."""
    found = {}
    for section in page.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        if title.split()[0] not in without:
            found[f"aqmlab {title}"] = text.split("```text\n")[1].split("\n```")[0].splitlines()
    return found


def fenced(lines: list[str]) -> list[str]:
    """Return lines as a block of text."""
    return ["```text", *lines, "```", ""]


def screen(command: str, work: Path) -> list[str]:
    """Return the lines that a command writes to a terminal of 80 columns; none if it needs root and lacks it."""
    words = shlex.split(command)
    if words[1] == "live" and os.geteuid() != 0:
        return []
    environment = os.environ | {"COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        (sys.executable, "-m", "aqmlab", *words[1:]),
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{command}: exit code {done.returncode}, {done.stdout.count(chr(10))} lines", flush=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.rstrip().splitlines()


if __name__ == "__main__":
    main()
