"""The paper: its runs, their numbers, its claims and its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from aqmlab.papers import common
from aqmlab.papers.common import Claims, Paper, PaperFiles, Quantity, Runs, Setup, Study, Tests, literal, strict
from aqmlab.papers.common.recorded import samples, table_of
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("pie")
Changes = dict[str, Value]
LOADS: dict[str, Changes] = {f"{n} TCP": {"flow.tcp.count": n} for n in (5, 10, 30, 50)}
LOADS["5 TCP + UDP"] = {"flow.udp.start": "0s"}
ALL, FIGURE_8 = tuple(LOADS), ("10 TCP", "30 TCP", "50 TCP")
CHANGES: Changes = {
    "run.duration": "150s",
    "dumbbell.bottleneck.rate": "100Mbps",
    "change": [{"at": at, "link": "bottleneck", "rate": rate} for at, rate in (("50s", "20Mbps"), ("100s", "100Mbps"))],
    "queue.bottleneck.limit": "2MB",
    "flow.tcp.count": 20,
}
BURST: Changes = {
    "run": {"duration": "3s"},
    "queue.bottleneck.limit": "2MB",
    "flow.tcp.start": "1000s",
    "flow.udp.start": {"uniform": ["1s", "1.03s"]},
    "flow.udp.rate": "12.5Mbps",
}
BURSTS = {f"burst up to {ms} ms": {**BURST, "flow.udp.stop": f"{1000 + ms}ms"} for ms in (50, 100, 200)}
SHORT, ALLOWED, LONG = BURSTS
TRAFFIC = {**LOADS, "changing rate": CHANGES, **BURSTS}
FIXED, SMALL, DOUBLED = "fixed gains", "fixed gains over 8", "doubled gains"
STAMPED, NO_ALLOWANCE = "timestamps", "no burst allowance"
QUEUES: dict[str, Changes] = {
    "PIE": {},
    FIXED: {"queue.bottleneck.auto_tune": "off"},
    SMALL: {"queue.bottleneck.auto_tune": "off", "queue.bottleneck.alpha": 1 / 64, "queue.bottleneck.beta": 10 / 64},
    DOUBLED: {"queue.bottleneck.alpha": 0.25, "queue.bottleneck.beta": 2.5},
    STAMPED: {"queue.bottleneck.delay": "timestamp"},
    NO_ALLOWANCE: {"queue.bottleneck.max_burst": "0ms"},
    "RED": {"queue.bottleneck": {"aqm": "red", "limit": "200KB", "min_th": "25p", "max_th": "75p"}},
    "CoDel": {"queue.bottleneck": {"aqm": "codel", "limit": "200KB", "target": "20ms"}},
    "drop-tail": {"queue.bottleneck": {"aqm": "drop-tail", "limit": "200KB"}},
}
ONLY = {"changing rate": ("PIE", STAMPED, SMALL), **dict.fromkeys(BURSTS, ("PIE", NO_ALLOWANCE))}


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run."""

    seeds: int = 50
    reading_seeds: int = 10
    QUICK: ClassVar = {"seeds": 4, "reading_seeds": 3}


def setups(effort: Effort) -> list[Setup]:
    """List the scenarios: all points under the chosen readings and under every other reading."""
    others = [(one.label, one.overrides, effort.reading_seeds) for one in FILES.readings(quick=effort.quick)]
    return [
        Setup(
            key={"traffic": traffic, "discipline": discipline},
            plan=FILES.scenario("pie", {**reading, **own, **QUEUES[discipline]}),
            seeds=seeds,
            reading=label,
            tables=("links", "queue_samples") if traffic == "changing rate" else ("links",),
        )
        for label, reading, seeds in [(common.BASE, {}, effort.seeds), *others]
        for traffic, own in TRAFFIC.items()
        for discipline in ONLY.get(traffic, QUEUES)
    ]


