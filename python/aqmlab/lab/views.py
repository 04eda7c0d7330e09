"""The charts of the page, made of runs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.figures.chart import Chart, Series
from aqmlab.lab.numbers import Array, column
from aqmlab.lab.simulation import Run

CURVE_POINTS = 241
CLASS_COLORS = (0, 1, 2, 6, 7)
"""Places in the palette of the curves of a queue's classes."""


def charts(runs: Sequence[Run], values: Sequence[dict[str, float]], link: str) -> list[Chart]:
    """Return the charts: queue, probability, goodput and delay."""
    return [
        queue_chart(runs, values, link),
        probability_chart(runs, values, link),
        goodput_chart(runs, values, link),
        delay_chart(runs, values, link),
    ]


def queue_chart(runs: Sequence[Run], values: Sequence[dict[str, float]], link: str) -> Chart:
    """Queue and average against time."""
    series = []
    for index, run in enumerate(runs):
        samples = run.output["tables"]["queue_samples"]
        t = column(samples, "t_s")
        series.append(Series(_named(runs, run, "queue"), t, column(samples, "queue_packets"), color=5 + index))
        if _has_average(run, link):
            series.append(Series(_named(runs, run, "average"), t, column(samples, "average"), color=index))
    parameters = runs[0].plan.link.parameters
    levels = [(float(parameters[key]), key) for key in ("min_th", "max_th") if _is_number(parameters.get(key))]
    means = ", ".join(f"{run.name} {own['mean_queue']:.1f}" for run, own in zip(runs, values, strict=True))
    return Chart(
        key="queue",
        title="Queue and average",
        alt=f"Queue and average at {link} against time; mean queue in packets: {means}.",
        x_label="time, s",
        x_range=(0.0, runs[0].plan.duration_s),
        y_label="packets",
        series=series,
        shades=_warmup(runs),
        levels=levels,
        y_range=(0.0, _top([s.y for s in series], [height for height, _ in levels])),
    )


def probability_chart(runs: Sequence[Run], values: Sequence[dict[str, float]], link: str) -> Chart:
    """Drop probability against average: the curve, where the run was on it, and what was dropped in the mean."""
    series: list[Series] = []
    reached, steep = [30.0], [0.02]
    for run in runs:
        for low_high_p in _thresholds(run, link):
            reached.append(1.3 * low_high_p[1])
            steep.append(1.6 * low_high_p[2])
    visited = []
    for run in runs:
        samples = run.output["tables"]["queue_samples"]
        counted = column(samples, "t_s") >= run.plan.warmup_s
        average, p_b = column(samples, "average")[counted], column(samples, "p_b")[counted]
        visited.append((average, p_b))
        if _has_average(run, link):
            reached.append(1.1 * float(np.nanmax(average, initial=0.0)))
            steep.append(1.15 * float(np.nanmax(p_b, initial=0.0)))
    top, height = max(reached), min(max(steep), 1.02)
    x = np.linspace(0.0, top, CURVE_POINTS)
    words = []
    for index, (run, own, (average, p_b)) in enumerate(zip(runs, values, visited, strict=True)):
        if not _has_average(run, link):
            words.append(f"{run.name} has no curve, share dropped {own['loss']:.3g}")
            continue
        for number, (name, body) in enumerate(_curves(run, link)):
            p = _core.curve(json.dumps(body), x.tolist())
            color = index if len(runs) > 1 else CLASS_COLORS[number % len(CLASS_COLORS)]
            series.append(Series(_named(runs, run, name), x, p, color=color))
        series.append(Series(_named(runs, run, "visited"), average, p_b, mode="points", color=5 + index))
        links = run.output["tables"]["links"]
        mean = column(links, "mean_average")[links["link"].index(link)]
        series.append(
            Series(
                _named(runs, run, "mean average, share dropped"), [mean], [own["loss"]], mode="points", color=3 + index
            )
        )
        words.append(f"{run.name} mean average {mean:.1f} packets, share dropped {own['loss']:.3g}")
    return Chart(
        key="probability",
        title="Drop probability",
        alt=f"Drop probability against the average at {link}; {'; '.join(words)}.",
        caption=_about(runs, link),
        x_label="average, packets",
        y_label="drop probability p_b",
        series=series,
        x_range=(0.0, top),
        y_range=(0.0, height),
    )


def _about(runs: Sequence[Run], link: str) -> str:
    """Return notes on points that are not plain to see in the chart of probabilities."""
    lines = []
    for run in runs:
        spacing = run.plan.link.parameters.get("spacing")
        if run.plan.link.aqm == "drop-tail":
            lines.append(f"{run.name} drops only what does not fit: it has no curve.")
        elif not _has_average(run, link):
            lines.append(f"{run.name} does not drop by an average: it has no curve.")
        elif spacing != "none":
            lines.append(f"{run.name} spaces its drops ({spacing}): the share dropped is not p_b itself.")
    return " ".join(lines)


