"""Figures 2 to 8 of the paper, and ours under TCP."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from aqmlab.chart import Chart, Series
from aqmlab.figures import drop_curves
from aqmlab.papers.common import values
from aqmlab.papers.exred.chain import chain, loads, longer
from aqmlab.papers.exred.measure import LONGEST
from aqmlab.papers.exred.plan import EXRED, GENTLE, LOADS, QUEUE, RED, RUN_LOADS, SCHEMES, TAIL, TCP_SCHEMES
from aqmlab.papers.exred.tables import A0_PRINTED, parabola
from aqmlab.stats import Interval, interval

COLORS = {TAIL: 2, RED: 0, GENTLE: 5, EXRED: 1}
THRESHOLDS = ((10, 20), (10, 30), (10, 40), (10, 50), (20, 40), (25, 75))
"""Pairs k_l, k_h of Figure 2; the paper prints none, and its conditions k_l <= K/4 and k_h >= 2 k_l hold for all."""
LOAD = "offered load λ/μ"


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
    """Figure 3: RED and ExRED; dashed what the printed a_0 would give."""
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
    """Figure 4: throughput of the chain."""
    series = [_chain_series(scheme, "throughput") for scheme in SCHEMES]
    return Chart(
        key="figure-4",
        title="Figure 4: throughput by the chain",
        alt="Throughput rises with the load to 1000 packets per second; the three schemes can hardly be told apart.",
        x_label=LOAD,
        y_label="throughput, packets/s",
        series=[dataclasses.replace(one, mode="line", name=one.name.removesuffix(", chain")) for one in series],
        caption="Birth-death chain of (9), with the number in the system for the average. See also the differences.",
    )


def figure_5(loops: pd.DataFrame) -> Chart:
    """Figure 5: simulated throughput."""
    return _by_load(
        loops, "throughput", key="figure-5", title="Figure 5: simulated throughput", label="throughput, packets/s"
    )


def gains(loops: pd.DataFrame) -> Chart:
    """What Figures 4 and 5 can hardly show: throughput less RED's."""
    series = []
    for scheme in (TAIL, EXRED):
        found = [
            interval(
                values(loops, "throughput", scheme=scheme, load=v) - values(loops, "throughput", scheme=RED, load=v)
            )
            for v in LOADS
        ]
        bounds = ([i.low for i in found], [i.high for i in found])
        series.append(Series(f"{scheme} - RED", LOADS, [i.mean for i in found], *bounds, color=COLORS[scheme]))
        pairs = [(v, chain(scheme, v, "throughput"), chain(RED, v, "throughput")) for v in loads()]
        exact = [(v, a - b) for v, a, b in pairs if a is not None and b is not None]
        x, y = zip(*exact, strict=True)
        series.append(Series(f"{scheme} - RED, chain", x, y, mode="dashed", color=COLORS[scheme]))
    return Chart(
        key="figure-5-differences",
        title="Figures 4 and 5: throughput less RED's",
        alt="ExRED carries at most about 4 packets per second more than RED, near load 1.05; drop-tail up to 30.",
        x_label=LOAD,
        y_label="difference, packets/s",
        series=series,
        caption="Paired by seed, with 95 % intervals; dashed the chain.",
    )


