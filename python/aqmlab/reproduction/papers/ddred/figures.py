"""Figures 1, 3 to 6 and 8 to 13 of the paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.plotting.chart import Chart, Series
from aqmlab.plotting.figures import against, drop_curves
from aqmlab.reproduction.papers.common import Setup, pick
from aqmlab.reproduction.papers.ddred.measure import (
    EVEN_S,
    QUANTITIES,
    UNITS,
    gains_of,
    losses_of,
    paper_runs,
    rates_of,
    sums_of,
    values,
)
from aqmlab.reproduction.papers.ddred.plan import (
    CASES,
    DISCIPLINES,
    FIGURE_LATENCY,
    FIGURE_RUN,
    FILES,
    LATENCIES,
    TABLE_LATENCIES,
)
from aqmlab.reproduction.papers.ddred.published import printed_gain, printed_mean, printed_pair
from aqmlab.statistics import interval

COLORS = {"RED": 0, "DDRED": 1}
BIN_S = 0.1
"""Length of the bins of Figure 12, in s."""


def figure_1() -> Chart:
    """Figure 1: the probability of marking a packet, in classic and in gentle RED."""
    scenario = FILES.scenario("pair")
    used = next(link.parameters for link in scenario.links if link.queue == "router")
    low, high = used["min_th"], used["max_th"]
    body = scenario.queue_table("router") | {"min_th": low, "max_th": high}
    chart = drop_curves({"RED": body | {"aqm": "red"}, "gentle RED": body | {"aqm": "gentle-red"}}, top=50)
    return Chart(
        key="figure-1",
        title="Figure 1: probability of marking a packet",
        alt=f"Both are 0 up to {low:g} packets and rise straight to {used['max_p']:g} at {high:g}; there RED jumps to "
        f"1, gentle RED rises to 1 at {2 * high:g} packets.",
        x_label=f"average queue, packets of {used['mean_packet']:g} B",
        y_label=chart.y_label,
        series=chart.series,
        y_range=(0, 1.02),
        caption=f"From the code that is simulated, with the thresholds of the runs, {low:g} and {high:g} packets of "
        f'{used["mean_packet"]:g} B (reading "Thresholds": the paper prints no numbers). DDRED '
        "changes nothing here, only the packet that pays.",
    )


def by_run(runs: pd.DataFrame, case: str, quantity: str, *, number: int) -> Chart:
    """Figures 3, 5, 6, 8, 9, 10: L, S or T of each run, with the printed means as lines."""
    rows = paper_runs(runs)
    series, levels, words = [], [], []
    for discipline in DISCIPLINES:
        found = values(rows, quantity, case=case, discipline=discipline)
        names = [f"Sr_{run}" for run in range(1, len(found) + 1)]
        series.append(Series(discipline, names, found, mode="bar", color=COLORS[discipline]))
        paper = printed_mean(case, quantity, discipline)
        levels.append((paper, f"{discipline}, printed mean"))
        words.append(f"{discipline} {np.mean(found):.5g} on average (printed {paper:g})")
    return Chart(
        key=f"figure-{number}",
        title=f"Figure {number}: {CASES[case]}, {QUANTITIES[quantity]}",
        alt=f"{QUANTITIES[quantity]} of each run: {'; '.join(words)}.",
        x_label="run",
        y_label=f"{quantity}, {UNITS[quantity]}",
        series=series,
        levels=levels,
        caption=f"Means over these {len(series[0].y)} runs: {'; '.join(words)}.",
    )


def losses_by_distance(setups: list[Setup], root: Path) -> Chart:
    """Figure 4: how the losses of one run of the bus are spread over the distance."""
    series, words = [], []
    both = pick(setups, case="bus")
    found = [losses_of(setup.run_folder(root, min(FIGURE_RUN, setup.seeds)))[:2] for setup in both]
    every = np.arange(max(distance.max(initial=0) for distance, _ in found) + 1)
    for setup, (distance, drops) in zip(both, found, strict=True):
        name = str(setup.key["discipline"])
        heights = np.zeros(len(every))
        heights[distance.astype(int)] = drops
        series.append(Series(name, [f"{d:.0f}" for d in every], heights, mode="bar", color=COLORS[name]))
        words.append(f"{name} loses {heights[:2].sum() / heights.sum():.0%} at distances 0 and 1")
    return Chart(
        key="figure-4",
        title=f"Figure 4: bus, losses by distance in Sr_{FIGURE_RUN}",
        alt=f"Data packets lost by the number of routers they had entered: {'; '.join(words)}.",
        x_label="distance d, routers",
        y_label="lost packets",
        series=series,
        caption=f"One run; distance 0 is the workstation's own queue. {'; '.join(words)}.",
    )


def gains_by_transfer(setups: list[Setup], root: Path) -> Chart:
    """Figure 11: what each transfer of one run of the flower gains by DDRED, sorted."""
    red, ddred = (pick(setups, case="flower", discipline=d)[0] for d in ("RED", "DDRED"))
    run = min(FIGURE_RUN, red.seeds)
    gained = np.sort(gains_of(red.run_folder(root, run), ddred.run_folder(root, run)))[::-1]
    found = sums_of(gained)
    words = (
        f"{found['better']} transfers are faster by more than {EVEN_S} s, by {found['gained']:.0f} s in all, and "
        f"{found['worse']} slower, by {found['lost']:.0f} s"
    )
    return Chart(
        key="figure-11",
        title=f"Figure 11: flower, transfer time under RED less that under DDRED in Sr_{run}",
        alt=f"Sorted from the largest gain to the largest loss: {words}.",
        x_label="transfer, sorted",
        y_label="time gained, s",
        series=[Series("RED - DDRED", np.arange(1, len(gained) + 1), gained, color=COLORS["DDRED"])],
        levels=[(0.0, "")],
        caption=f"One run: {words}. Printed: {printed_gain('better'):.0f} faster by {printed_gain('gained'):.0f} s in "
        f"all, {printed_gain('worse'):.0f} slower by {printed_gain('lost'):.0f} s.",
    )


def throughput_against_time(setups: list[Setup], root: Path, *, seed: int = 1) -> Chart:
    """Figure 12: throughput of the two flows over time under DDRED."""
    (setup,) = pick(setups, case="pair", latency=FIGURE_LATENCY, discipline="DDRED")
    time, rates = rates_of(setup.run_folder(root, seed), BIN_S)
    series = [Series(name, time + BIN_S / 2, rates[name], color=i) for i, name in enumerate(("PCs1", "PCs2"))]
    ahead = float(np.mean(rates["PCs1"] > rates["PCs2"]))
    return Chart(
        key="figure-12",
        title=f"Figure 12: throughput of the two flows, DDRED, {FIGURE_LATENCY} ms",
        alt=f"Throughput in bins of {BIN_S} s over 10 s; PCs1 is ahead in {ahead:.0%} of them.",
        x_label="time, s",
        y_label="throughput, KB/s",
        series=series,
        caption=f"One run (seed {seed}), bins of {BIN_S} s, headers counted, KB = 1000 B.",
    )


def fairness_against_latency(runs: pd.DataFrame) -> Chart:
    """Figure 13: min/max of the two throughputs against the latency, measured and as Table I has it."""
    rows: list[dict[str, object]] = []
    for discipline in DISCIPLINES:
        name = {"series": discipline, "color": COLORS[discipline], "mode": "line"}
        for latency in LATENCIES:
            found = interval(values(runs, "fairness", case="pair", latency=latency, discipline=discipline))
            rows.append({**name, "latency": latency, "mean": found.mean, "low": found.low, "high": found.high})
    for discipline in DISCIPLINES:
        name = {"series": f"{discipline}, printed", "color": COLORS[discipline], "mode": "dashed"}
        for latency in TABLE_LATENCIES:
            pair = printed_pair(latency, discipline)
            rows.append({**name, "latency": latency, "mean": min(pair) / max(pair), "low": np.nan, "high": np.nan})
    chart = against(
        pd.DataFrame(rows),
        x="latency",
        key="figure-13",
        title="Figure 13: smaller throughput over larger",
        x_label="latency of PCs1-R1, ms",
        y_label="min/max of the throughputs",
    )
    return Chart(**{**vars(chart), "x_log": True, "y_range": (0.0, 1.02), "caption": "Printed: from Table I."})
