"""Figures 2 to 8 of the paper, and ours under TCP."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from aqmlab.figures import drop_curves
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers.common import difference, measured
from aqmlab.papers.common.open_loop import LONGEST, Averaged
from aqmlab.papers.exred.chain import chain, longer
from aqmlab.papers.exred.plan import (
    EXRED,
    GENTLE,
    LOADS,
    QUEUE,
    RED,
    RUN_LOADS,
    SCHEMES,
    TAIL,
    TCP_SCHEMES,
)
from aqmlab.papers.exred.tables import A0_PRINTED, parabola

COLORS = {TAIL: 2, RED: 0, GENTLE: 5, EXRED: 1}
THRESHOLDS = ((10, 20), (10, 30), (10, 40), (10, 50), (20, 40), (25, 75))
"""Pairs k_l, k_h of Figure 2; the paper prints none, and its conditions k_l <= K/4 and k_h >= 2 k_l hold for all."""
LOAD = "offered load λ/μ"
CHAINS = "Dashed: the paper's chain, w = 1. Dotted: the chain of queue and average, w = 0.02."


def figure_2() -> Chart:
    """Figure 2: ExRED's drop function for several k_l and k_h."""
    bodies = {
        f"k_l = {k_l}, k_h = {k_h}": {"aqm": "exred", **QUEUE, "min_th": f"{k_l}p", "max_th": f"{k_h}p"}
        for k_l, k_h in THRESHOLDS
    }
    return dataclasses.replace(
        drop_curves(bodies, top=100),
        key="figure-2",
        title="Figure 2: ExRED's drop function",
        caption="From the code that is simulated; K = 100 packets, max_p = 0.1. Every curve goes through (k_h, max_p) "
        "with the slope of the line below it, and through (K, 1); the larger k_h - k_l, the later it rises.",
    )


def figure_3() -> Chart:
    """Return Figure 3: RED and ExRED; dashed the curve with the printed a_0."""
    curves = drop_curves({RED: {"aqm": "red", **QUEUE}, EXRED: {"aqm": "exred", **QUEUE}}, top=100)
    series = [Series(s.name, s.x, s.y, color=COLORS[s.name]) for s in curves.series]
    x = np.linspace(30, 100, 71)
    series.append(Series("ExRED, a₀ as printed", x, parabola(x, A0_PRINTED), mode="dashed", color=4))
    return dataclasses.replace(
        curves,
        key="figure-3",
        title="Figure 3: drop functions of RED and ExRED",
        alt="ExRED equals RED up to 30 packets, then rises as a parabola to 1 at 100, where RED drops all from 30 on. "
        "With the printed sign of a_0 the parabola would start below 0.",
        series=series,
        y_range=(-0.1, 1.02),
        caption="From the code that is simulated, but for the dashed line. ExRED is nowhere above RED.",
    )


def figure_4() -> Chart:
    """Figure 4: throughput of the paper's chain."""
    return Chart(
        key="figure-4",
        title="Figure 4: throughput by the chain",
        alt="Throughput rises with the load to 1000 packets per second; the three schemes can hardly be told apart.",
        x_label=LOAD,
        y_label="throughput, packets/s",
        series=[
            Series(scheme, LOADS, [_or_nan(chain(scheme, load, "throughput")) for load in LOADS], color=COLORS[scheme])
            for scheme in SCHEMES
        ],
        caption="Birth-death chain of (9), with the number in the system for the average (w = 1). See also the "
        "differences below.",
    )


def figure_5(loops: pd.DataFrame, averaged: Averaged) -> Chart:
    """Figure 5: throughput with averaging."""
    return _by_load(loops, averaged, "throughput", number="5", title="throughput", label="throughput, packets/s")


def gains(loops: pd.DataFrame, averaged: Averaged) -> Chart:
    """Return a chart of throughput less RED's, which Figures 4 and 5 can hardly show."""
    series = []
    for scheme in (TAIL, EXRED):
        name, color = f"{scheme} - RED", COLORS[scheme]
        found = [
            difference(loops, "throughput", {"scheme": scheme, "load": v}, {"scheme": RED, "load": v}) for v in LOADS
        ]
        bounds = ([i.low for i in found], [i.high for i in found])
        series.append(Series(f"{name}, simulated", LOADS, [i.mean for i in found], *bounds, color=color))
        alone = [_or_nan(chain(scheme, v, "throughput")) - _or_nan(chain(RED, v, "throughput")) for v in LOADS]
        series.append(Series(f"{name}, chain w = 1", LOADS, alone, mode="dashed", color=color))
        solved = averaged.loads
        both = [_or_nan(averaged(scheme, v, "throughput")) - _or_nan(averaged(RED, v, "throughput")) for v in solved]
        series.append(Series(f"{name}, chain w = 0.02", solved, both, mode="dotted", color=color))
    return Chart(
        key="figure-5-differences",
        title="Figures 4 and 5: throughput less RED's",
        alt="ExRED carries at most about 4 packets per second more than RED, near load 1.05; drop-tail up to 30.",
        x_label=LOAD,
        y_label="difference, packets/s",
        series=series,
        caption=f"Simulated (w = 0.02): paired by seed, with 95 % intervals. {CHAINS}",
    )


