"""Questions in SQL to the tables of all runs of a store. DuckDB only reads: it is no part of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.errors import InputError
from aqmlab.storage.block import SCENARIOS
from aqmlab.storage.store import ResultStore

if TYPE_CHECKING:
    import pandas as pd


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
    blocks = [block for (block,) in store.index.rows("SELECT block FROM blocks ORDER BY block")]
    connection = duckdb.connect()
    try:
        parts: dict[str, list[str]] = {}
        for block in blocks:
            for file in store.index.files(block):
                parts.setdefault(file.removesuffix(".parquet"), []).append(str(store.block_folder(block) / file))
        for name, files in parts.items():
            if name != SCENARIOS:
                connection.from_parquet(files, union_by_name=True).create_view(name)
        points = _points(store)
        connection.register("points", points)
        answer: pd.DataFrame = connection.sql(sql).df()
    except (duckdb.Error, AttributeError) as error:
        line = " ".join(str(error).split("\n\n")[0].split()) if isinstance(error, duckdb.Error) else "it has no answer"
        raise InputError(f"{store.root}: {line}") from None
    finally:
        connection.close()
    return answer


def _points(store: ResultStore) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (study.study, study.name, point.point, key, value, point.scenario)
        for study in store.studies()
        for point in store.index.points(study.study)
        for key, value in zip(study.keys, point.values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["study", "name", "point", "key", "value", "scenario"])
