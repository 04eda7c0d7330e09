"""A block of runs as Parquet files: the columns of all its runs, one below the other, encoded once.

To write a file a run would take a tenth of the time of a short run; a block of some dozen shares that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aqmlab.results.evaluation import Evaluated
from aqmlab.results.keys import RunKey, block_name, digest
from aqmlab.results.output import Output, metrics_of

RUNS = "runs"
SCENARIOS = "scenarios"
KEYS = ("run", "scenario", "seed", "version", "metrics")


@dataclass(frozen=True)
class RunRow:
    """A run: its name, its scenario's hash without seeds, seed, version, and its metrics at the bottleneck as JSON."""

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
    evaluated, warnings
        How the runs were evaluated, and their warnings about probable mistakes.
    """

    name: str
    files: dict[str, bytes]
    rows: tuple[RunRow, ...]
    scenarios: dict[str, str]
    evaluated: list[Evaluated]
    warnings: set[str]


class BlockBuilder:
    """Gathers runs and encodes them."""

    def __init__(self) -> None:
        self._rows: list[RunRow] = []
        self._summaries: list[str] = []
        self._scenarios: dict[str, str] = {}
        self._tables: dict[str, list[tuple[int, pa.Table]]] = {}
        self._evaluated: list[Evaluated] = []
        self._warnings: set[str] = set()

    @property
    def count(self) -> int:
        """Number of runs so far."""
        return len(self._rows)

    def add(self, key: RunKey, text: str, output: Output) -> None:
        """Put a finished run of a scenario with this text below those that are there."""
        for name, table in output.tables.items():
            self._tables.setdefault(name, []).append((self.count, table))
        metrics = plain_json(metrics_of(output.tables))
        self._rows.append(RunRow(key.name, key.scenario, key.seed, key.version, metrics))
        self._summaries.append(plain_json(output.summary["summary"]))
        self._scenarios[key.scenario] = text
        self._warnings.update(map(str, output.summary["summary"].get("warnings") or ()))
        self._evaluated += [output.evaluated] if output.evaluated else []

    def encode(self) -> EncodedBlock:
        """Return the files of all runs together."""
        rows = self._rows
        runs = {key: [getattr(row, key) for row in rows] for key in ("run", "scenario", "seed", "version")}
        runs |= {"summary": self._summaries, "metrics": [row.metrics for row in rows]}
        scenarios = {"scenario": list(self._scenarios), "text": list(self._scenarios.values())}
        tables = {RUNS: pa.table(runs), SCENARIOS: pa.table(scenarios)}
        tables |= {name: self._stacked(parts) for name, parts in self._tables.items()}
        files = {f"{name}.parquet": _encoded(table) for name, table in sorted(tables.items())}
        name = block_name(row.run for row in rows)
        return EncodedBlock(name, files, tuple(rows), self._scenarios, self._evaluated, self._warnings)

    def _stacked(self, parts: list[tuple[int, pa.Table]]) -> pa.Table:
        """Put a table of several runs together, with the names of the runs as the first column."""
        numbers, tables = zip(*parts, strict=True)
        which = np.repeat(np.array(numbers, dtype=np.int32), [table.num_rows for table in tables])
        names = pa.DictionaryArray.from_arrays(pa.array(which), pa.array([row.run for row in self._rows]))
        return pa.concat_tables(tables).combine_chunks().add_column(0, "run", names)


def plain_json(data: Mapping[str, Any]) -> str:
    """Write named numbers as JSON on one line; a number that is not finite becomes null.

    >>> plain_json({"loss": 0.5, "jain": math.nan})
    '{"loss": 0.5, "jain": null}'
    """
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in data.items()}
    return json.dumps(finite, ensure_ascii=False)


def _encoded(table: pa.Table) -> bytes:
    """Write a table as Parquet; dictionaries of numbers and statistics of columns would take half of the time."""
    texts = [name for name in table.column_names if not pa.types.is_primitive(table[name].type)]
    sink = pa.BufferOutputStream()
    options = {"compression": "zstd", "version": "2.6", "use_dictionary": texts}
    pq.write_table(table, sink, **options, write_statistics=False, write_page_checksum=True)
    return bytes(sink.getvalue())


def file_facts(files: Mapping[str, bytes]) -> dict[str, tuple[int, str]]:
    """Return size and digest of every file."""
    return {name: (len(data), digest(data)) for name, data in sorted(files.items())}


def rows_of(table: pa.Table) -> list[RunRow]:
    """Read the runs of a block from its table of runs."""
    return [RunRow(**row) for row in table.select(KEYS).to_pylist()]


def files_in(folder: Path) -> Iterable[Path]:
    """List the files of a block."""
    return sorted(folder.glob("*.parquet"))
