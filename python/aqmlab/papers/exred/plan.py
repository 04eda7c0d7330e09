"""Runs that the reproduction needs: the open loop over the loads, its chain, the same under other readings, and TCP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from aqmlab.papers import common
from aqmlab.papers.common import BASE, Computation, PaperFiles, Reading, Setup
from aqmlab.papers.common.open_loop import SECONDS_AN_ARRIVAL, Queue, open_loop
from aqmlab.papers.exred.measure import WINDOWS
from aqmlab.scenario.toml_text import Value, entries
from aqmlab.theory.queueing.best_curve import SHAPES
from aqmlab.theory.queueing.frontier import Setting, best_settings

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
UNDER_TCP = ("count", "flavour")
"""Keys of the readings that are tried under TCP: how drops are spread, and which TCP."""
RUN_LOADS = (0.9, 1.2, 1.5, 2.0)
"""The loads of Figure 6."""
CURVE = {"min_th": 10.0, "max_th": 30.0, "max_p": 0.1, "limit": 100.0}
"""k_l, k_h, max_p and K, in packets."""
CAPACITY = 100
"""K: packets in the system, the one in service included."""
WEIGHT = 0.02
"""w, the weight of the average."""
QUEUE: dict[str, Value] = {
    "dialect": "floyd93",
    "spacing": "none",
    "in_service_counts": True,
    "limit": f"{CAPACITY}p",
    "min_th": f"{CURVE['min_th']:g}p",
    "max_th": f"{CURVE['max_th']:g}p",
    "max_p": CURVE["max_p"],
    "w_q": WEIGHT,
}
"""The paper's RED and ExRED, as a queue of the scenario language."""
LOOP = Queue(**CURVE, capacity=CAPACITY, service_rate=SERVICE_RATE, w_q=WEIGHT)
"""The same in the open loop."""
TAIL_LIMIT = "99p"
"""Drop-tail's limit does not count the packet in service; with it there are K = 100."""
AVERAGED_LOADS = tuple(sorted({*LOADS, 0.85, 0.95, 1.15, 1.25}))
"""Loads at which the chain of number and average is solved: those of the figures, and more for the map of the best."""
QUICK_AVERAGED = (0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0)
"""Loads of the quick version."""

RTTS_MS = (50, 200, 500)
"""Round-trip times without queueing of the claim about retransmissions, in ms; the first is that of tcp.toml."""
SAMPLED_FLOWS = (5, 20, 80)
"""Numbers of TCP flows whose congestion windows are sampled."""
SAMPLES = "100ms"
"""Interval of these samples."""
HIGH_LOADS = (1.0, 1.1, 1.2, 1.5, 2.0)
"""Loads at which RED's drops are counted by their reason, in the scenario of the open loop."""
RTT_FLOWS = 20
"""The number of TCP flows there."""
OTHER_HOPS_MS = 5
"""One-way delay of the links around the bottleneck."""

