"""Gain of pairing by seed: real runs of DDRED's bus, ExRED's open loop, and greedy TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from aqmlab import _core, compare
from aqmlab.papers.ddred.measure import transfer_times
from aqmlab.papers.ddred.plan import DISCIPLINES
from aqmlab.papers.ddred.plan import FILES as DDRED
from aqmlab.papers.exred.plan import queue_of
from aqmlab.runs.comparison import Comparison
from aqmlab.runs.jobs import jobs_for
from aqmlab.runs.scheduler import execute
from aqmlab.scenario.toml_text import inline
from aqmlab.statistics import compare_means, welch
from aqmlab.statistics.compared import Compared

Numbers = dict[str, float]
BUS_SEEDS = 60
LOOP_SEEDS = 300
LOOP_ARRIVALS = 20_000
LOADS = (0.9, 1.0, 1.2, 1.5, 2.0)
TCP_SEEDS = 60
HALF = 0.5
QUANTITIES = {
    "p_drop": "P_drop",
    "throughput": "throughput",
    "mean_number_seen": "E(Q) as seen",
    "mean_wait_s": "delay",
    "mean_run": "E(N)",
}
"""Columns of an open loop's numbers that ExRED's figures show, and their titles."""
SCHEMES = (("drop-tail", "RED"), ("RED", "ExRED"))


@dataclass(frozen=True)
class Gained:
    """Gain of pairing for one quantity.

    Attributes
    ----------
    where, quantity
        Of which experiment.
    compared
        The comparison on the same seeds.
    apart
        Half the width of the interval of the difference where the second discipline has other seeds, over that on the
        same seeds, both from real runs.
    """

    where: str
    quantity: str
    compared: Compared
    apart: float

    @property
    def halved(self) -> bool:
        """Whether pairing needs at most half the runs."""
        return self.compared.pairing.runs_share <= HALF


def bus() -> list[Gained]:
    """Return the gains on DDRED's bus: RED and DDRED, the paper's L, S and T and quantities derived from them."""
    runs = {name: _bus_runs(aqm) for name, aqm in DISCIPLINES.items()}
    return gains("DDRED's bus, RED and DDRED", runs["RED"], runs["DDRED"], BUS_SEEDS)


def _bus_runs(aqm: str) -> list[Numbers]:
    """Twice as many seeds as are compared: the second half for runs that are independent of the first."""
    plan = DDRED.scenario("bus", {"queue.router.aqm": aqm})
    jobs = jobs_for(plan, range(1, 2 * BUS_SEEDS + 1), folder=None, tables=("flows", "drop_distances"))
    outputs = execute(jobs, progress=False)
    return [
        _bus_numbers(output.tables["flows"].to_pandas(), output.tables["drop_distances"].to_pandas())
        for output in outputs
    ]


def _bus_numbers(flows: Any, drops: Any) -> Numbers:
    lost, weighted = float(drops["data_drops"].sum()), float((drops["distance"] * drops["data_drops"]).sum())
    times = transfer_times(flows)
    return {
        "L, packets lost": lost,
        "S, losses by distance": weighted,
        "S/L, mean distance": weighted / lost,
        "T, sum of transfer times": float(np.nansum(times)),
        "median transfer time": float(np.nanmedian(times)),
        "time-outs": float(flows["timeouts"].sum()),
    }


def open_loop(workers: int) -> list[Gained]:
    """ExRED's open loop at several loads: drop-tail against RED, RED against ExRED."""
    names = list(dict.fromkeys(name for pair in SCHEMES for name in pair))
    seeds = range(1, 2 * LOOP_SEEDS + 1)
    found = []
    with ProcessPoolExecutor(workers) as pool:
        for load in LOADS:
            runs = {name: list(pool.map(partial(loop_numbers, name, load), seeds, chunksize=50)) for name in names}
            for first, second in SCHEMES:
                where = f"open loop, load {load:g}, {first} and {second}"
                found += gains(where, runs[first], runs[second], LOOP_SEEDS)
    return found


def loop_numbers(scheme: str, load: float, seed: int) -> Numbers:
    queue = "\n".join(f"{key} = {inline(value)}" for key, value in queue_of(scheme).items())
    found = _core.open_loop(queue, 1000 * load, 1000.0, LOOP_ARRIVALS, LOOP_ARRIVALS // 20, seed)
    return {title: float(np.asarray(found[key])) for key, title in QUANTITIES.items()}


def gains(where: str, first: list[Numbers], second: list[Numbers], seeds: int) -> list[Gained]:
    """Compare on the first half of the seeds, and against the second discipline's other half."""
    found = []
    for quantity in first[0]:
        a, b, others = (
            np.array([run[quantity] for run in runs])
            for runs in (first[:seeds], second[:seeds], second[seeds : 2 * seeds])
        )
        if np.isnan(np.concatenate([a, b, others])).any() or min(np.ptp(a), np.ptp(b)) == 0:
            continue
        compared = compare_means(b, a)
        apart = welch(others, a).interval.half_width / compared.difference.interval.half_width
        found.append(Gained(where, quantity, compared, apart))
    return found


def greedy_tcp() -> Comparison:
    """MRED's network with twenty greedy flows: RED and MRED, by the command itself."""
    return compare(
        "paper:mred/sole.toml",
        aqm=["red", "mred"],
        seeds=TCP_SEEDS,
        overrides={"run.duration": "30s", "run.warmup": "10s"},
        progress=False,
    )


def said_by_the_tool() -> Mapping[str, Comparison]:
    """Finite transfers and the open loop as scenarios, by the command itself."""
    makers: dict[str, Callable[[], Comparison]] = {
        "finite transfers, `examples/bus.toml`": partial(
            compare, "examples/bus.toml", aqm=["gentle-red", "ddred"], queue="router", link="r3->r4", seeds=40,
            progress=False,
        ),
        "open loop, `paper:exred/open-loop.toml`": partial(
            compare, "paper:exred/open-loop.toml", aqm=["red", "exred"], seeds=40,
            overrides={"run.duration": "30s", "run.warmup": "3s"}, progress=False,
        ),
        "greedy TCP, `paper:mred/sole.toml`": greedy_tcp,
    }  # fmt: skip
    return {name: make() for name, make in makers.items()}
