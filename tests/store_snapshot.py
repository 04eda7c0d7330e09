"""Contents of a store of results, for comparison with another: every file's bytes and every row of the index."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NO_RESULT = ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "log.txt")
"""The index is compared by its rows; the log has host and times."""


@dataclass(frozen=True)
class Snapshot:
    """Files by their path, and rows of the index by their table."""

    files: dict[str, bytes]
    rows: dict[str, list[tuple[Any, ...]]]


def snapshot(store: Path) -> Snapshot:
    """Return a snapshot of a store that no process uses."""
    files = {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file() and path.name not in NO_RESULT
    }
    connection = sqlite3.connect(store / "index.sqlite")
    try:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: sorted(connection.execute(f"SELECT * FROM {name}")) for name in sorted(tables)}
    finally:
        connection.close()
    return Snapshot(files, rows)
