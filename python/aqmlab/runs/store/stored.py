"""Runs of a store as a `Result`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.errors import InputError, StorageError
from aqmlab.results.output import Output, provenance
from aqmlab.results.result import Result
from aqmlab.runs.store.block import RUNS, RunRow
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.file import Scenario


def result_of(store: ResultStore, runs: Iterable[str]) -> Result:
    """Return runs of one scenario that are in blocks, with all their tables.

    Parameters
    ----------
    store
        The store, open.
    runs
        Names of the runs, or beginnings of them.
    """
    found = sorted((store.run_row(name) for name in runs), key=lambda pair: pair[0].seed)
    if not found:
        raise InputError(f"{store.root}: no run was asked for")
    text = store.scenario_text(found[0][0].scenario)
    plan = Scenario.from_text(text)
    if plan.run_hash != found[0][0].scenario:
        raise StorageError(f"{store.index.path}: is damaged: scenario {found[0][0].scenario} has another text")
    known = provenance(plan)
    tables = {block: store.tables_of(block) for _, block in found}
    outputs = [_output(store, row, tables[block], known) for row, block in found]
    return Result.from_outputs(outputs, scenario_text=text)


def output_in_block(store: ResultStore, run: str) -> Output:
    """Read a run from its block; its summary has no provenance but version and seed."""
    row, block = store.run_row(run)
    return _output(store, row, store.tables_of(block), {})


def _output(store: ResultStore, row: RunRow, tables: Mapping[str, pa.Table], known: Mapping[str, Any]) -> Output:
    own = {name: _of_run(table, row.run) for name, table in tables.items()}
    numbers = store.index.table(own.pop(RUNS)["summary"][0].as_py())
    summary = {**known, "version": row.version, "seed": row.seed, "summary": numbers}
    return Output(summary, {name: table.combine_chunks() for name, table in own.items() if table.num_rows})


def _of_run(table: pa.Table, run: str) -> pa.Table:
    return table.filter(pc.equal(table["run"].cast(pa.string()), run)).drop_columns("run")
