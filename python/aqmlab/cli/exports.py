"""The command that writes results for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Json, app
from aqmlab.cli.output import print_json


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="The results folder of one scenario.", metavar="DIR")],
    to: Annotated[str, typer.Option("--to", help="csv, parquet, flent, ns2 or pcap.", metavar="FORMAT")],
    out: Annotated[Path, typer.Option("--out", help="The file.", metavar="FILE")],
    seed: Annotated[
        int | None, typer.Option("--seed", help="Which run; default: the first, for tables all.", metavar="N")
    ] = None,
    link: Annotated[
        str | None, typer.Option("--link", help="Which link; default: the managed one.", metavar="NAME")
    ] = None,
    table: Annotated[
        str, typer.Option("--table", help="For csv and parquet: metrics, links, flows, queue_samples, ...")
    ] = "metrics",
    as_json: Json = False,
) -> None:
    """Write results as CSV, Parquet, flent data file, ns-2 trace or pcap. Python: aqmlab.export."""
    from aqmlab.exporting import export as work

    path = work(folder, to=to, out=out, seed=seed, link=link, table=table)
    if as_json:
        print_json({"file": str(path), "format": to, "bytes": path.stat().st_size})
    else:
        print(f"Exported: {path}")
