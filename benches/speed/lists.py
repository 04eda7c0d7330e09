"""The random values of a run of ours, as lists for ns-2: links, and transfers with their ends, sizes and starts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.results.parquet import values

SEED = 1
ENDLESS = -1
"""The size of a greedy flow in ns-2's script."""
RATES = {"Gbps": 1e9, "Mbps": 1e6, "kbps": 1e3}


def write(scenario: Path, folder: Path) -> list[str]:
    """Write the lists into a folder; gives the arguments of `mesh.tcl` that name them.

    The run ends as soon as the last flow has started: the random values do not depend on its duration.
    """
    text = scenario.read_text()
    file = tomllib.loads(text)
    last_start = max(group["start"]["uniform"][1] for group in file["flow"])
    tables = _core.Scenario(text, scenario.name, [("run.duration", last_start)]).run(SEED)["tables"]
    return [
        f"links={rows(folder / 'links.csv', 'from,to,rate,delay,queue,limit', links(file, tables))}",
        f"transfers={rows(folder / 'transfers.csv', 'from,to,packets,start', transfers(tables))}",
    ]


def links(file: dict[str, Any], tables: dict[str, Any]) -> Iterable[Sequence[object]]:
    """List the links of a network with hosts h1, h2, ... in the order of ours."""
    network = file.get("flower") or file["torus"]
    for name in values(tables["links"]["link"]):
        start, end = name.split("->")
        if start.startswith("h"):
            of, queue = network["host"], network["host"].get("uplink_queue", network["host"]["queue"])
        else:
            of = network["host"] if end.startswith("h") else network["link"]
            queue = of["queue"]
        kind = "DropTail" if file["queue"][queue]["aqm"] == "drop-tail" else "RED"
        yield start, end, rate_bps(of["rate"]), of["delay"], kind, file["queue"][queue]["limit"].removesuffix("p")


def rate_bps(text: str) -> float:
    """Read a rate.

    >>> rate_bps("500kbps")
    500000.0
    """
    unit = next(unit for unit in RATES if text.endswith(unit))
    return float(text.removesuffix(unit)) * RATES[unit]


def transfers(tables: dict[str, Any]) -> Iterable[Sequence[object]]:
    """List the flows."""
    flows = tables["flows"]
    columns = (values(flows[name]).tolist() for name in ("from", "to", "size_packets", "start_s"))
    for start, end, packets, at in zip(*columns, strict=True):
        yield start, end, ENDLESS if packets <= 0 else packets, at


def rows(path: Path, header: str, lines: Iterable[Sequence[object]]) -> Path:
    """Write a list; floats keep all their digits."""
    path.write_text(f"{header}\n" + "".join(",".join(map(str, line)) + "\n" for line in lines))
    return path
