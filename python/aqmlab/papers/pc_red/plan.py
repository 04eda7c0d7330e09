"""Which runs the reproduction needs: the chosen reading in full, every other reading alone beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from aqmlab.papers import common
from aqmlab.papers.common import BASE, PaperFiles, Reading, Setup
from aqmlab.papers.common.claim_reader import read_claims
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("pc-red")
CLAIMS = read_claims(FILES.toml("claims.toml"))
NETWORKS = {"network1": "Network 1", "network2": "Network 2", "admission": "admission limit"}
"""Scenario files and their names in the tables."""
FLOWS = 20
"""Flows of Network 1."""
MESH_FLOWS = 480
"""Flows of Network 2."""
QUEUE = {"network1": "bottleneck", "network2": "router", "admission": "bottleneck"}
"""The queue with PC-RED."""
NO_LIMIT = "1000000000B"
"""An L that no flow ever loses: the victims of PC-RED, but no flow is protected."""
UNPROTECTED = ("RED", "unprotected")
"""Cases in which no packet is ever protected."""
OF_PROTECTION = ("loss_", "status_", "scan")
"""Beginnings of keys that change nothing in those cases."""
BURSTS = "bursts"
"""The reading's name for the runs whose drops are examined one by one."""
BURST_CASES = ("RED", "unprotected", "PC-RED")
CHANNEL_CASES = ("PC-RED", "10 %", "30 %")
"""Cases whose drops are set beside equations (2) to (4): r_p = 5, 10 and 30 %."""
SWING_CASES = ("RED", *CHANNEL_CASES)
"""Cases whose queue's spectrum is looked at."""
CHANNELS_SINCE_S = 250.0
"""By then a_d of the high-priority flows has reached L with every w of these cases."""
BURST_S = 600.0
"""How long those runs are."""
COARSE = {"probe.queue_interval": "500ms", "probe.discipline_interval": "5s"}
"""Intervals of the samples where no figure needs them finer."""


@dataclass(frozen=True)
class Case:
    """One row of a table, or one run beside it.

    Attributes
    ----------
    network
        Its scenario file.
    title
        Its description.
    overrides
        Its overrides of that file.
    claimed
        Whether a claim about Network 1 rests on it, so that every other reading is tried on it too.
    """

    network: str
    title: str
    overrides: Mapping[str, Value] = field(default_factory=dict)
    claimed: bool = False


def _share(high: int, flows: int = FLOWS) -> dict[str, Value]:
    return {"flow.high.count": high, "flow.non.count": flows - high}


def _weight(w: float, queue: str = "bottleneck") -> dict[str, Value]:
    return {f"queue.{queue}.loss_weight": w}


