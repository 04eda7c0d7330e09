"""Measurements of our runs, in the form of those of other tools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aqmlab.interop.crosscheck.tool import Key, Measure
from aqmlab.results.quantities import ratio

if TYPE_CHECKING:
    from aqmlab.interop.model import Model
    from aqmlab.results.result import Result


def ours(model: Model, result: Result) -> dict[int, dict[Key, float]]:
    """Return the measurements of every seed of a result."""
    found: dict[int, dict[Key, float]] = {seed: {} for seed in result.seeds}
    for row in result.flows[["seed", "group", "goodput_bps"]].to_dict("records"):
        run, key = found[int(row["seed"])], (Measure.GOODPUT, str(row["group"]))
        run[key] = run.get(key, 0.0) + float(row["goodput_bps"])
    links = result.links
    for row in links[links["link"].isin(model.measured)].to_dict("records"):
        own: dict[Measure, float] = {
            Measure.UTILIZATION: row["utilization"],
            Measure.LOSS: ratio(row["drops"], row["arrivals"]),
            Measure.MARKS: ratio(row["marks"], row["arrivals"]),
            Measure.MEAN_QUEUE: row["mean_queue"],
            Measure.MEAN_BACKLOG: row["mean_queue"] + row["utilization"],
            Measure.MEAN_DELAY: row["mean_delay_s"],
        }
        for measure, value in own.items():
            if math.isfinite(value):
                found[int(row["seed"])][measure, str(row["link"])] = float(value)
    return found
