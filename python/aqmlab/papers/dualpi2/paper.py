"""The paper: its runs, their numbers, its claims and its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np

from aqmlab.papers import common
from aqmlab.papers.common import Claims, Paper, PaperFiles, Quantity, Runs, Setup, Study, Tests, literal, strict
from aqmlab.papers.common.recorded import samples, table_of
from aqmlab.results.quantities import ratio
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("dualpi2")
Changes = dict[str, Value]
LOADS: dict[str, Changes] = {f"{n} flows": {"flow.classic.count": n} for n in (5, 10, 20, 40)}
ALL = tuple(LOADS)
LIGHT, HEAVY = ALL[0], ALL[-1]
STEP: Changes = {"flow.classic.count": 10, "flow.later.start": {"uniform": ["50s", "50.1s"]}}
FALL: Changes = {
    "dumbbell.bottleneck.rate": "100Mbps",
    "flow.classic.count": 20,
    "change": [{"at": "50s", "link": "bottleneck", "rate": "20Mbps"}],
}
CHANGES = {"10 to 50 flows": STEP, "100 to 20 Mb/s": FALL}
NETWORKS: dict[str, Changes] = {
    f"{mbps} Mb/s, {ms} ms": {
        "dumbbell.bottleneck.rate": f"{mbps}Mbps",
        "dumbbell.bottleneck.delay": f"{ms // 2 - 2}ms",
        "dumbbell.left.delay": "1ms",
        "dumbbell.right.delay": "1ms",
        "flow.classic.count": 2,
        "flow.classic.tcp.congestion_control": "cubic",
        "flow.scalable.start": {"uniform": ["0s", "1s"]},
        "probe.flow_delay": True,
    }
    for mbps, ms in ((40, 10), (10, 80), (40, 80), (100, 20))
}
GROUPS = ("classic", "scalable")
TRAFFIC = {**LOADS, **CHANGES, **NETWORKS}
PIE: dict[str, Value] = {"aqm": "pie", "limit": "40000p", "target": "20ms", "t_update": "32ms", "ecn": True}
QUEUES: dict[str, dict[str, Value]] = {
    "PI2": {"aqm": "pi2", "limit": "40000p", "ecn": True},
    "PIE": {**PIE, "auto_tune": "three-ranges"},
    "PIE of RFC 8033": PIE,
    "PI": {**PIE, "auto_tune": "off"},
    "DualPI2": {"aqm": "dualpi2", "limit": "40000p"},
}
"""The compared disciplines; PI is PIE with fixed gains."""
COMMON = ("PI2", "PIE", "PIE of RFC 8033", "PI")
ONLY = dict.fromkeys(NETWORKS, ("PI2", "PIE", "DualPI2"))


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run."""

    seeds: int = 30
    reading_seeds: int = 10
    QUICK: ClassVar = {"seeds": 4, "reading_seeds": 3}


def setups(effort: Effort) -> list[Setup]:
    """List the scenarios: all points under the chosen readings, and the loads under every other reading."""
    others = [(one.label, one.overrides, effort.reading_seeds) for one in FILES.readings(quick=effort.quick)]
    return [
        Setup(
            key={"traffic": traffic, "discipline": discipline},
            plan=FILES.scenario("dualpi2", {**reading, **own, "queue.bottleneck": QUEUES[discipline]}),
            seeds=seeds,
            reading=label,
            tables=("links", "flows", "flow_delays") if traffic in NETWORKS else ("links", "queue_samples"),
        )
        for label, reading, seeds in [(common.BASE, {}, effort.seeds), *others]
        for traffic, own in (LOADS if reading else TRAFFIC).items()
        for discipline in ONLY.get(traffic, COMMON)
    ]


