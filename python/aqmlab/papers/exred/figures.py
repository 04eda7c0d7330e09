"""Figures 2 to 8 of the paper, and ours under TCP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from aqmlab.figures import drop_curves
from aqmlab.figures.chart import Chart, Mode, Series
from aqmlab.papers.common import Figure, Line, Study, measured
from aqmlab.papers.common.open_loop import LONGEST
from aqmlab.papers.exred.best_curve_charts import COLORS, LOAD
from aqmlab.papers.exred.chain import chain, longer
from aqmlab.papers.exred.claims import AVERAGED
from aqmlab.papers.exred.plan import EXRED, LOADS, QUEUE, RED, RUN_LOADS, SCHEMES, TAIL, TCP_SCHEMES
from aqmlab.papers.exred.tables import A0_PRINTED, parabola

THRESHOLDS = ((10, 20), (10, 30), (10, 40), (10, 50), (20, 40), (25, 75))
"""Pairs k_l, k_h of Figure 2; the paper prints none, and its conditions k_l <= K/4 and k_h >= 2 k_l hold for all."""
MODELS: tuple[tuple[str | tuple[str, ...], str, Mode], ...] = (
    ("simulated", "simulated", "line"),
    ("chain", "chain w = 1", "dashed"),
    (AVERAGED, "chain w = 0.02", "dotted"),
)
"""Models with their words and lines."""
CHAINS = "Dashed: the paper's chain, w = 1. Dotted: the chain of queue and average, w = 0.02."


def figure_2() -> Chart:
    """Return Figure 2: ExRED's drop function for several k_l and k_h."""
    bodies = {
        f"k_l = {k_l}, k_h = {k_h}": {"aqm": "exred", **QUEUE, "min_th": f"{k_l}p", "max_th": f"{k_h}p"}
        for k_l, k_h in THRESHOLDS
    }
    return replace(
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
    return replace(
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
    """Return Figure 4: throughput of the paper's chain."""
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


def open_loop(study: Study) -> Iterator[Figure]:
    """Yield Figures 2 to 8."""
    yield from (Figure(chart) for chart in (figure_2(), figure_3(), figure_4()))
    yield _by_load(study, "throughput", number="5", title="throughput", label="throughput, packets/s")
    yield gains(study)
    yield from (Figure(chart) for chart in figure_6(study.base))
    eq11 = Line(study.runs.of("mean_run", EXRED, model="printed"), mode="dotted", color=7)
    yield _by_load(
        study,
        "mean_run",
        number="7",
        title="mean number of drops in a row",
        label="E(N)",
        further={"ExRED, (11)": eq11},
        caption=" (11) as printed has a value for ExRED only; for RED it is infinite, for drop-tail 0/0. Averaging "
        "makes RED's runs longer: while the average stays above k_h, all packets are dropped.",
    )
    yield _by_load(study, "wait_ms", number="8", title="mean queueing delay", label="mean wait, ms")


def gains(study: Study) -> Figure:
    """Return a chart of throughput less RED's, which Figures 4 and 5 can hardly show."""
    lines = {}
    for scheme in (TAIL, EXRED):
        for model, words, mode in MODELS:
            gain = study.runs.gain("throughput", scheme, over=RED, model=model)
            lines[f"{scheme} - RED, {words}"] = Line(gain, mode=mode)
    return study.chart(
        "figure-5-differences",
        "Figures 4 and 5: throughput less RED's",
        lines,
        x="load",
        alt="ExRED carries at most about 4 packets per second more than RED, near load 1.05; drop-tail up to 30.",
        caption=f"Simulated (w = 0.02): paired by seed, with 95 % intervals. {CHAINS}",
        x_label=LOAD,
        y_label="difference, packets/s",
    )


def figure_6(runs: pd.DataFrame) -> list[Chart]:
    """Return Figure 6: P(N > n) against n, a chart per load."""
    charts = []
    n = list(range(LONGEST + 1))
    for load in RUN_LOADS:
        series = []
        for scheme in (RED, EXRED):
            of: dict[str, str | float] = {"model": "simulated", "longer_than": 0, "scheme": scheme, "load": load}
            found = [measured(runs, f"longer_{i}", **of) for i in n]
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


def under_tcp(study: Study) -> Iterator[Figure]:
    """Yield our figures: quantities against the number of TCP flows."""
    for key, title, label in (
        ("utilization", "utilization of the link", "utilization"),
        ("loss", "loss", "loss"),
        ("timeouts", "time-outs", "time-outs per flow and minute"),
        ("mean_delay_ms", "delay", "mean queueing delay, ms"),
    ):
        yield study.chart(
            f"tcp-{key.replace('_', '-')}",
            f"Under TCP: {title}",
            {scheme: study.runs.of(key, scheme, model="TCP") for scheme in TCP_SCHEMES},
            x="flows",
            alt=f"{label} against the number of TCP flows for {', '.join(TCP_SCHEMES)}.",
            caption="Ours: the paper measured no TCP.",
            x_label="TCP flows n",
            y_label=label,
        )


def _by_load(
    study: Study,
    quantity: str,
    *,
    number: str,
    title: str,
    label: str,
    further: Mapping[str, Line] | None = None,
    caption: str = "",
) -> Figure:
    """Return one quantity against the load: simulated, by the paper's chain, and by the chain with the average."""
    lines = {}
    for scheme in SCHEMES:
        for model, words, mode in MODELS[:2] if scheme == TAIL else MODELS:
            name = "exact" if (scheme, model) == (TAIL, "chain") else words
            lines[f"{scheme}, {name}"] = Line(study.runs.of(quantity, scheme, model=model), mode=mode)
    return study.chart(
        f"figure-{number}",
        f"Figure {number}: {title}",
        {**lines, **(further or {})},
        x="load",
        alt=f"{label} against the offered load for {', '.join(SCHEMES)}: simulated, and by two chains.",
        caption=f"Solid: simulated with w = 0.02, 95 % intervals. {CHAINS} Drop-tail has no average, so the M/M/1/K "
        f"formulae are exact for it.{caption}",
        x_label=LOAD,
        y_label=label,
    )


def _or_nan(found: float | None) -> float:
    return np.nan if found is None or np.isinf(found) else found
