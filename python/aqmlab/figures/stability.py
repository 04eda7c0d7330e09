"""Map of where a control loop is stable."""

from __future__ import annotations

import numpy as np

from aqmlab.figures.chart import Chart, Heat, Series
from aqmlab.theory.control.stability import ENOUGH_DB, Region, StabilityMap
from aqmlab.theory.fluid.operating_point import FEW


def stability_chart(found: StabilityMap, *, key: str = "stability") -> Chart:
    """Draw a map: gain margin as colours, 0 and 6 dB as lines, and where the model ends."""
    delays_ms = found.propagation * 1e3
    series = []
    for index, (region, name) in enumerate(
        ((Region.FEW_PACKETS, f"below: windows under {FEW:g} packets"), (Region.OFF_CURVE, "below: off the curve"))
    ):
        edge = found.least_delay(region) * 1e3
        if (found.region == region).any() and np.isfinite(edge).any():
            series.append(Series(name, found.flows, edge, mode="dashed" if index == 0 else "line", color=4 - 4 * index))
    curve, capacity = found.bottleneck.curve, found.bottleneck.capacity
    shares = found.summary()
    return Chart(
        key=key,
        title=f"Gain margin of {curve.name} at {capacity:g} packets/s",
        alt=f"Gain margin over the number of flows and the propagation delay: {shares['stable']:.0%} of the plane is "
        f"stable, {shares['stable with 6 dB']:.0%} with 6 dB; in {shares['few packets']:.0%} windows are below "
        f"{FEW:g} packets, in {shares['off curve']:.0%} the operating point is off the curve, in "
        f"{shares['not filled']:.0%} the link is not filled.",
        x_label="flows N",
        y_label="propagation delay, ms",
        series=series,
        x_log=True,
        y_log=True,
        heat=Heat(found.flows, delays_ms, found.gain_margin_db, "gain margin, dB", levels=(0.0, ENOUGH_DB)),
        caption="Lines at 0 dB, where the linear loop becomes unstable, and at 6 dB. Blank: no loop to be linearized.",
    )
