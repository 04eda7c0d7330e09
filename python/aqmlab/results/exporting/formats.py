"""The formats that results can be had in, and the function that writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aqmlab.errors import InputError, unknown
from aqmlab.results import folders
from aqmlab.results.outputs import check_ending, save_output
from aqmlab.results.result import Result


@dataclass(frozen=True)
class Wanted:
    """What is asked for of some runs: the run by its seed and the link, or a table of all runs."""

    result: Result
    seed: int
    link: str
    table: str


@dataclass(frozen=True)
class Format:
    """A format: what it is, how it is written, and whether it is of tables or of one run."""

    name: str
    doc: str
    write: Callable[[Wanted], bytes]
    of_tables: bool = False


def _csv(wanted: Wanted) -> bytes:
    from aqmlab.results.frames import to_pandas

    text: str = to_pandas(wanted.result, wanted.table).to_csv(lineterminator="\n")
    return text.encode()


def _parquet(wanted: Wanted) -> bytes:
    import pyarrow as pa

    from aqmlab.results.frames import to_pandas
    from aqmlab.results.parquet import parquet_bytes

    frame = to_pandas(wanted.result, wanted.table).reset_index()
    return parquet_bytes(pa.Table.from_pandas(frame, preserve_index=False))


def _flent(wanted: Wanted) -> bytes:
    from aqmlab.results.exporting.flent import flent_bytes

    return flent_bytes(wanted.result, seed=wanted.seed, link=wanted.link)


def _ns2(wanted: Wanted) -> bytes:
    from aqmlab.results.exporting.ns2_trace import trace_text

    return trace_text(wanted.result, seed=wanted.seed, link=wanted.link).encode()


def _pcap(wanted: Wanted) -> bytes:
    from aqmlab.results.exporting.pcap import pcap_bytes

    return pcap_bytes(wanted.result, seed=wanted.seed, link=wanted.link)


FORMATS = {
    one.name: one
    for one in (
        Format("csv", "one table as comma-separated values", _csv, of_tables=True),
        Format("parquet", "one table as Apache Parquet", _parquet, of_tables=True),
        Format("flent", "data file of flent (.flent.gz), test tcp_nup", _flent),
        Format("ns2", "trace of ns-2: + - r d lines of a link", _ns2),
        Format("pcap", "packets that left a link, with DSCP, ECN and TTL", _pcap),
    )
}


def export(
    results: str | Path | Result,
    *,
    to: str,
    out: str | Path,
    seed: int | None = None,
    link: str | None = None,
    table: str = "metrics",
) -> Path:
    """Write results in the format of another program.

    Parameters
    ----------
    results
        The folder of one scenario's runs, or a result.
    to
        ``csv`` or ``parquet`` for a table of all runs; ``flent``, ``ns2`` or ``pcap`` for one run.
    out
        The file.
    seed
        Which run; default: the first. For tables: only this run.
    link
        Which link; default: the result's bottleneck.
    table
        Which table, for ``csv`` and ``parquet``: ``metrics`` (one row a run) or one that the runs recorded.

    Returns
    -------
    Path
        The file.
    """
    if to not in FORMATS:
        raise InputError(unknown("format", to, list(FORMATS)))
    check_ending(Path(out), to)
    found = results if isinstance(results, Result) else _loaded(Path(results))
    if seed is not None and seed not in found.seeds:
        raise InputError(unknown("seed", str(seed), [str(own) for own in found.seeds]))
    if link is not None and link not in found.link_names:
        raise InputError(unknown("link", link, found.link_names))
    if FORMATS[to].of_tables and seed is not None:
        found = found.of_seed(seed)
    wanted = Wanted(found, found.seeds[0] if seed is None else seed, link or found.bottleneck, table)
    data = FORMATS[to].write(wanted)
    path = Path(out)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    save_output(path, data)
    return path


def _loaded(folder: Path) -> Result:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such results folder")
    if not folders.finished_seeds(folder):
        inside = sorted(entry for entry in folder.iterdir() if entry.is_dir() and folders.finished_seeds(entry))
        if (folder / folders.COMPARISON).exists() or inside:
            raise InputError(f"{folder}: holds several results; name one: {', '.join(str(one) for one in inside)}")
    return Result.load(folder)
