"""PC-RED's own additions to ``page.toml``: Tables I to V, its model, its way of measuring, and Network 2's readings."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab.figures.chart import Chart
from aqmlab.papers.common import (
    Setup,
    chosen,
    intervals_table,
    intervals_text,
    measured,
    pick,
    quantity_interval,
)
from aqmlab.papers.common.page_file import made, toml_paper
from aqmlab.papers.common.paper import CHOSEN, Study
from aqmlab.papers.pc_red import channels, diagrams, explanations, loops
from aqmlab.papers.pc_red import figures as drawn
from aqmlab.papers.pc_red import tables as printed
from aqmlab.papers.pc_red.measure import BIN_S, OTHER_BINS_S, SHORT_S, measure_run, with_bins
from aqmlab.papers.pc_red.plan import BURSTS, CASES, CHANNEL_CASES, FILES, SWING_CASES, Effort, readings, setups
from aqmlab.papers.pc_red.rows import rows
from aqmlab.reporting.flowchart import FlowChart
from aqmlab.statistics import Interval

SWINGS = {
    "s.d. of the queue": "queue_sd",
    "s.d. of the average": "average_sd",
    "strongest at, Hz": "swing_hz",
    "share of the variance around it": "swing_share",
}
OBSERVED = {
    "RED": ("RED", "high"),
    "PC-RED": ("PC-RED", "high"),
    "w = 5e-3": ("w = 5e-3", "high"),
    "10 % High": ("10 %", "high"),
    "10 % Non": ("10 %", "non"),
    "30 % High": ("30 %", "high"),
    "30 % Non": ("30 %", "non"),
}
"""Column to case and class."""
Row = dict[str, str | float | Interval]


def read(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run."""
    return channels.measure_drops(setup, folder) if setup.reading == BURSTS else measure_run(setup, folder)


def tables(study: Study) -> dict[str, pd.DataFrame | None]:
    """Return the tables that ``page.toml`` leaves to this code."""
    base = study.base
    networks = {
        "Network 1": pick(study.setups, case="PC-RED")[0],
        "Network 2": pick(study.setups, case="mesh, 10 %")[0],
    }
    found = {f"table-{number}": printed.beside(base, number) for number in printed.TABLES}
    found |= {
        "parameters": printed.parameters(networks),
        "measurement": measurement(base),
        "verdicts-by-bins": verdicts_by_bins(study),
        "readings": readings_table(study),
        "model-channels": channels.shares_table(base),
        "model-conditions": loops.conditions_table(),
        "model-margins": loops.margins_table(),
        "model-operating-points": loops.operating_points(),
        "model-swings": swings(study),
    }
    mesh = network_2(study)
    return {**found, "mesh-readings": made(study, "mesh-readings", mesh).numbers if len(mesh) > 1 else None}


def shown(study: Study) -> dict[str, pd.DataFrame]:
    """Return tables for reading that are others than those in numbers."""
    found = {}
    for number in printed.TABLES:
        table = printed.beside(study.base, number)
        ratios = ["" if ratio != ratio else f"{ratio:.2f}" for ratio in table["ratio"]]
        found[f"table-{number}"] = intervals_text(table).assign(ratio=ratios)
    return found


def figures(study: Study) -> dict[str, Chart | FlowChart]:
    """Return the flow charts, Figure 3, the loop, and the spectra of the queue."""
    first, second = loops.bode_charts()
    own = [drawn.figure_3(), drawn.figure_3_surface(), drawn.figure_3_crossing(), loops.nyquist_chart()]
    return {
        "figure-1": diagrams.figure_1(),
        "figure-2": diagrams.figure_2(),
        "loop-magnitude": first,
        "loop-phase": second,
        "queue-spectra": drawn.queue_spectra(study.setups, study.root),
        **{chart.key: chart for chart in own},
    }


def readings_table(study: Study) -> pd.DataFrame:
    """Return what each reading makes of Network 1, with the factor by which it misses Tables I, II and IV."""
    found = made(study, "readings").numbers
    assert found is not None
    factors = [round(printed.typical_factor(own), 3) for own in study.readings.values()]
    found.insert(2, "typical factor to the printed", factors)
    return found