def figure_6(loops: pd.DataFrame) -> list[Chart]:
    """Figure 6: P(N > n) against n, a chart per load."""
    charts = []
    n = list(range(LONGEST + 1))
    for load in RUN_LOADS:
        series = []
        for scheme in (RED, EXRED):
            found = [measured(loops, f"longer_{i}", scheme=scheme, load=load) for i in n]
            y = [i.mean if i.mean > 0 else np.nan for i in found]
            bounds = ([max(i.low, 1e-9) for i in found], [i.high for i in found])
            series.append(Series(f"{scheme}, simulated", n, y, *bounds, color=COLORS[scheme]))
        tail = [_or_nan(longer(TAIL, load, i)) for i in n]
        series.append(Series("drop-tail, (3)", n, tail, color=COLORS[TAIL]))
        for scheme in (RED, EXRED):
            exact = [_or_nan(longer(scheme, load, i)) for i in n]
            series.append(Series(f"{scheme}, exact, w = 1", n, exact, mode="dashed", color=COLORS[scheme]))
        for scheme in (RED, EXRED):
            printed = [_or_nan(longer(scheme, load, i, eq10=True)) for i in n]
            series.append(Series(f"{scheme}, (10) as printed", n, printed, mode="dotted", color=COLORS[scheme]))
        floor = printed_floor(load)
        charts.append(
            Chart(
                key=f"figure-6-load-{load}",
                title=f"Figure 6: probability of more than n drops in a row, load {load}",
                alt=f"P(N > n) against n at load {load}: ExRED's falls fastest; RED's has a long tail with averaging, "
                "and by (10) it does not fall to 0.",
                x_label="n",
                y_label="P(N > n)",
                series=series,
                y_range=(1e-5, 1.2),
                y_log=True,
                caption="Solid: simulated with w = 0.02, per run of drops, with 95 % intervals; drop-tail by (3), "
                "which is exact. Dashed: exact runs of the chain, w = 1. Dotted: the same chain by the paper's (10), "
                f"which ignores departures; for RED it stays above {floor:.2g}, for drop-tail it is 0/0.",
            )
        )
    return charts


def printed_floor(load: float) -> float:
    """Return what (10) leaves of RED's P(N > n) at any n: the share of its drops that fall where p_d = 1."""
    return _or_nan(longer(RED, load, 1000, eq10=True))


def figure_7(loops: pd.DataFrame, averaged: Averaged) -> Chart:
    """Figure 7: mean number of consecutive drops."""
    chart = _by_load(loops, averaged, "mean_run", number="7", title="mean number of drops in a row", label="E(N)")
    y11 = [_or_nan(chain(EXRED, load, "mean_run_eq11")) for load in LOADS]
    return dataclasses.replace(
        chart,
        series=[*chart.series, Series("ExRED, (11)", LOADS, y11, mode="dotted", color=7)],
        caption=f"{chart.caption} (11) as printed has a value for ExRED only; for RED it is infinite, for drop-tail "
        "0/0. Averaging makes RED's runs longer: while the average stays above k_h, all packets are dropped.",
    )


def figure_8(loops: pd.DataFrame, averaged: Averaged) -> Chart:
    """Figure 8: mean wait."""
    return _by_load(loops, averaged, "wait_ms", number="8", title="mean queueing delay", label="mean wait, ms")


def under_tcp(tcp: pd.DataFrame, key: str, title: str, label: str) -> Chart:
    """One of our figures: a quantity against the number of TCP flows."""
    flows = sorted(int(n) for n in tcp["n"].unique())
    series = []
    for scheme in TCP_SCHEMES:
        found = [measured(tcp, key, scheme=scheme, n=n) for n in flows]
        bounds = ([i.low for i in found], [i.high for i in found])
        series.append(Series(scheme, flows, [i.mean for i in found], *bounds, color=COLORS[scheme]))
    return Chart(
        key=f"tcp-{key.replace('_', '-')}",
        title=f"Under TCP: {title}",
        alt=f"{label} against the number of TCP flows for {', '.join(TCP_SCHEMES)}.",
        x_label="TCP flows n",
        y_label=label,
        series=series,
        caption="Ours: the paper measured no TCP.",
    )


def _by_load(loops: pd.DataFrame, averaged: Averaged, quantity: str, *, number: str, title: str, label: str) -> Chart:
    """One quantity against the load: simulated, by the paper's chain, and by the chain with the average."""
    series = []
    for scheme in SCHEMES:
        color = COLORS[scheme]
        found = [measured(loops, quantity, scheme=scheme, load=load) for load in LOADS]
        kept = [(load, one) for load, one in zip(LOADS, found, strict=True) if one.n]
        bounds = ([i.low for _, i in kept], [i.high for _, i in kept])
        x = [load for load, _ in kept]
        series.append(Series(f"{scheme}, simulated", x, [i.mean for _, i in kept], *bounds, color=color))
        alone = [_or_nan(chain(scheme, load, quantity)) for load in LOADS]
        name = "exact" if scheme == TAIL else "chain w = 1"
        series.append(Series(f"{scheme}, {name}", LOADS, alone, mode="dashed", color=color))
        if scheme != TAIL:
            y = [_or_nan(averaged(scheme, load, quantity)) for load in averaged.loads]
            series.append(Series(f"{scheme}, chain w = 0.02", averaged.loads, y, mode="dotted", color=color))
    return Chart(
        key=f"figure-{number}",
        title=f"Figure {number}: {title}",
        alt=f"{label} against the offered load for {', '.join(SCHEMES)}: simulated, and by two chains.",
        x_label=LOAD,
        y_label=label,
        series=series,
        caption=f"Solid: simulated with w = 0.02, 95 % intervals. {CHAINS} Drop-tail has no average, so the M/M/1/K "
        "formulae are exact for it.",
    )


def _or_nan(found: float | None) -> float:
    return np.nan if found is None or np.isinf(found) else found
