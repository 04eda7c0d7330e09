"""The paper's page: Table I, the means and Figures 1 to 13 beside the runs, the search for Table I, forms, readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.figures import drop_curves
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers.common import (
    READINGS,
    SEEDS,
    Content,
    Figure,
    Fit,
    Key,
    Line,
    Network,
    P,
    Paper,
    Printed,
    Section,
    Study,
    Table,
    Text,
    beside_text,
    intervals_table,
    intervals_text,
    pick,
    with_intervals,
)
from aqmlab.papers.common.tables import beside_row
from aqmlab.papers.ddred import measure, paths, plan, sweep
from aqmlab.papers.ddred.claims import CLAIMS
from aqmlab.papers.ddred.plan import CASES, DISCIPLINES, FILES, METHOD_2, NETWORKS, TAIL_DROP
from aqmlab.statistics import Interval

QUANTITIES = {
    "L": "lost data packets L, packets",
    "S": "losses weighted by distance S, slots",
    "d": "mean distance of the losses S/L, routers",
    "T": "sum of transfer times T, s",
}
ABOUT_NETWORKS = {
    "bandwidth": ("global bandwidth", ", KB/s"),
    "flow_mean": ("mean bandwidth of a transfer", ", KB/s"),
    "flow_median": ("median bandwidth of a transfer", ", KB/s"),
    "jain": ("Jain's index", ""),
    "lossy": ("routers that lose data packets", ""),
}
PATHS = "path-length"
"""The key figure: transfer times by the length of the path."""
CLOSEST = 15
"""So many of the readings closest to Table I are shown."""
POINTS = "{seeds} seeds a point ({flower_seeds} on the flower)"


def page(study: Study) -> Iterator[Section]:
    """Make the sections of the page."""
    fits = Text(
        "Fitted and unfitted values: the number of routers on the bus, its delay and window, the flower's core and "
        "which packets L counts were chosen by the printed means of the bus and by RED's means of the flower; the "
        "workstations' queues by Table I. What DDRED does to the flower, its transfers (Figure 11) and the turns of "
        "the two flows (Figure 12) were not used for any choice, but for one: the 0.5 s below which a transfer counts "
        "as even (reading D-13) were chosen by the 49 transfers that the printed numbers leave out."
    )
    yield Section("Transfers by the length of their path", list(by_path(study)))
    yield Section("Tables", [table_1(study), *(means(study, case) for case in NETWORKS), fits, countings(study)])
    yield Section("Figures 1 to 13", list(figures(study)))
    yield Section("Search for Table I", list(search(study)))
    seeds = f"{study.effort.reading_seeds} seeds, {study.effort.flower_reading_seeds} on the flower"
    others = study.under(plan.forms(study.effort))
    yield Section(
        "Left unmeasured by the paper",
        [
            Text(
                "DDRED with ECN, on tail drop, and by its second method, each against its own baseline, on all three "
                f"networks: {seeds}. The verdicts are those on the paper's claims, put to the form."
            ),
            sizes(study, "forms", others, "Effect of the form on its baseline and on the verdicts."),
            Table("form-verdicts", study.verdicts(others), caption="Verdicts on the claims."),
        ],
    )
    caption = f"How much each reading matters: {seeds}. Changes are DDRED / RED - 1."
    verdicts = study.reading_verdicts(caption="Verdicts on the claims.")
    yield Section(READINGS, [sizes(study, "readings", study.readings, caption), verdicts])


def rows(study: Study) -> pd.DataFrame:
    """Return the runs with the gains of the flower's transfers, and with losses counted in other ways as readings."""
    found, of = [], ["reading", "seed"]
    for setup in study.setups:
        if (setup.key["case"], setup.key["discipline"]) == ("flower", "DDRED"):
            (red,) = pick(study.setups, reading=setup.reading, case="flower", discipline="RED")
            for seed in range(1, min(red.seeds, setup.seeds) + 1):
                gained = measure.gains_of(red.run_folder(study.root, seed), setup.run_folder(study.root, seed))
                found.append({"reading": setup.reading, "seed": seed, **measure.sums_of(gained)})
    gains = pd.DataFrame(found, columns=[*of, *measure.sums_of(np.zeros(0))]).astype({"reading": str, "seed": int})
    runs = pd.concat([with_gains(study.frame, gains).assign(routers=0), by_length(study)], ignore_index=True)
    return with_forms(with_savings(with_countings(runs, study)), study)


