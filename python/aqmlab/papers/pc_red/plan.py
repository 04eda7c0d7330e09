"""Which runs the reproduction needs: the chosen reading in full, every other reading alone beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from aqmlab.papers import common
from aqmlab.papers.common import BASE, PaperFiles, Reading, Setup
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("pc-red")
FLOWS = 20
"""Flows of Network 1."""
MESH_FLOWS = 480
"""Flows of Network 2."""
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
"""Cases whose queue's spectrum is examined."""
CHANNELS_SINCE_S = 250.0
"""By then a_d of the high-priority flows has reached L with every w of these cases."""
BURST_S = 600.0
"""Duration of those runs."""
NEW_S = 100.0
"""When a flow is taken to be new to the router in a list that is kept again over the drops of an unprotected run."""
SEPARATE = ("separate, RED", "separate, tail drop")
"""Cases with a buffer for each class."""
HALF_RED: dict[str, Value] = {
    "aqm": "red", "dialect": "ns2-2.35", "mode": "packets", "limit": "25p", "min_th": "5p", "max_th": "17.5p",
    "max_p": 0.1, "w_q": 0.004, "mean_packet": "500B",
}  # fmt: skip
"""RED in a buffer of 25 packets, with half of the printed thresholds."""
COARSE = {"probe.queue_interval": "500ms", "probe.discipline_interval": "5s"}
"""Intervals of the samples where no figure needs them finer."""


@dataclass(frozen=True)
class Case:
    """A row of a table, or a run beside it: its scenario file, title on the page, overrides, and words in claims."""

    network: str
    title: str
    overrides: Mapping[str, Value] = field(default_factory=dict)
    words: str = ""
    alone: bool = False
    """Whether it is run under the chosen readings only."""


def _share(high: int, flows: int = FLOWS) -> dict[str, Value]:
    return {"flow.high.count": high, "flow.non.count": flows - high}


def _weight(w: float, queue: str = "bottleneck") -> dict[str, Value]:
    return {f"queue.{queue}.loss_weight": w}


def _large(high: int) -> Case:
    share = f"{100 * high // FLOWS} %"
    overrides = _share(high) | _weight(0.1)
    return Case("network1", f"r_p = {share}, w = 0.1", overrides, f"{share} high-priority flows, w = 0.1", alone=True)


def _separate(inside: str, queue: Value) -> Case:
    """Return a case with a buffer of 25 packets for each class, and a quarter of the link for the two flows."""
    classes: list[Value] = [
        {"name": "high", "dscp": "EF", "weight": 1, "queue": "part"},
        {"name": "non", "default": True, "weight": 3, "queue": "part"},
    ]
    overrides: dict[str, Value] = {"queue.bottleneck": {"aqm": "wfq", "class": classes}, "queue.part": queue}
    title = f"r_p = 10 %, separate buffers with {inside}"
    return Case("network1", title, _share(2) | overrides | {"flow.high.dscp": "EF"}, title, alone=True)


def _mesh(title: str, overrides: Mapping[str, Value], words: str) -> Case:
    return Case("network2", title, overrides, f"{words} in Network 2")


def _mesh_weight(w: str) -> Case:
    overrides = _share(1, MESH_FLOWS) | _weight(float(w), "router")
    return _mesh(f"one high-priority flow, w = {w}", overrides, f"w = {w}")


CASES = {
    "RED": Case("network1", "RED", {"queue.bottleneck.aqm": "red"}),
    "PC-RED": Case("network1", "PC-RED, w = 3e-3"),
    "unprotected": Case(
        "network1", "PC-RED's victims, no flow protected", {"queue.bottleneck.loss_limit": NO_LIMIT},
        "PC-RED's victims without protection",
    ),
    "w = 3e-3": Case("network1", "PC-RED, w = 3e-3 (Experiment 2)"),
    "w = 5e-3": Case("network1", "PC-RED, w = 5e-3", _weight(0.005)),
    "w = 3e-5": Case("network1", "PC-RED, w = 3e-5", _weight(3e-5)),
    "10 %": Case("network1", "r_p = 10 %, w = 1e-3", _share(2) | _weight(0.001), "10 % high-priority flows"),
    "30 %": Case("network1", "r_p = 30 %, w = 1e-3", _share(6) | _weight(0.001), "30 % high-priority flows"),
    "10 %, w = 0.1": _large(2),
    "30 %, w = 0.1": _large(6),
    "separate, RED": _separate("RED", HALF_RED),
    "separate, tail drop": _separate("tail drop", {"aqm": "drop-tail", "limit": "25p"}),
    "decision time": Case(
        "network1", "RED, 0.8 ms a decision",
        {"queue.bottleneck.aqm": "red", "dumbbell.bottleneck": {
            "rate": "500kbps", "delay": "100ms", "queue": "bottleneck", "reverse_queue": "access", "overhead": 50,
        }},
        "RED with 0.8 ms a decision", alone=True,
    ),
    "mesh, w = 5e-3": _mesh_weight("5e-3"),
    "mesh, w = 3e-3": _mesh_weight("3e-3"),
    "mesh, w = 3e-5": _mesh_weight("3e-5"),
    "mesh, 10 %": _mesh("r_p = 10 %, w = 1e-3", _share(48, MESH_FLOWS), "10 %"),
    "mesh, 30 %": _mesh("r_p = 30 %, w = 1e-3", _share(144, MESH_FLOWS), "30 %"),
    "no limit": Case("admission", "no limit", {"queue.bottleneck.r_p_max": 1.0}, "no admission limit"),
    "warn": Case(
        "admission", "r_p_max = 0.13, warned of", {"queue.bottleneck.over_r_p_max": "warn"}, "a limit that warns"
    ),
    "refuse": Case("admission", "r_p_max = 0.13, rejected", words="a limit that rejects"),
    "one path": Case(
        "redirect", "two paths, no limit", {"queue.bottleneck.r_p_max": 1.0}, "two paths without a limit"
    ),
    "redirect": Case("redirect", "r_p_max = 0.13, second path", words="a limit that redirects"),
}  # fmt: skip
"""All cases by name. "PC-RED" and "w = 3e-3" are the same runs, until a reading is about Experiment 1 alone."""


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run: seeds and durations of Network 1 and (``mesh_``) of Network 2; the paper has 3000 s."""

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
    """Cases that a reading changes: those it is about, else those of Network 1."""
    everywhere = [name for name, case in CASES.items() if case.network == "network1" and not case.alone]
    only = reading.options.get("only", everywhere)
    return [name for name in only if _overrides(name, reading)]


def setup(name: str, effort: Effort, *, reading: Reading | None = None) -> Setup:
    """Make one scenario."""
    case = CASES[name]
    overrides = dict(case.overrides) if reading is None else _overrides(name, reading)
    seeds, duration = effort.seeds if reading is None else effort.reading_seeds, effort.duration_s
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
        seeds=effort.reading_seeds if name == "RED" else min(effort.seeds, 4 if effort.quick else 10),
        reading=BURSTS,
        tables=("events", "discipline_samples"),
    )


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