def measure(setup: Setup, folder: Path) -> dict[str, float]:
    """Read the numbers of one run: of a burst its drops, of a changing rate its delays, else delay and utilization."""
    if setup.key["traffic"] == "changing rate":
        return recovery(*samples(folder, "queue_samples", "queue_bytes", "bottleneck"))
    links = table_of(folder, "links")
    (link,) = links[links["link"] == "bottleneck"].to_dict("records")
    if setup.key["traffic"] in BURSTS:
        return {"drops": link["drops"]}
    return {"delay": 1e3 * link["mean_delay_s"], "utilization": link["utilization"]}


def recovery(t_s: np.ndarray, waiting_bytes: np.ndarray) -> dict[str, float]:
    """Return the time in s from the fall of the rate until the delay is back at 20 ms, and mean delays in ms later on.

    >>> recovery(np.array([50, 51.0, 52.5, 70, 120]), np.array([1e6, 6e4, 5e4, 5e4, 2.5e5]))
    {'recovery': 2.5, 'delay_slow': 20.0, 'delay_fast': 20.0}
    """
    delay_ms = waiting_bytes * 8e-3 / np.where((t_s >= 50) & (t_s < 100), 20, 100)
    back = t_s[(t_s >= 50) & (delay_ms <= 20)]
    slow, fast = (float(delay_ms[(t_s >= begin + 10) & (t_s < begin + 50)].mean()) for begin in (50, 100))
    return {"recovery": float(back[0]) - 50, "delay_slow": slow, "delay_fast": fast}


CLAIMS = Claims(
    columns={
        "traffic": common.Column(values=tuple(TRAFFIC)),
        "discipline": common.Column(values=tuple(QUEUES)),
    },
    quantities={
        "delay": Quantity("mean queueing delay", "ms"),
        "distance": Quantity("distance of the mean delay from 20 ms", "ms", formula="abs(delay - 20)"),
        "utilization": Quantity("utilization of the link"),
        "drops": Quantity("drops of the burst", "packets"),
        "recovery": Quantity("time until the delay is back at 20 ms after the fall of the rate", "s"),
        "delay_slow": Quantity("mean delay from 10 s after the fall of the rate on", "ms"),
        "delay_fast": Quantity("mean delay from 10 s after the rise of the rate on", "ms"),
    },
)
AROUND, NEAR = (15.0, 25.0), (18.0, 22.0)
NO_NUMBER = "no number is given: a quarter of the reference, as in docs/validation/published.md"
RFC = "Self-tuning of alpha and beta: seven ranges of RFC 8033"


@CLAIMS.claim(
    "A",
    "The mean latency is around its reference",
    quote="PIE [...] can effectively control the average queueing latency to a reference value (abstract).",
)
def latency(runs: Runs) -> Tests:
    """Compare the delay with the reference: the mean over the loads, and each load within a tenth."""
    delay = runs.of("delay", "PIE", traffic=ALL)
    yield literal(delay.mean_over("traffic").between(*AROUND), why=NO_NUMBER)
    yield strict(delay.each("traffic").between(*NEAR))


@latency.objection("With few flows p is small, and the ranges of self-tuning are not printed.")
def _(runs: Runs) -> str:
    delay = runs.of("delay", "PIE", traffic=ALL).each("traffic")
    return f"Delay at {delay.cells}: {delay} ms; with the ranges of RFC 8033 {delay.under(RFC)} ms."


@CLAIMS.claim(
    "B",
    "PIE keeps the link busy",
    quote="PIE can ensure low latency and achieve high link utilization under various congestion situations "
    "(abstract).",
    against=("drop-tail",),
)
def utilization(runs: Runs, baseline: str) -> Tests:
    """Compare utilization and latency with those of a full buffer."""
    less = runs.gain("utilization", "PIE", over=baseline, traffic=ALL)
    yield literal(less.mean_over("traffic").above(0, margin=0.01), why="no number is given: 1 % of the link")
    yield literal(runs.gain("delay", "PIE", over=baseline, traffic=ALL).mean_over("traffic") < 0)
    yield strict(less.each("traffic").above(0, margin=0.01))