CASES = {
    "RED": Case("network1", "RED", {"queue.bottleneck.aqm": "red"}, claimed=True),
    "PC-RED": Case("network1", "PC-RED, w = 3e-3", claimed=True),
    "unprotected": Case(
        "network1", "PC-RED's victims, no flow protected", {"queue.bottleneck.loss_limit": NO_LIMIT}, claimed=True
    ),
    "w = 3e-3": Case("network1", "PC-RED, w = 3e-3 (Experiment 2)", claimed=True),
    "w = 5e-3": Case("network1", "PC-RED, w = 5e-3", _weight(0.005), claimed=True),
    "w = 3e-5": Case("network1", "PC-RED, w = 3e-5", _weight(3e-5), claimed=True),
    "10 %": Case("network1", "r_p = 10 %, w = 1e-3", _share(2) | _weight(0.001), claimed=True),
    "30 %": Case("network1", "r_p = 30 %, w = 1e-3", _share(6) | _weight(0.001), claimed=True),
    "mesh, w = 5e-3": Case(
        "network2", "one high-priority flow, w = 5e-3", _share(1, MESH_FLOWS) | _weight(0.005, "router")
    ),
    "mesh, w = 3e-3": Case(
        "network2", "one high-priority flow, w = 3e-3", _share(1, MESH_FLOWS) | _weight(0.003, "router")
    ),
    "mesh, w = 3e-5": Case(
        "network2", "one high-priority flow, w = 3e-5", _share(1, MESH_FLOWS) | _weight(3e-5, "router")
    ),
    "mesh, 10 %": Case("network2", "r_p = 10 %, w = 1e-3", _share(48, MESH_FLOWS)),
    "mesh, 30 %": Case("network2", "r_p = 30 %, w = 1e-3", _share(144, MESH_FLOWS)),
    "no limit": Case("admission", "no limit", {"queue.bottleneck.r_p_max": 1.0}),
    "warn": Case("admission", "r_p_max = 0.13, warned of", {"queue.bottleneck.over_r_p_max": "warn"}),
    "refuse": Case("admission", "r_p_max = 0.13, rejected"),
}
"""All cases, by the name that tables and `values` use. "PC-RED" and "w = 3e-3" are the same runs, until a reading is
about Experiment 1 alone."""


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.papers.common.Effort`; `seeds` are those of Network 1.
    mesh_seeds
        Seeds of Network 2.
    duration_s, mesh_duration_s
        How long Network 1 and Network 2 are simulated; the paper's 3000 s in the full version.
    """

    seeds: int = 30
    reading_seeds: int = 6
    mesh_seeds: int = 10
    duration_s: float = 3000.0
    mesh_duration_s: float = 3000.0
    QUICK: ClassVar = {"seeds": 6, "reading_seeds": 2, "mesh_seeds": 3, "mesh_duration_s": 400.0}


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    return FILES.readings(quick=effort.quick)


def setups(effort: Effort) -> list[Setup]:
    """List every scenario that is needed."""
    every_drop = dict.fromkeys((*BURST_CASES, *CHANNEL_CASES))
    found = [setup(name, effort) for name in CASES] + [bursts(name, effort) for name in every_drop]
    for reading in readings(effort):
        found += [setup(name, effort, reading=reading) for name in cases_of(reading)]
    return found


def cases_of(reading: Reading) -> list[str]:
    """Cases that a reading changes: those it is about, else those of Network 1 on which a claim rests."""
    only = reading.options.get("only", [name for name, case in CASES.items() if case.claimed])
    return [name for name in only if _overrides(name, reading)]


def setup(name: str, effort: Effort, *, reading: Reading | None = None) -> Setup:
    """Make one scenario."""
    case = CASES[name]
    overrides = dict(case.overrides) if reading is None else _overrides(name, reading)
    seeds, duration = (
        (effort.seeds, effort.duration_s) if reading is None else (effort.reading_seeds, effort.duration_s)
    )
    if case.network == "network2":
        seeds, duration = min(seeds, effort.mesh_seeds), effort.mesh_duration_s
    elif reading is not None:
        overrides |= COARSE
    overrides["run.duration"] = f"{duration:g}s"
    return Setup(
        key={"network": case.network, "case": name},
        plan=FILES.scenario(case.network, overrides),
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        tables=("links", "flow_samples", "queue_samples", "discipline_samples"),
    )


def bursts(name: str, effort: Effort) -> Setup:
    """Make a scenario of which every drop is kept."""
    overrides = {**CASES[name].overrides, "probe.events": True, "run.duration": f"{min(BURST_S, effort.duration_s):g}s"}
    return Setup(
        key={"network": CASES[name].network, "case": name},
        plan=FILES.scenario(CASES[name].network, overrides),
        seeds=drop_seeds(effort) if name in CHANNEL_CASES else effort.reading_seeds,
        reading=BURSTS,
        tables=("events", "discipline_samples"),
    )


def drop_seeds(effort: Effort) -> int:
    """Return the seeds of the runs whose drops are set beside equations (2) to (4)."""
    return min(effort.seeds, 4 if effort.quick else 10)


def _overrides(name: str, reading: Reading) -> dict[str, Value]:
    """Return a case's overrides over those of a reading, so that the case keeps its subject; empty if nothing changes.

    A reading that is about some cases only goes above them.
    """
    own = dict(reading.overrides)
    if name in UNPROTECTED:
        own = {key: value for key, value in own.items() if not key.rsplit(".", 1)[-1].startswith(OF_PROTECTION)}
    if not own:
        return {}
    case = dict(CASES[name].overrides)
    return case | own if "only" in reading.options else own | case
