"""Figures of one run against time: queue and average, congestion windows, fairness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from aqmlab.errors import InputError, unknown
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import (
    Runs,
    discipline_at,
    has_average,
    link_in,
    named,
    seed_in,
    slug,
    thin,
    thresholds,
    warmup,
    warmup_end,
)
from aqmlab.figures.scale import steady_scale
from aqmlab.results.quantities import jain
from aqmlab.scenario.parts import NOT_TCP

if TYPE_CHECKING:
    from aqmlab.results.result import Result

SLICES = 100
"""Parts into which a run is divided for its fairness, if samples are that many."""
QUEUE_SLICES = 50
"""Parts into which a run is divided for the means of its queue."""
KEYS = {"mean": "averages", "queue": "queues", "average": "own-averages"}
QUEUE_TITLES = {"mean": "Mean queue", "queue": "Queue", "average": "Average of the discipline"}


def queue_against_time(result: Result, *, link: str | None = None, seed: int | None = None) -> Chart:
    """Queue and average against time, at one link in one run. Needs ``probe.queue_interval``."""
    name, chosen = link_in(result, link), seed_in(result, seed)
    samples = result.queue_samples
    rows = thin(samples[(samples["link"] == name) & (samples["seed"] == chosen)])
    series = [Series("queue", rows["t_s"].to_numpy(), rows["queue_packets"].to_numpy(dtype=float), color=5)]
    if has_average(rows["average"]):
        own = discipline_at(result, name)
        series.append(Series("average", rows["t_s"].to_numpy(), rows["average"].to_numpy(), color=0, discipline=own))
    levels = thresholds(result, name)
    return Chart(
        key=f"queue-{slug(name)}",
        title=f"Queue at {name}, seed {chosen}",
        alt=f"Queue and average against time at link {name}; mean {rows['queue_packets'].mean():.1f} packets.",
        x_label="time, s",
        y_label="queue, packets",
        series=series,
        shades=warmup(result),
        levels=levels,
        **steady_scale(series, warmup_end(result), "packets", levels=levels),
    )


def averages_against_time(
    runs: Runs,
    *,
    link: str | None = None,
    seed: int | None = None,
    quantity: Literal["mean", "queue", "average"] = "mean",
) -> Chart:
    """Draw the queue against time, one line per discipline, in one run: the same quantity for all.

    Parameters
    ----------
    runs
        One result, or one for each discipline.
    link, seed
        The link and the run; default: the comparison's link (or the bottleneck), and the first run.
    quantity
        ``mean``: the mean of the queue's samples in each fiftieth of the run. ``queue``: every sample.
        ``average``: the discipline's own average (RED's exponentially weighted one).

    Raises
    ------
    InputError
        If `quantity` is ``average`` and a discipline has none.
    """
    if quantity not in QUEUE_TITLES:
        raise InputError(unknown("quantity", quantity, list(QUEUE_TITLES)))
    place = link_in(runs, link)
    series, words, length = [], [], 0.0
    found = named(runs)
    for index, (name, result) in enumerate(found.items()):
        samples = result.queue_samples
        rows = samples[(samples["link"] == place) & (samples["seed"] == seed_in(result, seed))]
        if quantity == "average" and not has_average(rows["average"]):
            raise InputError(f"{name}: keeps no average (allowed for all: mean, queue)")
        column = "average" if quantity == "average" else "queue_packets"
        words.append(f"{name} {rows[column].mean():.1f}")
        if quantity == "mean":
            x, y, length = _slices(rows["t_s"].to_numpy(dtype=float), rows[column].to_numpy(dtype=float))
        else:
            kept = thin(rows)
            x, y = kept["t_s"].to_numpy(), kept[column].to_numpy(dtype=float)
        series.append(Series(name, x, y, color=index, discipline=discipline_at(result, place)))
    first = next(iter(found.values()))
    return Chart(
        key=KEYS[quantity],
        title=f"{QUEUE_TITLES[quantity]} at {place}",
        alt=f"{QUEUE_TITLES[quantity]} against time; mean over the run, packets: {', '.join(words)}.",
        x_label="time, s",
        y_label=f"{QUEUE_TITLES[quantity].lower()}, packets",
        series=series,
        shades=warmup(first),
        caption=f"Mean of the queue in slices of {length:.3g} s, seed {seed_in(first, seed)}."
        if quantity == "mean"
        else f"{QUEUE_TITLES[quantity]} of seed {seed_in(first, seed)}.",
        **steady_scale(series, warmup_end(first), "packets"),
    )


def _slices(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the middles of slices of time, the mean of the samples in each, and their length in s.

    >>> _slices(np.array([0.5, 1.0, 1.5, 2.0]), np.array([1.0, 3.0, 5.0, 7.0]))[1].tolist()
    [1.0, 3.0, 5.0, 7.0]
    """
    every = max(1, -(-len(at) // QUEUE_SLICES))
    count = len(at) // every
    if not count:
        return at, values, 0.0
    x, y = (part[: count * every].reshape(count, every).mean(axis=1) for part in (at, values))
    return x, y, float(every * (at[1] - at[0])) if len(at) > 1 else 0.0


def windows_against_time(result: Result, *, flows: Sequence[str] | None = None, seed: int | None = None) -> Chart:
    """Congestion windows against time, of up to four flows in one run. Needs ``probe.cwnd_interval``."""
    chosen = seed_in(result, seed)
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
        y_label="congestion window, packets",
        series=series,
        shades=warmup(result),
        **steady_scale(series, warmup_end(result), "packets"),
    )


def jain_against_time(runs: Runs, *, seed: int | None = None, window_s: float | None = None) -> Chart:
    """Jain's index of the TCP flows' goodput in every slice of time. Needs ``probe.flow_interval``.

    Parameters
    ----------
    runs
        One result, or one for each discipline.
    seed
        The run; default: the first.
    window_s
        Length of a slice; default: a hundredth of the run, or the interval of the samples if that is longer. A flow
        counts in the slices in which it could send from their begin to their end.
    """
    series, words, length = [], [], 0.0
    for index, (name, result) in enumerate(named(runs).items()):
        times, values, length = _fairness(result, seed_in(result, seed), window_s)
        series.append(Series(name, times, values, color=index, discipline=discipline_at(result, result.bottleneck)))
        words.append(f"{name} {np.nanmean(values):.3f}" if len(values) else f"{name} none")
    return Chart(
        key="jain",
        title="Jain's index in time",
        alt=f"Jain's fairness index of the TCP flows against time; mean over the slices: {', '.join(words)}.",
        x_label="time, s",
        y_label="Jain's index of the goodput",
        series=series,
        y_range=(0, 1.02),
        caption=f"Slices of {length:.3g} s; 1 is the same goodput for every flow.",
    )


def _fairness(result: Result, seed: int, window_s: float | None) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the ends of the slices, the index in each, and their length."""
    flows = result.flows
    flows = flows[(flows["seed"] == seed) & ~flows["transport"].isin(NOT_TCP)]
    samples = result.flow_samples
    samples = samples[(samples["seed"] == seed) & samples["flow"].isin(flows["flow"])]
    delivered = samples.pivot_table(index="t_s", columns="flow", values="delivered_bytes", sort=True)
    if len(delivered) < 2:
        raise InputError(f"{result.name}: Jain's index needs two samples of a TCP flow; shorten probe.flow_interval")
    at = delivered.index.to_numpy(dtype=float)
    interval = float(at[1] - at[0])
    wanted = window_s if window_s is not None else (at[-1] - at[0]) / SLICES
    every = max(1, round(wanted / interval))
    at, got = at[::every], np.diff(delivered.to_numpy(dtype=float)[::every], axis=0)
    times = flows.set_index("flow").loc[delivered.columns, ["start_s", "finish_s"]].to_numpy(dtype=float)
    until = np.where(np.isnan(times[:, 1]), np.inf, times[:, 1])
    takes_part = (times[:, 0] <= at[:-1, None]) & (until >= at[1:, None])
    values = [jain(row[mask]) for row, mask in zip(got, takes_part, strict=True)]
    return at[1:], np.array(values), every * interval
