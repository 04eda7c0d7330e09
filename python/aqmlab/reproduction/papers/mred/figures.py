"""Figures 1 to 7 of the paper, and ours by the chain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.plotting.chart import Chart, Series
from aqmlab.plotting.figures import MAX_POINTS, against, drop_curves
from aqmlab.reproduction.papers.common import Setup
from aqmlab.reproduction.papers.mred.chain import CURVES, LOADS, QUANTITIES, Averaged, mbps, number
from aqmlab.reproduction.papers.mred.measure import BURST_S, figure_setups, samples_of, values
from aqmlab.reproduction.papers.mred.plan import CASES, DISCIPLINES, FLOWS, WEIGHT
from aqmlab.reproduction.papers.mred.published import printed
from aqmlab.statistics import interval

COLORS = {"RED": 0, "gentle RED": 5, "MRED": 1, "ExRED": 3, "NLRED": 4}


def figure_1(setups: list[Setup]) -> Chart:
    """Figure 1: drop probability against the average queue."""
    bodies = {str(s.key["discipline"]): s.plan.queue_table("bottleneck") for s in figure_setups(setups, "sole")}
    chart = drop_curves(bodies, top=100)
    series = [Series(s.name, s.x, s.y, color=COLORS[s.name]) for s in chart.series]
    return Chart(
        key="figure-1",
        title="Figure 1: drop probability and average queue",
        alt="MRED rises as a parabola to 0.1 at 30 packets, below RED's straight line, then straight to 1 at 60; "
        "classic RED jumps to 1 at 30.",
        x_label=chart.x_label,
        y_label=chart.y_label,
        series=series,
        y_range=(0, 1.02),
        caption="From the code that is simulated. MRED is nowhere above RED, and equals gentle RED from 30 packets on.",
    )


def against_n(runs: pd.DataFrame, *, key: str, case: str, quantity: str, number: str, column: str) -> Chart:
    """Figures 3 to 5: a quantity against n, measured (with 95 % intervals) and printed (dashed)."""
    rows: list[dict[str, object]] = []
    for discipline in DISCIPLINES:
        for n in FLOWS:
            found = interval(values(runs, case=case, n=n, discipline=discipline, key=column))
            name = {"series": discipline, "color": COLORS[discipline], "mode": "line"}
            rows.append({**name, "n": n, "mean": found.mean, "low": found.low, "high": found.high})
    for discipline in ("RED", "MRED"):
        for n in FLOWS:
            value = printed(case=case, quantity=quantity, n=n, discipline=discipline)
            name = {"series": f"{discipline}, printed", "color": COLORS[discipline], "mode": "dashed"}
            rows.append({**name, "n": n, "mean": value, "low": np.nan, "high": np.nan})
    label = "throughput, Mb/s" if quantity == "throughput" else "loss, share of all enqueue events"
    return against(
        pd.DataFrame(rows),
        x="n",
        key=key,
        title=f"{number}: {quantity}, {CASES[case]}",
        x_label="TCP flows n",
        y_label=label,
    )


def average_against_time(setups: list[Setup], root: Path, case: str, *, seed: int = 1) -> Chart:
    """Figure 6 (sole) or 7 (mixed): RED's average against time at n = 40."""
    series = []
    words = []
    for setup in figure_setups(setups, case):
        time, average = samples_of(setup.run_folder(root, seed))
        step = max(1, len(time) // MAX_POINTS)
        name = str(setup.key["discipline"])
        color = COLORS[name]
        series.append(Series(name, time[::step], average[::step], color=color))
        settled = average[time >= 5]
        words.append(f"{name} {np.mean(settled):.1f} with s.d. {np.std(settled):.1f}")
    number = "6" if case == "sole" else "7"
    return Chart(
        key=f"figure-{number}",
        title=f"Figure {number}: average queue against time, n = 40, {CASES[case]}",
        alt=f"Average queue over 50 s, seed {seed}; after 5 s: {'; '.join(words)} packets.",
        x_label="time, s",
        y_label="average queue, packets",
        series=series,
        panels=True,
        caption=f"One run (seed {seed}). Means and standard deviations over all seeds are in the table below.",
        shades=[(*BURST_S, "10 Mb/s UDP")] if case == "mixed" else [],
    )


def by_chain(averaged: Averaged) -> list[Chart]:
    """Draw what the chains say against the load: drops and throughput beside RED's, wait, and drops in a row."""
    return [
        _chain_chart(averaged, "p_drop", "drops less RED's", "P_drop less RED's", less_red=True),
        _chain_chart(averaged, "throughput", "throughput less RED's", "throughput less RED's, Mb/s", less_red=True),
        _chain_chart(averaged, "wait_ms", "mean wait", QUANTITIES["wait_ms"]),
        _chain_chart(averaged, "mean_run", "drops in a row", QUANTITIES["mean_run"]),
    ]


def _chain_chart(averaged: Averaged, key: str, title: str, label: str, *, less_red: bool = False) -> Chart:
    series = []
    scale = mbps(1.0) if key == "throughput" else 1.0
    for name in CURVES:
        if less_red and name == "RED":
            continue
        y = [number(name, load, key) - (number("RED", load, key) if less_red else 0.0) for load in LOADS]
        series.append(Series(f"{name}, w = 1", LOADS, y, color=COLORS[name]))
        points = [
            (load, scale * (numbers[key] - (averaged["RED", load][key] if less_red else 0.0)))
            for (other, load), numbers in averaged.items()
            if other == name
        ]
        if points:
            loads, heights = zip(*sorted(points), strict=True)
            series.append(Series(f"{name}, w = {WEIGHT:g}", loads, heights, mode="dotted", color=COLORS[name]))
    return Chart(
        key=f"chain-{key.replace('_', '-')}",
        title=f"By the chain: {title}",
        alt=f"{label} against the offered load for {', '.join(CURVES)}, by the chain.",
        x_label="offered load λ/μ",
        y_label=label,
        series=series,
        caption="An open loop with the paper's parameters. Solid: the number in system for the average (w = 1); "
        f"dotted: with RED's average (w = {WEIGHT:g}), where that chain was solved.",
    )