def figure_6(loops: pd.DataFrame) -> list[Chart]:
    """Figure 6: P(N > n) against n, a chart per load."""
    charts = []
    n = list(range(LONGEST + 1))
    for load in RUN_LOADS:
        series = []
        for scheme in (RED, EXRED):
            found = [interval(values(loops, f"longer_{i}", scheme=scheme, load=load)) for i in n]
            y = [i.mean if i.mean > 0 else np.nan for i in found]
            bounds = ([max(i.low, 1e-9) for i in found], [i.high for i in found])
            series.append(Series(scheme, n, y, *bounds, color=COLORS[scheme]))
        tail = [(load / (1 + load)) ** i for i in n]
        series.append(Series("drop-tail, (3)", n, tail, color=COLORS[TAIL]))
        for scheme in (RED, EXRED):
            y10 = [_or_nan(longer(scheme, load, i, eq10=True)) for i in n]
            series.append(Series(f"{scheme}, (10)", n, y10, mode="dashed", color=COLORS[scheme]))
        charts.append(
            Chart(
                key=f"figure-6-load-{load}",
                title=f"Figure 6: probability of more than n drops in a row, load {load}",
                alt=f"P(N > n) against n at load {load}: ExRED's falls fastest, RED's has a long tail.",
                x_label="n",
                y_label="P(N > n)",
                series=series,
                y_range=(1e-5, 1.2),
                y_log=True,
                caption="Simulated, per run of drops, with 95 % intervals; drop-tail by (3), which is exact; dashed "
                "what the paper's (10) gives, which ignores departures.",
            )
        )
    return charts


def figure_7(loops: pd.DataFrame) -> Chart:
    """Figure 7: mean number of consecutive drops."""
    chart = _by_load(
        loops,
        "mean_run",
        key="figure-7",
        title="Figure 7: mean number of drops in a row",
        label="E(N)",
        exact="mean_run",
    )
    y11 = [_or_nan(chain(EXRED, load, "mean_run_eq11")) for load in loads()]
    series = [*chart.series, Series("ExRED, (11)", loads(), y11, mode="dashed", color=7)]
    return dataclasses.replace(
        chart,
        series=series,
        caption="Simulated with w = 0.02; dashed the exact runs of the chain (w = 1) and the paper's (11), which for "
        "RED is infinite. Averaging makes RED's runs longer: while the average stays above k_h, all packets are "
        "dropped.",
    )


def figure_8(loops: pd.DataFrame) -> Chart:
    """Figure 8: mean wait."""
    return _by_load(
        loops, "wait_ms", key="figure-8", title="Figure 8: mean queueing delay", label="mean wait, ms", exact="wait_ms"
    )


def under_tcp(tcp: pd.DataFrame, key: str, title: str, label: str) -> Chart:
    """One of our figures: a quantity against the number of TCP flows."""
    flows = sorted(int(n) for n in tcp["n"].unique())
    series = []
    for scheme in TCP_SCHEMES:
        found = [interval(values(tcp, key, scheme=scheme, n=n)) for n in flows]
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


def _gain(loops: pd.DataFrame, scheme: str, load: float) -> Interval:
    own, red = (values(loops, "throughput", scheme=one, load=load) for one in (scheme, RED))
    return interval(own - red)


def _by_load(loops: pd.DataFrame, quantity: str, *, key: str, title: str, label: str, exact: str = "") -> Chart:
    series = []
    for scheme in SCHEMES:
        found = [interval(values(loops, quantity, scheme=scheme, load=load)) for load in LOADS]
        kept = [(load, one) for load, one in zip(LOADS, found, strict=True) if one.n]
        bounds = ([i.low for _, i in kept], [i.high for _, i in kept])
        x = [load for load, _ in kept]
        series.append(Series(scheme, x, [i.mean for _, i in kept], *bounds, color=COLORS[scheme]))
        if exact:
            series.append(_chain_series(scheme, exact))
    return Chart(
        key=key,
        title=title,
        alt=f"{label} against the offered load for {', '.join(SCHEMES)}.",
        x_label=LOAD,
        y_label=label,
        series=series,
        caption=f"Simulated with w = 0.02, 95 % intervals.{' Dashed: the chain, w = 1.' if exact else ''}",
    )


def _chain_series(scheme: str, quantity: str) -> Series:
    y = [_or_nan(chain(scheme, load, quantity)) for load in loads()]
    return Series(f"{scheme}, chain", loads(), y, mode="dashed", color=COLORS[scheme])


def _or_nan(found: float | None) -> float:
    return np.nan if found is None or np.isinf(found) else found