def verdicts_by_bins(study: Study) -> pd.DataFrame:
    """Return how the verdicts move with the width of the bins, on all runs of the chosen reading."""
    found = {}
    for reading in FILES.readings():
        if width := reading.options.get("bins_s"):
            found[reading.question, reading.chosen] = study.base
            found[reading.question, reading.name] = study.paper.complete(with_bins(study.base, width))
    return study.verdicts(found)


def network_2(study: Study) -> dict[tuple[str, str], pd.DataFrame]:
    """Return question and name of the readings of Network 2 to its runs."""
    few = study.frame[(study.frame["seed"] <= study.effort.reading_seeds) & (study.frame["network"] == "network2")]
    tried = {CHOSEN: chosen(few)}
    tried |= {
        (r.question, r.name): chosen(few, reading=r.label)
        for r in readings(study.effort)
        if r.label in {setup.reading for setup in study.setups}
    }
    return {key: own for key, own in tried.items() if len(own)}


def measurement(runs: pd.DataFrame) -> pd.DataFrame:
    """Readings of how the paper measured, which need no runs: averages, bins, and what counts as fluctuation."""
    averages = {f"mid-range of {BIN_S:g} s bins (chosen)": "{}_mid", "mean": "{}_mean", "mean of the class": "{}_class"}
    averages |= {f"mid-range of {width:g} s bins": f"{{}}_mid_{width:g}s" for width in OTHER_BINS_S}
    averages |= {"with duplicates": "{}_arrived_mid", f"first {SHORT_S:g} s only": "{}_mid_short"}
    losses = {"after 100 s (chosen)": "{}_a_d", "second half of the run": "{}_a_d_late", "class mean": "{}_a_d_class"}
    spreads = {
        "s.d. after 100 s (chosen)": "{}_a_d_sd",
        "half-range after 100 s": "{}_a_d_half_range",
        "s.d. in the second half": "{}_a_d_late_sd",
    }
    rows: list[Row] = []
    for quantity, ways, without in (
        ("average throughput, KB/s", averages, ()),
        ("a_d, bytes in g", losses, ("RED", "PC-RED")),
        ("fluctuation of a_d, bytes in g", spreads, ("RED", "PC-RED")),
    ):
        for way, key in ways.items():
            row: Row = {"quantity": quantity, "reading": way}
            for title, (case, group) in OBSERVED.items():
                name = key.format(group)
                row[title] = quantity_interval([], name) if title in without else measured(runs, name, case=case)
            rows.append(row)
    return intervals_table(rows)


def swings(study: Study) -> pd.DataFrame:
    """Return how the queue swings beside the model's gain margin, and with gentle RED's curve, if that was run."""
    margins = loops.margins_table()
    found = [
        {**_swings(study.base, case), "gain margin by the model, dB": _model_db(margins, case)} for case in SWING_CASES
    ]
    own = study.frame[study.frame["reading"].str.endswith(explanations.GENTLE)]
    gentle = [_swings(own, case, explanations.GENTLE) for case in SWING_CASES if case in set(own["case"])]
    return pd.concat([intervals_table(found), intervals_table(gentle)], ignore_index=True).fillna("")


def _swings(runs: pd.DataFrame, case: str, under: str = "") -> Row:
    title = CASES[case].title + (f", {under}" if under else "")
    return {"case": title, **{name: measured(runs, key, case=case) for name, key in SWINGS.items()}}


def _model_db(margins: pd.DataFrame, case: str) -> float:
    """Return the loop's gain margin with the loaded round trip, as derived here; plain RED's for RED."""
    loaded = margins[margins["R"].str.contains(" packets")]
    if case == "RED":
        return float(loaded[loaded["loop"].str.startswith("plain")]["dB"].iloc[0])
    share = dict(zip(CHANNEL_CASES, loops.SHARES, strict=True))[case]
    own = loaded[(loaded["loop"] == "with r_p N") & (loaded["r_p"] == share)]
    return float(own["dB"].iloc[0])


PAPER = toml_paper(
    FILES, Effort, setups, read, rows=rows, tables=tables, shown=shown, figures=figures, words=explanations.words
)
