#!/usr/bin/env python3
"""Draws the figures of these pages, as SVG beside them; those of the queueing models are described here.

figures.py            draws all figures of `figures.py` and `figures_*.py`
figures.py NAME...    draws these
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from aqmlab import _core
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers.exred.plan import QUEUE
from aqmlab.reporting import plots
from aqmlab.reporting.mpl_style import STYLE
from aqmlab.scenario.toml_text import inline
from aqmlab.statistics import interval
from aqmlab.theory import AveragedChain, DropCurve, consecutive_drops, solve_averaged_chain, solve_chain

HERE = Path(__file__).resolve().parent
CURVES = {"RED": "red", "gentle RED": "gentle-red", "MRED": "mred", "ExRED": "exred"}
LOADS = np.array([0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0])


@cache
def curve(name: str) -> DropCurve:
    """Return a curve at the thresholds of ExRED's paper."""
    return DropCurve.of(CURVES[name], min_th=10, max_th=30, max_p=0.1, limit=100, name=name)


@cache
def averaged(name: str, load: float, w_q: float) -> AveragedChain:
    """Solve the chain with the average."""
    return solve_averaged_chain(curve(name), load=load, capacity=100, w_q=w_q)


def queueing_runs() -> Chart:
    """How long runs of drops are: exactly, and by the printed equation."""
    n = np.arange(21)
    series = []
    for index, name in enumerate(("RED", "ExRED")):
        runs = consecutive_drops(solve_chain(curve(name), load=1.2, capacity=100))
        color = 3 * index
        series.append(Series(f"{name}, exact", n, [runs.longer(int(i)) for i in n], color=color))
        printed = [runs.longer_eq10(int(i)) or np.nan for i in n]
        series.append(Series(f"{name}, eq. (10)", n, printed, mode="dashed", color=color))
    return Chart(
        key="queueing-runs",
        title="Runs of drops at load 1.2",
        alt="P(N > n) against n: by eq. (10) RED stays above 0.65 for ever; exactly it falls by half at every drop.",
        x_label="n",
        y_label="P(N > n)",
        series=series,
        y_log=True,
        y_range=(1e-8, 2),
    )


def averaged_runs() -> Chart:
    """Mean run of drops against load: without the average, with it, and simulated."""
    series = []
    for index, name in enumerate(("RED", "ExRED")):
        color = 3 * index
        plain = [consecutive_drops(solve_chain(curve(name), load=x, capacity=100)).mean_run for x in LOADS]
        full = [averaged(name, x, 0.02).mean_run or np.nan for x in LOADS]
        found = [interval([simulated(name, x, seed) for seed in range(5)]) for x in LOADS]
        low, high = [one.low for one in found], [one.high for one in found]
        series.append(Series(f"{name}, w = 1", LOADS, plain, mode="dashed", color=color))
        series.append(Series(f"{name}, w = 0.02", LOADS, full, color=color))
        mean = [one.mean for one in found]
        series.append(Series(f"{name}, simulated", LOADS, mean, low, high, mode="points", color=5 + index))
    return Chart(
        key="averaged-runs",
        title="Mean run of drops",
        alt="E(N) against load: RED's rises to 2.8 at load 2 without averaging and to 7.8 with w = 0.02, where the "
        "simulated points lie; ExRED's rises to 2.1 in all three.",
        x_label="load",
        y_label="E(N), packets",
        series=series,
        y_range=(0, 9),
    )


def averaged_law() -> Chart:
    """The law of the average for several weights."""
    series = []
    for index, w_q in enumerate((0.2, 0.02, 0.002, 0.0002)):
        chain = averaged("ExRED", 1.1, w_q)
        below = np.cumsum(chain.law.sum(axis=0))
        series.append(Series(f"w = {w_q:g}", chain.averages, below, color=index))
    return Chart(
        key="averaged-law",
        title="Law of ExRED's average at load 1.1",
        alt="P(average <= x) against x: the smaller the weight, the steeper the rise, near 30 packets.",
        x_label="average, packets",
        y_label="P(average <= x)",
        series=series,
        x_range=(0, 70),
    )


@cache
def simulated(name: str, load: float, seed: int) -> float:
    """Return the mean run of drops of one simulation."""
    queue = "\n".join(f"{key} = {inline(value)}" for key, value in ({"aqm": CURVES[name]} | QUEUE).items())
    found = _core.open_loop(queue, 1000 * load, 1000.0, 500_000, 25_000, seed)["mean_run"]
    return float(found) if isinstance(found, float) else np.nan


FIGURES: dict[str, Callable[[], Chart]] = {
    "queueing-runs": queueing_runs,
    "averaged-runs": averaged_runs,
    "averaged-law": averaged_law,
}


def write(make: Callable[[], Chart]) -> Path:
    """Draw one figure."""
    chart = make()
    path = HERE / f"{chart.key}.svg"
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=plots.SIZE_IN, layout="constrained")
        plots.draw(figure.add_subplot(), chart)
        path.write_text(plots.svg_text(figure))
    return path


def main(names: list[str]) -> int:
    """Draw figures."""
    sys.path.insert(0, str(HERE))
    figures = dict(FIGURES)
    for path in sorted(HERE.glob("figures_*.py")):
        figures |= importlib.import_module(path.stem).FIGURES
    unknown = [name for name in names if name not in figures]
    if unknown:
        print(f"{unknown[0]}: no such figure (there are {', '.join(figures)})", file=sys.stderr)
        return 2
    for name in names or figures:
        print(write(figures[name]).name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
