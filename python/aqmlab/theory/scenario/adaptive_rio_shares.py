"""Adaptive-RIO for a scenario: where max_th of best effort and C' go, and what assured and best-effort flows get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.results.quantities import NOT_NEGATIVE, SHARE, Quantity
from aqmlab.scenario.parts import mean_of, packets
from aqmlab.statistics import Interval, mean_interval
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.operating_point import OperatingPoint, solve
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass
from aqmlab.theory.fluid.trajectory import integrate
from aqmlab.theory.scenario.assumption import Assumption
from aqmlab.theory.scenario.class_shares import ClassShares, columns_of, gauges_of, per_flow_mbps
from aqmlab.theory.scenario.link_curve import curve_of
from aqmlab.theory.shares.adaptive_rio import RioFlows, Steps, walk

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.scenario.parts import Flow
    from aqmlab.theory.scenario.model import LinkModel

QUANTITIES = (
    Quantity("max_th_out", "max_th of best effort", "packets", 2, "mean over time"),
    Quantity("reference", "C'/C", "1", 4, "mean over time"),
    Quantity("rate_assured", "Assured flow", "Mb/s", 3, "mean goodput of a flow over the measured time"),
    Quantity("rate_best", "Best-effort flow", "Mb/s", 3, "mean goodput of a flow over the measured time"),
    Quantity("sent_assured", "Throughput of assured flows", "1", 4, "share of the goodput of all flows"),
    Quantity("drops_assured", "Drops of assured flows", "1", 4, "share of all drops"),
)
COLUMNS = (("moving thresholds", False), ("moving thresholds, in time", True))
"""With the fluid at rest at every threshold, and with the means over its course there, which may swing."""
GRID = 4
"""Thresholds at which the fluid is solved; between them everything is taken as even."""
COURSE_S, SETTLED_S = 30.0, 8.0
"""The fluid's course at a threshold, and the part of it that is left out, s."""
STEPS = 4
"""Steps of the course in the shortest propagation delay."""


@dataclass(frozen=True)
class Mix:
    """Traffic at the link: classes of greedy flows, and UDP within and beyond its rate.

    Attributes
    ----------
    names
        Flows that have a committed rate, and those that have none.
    counts, reserved, assured
        Of each greedy class: flows when all are there, committed packets/s of a flow, whether it has one.
    udp_in, udp_out, udp_best
        Assured UDP within and beyond its rate, and other UDP; packets/s of the mean size.
    periods
        When assured flows send, s.
    """

    names: tuple[tuple[str, ...], tuple[str, ...]]
    counts: Array
    reserved: Array
    assured: np.ndarray
    udp_in: float
    udp_out: float
    udp_best: float
    periods: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class State:
    """The fluid at one threshold, in packets/s: what assured and best-effort flows send and lose, and A/C."""

    assured: float
    best: float
    drops_assured: float
    drops_best: float
    arrivals: float


def shares_of(model: LinkModel) -> ClassShares:
    """Return Adaptive-RIO's thresholds and shares at a link."""
    why = _unfit(model)
    mix = mix_of(model)
    if not why and not mix.names[0]:
        why = "no flow over the link has a committed rate"
    if why:
        return ClassShares(reason=f"no theory of Adaptive-RIO's shares by class: {why}")
    models = [(name, partial(_column, model, mix, in_time=in_time)) for name, in_time in COLUMNS]
    columns, reason = columns_of(models, "Adaptive-RIO's shares by class")
    if reason:
        return ClassShares(reason=reason)
    return ClassShares(
        about="Adaptive-RIO with thresholds that move: assured and best-effort flows",
        quantities=QUANTITIES,
        columns=columns,
        measure=partial(_measured, model, mix),
        assumptions=(_periods_known(model, mix), _markers(model)),
    )


def steps_of(model: LinkModel) -> Steps:
    """Return the adaptation that the link's parameters make."""
    values = model.link.parameters
    return Steps(
        max_l=_packets(model, values["max_l"]),
        max_u=_packets(model, values["max_u"]),
        delta_t=float(values["delta_t"]),
        c_init=float(values["c_init"]),
        delta_c=float(values["delta_c"]),
        epsilon=float(values["epsilon"]),
        interval=float(values["adapt_interval"]),
        absence=float(values["absence"]),
        share=1.0 if values["trend"] == "rate" else 0.5,
    )


