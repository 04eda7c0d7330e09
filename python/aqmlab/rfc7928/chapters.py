"""The report's sections, one for each of the RFC's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from aqmlab.reporting.page import Page
from aqmlab.rfc7928 import discussion, figures, network, tables
from aqmlab.rfc7928.collected import Collected, Measured

Scenario = Mapping[str, Measured]
CHAPTERS = {
    "5.1": "5.1 TCP-friendly sender",
    "5.2": "5.2 Aggressive sender",
    "5.3": "5.3 Unresponsive sender",
    "5.4": "5.4 Less than best effort",
    "6.2": "6.2 Round-trip fairness",
    "7.2": "7.2 Burst absorption",
    "8.2": "8.2 Stability",
    "9.1": "9.1 Traffic mix",
    "9.2": "9.2 Bidirectional traffic",
    "10.2": "10.2 Several disciplines in a row",
    "4.4": "4.4 Packet sizes",
}
RANGES = {"6.2": "without ECN", "4.5": "with ECN"}


def add(page: Page, collected: Collected) -> None:
    """Add the sections of which something ran, and the discussions."""
    for section, title in CHAPTERS.items():
        scenarios = collected.scenarios(section)
        if not scenarios:
            continue
        page.section(title, folded=True)
        if section == "6.2":
            _fairness(page, scenarios, section)
            continue
        if section == "8.2":
            _levels(page, collected)
        for scenario in scenarios:
            _scenario(page, scenario)
    _ecn(page, collected)
    _scheduling(page, collected)
    _settings(page, collected)
    _sensitivity(page, collected)
    _deployment(page, collected)


def _scenario(page: Page, scenario: Scenario) -> None:
    """Add one scenario: tables of groups and links, then figures."""
    case = next(iter(scenario.values())).case
    page.heading(f"{case.name}: {case.title}", listed=True)
    phases: list[str | None] = [None, *(phase.name for phase in case.phases)]
    page.table(tables.shown(tables.groups(scenario)), caption=f"End-to-end metrics of {case.name}.", digits=4)
    if case.phases:
        rows = tables.groups(scenario, phases=phases[1:])
        page.table(tables.shown(rows), caption=f"The same by phase, {case.name}.", digits=4)
    page.table(
        tables.shown(tables.links(scenario, phases=phases[1:] or [None])),
        caption=f"Queue-level metrics of {case.name}{', by phase' if case.phases else ''}.",
        digits=4,
    )
    noticed = tables.transfers(scenario)
    if not noticed.empty:
        page.table(noticed, caption=f"Quality for users in {case.name}; 95 % is over all runs.", digits=4)
    for group in case.groups:
        flows = int(np.nanmax(next(iter(scenario.values())).values("groups", group.name, "flows")))
        for phase in phases[1:] or [None]:
            chart = figures.ellipses(scenario, group, phase=phase)
            if chart is not None:
                page.chart(chart)
        for chart in (figures.delays(scenario, group), figures.goodputs(scenario, group, flows=flows)):
            if chart is not None:
                page.chart(chart)
    if next(iter(scenario.values())).cumulates:
        for phase in phases[1:] or [None]:
            chart = figures.ellipses_of_all(scenario, phase=phase)
            if chart is not None:
                page.chart(chart)
    if case.phases:
        _courses(page, scenario)


def _courses(page: Page, scenario: Scenario) -> None:
    """Add the course in time of what changes in phases."""
    case = next(iter(scenario.values())).case
    link = next(iter(case.rates_bps))
    page.chart(figures.course(scenario, "delay_ms", link, title="Queueing delay in time", label="queueing delay, ms"))
    group = case.groups[0]
    page.chart(
        figures.course(
            scenario, "goodput_mbps", group.name, title=f"Goodput of {group.title} in time", label="goodput, Mb/s"
        )
    )


def _fairness(page: Page, scenarios: Sequence[Scenario], section: str) -> None:
    """Add section 6.3's outputs over the round trips of category II."""
    words = RANGES[section]
    page.table(
        tables.fairness(scenarios),
        caption=f"Cumulative average goodput of each category, its ratio, and drop rates ({section}, {words}).",
        digits=4,
    )

    def ratio(entry: Measured) -> np.ndarray:
        one, two = (entry.values("groups", name, "goodput_mbps") for name in ("one", "two"))
        found: np.ndarray = np.divide(two, one, out=np.full(len(one), np.nan), where=one > 0)
        return found

    for key, label, read in (
        ("ratio", "goodput of II / goodput of I", ratio),
        ("goodput-one", "goodput of I, Mb/s", lambda entry: entry.values("groups", "one", "goodput_mbps")),
        ("goodput-two", "goodput of II, Mb/s", lambda entry: entry.values("groups", "two", "goodput_mbps")),
        ("loss-one", "drop rate of I", lambda entry: entry.values("groups", "one", "loss")),
        ("loss-two", "drop rate of II", lambda entry: entry.values("groups", "two", "loss")),
    ):
        page.chart(
            figures.over_range(
                scenarios,
                read,
                key=f"{section.replace('.', '-')}-{key}",
                title=f"{section}: {label}, {words}",
                label=label,
                x_label="round trip of category II, ms",
            )
        )
    hundred = [s for s in scenarios if next(iter(s.values())).case.point == 1e3 * network.RTT_S]
    for scenario in hundred:
        for group in next(iter(scenario.values())).case.groups:
            chart = figures.ellipses(scenario, group)
            if chart is not None:
                page.chart(chart)


