"""The table of Linux's CoDel follows from the computation beside it, which knows nothing of the project."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data" / "codel"


def test_the_table_is_made_by_its_script() -> None:
    made = subprocess.run(
        [sys.executable, str(DATA / "make_linux_law.py")], capture_output=True, text=True, check=True
    ).stdout
    assert made == (DATA / "linux_law.csv").read_text()
    counts = [int(line.rsplit(",", 1)[1]) for line in made.splitlines()[1:]]
    falls = [after for before, after in itertools.pairwise(counts) if after < before]
    assert max(counts) > 500
    assert 1 in falls, "the count restarts after a long time"
    assert max(falls) > 1, "and is resumed after a short one"
