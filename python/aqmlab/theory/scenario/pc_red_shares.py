"""PC-RED's shares by class for a scenario: protected, at the limit's mercy, and without priority."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.results.quantities import NOT_NEGATIVE, SHARE, Quantity
from aqmlab.scenario.parts import packets
from aqmlab.statistics import Interval, mean_interval
from aqmlab.theory.domain import DomainError
from aqmlab.theory.fluid.operating_point import solve
from aqmlab.theory.scenario.agreement import Analysed
from aqmlab.theory.scenario.assumption import Assumption
from aqmlab.theory.scenario.class_shares import ClassShares, gauges_of, per_flow_mbps
from aqmlab.theory.shares.pc_red import Loop, PcRedFlows, Point, Reading

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.theory.scenario.model import LinkModel

KINDS = {
    "plus": "N_p+, protected",
    "minus": "N_p-, priority below L",
    "non": "N_n, no priority",
}
QUANTITIES = (
    *(
        Quantity(f"drops_{key}", f"Drops of {name}", "1", 4, "share of the drops of data")
        for key, name in KINDS.items()
    ),
    *(
        Quantity(f"sent_{key}", f"Throughput of {name}", "1", 4, "share of the data sent")
        for key, name in KINDS.items()
    ),
    Quantity("n_p_plus", "Protected flows, N_p+", "flows", 2, "mean over time"),
    Quantity("rate_high", "Flow with priority", "Mb/s", 4, "mean goodput of a flow"),
    Quantity("rate_non", "Flow without priority", "Mb/s", 4, "mean goodput of a flow"),
)
COLUMNS: tuple[tuple[str, Reading, bool], ...] = (
    ("(2) to (4)", "flows", False),
    ("(2) to (4), packets, refined", "packets", True),
)
"""The equations as printed with Misra's law, and with packets for flows and the law that counts recovery."""


def shares_of(model: LinkModel) -> ClassShares:
    """Return PC-RED's shares by class at a link."""
    priority = priority_of(model)
    if not priority.any():
        return ClassShares(reason="no theory of PC-RED's shares by class: no flow has priority, so all pay alike")
    columns, notes = [], []
    for name, reading, refined in COLUMNS:
        try:
            values, note = _column(model, priority, reading, refined=refined)
        except DomainError as error:
            notes.append(f"{name}: {error}")
            continue
        columns.append(Analysed(name, values))
        notes += [f"{name}: {note}"] if note else []
    if not columns:
        return ClassShares(reason=f"no theory of PC-RED's shares by class: {'; '.join(notes)}")
    return ClassShares(
        about="PC-RED's channels, equations (2) to (4) closed with (7)",
        quantities=QUANTITIES,
        columns=tuple(columns),
        measure=partial(_measured, model, _names(model, priority)),
        assumptions=(
            Assumption.broken_by("PC-RED's equations have a solution with p below 1.", *notes),
            _long_enough(model),
            _plain_list(model),
        ),
    )


def priority_of(model: LinkModel) -> np.ndarray:
    """Return for each class of greedy flows whether it has priority."""
    asking = {flow.name for flow in model.scenario.flows if flow.priority}
    return np.array([c.flows[0] in asking for c in model.traffic.greedy])


def loop_of(model: LinkModel) -> Loop:
    """Return the loop of a_d that the link's parameters make."""
    values = model.link.parameters
    return Loop(
        limit=packets(values["loss_limit"], 1.0),
        interval=float(values["loss_interval"]),
        weight=float(values["loss_weight"]),
        on_arrival=values["status_refresh"] == "on-arrival",
    )


def _column(model: LinkModel, priority: np.ndarray, reading: Reading, *, refined: bool) -> tuple[dict[str, float], str]:
    fluid = model.refined() if refined else model.fluid()
    answer = PcRedFlows(
        loop=loop_of(model),
        law=fluid.loss_law,
        flows=fluid.flows,
        priority=priority,
        dropped=np.array([c.packet_bytes for c in model.traffic.greedy]),
        limits=fluid.window_limits,
        reading=reading,
        circular=model.link.parameters["scan"] == "circular",
        lasts=model.scenario.duration_s,
    )
    point = solve(fluid, answer.windows)
    rtts = np.array(point.rtts)
    found = answer.at(point.p, point.queue, rtts)
    # `refined` counts fewer flows where acknowledgements are delayed: shares and rates are of the real ones.
    flows = np.array([c.count for c in model.traffic.greedy])
    size = np.array([c.packet_bytes for c in model.traffic.greedy])
    values = _values(found, flows, fluid.flows, priority, rtts, size)
    note = f"p = {point.p:.3g}: the equations leave other flows no window above one packet" if point.p >= 1 else ""
    return values, note


