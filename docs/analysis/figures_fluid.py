"""The figures of `fluid.md`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from aqmlab.figures.chart import Chart, Series
from aqmlab.theory import Bottleneck, DropCurve, FlowClass, FluidModel


def fluid_start() -> Chart:
    """A queue that comes to rest and one that does not, from the same equations."""
    flows = 200
    red = DropCurve.of("red", min_th=2.5 * flows, max_th=35 / 3 * flows, max_p=0.1, limit=40 * flows)
    link = Bottleneck(62.5 * flows, red, -math.expm1(-0.2 / (62.5 * flows)), limit=40.0 * flows)
    series = []
    for index, rtt in enumerate((0.1, 0.25)):
        model = FluidModel(link, (FlowClass("tcp", flows, rtt),))
        path = model.integrate(80)
        rest = model.operating_point().queue
        name = f"{rtt * 1e3:g} ms"
        series.append(Series(f"queue, {name}", path.t, path.queue / flows, color=index))
        series.append(Series(f"at rest, {name}", [0, 80], [rest / flows] * 2, mode="dashed", color=index))
    return Chart(
        key="fluid-start",
        title="One link, two round trips",
        alt="Queue against time from an empty link: at 100 ms it comes to rest at its operating point after 20 s, at "
        "250 ms it swings between 0 and more than twice its operating point for ever.",
        x_label="time, s",
        y_label="queue, packets per flow",
        series=series,
    )


def fluid_rest() -> Chart:
    """Where the queue rests against the number of flows: link not filled, on the curve, at the jump, full."""
    curves = {
        "RED": DropCurve.of("red", min_th=10, max_th=35, max_p=0.1, limit=50),
        "gentle RED": DropCurve.of("gentle-red", min_th=10, max_th=35, max_p=0.1, limit=50),
        "drop-tail": DropCurve.none(limit=50),
    }
    flows = np.unique(np.round(np.geomspace(1, 60, 60)))
    series = []
    for index, (name, curve) in enumerate(curves.items()):
        link = Bottleneck(125, curve, 4e-3, limit=50)
        models = [FluidModel(link, (FlowClass("tcp", float(n), 0.2, window_limit=20),)) for n in flows]
        series.append(Series(name, flows, [m.operating_point().queue for m in models], color=index))
    return Chart(
        key="fluid-rest",
        title="Where the queue rests",
        alt="Queue at the operating point against the number of flows on PC-RED's link: 0 while the windows' limit of "
        "20 packets keeps the link from being full; then RED climbs its slope and stays at max_th, gentle RED climbs "
        "on, and drop-tail fills its 50 packets.",
        x_label="flows",
        y_label="queue, packets",
        series=series,
        x_log=True,
    )


FIGURES: dict[str, Callable[[], Chart]] = {"fluid-start": fluid_start, "fluid-rest": fluid_rest}
