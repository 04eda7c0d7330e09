"""The report: verdicts first, then tables, figures, readings and provenance."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab.reporting.page import Page
from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Built, Setup, chosen, findings_table, parts_table
from aqmlab.reproduction.papers.mred import chain, figures, sensitivity, tables
from aqmlab.reproduction.papers.mred.claims import find, judge
from aqmlab.reproduction.papers.mred.measure import LOSSES, figure_setups, measure
from aqmlab.reproduction.papers.mred.plan import CASES, FIGURE_N, FILES, WEIGHT, Effort, setups
from aqmlab.reproduction.papers.mred.published import TABLES

NAME = "MRED"
CITATION = "Zhang, Ma, Wang and Xu, “MRED: An Improved Nonlinear RED Algorithm”"


def build(effort: Effort, root: Path) -> Built:
    """Read the runs and put the report together."""
    plans = setups(effort)
    all_runs = measure(plans, root)
    base = chosen(all_runs)
    findings, parts = judge(all_runs)
    readings = sensitivity.readings_table(all_runs, effort)
    found = {
        f"table-{number}": tables.beside(base, case=case, quantity=quantity, key=_key(quantity))
        for number, (case, quantity) in TABLES.items()
    }
    found["parameters"] = tables.parameter_table(figure_setups(plans, "sole")[-1])
    found["stability"] = tables.stability(base)
    found["claim-parts"] = parts_table(parts)
    found["reading-verdicts"] = sensitivity.verdicts(all_runs, effort)
    averaged = chain.averaged(effort, root)
    found["chain"] = chain.averaged_table(averaged)
    found["chain-at-tcp-loads"] = chain.at_tcp_loads(base)
    found["chain-claims"] = chain.against_tcp([f for f in findings if f.reading == "ns-2's"], averaged)
    found["gaps"] = common.gaps(FILES, base)
    page = Page(
        f"{NAME} reproduced: published beside measured",
        f"{CITATION}. {effort.seeds} seeds a point; every mean with its 95 % Student interval, every comparison paired "
        "by seed.",
    )
    paper = common.card(NAME, findings, parts, find(all_runs), run=common.effort_words(effort, plans))
    common.summary(
        page,
        FILES,
        findings,
        paper=paper,
        effort=effort,
        quick_note="This is the quick version, with few seeds and a part of the readings. `aqmlab reproduce mred` runs "
        "50 seeds and all readings.",
    )
    _tables(page, base, found)
    _figures(page, base, plans, root, effort)
    _chain(page, found, averaged, effort)
    common.gaps_section(page, FILES, found["gaps"])
    common.claims_in_detail(page, findings, found["claim-parts"])
    _readings(page, readings, found["reading-verdicts"], effort)
    example = run_command("sole", 20, "mred", effort.seeds)
    common.provenance(page, FILES, plans, effort, scenarios=list(CASES), example=example)
    return Built(page, found, findings_table(findings), readings, paper)


def run_command(case: str, n: int, discipline: str, seeds: int) -> str:
    """Return the command that makes one point of a table or figure again."""
    settings = f"--set flow.tcp.count={n} --set queue.bottleneck.aqm={discipline}"
    return f"aqmlab run paper:mred/{case}.toml {settings} --seeds {seeds}"


def compare_command(case: str) -> str:
    """Return the command that makes Figure 6 or 7 again, in the report of a comparison."""
    settings = f"--aqm red,gentle-red,mred --set flow.tcp.count={FIGURE_N} --seeds 1 --out again"
    return f"aqmlab compare paper:mred/{case}.toml {settings} && aqmlab report again"


def _key(quantity: str) -> str:
    return "loss_trace" if quantity == "loss" else quantity


def _tables(page: Page, base: pd.DataFrame, found: dict[str, pd.DataFrame]) -> None:
    page.section("Tables 1 to 4")
    for number, (case, quantity) in TABLES.items():
        unit = "Mb/s at the bottleneck, all packets" if quantity == "throughput" else LOSSES["loss_trace"]
        page.heading(f"Table {number}: {quantity}, {CASES[case]}", listed=True)
        page.table(
            tables.beside_text(found[f"table-{number}"]),
            caption=f"{quantity.capitalize()} ({unit}); ratio is measured / printed.",
        )
        page.table(
            tables.differences_text(tables.differences(base, case=case, quantity=quantity, key=_key(quantity))),
            caption="Differences, paired by seed, with 95 % intervals and two-sided p.",
            digits=3,
        )
    page.heading("Loss by its other definitions")
    page.text(
        "The paper heads its loss columns with % but prints fractions, and divides by something larger than the "
        "bottleneck's arrivals. Counting every enqueue event of the whole network fits (table below)."
    )
    page.table(
        sensitivity.loss_definitions(base),
        caption="Each definition against the printed RED columns.",
        digits=3,
    )
    for number, case in (("2", "sole"), ("4", "mixed")):
        for key in ("loss_data", "loss_both"):
            table = tables.beside(base, case=case, quantity="loss", key=key)
            page.table(tables.beside_text(table), caption=f"Table {number} with loss as {LOSSES[key]}.")
    page.heading("Parameter table", listed=True)
    page.table(found["parameters"], caption="Printed parameters beside the effective ones of the scenario.")


def _figures(page: Page, base: pd.DataFrame, plans: list[Setup], root: Path, effort: Effort) -> None:
    page.section("Figures 1 to 7")
    again = common.command(FILES.key, effort)
    page.chart(figures.figure_1(plans), command="aqmlab draw paper:mred/sole.toml --set queue.bottleneck.aqm=red")
    mixed = figure_setups(plans, "mixed")[-1].plan
    page.topology(
        mixed,
        key="figure-2",
        title="Figure 2: network",
        caption="n TCP flows and, in the mixed case, two of UDP; each with hosts of its own.",
    )
    for number, case, quantity in (
        ("3", "sole", "throughput"),
        ("4", "mixed", "throughput"),
        ("5", "mixed", "loss"),
    ):
        page.chart(
            figures.against_n(
                base,
                key=f"figure-{number}",
                case=case,
                quantity=quantity,
                number=f"Figure {number}",
                column=_key(quantity),
            ),
            command=again,
        )
    for case in CASES:
        page.chart(figures.average_against_time(plans, root, case), command=compare_command(case))
    page.table(
        tables.stability_text(tables.stability(base)),
        caption="RED's average over time, in packets: mean and standard deviation, averaged over the seeds.",
        digits=4,
    )


def _chain(page: Page, found: dict[str, pd.DataFrame], averaged: chain.Averaged, effort: Effort) -> None:
    page.section("By the chain")
    page.text(
        "What the curves do without TCP: Poisson arrivals of a given load into the paper's queue, an open loop, solved "
        "as a Markov chain (that of the ExRED paper, for any curve). At most 100 packets are in the system, the one in "
        "service included; drops are not spaced; packets have 1040 B on average and exponential lengths. MRED is never "
        "above RED at any average, so here it always drops less and carries more; under TCP the load is no longer "
        "given, but made by the drops."
    )
    page.table(
        found["chain-claims"],
        caption="The paper's claims in the open loop and under TCP. Agree: whether both say the same; open where TCP "
        "left the claim undecided.",
    )
    page.text(_agreement(found["chain-claims"], found["chain-at-tcp-loads"]))
    for chart in figures.by_chain(averaged):
        page.chart(chart, command=common.command(FILES.key, effort))
    page.table(
        found["chain"],
        caption=f"Number in system and average together, w = {WEIGHT:g}: the chain that has RED's average.",
        digits=4,
    )
    page.table(
        found["chain-at-tcp-loads"],
        caption="TCP alone beside the chain (w = 1) at the load that TCP offered (arrivals at the bottleneck over what "
        "it can carry). Packets waiting are those not in service.",
        digits=4,
    )


def _agreement(claims: pd.DataFrame, points: pd.DataFrame) -> str:
    """Say where the open loop agrees with TCP, and where it cannot."""

    def named(word: str) -> str:
        rows = claims[claims["agree"] == word]
        names = [c + (f" ({a})" if a else "") for c, a in zip(rows["claim"], rows["against"], strict=True)]
        return ", ".join(names) if names else "none"

    def ratios(quantity: str) -> str:
        found = points[f"{quantity}, TCP"] / points[f"{quantity}, chain"]
        return f"{found.min():.2f} to {found.max():.2f}"

    low, high = points["offered load"].min(), points["offered load"].max()
    return (
        f"Both say the same on {named('yes')}; they differ on {named('no')}; open: {named('open')}. At the loads that "
        f"TCP offered ({low:.2f} to {high:.2f}) TCP has {ratios('loss')} times the chain's loss, {ratios('Mb/s')} "
        f"times its throughput and {ratios('packets waiting')} times its packets waiting. What the chain cannot say: "
        "which load n flows make, that a flow backs off after a drop, and that many of them do so at once after a run "
        "of drops, so that the link idles."
    )


def _readings(page: Page, readings: pd.DataFrame, verdicts: pd.DataFrame, effort: Effort) -> None:
    common.readings_chosen(page, FILES)
    flows = ", ".join(map(str, effort.reading_flows))
    page.table(
        sensitivity.readings_text(readings),
        caption=f"How much each reading matters, at n = {flows}, {effort.reading_seeds} seeds: error against the "
        "printed RED columns and against the printed differences MRED - RED, and MRED - RED averaged over n with its "
        "95 % interval over the seeds. A printed difference is in reach if it lies where one further run would with "
        "95 % probability.",
        digits=3,
    )
    page.table(
        verdicts,
        caption=f"How the verdicts move, at n = {flows}, {effort.reading_seeds} seeds, against RED.",
    )