@CLAIMS.claim(
    "C",
    "The load moves RED's latency, not PIE's",
    quote="RED is designed to control the queue length [...]. It does not control latency directly (draft, section 1).",
)
def load(runs: Runs) -> Tests:
    """Let RED's delay grow with the flows of figure 8, and PIE's grow less."""
    pie, red = (runs.of("delay", name, traffic=FIGURE_8) for name in ("PIE", "RED"))
    yield literal(pie.each("traffic").between(*AROUND), why=NO_NUMBER)
    yield literal(red.grows("traffic", steps="ends"))
    yield strict(pie.each("traffic").between(*AROUND))
    yield strict(red.grows("traffic"))


@CLAIMS.claim(
    "D",
    "The departure rate follows sudden changes",
    quote="[...] fast enough to reflect sudden changes in the draining rate (draft, section 4.3).",
    against=(STAMPED,),
)
def changes(runs: Runs, baseline: str) -> Tests:
    """Compare the recovery with that of measured delays, which need no rate; let the delay return."""
    faster = runs.gain("recovery", "PIE", over=baseline, traffic="changing rate")
    yield literal(faster.below(0, margin=0.1), why="no number is given: about three update intervals")
    for name in ("delay_slow", "delay_fast"):
        for form in (literal, strict):
            yield form(runs.of(name, "PIE", traffic="changing rate").between(*AROUND), why=NO_NUMBER)
    yield strict(faster < 0)


@changes.note()
def _(runs: Runs, baseline: str) -> str:
    pie, stamped = (runs.of("recovery", name, traffic="changing rate") for name in ("PIE", baseline))
    return f"Back at 20 ms after {pie} s, by timestamps {stamped} s: a departing packet has waited before the change."


@CLAIMS.claim(
    "E",
    "Bursts within the allowance lose nothing",
    quote="As long as burst_allowance is above zero, an incoming packet will be enqueued [...] (draft, section 4.4).",
)
def bursts(runs: Runs) -> Tests:
    """Let bursts up to 100 ms pass, and lose packets without the allowance or in longer bursts."""
    within = runs.of("drops", "PIE", traffic=(SHORT, ALLOWED)).each("traffic", "seed")
    yield literal(within.equals(0, within=0.5).exact(), why="half a packet: none")
    yield strict(runs.gain("drops", "PIE", over=NO_ALLOWANCE, traffic=ALLOWED) < 0)
    yield strict(runs.of("drops", "PIE", traffic=LONG) > 0)


@CLAIMS.claim(
    "F",
    "Fixed gains work in various conditions",
    quote="While these parameters can be fixed to work in various traffic conditions [...] (draft, section 1).",
)
def fixed(runs: Runs) -> Tests:
    """Compare the delay under an eighth of PIE's gains with the reference: one fixed pair is enough."""
    delay = runs.of("delay", SMALL, traffic=ALL).each("traffic")
    yield literal(delay.between(*AROUND), why=NO_NUMBER)
    yield strict(delay.between(*NEAR))


@fixed.objection("No gains are named: PIE's largest, taken first, are too large where p is small.", fails="strict")
def _(runs: Runs) -> str:
    delay, large = (runs.of("delay", name, traffic=ALL).each("traffic") for name in (SMALL, FIXED))
    return f"Delay at {delay.cells}: {delay} ms; with PIE's largest gains, fixed, {large} ms."


@CLAIMS.claim(
    "G",
    "Self-tuning optimizes",
    quote="[...] they could be made self-tuning to optimize system performance (draft, section 1).",
    against=(FIXED, SMALL),
)
def tuning(runs: Runs, baseline: str) -> Tests:
    """Compare distances from the reference."""
    nearer = runs.gain("distance", "PIE", over=baseline, traffic=ALL)
    yield literal(nearer.mean_over("traffic") < 0)
    yield strict(nearer.each("traffic").below(0, margin=0.5))


