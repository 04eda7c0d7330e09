"""Theory drawn over simulation: the curve with its point, the queue in time, the law of the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures import thin
from aqmlab.figures.agreement import MODELS
from aqmlab.figures.chart import Chart, Series

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result
    from aqmlab.theory.drop_curve import Array
    from aqmlab.theory.fluid.trajectory import Trajectory
    from aqmlab.theory.scenario.agreement import Analysed, Measured
    from aqmlab.theory.scenario.model import LinkModel
    from aqmlab.theory.scenario.theory import Theory

THEORY, PACKETS, SOFT, MARK = 0, 1, 5, 4
"""Colours of computed and of simulated values, of their faster companions, and of a place to look at."""


def charts_of(theory: Theory, measured: list[Measured], result: Result | None) -> list[Chart]:
    """Return the figures of a theory, with what was measured in them."""
    model = theory.model
    made = []
    if model.curve.drops_early:
        made.append(drop_curve(model, theory.columns, measured))
    if theory.path is not None:
        made.append(queue_in_time(model, theory.path, result))
    if theory.loop is not None:
        from aqmlab.figures.loops import bode, nyquist

        loop = replace(theory.loop, name=model.curve.name)
        made += [*bode([loop]), nyquist([loop])]
    if theory.chain is not None:
        made.append(law_of_queue(theory, result))
    return made


def drop_curve(model: LinkModel, columns: list[Analysed], measured: list[Measured]) -> Chart:
    """Draw the curve, with the operating point and what was measured on it."""
    curve = model.curve
    found = [(c.name, c.values["mean_average"], c.values["p"]) for c in columns if "mean_average" in c.values]
    seen = [(m.name, m.values["mean_average"].mean, m.values["p"]) for m in measured]
    top = max([1.15 * curve.p_b.max_th, *(1.15 * x for _, x, _ in found), *(1.15 * x for _, x, _ in seen)])
    x, rate = curve.rate.table(top=top, points=301)
    heights = [p for _, _, p in found] + [p.high if p.n > 1 else p.mean for _, _, p in seen]
    below = float(curve.rate([curve.p_b.max_th * (1 - 1e-9)])[0])
    p_b = curve.p_b(x)
    spaced = bool(np.any(np.abs(p_b - rate) > 1e-12))
    captions = []
    if spaced:
        captions.append(
            "Dotted: p_b as the discipline computes it; solid: the share that its spacing of drops makes of it."
        )
    if model.kind == "chain":
        captions.append("The mean of p over a queue that varies is not p of its mean, so the points are off the curve.")
    series = [
        *([Series(f"p_b of {curve.name}", x, p_b, mode="dotted", color=SOFT)] if spaced else []),
        Series("share dropped", x, rate, color=THEORY),
        *(
            Series(name, [at], [p], mode="points", color=color)
            for (name, at, p), color in zip(found, MODELS, strict=False)
        ),
        *(Series(name, [at], [p.mean], [p.low], [p.high], mode="points", color=PACKETS) for name, at, p in seen),
    ]
    words = [f"{name} at {at:.4g} packets, p = {p:.4g}" for name, at, p in found]
    words += [f"{name} at {at:.4g} packets, p = {p.mean:.4g}" for name, at, p in seen]
    return Chart(
        key="curve",
        title="The curve, and where the queue rests on it",
        alt=f"Share of packets dropped against the average queue; {'; '.join(words) or 'no point on it'}.",
        x_label="average queue, packets",
        y_label="share of packets dropped",
        series=series,
        x_range=(0.0, top),
        y_range=(0.0, min(1.02, 1.5 * max([*heights, below, 0.01]))),
        caption=" ".join(captions),
    )


def queue_in_time(model: LinkModel, path: Trajectory, result: Result | None) -> Chart:
    """Draw the fluid's queue and average over those of one run."""
    end = float(path.t[-1])
    series = []
    if result is not None and "queue_samples" in result.tables:
        rows = thin(_samples(model, result, seed=result.seeds[0], until=end))
        t = rows["t_s"].to_numpy()
        series.append(Series("queue, simulated", t, rows["queue_packets"].to_numpy(dtype=float), color=SOFT))
        if rows["average"].notna().any():
            average = rows["average"].to_numpy(dtype=float) / model.curve.unit
            series.append(Series("average, simulated", t, average, color=PACKETS))
    step = max(len(path.t) // 2000, 1)
    series.append(Series("queue, fluid", path.t[::step], path.queue[::step], color=THEORY))
    if model.curve.w_q < 1:
        average = path.average[::step] + (1.0 if model.curve.in_service_counts else 0.0)
        series.append(Series("average, fluid", path.t[::step], average, color=MARK))
    run = f"; seed {result.seeds[0]} of the simulation" if result is not None else ""
    return Chart(
        key="queue-in-time",
        title="Queue against time",
        alt=f"Queue and average of the fluid{' over those of the simulation' if run else ''}, 0 to {end:.4g} s.",
        x_label="time, s",
        y_label="packets",
        series=series,
        caption=f"The fluid starts with windows of one packet, all flows at time 0, without slow start{run}.",
    )


def law_of_queue(theory: Theory, result: Result | None) -> Chart:
    """Draw the probability of each number of packets waiting, by the chains and as sampled."""
    laws = {"chain, with average": theory.averaged, "chain": theory.chain}
    waiting = {name: _waiting(chain.pi) for name, chain in laws.items() if chain is not None}
    last = max(int(np.flatnonzero(np.cumsum(law) >= 1 - 1e-6)[0]) + 1 for law in waiting.values())
    colors = {column.name: color for column, color in zip(theory.columns, MODELS, strict=False)}
    series = [Series(name, np.arange(last), law[:last], color=colors[name]) for name, law in waiting.items()]
    if result is not None and "queue_samples" in result.tables:
        rows = _samples(theory.model, result, since=theory.model.scenario.warmup_s)
        counts = np.bincount(rows["queue_packets"].to_numpy(dtype=int), minlength=last)
        share = counts / counts.sum()
        series.append(Series("simulated", np.arange(len(share)), share, mode="points", color=PACKETS))
    means = ", ".join(f"{s.name} {float(np.asarray(s.y) @ np.arange(len(s.y))):.4g}" for s in series)
    return Chart(
        key="law-of-queue",
        title="The law of the queue",
        alt=f"Probability of each number of packets waiting; means: {means}.",
        x_label="packets waiting",
        y_label="probability",
        series=series,
    )


def _waiting(pi: Array) -> Array:
    """Return the law of the packets that wait: none waits while at most one is in the system."""
    return np.concatenate([[pi[0] + pi[1]], pi[2:]])


def _samples(
    model: LinkModel, result: Result, *, seed: int | None = None, since: float = 0.0, until: float = np.inf
) -> pd.DataFrame:
    rows = result.queue_samples
    rows = rows[(rows["link"] == model.link.name) & (rows["t_s"] >= since) & (rows["t_s"] <= until)]
    return rows if seed is None else rows[rows["seed"] == seed]
