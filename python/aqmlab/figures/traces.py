"""Rates of links that follow a trace, against time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.chart import Chart, Series

if TYPE_CHECKING:
    from aqmlab.scenario.file import Scenario


def scenario_traces(scenario: Scenario) -> Chart | None:
    """Return the rate over one period of each trace in a scenario, in Mbit/s against s; None without a trace."""
    traces = {repr(link.trace): (link.name, link.trace) for link in reversed(scenario.links) if link.trace is not None}
    if not traces:
        return None
    series = []
    for index, (name, trace) in enumerate(reversed(traces.values())):
        edges = np.linspace(0.0, trace["period_s"], len(trace["bins_bps"]) + 1)
        rates = np.repeat(np.asarray(trace["bins_bps"]) / 1e6, 2)
        series.append(Series(name, np.repeat(edges, 2)[1:-1], rates, color=index))
    told = ", ".join(
        f"{one.name} (mean {trace['mean_bps'] / 1e6:.3g} Mbit/s)"
        for one, (_, trace) in zip(series, reversed(traces.values()), strict=True)
    )
    return Chart(
        key="trace",
        title="Rate of the trace",
        alt=f"Rate against time over one period of the trace of {told}.",
        x_label="time, s",
        y_label="rate, Mbit/s",
        series=series,
    )