@tuning.objection("Small gains are slow where traffic or the link changes.", against=(SMALL,))
def _(runs: Runs, baseline: str) -> str:
    slower = runs.of("recovery", baseline, traffic="changing rate").less("PIE")
    return f"After the fall from 100 to 20 Mb/s the delay is back at 20 ms {slower} s later than PIE's."


@CLAIMS.claim(
    "H",
    "Alpha and beta need not be precise, timestamps may replace the rate",
    quote="[...] not sensitive to the precise values of alpha and beta [...] make use of the time-stamps (draft, 6).",
    against=(DOUBLED, STAMPED),
)
def gains(runs: Runs, baseline: str) -> Tests:
    """Compare delays with the chosen settings and with others."""
    moved = runs.gain("delay", "PIE", over=baseline, traffic=ALL)
    yield literal(moved.mean_over("traffic").equals(0, within=2), why="no number is given: a tenth of the reference")
    yield strict(moved.each("traffic").equals(0, within=2))


@gains.objection("Twice the gains matter only where p is small, and the ranges of self-tuning are not printed.")
def _(runs: Runs, baseline: str) -> str:
    other = runs.of("delay", baseline, traffic=ALL).each("traffic")
    return f"Delay with {baseline} at {other.cells}: {other} ms; with the ranges of RFC 8033 {other.under(RFC)} ms."


@CLAIMS.claim(
    "I",
    "PIE keeps nearer to 20 ms than CoDel",
    quote="PIE aims to [...] directly control latency like CoDel (draft, section 1). Whether better is our question.",
    against=("CoDel",),
    own=True,
)
def codel(runs: Runs, baseline: str) -> Tests:
    """Compare distances from 20 ms: with unresponsive traffic above the rate of the link, and at each load."""
    nearer = runs.gain("distance", "PIE", over=baseline, traffic=ALL)
    yield literal(nearer.at(traffic="5 TCP + UDP") < 0)
    yield strict(nearer.each("traffic") < 0)


@CLAIMS.finding(
    "A controller of the drop probability holds the queueing delay at a reference, whatever the load.",
    holds="PIE holds the mean delay within a quarter of its reference at every load.",
    fails="PIE does not hold the mean delay within a quarter of its reference at every load.",
    undecided="Whether PIE holds the mean delay within a quarter of its reference at every load is undecided.",
)
def finding(runs: Runs) -> Tests:
    """Compare delays with the reference."""
    yield literal(runs.of("delay", "PIE", traffic=ALL).each("traffic").between(*AROUND))


@finding.text
def _(runs: Runs) -> str:
    pie, codel = (runs.of("delay", name, traffic=ALL).each("traffic") for name in ("PIE", "CoDel"))
    return f"Mean delay with {pie.cells}: {pie} ms; CoDel with a target of 20 ms: {codel} ms."


def page(study: Study) -> Iterator[common.Section]:
    """Make the paper's own sections."""
    numbers = {"delay, ms": "delay", "utilization": "utilization", "recovery, s": "recovery", "drops, packets": "drops"}
    table = study.table("traffic", numbers, rows=["traffic", "discipline"])
    lines = {
        name: common.Line(study.runs.of("queue_bytes", name, traffic="changing rate"), scale=1e-6)
        for name in ONLY["changing rate"]
    }
    of_link = study.over_time("rate", "Backlog", lines, samples="queue_samples", link="bottleneck", y_label="MB")
    yield common.Section("Loads, a changing rate, and bursts", [table, of_link])
    yield common.Section(common.READINGS, [study.reading_verdicts()])


PAPER = Paper(
    FILES,
    name="PIE",
    citation="Pan et al., “PIE: A lightweight control scheme to address the bufferbloat problem”, HPSR 2013",
    claims=CLAIMS,
    effort=Effort,
    setups=setups,
    measure=measure,
    page=page,
    key=common.Key("rate"),
    example=f"aqmlab run {FILES.scenario_name('pie')} --seeds {{seeds}}",
    scenarios=("pie",),
)