DELAYS = (3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0)
"""Mean times in system, in service times, near which each shape's best parameters are looked for."""
CONFIRMED = (
    (0.9, 1e-3), (0.9, 3e-2), (1.0, 1e-4), (1.0, 3e-2), (1.1, 1e-5), (1.1, 1e-2), (1.2, 1e-5), (1.2, 1e-3), (1.5, 3e-2),
    (2.0, 3e-2),
)  # fmt: skip
"""Loads and prices at which the map of the best curve is compared with the simulation."""


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.papers.common.Effort`.
    arrivals
        Arrivals measured in each run of the open loop, after 5 % that are not.
    averaged_loads
        Loads at which the chain of number and average is solved.
    frontier_loads
        Loads at which the best parameters of each shape are looked for.
    averaged_scales
        Factors on the thresholds with which the chain of number and average is solved at those loads.
    tcp_flows
        Numbers of TCP flows.
    tcp_duration_s
        Length of a run with TCP, of which a fifth is left out.
    """

    seeds: int = 10
    reading_seeds: int = 5
    arrivals: int = 2_000_000
    averaged_loads: tuple[float, ...] = AVERAGED_LOADS
    frontier_loads: tuple[float, ...] = (0.9, 1.0, 1.2)
    averaged_scales: tuple[float, ...] = (0.4, 0.6, 0.8, 1.0, 1.4, 2.0)
    tcp_flows: tuple[int, ...] = (2, 5, 10, 20, 40, 80)
    tcp_duration_s: float = 100.0
    QUICK: ClassVar = {
        "seeds": 4,
        "reading_seeds": 3,
        "arrivals": 200_000,
        "averaged_loads": QUICK_AVERAGED,
        "frontier_loads": (1.0,),
        "averaged_scales": (0.4, 0.7, 1.0),
        "tcp_flows": (5, 20, 80),
        "tcp_duration_s": 40.0,
    }


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    return FILES.readings(quick=effort.quick)


def queue_of(scheme: str, reading: Reading | None = None) -> dict[str, Value]:
    """Return the ``[queue]`` table of a scheme under a reading."""
    options: Mapping[str, Any] = {} if reading is None else reading.options
    if scheme == TAIL:
        return {"aqm": "drop-tail", "limit": options.get("tail", TAIL_LIMIT)}
    aqm = SHAPES[options.get("baseline", RED) if scheme == RED else scheme]
    return {"aqm": aqm, **QUEUE, **({} if reading is None else reading.overrides)}


def loop(scheme: str, load: float, *, seeds: int, arrivals: int, reading: Reading | None = None) -> Computation:
    """Make one point of the open loop."""
    queue = "\n".join(entries(queue_of(scheme, reading)))
    return Computation(
        key={"scheme": scheme, "load": load},
        name="open loop",
        function=open_loop,
        arguments={"queue": queue, "load": load, "service_rate": SERVICE_RATE, "arrivals": arrivals},
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        cost=SECONDS_AN_ARRIVAL * 1.05 * arrivals,
    )


def loops(effort: Effort) -> list[Computation]:
    """List every point of the open loop: all loads, other curves and readings at some of them."""
    found = [loop(s, load, seeds=effort.seeds, arrivals=effort.arrivals) for load in LOADS for s in SCHEMES]
    others = [name for name in SHAPES if name not in SCHEMES]
    for load in sorted({load for load, _ in CONFIRMED}):
        found += [loop(s, load, seeds=effort.seeds, arrivals=effort.arrivals) for s in others]
    for reading in readings(effort):
        if not reading.needs_runs and "baseline" not in reading.options:
            continue
        for load in READING_LOADS:
            found += [
                loop(s, load, seeds=effort.reading_seeds, arrivals=effort.arrivals, reading=reading) for s in SCHEMES
            ]
    return found


def solutions(effort: Effort) -> list[Computation]:
    """List every point of the chain of number and average, of all curves: the best of them is asked for too."""
    return [LOOP.solution(scheme, load) for load in effort.averaged_loads for scheme in SHAPES if scheme != TAIL]


def scaled_solutions(effort: Effort) -> list[Computation]:
    """List the points of that chain with both thresholds multiplied."""
    return [
        LOOP.solution(scheme, load, scale)
        for load in effort.frontier_loads
        for scheme in SHAPES
        if scheme != TAIL
        for scale in effort.averaged_scales
        if fits(scheme, scale)
    ]


def fits(scheme: str, scale: float) -> bool:
    """Whether a curve allows its thresholds to be multiplied so."""
    return Setting(scheme, CURVE["min_th"] * scale, CURVE["max_th"] * scale, CURVE["max_p"]).fits(CAPACITY)


def frontiers(effort: Effort) -> list[Computation]:
    """List the searches for each shape's best parameters."""
    return [
        Computation(
            key={"shape": shape, "load": load},
            name="best settings",
            function=best_settings,
            arguments={"shape": shape, "load": load, "capacity": CAPACITY, "delays": list(DELAYS)},
            by_chance=False,
        )
        for load in effort.frontier_loads
        for shape in SHAPES
        if shape != TAIL
    ]


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


def tcp_at(scheme: str, rtt_ms: int, effort: Effort) -> Setup:
    """Make one scenario under TCP with another round-trip time."""
    own = tcp(scheme, RTT_FLOWS, effort, seeds=effort.seeds)
    overrides: dict[str, Value] = {"dumbbell.bottleneck.delay": f"{rtt_ms / 2 - OTHER_HOPS_MS:g}ms"}
    return replace(own, key={**own.key, "rtt": rtt_ms}, plan=own.plan.with_overrides(overrides))


def with_windows(setup: Setup) -> Setup:
    """Return a scenario under TCP with samples of the congestion windows."""
    return replace(
        setup, plan=setup.plan.with_overrides({"probe.cwnd_interval": SAMPLES}), tables=(*(setup.tables or ()), WINDOWS)
    )


def offered(load: float, effort: Effort) -> Setup:
    """Make one scenario of the open loop under RED, whose links count drops by their reason."""
    seconds = effort.tcp_duration_s
    overrides: dict[str, Value] = {
        "flow.udp.rate": f"{8 * load:g}Mbps",
        "run.duration": f"{2 * seconds:g}s",
        "run.warmup": f"{seconds / 10:g}s",
        "queue.bottleneck.aqm": "red",
    }
    return Setup(
        key={"scheme": RED, "load": load, "n": 0},
        plan=FILES.scenario("open-loop", overrides),
        seeds=effort.seeds,
        tables=("links", "flows", "delay_histogram"),
    )


def tcps(effort: Effort) -> list[Setup]:
    """List every scenario: those under TCP, and those of the open loop that count drops by their reason."""
    found = [tcp_at(scheme, rtt_ms, effort) for rtt_ms in RTTS_MS for scheme in (RED, GENTLE, EXRED)]
    for n in effort.tcp_flows:
        base = [tcp(s, n, effort, seeds=effort.seeds) for s in TCP_SCHEMES]
        found += [with_windows(one) for one in base] if n in SAMPLED_FLOWS else base
    found += [offered(load, effort) for load in HIGH_LOADS]
    for reading in readings(effort):
        if reading.key not in UNDER_TCP:
            continue
        for n in effort.tcp_flows:
            found += [tcp(s, n, effort, seeds=effort.reading_seeds, reading=reading) for s in TCP_SCHEMES]
    return found


def others(effort: Effort) -> list[Computation]:
    """List the computations: solved chains, scaled chains, frontiers and open loops."""
    return [*solutions(effort), *scaled_solutions(effort), *frontiers(effort), *loops(effort)]
