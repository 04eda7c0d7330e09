"""The core's column buffers as Arrow tables and Parquet files: the same data, the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SMALL = 65_536
"""Bytes of a table up to which Zstandard, set up for each column, would take half of the time of writing."""
Column = tuple[str | list[str], bytes]
"""Of numbers their type and bytes; of words the different words, and for each row the place of its word (``<u4``)."""
Columns = Mapping[str, Column]


def has_rows(columns: Columns) -> bool:
    """Whether a table of the core has rows."""
    return any(buffer for _, buffer in columns.values())


def values(column: Column) -> np.ndarray:
    """Return the values of a column of the core, in order.

    >>> values((["a", "b"], np.array([1, 0, 1], dtype="<u4").tobytes())).tolist()
    ['b', 'a', 'b']
    """
    kind, buffer = column
    if isinstance(kind, list):
        found: np.ndarray = np.array(kind, dtype=object)[np.frombuffer(buffer, dtype="<u4")]
        return found
    return np.frombuffer(buffer, dtype=np.dtype(kind))


def to_arrow(columns: Columns, *, seed: int, encoded: bool = False) -> pa.Table:
    """Make a table of the core's columns, with the run's seed as its first column.

    With `encoded`, columns of words have Arrow's type of a dictionary, which takes less time.

    >>> links = (["a", "b"], bytes([0] * 4 + [1] + [0] * 3))
    >>> to_arrow({"link": links, "drops": ("uint64", bytes([7] + [0] * 15))}, seed=3).to_pylist()
    [{'seed': 3, 'link': 'a', 'drops': 7}, {'seed': 3, 'link': 'b', 'drops': 0}]
    """
    arrays: dict[str, pa.Array] = {}
    for name, (kind, buffer) in columns.items():
        if isinstance(kind, list):
            words, places = pa.array(kind, type=pa.string()), pa.array(np.frombuffer(buffer, dtype="<i4"))
            arrays[name] = pa.DictionaryArray.from_arrays(places, words) if encoded else words.take(places)
        else:
            arrays[name] = pa.array(np.frombuffer(buffer, dtype=np.dtype(kind)))
    rows = len(next(iter(arrays.values()))) if arrays else 0
    seeds = pa.array(np.full(rows, seed, dtype=np.int64))
    return pa.table({"seed": seeds, **arrays})


def parquet_bytes(table: pa.Table) -> bytes:
    """Write a table as Parquet. The bytes are a function of the table and of the library's version."""
    sink = pa.BufferOutputStream()
    # A dictionary of numbers, nearly all of which differ, makes the file larger and takes longer.
    texts = [column.name for column in table.schema if pa.types.is_string(column.type)]
    pq.write_table(
        table,
        sink,
        compression="zstd" if table.nbytes > SMALL else "snappy",
        version="2.6",
        use_dictionary=texts,
        write_statistics=True,
        write_page_checksum=True,
    )
    return bytes(sink.getvalue())


def read_parquet(data: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the content of one Parquet file, or some columns of it, and check the pages.

    Without the search for further parts that `pyarrow.parquet.read_table` begins with.
    """
    with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
        return file.read(columns=columns, use_threads=False)
