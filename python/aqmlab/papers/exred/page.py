"""The report: verdicts first, then figures, the simulation beside the chain, TCP, readings and provenance."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab.papers import common
from aqmlab.papers.common import Built, chosen, findings_table, intervals_text, parts_table
from aqmlab.papers.exred import pictures, sensitivity, tables
from aqmlab.papers.exred.algorithm import FIGURE_1
from aqmlab.papers.exred.claims import judge
from aqmlab.papers.exred.measure import measure_loops, measure_tcp
from aqmlab.papers.exred.plan import FILES, SCHEMES, Effort, loops, tcps
from aqmlab.reporting.page import Page

NAME = "ExRED"
CITATION = "Prabhavat and Varakulsiripunth, “Performance Improvement on RED Based Gateway in TCP Communication Network”"
TCP_FIGURES = {
    "utilization": ("utilization of the link", "utilization"),
    "loss": ("loss", "loss"),
    "timeouts": ("time-outs", "time-outs per flow and minute"),
    "mean_delay_ms": ("delay", "mean queueing delay, ms"),
}


def build(effort: Effort, root: Path) -> Built:
    """Read the runs and put the report together."""
    points, setups = loops(effort), tcps(effort)
    all_loops, all_tcp = measure_loops(points, root), measure_tcp(setups, root)
    base, tcp = chosen(all_loops), chosen(all_tcp)
    findings, parts = judge(base, tcp)
    found = {f"by-load-{name}": tables.beside(base, quantity) for quantity, name in _NAMES.items()}
    found |= {
        "coefficients": tables.coefficients(),
        "parameters": tables.parameters(),
        "tcp": tables.under_tcp(tcp),
        "tcp-differences": tables.tcp_differences(tcp),
        "claim-parts": parts_table(parts),
        "reading-numbers": sensitivity.numbers(all_loops, all_tcp, effort),
    }
    readings = sensitivity.verdicts(all_loops, all_tcp, effort)
    page = Page(
        f"{NAME} reproduced: published beside measured",
        f"{CITATION}. {effort.seeds} seeds a point, {effort.arrivals:,} arrivals each; every mean with its 95 % "
        "Student interval, every comparison paired by seed.",
    )
    common.summary(
        page,
        findings,
        effort=effort,
        quick_note="This is the quick version, with few and short runs and a part of the readings. "
        "`aqmlab reproduce exred` runs 10 seeds of 2,000,000 arrivals and all readings.",
    )
    _figures(page, base, effort)
    _tables(page, found)
    _tcp(page, tcp, found, effort)
    common.claims_in_detail(page, findings, found["claim-parts"])
    _readings(page, readings, found["reading-numbers"], effort)
    example = f"aqmlab run {FILES.scenario_name('tcp')} --set flow.tcp.count=20 --seeds {effort.seeds}"
    common.provenance(page, FILES, setups, effort, scenarios=["tcp"], example=example)
    queues = "\n\n".join(f"# {point.key['scheme']}\n{point.arguments['queue']}" for point in points[: len(SCHEMES)])
    page.code(queues, fold="Queues of the open loop")
    return Built(page, found, findings_table(findings), readings)


_NAMES = {"p_drop": "drops", "throughput": "throughput", "mean_run": "drops-in-a-row", "wait_ms": "wait"}


def _figures(page: Page, base: pd.DataFrame, effort: Effort) -> None:
    again = common.command(FILES.key, effort)
    page.section("Figures 1 to 8")
    page.text(
        "Poisson arrivals, exponential service at 1000 packets/s, at most 100 packets in the system: an open loop, in "
        "which sources do not slow down. The paper prints no table; its figures hold its results."
    )
    page.flowchart(FIGURE_1, caption="μ is the service rate, K the buffer; q counts the packet in service.")
    for chart in (
        pictures.figure_2(),
        pictures.figure_3(),
        pictures.figure_4(),
        pictures.figure_5(base),
        pictures.gains(base),
        *pictures.figure_6(base),
        pictures.figure_7(base),
        pictures.figure_8(base),
    ):
        page.chart(chart, command=again)


def _tables(page: Page, found: dict[str, pd.DataFrame]) -> None:
    page.section("Numbers")
    page.heading("Parameters", listed=True)
    page.table(found["parameters"], caption="Printed parameters beside those of the runs.")
    page.heading("The parabola's coefficients", listed=True)
    page.table(
        found["coefficients"],
        caption="Below (14), a_0 is printed with the other sign; only the one chosen meets the paper's "
        "three conditions.",
    )
    for quantity, name in _NAMES.items():
        title = tables.QUANTITIES[quantity]
        page.heading(f"{title[0].upper()}{title[1:]} by load", listed=True)
        page.table(
            common.beside_text(found[f"by-load-{name}"], list(SCHEMES), keys=["load"], paper="chain"),
            caption="The chain (the queue itself for the average) beside the simulation (w = 0.02); ratio is "
            "measured / chain. They are not the same model: where RED averages, it also drops in longer runs.",
        )


def _tcp(page: Page, tcp: pd.DataFrame, found: dict[str, pd.DataFrame], effort: Effort) -> None:
    page.section("What the paper left unmeasured: TCP")
    page.text(
        "The paper argues from TCP: consecutive drops make it slow down and leave the link idle. It measured no TCP. "
        "Here n greedy flows share a link of the paper's rate, with the paper's thresholds; gentle RED, which also has "
        "no step at k_h, is there too. Figures, tables and the claims D-g to D-i of this section are ours."
    )
    for key, (title, label) in TCP_FIGURES.items():
        page.chart(pictures.under_tcp(tcp, key, title, label), command=common.command(FILES.key, effort))
    page.heading("Under TCP: all quantities", listed=True)
    page.table(intervals_text(found["tcp"]), caption="Means over the seeds with 95 % intervals.", digits=4)
    page.heading("Under TCP: ExRED less the others", listed=True)
    differences = found["tcp-differences"]
    page.table(
        intervals_text(differences, signed=list(tables.TCP_QUANTITIES.values())),
        caption="Paired by seed, with 95 % intervals.",
        digits=3,
    )


def _readings(page: Page, readings: pd.DataFrame, numbers: pd.DataFrame, effort: Effort) -> None:
    common.readings_chosen(page, FILES)
    page.table(
        readings,
        caption=f"How the verdicts move from reading to reading, at some loads and {effort.reading_seeds} seeds; what "
        "a reading does not touch is left empty, and the chain's numbers are left out.",
    )
    page.table(
        intervals_text(numbers, signed=["throughput at 1.05, ExRED - RED"]),
        caption="Numbers behind them, with 95 % intervals.",
    )
