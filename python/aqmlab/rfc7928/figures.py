"""Figures of the report: ellipses, distributions, courses in time, and curves over a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import data_range, slug
from aqmlab.figures.trade_off import ellipses_of
from aqmlab.rfc7928 import metrics
from aqmlab.rfc7928.collected import Measured, mean_of
from aqmlab.rfc7928.traffic import Group
from aqmlab.statistics import Interval

Scenario = Mapping[str, Measured]


def ellipses(scenario: Scenario, group: Group, *, phase: str | None = None) -> Chart | None:
    """Queueing delay against goodput of a group of flows, a point a run (section 2.7); None without numbers."""
    points = {}
    for name, entry in scenario.items():
        delay = entry.values("groups", group.name, "delay_ms", phase=phase)
        goodput = entry.values("groups", group.name, "goodput_mbps", phase=phase)
        known = ~np.isnan(delay) & ~np.isnan(goodput)
        if known.any():
            points[name] = (delay[known], goodput[known])
    if not points:
        return None
    words = f"{_about(scenario, group)}{f', {phase}' if phase else ''}"
    return ellipses_of(
        points,
        key=slug(f"ellipses {_case(scenario)} {group.name} {phase or ''}"),
        title=f"Queueing delay and goodput: {words}",
        x_label="queueing delay (delay in excess of the minimum), ms",
        y_label="goodput, Mb/s",
    )


def ellipses_of_all(scenario: Scenario, *, phase: str | None = None) -> Chart | None:
    """Queueing delay against the goodput of all flows from A to B together, a point a run (section 8.2)."""
    points = {}
    for name, entry in scenario.items():
        delay, goodput = entry.values("links", entry.first_link(), "delay_ms", phase=phase), entry.total_goodput(phase)
        known = ~np.isnan(delay) & (goodput > 0)
        if known.any():
            points[name] = (delay[known], goodput[known])
    if not points:
        return None
    return ellipses_of(
        points,
        key=slug(f"ellipses {_case(scenario)} all {phase or ''}"),
        title=f"Queueing delay and goodput: {_case(scenario)}, all flows from A to B{f', {phase}' if phase else ''}",
        x_label="queueing delay at the bottleneck, ms",
        y_label="goodput, Mb/s",
    )


def delays(scenario: Scenario, group: Group) -> Chart | None:
    """Distribution of the queueing delay of all packets of a group, all runs together."""
    found = _distribution(scenario, "delays", group, metrics.DELAY_EDGES_MS)
    if not found:
        return None
    series = [Series(name, x, y) for name, (x, y) in found.items()]
    words = [f"{name} {_at(*found[name], 0.95):.3g} ms" for name in found]
    return Chart(
        key=slug(f"delays {_case(scenario)} {group.name}"),
        title=f"Distribution of the queueing delay: {_about(scenario, group)}",
        alt=f"Share of packets that waited at most so long. 95 %: {'; '.join(words)}.",
        x_label="queueing delay, ms",
        y_label="share of packets",
        series=series,
        x_log=True,
        x_range=data_range(list(found.values())),
        y_range=(0, 1.02),
        caption=f"95 % of the packets waited at most: {'; '.join(words)}.",
    )


def goodputs(scenario: Scenario, group: Group, *, flows: int) -> Chart | None:
    """Distribution of the goodput of each flow in each interval of K x minRTT, all runs together."""
    first = next(iter(scenario.values()))
    capacity = max(first.case.rates_bps.values()) / 1e6
    found = _distribution(scenario, "goodputs", group, metrics.GOODPUT_EDGES * capacity)
    if not found:
        return None
    words = [f"{name} {_at(*found[name], 0.05):.3g}" for name in found]
    each = "" if flows == 1 else f" of each of the {flows} flows"
    return Chart(
        key=slug(f"goodputs {_case(scenario)} {group.name}"),
        title=f"Distribution of the goodput: {_about(scenario, group)}",
        alt=f"Share of the intervals of 1 s with at most such a goodput{each}.",
        x_label="goodput of a flow in 1 s, Mb/s",
        y_label="share of intervals",
        series=[Series(name, x, y) for name, (x, y) in found.items()],
        y_range=(0, 1.02),
        caption=f"Goodput{each} in intervals of 1 s. 5 % of them are below, Mb/s: {'; '.join(words)}.",
    )


def course(scenario: Scenario, quantity: str, name: str, *, title: str, label: str) -> Chart:
    """Course in time of something, mean over the runs, with the phases as bands."""
    first = next(iter(scenario.values()))
    series, words = [], []
    for discipline, entry in scenario.items():
        times, values = entry.course(quantity, name)
        series.append(Series(discipline, times, values))
        words.append(f"{discipline} {np.nanmean(values):.3g}")
    begin = first.case.begin_s
    long_enough = [p for p in first.case.phases if p.spans[0][1] - p.spans[0][0] >= times[-1] / 50]
    bands = [(span[0] - begin, span[1] - begin, phase.name) for phase in long_enough[1::2] for span in phase.spans]
    return Chart(
        key=slug(f"course {_case(scenario)} {quantity} {name}"),
        title=f"{title}: {_case(scenario)}",
        alt=f"{label} against time; mean over the time: {'; '.join(words)}.",
        x_label="time since time 0, s",
        y_label=label,
        series=series,
        shades=bands,
        caption=f"Mean over the runs in intervals of 1 s; over the time: {'; '.join(words)}.",
    )


def over_range(
    scenarios: Sequence[Scenario],
    read: Callable[[Measured], np.ndarray],
    *,
    key: str,
    title: str,
    label: str,
    x_label: str,
) -> Chart:
    """Something against the points of a range, a line a discipline, with intervals."""
    lines: dict[str, list[tuple[float, Interval]]] = {}
    for scenario in scenarios:
        for name, entry in scenario.items():
            lines.setdefault(name, []).append((entry.case.point or math.nan, mean_of(read(entry))))
    series = [
        Series(name, [x for x, _ in own], [y.mean for _, y in own], [y.low for _, y in own], [y.high for _, y in own])
        for name, own in lines.items()
    ]
    words = [f"{name} {own[0][1].mean:.3g} to {own[-1][1].mean:.3g}" for name, own in lines.items()]
    return Chart(
        key=key,
        title=title,
        alt=f"{label} against {x_label}; from the least to the greatest: {'; '.join(words)}.",
        x_label=x_label,
        y_label=label,
        series=series,
        x_log=True,
    )


def settings_compared(lines: Mapping[str, Sequence[tuple[float, Measured]]]) -> Chart:
    """Goodput against queueing delay over a range of settings, a line a discipline (section 4.3.1)."""
    series, words = [], []
    for name, points in lines.items():
        delay = [float(np.nanmean(entry.values("links", entry.first_link(), "delay_ms"))) for _, entry in points]
        goodput = [mean_of(entry.total_goodput()) for _, entry in points]
        series.append(
            Series(name, delay, [g.mean for g in goodput], [g.low for g in goodput], [g.high for g in goodput])
        )
        factors = ", ".join(f"x{factor:g}" for factor, _ in points)
        words.append(f"{name}: {factors}" if len(points) > 1 else name)
    return Chart(
        key="settings",
        title="Goodput against queueing delay over a range of settings",
        alt=f"A line a discipline, a point a setting. {'; '.join(words)}.",
        x_label="mean queueing delay, ms",
        y_label="goodput, Mb/s",
        series=series,
        caption=f"Settings, as factors of the target, in the order of the line: {'; '.join(words)}.",
    )


def _distribution(
    scenario: Scenario, quantity: str, group: Group, edges: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return cumulative distributions, without the bins in which nothing happens."""
    found = {}
    for name, entry in scenario.items():
        counts = entry.counts(quantity, group.name)
        ends, share = metrics.distribution(counts, edges) if counts else (edges[1:], np.full(len(edges) - 1, np.nan))
        if np.isnan(share).all():
            continue
        rises = np.flatnonzero(np.diff(np.concatenate([[0.0], share])) > 0)
        kept = np.unique(np.concatenate([rises, np.maximum(rises - 1, 0)]))
        found[name] = (ends[kept], share[kept])
    return found


def _at(x: np.ndarray, share: np.ndarray, level: float) -> float:
    return float(x[min(int(np.searchsorted(share, level)), len(x) - 1)])


def _case(scenario: Scenario) -> str:
    return next(iter(scenario.values())).case.name


def _about(scenario: Scenario, group: Group) -> str:
    first = next(iter(scenario.values()))
    return f"{first.case.name}, {group.title}" if len(first.case.groups) > 1 else first.case.name