def measure(setup: Setup, folder: Path) -> dict[str, float]:
    """Read the numbers of one run."""
    traffic = str(setup.key["traffic"])
    if traffic in NETWORKS:
        flows = table_of(folder, "flows").groupby("group")[["goodput_bps", "drops"]].sum()
        delays = table_of(folder, "flow_delays").groupby("group")["mean_s"].mean()
        rates, waits = flows["goodput_bps"], {f"wait_{name}": 1e3 * delays[name] - path_ms(traffic) for name in GROUPS}
        return {"rates": ratio(rates["scalable"], rates["classic"]), "lost": flows["drops"]["scalable"], **waits}
    links = table_of(folder, "links")
    (link,) = links[links["link"] == "bottleneck"].to_dict("records")
    t_s, waiting = samples(folder, "queue_samples", "queue_bytes", "bottleneck")
    if traffic in CHANGES:
        return {"unsettled": unsettled(t_s, waiting * 8e-3 / (10 if CHANGES[traffic] is STEP else 20))}
    sd = np.std(waiting[t_s >= setup.plan.warmup_s]) / link["capacity_bps"] * 8e3
    root = np.sqrt(ratio(link["drops"], link["arrivals"]))
    return {"delay": 1e3 * link["mean_delay_s"], "sd": float(sd), "root": float(root)}


def path_ms(network: str) -> float:
    """Return the one-way delay of a packet of 1514 bytes that never waits; it is sent by three links.

    >>> round(path_ms("40 Mb/s, 10 ms"), 4)
    5.327
    """
    mbps, _, ms, _ = network.split()
    return float(ms) / 2 + 1514 * 8e-3 * (1 / float(mbps) + 2 / 1000)


def unsettled(t_s: np.ndarray, delay_ms: np.ndarray) -> float:
    """Return the mean distance of the delay from 20 ms in the 5 s after a change at 50 s.

    >>> unsettled(np.array([49, 50, 54.9, 55]), np.array([0, 40, 15, 0]))
    12.5
    """
    return float(np.mean(np.abs(delay_ms[(t_s >= 50) & (t_s < 55)] - 20)))


CLAIMS = Claims(
    columns={"traffic": common.Column(values=tuple(TRAFFIC)), "discipline": common.Column(values=tuple(QUEUES))},
    quantities={
        "delay": Quantity("mean queueing delay", "ms"),
        "distance": Quantity("distance of the mean delay from 20 ms", "ms", formula="abs(delay - 20)"),
        "sd": Quantity("standard deviation of the delay over time", "ms"),
        "root": Quantity("square root of the loss"),
        "unsettled": Quantity("mean distance of the delay from 20 ms in the 5 s after a change", "ms"),
        "rates": Quantity("goodput of Prague over that of CUBIC"),
        "wait_scalable": Quantity("mean time that Prague's packets wait", "ms"),
        "wait_classic": Quantity("mean time that CUBIC's packets wait", "ms"),
        "lost": Quantity("packets that Prague loses"),
    },
)
FASTER = "Rate of the link at the loads: 100 Mb/s"


@CLAIMS.claim(
    "A",
    "PI2 is as stable as PIE",
    quote="giving responsiveness and stability better or no worse than PIE achieves, but without all its corrective "
    "heuristics (abstract).",
    against=("PIE", "PIE of RFC 8033"),
)
def stability(runs: Runs, baseline: str) -> Tests:
    """Compare the scatter of the delay over time: the mean over the loads, and each load."""
    more = runs.gain("sd", "PI2", over=baseline, traffic=ALL)
    yield literal(more.mean_over("traffic").below(0, margin=1), why="no number is given: about a tenth of PIE's")
    yield strict(more.each("traffic").below(0, margin=1))


@stability.objection("Gains are not printed, and PI2's may be smaller.", fails="any")
def _(runs: Runs, baseline: str) -> str:
    more = runs.gain("sd", "PI2", over=baseline, traffic=ALL).each("traffic")
    return f"S.d. less that of {baseline} at {more.cells}: {more} ms; at 100 Mb/s {more.under(FASTER)} ms."


