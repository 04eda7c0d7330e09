"""Damaged files of runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import aqmlab
from aqmlab.results.result import Result
from attacks.tally import EXAMPLES, Tally, spoil


def run_of(folder: Path, seeds: int = 2) -> Path:
    """Make results to damage."""
    found = aqmlab.run(
        EXAMPLES / "dumbbell-red.toml",
        seeds=seeds,
        overrides={"run.duration": "2s", "run.warmup": "0s", "probe.queue_interval": "20ms"},
        out=folder,
        progress=False,
    )
    assert found.folder is not None
    return found.folder


def damage(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Damaged result folders: an error, or the same tables."""
    made = run_of(folder / "made")
    whole = Result.load(made)
    files = [path for path in sorted(made.glob("seed-*/*")) if path.is_file()]
    while left():
        path = chance.choice(files)
        before = path.read_bytes()
        kind = spoil(path, chance, files)
        with tally.case(f"{kind} {path.name}"):
            found = Result.load(made)
            same = found.summaries == whole.summaries and all(
                found.tables.keys() == whole.tables.keys() and found.tables[name].equals(table)
                for name, table in whole.tables.items()
            )
            if same:
                tally.note("read, the same")
            else:
                tally.find(f"{kind} of {path.name}: read silently, and other tables")
        path.write_bytes(before)