def _values(
    found: Point, flows: np.ndarray, counted: np.ndarray, priority: np.ndarray, rtts: np.ndarray, size: np.ndarray
) -> dict[str, float]:
    scale = counted / flows
    protected, open_ = flows * found.share, flows * (1 - found.share)
    drops = {
        "plus": protected * found.drops_plus,
        "minus": np.where(priority, open_ * found.drops_minus, 0.0),
        "non": np.where(priority, 0.0, flows * found.drops_minus),
    }
    sent = {
        "plus": protected * found.plus / rtts,
        "minus": np.where(priority, open_ * found.minus / rtts, 0.0),
        "non": np.where(priority, 0.0, flows * found.minus / rtts),
    }
    values: dict[str, float] = {}
    for key, parts in (("drops", drops), ("sent", sent)):
        total = sum(float(np.sum(part)) for part in parts.values())
        values |= {f"{key}_{kind}": float(np.sum(part)) / total for kind, part in parts.items()}
    mbps = 8e-6 * size * found.windows / rtts * scale
    values["n_p_plus"] = float(np.sum(protected))
    values["rate_high"] = float(np.average(mbps[priority], weights=flows[priority]))
    if not priority.all():
        values["rate_non"] = float(np.average(mbps[~priority], weights=flows[~priority]))
    return values


def _names(model: LinkModel, priority: np.ndarray) -> dict[str, tuple[str, ...]]:
    greedy = model.traffic.greedy
    high = tuple(name for c, own in zip(greedy, priority, strict=True) if own for name in c.flows)
    non = tuple(name for c, own in zip(greedy, priority, strict=True) if not own for name in c.flows)
    return {"rate_high": high} | ({"rate_non": non} if non else {})


def _measured(model: LinkModel, names: Mapping[str, tuple[str, ...]], result: Result) -> Mapping[str, Interval]:
    gauges = gauges_of(result, model.link.name, since=model.scenario.warmup_s)
    found = {key: mean_interval(per_flow_mbps(result, own), bounds=NOT_NEGATIVE)[0] for key, own in names.items()}
    if gauges.empty:
        return found
    by_seed = gauges.groupby(level="seed")
    counted = by_seed.last() - by_seed.first()
    for key in ("drops", "sent"):
        numbers = {
            kind: counted[f"drops_{kind}"] if key == "drops" else counted[f"arrivals_{kind}"] - counted[f"drops_{kind}"]
            for kind in KINDS
        }
        total = sum(numbers.values())
        for kind, number in numbers.items():
            found[f"{key}_{kind}"] = mean_interval((number / total).to_numpy(dtype=float), bounds=SHARE)[0]
    flows = by_seed["n_p_plus"].mean().to_numpy(dtype=float)
    return found | {"n_p_plus": mean_interval(flows, bounds=NOT_NEGATIVE)[0]}


def _long_enough(model: LinkModel) -> Assumption:
    loop = loop_of(model)
    lag, rest = 1 / loop.decay, model.scenario.duration_s - model.scenario.warmup_s
    how = f"a_d follows within g/w = {lag:.4g} s, and the measured time is {rest:.4g} s" if lag > rest / 2 else ""
    return Assumption.broken_by("PC-RED's list has settled: the measured time is much longer than g/w.", how)


def _plain_list(model: LinkModel) -> Assumption:
    values = model.link.parameters
    floor = values.get("loss_decay") == "floor"
    limited = float(values.get("r_p_max", 1.0)) < 1
    return Assumption.broken_by(
        "Every flow that asks for priority has it, a_d decays all the time, and each drop searches the queue for bits.",
        "loss_decay = floor: drops within an interval add up without decay" if floor else "",
        "r_p_max may leave some without" if limited else "",
        "search = early: other drops take the arriving packet" if values.get("search") == "early" else "",
        "status_refresh = at-pick: the search asks the list" if values.get("status_refresh") == "at-pick" else "",
    )
