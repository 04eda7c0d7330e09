"""The figures that users of queue disciplines expect, made of results and scenarios."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aqmlab import _core
from aqmlab.chart import Chart, Series
from aqmlab.errors import InputError
from aqmlab.metrics import metric

if TYPE_CHECKING:
    from aqmlab.comparison import Comparison
    from aqmlab.result import Result
    from aqmlab.scenario import Scenario

MAX_POINTS = 2000


def queue_against_time(result: Result, *, link: str | None = None, seed: int | None = None) -> Chart:
    """Queue and average against time, at one link in one run. Needs ``probe.queue_interval``."""
    name = link or result.bottleneck
    chosen = result.seeds[0] if seed is None else seed
    samples = result.queue_samples
    rows = thin(samples[(samples["link"] == name) & (samples["seed"] == chosen)])
    series = [Series("queue", rows["t_s"].to_numpy(), rows["queue_packets"].to_numpy(dtype=float), color=5)]
    if rows["average"].notna().any():
        series.append(Series("average", rows["t_s"].to_numpy(), rows["average"].to_numpy(), color=0))
    return Chart(
        key=f"queue-{_slug(name)}",
        title=f"Queue at {name}, seed {chosen}",
        alt=f"Queue and average against time at link {name}; mean {rows['queue_packets'].mean():.1f} packets.",
        x_label="time, s",
        y_label="packets",
        series=series,
    )


def averages_against_time(comparison: Comparison, *, seed: int | None = None) -> Chart:
    """RED's average (or the queue, where there is none) against time, one line per discipline, in one run."""
    series, words = [], []
    for index, (name, result) in enumerate(comparison.results.items()):
        chosen = result.seeds[0] if seed is None else seed
        samples = result.queue_samples
        rows = thin(samples[(samples["link"] == comparison.link) & (samples["seed"] == chosen)])
        column = "average" if rows["average"].notna().any() else "queue_packets"
        series.append(Series(name, rows["t_s"].to_numpy(), rows[column].to_numpy(dtype=float), color=index))
        words.append(f"{name} {rows[column].mean():.1f}")
    return Chart(
        key="averages",
        title=f"Average queue at {comparison.link}",
        alt=f"Average queue against time; mean over the run, packets: {', '.join(words)}.",
        x_label="time, s",
        y_label="average queue, packets",
        series=series,
    )


def drop_curves(queues: Mapping[str, Mapping[str, Any]], *, top: float) -> Chart:
    """Drop probability p_b against the average queue, from the code that the simulator runs.

    Parameters
    ----------
    queues
        Name to the body of a ``[queue.NAME]`` table.
    top
        Right end of the axis, in packets.

    Examples
    --------
    >>> chart = drop_curves({"RED": {"aqm": "red", "min_th": 10, "max_th": 30, "max_p": 0.1}}, top=40)
    >>> float(chart.series[0].y[list(chart.series[0].x).index(20.0)])
    0.05
    """
    x = np.linspace(0, top, 401)
    series = [
        Series(name, x, _core.curve(json.dumps(body), [float(v) for v in x]), color=index)
        for index, (name, body) in enumerate(queues.items())
    ]
    return Chart(
        key="drop-curve",
        title="Drop probability",
        alt=f"Drop probability against the average queue, 0 to {top:g} packets, for {', '.join(queues)}.",
        x_label="average queue, packets",
        y_label="drop probability p_b",
        series=series,
        y_range=(0, 1.02),
    )


def scenario_curves(scenario: Scenario) -> Chart | None:
    """Drop curves of all queues of a scenario that drop early, or None if there are none."""
    bodies: dict[str, dict[str, Any]] = {}
    top = 0.0
    for link in scenario.links:
        if link.aqm != "drop-tail" and link.queue not in bodies:
            bodies[link.queue] = scenario.queue_table(link.queue)
            top = max(top, float(_number(link.parameters.get("max_th"), 30)) * 2.5)
    return drop_curves(bodies, top=top) if bodies else None


