"""The figures of `control.md` and `pc-red-model.md`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aqmlab.figures import stability_chart
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.loops import describe
from aqmlab.papers.pc_red import loops
from aqmlab.theory import Bottleneck, DropCurve, FlowClass, FluidModel, linearize, stability_map
from aqmlab.theory.control.pc_red import channels, paid_by_protected

RED = DropCurve.of("red", min_th=150, max_th=700, max_p=0.1, limit=800)
LINK = Bottleneck(3750, RED, 2e-4, limit=800)
FLOWS = 60


def at(delay: float) -> FluidModel:
    """Return Hollot's 60 flows with a quicker average, at a propagation delay in s."""
    return FluidModel(LINK, (FlowClass("tcp", FLOWS, delay),))


def control_bode() -> Chart:
    """Magnitude of PC-RED's loops and of Hollot's example."""
    return replace(loops.bode_charts()[0], key="control-bode")


def control_map() -> Chart:
    """Where 3750 packets/s under RED are stable."""
    found = stability_map(LINK, flows=np.geomspace(10, 1000, 80), propagation=np.geomspace(0.02, 1, 80))
    return stability_chart(found, key="control-map")


def control_onset() -> Chart:
    """The fluid on both sides of the boundary."""
    series, words = [], []
    for index, delay in enumerate((0.165, 0.185)):
        model = at(delay)
        path = model.integrate(100)
        every = max(1, len(path.t) // 1500)
        series.append(Series(f"{delay * 1e3:g} ms", path.t[::every], path.queue[::every], color=index))
        margins = linearize(model, model.operating_point(), form="full").margins()
        words.append(f"{delay * 1e3:g} ms: {describe(margins)}")
    return Chart(
        key="control-onset",
        title="The fluid on both sides of the boundary",
        alt="Queue against time of the fluid model: the swings die out at 165 ms and stay at 185 ms.",
        x_label="time, s",
        y_label="queue, packets",
        series=series,
        caption=" ".join(words),
    )


def pc_red_channels() -> Chart:
    """The share of drops that protected flows bear, against their share of the queue."""
    share = np.linspace(0, 0.95, 96)
    flows = 20.0
    printed = channels(share * flows, 0.0, (1 - share) * flows, queue=33.0)
    return Chart(
        key="pc-red-channels",
        title="Who pays for a drop",
        alt="Share of drops that protected packets pay against their share of the queue: equation (2) stays below "
        "0.03, while counting every row of protected packets at the tail rises to 0.47 at a share of 0.95.",
        x_label="share of protected packets in a queue of 33",
        y_label="share of drops",
        series=[
            Series("equation (2)", share, printed.plus, color=0),
            Series("with every row at the tail", share, paid_by_protected(share, 33.0), color=1),
        ],
        y_range=(0, 0.5),
    )


FIGURES: dict[str, Callable[[], Chart]] = {
    "control-bode": control_bode,
    "control-map": control_map,
    "control-onset": control_onset,
    "pc-red-channels": pc_red_channels,
}
