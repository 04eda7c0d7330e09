"""Recorded tables of one run: whole, single rows, and samples over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.errors import StorageError, unknown
from aqmlab.results import folders

THROUGHPUT = "throughput"
"""The table of samples computed from the samples of flows."""
Series = Mapping[str, np.ndarray]
"""Samples over time by name, and their times in s as ``t_s``: arrays of one length."""


def columns_of(folder: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return one table of one run, or some columns of it, as Arrow's.

    Raises
    ------
    StorageError
        If the run has none.
    """
    found = folders.read_table(folder, name, columns)
    if found is None:
        raise StorageError(f"{folder}: holds no table {name}; remove the folder to run it again")
    return found


def table_of(folder: Path, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the same as a data frame."""
    data: pd.DataFrame = columns_of(folder, name, columns).to_pandas(use_threads=False)
    return data


def row_of(folder: Path, name: str, columns: Sequence[str] | None = None, **where: str | int) -> dict[str, Any]:
    """Return the first row of a table that has these values, or an empty dictionary."""
    return next(iter(selected(columns_of(folder, name, columns), **where).slice(0, 1).to_pylist()), {})


def selected(table: pa.Table, **where: str | int) -> pa.Table:
    """Return the rows that have these values.

    >>> selected(pa.table({"link": ["a", "b", "a"], "drops": [1, 2, 3]}), link="a")["drops"].to_pylist()
    [1, 3]
    """
    for column, value in where.items():
        table = table.filter(pc.equal(table[column], value))
    return table


def series(table: pa.Table, by: str, value: str) -> dict[str, np.ndarray]:
    """Return one column of samples for each name in the column `by`, and ``t_s``; all names have the same times.

    >>> rows = pa.table({"t_s": [1.0, 1.0, 2.0, 2.0], "flow": ["b", "a", "a", "b"], "cwnd": [3, 5, 6, 4]})
    >>> {name: own.tolist() for name, own in series(rows, "flow", "cwnd").items()}
    {'t_s': [1.0, 2.0], 'b': [3, 4], 'a': [5, 6]}
    """
    names, time, order = grid(table, by)
    values = table[value].to_numpy()[order]
    return {"t_s": time, **{name: values[:, place] for place, name in enumerate(names)}}


def grid(table: pa.Table, by: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return names in the column `by`, times, and the place of each sample: a row per time, a column per name.

    Raises
    ------
    StorageError
        If a name has no sample, or several, at a time of another, as gauges of two links have.

    >>> rows = pa.table({"t_s": [1.0, 1.0, 2.0], "flow": ["a", "b", "a"], "cwnd": [3, 5, 6]})
    >>> grid(rows, "flow")
    Traceback (most recent call last):
    ...
    aqmlab.errors.StorageError: samples by flow: not one of each flow at each time
    """
    words = table[by].combine_chunks().dictionary_encode()
    codes, names = words.indices.to_numpy(), words.dictionary.to_pylist()
    time = table["t_s"].to_numpy()
    order, width = np.lexsort((codes, time)), len(names) or 1
    times = time[order[::width]]
    # As if each name had one sample at each of these times, in this order.
    is_grid = (
        len(order) == len(times) * width
        and bool(np.all(np.diff(times) > 0))
        and np.array_equal(time[order], np.repeat(times, width))
        and np.array_equal(codes[order], np.tile(np.arange(width), len(times)))
    )
    if not is_grid:
        raise StorageError(f"samples by {by}: not one of each {by} at each time")
    return names, times, order.reshape(-1, width)


def gauges(folder: Path, **where: str | int) -> dict[str, np.ndarray]:
    """Return the samples of a discipline's gauges at the observed link, or at a given one; empty without any."""
    found = folders.read_table(folder, "discipline_samples")
    rows = None if found is None else selected(found, **where)
    return series(rows, "name", "value") if rows else {}


def samples(folder: Path, table: str, name: str, link: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Return the times in s and the values of one column of a table of samples, or of one gauge of a discipline.

    The table ``throughput`` is computed from the samples of flows.

    Raises
    ------
    StorageError
        If the run has no such table, column or gauge.
    """
    if table == THROUGHPUT:
        own = throughput(folder)
        names, found = list(own), own
    else:
        rows = columns_of(folder, table)
        rows = selected(rows, link=link) if link and "link" in rows.column_names else rows
        names, column = rows.column_names, name
        if "value" in names and name not in names:
            names, column = sorted(rows["name"].unique().to_pylist()), "value"
            rows = selected(rows, name=name)
        found = {"t_s": rows["t_s"].to_numpy(), name: rows[column].to_numpy()} if name in names else {}
    if name not in found:
        raise StorageError(f"{folder}: table {table}: {unknown('name', name, names)}")
    return found["t_s"], found[name].astype(float)


def throughput(folder: Path, column: str = "arrived_bytes") -> dict[str, np.ndarray]:
    """Throughput over time in Mb/s of each group of flows and in all (``total``), by bins that end at ``t_s``."""
    flows = columns_of(folder, "flows", ["flow", "group"])
    groups = dict(zip(flows["flow"].to_pylist(), flows["group"].to_pylist(), strict=True))
    table = columns_of(folder, "flow_samples", ["t_s", "flow", column])
    names, time, order = grid(table, "flow")
    count = table[column].to_numpy()[order].astype(float)
    rates = {}
    for group in sorted({groups[name] for name in names}):
        own = [place for place, name in enumerate(names) if groups[name] == group]
        rates[group] = np.diff(count[:, own].sum(axis=1)) / np.diff(time) * 8e-6
    return {"t_s": time[1:], **rates, "total": np.sum(list(rates.values()), axis=0)}
