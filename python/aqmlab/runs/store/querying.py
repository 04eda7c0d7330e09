"""Questions in SQL to the tables of all runs of a store.

DuckDB answers them and is given the tables alone: it opens no file, loads no extension, writes nothing, and its
configuration is locked.
"""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from aqmlab.errors import InputError, StorageError, one_line
from aqmlab.runs.store.block import SCENARIOS
from aqmlab.runs.store.store import ResultStore

CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "temp_directory": "",
}
"""DuckDB without files, networks, extensions, and variables of this program."""


def query(store: ResultStore, sql: str) -> pd.DataFrame:
    """Answer a question in SQL.

    The tables are ``runs`` (run, scenario, seed, version, summary, metrics), ``points`` (study, name, point, key,
    value, scenario) and those of the runs, ``links``, ``flows`` and so on, with the columns ``run`` and ``seed``.
    Needs DuckDB.
    """
    try:
        import duckdb
    except ImportError:
        raise InputError("results query: needs DuckDB, which is not installed (pip install 'aqmlab[store]')") from None
    connection = duckdb.connect(config=CONFIGURATION)
    try:
        for name, blocks in _blocks_of(store).items():
            # Another table, even a damaged one, is not opened.
            if re.search(rf"\b{name}\b", sql, re.IGNORECASE):
                for block in blocks:
                    store.verify(block, name)
                connection.register(name, _dataset(store, name, blocks))
        connection.register("points", _points(store))
        connection.execute("SET lock_configuration = true")
        answer: pd.DataFrame = connection.sql(sql).df()
    except (duckdb.Error, AttributeError) as error:
        line = " ".join(str(error).split("\n\n")[0].split()) if isinstance(error, duckdb.Error) else "it has no answer"
        raise InputError(f"{store.root}: {line}") from None
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise StorageError(f"{store.root}: {one_line(str(error)) or 'out of memory'}") from None
    finally:
        connection.close()
    return answer


def _blocks_of(store: ResultStore) -> dict[str, list[str]]:
    """Return which blocks have which table."""
    found: dict[str, list[str]] = {}
    for (block,) in store.index.rows("SELECT block FROM blocks ORDER BY block"):
        for name in store.index.files(block):
            found.setdefault(name.removesuffix(".parquet"), []).append(block)
    return {name: blocks for name, blocks in found.items() if name != SCENARIOS}


def _dataset(store: ResultStore, name: str, blocks: list[str]) -> ds.Dataset:
    """Return a table of several blocks; its columns are those of all, pages are checked when they are read."""
    files = [str(store.block_folder(block) / f"{name}.parquet") for block in blocks]
    schema = pa.unify_schemas([pq.read_schema(file) for file in files], promote_options="permissive")
    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    return ds.dataset(files, schema=schema, format=ds.ParquetFileFormat(default_fragment_scan_options=options))


def _points(store: ResultStore) -> pd.DataFrame:
    rows = [
        (study.study, study.name, point, key, value, scenario)
        for study in store.studies()
        for point, (scenario, values) in enumerate(study.points)
        for key, value in zip(study.keys, values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["study", "name", "point", "key", "value", "scenario"])
