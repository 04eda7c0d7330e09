"""Which runs the reproduction needs: the reading that was chosen in full, every other reading and form beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aqmlab.papers import common
from aqmlab.papers.common import BASE, PaperFiles, Reading, Setup
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("ddred")
CASES = {"bus": "bus", "flower": "flower", "pair": "two flows"}
NETWORKS = ("bus", "flower")
"""The cases with transfers."""
DISCIPLINES = {"RED": "gentle-red", "DDRED": "ddred"}
METHOD_2 = "DDRED, method 2"
TAIL_DROP = "tail drop"
BESIDE: dict[str, dict[str, Value]] = {
    METHOD_2: {"queue.router.aqm": "ddred", "queue.router.distance": "fraction"},
    TAIL_DROP: {"queue.router": {"aqm": "drop-tail", "limit": "50p"}},
}
"""Disciplines beside both, with their overrides: method 2 on `NETWORKS`, tail drop where bursts are counted."""
ON_TAIL_DROP = ("DDRED on tail drop, last packet", "DDRED on tail drop, whole queue")
WITH_ECN = ("RED with ECN", "DDRED with ECN")
FORMS = (*ON_TAIL_DROP, *WITH_ECN)
"""Names of the forms among the disciplines of `NETWORKS`, beside tail drop."""
LATENCIES = (1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200)
"""Latencies of the link PCs1-R1 in Figure 13, in ms."""
TABLE_LATENCIES = (1, 20, 50, 100)
"""Latencies of Table I, in ms."""
FIGURE_LATENCY = 20
"""Latency of Figure 12, in ms."""
PAPER_RUNS = 11
"""The paper's runs Sr_1 to Sr_11; ours are the seeds 1 to 11."""
FIGURE_RUN = 6
"""Sr_6, the run of Figures 4 and 11."""
GROUPS = {"bus": ("ftp",), "flower": ("ftp",), "pair": ("PCs1", "PCs2")}
"""The groups of flows of each scenario."""


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.papers.common.Effort`; `seeds` is for the bus and the two flows.
    flower_seeds, flower_reading_seeds
        The same for the flower, whose runs take long; 0 leaves it out.
    sweep_seeds
        Seeds of every reading in the search for Table I's DDRED row.
    """

    seeds: int = 50
    reading_seeds: int = 11
    flower_seeds: int = PAPER_RUNS
    flower_reading_seeds: int = 3
    sweep_seeds: int = 12
    QUICK: ClassVar = {
        "seeds": PAPER_RUNS,
        "reading_seeds": 2,
        "flower_seeds": 4,
        "flower_reading_seeds": 0,
        "sweep_seeds": 3,
    }


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    return FILES.readings(quick=effort.quick)


def forms(effort: Effort) -> list[Reading]:
    """List the forms that the paper describes but did not run, each against its own baseline."""
    ecn, share = (
        ("form", "ECN (section IV-B): the nearest packet is marked", "", "", "DDRED with ECN against RED with ECN"),
        ("form", "Method 2 (section IV-A): the share of the route instead of the distance", "", "",
         "DDRED by share of the route against RED"),
    )  # fmt: skip
    found = [
        Reading(
            *ecn,
            {"queue.router.ecn": True},
            quick=True,
            options={"flow": {"tcp.ecn": True}, "named": dict(zip(DISCIPLINES, WITH_ECN, strict=True))},
        ),
        *map(_on_tail_drop, (1, 5, 50)),
        Reading(*share, quick=True, options={"DDRED": {"queue.router.distance": "fraction"}}),
    ]
    return [form for form in found if form.quick or not effort.quick]


def _on_tail_drop(n: int) -> Reading:
    tail = {"aqm": "drop-tail", "limit": "50p"}
    title = "Tail drop (section IV-B): the arriving packet is compared with the last N"
    name = f"N = {n}{' (the whole queue)' if n == 50 else ''} against tail drop"
    named = {1: {"DDRED": ON_TAIL_DROP[0]}, 50: {"RED": TAIL_DROP, "DDRED": ON_TAIL_DROP[1]}}.get(n, {})
    form = {**tail, "aqm": "ddred-tail", "last_n": n}
    options = {"RED": {"queue.router": tail}, "DDRED": {"queue.router": form}, "named": named}
    return Reading("form", title, "", "", name, quick=n != 5, options=options)


def cases_of(reading: Reading) -> tuple[str, ...]:
    """Return the scenarios that a reading concerns; none if it counts losses in another way and needs no runs."""
    return () if "count" in reading.options else tuple(reading.options.get("cases", CASES))


def overrides_of(reading: Reading, case: str, discipline: str) -> dict[str, Value]:
    """Return the overrides of a reading: in every scenario, for every flow, in one scenario, under one discipline."""
    found: dict[str, Value] = dict(reading.overrides)
    for group in GROUPS[case]:
        found |= {f"flow.{group}.{key}": value for key, value in reading.options.get("flow", {}).items()}
    for key in (case, discipline):
        found |= reading.options.get(key, {})
    return found


def setups(effort: Effort) -> list[Setup]:
    """List every scenario that is needed, but for those of the search for Table I."""
    found = _under(None, seeds=effort.seeds, flower_seeds=effort.flower_seeds)
    found += [setup(case, METHOD_2, seeds=_seeds(effort, case)) for case in NETWORKS if _seeds(effort, case)]
    found += [setup("pair", TAIL_DROP, seeds=effort.seeds, latency=latency) for latency in TABLE_LATENCIES]
    for reading in readings(effort):
        found += _under(reading, seeds=effort.reading_seeds, flower_seeds=effort.flower_reading_seeds)
    of_forms = effort.flower_seeds if effort.flower_reading_seeds else 0  # two claims are about them
    for form in forms(effort):
        found += _under(form, seeds=effort.reading_seeds, flower_seeds=of_forms)
    return found


def _seeds(effort: Effort, case: str) -> int:
    return effort.flower_seeds if case == "flower" else effort.seeds


def _under(reading: Reading | None, *, seeds: int, flower_seeds: int) -> list[Setup]:
    """List the scenarios of the chosen reading (None) or of another one."""
    found = []
    for case in CASES if reading is None else cases_of(reading):
        count = flower_seeds if case == "flower" else seeds
        for latency in LATENCIES if case == "pair" else (0,) if count else ():
            found += [setup(case, d, seeds=count, latency=latency, reading=reading) for d in DISCIPLINES]
    return found


def setup(case: str, discipline: str, *, seeds: int, latency: int = 0, reading: Reading | None = None) -> Setup:
    """Make one scenario; `latency` is that of the link PCs1-R1 in ms, 0 in scenarios other than the pair."""
    overrides: dict[str, Value] = dict(BESIDE.get(discipline, {}))
    if discipline in DISCIPLINES:
        overrides["queue.router.aqm"] = DISCIPLINES[discipline]
    tables = ["flows", "drop_distances"]
    if case == "pair":
        overrides["link.PCs1-R1.delay"] = f"{latency}ms"
        if latency == FIGURE_LATENCY:
            overrides["probe.flow_interval"] = "100ms"
            tables.append("flow_samples")
        if latency in TABLE_LATENCIES and reading is None:
            overrides["probe.losses"] = True
            tables.append("losses")
            if discipline == "DDRED":
                overrides["probe.packets"] = True
                tables.append("packets")
    if reading is not None:
        overrides |= overrides_of(reading, case, discipline)
    return Setup(
        key={"case": case, "latency": latency, "discipline": discipline},
        plan=FILES.scenario(case, overrides),
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        tables=tuple(tables),
    )
