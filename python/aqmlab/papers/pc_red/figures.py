"""Figure 3 by its closed form, and the spectra of the queue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aqmlab.figures.chart import Chart, Heat, Series
from aqmlab.papers.common import Setup, pick
from aqmlab.papers.common.recorded import samples
from aqmlab.papers.pc_red.measure import spectrum
from aqmlab.papers.pc_red.plan import CASES, SWING_CASES
from aqmlab.theory.control import pc_red as model


def figure_3() -> Chart:
    """Figure 3 as lines: a_d against n, one for each weight."""
    n = np.arange(0, 301, dtype=float)
    series = [Series(f"w = {w:g}", n, model.average_rate(w, n), color=index) for index, w in enumerate(model.WEIGHTS)]
    return Chart(
        key="figure-3", title="Figure 3: a_d against weight w and number of intervals n",
        alt="a_d rises from 150 towards 500 bytes, the faster the larger w; it passes L = 300 after 50 intervals with "
        "w = 0.0111, after 100 with w = 0.0056, after 19 with w = 0.03 and after 187 with w = 0.003.",
        x_label="intervals n with one drop of X = 500 bytes each", y_label="a_d, bytes", series=series,
        y_range=(140, 510), levels=[(model.LIMIT, "L = 300")],
        caption="The paper's closed form, as lines of its surface.",
    )  # fmt: skip


def figure_3_surface() -> Chart:
    """Figure 3 as the surface that it is in the paper: a_d over w and n."""
    n, weights = np.linspace(0, 100, 101), np.linspace(0.0, 0.03, 91)
    surface = np.array([model.average_rate(float(w), n) for w in weights])
    return Chart(
        key="figure-3-surface", title="Figure 3 as a surface: a_d over w and n",
        alt=f"a_d rises from {surface.min():.0f} bytes at n = 0 to {surface.max():.0f} at w = 0.03 and n = 100; the "
        "line of L = 300 goes from w = 0.03 at 19 intervals down to w = 0.0056 at 100.",
        x_label="intervals n with one drop of X = 500 bytes each", y_label="w", series=[],
        heat=Heat(n, weights, surface, "a_d, bytes", levels=(200.0, model.LIMIT, 400.0)),
        caption="Linear axes as in the paper. Above the line of 300 a_d is above L.",
    )  # fmt: skip


def figure_3_crossing() -> Chart:
    """Figure 3 read off: intervals until a_d is above L."""
    weights = np.geomspace(1e-4, 0.1, 121)
    return Chart(
        key="figure-3-crossing", title="Figure 3 read off: intervals until a_d is above L",
        alt="Intervals against w on a logarithmic axis: 50 to 100 intervals need w from 0.0111 down to 0.0056.",
        x_label="w", y_label="intervals until a_d is above L = 300",
        series=[Series("closed form", weights, [float(model.intervals_to_cross(float(w))) for w in weights])],
        x_log=True, y_range=(0, 300), shades=[(0.003, 0.03, "the paper's range of w")],
        levels=[(50.0, "50 intervals"), (100.0, "100 intervals")],
        caption=f"50 intervals need w = {model.weight_to_cross(50):.5f}, 100 need {model.weight_to_cross(100):.5f}.",
    )  # fmt: skip


def queue_spectra(setups: Sequence[Setup], root: Path) -> Chart:
    """Power spectrum of the queue under RED and with 5, 10 and 30 % high-priority flows: means over the seeds."""
    series = []
    for index, name in enumerate(SWING_CASES):
        (setup,) = pick(setups, case=name)
        found = []
        for seed in range(1, setup.seeds + 1):
            time, queue = samples(setup.run_folder(root, seed), "queue_samples", "queue_packets")
            settled = time >= setup.plan.warmup_s
            frequency, power = spectrum(queue[settled], float(time[1] - time[0]))
            found.append(power)
        series.append(Series(CASES[name].title, frequency, np.mean(found, axis=0), color=index))
    peaks = ", ".join(f"{s.name} {float(np.asarray(s.x)[int(np.argmax(s.y))]):.2f} Hz" for s in series)
    return Chart(
        key="queue-spectra", title="Spectrum of the queue",
        alt=f"Power spectrum of the queue; where it is strongest: {peaks}.", x_label="frequency, Hz",
        y_label="packets^2 / Hz", series=series, x_log=True, y_log=True,
        caption=f"Means over the seeds (Welch's method, windows of 100 s). Strongest: {peaks}.",
    )  # fmt: skip
