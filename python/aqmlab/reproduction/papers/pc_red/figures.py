"""Figures 1 to 5 of the paper, and what it left unmeasured against time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.plotting.chart import Chart, Heat, Series
from aqmlab.reproduction.papers.common import Setup, pick, values
from aqmlab.reproduction.papers.pc_red.measure import KINDS, LIMIT, discipline_samples, queue_samples, spectrum
from aqmlab.reproduction.papers.pc_red.plan import CASES, SWING_CASES
from aqmlab.statistics import interval
from aqmlab.theory.control import pc_red as model

SEED = 1
MOST = 1500
"""Points of a line against time."""
SHORT_S = (500.0, 700.0)
"""The seconds of the queue that are drawn."""


def figure_3() -> Chart:
    """Figure 3 as lines: a_d against n, one for each weight."""
    n = np.arange(0, 301, dtype=float)
    series = [Series(f"w = {w:g}", n, model.average_rate(w, n), color=index) for index, w in enumerate(model.WEIGHTS)]
    return Chart(
        key="figure-3",
        title="Figure 3: a_d against weight w and number of intervals n",
        alt="a_d rises from 150 towards 500 bytes, the faster the larger w; it passes L = 300 after 50 intervals with "
        "w = 0.0111, after 100 with w = 0.0056, after 19 with w = 0.03 and after 187 with w = 0.003.",
        x_label="intervals n with one drop of X = 500 bytes each",
        y_label="a_d, bytes",
        series=series,
        y_range=(140, 510),
        levels=[(model.LIMIT, "L = 300")],
        caption="The paper's closed form, as lines of its surface.",
    )


def figure_3_surface() -> Chart:
    """Figure 3 as the surface that it is in the paper: a_d over w and n."""
    n, weights = np.linspace(0, 100, 101), np.linspace(0.0, 0.03, 91)
    surface = np.array([model.average_rate(float(w), n) for w in weights])
    return Chart(
        key="figure-3-surface",
        title="Figure 3 as a surface: a_d over w and n",
        alt=f"a_d rises from {surface.min():.0f} bytes at n = 0 to {surface.max():.0f} at w = 0.03 and n = 100; the "
        "line of L = 300 goes from w = 0.03 at 19 intervals down to w = 0.0056 at 100.",
        x_label="intervals n with one drop of X = 500 bytes each",
        y_label="w",
        series=[],
        heat=Heat(n, weights, surface, "a_d, bytes", levels=(200.0, model.LIMIT, 400.0)),
        caption="Linear axes as in the paper. Above the line of 300 a_d is above L.",
    )


def figure_3_crossing() -> Chart:
    """Figure 3 read off: intervals until a_d is above L."""
    weights = np.geomspace(1e-4, 0.1, 121)
    return Chart(
        key="figure-3-crossing",
        title="Figure 3 read off: intervals until a_d is above L",
        alt="Intervals against w on a logarithmic axis: 50 to 100 intervals need w from 0.0111 down to 0.0056.",
        x_label="w",
        y_label="intervals until a_d is above L = 300",
        series=[Series("closed form", weights, [float(model.intervals_to_cross(float(w))) for w in weights])],
        x_log=True,
        y_range=(0, 300),
        shades=[(0.003, 0.03, "the paper's range of w")],
        levels=[(50.0, "50 intervals"), (100.0, "100 intervals")],
        caption=f"50 intervals need w = {model.weight_to_cross(50):.5f}, 100 need {model.weight_to_cross(100):.5f}.",
    )


def average_queue(setups: list[Setup], root: Path) -> Chart:
    """RED's average against time under RED, with a random victim alone, and with a protected flow."""
    series, words = [], []
    for index, name in enumerate(("RED", "unprotected", "PC-RED")):
        (setup,) = pick(setups, case=name)
        time, average = queue_samples(setup.run_folder(root, SEED))
        here = (time >= SHORT_S[0]) & (time < SHORT_S[1])
        series.append(Series(CASES[name].title, time[here], average[here], color=index))
        words.append(f"{CASES[name].title} {np.std(average[time >= setup.plan.warmup_s]):.1f}")
    return Chart(
        key="average-queue",
        title="Experiment 1: average queue against time",
        alt=f"Average queue over 200 s of one run; s.d. over the whole run, packets: {', '.join(words)}.",
        x_label="time, s",
        y_label="average queue, packets",
        series=series,
        caption=f"200 s of one run (seed {SEED}). The table below has all seeds.",
    )


def loss_against_time(setups: list[Setup], root: Path) -> Chart:
    """a_d of the observed flows against time in Experiments 2 and 3."""
    series = []
    for index, (name, group, title) in enumerate(
        (
            ("w = 5e-3", "high", "w = 5e-3"),
            ("w = 3e-3", "high", "w = 3e-3"),
            ("w = 3e-5", "high", "w = 3e-5"),
            ("10 %", "non", "Non, r_p = 10 %"),
            ("30 %", "non", "Non, r_p = 30 %"),
        )
    ):
        (setup,) = pick(setups, case=name)
        gauges = discipline_samples(setup.run_folder(root, SEED))
        series.append(_thin(title, gauges["t_s"], gauges[f"a_d_first_{group}"], color=index))
    return Chart(
        key="a-d-against-time",
        title="a_d of the observed flows against time",
        alt="a_d of the high-priority flow reaches L = 70 within a minute or two with w = 5e-3 and 3e-3 and stays "
        "there; with 3e-5 it creeps up and does not reach it. a_d of the others climbs from 0 for about 1000 s.",
        x_label="time, s",
        y_label="a_d, bytes in g",
        series=series,
        levels=[(LIMIT, "L = 70")],
        caption=f"One run each (seed {SEED}). The climb from 0 is a large part of what Table IV calls Non's "
        f"fluctuation.",
    )