@CLAIMS.claim(
    "B",
    "PI2 is as responsive as PIE",
    quote="giving responsiveness and stability better or no worse than PIE achieves (abstract).",
    against=("PIE", "PIE of RFC 8033"),
)
def responsiveness(runs: Runs, baseline: str) -> Tests:
    """Compare the distance from the target after a change: the mean over both changes, and each."""
    pi2, pie = (runs.of("unsettled", name, traffic=tuple(CHANGES)) for name in ("PI2", baseline))
    yield literal(pi2.mean_over("traffic") < 1.1 * pie, why="no number is given: a tenth")
    yield strict(pi2.each("traffic") < pie)


@CLAIMS.claim(
    "C",
    "Constant gains on p are too large where p is small",
    quote="the controller's adjustments have to be smaller when the target drop probability is lower (abstract).",
)
def adjustments(runs: Runs) -> Tests:
    """Let constant gains on p miss the target at light load alone, and more than those on its root."""
    yield literal(runs.of("distance", "PI", traffic=LIGHT).less(traffic=HEAVY) > 0)
    yield literal(runs.gain("distance", "PI", over="PI2", traffic=LIGHT) > 0)
    yield strict(runs.of("delay", "PI", traffic=LIGHT) < 15, why="a quarter of the target")
    yield strict(runs.of("delay", "PI", traffic=HEAVY).between(18, 22))


@CLAIMS.claim(
    "D",
    "With a square, constant gains hold the target",
    quote="in fact we show that the output simply needs to be squared. This allows tighter control (abstract).",
    against=("PI",),
)
def square(runs: Runs, baseline: str) -> Tests:
    """Compare the delay with the target, and with constant gains on p."""
    yield literal(runs.of("delay", "PI2", traffic=ALL).each("traffic").between(15, 25), why="a quarter of the target")
    yield literal(runs.gain("distance", "PI2", over=baseline, traffic=ALL).mean_over("traffic") < 0)
    yield strict(runs.of("delay", "PI2", traffic=ALL).each("traffic").between(18, 22))


@square.objection("Gains are not printed, and with five flows p is smallest.", fails="strict")
def _(runs: Runs, baseline: str) -> str:
    light, pie = (runs.of("delay", name, traffic=ALL).each("traffic") for name in ("PI2", "PIE"))
    return f"Delay with {light.cells}: {light} ms, of PIE {pie} ms; at 100 Mb/s {light.under(FASTER)} ms."


@CLAIMS.claim(
    "E",
    "The controlled variable is proportional to the load",
    quote="we control an internal variable that is by definition linearly proportional to the load (abstract).",
)
def linear(runs: Runs) -> Tests:
    """Let twice the flows need twice the root of the loss, within a tenth."""
    for less, more in pairwise(runs.of("root", "PI2", traffic=name) for name in ALL):
        yield literal(more.between(1.8, 2.2, times=less), why="proportional within a tenth")
        yield strict(more.between(1.9, 2.1, times=less))


@linear.objection("The law of the root has no time-outs, which slow flows too where windows are small.")
def _(runs: Runs) -> str:
    steps = [runs.of("root", "PI2", traffic=more).less(traffic=less).ratio() for less, more in pairwise(ALL)]
    said = ", ".join(f"{step} ({step.under(FASTER)} at 100 Mb/s)" for step in steps)
    return f"From 5 to 10, 20 and 40 flows the root grows by factors of {said}."


@CLAIMS.claim(
    "F",
    "Classic and Scalable flows coexist",
    quote="it becomes simple to extend this PI2 AQM to support coexistence between Classic and Scalable congestion "
    "controls in the public Internet (abstract).",
    against=("PIE",),
)
def coexistence(runs: Runs, baseline: str) -> Tests:
    """Compare rates of Prague and CUBIC in one queue."""
    rates = runs.of("rates", "PI2", traffic=tuple(NETWORKS))
    yield literal(rates.mean_over("traffic").between(0.5, 2), why="no number is given: a factor of 2")
    yield strict(rates.each("traffic").between(0.5, 2))
    for form in (literal, strict):
        yield form(runs.of("rates", baseline, traffic=tuple(NETWORKS)).mean_over("traffic") > 2)


