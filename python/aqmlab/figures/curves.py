"""Drop probability against the average queue: the curve as computed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab import _core
from aqmlab.figures.chart import Chart, Series
from aqmlab.scenario.toml_text import read_toml

if TYPE_CHECKING:
    from aqmlab.scenario.file import Scenario


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
        Series(
            name,
            x,
            _core.curve(json.dumps(body), [float(v) for v in x]),
            color=index,
            discipline=str(body.get("aqm", "")),
        )
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
    readings = {link.queue: {"aqm": link.aqm, "parameters": link.parameters} for link in scenario.links}
    return curves_of(readings, scenario.normalized)


def curves_of(readings: Mapping[str, Mapping[str, Any]], text: str) -> Chart | None:
    """Draw the same from a run's summary: the reading of every queue, and the scenario's text."""
    bodies: dict[str, dict[str, Any]] = {}
    top = 0.0
    tables = read_toml(text).get("queue", {})
    for queue, reading in readings.items():
        if "spacing" in reading["parameters"]:  # RED and its relatives, curves in Python among them
            bodies[queue] = tables.get(queue, {})
            top = max(top, float(_number(reading["parameters"].get("max_th"), 30)) * 2.5)
    return drop_curves(bodies, top=top) if bodies else None


def _number(value: object, otherwise: float) -> float:
    if isinstance(value, int | float):
        return float(value)
    digits = "".join(c for c in str(value) if c.isdigit() or c == ".")
    return float(digits) if digits else otherwise
