"""The report: verdicts first, then tables, figures, the search for Table I, forms, readings and provenance."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab.reporting.page import Page
from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Built, Setup, batches, chosen, findings_table, parts_table, pick
from aqmlab.reproduction.papers.ddred import figures, sensitivity, sweep, tables
from aqmlab.reproduction.papers.ddred.claims import claim_rows, judge
from aqmlab.reproduction.papers.ddred.measure import gains, measure
from aqmlab.reproduction.papers.ddred.plan import CASES, FILES, Effort, forms, setups, variants

NAME = "DDRED"
CITATION = "Dedu, Linck and Spies, “Distance-Dependent RED Policy (DDRED)”"
CLOSEST = 15
"""So many of the readings closest to Table I's DDRED row are shown."""


def jobs(effort: Effort, root: Path) -> list[common.Batch]:
    """List every run that is needed."""
    return batches([*setups(effort), *sweep.points(effort)], root)


def build(effort: Effort, root: Path) -> Built:
    """Read the runs and put the report together."""
    plans = setups(effort)
    runs = measure(plans, root)
    base = chosen(runs)
    red, ddred = (pick(plans, case="flower", discipline=d)[0] for d in ("RED", "DDRED"))
    gained = gains(red, ddred, root)
    findings, parts = judge(base, gained, experiments=runs)
    search = sweep.results(effort, root)
    found = {
        "table-1": tables.table_1(base),
        "means-bus": tables.means(base, "bus"),
        "means-flower": tables.means(base, "flower"),
        "figure-13": tables.fairness(base),
        "table-1-search": search,
        "countings": tables.countings(base),
        "claim-parts": parts_table(parts),
    }
    for name, kinds in (("reading", variants(effort)), ("form", forms(effort))):
        of = sensitivity.by_variant(runs, kinds, effort)
        found[f"{name}s"] = sensitivity.sizes(of)
        found[f"{name}-verdicts"] = sensitivity.verdicts(of, plans, kinds, root, effort)
    readings = found.pop("readings")
    page = Page(
        f"{NAME} reproduced: published beside measured",
        f"{CITATION}. {effort.seeds} seeds a point ({effort.flower_seeds} on the flower); every mean with its 95 % "
        "Student interval, every comparison paired by seed: RED and DDRED have the same transfers.",
    )
    rows = claim_rows(base, gained)
    finding = common.find(FILES.claim_file(), rows, cells=FILES.cells())
    seeds = f"{effort.seeds} seeds a point ({effort.flower_seeds} on the flower)"
    run = common.effort_words(effort, plans, seeds=seeds)
    paper = common.card(NAME, findings, parts, finding, run=run)
    found["gaps"] = common.gaps(FILES, rows)
    common.summary(
        page,
        FILES,
        findings,
        paper=paper,
        effort=effort,
        quick_note="This is the quick version, with few seeds, a part of the readings and a part of the search for "
        "Table I. `aqmlab reproduce ddred` runs 50 seeds, the flower 11 times, and all readings.",
    )
    _tables(page, found)
    _figures(page, base, plans, root, effort)
    _search(page, search, effort)
    _forms(page, found, effort)
    common.gaps_section(page, FILES, found["gaps"])
    common.claims_in_detail(page, findings, found["claim-parts"])
    _readings(page, readings, found["reading-verdicts"], effort)
    example = run_command("bus", "ddred", effort.seeds)
    common.provenance(page, FILES, plans, effort, scenarios=list(CASES), example=example)
    return Built(page, found, findings_table(findings), readings, paper)


def run_command(case: str, aqm: str, seeds: int, settings: str = "") -> str:
    """Return the command that runs one point again."""
    return f"aqmlab run paper:ddred/{case}.toml --set queue.router.aqm={aqm}{settings} --seeds {seeds}"


def _tables(page: Page, found: dict[str, pd.DataFrame]) -> None:
    page.section("Tables")
    page.heading("Table I: throughput of the two flows", listed=True)
    page.table(
        common.beside_text(found["table-1"], tables.CELLS, keys=["latency, ms"]),
        caption="KB/s (1000 B, headers counted) arriving in 10 s; ratio is measured / printed.",
    )
    for case in ("bus", "flower"):
        page.heading(f"Means in the text: {CASES[case]}", listed=True)
        page.table(
            tables.means_text(found[f"means-{case}"]),
            caption="Means over the runs; the change is DDRED / RED - 1, seed by seed.",
        )
    page.text(
        "What is a fit and what is not: the number of routers on the bus, its delay and window, the flower's core and "
        "which packets L counts were chosen by the printed means of the bus and by RED's means of the flower; the "
        "workstations' queues by Table I. What DDRED does to the flower, its transfers (Figure 11) and the turns of "
        "the two flows (Figure 12) were not used for any choice, but for one: the 0.5 s below which a transfer counts "
        "as even (reading D-13) were chosen by the 49 transfers that the printed numbers leave out."
    )
    page.heading("How losses are counted")
    page.table(
        common.intervals_text(found["countings"], signed=["L, DDRED / RED - 1, %"]),
        caption="L and the mean distance S/L, with all packets and with data packets only: DDRED often finds an "
        "acknowledgement nearest, which costs little and which the paper seems not to have counted.",
        digits=4,
    )