def by_length(study: Study) -> pd.DataFrame:
    """Return a row per network, discipline, seed and number of routers on the path, with the mean transfer time."""
    found = [
        {**setup.key, "reading": setup.reading, "seed": seed, "routers": routers, "time": time}
        for case in NETWORKS
        for setup in pick(study.setups, case=case)
        for seed in range(1, setup.seeds + 1)
        for routers, time in paths.times_by_length(setup, setup.run_folder(study.root, seed)).items()
    ]
    return pd.DataFrame(found, columns=["case", "latency", "discipline", "reading", "seed", "routers", "time"])


def with_gains(runs: pd.DataFrame, gained: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with the gains of the flower's transfers, in the rows of DDRED."""
    where: dict[str, Any] = {"case": "flower", "latency": 0, "discipline": "DDRED"}
    return runs.merge(gained.assign(**where), how="left", on=[*where, "reading", "seed"])


def with_countings(runs: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the runs, and those of bus and flower again for each reading that counts losses in another way."""
    base = runs[(runs["reading"] == "base") & runs["case"].isin(["bus", "flower"])]
    others = [
        measure.counted(base, reading.options["count"]).assign(reading=reading.label)
        for reading in plan.readings(study.effort)
        if "count" in reading.options
    ]
    return pd.concat([runs, *others], ignore_index=True)


def with_savings(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with ``together``, whose mean over the seeds is the correlation of DDRED's changes of S and T.

    It is the product of both changes, each less its mean and divided by its standard deviation over the seeds.
    """
    found = runs.assign(together=np.nan)
    of = runs[runs["case"].isin(NETWORKS) & (runs["routers"] == 0) & runs["discipline"].isin(DISCIPLINES)]
    for _, own in of.groupby(["case", "reading"]):
        by_seed = own.pivot(index="seed", columns="discipline", values=["S", "T"])
        if len(by_seed) < 2 or by_seed.isna().to_numpy().any() or len(by_seed.columns) < 4:
            continue
        changes = [by_seed[key]["DDRED"] - by_seed[key]["RED"] for key in ("S", "T")]
        slots, time = ((change - change.mean()) / change.std(ddof=0) for change in changes)
        rows = own[own["discipline"] == "DDRED"]
        found.loc[rows.index, "together"] = rows["seed"].map(slots * time)
    return found


def with_forms(runs: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the runs, and those of the forms on bus and flower again as disciplines of the chosen reading."""
    copies = []
    for form in plan.forms(study.effort):
        names = form.options.get("named", {})
        own = runs[(runs["reading"] == form.label) & runs["case"].isin(NETWORKS) & runs["discipline"].isin(names)]
        copies.append(own.assign(reading="base", discipline=own["discipline"].map(names)))
    return pd.concat([runs, *copies], ignore_index=True)


def by_path(study: Study) -> Iterator[Text | Figure | Table]:
    """Yield transfer times by the length of the path, bandwidths, fairness, and routers with losses."""
    yield Text(
        "The paper sums all transfer times. Here they are divided by the number of routers on the path of a transfer: "
        "a path of two routers is the shortest, one of eight the longest on the bus, one of eleven on the flower."
    )
    times = {CASES[case]: study.runs.of("time", "DDRED", case=case).less("RED").percent() for case in NETWORKS}
    yield study.chart(
        PATHS,
        "Transfer time under DDRED against RED, by routers on the path",
        times,
        x="routers",
        caption="Mean of the runs with its 95 % interval, paired by seed.",
        x_label="routers on the path",
        y_label="change of the mean transfer time, %",
        levels=[(0.0, "as under RED")],
    )
    columns: dict[str, Content] = {}
    for key, (title, unit) in ABOUT_NETWORKS.items():
        columns[f"{title}, RED{unit}"] = study.runs.of(key, "RED")
        columns |= {
            f"{title}, {name} - RED{unit}": study.runs.gain(key, name, over="RED") for name in ("DDRED", METHOD_2)
        }
    yield study.table(
        "networks", columns, rows={"case": "network"}, of={"case": NETWORKS, "routers": 0},
        caption="Global bandwidth is that of all bytes until the last transfer is done; the bandwidth of a transfer is "
        "its bytes over its time.",
        digits=4,
    )  # fmt: skip


def table_1(study: Study) -> Table:
    """Return Table I."""
    return study.table(
        "table-1",
        {f"{name} {flow}": study.runs.of(flow, name) for name in DISCIPLINES for flow in sweep.FLOWS},
        rows={"latency": "latency, ms"},
        of={"case": "pair", "latency": plan.TABLE_LATENCIES},
        beside=True,
        heading="Table I: throughput of the two flows",
        caption="KB/s (1000 B, headers counted) arriving in 10 s; ratio is measured / printed.",
    )


def means(study: Study, case: str) -> Table:
    """Return the means of L, S, T and S/L over the runs, beside the printed ones, and how DDRED changes them."""
    rows: list[dict[str, str | float | Interval]] = []
    for key, title in QUANTITIES.items():
        both = {name: study.runs.of(key, name, case=case) for name in DISCIPLINES}
        change = study.runs.gain(key, "DDRED", over="RED", case=case).percent()
        row = beside_row({"quantity": title}, {name: (one.only, one.printed[0]) for name, one in both.items()})
        rows.append({**row, "printed change, %": change.printed[0], "measured change, %": change.only})
    table = intervals_table(rows)
    shown = beside_text(table, list(DISCIPLINES), keys=["quantity"]).assign(
        **{
            "printed change, %": [f"{value:+.1f}" for value in table["printed change, %"]],
            "measured change, %": with_intervals(table, "measured change, %", signed=True),
        }
    )
    caption = "Means over the runs; the change is DDRED / RED - 1, seed by seed."
    return Table(f"means-{case}", table, shown, heading=f"Means in the text: {case}", caption=caption)


def countings(study: Study) -> Table:
    """Return L, and the mean distance S/L, by each way of counting losses, with the printed ones first."""
    ways = {"data packets, everywhere (chosen)": ""}
    ways |= {reading.name: reading.label for reading in plan.readings(study.effort) if "count" in reading.options}
    change = "L, DDRED / RED - 1, %"
    rows: list[dict[str, str | float | Interval]] = []
    for case in NETWORKS:
        columns = {
            f"{title}, {name}": study.runs.of(key, name, case=case)
            for name in DISCIPLINES
            for title, key in (("L", "L"), ("S/L", "d"))
        }
        columns[change] = study.runs.gain("L", "DDRED", over="RED", case=case).percent()
        network = {"network": CASES[case]}
        on_paper = {title: one.printed[0] for title, one in columns.items()}
        rows.append({**network, "losses counted": "printed", **on_paper})
        for way, label in ways.items():
            found = {title: one.under(label).only for title, one in columns.items()}
            rows.append({**network, "losses counted": way, **found})
    table = intervals_table(rows)
    return Table(
        "countings",
        table,
        intervals_text(table, signed=[change]),
        heading="How losses are counted",
        listed=False,
        caption="L and the mean distance S/L, with all packets and with data packets only: DDRED often finds an "
        "acknowledgement nearest, which costs little and which the paper seems not to have counted.",
        digits=4,
    )


def figures(study: Study) -> Iterator[Figure | Network | Table]:
    """Yield the figures, and the numbers of Figure 13."""
    bus, flower = (
        [by_run(study, number, case, key) for number, key in zip(numbers, "LST", strict=True)]
        for case, numbers in (("bus", (3, 5, 6)), ("flower", (8, 9, 10)))
    )
    yield figure_1(study)
    yield network(study, "figure-2", "Figure 2: bus", "bus")
    yield from [bus[0], study.figure(losses_by_distance(study)), *bus[1:]]
    yield network(study, "figure-7", "Figure 7: flower", "flower")
    yield from [*flower, study.figure(gains_by_transfer(study))]
    yield network(study, "network-pair", "The network of section VI", "pair")
    yield study.over_time(
        "figure-12",
        "Figure 12: throughput of the two flows, DDRED, 20 ms",
        {flow: Line(flow, scale=125.0, color=color) for color, flow in enumerate(sweep.FLOWS)},
        samples="throughput",
        of={"case": "pair", "latency": plan.FIGURE_LATENCY, "discipline": "DDRED"},
        caption="One run (seed 1), bins of 0.1 s, headers counted, KB = 1000 B.",
        x_label="time, s",
        y_label="throughput, KB/s",
    )
    fairness, sums = ({name: study.runs.of(key, name) for name in DISCIPLINES} for key in ("fairness", "total"))
    gain = study.runs.gain("fairness", "DDRED", over="RED")
    yield study.chart(
        "figure-13",
        "Figure 13: smaller throughput over larger",
        {**fairness, **{f"{name}, printed": Line(Printed(one), mode="dashed") for name, one in fairness.items()}},
        x="latency",
        of={"case": "pair"},
        caption="Printed: from Table I.",
        x_label="latency of PCs1-R1, ms",
        y_label="min/max of the throughputs",
        x_log=True,
        y_range=(0.0, 1.02),
    )
    columns: dict[str, Content] = {}
    for name in DISCIPLINES:
        columns |= {f"{name} min/max": fairness[name], f"{name} sum, KB/s": sums[name]}
    yield study.table(
        "figure-13",
        {**columns, "min/max, DDRED - RED": gain, "p": P(gain), "seeds": SEEDS},
        rows={"latency": "latency, ms"},
        of={"case": "pair"},
        caption="The numbers of Figure 13, and the sum of the two throughputs.",
        digits=3,
    )


def figure_1(study: Study) -> Figure:
    """Figure 1: the probability of marking a packet, in classic and in gentle RED, with the thresholds of the runs."""
    scenario = FILES.scenario("pair")
    used = next(link.parameters for link in scenario.links if link.queue == "router")
    body = scenario.queue_table("router") | {key: used[key] for key in ("min_th", "max_th")}
    return study.figure(
        drop_curves({"RED": body | {"aqm": "red"}, "gentle RED": body | {"aqm": "gentle-red"}}, top=50),
        key="figure-1",
        title="Figure 1: probability of marking a packet",
        alt="Both are 0 up to min_th and rise straight to max_p at max_th; there RED jumps to 1, gentle RED rises to 1 "
        "at twice max_th.",
        caption="From the code that is simulated, with the thresholds of the runs, 6.25 and 18.75 packets of 500 B "
        '(reading "Thresholds": the paper prints no numbers). DDRED changes nothing here, only the packet that pays.',
        command="aqmlab draw paper:ddred/pair.toml",
        x_label="average queue, packets of 500 B",
        y_range=(0, 1.02),
    )


def network(study: Study, name: str, title: str, case: str) -> Network:
    """Return the drawing of a network."""
    return study.network(name, title, caption=f"ddred-{case}", case=case, discipline="DDRED")


def by_run(study: Study, number: int, case: str, quantity: str) -> Figure:
    """Figures 3, 5, 6, 8, 9 and 10: a quantity in each run beside its printed mean."""
    words, _, unit = QUANTITIES[quantity].partition(", ")
    numbers = {name: study.runs.of(quantity, name) for name in DISCIPLINES}
    bars = {name: Line(one, mode="bar") for name, one in numbers.items()}
    return study.chart(
        f"figure-{number}",
        f"Figure {number}: {case}, {words}",
        {**bars, **{f"{name}, printed mean": Line(Printed(one)) for name, one in numbers.items()}},
        x="seed",
        of={"case": case, "seed": tuple(range(1, plan.PAPER_RUNS + 1))},
        caption="The first 11 runs, as many as the paper has.",
        x_label="run Sr",
        y_label=f"{quantity}, {unit}",
    )


def losses_by_distance(study: Study) -> Chart:
    """Figure 4: how the losses of one run of the bus are spread over the distance."""
    series, words = [], []
    both = pick(study.setups, case="bus")
    found = [measure.losses_of(setup.run_folder(study.root, min(plan.FIGURE_RUN, setup.seeds)))[:2] for setup in both]
    every = np.arange(max(distance.max(initial=0) for distance, _ in found) + 1)
    for setup, (distance, drops) in zip(both, found, strict=True):
        name = str(setup.key["discipline"])
        heights = np.zeros(len(every))
        heights[distance.astype(int)] = drops
        series.append(Series(name, [f"{d:.0f}" for d in every], heights, mode="bar"))
        words.append(f"{name} loses {heights[:2].sum() / heights.sum():.0%} at distances 0 and 1")
    says = "; ".join(words)
    alt = f"Data packets lost by the number of routers they had entered: {says}."
    caption = f"One run; distance 0 is the workstation's own queue. {says}."
    title = "Figure 4: bus, losses by distance in Sr_6"
    return Chart("figure-4", title, alt, "distance d, routers", "lost packets", series, caption=caption)


def gains_by_transfer(study: Study) -> Chart:
    """Figure 11: the gain of each transfer of one run of the flower by DDRED, sorted."""
    red, ddred = (pick(study.setups, case="flower", discipline=d)[0] for d in ("RED", "DDRED"))
    run = min(plan.FIGURE_RUN, red.seeds)
    gained = np.sort(measure.gains_of(red.run_folder(study.root, run), ddred.run_folder(study.root, run)))[::-1]
    found = measure.sums_of(gained)
    words = (
        f"{found['better']} transfers are faster by more than {measure.EVEN_S} s, by {found['gained']:.0f} s in all, "
        f"and {found['worse']} slower, by {found['lost']:.0f} s"
    )
    paper = {name: FILES.printed(case="flower", quantity=name) for name in ("better", "gained", "worse", "lost")}
    return Chart(
        "figure-11",
        f"Figure 11: flower, transfer time under RED less that under DDRED in Sr_{run}",
        f"Sorted from the largest gain to the largest loss: {words}.",
        "transfer, sorted",
        "time gained, s",
        [Series("RED - DDRED", np.arange(1, len(gained) + 1), gained, color=1)],
        levels=[(0.0, "")],
        caption=f"One run: {words}. Printed: {paper['better']:.0f} faster by {paper['gained']:.0f} s in all, "
        f"{paper['worse']:.0f} slower by {paper['lost']:.0f} s.",
    )


def search(study: Study) -> Iterator[Text | Table]:
    """Yield the results of the search for Table I."""
    found = sweep.results(study.effort, study.root)
    yield Text(sweep.words(found, study.effort))
    for name, ordered, caption in (
        ("search-closest", found, "The readings closest to the printed DDRED row."),
        ("search-both", found.sort_values("both error"), "The readings closest to both rows."),
    ):
        yield Table(name, None, sweep.shown(ordered.head(CLOSEST)), caption=caption, digits=3)
    yield Table("table-1-search", found, kept_only=True)


def sizes(study: Study, name: str, others: Mapping[tuple[str, str], pd.DataFrame], caption: str) -> Table:
    """Return what DDRED changes under each reading, its fit to the paper, and where the two flows are equal."""
    of, columns = study.runs.of, dict[str, Content]()
    for case in NETWORKS:
        columns |= {f"{key} ({case}), %": of(key, "DDRED", case=case).less("RED").percent() for key in "LST"}
        for one in DISCIPLINES:
            columns[f"{case} {one}, rms log ratio"] = Fit("log", [of(key, one, case=case) for key in "LST"])
    for one in DISCIPLINES:
        columns[f"Table I {one}, rms log ratio"] = Fit("log", [of(flow, one, case="pair") for flow in sweep.FLOWS])
    columns["equal at, ms"] = measure.crossing
    return study.by_reading(name, columns, readings=others, caption=caption, digits=3)


PAPER = Paper(
    FILES,
    name="DDRED",
    citation="Dedu, Linck and Spies, “Distance-Dependent RED Policy (DDRED)”",
    claims=CLAIMS,
    effort=plan.Effort,
    setups=plan.setups,
    measure=measure.measure_run,
    page=page,
    rows=rows,
    others=sweep.points,
    key=Key(PATHS),
    lead=f"{POINTS}; every mean with its 95 % interval (Student's, or Hall's if the runs are skewed), every "
    "comparison paired by seed: RED and DDRED have the same transfers.",
    quick_note="This is the quick version, with few seeds, a part of the readings and a part of the search for Table "
    "I. `aqmlab reproduce ddred` runs 50 seeds, the flower 11 times, and all readings.",
    seeds=POINTS,
    example="aqmlab run paper:ddred/bus.toml --set queue.router.aqm=ddred --seeds {seeds}",
    scenarios=tuple(CASES),
    colors={"RED": 0, "DDRED": 1, TAIL_DROP: 2, METHOD_2: 3},
)