def against(table: pd.DataFrame, *, x: str, key: str, title: str, x_label: str, y_label: str) -> Chart:
    """Means with error bars against a number, such as the number of flows.

    Parameters
    ----------
    table
        Columns: `x`, ``series``, ``mean``, ``low``, ``high``, and optionally ``mode`` and ``color``.
    """
    series = []
    for index, (name, rows) in enumerate(table.groupby("series", sort=False)):
        first = rows.iloc[0]
        series.append(
            Series(
                str(name),
                rows[x].to_numpy(dtype=float),
                rows["mean"].to_numpy(dtype=float),
                rows["low"].to_numpy(dtype=float),
                rows["high"].to_numpy(dtype=float),
                mode=first.get("mode", "line"),
                color=int(first.get("color", index)),
            )
        )
    names = ", ".join(s.name for s in series)
    return Chart(key, title, f"{y_label} against {x_label}: {names}.", x_label, y_label, series)


def delay_distribution(result: Result, *, link: str | None = None) -> Chart:
    """Cumulative distribution of the queueing delay, all seeds together. Needs ``probe.delay_histogram``."""
    name = link or result.bottleneck
    table = result.delay_histogram
    rows = table[table["link"] == name].groupby("high_s", as_index=False)["count"].sum()
    total = rows["count"].sum()
    share = rows["count"].cumsum() / total if total else rows["count"] * 0.0
    kept = np.isfinite(rows["high_s"].to_numpy()) & (rows["high_s"].to_numpy() > 0)
    return Chart(
        key=f"delay-{_slug(name)}",
        title=f"Queueing delay at {name}",
        alt=f"Share of packets that waited at most a given time at link {name}.",
        x_label="queueing delay, ms",
        y_label="share of packets",
        series=[Series(name, rows["high_s"].to_numpy()[kept] * 1e3, share.to_numpy()[kept], color=0)],
        x_log=True,
        y_range=(0, 1.02),
    )


def windows_against_time(result: Result, *, flows: Sequence[str] | None = None, seed: int | None = None) -> Chart:
    """Congestion windows against time, of up to four flows in one run. Needs ``probe.cwnd_interval``."""
    chosen = result.seeds[0] if seed is None else seed
    samples = result.cwnd_samples
    rows = samples[samples["seed"] == chosen]
    names = list(flows) if flows is not None else [str(f) for f in rows["flow"].drop_duplicates()[:4]]
    series = []
    for index, name in enumerate(names):
        own = thin(rows[rows["flow"] == name])
        series.append(Series(name, own["t_s"].to_numpy(), own["cwnd"].to_numpy(dtype=float), color=index))
    return Chart(
        key="cwnd",
        title=f"Congestion windows, seed {chosen}",
        alt=f"Congestion window in packets against time of the flows {', '.join(names)}.",
        x_label="time, s",
        y_label="cwnd, packets",
        series=series,
    )


def compared(comparison: Comparison, key: str) -> Chart:
    """Means of one metric with their intervals, discipline beside discipline."""
    what = metric(key)
    rows = comparison.means[comparison.means["metric"] == key]
    if rows.empty:
        raise InputError(f"{comparison.name}: {key} was not measured")
    series = [
        Series(str(r["aqm"]), [str(r["aqm"])], [r["mean"]], [r["low"]], [r["high"]], mode="points", color=i)
        for i, r in enumerate(rows.to_dict("records"))
    ]
    return Chart(
        key=f"compare-{_slug(key)}",
        title=what.title,
        alt="; ".join(f"{r['aqm']}: {r['mean']:.5g} {what.unit}" for r in rows.to_dict("records")),
        x_label="",
        y_label=what.label,
        series=series,
    )


def spread(comparison: Comparison, key: str) -> Chart:
    """Box plot of one metric over the seeds, discipline beside discipline."""
    what = metric(key)
    series = [
        Series(name, [], result.metrics(link=comparison.link)[key].to_numpy(), mode="box", color=index)
        for index, (name, result) in enumerate(comparison.results.items())
    ]
    return Chart(
        key=f"spread-{_slug(key)}",
        title=f"{what.title} over the seeds",
        alt=f"Box plot of {what.title} for {', '.join(comparison.results)}.",
        x_label="",
        y_label=what.label,
        series=series,
    )


def thin(rows: pd.DataFrame, *, most: int = MAX_POINTS) -> pd.DataFrame:
    """Keep every k-th row, so that a figure stays light."""
    step = -(-len(rows) // most) if len(rows) else 1
    return rows.iloc[::step]


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text).strip("-")


def _number(value: object, otherwise: float) -> float:
    if isinstance(value, int | float):
        return float(value)
    digits = "".join(c for c in str(value) if c.isdigit() or c == ".")
    return float(digits) if digits else otherwise