def _figures(page: Page, base: pd.DataFrame, plans: list[Setup], root: Path, effort: Effort) -> None:
    page.section("Figures 1 to 13")
    again = common.command(FILES.key, effort)
    page.chart(figures.figure_1(), command="aqmlab draw paper:ddred/pair.toml")
    _network(page, plans, "bus", "figure-2", "Figure 2: bus")
    for quantity, number in (("L", 3), ("S", 5), ("T", 6)):
        if quantity == "S":
            page.chart(figures.losses_by_distance(plans, root), command=again)
        page.chart(figures.by_run(base, "bus", quantity, number=number), command=again)
    _network(page, plans, "flower", "figure-7", "Figure 7: flower")
    for quantity, number in (("L", 8), ("S", 9), ("T", 10)):
        page.chart(figures.by_run(base, "flower", quantity, number=number), command=again)
    page.chart(figures.gains_by_transfer(plans, root), command=again)
    _network(page, plans, "pair", "network-pair", "The network of section VI")
    page.chart(figures.throughput_against_time(plans, root), command=again)
    page.chart(figures.fairness_against_latency(base), command=again)
    page.table(
        common.intervals_text(tables.fairness(base), signed=["min/max, DDRED - RED"]),
        caption="The numbers of Figure 13, and the sum of the two throughputs.",
        digits=3,
    )


def _network(page: Page, plans: list[Setup], case: str, key: str, title: str) -> None:
    plan = pick(plans, case=case, discipline="DDRED")[0].plan
    page.topology(plan, key=key, title=title, caption=plan.name)


def _search(page: Page, search: pd.DataFrame, effort: Effort) -> None:
    page.section("Search for Table I")
    best = search.iloc[0]
    inside = int(search["DDRED row inside"].sum())
    page.text(
        f"{len(search)} readings of what Table I leaves open, {effort.sweep_seeds} seeds each. The closest has an "
        f"error (root mean square of log(measured / printed) over the eight cells) of {best['DDRED error']:.3f} in the "
        f"DDRED row and {best['RED error']:.3f} in the RED row. The printed DDRED row, which is one run, lies inside "
        f"the 95 % prediction interval of one further run under {inside} of them (Bonferroni over the eight cells); "
        f"at most {int(search['DDRED cells inside'].max())} of its cells do so each by itself."
    )
    page.table(sweep.shown(search.head(CLOSEST)), caption="The readings closest to the printed DDRED row.", digits=3)
    fits = search.sort_values("both error").head(CLOSEST)
    page.table(sweep.shown(fits), caption="The readings closest to both rows.", digits=3)


def _forms(page: Page, found: dict[str, pd.DataFrame], effort: Effort) -> None:
    page.section("What the paper left unmeasured")
    page.text(
        "DDRED with ECN, on tail drop, and by its second method, each against its own baseline, on all three networks: "
        f"{effort.reading_seeds} seeds, {effort.flower_reading_seeds} on the flower. The verdicts are those on the "
        "paper's claims, put to the form."
    )
    caption = "What the form changes against its baseline, and how the verdicts move."
    _sizes(page, found["forms"], found["form-verdicts"], caption=caption)


def _readings(page: Page, table: pd.DataFrame, verdicts: pd.DataFrame, effort: Effort) -> None:
    common.readings_chosen(page, FILES)
    _sizes(
        page,
        table,
        verdicts,
        caption=f"How much each reading matters: {effort.reading_seeds} seeds, {effort.flower_reading_seeds} on the "
        "flower. Changes are DDRED / RED - 1.",
    )


def _sizes(page: Page, table: pd.DataFrame, verdicts: pd.DataFrame, *, caption: str) -> None:
    signed = [column for column in table.columns if column.endswith("%")]
    page.table(common.intervals_text(table, signed=signed), caption=caption, digits=3)
    page.table(verdicts, caption="Verdicts on the claims.")
