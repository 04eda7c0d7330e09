"""A block of runs as Parquet files: the columns of all its runs, one below the other, encoded once.

To write a file a run would take a tenth of the time of a short run; a block of some dozen shares that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aqmlab.results.keys import block_name, digest
from aqmlab.results.parquet import Columns

RUNS = "runs"
SCENARIOS = "scenarios"


@dataclass(frozen=True)
class RunRow:
    """A run's row in the index, except for the block that contains the run.

    Attributes
    ----------
    run
        Its name.
    scenario
        Hash of the scenario without its seeds.
    seed, version
        Its seed, and the version that simulated it.
    metrics
        Its metrics at the bottleneck, as JSON.
    """

    run: str
    scenario: str
    seed: int
    version: str
    metrics: str


@dataclass(frozen=True)
class EncodedBlock:
    """A finished block, ready to be stored.

    Attributes
    ----------
    name
        Hash of its runs' names.
    files
        File name to content.
    rows
        Its runs, in their order.
    scenarios
        Hash and text of every scenario in it.
    """

    name: str
    files: dict[str, bytes]
    rows: tuple[RunRow, ...]
    scenarios: dict[str, str]


class BlockBuilder:
    """Gathers runs and encodes them."""

    def __init__(self) -> None:
        self._rows: list[RunRow] = []
        self._summaries: list[str] = []
        self._scenarios: dict[str, str] = {}
        self._tables: dict[str, _Stacked] = {}

    @property
    def count(self) -> int:
        """Number of runs so far."""
        return len(self._rows)

    def add(self, row: RunRow, *, text: str, summary: str, tables: Mapping[str, Columns]) -> None:
        """Put a finished run below those that are there."""
        self._rows.append(row)
        self._summaries.append(summary)
        self._scenarios[row.scenario] = text
        for name, columns in tables.items():
            rows = row_count(columns)
            if rows:
                self._tables.setdefault(name, _Stacked()).add(len(self._rows) - 1, rows, columns)

    def encode(self) -> EncodedBlock:
        """Return the files of all runs together."""
        rows = self._rows
        runs = {
            "run": [row.run for row in rows],
            "scenario": [row.scenario for row in rows],
            "seed": pa.array([row.seed for row in rows], pa.int64()),
            "version": [row.version for row in rows],
            "summary": self._summaries,
            "metrics": [row.metrics for row in rows],
        }
        scenarios = {"scenario": list(self._scenarios), "text": list(self._scenarios.values())}
        tables = {RUNS: pa.table(runs), SCENARIOS: pa.table(scenarios)}
        tables |= {name: stacked.table(rows) for name, stacked in self._tables.items()}
        files = {f"{name}.parquet": _encoded(table) for name, table in sorted(tables.items())}
        return EncodedBlock(block_name(row.run for row in rows), files, tuple(rows), dict(self._scenarios))


class _Stacked:
    """A table of several runs, whose columns are joined when all are there."""

    def __init__(self) -> None:
        self._owners: list[tuple[int, int]] = []
        self._columns: dict[str, list[Any]] = {}
        self._types: dict[str, str] = {}

    def add(self, owner: int, rows: int, columns: Columns) -> None:
        self._owners.append((owner, rows))
        for name, column in columns.items():
            if isinstance(column, list):
                self._columns.setdefault(name, []).extend(column)
            else:
                self._types[name] = column[0]
                self._columns.setdefault(name, []).append(column[1])

    def table(self, runs: list[RunRow]) -> pa.Table:
        owners, counts = np.array(self._owners, dtype=np.int64).T
        which = np.repeat(owners, counts)
        names = pa.DictionaryArray.from_arrays(pa.array(which.astype(np.int32)), pa.array([row.run for row in runs]))
        arrays: dict[str, pa.Array] = {"run": names, "seed": pa.array(np.array([row.seed for row in runs])[which])}
        for name, parts in self._columns.items():
            kind = self._types.get(name)
            made = pa.array(parts, pa.string()) if kind is None else np.frombuffer(b"".join(parts), np.dtype(kind))
            arrays[name] = pa.array(made)
        return pa.table(arrays)


def _encoded(table: pa.Table) -> bytes:
    """Write a table as Parquet; dictionaries of numbers and statistics of columns would take half of the time."""
    texts = [name for name in table.column_names if not pa.types.is_primitive(table[name].type)]
    sink = pa.BufferOutputStream()
    options = {"compression": "zstd", "version": "2.6", "use_dictionary": texts}
    pq.write_table(table, sink, **options, write_statistics=False, write_page_checksum=True)
    return bytes(sink.getvalue())


def row_count(columns: Columns) -> int:
    """Return the number of rows of a table of the core."""
    for column in columns.values():
        if isinstance(column, list):
            return len(column)
        return len(column[1]) // np.dtype(column[0]).itemsize
    return 0


def file_facts(files: Mapping[str, bytes]) -> dict[str, tuple[int, str]]:
    """Return size and digest of every file."""
    return {name: (len(data), digest(data)) for name, data in sorted(files.items())}


def rows_of(table: pa.Table) -> list[RunRow]:
    """Read the runs of a block from its table of runs."""
    keys = ("run", "scenario", "seed", "version", "metrics")
    return [RunRow(**{key: entry[key] for key in keys}) for entry in table.select(keys).to_pylist()]


def files_in(folder: Path) -> Iterable[Path]:
    """List the files of a block."""
    return sorted(folder.glob("*.parquet"))
