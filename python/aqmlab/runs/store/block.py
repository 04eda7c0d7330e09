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
    evaluated, warnings
        How the runs were evaluated, and their warnings about probable mistakes.
    """

    name: str
    files: dict[str, bytes]
    rows: list[RunRow]
    evaluated: list[Evaluated]
    warnings: set[str]


def encoded(runs: Mapping[RunKey, Output], texts: Mapping[str, str]) -> EncodedBlock:
    """Make a block of finished runs. `texts` has the text of each of their scenarios by its hash."""
    summaries = [output.summary["summary"] for output in runs.values()]
    rows = [
        RunRow(key.name, key.scenario, key.seed, key.version, plain_json(metrics_of(output.tables)))
        for key, output in runs.items()
    ]
    names = [row.run for row in rows]
    columns = {key: [getattr(row, key) for row in rows] for key in KEYS}
    columns |= {"summary": [plain_json(summary) for summary in summaries], "metrics": columns.pop("metrics")}
    scenarios = list(dict.fromkeys(row.scenario for row in rows))
    tables = {
        RUNS: pa.table(columns),
        SCENARIOS: pa.table({"scenario": scenarios, "text": [texts[one] for one in scenarios]}),
    }
    for name in dict.fromkeys(name for output in runs.values() for name in output.tables):
        parts = {number: output.tables[name] for number, output in enumerate(runs.values()) if name in output.tables}
        tables[name] = _stacked(parts, names)
    return EncodedBlock(
        name=block_name(names),
        files={f"{name}.parquet": _encoded(table) for name, table in sorted(tables.items())},
        rows=rows,
        evaluated=[output.evaluated for output in runs.values() if output.evaluated],
        warnings={str(warning) for summary in summaries for warning in summary.get("warnings") or ()},
    )


def _stacked(parts: Mapping[int, pa.Table], names: list[str]) -> pa.Table:
    """Put a table of several runs together, with the names of the runs as the first column."""
    which = np.repeat(np.array(list(parts), dtype=np.int32), [table.num_rows for table in parts.values()])
    column = pa.DictionaryArray.from_arrays(pa.array(which), pa.array(names))
    return pa.concat_tables(parts.values()).combine_chunks().add_column(0, "run", column)


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
