"""The report: verdicts first, then tables, figures, what the paper left unmeasured, readings and provenance."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab.reporting.page import Page
from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Built, Setup, findings_table, intervals_text, measure, parts_table, pick
from aqmlab.reproduction.papers.pc_red import diagrams, figures, model_page, sensitivity, tables
from aqmlab.reproduction.papers.pc_red.channels import measure_drops
from aqmlab.reproduction.papers.pc_red.claims import claim_rows, experiment_rows, judge
from aqmlab.reproduction.papers.pc_red.measure import measure_run, warnings_of, with_bursts
from aqmlab.reproduction.papers.pc_red.plan import BURSTS, FILES, NETWORKS, Effort, setups

NAME = "PC-RED"
CITATION = "Li and Yang, “PC-RED for IPv6: Algorithm and Performance Analysis”"
POINT = "aqmlab run paper:pc-red/network1.toml"


def build(effort: Effort, root: Path) -> Built:
    """Read the runs and put the report together."""
    plans = setups(effort)
    runs = measure(plans, root, _read)
    base = with_bursts(runs)
    findings, parts = judge(base, experiments=experiment_rows(base, runs))
    readings, verdicts = sensitivity.readings_table(runs, effort), sensitivity.verdicts(runs, effort)
    found = {f"table-{number}": tables.beside(base, number) for number in tables.TABLES}
    found |= {
        "parameters": tables.parameters(
            {"Network 1": pick(plans, case="PC-RED")[0], "Network 2": pick(plans, case="mesh, 10 %")[0]}
        ),
        "fluctuation": tables.fluctuation(base),
        "drop-probabilities": tables.drop_probabilities(base),
        "admission": tables.admission(base),
        "measurement": sensitivity.measurement(base),
        "reading-verdicts": verdicts,
        "verdicts-by-bins": sensitivity.verdicts_by_bins(base),
        "claim-parts": parts_table(parts),
    }
    found |= model_page.tables(base, runs)
    mesh = sensitivity.mesh(runs, effort)
    if len(mesh):
        found["mesh-readings"] = mesh
    page = Page(
        f"{NAME} reproduced: published beside measured",
        f"{CITATION}. {effort.seeds} seeds of Network 1, {effort.mesh_seeds} of Network 2; every mean with its 95 % "
        "Student interval, every comparison paired by seed.",
    )
    rows = claim_rows(base)
    finding = common.find(FILES.claim_file(), rows, cells=FILES.cells())
    seeds = f"{effort.seeds} seeds of Network 1, {effort.mesh_seeds} of Network 2"
    run = common.effort_words(effort, plans, seeds=seeds)
    paper = common.card(NAME, findings, parts, finding, run=run)
    found["gaps"] = common.gaps(FILES, rows)
    common.summary(page, FILES, findings, paper=paper, effort=effort, quick_note=_quick_note(effort))
    _tables(page, found, effort)
    _figures(page, plans, root, found, readings, effort)
    model_page.add(page, base, found, plans, root, command=common.command(FILES.key, effort))
    _unmeasured(page, base, plans, root, found, effort)
    common.gaps_section(page, FILES, found["gaps"])
    common.claims_in_detail(page, findings, found["claim-parts"])
    _readings(page, found, readings, effort)
    example = f"{POINT} --set queue.bottleneck.aqm=red --seeds {effort.seeds}"
    common.provenance(page, FILES, plans, effort, scenarios=list(NETWORKS), example=example)
    return Built(page, found, findings_table(findings), readings, paper)


def _read(setup: Setup, folder: Path) -> dict[str, float]:
    return measure_drops(setup, folder) if setup.reading == BURSTS else measure_run(setup, folder)


def _quick_note(effort: Effort) -> str:
    return (
        f"This is the quick version, with few seeds and a part of the readings, and with {effort.mesh_duration_s:g} "
        f"s of Network 2 in place of 3000 s. `aqmlab reproduce pc-red` runs all of it."
    )


def _tables(page: Page, found: dict[str, pd.DataFrame], effort: Effort) -> None:
    page.section("Tables I to V")
    page.text(
        "Throughput is that of one flow in bins of 20 s after the first 100 s, in KB/s of 1000 B. The printed averages "
        "are mid-ranges, (min + max) / 2, in 13 of 14 rows: each is set beside the measured mid-range "
        "and beside the measured mean. The paper heads a_d with bytes/s; it is bytes in an interval g here, and a_d "
        "/ g is added. Fluctuation is a standard deviation over time."
    )
    for number, table in tables.TABLES.items():
        page.heading(f"Table {number}: {table.title}", listed=True)
        page.table(
            tables.beside_text(found[f"table-{number}"]),
            caption=f"Table {number}; ratio is measured / printed.",
        )
        if number in ("III", "V"):
            page.text(
                "The links of Network 2 are not in the paper, so its numbers cannot be expected to return; its signs "
                "can." + (f" Here {effort.mesh_duration_s:g} s were run." if effort.mesh_duration_s < 3000 else ""),
                note=True,
            )
    page.heading("Parameters")
    page.table(found["parameters"], caption="Printed parameters beside the effective ones of the scenarios.")


def _figures(
    page: Page, plans: list[Setup], root: Path, found: dict[str, pd.DataFrame], readings: pd.DataFrame, effort: Effort
) -> None:
    page.section("Figures 1, 4 and 5")
    page.flowchart(diagrams.figure_1(), caption="▪ marks what PC-RED adds to RED (grey in the paper).")
    page.topology(
        pick(plans, case="PC-RED")[0].plan,
        key="figure-4",
        title="Figure 4: Network 1",
        caption="Each flow has hosts of its own.",
    )
    page.topology(
        pick(plans, case="mesh, 10 %")[0].plan,
        key="figure-5",
        title="Figure 5: Network 2",
        caption="The paper's links are not known; this is a torus of 3 by 4 routers with 40 hosts each.",
    )
    page.heading("Why the queue fluctuates more")
    page.text(
        "The paper takes the time that the additional functions need as the cause. The simulated router needs none. "
        "The middle row has PC-RED's victims (a random packet of the queue pays in place of the arriving one) with "
        "an L that no flow ever loses, so that no flow is protected."
    )
    page.chart(figures.average_queue(plans, root), command=common.command(FILES.key, effort))
    page.table(
        intervals_text(found["fluctuation"]), caption="Queue and average in packets, after the first 100 s.", digits=4
    )
    gentle = readings[readings["reading"] == model_page.GENTLE]
    if len(gentle):
        red, full = (float(gentle[f"{case}: s.d."].iloc[0]) for case in ("RED", "PC-RED"))
        page.text(
            "Classic RED has a step at max_th, from where on every arrival costs a packet. With gentle RED's curve, "
            f"which has none, the s.d. of the average is {red:.2f} packets under RED and {full:.2f} under PC-RED."
        )


def _unmeasured(
    page: Page, base: pd.DataFrame, plans: list[Setup], root: Path, found: dict[str, pd.DataFrame], effort: Effort
) -> None:
    page.section("What the paper left unmeasured")
    again = common.command(FILES.key, effort)
    page.chart(figures.loss_against_time(plans, root), command=again)
    page.chart(figures.protected_against_time(plans, root), command=again)
    page.chart(figures.drop_probability(base), command=again)
    page.table(
        intervals_text(found["drop-probabilities"]),
        caption="Drop probability of data packets by what their flow's status was at arrival.",
        digits=3,
    )
    page.heading("r_p_max as an admission limit", listed=True)
    page.text(
        "The paper names r_p_max and leaves its mechanism open. Here the router counts the flows in its list: a flow "
        "that would bring the share of high-priority flows above r_p_max is reported, or rejected, and a rejected "
        "flow is treated as one without priority until there is room. At the end of a run it says, warning and "
        "refusing:"
    )
    for name in ("warn", "refuse"):
        (setup,) = pick(plans, case=name)
        page.code("\n".join(warnings_of(setup.run_folder(root, figures.SEED))))
    page.chart(figures.share_of_priority(plans, root), command=again)
    page.table(
        intervals_text(found["admission"]),
        caption="Two high-priority flows of 16, and four more that ask for priority from 500 s on; after 600 s. The "
        "last column counts flows that were reported, or packets that were denied priority.",
        digits=4,
    )


def _readings(page: Page, found: dict[str, pd.DataFrame], readings: pd.DataFrame, effort: Effort) -> None:
    common.readings_chosen(page, FILES)
    page.table(
        intervals_text(found["measurement"]),
        caption="Readings of how the paper measured; they need no runs of their own. Printed averages: RED 3.85, "
        "PC-RED 11.5, w = 5e-3 8.5, 10 % 10.8 and 3, 30 % 8 and 0.5 KB/s; printed a_d 71, 70, 120, 80, 130; printed "
        "fluctuation 8, 2, 23, 4, 45.",
        digits=3,
    )
    page.table(found["verdicts-by-bins"], caption="How the verdicts on throughputs move with the bins, on all seeds.")
    page.table(
        intervals_text(readings),
        caption=f"What each other reading, taken alone, makes of Network 1, {effort.reading_seeds} seeds; "
        f"mid-ranges. The factor is the root mean square of ln(measured / printed) over Tables I, II and IV, as a "
        f"factor.",
        digits=3,
    )
    page.table(
        found["reading-verdicts"],
        caption=f"How the verdicts on Network 1 move, {effort.reading_seeds} seeds.",
    )
    if "mesh-readings" in found:
        page.table(
            intervals_text(found["mesh-readings"]), caption="The readings of Network 2: class means in KB/s.", digits=3
        )