def protected_against_time(setups: list[Setup], root: Path) -> Chart:
    """N_p+ and N_p- against time."""
    series = []
    for index, name in enumerate(("10 %", "30 %")):
        (setup,) = pick(setups, case=name)
        gauges = discipline_samples(setup.run_folder(root, SEED))
        for shift, (kind, sign) in enumerate((("n_p_plus", "N_p+"), ("n_p_minus", "N_p-"))):
            smooth = moving(gauges[kind], 60)
            series.append(_thin(f"{sign}, r_p = {name}", gauges["t_s"], smooth, color=2 * index + shift))
    return Chart(
        key="protected-against-time",
        title="High-priority flows above their limit (N_p+) and below it (N_p-)",
        alt="Mean over 60 s of the numbers of high-priority flows whose a_d is above L and of those where it is not.",
        x_label="time, s",
        y_label="flows, mean over 60 s",
        series=series,
        caption=f"One run each (seed {SEED}). The paper calls it the critical state when all of them are N_p+.",
    )


def queue_spectra(setups: list[Setup], root: Path) -> Chart:
    """Power spectrum of the queue under RED and with 5, 10 and 30 % high-priority flows: means over the seeds."""
    series = []
    for index, name in enumerate(SWING_CASES):
        (setup,) = pick(setups, case=name)
        found = []
        for seed in range(1, setup.seeds + 1):
            time, queue = queue_samples(setup.run_folder(root, seed), column="queue_packets")
            settled = time >= setup.plan.warmup_s
            frequency, power = spectrum(queue[settled].astype(float), float(time[1] - time[0]))
            found.append(power)
        series.append(Series(CASES[name].title, frequency, np.mean(found, axis=0), color=index))
    peaks = ", ".join(f"{s.name} {float(np.asarray(s.x)[int(np.argmax(s.y))]):.2f} Hz" for s in series)
    return Chart(
        key="queue-spectra",
        title="Spectrum of the queue",
        alt=f"Power spectrum of the queue; where it is strongest: {peaks}.",
        x_label="frequency, Hz",
        y_label="packets^2 / Hz",
        series=series,
        x_log=True,
        y_log=True,
        caption=f"Means over the seeds (Welch's method, windows of 100 s). Strongest: {peaks}.",
    )


def share_of_priority(setups: list[Setup], root: Path) -> Chart:
    """r_p against time, without and with an admission limit."""
    series = []
    for index, name in enumerate(("no limit", "refuse")):
        (setup,) = pick(setups, case=name)
        gauges = discipline_samples(setup.run_folder(root, SEED))
        here = gauges["t_s"] <= 1000
        series.append(Series(CASES[name].title, gauges["t_s"][here], gauges["r_p"][here], color=index))
    return Chart(
        key="share-of-priority",
        title="r_p against time, with four more priority flows from 500 s on",
        alt="Without a limit r_p rises from 0.125 to 0.3 at 500 s; with the limit it falls to 0.1, since the new flows "
        "count as flows without priority.",
        caption="A limit that only warns changes nothing in this figure.",
        x_label="time, s",
        y_label="r_p",
        series=series,
        levels=[(0.13, "r_p_max = 0.13")],
        y_range=(0, 0.4),
    )


def drop_probability(runs: pd.DataFrame) -> Chart:
    """Drop probability of the three kinds of packets."""
    cases = ("PC-RED", "10 %", "30 %")
    titles = [CASES[name].title for name in cases]
    series = []
    for index, (kind, title) in enumerate(KINDS.items()):
        found = [interval(values(runs, f"p_{kind}", case=name)) for name in cases]
        series.append(
            Series(
                title, titles, [f.mean for f in found], [f.low for f in found], [f.high for f in found], "bar", index
            )
        )
    return Chart(
        key="drop-probability",
        title="Drop probability of the three kinds of packets",
        alt="Packets of flows above their limit are dropped least, those of flows without priority most.",
        x_label="",
        y_label="drops / arrivals",
        series=series,
        caption="Means over the seeds with 95 % intervals.",
    )


def moving(values: np.ndarray, width: int) -> np.ndarray:
    """Mean over the last `width` samples (fewer at the start).

    >>> moving(np.array([1.0, 3.0, 5.0]), 2)
    array([1., 2., 4.])
    """
    total = np.concatenate([[0.0], np.cumsum(np.nan_to_num(values))])
    end = np.arange(1, len(values) + 1)
    begin = np.maximum(end - width, 0)
    found: np.ndarray = (total[end] - total[begin]) / (end - begin)
    return found


def _thin(name: str, x: np.ndarray, y: np.ndarray, *, color: int) -> Series:
    step = max(1, len(x) // MOST)
    return Series(name, x[::step], y[::step], color=color)
