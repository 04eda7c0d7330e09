"""Questions in SQL to the tables of all runs of a store.

DuckDB answers them and is given the tables alone: it opens no file, loads no extension, writes nothing, and its
configuration is locked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from aqmlab.errors import InputError, StorageError, one_line
from aqmlab.runs.store.block import SCENARIOS
from aqmlab.runs.store.store import ResultStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

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
        blocks = _blocks_of(store)
        tables = {name: _dataset(store, name, found) for name, found in blocks.items()}
        points = _points(store)
        for name, table in tables.items():
            connection.register(name, table)
        connection.register("points", points)
        connection.execute("SET lock_configuration = true")
        empty = {name: table.schema.empty_table() for name, table in tables.items()}
        for name in _named(sql, {**empty, "points": pa.Table.from_pandas(points)}) & set(blocks):
            for block in blocks[name]:
                store.verify(block, name)
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


def _named(sql: str, empty: Mapping[str, pa.Table]) -> set[str]:
    """Return the tables that a question reads; all if DuckDB cannot tell.

    DuckDB says it of tables of its own, not of registered ones; so it is asked where empty ones have these names.
    """
    import duckdb

    with duckdb.connect(config=CONFIGURATION) as connection:
        for name, table in empty.items():
            connection.register("empty_table", table)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM empty_table')
        try:
            return {name.lower() for name in connection.get_table_names(sql)}
        except Exception:  # whatever is wrong with the question is reported when it is asked
            return set(empty)


def _points(store: ResultStore) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (study.study, study.name, point.point, key, value, point.scenario)
        for study in store.studies()
        for point in store.index.points(study)
        for key, value in zip(study.keys, point.values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["study", "name", "point", "key", "value", "scenario"])
