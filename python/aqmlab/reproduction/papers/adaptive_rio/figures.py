"""Figures 2 and 4 to 7 of the paper, and what it left unmeasured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.plotting.chart import Chart, Mode, Series
from aqmlab.reproduction.papers.adaptive_rio.measure import CIR_MBPS, PERIODS_S, abscissae, gauges, throughput, values
from aqmlab.reproduction.papers.adaptive_rio.plan import ADAPTIVE, ALONE_MAX_TH, RED, RIO
from aqmlab.reproduction.papers.common import Setup, pick
from aqmlab.statistics import interval

COLORS = {ADAPTIVE: 1, RIO: 0, RED: 0}
MODES: dict[str, Mode] = {ADAPTIVE: "line", RIO: "dashed"}
"""As in the paper: Adaptive-RIO solid, RIO dashed."""


def figure_2(runs: pd.DataFrame) -> Chart:
    """Figure 2: utilization against max_th."""
    x = abscissae(runs, "figure2")
    lines = [
        _points(runs, f"utilization_{basis}", "figure2", RED, x, name=name, color=color)
        for basis, name, color in (("arrived", "arriving bytes", 0), ("delivered", "goodput", 5))
    ]
    return Chart(
        key="figure-2",
        title="Figure 2: utilization against max_th",
        alt="Utilization of the bottleneck by ten best-effort flows against max_th, with min_th a third of it: "
        f"{_words(lines[0])}.",
        x_label="max_th, packets",
        y_label="utilization U",
        series=lines,
        caption="Means with 95 % intervals.",
    )


def figure_2_min(runs: pd.DataFrame) -> Chart:
    """Utilization against min_th: with max_th three times it, which the paper calls consistent, and moved alone."""
    together = abscissae(runs, "figure2")
    alone = abscissae(runs, "min_th alone")
    lines = [
        _points(runs, "utilization_arrived", "figure2", RED, together, name="max_th = 3 min_th", color=0, scale=1 / 3),
        _points(
            runs, "utilization_arrived", "min_th alone", RED, alone, name=f"max_th = {ALONE_MAX_TH} packets", color=2
        ),
    ]
    return Chart(
        key="figure-2-min-th",
        title="Figure 2 over min_th",
        alt=f"Utilization against min_th. Both thresholds together: {_words(lines[0])}. Alone: {_words(lines[1])}.",
        x_label="min_th, packets",
        y_label="utilization U",
        series=lines,
        caption="Left out of the paper for want of space. The second line moves min_th alone.",
    )


def against_time(setups: list[Setup], root: Path, kind: str, *, key: str, title: str, y_label: str) -> Chart:
    """Figures 4 and 5, and the best-effort throughput that has no figure: mean over the seeds in bins of 5 s."""
    lines = []
    for name in (ADAPTIVE, RIO):
        (setup,) = pick(setups, case="experiment1", discipline=name)
        series = [throughput(setup.run_folder(root, seed)) for seed in range(1, setup.seeds + 1)]
        time = series[0]["t_s"].to_numpy()
        mean = np.mean([one[kind].to_numpy() for one in series], axis=0)
        lines.append(Series(name, time, mean, mode=MODES[name], color=COLORS[name]))
    words = "; ".join(
        f"{begin}-{end} s {' against '.join(f'{_within(line, begin, end):.2f}' for line in lines)}"
        for begin, end in PERIODS_S
    )
    return Chart(
        key=key,
        title=title,
        alt=f"{y_label} over 400 s, {ADAPTIVE} against {RIO}: {words} Mb/s.",
        x_label="time, s",
        y_label=y_label,
        series=lines,
        y_range=(0, 10.2),
        shades=[(*PERIODS_S[1], "assured flow active"), (*PERIODS_S[3], "")],
        levels=[(CIR_MBPS, "committed")] if kind == "assured" else [],
        caption=f"Bins of 5 s, mean of {len(series)} runs.",
    )


def inside(setups: list[Setup], root: Path, names: dict[str, str], *, key: str, title: str, y_label: str) -> Chart:
    """What Adaptive-RIO does inside over time: gauges, mean over the seeds; rates in Mb/s."""
    (setup,) = pick(setups, case="experiment1", discipline=ADAPTIVE)
    runs = [gauges(setup.run_folder(root, seed)) for seed in range(1, setup.seeds + 1)]
    lines = []
    for index, (gauge, name) in enumerate(names.items()):
        mean = np.nanmean([one[gauge].to_numpy() for one in runs], axis=0) * (1e-6 if gauge.endswith("_bps") else 1.0)
        lines.append(Series(name, runs[0]["t_s"].to_numpy(), mean, color=index))
    words = "; ".join(
        f"{line.name} "
        + ", ".join(f"{_within(line, *period):.2f} in {period[0]}-{period[1]} s" for period in PERIODS_S)
        for line in lines
    )
    return Chart(
        key=key,
        title=title,
        alt=f"{title} over 400 s. Means: {words}.",
        x_label="time, s",
        y_label=y_label,
        series=lines,
        shades=[(*PERIODS_S[1], "assured flow active"), (*PERIODS_S[3], "")],
        caption=f"Mean of {len(runs)} runs.",
    )


def against_off_time(runs: pd.DataFrame, quantity: str, *, key: str, title: str, y_label: str) -> Chart:
    """Figures 6 and 7."""
    x = abscissae(runs, "experiment2")
    lines = [_points(runs, quantity, "experiment2", name, x, name=name, color=COLORS[name]) for name in (ADAPTIVE, RIO)]
    return Chart(
        key=key,
        title=title,
        alt=f"{y_label} against the mean off time. " + " ".join(f"{line.name}: {_words(line)}." for line in lines),
        x_label="mean off time, s",
        y_label=y_label,
        series=lines,
        levels=[(CIR_MBPS, "committed")] if quantity.startswith("on_") else [],
        y_range=(3.5, 4.5) if quantity.startswith("on_") else (0, 1),
        caption="Means with 95 % intervals.",
    )


def _points(
    runs: pd.DataFrame,
    quantity: str,
    case: str,
    discipline: str,
    x: list[int],
    *,
    name: str,
    color: int,
    scale: float = 1,
) -> Series:
    found = [interval(values(runs, quantity, case=case, discipline=discipline, x=at)) for at in x]
    return Series(
        name,
        [at * scale for at in x],
        [one.mean for one in found],
        [one.low for one in found],
        [one.high for one in found],
        mode="dashed" if name == RIO else "line",
        color=color,
    )


def _within(line: Series, begin: float, end: float) -> float:
    time, y = np.asarray(line.x, dtype=float), np.asarray(line.y, dtype=float)
    return float(np.mean(y[(time > begin) & (time <= end)]))


def _words(line: Series) -> str:
    return ", ".join(f"{y:.3f} at {x:g}" for x, y in zip(line.x, line.y, strict=True) if isinstance(x, int | float))
