"""Export of a store's contents as one file for other programs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from aqmlab.errors import InputError, unknown
from aqmlab.results.exporting import FORMATS
from aqmlab.results.exporting import export as export_result
from aqmlab.results.outputs import check_ending, save_output
from aqmlab.results.tables import TABLES
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.grid import grid_latex, grid_table
from aqmlab.runs.sweeps.sweep import POINT, RUN, SEED, Study

RUN_FORMATS = tuple(name for name, form in FORMATS.items() if not form.of_tables)
"""Formats of a single run, other than tables, that `aqmlab.export` writes."""


def export(
    store: ResultStore,
    name: str | None,
    *,
    out: str | Path,
    table: str | None = None,
    to: str | None = None,
    metrics: Sequence[str] = (),
) -> Path:
    """Write a sweep, or a run, as one file.

    Parameters
    ----------
    name
        A sweep's name or the beginning of its hash, or the beginning of a run's name; None for the only sweep.
    out
        The file.
    table
        ``runs`` (the default), ``points`` or ``grid`` (disciplines against the first at each condition) of a sweep, or
        a table of its runs, for example ``links``: that of all runs, one below the other, with the sweep's keys.
    to
        ``csv`` or ``parquet``, ``tex`` of a grid, or one of `RUN_FORMATS` of a single run; default: by the file's
        ending.
    metrics
        Quantities of a grid; none: those of the report.
    """
    path = Path(out)
    kind = to or path.suffix.removeprefix(".")
    known = ["csv", "parquet", "tex", *RUN_FORMATS]
    if kind not in known:
        raise InputError(f"{path}: {unknown('format', kind, known)}")
    check_ending(path, kind)
    run = run_named(store, name)
    if table != "grid" and (kind == "tex" or metrics):
        raise InputError(f"{'--metric' if metrics else '--to tex'}: is of --table grid")
    if kind == "tex":
        sweep = Study.read(store, store.study_row(name))
        save_output(path, grid_latex(sweep, grid_table(sweep, list(metrics) or None)).encode())
        return path
    if kind in RUN_FORMATS:
        if run is None:
            raise InputError(f"--to {kind}: is of one run; name it ('aqmlab results show' lists a study's runs)")
        export_result(store.result([run]), to=kind, out=path)
        return path
    made = _of_sweep(store, name, table or "runs", metrics) if run is None else _of_run(store, run, table or "links")
    sink = io.BytesIO()
    if kind == "csv":
        pyarrow.csv.write_csv(made, sink)
    else:
        pq.write_table(made, sink, compression="zstd", write_page_checksum=True)
    save_output(path, sink.getvalue())
    return path


def run_named(store: ResultStore, name: str | None) -> str | None:
    """Return the run that is meant; None if a sweep is."""
    if name is None or any(s.name == name or s.study.startswith(name) for s in store.studies()):
        return None
    try:
        return store.run_row(name)[0].run
    except InputError:
        store.study_row(name)  # says which sweeps there are
        return None


def _of_run(store: ResultStore, run: str, table: str) -> pa.Table:
    result = store.result([run])
    if table not in result.tables:
        raise InputError(unknown("table", table, list(result.tables)))
    return pa.Table.from_pandas(result.tables[table], preserve_index=False)


def _of_sweep(store: ResultStore, name: str | None, table: str, metrics: Sequence[str]) -> pa.Table:
    row = store.study_row(name)
    sweep = Study.read(store, row)
    if table == "runs":
        return pa.Table.from_pandas(sweep.runs, preserve_index=False)
    if table == "points":
        return pa.Table.from_pandas(sweep.points(), preserve_index=False)
    if table == "grid":
        return pa.Table.from_pandas(grid_table(sweep, list(metrics) or None), preserve_index=False)
    if table not in TABLES:
        raise InputError(unknown("table", table, ["runs", "points", "grid", *TABLES]))
    wanted = pa.Table.from_pandas(sweep.runs[[RUN, POINT, *sweep.keys]], preserve_index=False)
    blocks = dict.fromkeys(block for _, _, block in store.study_runs(row))
    read = (store.read_table(block, table) for block in blocks)
    found = [part.set_column(0, RUN, part[RUN].cast(wanted[RUN].type)) for part in read if part is not None]
    if not found:
        raise InputError(f"{sweep.name}: no run recorded {table}")
    whole = pa.concat_tables(found, promote_options="default")
    joined = whole.join(wanted, RUN, join_type="inner")
    order = [POINT, *sweep.keys, SEED]
    rest = [name for name in joined.column_names if name not in (*order, RUN)]
    return joined.select([*order, *rest, RUN]).sort_by([(POINT, "ascending"), (SEED, "ascending")])
