"""One run on either side."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.results.parquet import values

HERE = Path(__file__).resolve().parent
Numbers = dict[str, float]
Column = np.ndarray[Any, Any]


class Tables:
    """The tables of one run of ours."""

    def __init__(self, scenario: str, seed: int, overrides: Sequence[tuple[str, str]] = ()) -> None:
        path = HERE / scenario
        self.tables: dict[str, Any] = _core.Scenario(path.read_text(), path.name, overrides).run(seed)["tables"]

    def numbers(self, table: str, name: str) -> Column:
        """A numeric column."""
        return values(self.tables[table][name])

    def words(self, table: str, name: str) -> list[str]:
        """A column of words."""
        found: list[str] = values(self.tables[table][name]).tolist()
        return found

    def link(self, name: str) -> Numbers:
        """Throughput, loss and mean queue of a link."""
        row = self.words("links", "link").index(name)
        values = {
            key: float(self.numbers("links", key)[row]) for key in ("drops", "arrivals", "throughput_bps", "mean_queue")
        }
        loss = values.pop("drops") / values.pop("arrivals")
        return {**values, "loss": loss}


def ns2(script: str, **arguments: object) -> Numbers:
    """Run a script of this folder, and return the numbers it prints."""
    command = ["ns", str(HERE / script), *(f"{key}={value}" for key, value in arguments.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{script}: ns-2 failed: {done.stderr.strip()}")
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def write_rows(path: Path, header: str, rows: Iterable[Sequence[object]]) -> Path:
    """Writes a list for ns-2; floats keep all their digits."""
    text = "".join(",".join(str(value) for value in row) + "\n" for row in rows)
    path.write_text(f"{header}\n{text}")
    return path
