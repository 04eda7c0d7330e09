"""Each discipline on the same traffic: its queue in time, its curve, and the goodput of the flows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import aqmlab
from aqmlab.figures import drop_curves, queue_against_time
from aqmlab.figures.chart import Chart
from aqmlab.reporting.mpl_style import STYLE
from aqmlab.reporting.plots import SIZE_IN, draw, svg_text
from aqmlab.scenario.registry import Discipline, registry
from aqmlab.scenario.toml_text import Value, inline

SCENE = Path(__file__).with_name("scene.toml")
LINK = "bottleneck"
LIMIT = "100p"
MORE = (20.0, 40.0, "20 more flows")
GROUPS = ("near", "far", "assured")
NUMBERS = (
    ("utilization", "utilization"),
    ("mean_queue", "mean queue, packets"),
    ("mean_delay_ms", "mean delay, ms"),
    ("delay_p95_ms", "95 % of the delays below, ms"),
    ("loss", "loss"),
)
"""Quantities of the table that a run has, and their headings."""


@dataclass(frozen=True)
class Shown:
    """Contents of the scene for a discipline.

    Attributes
    ----------
    queue
        The body of its ``[queue.bottleneck]``, as TOML.
    pictures
        Figures, by their key.
    alts
        Descriptions of the figures, in words.
    numbers
        Heading to value.
    """

    queue: str
    pictures: dict[str, bytes]
    alts: dict[str, str]
    numbers: dict[str, str]


def queue_of(discipline: Discipline) -> dict[str, Value]:
    """Return the table that puts a discipline into the scene: its own defaults, and a buffer of 100 packets."""
    limit = discipline.parameter("limit")
    return {"aqm": discipline.name, **({"limit": LIMIT} if limit is not None and limit.unit == "packets" else {})}


@cache
def show(discipline: Discipline) -> Shown:
    """Run the scene with a discipline."""
    queue = queue_of(discipline)
    result = aqmlab.run(SCENE, seeds=1, overrides={f"queue.{LINK}": queue}, progress=False)
    charts = [_in_time(result, discipline)]
    curve = _curve(discipline, queue)
    if curve is not None:
        charts.insert(0, curve)
    return Shown(
        queue="\n".join(f"{key} = {inline(value)}" for key, value in queue.items()),
        pictures={chart.key: picture(chart) for chart in charts},
        alts={chart.key: chart.alt for chart in charts},
        numbers=_numbers(result),
    )


def picture(chart: Chart) -> bytes:
    """Draw a chart as SVG in black, the same bytes every time; the page's style turns it white on a dark page."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SIZE_IN, layout="constrained")
        draw(figure.add_subplot(), chart)
        return svg_text(figure).replace("currentColor", "#000000").encode()


def _in_time(result: aqmlab.Result, discipline: Discipline) -> Chart:
    chart = queue_against_time(result, link=LINK)
    queue, *average = chart.series
    # A discipline that uses the queue itself reports it as its average.
    series = chart.series if any(not np.array_equal(one.y, queue.y) for one in average) else [replace(queue, color=0)]
    title = f"{discipline.name}: the queue"
    return replace(chart, key="queue", title=title, series=series, shades=[MORE], y_range=(0, 105))


def _curve(discipline: Discipline, queue: dict[str, Value]) -> Chart | None:
    """Return the drop curve, or None where a discipline has none."""
    if discipline.parameter("curve") is None or discipline.parameter("max_p") is None:
        return None
    own = next(one for one in registry()["disciplines"] if one["name"] == discipline.name)
    shape = discipline.parameter("curve")
    classes = {
        f"{discipline.name}, class {one['name']}": {
            "aqm": "red",
            "limit": LIMIT,
            "curve": shape.default if shape else "linear",
            **{key: one[key] for key in ("min_th", "max_th", "max_p")},
        }
        for one in own.get("classes", ())
    }
    chart = drop_curves(classes or {discipline.name: queue}, top=100)
    return replace(chart, key="curve", title=f"{discipline.name}: drop probability")


def _numbers(result: aqmlab.Result) -> dict[str, str]:
    row = result.metrics(link=LINK).iloc[0]
    found = {heading: f"{row[key]:.3g}" for key, heading in NUMBERS if key in row}
    flows = result.flows.groupby("group")["goodput_bps"].mean() / 1e6
    return found | {f"{group}, Mb/s a flow": f"{flows[group]:.2f}" for group in GROUPS}
