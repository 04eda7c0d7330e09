"""The command that writes results, or a scenario, for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.application import Json, Set, WhichLink, command
from aqmlab.cli.output import print_json, say, warn
from aqmlab.cli.values import parse_overrides
from aqmlab.errors import InputError, printable
from aqmlab.scenario.file import unknown

KERNEL = "kernel"
"""The format of sources of a module for Linux."""
BPF = "bpf"
"""The format of sources of a BPF queueing discipline for Linux."""
SCENARIO_FORMATS = ["ns2", "ns3", "tc", KERNEL, BPF]
ROUTERS = ("cisco", "juniper", "ios", "junos")


@command("aqmlab export results/my-12ab34cd --to csv --out links.csv --table links", "aqmlab export my.toml --to tc")
def export(
    what: Annotated[
        Path, typer.Argument(help="The results folder of one scenario, or a scenario file.", metavar="DIR|FILE.toml")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="Results: csv, parquet, flent, ns2 or pcap. A scenario: ns2, ns3, tc, kernel or bpf.",
            metavar="FORMAT",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file. A scenario's may be a folder; default: this one.", metavar="FILE"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Which run; default: the first, for tables all.", metavar="N")
    ] = None,
    link: WhichLink = None,
    name: Annotated[
        str | None, typer.Option("--name", help="For kernel, bpf: names module and kind, as uplink.", metavar="NAME")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", help="For csv and parquet: metrics, links, flows, queue_samples, ...", metavar="NAME"),
    ] = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Write results, or a scenario, for other programs.

    Results become CSV, Parquet, a flent data file, an ns-2 trace or pcap; a scenario a script for ns-2, ns-3 or Linux.
    `--to kernel --link NAME` writes a link's queue (RED and its variants, DualPI2) as a kernel module for Linux,
    `--to bpf` writes RED as a BPF qdisc with the link's rate (Linux 6.16; no ECN, classes or search for victims);
    `--out` is the folder.
    Python: aqmlab.export, aqmlab.export_scenario, aqmlab.export_module, aqmlab.export_bpf.
    """
    # A path that does not exist is taken for results, unless its name is that of a scenario.
    is_missing = not what.exists() and what.suffix != ".toml" and not str(what).startswith("example:")
    if what.is_dir() or is_missing:
        if set_:
            raise InputError("--set: is for a scenario, not for results")
        if out is None:
            raise InputError("--out: name the file")
        if name is not None:
            raise InputError("--name: is for --to kernel and --to bpf")
        _export_results(what, to, out, seed, link, table or "metrics", as_json)
    else:
        of_results = [("--seed", seed), ("--table", table)]
        if to not in (KERNEL, BPF):
            of_results.append(("--link", link))
        for option, value in of_results:
            if value is not None:
                raise InputError(f"{option}: is for results, and {what} is not a results folder")
        if name is not None and to not in (KERNEL, BPF):
            raise InputError("--name: is for --to kernel and --to bpf")
        if to not in SCENARIO_FORMATS:
            routers = "; Cisco and Juniper: aqmlab tune --details prints their text" if to in ROUTERS else ""
            raise InputError(unknown("format", to, SCENARIO_FORMATS) + routers)
        if to in (KERNEL, BPF):
            _export_queue(what, to, link, out, name, set_, as_json)
        else:
            _export_scenario(what, to, out, set_, as_json)


def _export_results(
    folder: Path, to: str, out: Path, seed: int | None, link: str | None, table: str, as_json: bool
) -> None:
    from aqmlab.results.exporting import export as work

    path = work(folder, to=to, out=out, seed=seed, link=link, table=table)
    if as_json:
        print_json({"file": str(path), "format": to, "bytes": path.stat().st_size})
    else:
        say(f"Exported: {path}")


def _export_queue(
    what: Path, to: str, link: str | None, out: Path | None, name: str | None, set_: list[str] | None, as_json: bool
) -> None:
    """Export a queue as a kernel module or as a BPF discipline."""
    from aqmlab.interop.kernel.export import GSO, export_module
    from aqmlab.interop.kernel.export_bpf import export_bpf, kind_of, name_of

    is_module = to == KERNEL
    write = export_module if is_module else export_bpf
    paths, queue = write(what, link=link, out=out, overrides=parse_overrides(set_), name=name)
    kind = queue.kind if is_module else kind_of(queue)
    if as_json:
        program = {"module": queue.module} if is_module else {"program": name_of(queue)}
        print_json({"files": [str(path) for path in paths], "format": to, **program, "kind": kind})
        return
    for path in paths:
        say(f"Exported: {path}")
    loaded = queue.module if is_module else kind
    say(f"{paths[0].parent / 'README.md'} says how to build, load and remove {loaded}.")
    print(f"aqmlab: note: {GSO}", file=sys.stderr)
    # The warnings that `check` prints too.
    for one in queue.scenario.warnings:
        if one.key.startswith(f"queue.{queue.link.queue}"):
            warn(f"{one.key}: {one.message}")


def _export_scenario(file: Path, to: str, out: Path | None, set_: list[str] | None, as_json: bool) -> None:
    from aqmlab.interop.crosscheck.checking import export_scenario

    paths, differences = export_scenario(file, to=to, out=out, overrides=parse_overrides(set_))
    if as_json:
        told = [one.data for one in differences]
        print_json({"files": [str(path) for path in paths], "format": to, "differences": told})
        return
    for one in differences:
        print(printable(f"aqmlab: note: {one.sentence}"), file=sys.stderr)
    for path in paths:
        say(f"Exported: {path}")
