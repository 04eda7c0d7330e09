"""Runs that are in folders of the store already: they become blocks of the sweep, and are not simulated again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from aqmlab.errors import StorageError
from aqmlab.results.keys import RunKey
from aqmlab.results.metrics import TABLES, run_metrics
from aqmlab.results.output import output_in_folder
from aqmlab.results.parquet import Columns
from aqmlab.runs.store.block import BlockBuilder, RunRow
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.plan import Block
from aqmlab.runs.sweeps.work import plain_json


def adopt(store: ResultStore, blocks: Iterable[Block], texts: Mapping[str, str]) -> None:
    """Put runs of a sweep that are in folders of the store into blocks.

    Parameters
    ----------
    blocks
        The blocks of the sweep. Those of their runs that are in folders make a block of their own.
    texts
        Hash to text of every scenario.
    """
    if not store.index.rows("SELECT 1 FROM folders LIMIT 1"):
        return
    for block in blocks:
        stored = store.index.has_runs(key.name for key in block.runs)
        builder = BlockBuilder()
        for key in block.runs:
            if key.name not in stored:
                _add(store, key, builder, texts)
        if builder.count:
            store.add(builder.encode())


def _add(store: ResultStore, key: RunKey, builder: BlockBuilder, texts: Mapping[str, str]) -> None:
    try:
        folder = store.run_folder(key)
        if folder is None:
            return
        found = output_in_folder(folder)
    except StorageError:
        return
    if found.summary.get("version") != key.version or found.summary.get("seed") != key.seed:
        return
    tables = {name: _columns(table) for name, table in found.tables.items()}
    metrics = run_metrics({name: _values(found.tables[name]) for name in TABLES if name in found.tables})
    row = RunRow(key.name, key.scenario, key.seed, key.version, plain_json(metrics))
    builder.add(row, text=texts[key.scenario], summary=plain_json(found.summary["summary"]), tables=tables)


def _values(table: pa.Table) -> dict[str, Any]:
    return {
        name: table[name].to_pylist() if pa.types.is_string(table[name].type) else table[name].to_numpy()
        for name in table.column_names
        if name != "seed"
    }


def _columns(table: pa.Table) -> Columns:
    """Return a table as the core's columns."""
    return {
        name: values if isinstance(values, list) else (values.dtype.name, np.ascontiguousarray(values).tobytes())
        for name, values in _values(table).items()
    }