def mix_of(model: LinkModel) -> Mix:
    """Return the traffic at the link."""
    flows = {flow.name: flow for flow in model.scenario.flows}
    rates = committed(model)
    greedy = model.traffic.greedy
    assured = np.array([c.flows[0] in rates for c in greedy], dtype=bool)
    udp = {"in": 0.0, "out": 0.0, "best": 0.0}
    names: tuple[list[str], list[str]] = ([], [])
    for c, own in zip(greedy, assured.tolist(), strict=True):
        names[0 if own else 1].extend(c.flows)
    for load in model.traffic.loads:
        sent, own_rate = float(load.flow.parameters["rate_bps"]), rates.get(load.flow.name)
        names[0 if own_rate is not None else 1].append(load.flow.name)
        if own_rate is None:
            udp["best"] += load.mean_bps
        else:
            udp["in"] += min(sent, own_rate)
            udp["out"] += max(sent - own_rate, 0.0)
    packet_bits = 8 * model.packet_bytes
    first = next((flows[name] for name in names[0]), None)
    return Mix(
        names=(tuple(names[0]), tuple(names[1])),
        counts=np.array([float(len(c.flows)) if own else c.count for c, own in zip(greedy, assured, strict=True)]),
        reserved=np.array([rates.get(c.flows[0], 0.0) / 8 / c.packet_bytes for c in greedy]),
        assured=assured,
        udp_in=udp["in"] / packet_bits,
        udp_out=udp["out"] / packet_bits,
        udp_best=udp["best"] / packet_bits,
        periods=periods_of(first, model.scenario.duration_s) if first is not None else (),
    )


def committed(model: LinkModel) -> dict[str, float]:
    """Return the committed rate in bit/s of each flow over the link that a marker gives one."""
    first = set(model.link.classes[0]["dscp"]) if model.link.classes else set()
    found: dict[str, float] = {}
    for marker in model.scenario.markers:
        if int(marker["dscp"]["green"] or 0) not in first:
            continue
        members = marker["flows"]
        rate = packets(marker["parameters"]["cir"], 1.0) / (1 if marker["per"] == "flow" else len(members))
        found |= dict.fromkeys(members, rate)
    return found


def periods_of(flow: Flow, duration: float) -> tuple[tuple[float, float], ...]:
    """Return when a flow has data to send, s; an on-off source in turns of its mean lengths."""
    begin = sum(flow.start_s) / 2
    whole = ((begin, duration if flow.stop_s is None else flow.stop_s), *flow.again)
    pattern = flow.parameters.get("pattern")
    if not isinstance(pattern, dict):
        return tuple((a, min(b, duration)) for a, b in whole if a < duration)
    on, off = mean_of(pattern["on"]), mean_of(pattern["off"])
    starts = np.arange(begin, whole[0][1], on + off)
    return tuple((float(a), float(min(a + on, duration))) for a in starts)


def _column(model: LinkModel, mix: Mix, *, in_time: bool) -> dict[str, float]:
    steps = steps_of(model)
    grid = np.linspace(steps.max_l, steps.max_u, GRID if steps.max_u > steps.max_l else 1)
    table = {
        there: np.array([_numbers(_state(model, mix, float(at), present=there, in_time=in_time)) for at in grid])
        for there in (True, False)
    }
    rates = table[True][:, 4]
    last = model.link.classes[-1]
    found = walk(
        lambda threshold: float(np.interp(threshold, grid, rates)),
        steps,
        periods=mix.periods,
        duration=model.scenario.duration_s,
        start=_packets(model, last["max_th"]),
    )
    kept = found.t >= model.scenario.warmup_s
    # Assured flows are there without the time that it takes to notice that they are not.
    there = np.zeros(len(found.t), dtype=bool)
    for begin, end in mix.periods:
        there |= (found.t >= begin) & (found.t < end)
    at = [
        np.where(
            there,
            np.interp(found.threshold, grid, table[True][:, i]),
            np.interp(found.threshold, grid, table[False][:, i]),
        )[kept].mean()
        for i in range(4)
    ]
    assured, best, drops_assured, drops_best = (float(x) for x in at)
    mbps = 8e-6 * model.packet_bytes
    values = {
        "max_th_out": float(found.threshold[kept].mean()),
        "reference": float(found.reference[kept].mean()),
        "rate_assured": assured * mbps / len(mix.names[0]),
        "sent_assured": assured / (assured + best),
    }
    if mix.names[1]:
        values["rate_best"] = best * mbps / len(mix.names[1])
    if drops_assured + drops_best > 0:
        values["drops_assured"] = drops_assured / (drops_assured + drops_best)
    return values