def _levels(page: Page, collected: Collected) -> None:
    page.table(
        tables.congestion_levels(collected),
        caption="8.2.1: S is bandwidth-delay product and buffer, N the number of flows, the projected loss is "
        "0.76 N^2 / S^2, which is about loss behind drop-tail; beside it the loss that was measured.",
        digits=3,
    )
    page.table(
        tables.time_zero(collected),
        caption="8.2: when all flows had left slow start (window at or above a known threshold), and time 0.",
        digits=4,
    )


def _ecn(page: Page, collected: Collected) -> None:
    page.section("4.5 ECN", folded=True)
    page.text(
        "A discipline that marks answers an early decision on a packet of an ECN-capable flow with a mark in place "
        "of a drop; a full buffer drops whatever comes. Section 6.2 is repeated with ECN for those that can mark; "
        "drop-tail has no such runs, since its own would be those of 6.2."
    )
    page.table(discussion.ecn(collected.disciplines), caption="Which disciplines support ECN.")
    scenarios = collected.scenarios("4.5")
    if scenarios:
        _fairness(page, scenarios, "4.5")


def _scheduling(page: Page, collected: Collected) -> None:
    page.section("4.6 Scheduling", folded=True)
    page.text(
        "Every discipline here has one interface, a packet offered and a packet wanted, so a scheduler can have one of "
        "them for each of its queues: it then sees the delay of that queue and the rate that the scheduler leaves it. "
        "Settings that follow the link's rate (thresholds in packets) must then fit that share; limits on the time in "
        "the queue stay as they are."
    )
    page.table(discussion.scheduling(collected.disciplines), caption="Times of decisions, and schedulers.")


def _settings(page: Page, collected: Collected) -> None:
    if not collected.scenarios("4.3.1"):
        return
    page.section("4.3.1 A range of settings", folded=True)
    page.text(
        "Thresholds and delay targets are not the same thing, so disciplines are compared over a range of each: the "
        "parameters that set the target, turned together by the same factors, at medium congestion."
    )
    page.chart(figures.settings_compared(discussion.ranges(collected)))
    page.table(discussion.ranges_table(collected), caption="The settings of the figure.", digits=4)


def _sensitivity(page: Page, collected: Collected) -> None:
    medium = collected.scenarios("8.2.3")
    if not medium:
        return
    page.section("8.3 Sensitivity and stability", folded=True)
    page.text(
        "The loop of TCP and discipline, linearized where it rests (`aqmlab analyze`), at medium congestion. A phase "
        "margin below 0 or a gain margin below 0 dB says that the queue swings by itself."
    )
    page.table(
        discussion.stability(medium[0]), caption="Margins, for disciplines with a drop curve over an average.", digits=3
    )
    page.table(
        discussion.swings(medium[0]), caption="How much delay and goodput swing in runs, of all disciplines.", digits=3
    )
    found = discussion.sensitivities(collected)
    if not found.empty:
        page.table(
            found,
            caption="Effect of each parameter alone at medium congestion, against the setting of the suite. A line is "
            "missing where the discipline does not allow the value.",
        )


def _deployment(page: Page, collected: Collected) -> None:
    page.section("11 Cost", folded=True)
    page.text(
        "Time a packet, enqueue and dequeue together, of the simulator's code on this machine: 200,000 packets that "
        "come at random at load 1, the making of the arrivals included, the least of five repeats. What else runs on "
        "the machine shows in it."
    )
    bdp = network.bdp_packets(network.CAPACITY_BPS, network.RTT_S)
    page.table(discussion.cost(collected.disciplines, buffer=bdp), caption="Cost of a packet.", digits=4)
    page.section("12 Operator control", folded=True)
    page.table(
        discussion.parameters(collected.disciplines),
        caption="Parameters without the buffer: how many there are, and which an operator must set.",
    )