@CLAIMS.claim(
    "G",
    "In two queues Scalable flows hardly wait and lose nothing",
    quote="designed for consistently very low queuing latency, very low congestion loss (RFC 9332, abstract).",
    against=("PI2",),
)
def latency(runs: Runs, baseline: str) -> Tests:
    """Compare the delay and losses of Prague with DualPI2 and in one queue."""
    wait = runs.of("wait_scalable", "DualPI2", traffic=tuple(NETWORKS))
    one_queue = runs.of("wait_scalable", baseline, traffic=tuple(NETWORKS))
    yield literal(wait.mean_over("traffic") < 0.2 * one_queue, why="“very low”: a fifth of one queue's")
    yield literal(runs.of("lost", "DualPI2", traffic=tuple(NETWORKS)).each("traffic", "seed").below(0.5).exact())
    yield strict(wait.each("traffic") < 2, why="milliseconds: a packet of the other queue at 10 Mb/s takes 1.2")
    yield strict(runs.of("rates", "DualPI2", traffic=tuple(NETWORKS)).each("traffic").between(0.5, 2))


@CLAIMS.finding(
    "Squaring the output of a controller lets constant gains serve Classic TCP, and its root serve Scalable TCP.",
    holds="PI2 shares a link between Prague and CUBIC within a factor of 2.",
    fails="PI2 does not share a link between Prague and CUBIC within a factor of 2.",
    undecided="Whether PI2 shares a link between Prague and CUBIC within a factor of 2 is undecided.",
)
def finding(runs: Runs) -> Tests:
    """Compare rates."""
    yield literal(runs.of("rates", "PI2", traffic=tuple(NETWORKS)).each("traffic").between(0.5, 2))


@finding.text
def _(runs: Runs) -> str:
    pi2, pie = (runs.of("rates", name, traffic=tuple(NETWORKS)).each("traffic") for name in ("PI2", "PIE"))
    return f"Prague's rate over CUBIC's at {pi2.cells}: {pi2}; with PIE {pie}."


def page(study: Study) -> Iterator[common.Section]:
    """Make the paper's own sections."""
    rows = ["traffic", "discipline"]
    loads = {"delay, ms": "delay", "s.d., ms": "sd", "root of the loss": "root"}
    waits = {"Prague waits, ms": "wait_scalable", "CUBIC waits, ms": "wait_classic"}
    mixed = {"goodput over CUBIC's": "rates", **waits, "Prague loses, packets": "lost"}
    unsettled = study.table("changes", {"distance, ms": "unsettled"}, rows=rows, of={"traffic": tuple(CHANGES)})
    yield common.Section("Loads and changes", [study.table("loads", loads, rows=rows, of={"traffic": ALL}), unsettled])
    yield common.Section("Coexistence", [study.table("coexistence", mixed, rows=rows, of={"traffic": tuple(NETWORKS)})])
    yield common.Section(common.READINGS, [study.reading_verdicts()])


PAPER = Paper(
    FILES,
    name="PI2",
    citation="De Schepper, Bondarenko, Tsang and Briscoe, “PI2: A Linearized AQM for both Classic and Scalable TCP”, "
    "CoNEXT 2016, with DualPI2 (RFC 9332)",
    claims=CLAIMS,
    effort=Effort,
    setups=setups,
    measure=measure,
    page=page,
    compared=("A", "C", "D", "E"),
    example=f"aqmlab run {FILES.scenario_name('dualpi2')} --seeds {{seeds}}",
    scenarios=("dualpi2",),
)