def _numbers(state: State) -> tuple[float, ...]:
    return state.assured, state.best, state.drops_assured, state.drops_best, state.arrivals


def _state(model: LinkModel, mix: Mix, threshold: float, *, present: bool, in_time: bool) -> State:
    """Return the fluid with max_th of best effort at a threshold in packets, with assured traffic or without."""
    outer, inner = _curves(model, threshold)
    here = mix.counts * (1.0 if present else ~mix.assured)
    used = here > 0
    udp_in, udp_out = (mix.udp_in, mix.udp_out) if present else (0.0, 0.0)
    greedy = [c for c, own in zip(model.traffic.greedy, used, strict=True) if own]
    answer = RioFlows(here[used], mix.reserved[used], inner, udp_in, udp_out + mix.udp_best)
    bottleneck = Bottleneck(
        capacity=model.capacity,
        curve=outer,
        w_q=model.curve.w_q,
        limit=outer.limit,
        unresponsive=min(udp_in + udp_out + mix.udp_best, 0.999 * model.capacity),
    )
    classes = tuple(
        FlowClass(c.name, float(n), c.propagation_s, max(c.window, 1.0))
        for c, n in zip(greedy, here[used], strict=True)
    )
    if not classes:
        return State(udp_in + udp_out, mix.udp_best, 0.0, 0.0, (udp_in + udp_out + mix.udp_best) / model.capacity)
    fluid = FluidModel(bottleneck, classes)
    p, p_in, sent, drops = _course(fluid, answer) if in_time else _rest(fluid, answer, solve(fluid, answer.windows))
    own = mix.assured[used]
    lost_udp, lost_best = p_in * udp_in + p * udp_out, p * mix.udp_best
    assured, best = (
        float(sent[own].sum()) + udp_in + udp_out - lost_udp,
        float(sent[~own].sum()) + mix.udp_best - lost_best,
    )
    drops_assured, drops_best = float(drops[own].sum()) + lost_udp, float(drops[~own].sum()) + lost_best
    arrivals = (assured + best + drops_assured + drops_best) / model.capacity
    return State(assured, best, drops_assured, drops_best, arrivals)


def _rest(fluid: FluidModel, answer: RioFlows, point: OperatingPoint) -> tuple[float, float, Array, Array]:
    """Return p_out, p_in, and packets/s that each class sends and loses, at rest."""
    windows, rtts = np.array(point.windows), np.array(point.rtts)
    sent = fluid.flows * windows / rtts
    p_in = answer.p_in(point.queue, windows, rtts)
    return point.p, p_in, sent, answer.drops(point.p, point.queue, windows, rtts)


def _course(fluid: FluidModel, answer: RioFlows) -> tuple[float, float, Array, Array]:
    """Return the means of the same over the fluid's course; the sent rates are at most the link's throughput."""
    # Losses within the rate are left out: the curve of the first class begins above the queue that best effort leaves.
    own = (lambda p, w, rtt: answer.losses(p, 0.0, w, rtt)) if (answer.reserved > 0).any() else None
    path = integrate(fluid, COURSE_S, step=float(fluid.propagation.min()) / STEPS, losses=own)
    kept = path.t >= SETTLED_S
    rtts = fluid.propagation[None, :] + path.queue[kept][:, None] / path.capacity
    windows, p = path.windows[kept], path.p[kept]
    rates = fluid.flows * windows / rtts
    inside = fluid.flows * np.minimum(windows / rtts, answer.reserved)
    drops = (p[:, None] * (rates - inside)).mean(axis=0)
    used = path.mean_utilization(since=SETTLED_S) * path.capacity - fluid.bottleneck.unresponsive * (
        1 - float(p.mean())
    )
    mean = rates.mean(axis=0)
    return float(p.mean()), 0.0, mean * min(used / float(mean.sum()), 1.0), drops