def goodput_chart(runs: Sequence[Run], values: Sequence[dict[str, float]], link: str) -> Chart:
    """Return the chart of goodput against time, all flows together."""
    series = []
    for index, run in enumerate(runs):
        samples = run.output["tables"]["flow_samples"]
        t, place = np.unique(column(samples, "t_s"), return_inverse=True)
        total = np.bincount(place, weights=column(samples, "delivered_bytes"), minlength=len(t))
        rate = 8e-6 * np.diff(total) / np.diff(t)
        series.append(Series(run.name, (t[1:] + t[:-1]) / 2, rate, color=index))
    capacity = runs[0].plan.link.rate_bps / 1e6
    means = ", ".join(f"{run.name} {own['goodput_mbps']:.2f}" for run, own in zip(runs, values, strict=True))
    return Chart(
        key="goodput",
        title="Goodput",
        alt=f"Bits delivered to all receivers against time; goodput of TCP in Mbit/s: {means}.",
        x_label="time, s",
        x_range=(0.0, runs[0].plan.duration_s),
        y_label="Mbit/s",
        series=series,
        shades=_warmup(runs),
        levels=[(capacity, "rate of the link")],
        y_range=(0.0, _top([s.y for s in series], [capacity])),
    )


def delay_chart(runs: Sequence[Run], values: Sequence[dict[str, float]], link: str) -> Chart:
    """How long the bytes that wait will take to leave, against time."""
    series = []
    for index, run in enumerate(runs):
        samples = run.output["tables"]["queue_samples"]
        t = column(samples, "t_s")
        wait = 8e3 * column(samples, "queue_bytes") / _rate_bps(run, link, t)
        series.append(Series(run.name, t, wait, color=index))
    quantile = values[0]["delay_p95_ms"]
    levels = [(quantile, "95 % of packets")] if math.isfinite(quantile) else []
    words = ", ".join(
        f"{run.name} {own['mean_delay_ms']:.1f} and {own['delay_p95_ms']:.1f}"
        for run, own in zip(runs, values, strict=True)
    )
    return Chart(
        key="delay",
        title="Queueing delay",
        alt=f"Queueing delay at {link} against time; mean and 95 % quantile in ms: {words}.",
        x_label="time, s",
        x_range=(0.0, runs[0].plan.duration_s),
        y_label="ms",
        series=series,
        shades=_warmup(runs),
        levels=levels,
        y_range=(0.0, _top([s.y for s in series], [height for height, _ in levels])),
    )


def _named(runs: Sequence[Run], run: Run, what: str) -> str:
    return what if len(runs) == 1 else f"{run.name}: {what}"


def _warmup(runs: Sequence[Run]) -> list[tuple[float, float, str]]:
    warmup = runs[0].plan.warmup_s
    return [(0.0, warmup, "warm-up")] if warmup > 0 else []


def _has_average(run: Run, link: str) -> bool:
    return "curve" in run.plan.link.parameters


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _thresholds(run: Run, link: str) -> list[tuple[float, float, float]]:
    """Return (min_th, max_th, max_p) of the queue, or of each of its classes, where they are in packets."""
    found = run.plan.link
    bodies = found.classes or (found.parameters,)
    keys = ("min_th", "max_th", "max_p")
    return [(b[keys[0]], b[keys[1]], b[keys[2]]) for b in bodies if all(_is_number(b.get(key)) for key in keys)]


def _curves(run: Run, link: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the queue of every curve: one, or one for each class."""
    found = run.plan.link
    if not found.classes:
        keys = ("curve", "min_th", "max_th", "max_p", "limit", "mean_packet", "points")
        own = {key: found.parameters[key] for key in keys if found.parameters.get(key) is not None}
        return [("curve", {"aqm": found.aqm, **own})]
    curve = found.parameters["curve"]
    return [
        (
            f"curve of {one['name']}",
            {"aqm": "red", "curve": curve, **{k: one[k] for k in ("min_th", "max_th", "max_p")}},
        )
        for one in found.classes
    ]


def _rate_bps(run: Run, link: str, t: Array) -> Array:
    """Return the link's rate at these times: links can change during a run."""
    rate = np.full(len(t), run.plan.link.rate_bps)
    for change in run.plan.changes:
        if change["link"] == link and change["rate_bps"] is not None:
            rate[t >= change["at_s"]] = change["rate_bps"]
    return rate


def _top(rows: Sequence[Any], levels: Sequence[float]) -> float:
    """Return a height above all values."""
    highest = max((float(np.nanmax(np.asarray(row, dtype=float), initial=0.0)) for row in rows), default=0.0)
    return 1.06 * max(highest, *levels, 1e-3)
