"""Analysed beside simulated (and whatever else was measured): the same quantities in columns, and the gaps between."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from aqmlab.results.quantities import NOT_NEGATIVE, SHARE, Quantity, interval_of, quantity
from aqmlab.results.result import Result
from aqmlab.statistics import Interval, mean_interval
from aqmlab.theory.fluid.operating_point import OperatingPoint
from aqmlab.theory.fluid.trajectory import Trajectory
from aqmlab.theory.queueing.chain import Chain
from aqmlab.theory.scenario.model import LinkModel

if TYPE_CHECKING:
    from aqmlab.theory.queueing.averaged_chain import AveragedChain

DROP_PROBABILITY = Quantity("p", "Drop probability", "1", 5, "packets dropped or marked / packets offered to the queue")
QUANTITIES = (
    DROP_PROBABILITY,
    *(quantity(key) for key in ("mean_queue", "mean_average", "mean_delay_ms", "throughput_mbps", "utilization")),
)
SAME = 1e-9
"""Relative difference below which two numbers are one."""


@dataclass(frozen=True)
class Analysed:
    """Results of a model: its name, and a value for each quantity that it has."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Measured:
    """Measurements: where, and each quantity with its interval."""

    name: str
    values: Mapping[str, Interval]


def of_point(model: LinkModel, point: OperatingPoint, *, name: str) -> Analysed:
    """Return the results of the fluid model at its operating point."""
    return Analysed(name, _values(model, p=point.p, queue=point.queue, throughput=point.throughput))


def of_trajectory(model: LinkModel, path: Trajectory, *, since: float) -> Analysed:
    """Return the means of a trajectory from a moment on: of p over the packets offered, of all else over time."""
    throughput = path.mean_utilization(since=since) * model.capacity
    later = path.t[1:] > since
    offered = np.diff(path.arrived)[later]
    p = float(path.p[1:][later] @ offered / offered.sum())
    return Analysed("fluid, in time", _values(model, p=p, queue=path.mean_queue(since=since), throughput=throughput))


def of_chain(model: LinkModel, chain: Chain | AveragedChain, *, name: str) -> Analysed:
    """Return the results of a chain of Poisson arrivals."""
    values = _values(
        model, p=chain.p_drop, queue=chain.throughput * chain.mean_wait, throughput=chain.throughput
    )  # Little's law: those that wait
    if isinstance(chain, Chain):
        average = chain.mean_number if model.curve.in_service_counts else values["mean_queue"]
    else:
        average = chain.mean_average - (0.0 if model.curve.in_service_counts else values["utilization"])
    if "mean_average" in values:
        values["mean_average"] = average
    return Analysed(name, values | {"mean_delay_ms": 1e3 * chain.mean_wait})


def of_result(model: LinkModel, result: Result) -> Measured:
    """Return what runs say, in the model's units: packets of its mean size, marks counted as drops."""
    table = result.metrics(link=model.link.name)
    limits = result.limits(link=model.link.name)
    values = {
        key: interval_of(key, table[key].to_numpy(dtype=float), limits=limits)[0]
        for key in (q.key for q in QUANTITIES[1:])
    }
    values["p"] = mean_interval((table["loss"] + table["marks"]).to_numpy(dtype=float), bounds=SHARE)[0]
    average = table["mean_average"].to_numpy(dtype=float) / model.curve.unit
    values["mean_average"] = mean_interval(average, bounds=NOT_NEGATIVE)[0]
    return Measured("simulated", values)


def gaps(
    models: Sequence[Analysed], measured: Sequence[Measured], quantities: Sequence[Quantity] = QUANTITIES
) -> pd.DataFrame:
    """Return one row for each quantity and model.

    Columns: ``quantity``, ``unit``, ``model``, ``analysed``; then for everything measured, with its name: its mean
    (``simulated``), ``simulated low``, ``simulated high``, ``simulated n``, ``simulated gap %`` (by how much the model
    is above it) and ``simulated within`` (whether the model lies in the interval: yes, no, or nothing without one).
    Without a model, what was measured stands alone.
    """
    rows = []
    alone = [Analysed("", {what.key: math.nan for what in quantities})] if measured else []
    for model in models or alone:
        for what in quantities:
            if what.key not in model.values:
                continue
            value = model.values[what.key]
            row: dict[str, object] = {
                "quantity": what.title,
                "unit": what.unit,
                "model": model.name,
                "analysed": value,
            }
            for column in measured:
                if what.key in column.values:
                    row |= _against(value, column.name, column.values[what.key])
            rows.append(row)
    return pd.DataFrame(rows)


def _against(value: float, name: str, found: Interval) -> dict[str, object]:
    within = ""
    if found.n > 1:
        slack = SAME * max(abs(value), abs(found.mean))
        within = "yes" if found.low - slack <= value <= found.high + slack else "no"
    return {
        name: found.mean,
        f"{name} low": found.low,
        f"{name} high": found.high,
        f"{name} n": found.n,
        f"{name} gap %": 100 * (value - found.mean) / found.mean if found.mean else math.nan,
        f"{name} within": within,
    }


def _values(model: LinkModel, *, p: float, queue: float, throughput: float) -> dict[str, float]:
    utilization = throughput / model.capacity
    found = {
        "p": p,
        "mean_queue": queue,
        "mean_average": queue + (utilization if model.curve.in_service_counts else 0.0),
        "mean_delay_ms": 1e3 * queue / model.capacity,
        "throughput_mbps": throughput * 8 * model.packet_bytes / 1e6,
        "utilization": utilization,
    }
    if not model.curve.drops_early:
        del found["mean_average"]
    return found
