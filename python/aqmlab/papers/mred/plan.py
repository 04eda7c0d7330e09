"""Runs that the reproduction needs: the base reading in full, every other reading alone beside it, and the chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from aqmlab.papers import common
from aqmlab.papers.common import BASE, Computation, PaperFiles, Reading, Setup
from aqmlab.papers.common.open_loop import Queue
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("mred")
CASES = {"sole": "TCP alone", "mixed": "TCP and UDP"}
FLOWS = (5, 10, 20, 30, 40, 50)
DISCIPLINES = {"RED": "red", "gentle RED": "gentle-red", "MRED": "mred"}
FEW = ("RED", "MRED")
"""The disciplines that readings other than the headlines are run with."""
FIGURE_N = 40
"""The number of flows of Figures 6 and 7."""
AS_PRINTED = "Form of P = P_b / (1 - count P_b): as printed, without ns-2's wait"
"""The label of the reading that takes the paper's equation as it is printed."""
ECN = '"mark the arriving packet": it is marked (ECN), and dropped by a full buffer alone'
"""The label of the reading in which both disciplines mark."""
HEADLINES = {"as printed": AS_PRINTED, "ns-2's": BASE}
"""Readings under which every claim is judged at full effort. They differ in the spacing of drops: the paper prints
P = P_b / (1 - count P_b), and ran ns-2.31, whose RED waits longer."""
SETTINGS = "settings"
"""The case of runs with other parameters."""
OTHER_SETTINGS: dict[str, Mapping[str, Value]] = {
    "half max_p": {"queue.bottleneck.max_p": 0.05},
    "double max_p": {"queue.bottleneck.max_p": 0.2},
    "half w_q": {"queue.bottleneck.w_q": 0.001},
    "double w_q": {"queue.bottleneck.w_q": 0.004},
    "half thresholds": {"queue.bottleneck.min_th": "5p", "queue.bottleneck.max_th": "15p"},
    "double thresholds": {"queue.bottleneck.min_th": "20p", "queue.bottleneck.max_th": "60p"},
}
"""Each parameter of the queue at half and at twice its printed value."""
COARSE_SAMPLES = "100ms"
"""Interval of the queue samples where no figure needs them finer."""

SHARES = ("links", "flows")
"""Tables with totals of links and flows."""

LINK_MBPS = 10.0
PACKET_BYTES = 1040
QUEUE = Queue(
    min_th=10.0,
    max_th=30.0,
    max_p=0.1,
    limit=100.0,
    capacity=100,
    service_rate=LINK_MBPS * 1e6 / 8 / PACKET_BYTES,
    w_q=0.002,
)
"""The paper's queue in the open loop, in packets and packets per second."""


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.papers.common.Effort`.
    reading_flows
        Numbers of flows at which the other readings are run.
    averaged_loads
        Loads at which the chain of number and average is solved: about those that TCP offers.
    """

    seeds: int = 50
    reading_seeds: int = 10
    reading_flows: tuple[int, ...] = FLOWS
    averaged_loads: tuple[float, ...] = (0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
    QUICK: ClassVar = {"seeds": 8, "reading_seeds": 3, "reading_flows": (10, FIGURE_N), "averaged_loads": (1.0, 1.1)}


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    return FILES.readings(quick=effort.quick)


def setups(effort: Effort) -> list[Setup]:
    """List every scenario that is needed."""
    found = []
    for case in CASES:
        for n in FLOWS:
            found += [setup(case, n, d, seeds=effort.seeds) for d in DISCIPLINES]
        for reading in readings(effort):
            if not reading.needs_runs:
                continue
            full = reading.label in HEADLINES.values()
            seeds = effort.seeds if full else effort.reading_seeds
            for n in FLOWS if full else effort.reading_flows:
                found += [setup(case, n, d, seeds=seeds, reading=reading) for d in (DISCIPLINES if full else FEW)]
    for head in (None, *(reading for reading in readings(effort) if reading.label in HEADLINES.values())):
        found += [
            with_setting(s, d, seeds=effort.reading_seeds, reading=head) for s in OTHER_SETTINGS for d in DISCIPLINES
        ]
    return found


def with_setting(name: str, discipline: str, *, seeds: int, reading: Reading | None = None) -> Setup:
    """Make one scenario with another parameter of the queue: TCP alone, as many flows as in Figure 6."""
    own = setup("sole", FIGURE_N, discipline, seeds=seeds, reading=reading)
    overrides = {**OTHER_SETTINGS[name], "probe.queue_interval": COARSE_SAMPLES}
    return replace(own, key={**own.key, "case": SETTINGS, "setting": name}, plan=own.plan.with_overrides(overrides))


def setup(case: str, n: int, discipline: str, *, seeds: int, reading: Reading | None = None) -> Setup:
    """Make one scenario. Its samples of the average are kept for the base reading and where claim B-d needs them."""
    overrides: dict[str, Value] = {
        "flow.tcp.count": n,
        "queue.bottleneck.aqm": DISCIPLINES[discipline],
    }
    if n != FIGURE_N:
        overrides["probe.queue_interval"] = COARSE_SAMPLES
    if reading is not None:
        overrides |= reading.overrides
    return Setup(
        key={"case": case, "n": n, "discipline": discipline},
        plan=FILES.scenario(case, overrides),
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        tables=(*SHARES, "queue_samples") if reading is None or n == FIGURE_N else SHARES,
    )


def solutions(effort: Effort) -> list[Computation]:
    """List every point of the chain of number and average."""
    return [QUEUE.solution(name, load) for name in DISCIPLINES for load in effort.averaged_loads]
