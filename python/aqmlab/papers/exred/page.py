"""The report: verdicts first, then figures, the simulation beside the chains, TCP, readings and provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from aqmlab.papers import common
from aqmlab.papers.common import Built, chosen, findings_table, intervals_text, parts_table
from aqmlab.papers.common.open_loop import Averaged
from aqmlab.papers.common.page import command, write
from aqmlab.papers.exred import best_page, figures, sensitivity, tables
from aqmlab.papers.exred.algorithm import FIGURE_1
from aqmlab.papers.exred.chain import averaged as averaged_chain
from aqmlab.papers.exred.claim_rows import claim_rows
from aqmlab.papers.exred.claims import experiment_rows, judge
from aqmlab.papers.exred.measure import measure_loops, measure_tcp
from aqmlab.papers.exred.plan import CLAIMS, FILES, RUN_LOADS, SCHEMES, Effort, loops, tcps
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
    averaged = averaged_chain(effort, root)
    experiments = experiment_rows(all_loops, all_tcp, averaged)
    findings, parts = judge(base, tcp, theory=averaged, experiments=experiments)
    found = {f"by-load-{name}": tables.beside(base, averaged, quantity) for quantity, name in _NAMES.items()}
    found |= {
        "coefficients": tables.coefficients(),
        "parameters": tables.parameters(),
        "tcp": tables.under_tcp(tcp),
        "tcp-differences": tables.tcp_differences(tcp),
        "claim-parts": parts_table(parts),
        "reading-numbers": sensitivity.numbers(all_loops, all_tcp, effort),
    }
    readings = found["reading-verdicts"] = sensitivity.verdicts(all_loops, all_tcp, effort)
    view = Page(
        f"{NAME} reproduced: published beside measured",
        f"{CITATION}. {effort.seeds} seeds a point, {effort.arrivals:,} arrivals each; every mean with its 95 % "
        "interval (Student's, or Hall's if the runs are skewed), every comparison paired by seed.",
    )
    finding = common.find(CLAIMS, claim_rows(base, tcp, averaged))
    seeds = f"{effort.seeds} seeds a point, {effort.arrivals:,} arrivals each"
    run = common.effort_words(effort, setups, seeds=seeds)
    paper = common.card(NAME, findings, parts, finding, run=run)
    own = Recorder()
    _figures(own, base, averaged, effort)
    _tables(own, found)
    found |= best_page.section(own, base, averaged, effort, root)
    _tcp(own, tcp, found, effort)
    own.section("Readings")
    _readings(own, readings, found["reading-numbers"], effort)
    own.section("Provenance")
    queues = "\n\n".join(f"# {point.key['scheme']}\n{point.arguments['queue']}" for point in points[: len(SCHEMES)])
    own.add(common.Code(queues, fold="Queues of the open loop"))
    write(
        view,
        FILES,
        card=paper,
        findings=findings,
        parts=found["claim-parts"],
        sections=own.sections,
        gaps=None,
        effort=effort,
        setups=setups,
        quick_note="This is the quick version, with few and short runs and a part of the readings. "
        "`aqmlab reproduce exred` runs 10 seeds of 2,000,000 arrivals and all readings.",
        example=f"aqmlab run {FILES.scenario_name('tcp')} --set flow.tcp.count=20 --seeds {effort.seeds}",
        scenarios=["tcp"],
    )
    return Built(view, found, findings_table(findings), readings, paper)


JUDGED_FROM = 1.0
"""From this load on every scheme drops often enough for gaps of a few per cent to be seen in short runs too."""
_NAMES = {"p_drop": "drops", "throughput": "throughput", "mean_run": "drops-in-a-row", "wait_ms": "wait"}


class Recorder:
    """Collects the sections of the page."""

    def __init__(self) -> None:
        self.sections: list[common.Section] = []
        self._blocks: list[Any] = []

    def section(self, title: str) -> None:
        """Begin a section."""
        self._blocks = []
        self.sections.append(common.Section(title, self._blocks))

    def add(self, block: Any) -> None:  # noqa: ANN401
        """Add a block."""
        self._blocks.append(block)

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self.add(common.Text(text))

    def heading(self, text: str, *, listed: bool) -> None:
        """Add a heading."""
        self.add(common.Table("", None, None, heading=text, listed=listed))

    def table(self, table: pd.DataFrame, *, caption: str, digits: int = 5) -> None:
        """Add a table."""
        self.add(common.Table("", None, table, caption=caption, digits=digits))

    def chart(self, chart: Any, *, command: str) -> None:  # noqa: ANN401
        """Add a chart."""
        self.add(common.Figure(chart, command=command))

    def flowchart(self, chart: Any, *, caption: str) -> None:  # noqa: ANN401
        """Add a flow chart."""
        self.add(common.Figure(chart, caption=caption))


def _figures(page: Recorder, base: pd.DataFrame, averaged: Averaged, effort: Effort) -> None:
    again = command(FILES, effort)
    page.section("Figures 1 to 8")
    page.text(
        "Poisson arrivals, exponential service at 1000 packets/s, at most 100 packets in the system: an open loop, in "
        "which sources do not slow down. The paper prints no table; its figures hold its results. Beside the "
        "simulation stand two chains, which are solved here: the paper's own, in which the number in the system stands "
        "for the average (w = 1), and the chain of number and average (w = 0.02), which the paper leaves out."
    )
    page.text(
        "What (10) and (11) leave out: they drop all packets of a run with the p_d of one state, so departures between "
        "arrivals are ignored, against the paper's own (3), which counts them. For RED they have no use: its chain "
        "visits k_h, where p_d = 1, so that (11) is infinite and (10) does not fall to 0. "
        f"{'; '.join(f'at load {load} it stays above {figures.printed_floor(load):.2g}' for load in RUN_LOADS)}. "
        "RED's curves in the printed Figures 6 and 7 cannot come from them; exact runs, which count departures, are "
        "drawn beside."
    )
    page.flowchart(FIGURE_1, caption="μ is the service rate, K the buffer; q counts the packet in service.")
    for chart in (
        figures.figure_2(),
        figures.figure_3(),
        figures.figure_4(),
        figures.figure_5(base, averaged),
        figures.gains(base, averaged),
        *figures.figure_6(base),
        figures.figure_7(base, averaged),
        figures.figure_8(base, averaged),
    ):
        page.chart(chart, command=again)


def _tables(page: Recorder, found: dict[str, pd.DataFrame]) -> None:
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
        title, table = tables.QUANTITIES[quantity], found[f"by-load-{name}"]
        page.heading(f"{title[0].upper()}{title[1:]} by load", listed=True)
        page.text(_gap_words(table))
        page.table(
            tables.beside_text(table),
            caption="Both chains beside the simulation (w = 0.02) with its 95 % interval; a gap is measured / chain - "
            "1. A dash: that chain was not solved there, or nothing was dropped.",
        )


def _gap_words(table: pd.DataFrame) -> str:
    """Say how far each chain is from the simulation, where packets are dropped often enough to tell."""
    gaps = tables.largest_gaps(table, low=JUDGED_FROM)
    sentences = []
    for name in (tables.NO_AVERAGE, tables.AVERAGE):
        own = {scheme: gaps[name, scheme] for scheme in SCHEMES if (name, scheme) in gaps}
        words = [f"{scheme} {100 * gap:+.1f} % at load {load}" for scheme, (gap, load) in own.items()]
        sentences.append(f"{name}: {', '.join(words)}")
    return f"Largest gap of the simulation, at loads from {JUDGED_FROM} on, to the {'; to the '.join(sentences)}."


def _tcp(page: Recorder, tcp: pd.DataFrame, found: dict[str, pd.DataFrame], effort: Effort) -> None:
    page.section("Left unmeasured by the paper: TCP")
    page.text(
        "The paper argues from TCP: consecutive drops make it slow down and leave the link idle. It measured no TCP. "
        "Here n greedy flows share a link of the paper's rate, with the paper's thresholds; gentle RED, which also has "
        "no step at k_h, is there too. Figures, tables and the claims D-g to D-i of this section are ours."
    )
    for key, (title, label) in TCP_FIGURES.items():
        page.chart(figures.under_tcp(tcp, key, title, label), command=command(FILES, effort))
    page.heading("Under TCP: all quantities", listed=True)
    page.table(intervals_text(found["tcp"]), caption="Means over the seeds with 95 % intervals.", digits=4)
    page.heading("Under TCP: ExRED less the others", listed=True)
    differences = found["tcp-differences"]
    page.table(
        intervals_text(differences, signed=list(tables.TCP_QUANTITIES.values())),
        caption="Paired by seed, with 95 % intervals.",
        digits=3,
    )


def _readings(page: Recorder, readings: pd.DataFrame, numbers: pd.DataFrame, effort: Effort) -> None:
    page.table(
        readings,
        caption=f"How the verdicts move from reading to reading, at some loads and {effort.reading_seeds} seeds; what "
        "a reading does not touch is left empty, and the chain's numbers are left out.",
    )
    page.table(
        intervals_text(numbers, signed=["throughput at 1.05, ExRED - RED"]),
        caption="Numbers behind them, with 95 % intervals.",
    )
