"""Which runs the reproduction needs: the open loop over the loads, the same under other readings, and TCP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.papers import common
from aqmlab.papers.common import BASE, Batch, Computation, PaperFiles, Reading, Setup, batches
from aqmlab.toml_text import Value, inline

FILES = PaperFiles("exred")
TAIL, RED, GENTLE, EXRED = "drop-tail", "RED", "gentle RED", "ExRED"
SCHEMES = {TAIL: "drop-tail", RED: "red", EXRED: "exred"}
"""The schemes of the paper's figures."""
TCP_SCHEMES = {TAIL: "drop-tail", RED: "red", GENTLE: "gentle-red", EXRED: "exred"}
SERVICE_RATE = 1000.0
"""Packets per second."""
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0)
READING_LOADS = (0.8, 0.9, 1.0, 1.05, 1.1, 1.2, 1.5, 2.0)
"""Loads at which other readings are tried."""
RUN_LOADS = (0.9, 1.2, 1.5, 2.0)
"""The loads of Figure 6."""
QUEUE: dict[str, Value] = {
    "dialect": "floyd93",
    "spacing": "none",
    "in_service_counts": True,
    "limit": "100p",
    "min_th": "10p",
    "max_th": "30p",
    "max_p": 0.1,
    "w_q": 0.02,
}
"""The paper's RED and ExRED, as a queue of the scenario language."""
TAIL_LIMIT = "99p"
"""Drop-tail's limit does not count the packet in service; with it there are K = 100."""
SECONDS_AN_ARRIVAL = 8e-8


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.papers.common.Effort`.
    arrivals
        Arrivals measured in each run of the open loop, after 5 % that are not.
    tcp_flows
        Numbers of TCP flows.
    tcp_duration_s
        Length of a run with TCP, of which a fifth is left out.
    """

    seeds: int = 10
    reading_seeds: int = 5
    arrivals: int = 2_000_000
    tcp_flows: tuple[int, ...] = (2, 5, 10, 20, 40, 80)
    tcp_duration_s: float = 100.0

    @classmethod
    def of(cls, *, quick: bool, seeds: int | None = None) -> Effort:
        """Return the quick effort (15 s on two cores) or the full one."""
        if quick:
            count = seeds or 4
            return cls(count, min(count, 3), True, arrivals=200_000, tcp_flows=(5, 20, 80), tcp_duration_s=40.0)
        count = seeds or cls.seeds
        return cls(seeds=count, reading_seeds=min(count, cls.reading_seeds))


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    return FILES.readings(quick=effort.quick)


def open_loop(*, queue: str, load: float, arrivals: int, seed: int) -> dict[str, float | int | list[int]]:
    """Run one queue under Poisson arrivals and exponential service; see `aqmlab._core.open_loop`."""
    warmup = arrivals // 20
    return dict(_core.open_loop(queue, load * SERVICE_RATE, SERVICE_RATE, arrivals, warmup, seed))


def queue_of(scheme: str, reading: Reading | None = None) -> dict[str, Value]:
    """Return the ``[queue]`` table of a scheme under a reading."""
    options: Mapping[str, Any] = {} if reading is None else reading.options
    if scheme == TAIL:
        return {"aqm": "drop-tail", "limit": options.get("tail", TAIL_LIMIT)}
    aqm = TCP_SCHEMES[options.get("baseline", RED) if scheme == RED else scheme]
    return {"aqm": aqm, **QUEUE, **({} if reading is None else reading.overrides)}


def loop(scheme: str, load: float, *, seeds: int, arrivals: int, reading: Reading | None = None) -> Computation:
    """Make one point of the open loop."""
    queue = "\n".join(f"{key} = {inline(value)}" for key, value in queue_of(scheme, reading).items())
    return Computation(
        key={"scheme": scheme, "load": load},
        function=open_loop,
        arguments={"queue": queue, "load": load, "arrivals": arrivals},
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        cost=SECONDS_AN_ARRIVAL * 1.05 * arrivals,
    )


def loops(effort: Effort) -> list[Computation]:
    """List every point of the open loop: all loads, and under the other readings some of them."""
    found = [loop(s, load, seeds=effort.seeds, arrivals=effort.arrivals) for load in LOADS for s in SCHEMES]
    for reading in readings(effort):
        if not in_open_loop(reading):
            continue
        for load in READING_LOADS:
            found += [
                loop(s, load, seeds=effort.reading_seeds, arrivals=effort.arrivals, reading=reading) for s in SCHEMES
            ]
    return found


def tcp(scheme: str, n: int, effort: Effort, *, seeds: int, reading: Reading | None = None) -> Setup:
    """Make one scenario of ours under TCP."""
    queue = queue_of(scheme, reading)
    if scheme != TAIL:
        queue["mean_packet"] = "1040B"
    overrides: dict[str, Value] = {
        "flow.tcp.count": n,
        "run.duration": f"{effort.tcp_duration_s:g}s",
        "run.warmup": f"{effort.tcp_duration_s / 5:g}s",
        "queue.bottleneck": queue,
    }
    overrides |= {} if reading is None else reading.options.get("tcp", {})
    return Setup(
        key={"scheme": scheme, "n": n},
        plan=FILES.scenario("tcp", overrides),
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        tables=("links", "flows", "delay_histogram"),
    )


def tcps(effort: Effort) -> list[Setup]:
    """List every scenario under TCP."""
    found = [tcp(s, n, effort, seeds=effort.seeds) for n in effort.tcp_flows for s in TCP_SCHEMES]
    for reading in readings(effort):
        if not under_tcp(reading):
            continue
        for n in effort.tcp_flows:
            found += [tcp(s, n, effort, seeds=effort.reading_seeds, reading=reading) for s in TCP_SCHEMES]
    return found


def in_open_loop(reading: Reading) -> bool:
    """Whether a reading changes the open loop."""
    return reading.needs_runs or "baseline" in reading.options


def under_tcp(reading: Reading) -> bool:
    """Whether a reading is tried under TCP: how drops are spread, and which TCP."""
    return reading.key in ("count", "flavour")


def jobs(effort: Effort, root: Path) -> list[Batch]:
    """List every run that is needed."""
    return batches([*loops(effort), *tcps(effort)], root)