def _curves(model: LinkModel, threshold: float) -> tuple[Any, Any]:
    """Return the curve of best effort with max_th at a threshold, and the drops of packets within their rate."""
    link = model.link
    first, last = link.classes[0], dict(link.classes[-1])
    unit = model.curve.unit
    last["max_th"], last["min_th"] = threshold * unit, threshold * unit / float(link.parameters["alpha"])
    moved = replace(link, classes=(*link.classes[:-1], last))
    outer = curve_of(model.scenario, moved, packet_bytes=model.packet_bytes, class_name=last["name"]).over_waiting
    inner = curve_of(model.scenario, link, packet_bytes=model.packet_bytes, class_name=first["name"]).over_waiting
    return outer, lambda queue: float(inner(queue))


def _packets(model: LinkModel, value: Any) -> float:  # noqa: ANN401 - a number, or text with a unit
    """Return a threshold in packets of the mean size."""
    own = float(model.link.parameters["mean_packet"])
    return packets(value, own) / model.curve.unit


def _unfit(model: LinkModel) -> str:
    link = model.link
    if len(link.classes) != 2:
        return f"it is for two classes, and {link.name} has {len(link.classes)}"
    if link.parameters.get("averages") != "coupled":
        return f"averages are {link.parameters.get('averages')}, and it is for coupled ones"
    if model.load >= 1:
        return "UDP alone fills the link"
    return ""


def _measured(model: LinkModel, mix: Mix, result: Result) -> Mapping[str, Interval]:
    found: dict[str, Interval] = {}
    flows = result.flows
    own = {key: flows[flows["flow"].isin(names)] for key, names in zip(("assured", "best"), mix.names, strict=True)}
    for key, names in zip(("assured", "best"), mix.names, strict=True):
        if names:
            found[f"rate_{key}"] = mean_interval(per_flow_mbps(result, names), bounds=NOT_NEGATIVE)[0]
    for key, column in (("sent", "goodput_bps"), ("drops", "drops")):
        parts = {kind: rows.groupby("seed")[column].sum() for kind, rows in own.items()}
        total = parts["assured"].add(parts["best"], fill_value=0)
        found[f"{key}_assured"] = mean_interval((parts["assured"] / total).to_numpy(dtype=float), bounds=SHARE)[0]
    gauges = gauges_of(result, model.link.name, since=model.scenario.warmup_s)
    if not gauges.empty:
        means = gauges.groupby(level="seed").mean()
        for key, column, unit in (
            ("max_th_out", "max_th_out", model.curve.unit),
            ("reference", "c_threshold_bps", model.link.rate_bps),
        ):
            found[key] = mean_interval(means[column].to_numpy(dtype=float) / unit, bounds=NOT_NEGATIVE)[0]
    return found


def _periods_known(model: LinkModel, mix: Mix) -> Assumption:
    flows = [flow for flow in model.scenario.flows if flow.name in mix.names[0]]
    different = {periods_of(flow, model.scenario.duration_s) for flow in flows}
    drawn = any(isinstance(flow.parameters.get("pattern"), dict) for flow in flows)
    return Assumption.broken_by(
        "Assured flows come and go together, at known times.",
        "they have different times; those of the first are used" if len(different) > 1 else "",
        "an on-off source is taken in turns of its mean lengths" if drawn else "",
    )


def _markers(model: LinkModel) -> Assumption:
    kinds = {m["kind"] for m in model.scenario.markers if m["kind"] != "token-bucket"}
    how = f"{', '.join(sorted(kinds))}: packets in yellow count as beyond the rate" if kinds else ""
    return Assumption.broken_by("The edge marks what exceeds the committed rate, no burst allowed for.", how)
