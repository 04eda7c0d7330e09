"""The report: verdicts first, then table and figures, what the paper left unmeasured, readings and provenance."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab.reporting.page import Page
from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.adaptive_rio import figures, sensitivity, tables
from aqmlab.reproduction.papers.adaptive_rio.algorithm import FIGURE_3
from aqmlab.reproduction.papers.adaptive_rio.claims import claim_rows, experiment_rows, further_runs, judge
from aqmlab.reproduction.papers.adaptive_rio.measure import measure
from aqmlab.reproduction.papers.adaptive_rio.plan import ADAPTIVE, CASES, FILES, RIO, Effort, delays, setups
from aqmlab.reproduction.papers.common import (
    Built,
    Setup,
    chosen,
    findings_table,
    intervals_text,
    parts_table,
    pick,
)

NAME = "Adaptive-RIO"
CITATION = "Chien and Liao, “A Self-Configuring RED Gateway for Quality of Service (QoS) Networks”"


def build(effort: Effort, root: Path) -> Built:
    """Read the runs and put the report together."""
    plans = setups(effort)
    all_runs = measure(plans, root)
    base = chosen(all_runs)
    further, experiments = further_runs(all_runs, effort), experiment_rows(all_runs)
    findings, parts = judge(base, further=further, experiments=experiments)
    verdicts = sensitivity.verdicts_table(all_runs, effort)
    found = {
        "table-1": tables.parameter_table(pick(plans, case="experiment1", discipline=ADAPTIVE)[0]),
        "figure-2": tables.figure_2(base),
        "figure-2-min-th-alone": tables.figure_2(base, case="min_th alone"),
        "experiment-1": tables.experiment_1(base),
        "experiment-2": tables.experiment_2(base),
        "classes": tables.by_class(base),
        "more-flows": tables.more_flows(base),
        "delays": tables.delays(common.measure(delays(effort), root, lambda _, found: found)),
        "effects": sensitivity.effects_table(all_runs, effort),
        "claim-parts": parts_table(parts),
        "reading-verdicts": verdicts,
    }
    page = Page(
        f"{NAME} reproduced: published beside measured",
        f"{CITATION}. {effort.seeds} seeds a point; every mean with its 95 % Student interval, every comparison paired "
        "by seed. The paper prints no measured number: its results are Figures 2 and 4 to 7, and their sentences.",
    )
    finding = common.find(FILES.claim_file(), claim_rows(base))
    paper = common.card(NAME, findings, parts, finding, run=common.effort_words(effort, plans))
    common.summary(
        page,
        FILES,
        findings,
        paper=paper,
        effort=effort,
        quick_note="This is the quick version, with few seeds, shorter runs of the second experiment and a part of the "
        f"readings. `aqmlab reproduce {FILES.key}` runs {Effort.seeds} seeds, 1000 s each, and all readings.",
    )
    _table(page, found)
    _figures(page, base, plans, root, effort, found)
    _unmeasured(page, base, plans, root, found)
    common.claims_in_detail(page, findings, found["claim-parts"])
    _readings(page, verdicts, found["effects"], effort)
    example = run_command("experiment1", "adaptive-rio", effort.seeds)
    common.provenance(page, FILES, plans, effort, scenarios=list(CASES), example=example)
    return Built(page, found, findings_table(findings), verdicts, paper)


def run_command(case: str, aqm: str, seeds: int, settings: str = "") -> str:
    """Return the command that makes one point again."""
    return f"aqmlab run {FILES.scenario_name(case)} --set queue.core.aqm={aqm}{settings} --seeds {seeds}"


def _table(page: Page, found: dict[str, pd.DataFrame]) -> None:
    page.section("Table 1")
    page.heading("Table 1: initial setting", listed=True)
    page.table(
        found["table-1"],
        caption=f"Printed beside the effective parameters of the preset `{FILES.key}`; α is printed in the text.",
    )


def _figures(
    page: Page, base: pd.DataFrame, plans: list[Setup], root: Path, effort: Effort, found: dict[str, pd.DataFrame]
) -> None:
    page.section("Figures 1 to 7")
    again = common.command(FILES.key, effort)
    page.topology(
        pick(plans, case="experiment1", discipline=ADAPTIVE)[0].plan,
        key="figure-1",
        title="Figure 1: network",
        caption=f"`aqmlab draw {FILES.scenario_name('experiment1')}`",
    )
    page.chart(figures.figure_2(base), command=again)
    page.table(intervals_text(found["figure-2"]), caption="Figure 2 in numbers.", digits=3)
    page.flowchart(
        FIGURE_3,
        caption="The paper's text as an algorithm; what it leaves open is in the readings A-1 to A-13.",
    )
    for key, kind, title in (
        ("figure-4", "assured", "Figure 4: assured throughput"),
        ("figure-5", "total", "Figure 5: total throughput"),
    ):
        label = f"{kind} throughput, Mb/s"
        chart = figures.against_time(plans, root, kind, key=key, title=title, y_label=label)
        page.chart(chart, command=run_command("experiment1", "adaptive-rio", effort.seeds))
    page.table(
        intervals_text(found["experiment-1"]),
        caption="The first experiment by period, in Mb/s. The last three disciplines are ours (claims E-g and E-h).",
    )
    for key, quantity, title, label in (
        ("figure-6", "u_be_arrived", "Figure 6: best-effort utilization", "best-effort utilization U_BE"),
        ("figure-7", "on_arrived", "Figure 7: committed rate", "assured throughput while on, Mb/s"),
    ):
        page.chart(figures.against_off_time(base, quantity, key=key, title=title, y_label=label), command=again)
    signed = [column for column in map(str, found["experiment-2"]) if column.endswith("difference")]
    page.table(intervals_text(found["experiment-2"], signed=signed), caption="Figures 6 and 7 in numbers.")


def _unmeasured(page: Page, base: pd.DataFrame, plans: list[Setup], root: Path, found: dict[str, pd.DataFrame]) -> None:
    page.section("What the paper left unmeasured")
    page.chart(figures.figure_2_min(base))
    page.table(
        intervals_text(found["figure-2-min-th-alone"]),
        caption="The lower threshold moved alone, in numbers.",
        digits=3,
    )
    page.chart(
        figures.against_time(
            plans,
            root,
            "best_effort",
            key="best-effort-throughput",
            title="Best-effort throughput",
            y_label="best-effort throughput, Mb/s",
        )
    )
    for key, title, label, names in (
        ("thresholds", "max_th of best effort in Adaptive-RIO", "packets", {"max_th_out": "max_th"}),
        (
            "reference-point",
            "Reference point and rate in Adaptive-RIO",
            "Mb/s",
            {"c_threshold_bps": "C'", "rate_bps": "A, rate of all arrivals"},
        ),
        (
            "averages",
            "Averages in Adaptive-RIO",
            "packets",
            {"average_0": "packets in profile", "average_1": "all packets"},
        ),
    ):
        page.chart(figures.inside(plans, root, names, key=key, title=title, y_label=label))
    page.heading("Loss and queueing delay of both classes", listed=True)
    page.table(
        intervals_text(found["classes"]),
        caption=f"Drops at the bottleneck by code point, and its queue, under {RIO} and {ADAPTIVE}.",
        digits=4,
    )
    page.heading("Thresholds fixed at max_U, beside more best-effort flows", listed=True)
    page.table(
        intervals_text(found["more-flows"], signed=[tables.AT_MAX_U_LESS]),
        caption="Assured throughput in Mb/s while the flow is active in the first experiment (committed: 4 Mb/s).",
        digits=3,
    )
    page.table(
        intervals_text(found["delays"]),
        caption="Queueing delay at the bottleneck in the first experiment, without a packet's own transmission.",
        digits=3,
    )


def _readings(page: Page, verdicts: pd.DataFrame, effects: pd.DataFrame, effort: Effort) -> None:
    common.readings_chosen(page, FILES)
    points = (
        f"max_th = {', '.join(map(str, effort.reading_max_th))}; off time "
        f"{', '.join(map(str, effort.reading_off_s))} s; {effort.reading_seeds} seeds"
    )
    page.table(verdicts, caption=f"How the verdicts move with each reading, at fewer points ({points}).")
    page.table(
        intervals_text(effects, signed=[column for column in map(str, effects) if "gain" in column]),
        caption=f"The effects behind them (gain is {ADAPTIVE} less {RIO}), at the same points.",
        digits=3,
    )
