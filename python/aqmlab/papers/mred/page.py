"""The report: verdicts first, then tables, figures, readings and provenance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from aqmlab import _core
from aqmlab.papers.mred import pictures, sensitivity, tables
from aqmlab.papers.mred.claims import Finding, judge, parts_table
from aqmlab.papers.mred.measure import LOSSES, chosen, figure_setups, measure
from aqmlab.papers.mred.plan import CASES, FIGURE_N, Effort, Setup, scenario_text, setups
from aqmlab.papers.mred.published import TABLES
from aqmlab.reporting.page import Page

TITLE = "MRED reproduced: published beside measured"


@dataclass(frozen=True)
class Built:
    """What a reproduction found, and its report."""

    page: Page
    tables: dict[str, pd.DataFrame]
    claims: pd.DataFrame
    readings: pd.DataFrame


def build(effort: Effort, root: Path) -> Built:
    """Read the runs and put the report together."""
    plans = setups(effort)
    all_runs = measure(plans, root)
    base = chosen(all_runs)
    findings, parts = judge(base)
    readings = sensitivity.readings_table(all_runs, effort)
    found = {
        f"table-{number}": tables.beside(base, case=case, quantity=quantity, key=_key(quantity))
        for number, (case, quantity) in TABLES.items()
    }
    found["parameters"] = tables.parameter_table(figure_setups(plans, "sole")[-1])
    found["stability"] = tables.stability(base)
    found["claim-parts"] = parts_table(parts)
    page = Page(
        TITLE,
        "Zhang, Ma, Wang and Xu, “MRED: An Improved Nonlinear RED Algorithm”. "
        f"{effort.seeds} seeds a point; every mean with its 95 % Student interval, every comparison paired by seed.",
    )
    _summary(page, findings, effort)
    _tables(page, base, found)
    _figures(page, base, plans, root, effort)
    _claims(page, findings, found["claim-parts"])
    _readings(page, base, readings, effort)
    _provenance(page, plans, effort)
    return Built(page, found, findings_table(findings), readings)


def findings_table(findings: list[Finding]) -> pd.DataFrame:
    """Return the verdicts as a table."""
    return pd.DataFrame(
        [
            {
                "claim": f.claim,
                "title": f.title,
                "against": f.against,
                "verdict": str(f.verdict),
                "found": f.found,
            }
            for f in findings
        ]
    )


def command(effort: Effort) -> str:
    """Return the command that makes this report again."""
    return f"aqmlab reproduce mred{' --quick' if effort.quick else ''} --seeds {effort.seeds}"


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


def _summary(page: Page, findings: list[Finding], effort: Effort) -> None:
    page.section("Summary")
    entries = []
    for finding in findings:
        against = f" (against {_name(finding.against)})" if finding.against else ""
        entries.append((str(finding.verdict), f"{finding.claim}  {finding.title}{against}", finding.found))
    page.verdicts(entries)
    page.text(
        "A claim holds if every part of it does: the 95 % interval of the paired difference lies wholly on the claimed "
        "side. It fails if a part lies wholly on the other side and still does so after Holm's correction for the "
        f"number of parts. Otherwise it is undecided at this n of {effort.seeds} seeds.",
        note=True,
    )
    if effort.quick:
        page.text(
            "This is the quick version, with few seeds and a part of the readings. `aqmlab reproduce mred` runs "
            "50 seeds and all readings.",
            note=True,
        )


def _tables(page: Page, base: pd.DataFrame, found: dict[str, pd.DataFrame]) -> None:
    page.section("Tables 1 to 4")
    for number, (case, quantity) in TABLES.items():
        unit = "Mb/s at the bottleneck, all packets" if quantity == "throughput" else LOSSES["loss_trace"]
        page.heading(f"Table {number}: {quantity}, {CASES[case]}")
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
    page.heading("Parameter table")
    page.table(found["parameters"], caption="Printed parameters beside the effective ones of the scenario.")


def _figures(page: Page, base: pd.DataFrame, plans: list[Setup], root: Path, effort: Effort) -> None:
    page.section("Figures 1 to 7")
    again = command(effort)
    page.chart(pictures.figure_1(plans), command="aqmlab draw paper:mred/sole.toml --set queue.bottleneck.aqm=red")
    page.heading("Figure 2: network")
    mixed = figure_setups(plans, "mixed")[-1].plan
    page.topology(
        mixed,
        key="figure-2",
        caption="n TCP flows and, in the mixed case, two of UDP; each with hosts of its own.",
    )
    for number, case, quantity in (
        ("3", "sole", "throughput"),
        ("4", "mixed", "throughput"),
        ("5", "mixed", "loss"),
    ):
        page.chart(
            pictures.against_n(
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
        page.chart(pictures.average_against_time(plans, root, case), command=compare_command(case))
    page.table(
        tables.stability_text(tables.stability(base)),
        caption="RED's average over time, in packets: mean and standard deviation, averaged over the seeds.",
        digits=4,
    )


def _claims(page: Page, findings: list[Finding], parts: pd.DataFrame) -> None:
    page.section("Claims in detail")
    for finding in {f.claim: f for f in findings}.values():
        page.heading(f"{finding.claim}: {finding.title}")
        page.text(f"The paper says: {finding.says}")
        page.text(f"Tested: {finding.test}", note=True)
        own = parts[parts["claim"] == finding.claim].drop(columns="claim")
        page.table(own, caption=f"Parts of {finding.claim}.", digits=3)


def _readings(page: Page, base: pd.DataFrame, readings: pd.DataFrame, effort: Effort) -> None:
    page.section("Readings")
    page.text("What the paper leaves open, what was chosen, and how much each other reading, taken alone, changes.")
    page.table(sensitivity.reading_notes(effort), caption="Readings chosen.")
    flows = ", ".join(map(str, effort.reading_flows))
    page.table(
        sensitivity.readings_text(readings),
        caption=f"How much each reading matters, at n = {flows}, {effort.reading_seeds} seeds: error against the "
        "printed RED columns, and MRED - RED averaged over n with its 95 % interval over the seeds.",
        digits=3,
    )


def _provenance(page: Page, plans: list[Setup], effort: Effort) -> None:
    page.section("Provenance")
    page.text(f"aqmlab {_core.version()}. The whole report: `{command(effort)}`. One point of it, for example:")
    page.code(run_command("sole", 20, "mred", effort.seeds))
    for case in CASES:
        page.code(scenario_text(case), fold=f"Scenario paper:mred/{case}.toml")
    lines = [f"{s.plan.hash[:16]}  {s.case:5}  n = {s.n:2}  {s.discipline:10}  {s.reading}" for s in plans]
    page.code("\n".join(lines), fold=f"Hashes of the {len(plans)} scenarios")


def _name(baseline: str) -> str:
    return "classic RED" if baseline == "RED" else baseline
