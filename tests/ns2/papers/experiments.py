"""The papers' experiments with plain RED: one seed on both sides, on the same lists."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from papers.networks import bus, flower, is_uplink, routes
from papers.runs import Numbers, Tables, ns2, write_rows

THROUGHPUT = TIME = 0.03
QUEUE = LOSS = 0.05


@dataclass(frozen=True)
class Experiment:
    """An experiment: `run` returns our numbers and ns-2's for one point and seed.

    `bounds` has the largest allowed difference of each quantity; None: reported, not tested.
    """

    name: str
    points: tuple[str, ...]
    seeds: int
    paired: bool
    bounds: Mapping[str, float | None]
    run: Callable[[str, int], tuple[Numbers, Numbers]]


def pair(latency: str, seed: int, rate: str = "10") -> tuple[Numbers, Numbers]:
    """DDRED's two flows; KB/s that arrive in 10 s. `rate` (Mb/s) of all links but the last."""
    rates = [(f"link.{link}.rate", f"{rate}Mbps") for link in ("PCs1-R1", "PCs2->R2", "R1->R2")]
    tables = Tables("pair.toml", seed, [("link.PCs1-R1.delay", latency), *rates])
    flows = zip(tables.words("flows", "group"), tables.numbers("flows", "arrived_bytes"), strict=True)
    ours = {f"{name}_KBps": float(arrived) / 10 / 1000 for name, arrived in flows}
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        theirs = ns2("pair.tcl", seed=seed, latency=latency, rate=f"{rate}Mb", starts=_starts(tables, Path(folder)))
    return {**ours, "loss": tables.link("last")["loss"]}, theirs


def single(_: str, seed: int) -> tuple[Numbers, Numbers]:
    """PC-RED's bottleneck: RED's average, and the flows' arrivals in bins of 10 s."""
    tables = Tables("single.toml", seed)
    averages = tables.numbers("queue_samples", "average")[tables.numbers("queue_samples", "t_s") >= 100.0]
    flows = len(tables.words("flows", "flow"))
    times = tables.numbers("flow_samples", "t_s").reshape(flows, -1)[0]
    arrived = tables.numbers("flow_samples", "arrived_bytes").reshape(flows, -1)[:, times >= 100.0]
    bins = np.diff(arrived, axis=1) / 10 / 1000
    ours = {
        **tables.link("bottleneck"),
        "mean_average": float(averages.mean()),
        "sd_average": float(averages.std()),
        "greatest_KBps": float(bins.max(axis=1).mean()),
    }
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        return ours, ns2("single.tcl", seed=seed, starts=_starts(tables, Path(folder)))


def utilization(max_th: str, seed: int) -> tuple[Numbers, Numbers]:
    """Adaptive-RIO's ten flows over RED with min_th a third of max_th."""
    thresholds = [("queue.red.max_th", f"{max_th}p"), ("queue.red.min_th", f"{float(max_th) / 3!r}p")]
    tables = Tables("utilization.toml", seed, thresholds)
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        starts = _starts(tables, Path(folder))
        return tables.link("core"), ns2("utilization.tcl", seed=seed, max_th=max_th, starts=starts)


def transfers(kind: str, seed: int) -> tuple[Numbers, Numbers]:
    """DDRED's bus or flower: losses L in routers, L weighted by distance S, sum T of the transfers' times."""
    tables = Tables(f"{kind}.toml", seed)
    distances, drops = tables.numbers("drop_distances", "distance"), tables.numbers("drop_distances", "drops")
    finish = tables.numbers("flows", "finish_s")
    if np.isnan(finish).any():
        raise RuntimeError(f"{kind}, seed {seed}: unfinished transfers in our run")
    ours = {
        "L": float(drops[distances > 0].sum()),
        "S": float((distances * drops).sum()),
        "T": float((finish - tables.numbers("flows", "start_s")).sum()),
    }
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        printed = ns2("transfers.tcl", seed=seed, **_network(kind, tables, Path(folder)))
    if printed["unfinished"]:
        raise RuntimeError(f"{kind}, seed {seed}: unfinished transfers in ns-2")
    lost = {int(name.split(".")[1]): n for name, n in printed.items() if name.startswith("lost.")}
    theirs = {
        "L": sum(n for d, n in lost.items() if d > 0),
        "S": sum(d * n for d, n in lost.items()),
        "T": printed["transfer_s"],
    }
    return ours, theirs


def _starts(tables: Tables, folder: Path) -> Path:
    return write_rows(folder / "starts.csv", "start", ([t] for t in tables.numbers("flows", "start_s").tolist()))


def _network(kind: str, tables: Tables, folder: Path) -> dict[str, object]:
    """The files of transfers.tcl. The links are those of `papers.networks`, in the order of ours."""
    links = [(a, b) for a, _, b in (name.partition("->") for name in tables.words("links", "link"))]
    if set(links) != set({"bus": bus(8), "flower": flower(5, 8)}[kind]):
        raise RuntimeError(f"{kind}: our links are not those of the recipe")
    numbers = (tables.numbers("flows", name).tolist() for name in ("size_packets", "start_s"))
    rows = zip(tables.words("flows", "from"), tables.words("flows", "to"), *numbers, strict=True)
    queues = ((a, b, "DropTail" if is_uplink((a, b)) else "RED") for a, b in links)
    return {
        "links": write_rows(folder / "links.csv", "from,to,queue", queues),
        "routes": write_rows(folder / "routes.csv", "at,to,next", routes(links)),
        "transfers": write_rows(folder / "transfers.csv", "from,to,packets,start", rows),
        "drops": folder / "drops",
    }


LINK = {"throughput_bps": THROUGHPUT, "loss": LOSS, "mean_queue": QUEUE}
LATENCIES = ("1ms", "20ms", "50ms", "100ms")
PAIR = {"far_KBps": THROUGHPUT, "near_KBps": THROUGHPUT}
TRANSFERS = {"L": LOSS, "S": LOSS, "T": TIME}
EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("DDRED flower", ("flower",), 6, True, TRANSFERS, transfers),
        Experiment("DDRED bus", ("bus",), 48, True, TRANSFERS, transfers),
        Experiment(
            "PC-RED Table I",
            ("",),
            16,
            True,
            {**LINK, "mean_average": QUEUE, "sd_average": QUEUE, "greatest_KBps": THROUGHPUT},
            single,
        ),
        Experiment(
            "Adaptive-RIO Figure 2", ("3", "9", "15", "30", "45", "60", "90", "120"), 24, True, LINK, utilization
        ),
        Experiment("DDRED Table I", LATENCIES, 400, True, {**PAIR, "loss": None}, pair),
        Experiment(
            "DDRED Table I, last link slower", LATENCIES, 1000, True, {**PAIR, "loss": LOSS}, partial(pair, rate="10.1")
        ),
    )
}
