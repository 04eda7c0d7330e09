"""Rows of what validations measured, as text, in files that are kept with the tests' data."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a file's rows; none if there is no file yet."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, fields: Sequence[str], rows: Iterable[dict[str, str]]) -> None:
    """Write rows with these fields."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
