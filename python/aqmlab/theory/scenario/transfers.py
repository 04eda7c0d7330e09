"""Drawn or short transfers of a scenario, resolved seed by seed.

The core draws ends, sizes and starts for a seed; max-min fair sharing (`aqmlab.theory.shares.transfers`) gives the
active transfers over time; and where the link is full, the fluid with the mean numbers of active transfers gives queue,
drops and their shares. Means are over the measured time and over the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.errors import InputError
from aqmlab.results.quantities import NOT_NEGATIVE, Quantity
from aqmlab.scenario.routes import ShortestPaths
from aqmlab.statistics import Interval, mean_interval
from aqmlab.theory.domain import DomainError
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.operating_point import solve
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass
from aqmlab.theory.scenario.agreement import Analysed
from aqmlab.theory.scenario.assumption import Assumption
from aqmlab.theory.scenario.class_shares import ClassShares
from aqmlab.theory.scenario.ddred_shares import drop_quantities, drops_by_distance
from aqmlab.theory.scenario.link_traffic import Routes, window_packets, wire_bytes
from aqmlab.theory.shares.ddred import DdredFlows
from aqmlab.theory.shares.transfers import CAPPED, Segment, Transfer, share_out

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result
    from aqmlab.scenario.parts import Flow
    from aqmlab.theory.scenario.model import LinkModel

BINS = 5
"""Parts of the time in which the link is full; the fluid is solved for the mean of each."""
FULL = 0.999
"""A link that carries so much of its rate is full."""
ROUND_S = 2e-3
"""Round trips that differ by less are one class here."""
ACTIVE = Quantity("active", "Active transfers", "flows", 2, "over this link, mean over the measured time")


@dataclass(frozen=True)
class Drawn:
    """A transfer over the link as drawn for a seed: its flow, its place in the path and in that of its ACKs."""

    flow: Flow
    transfer: Transfer
    propagation_s: float
    distance: int
    hops: int


@dataclass
class Totals:
    """Sums over the measured time of a seed.

    Attributes
    ----------
    time
        Measured, s.
    active
        Mean number of transfers over the link.
    queue
        Packet-seconds of packets waiting, ACKs among them.
    packets, bits
        Carried, ACKs among them.
    lost
        Packets, ACKs among them.
    drops, sent
        Data packets lost, and offered, by distance.
    """

    time: float = 0.0
    active: float = 0.0
    queue: float = 0.0
    packets: float = 0.0
    bits: float = 0.0
    lost: float = 0.0
    drops: dict[int, float] = field(default_factory=dict)
    sent: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class BySeed:
    """Theory of transfers, in the form of `Theory`; `rows` has each seed's values."""

    rows: list[dict[str, float]]
    columns: list[Analysed]
    assumptions: list[Assumption]
    shares: ClassShares


def resolve(model: LinkModel, seeds: Sequence[int]) -> BySeed:
    """Return the theory of a link's drawn or short transfers.

    Raises
    ------
    InputError
        If no transfer crosses the link in any of the seeds, or their draws cannot be had.
    """
    draws = drawn_flows(model, seeds)
    shortest = ShortestPaths(model.scenario.links)
    is_ddred = model.link.parameters.get("victim") == "ddred"
    totals, numbers = [], []
    for seed in seeds:
        one = _of_seed(model, draws[draws["seed"] == seed], shortest, distances=is_ddred)
        totals.append(one)
        numbers.append(one.active)
    if not any(one.active for one in totals):
        raise InputError(f"no transfer crosses {model.link.name} in seeds {', '.join(map(str, seeds))}")
    names = _names(model, draws, shortest)
    levels = tuple(sorted({d for one in totals for d in one.sent}))
    shares = _shares(model, totals, levels if is_ddred else (), names)
    text = ", ".join(f"{number:.3g} in seed {seed}" for seed, number in zip(seeds, numbers, strict=True))
    rows = [
        {"seed": seed, "active": one.active, **(_values(model, [one]) if one.packets else {})}
        for seed, one in zip(seeds, totals, strict=True)
    ]
    return BySeed(
        rows=rows,
        columns=[Analysed("transfers, by seed", _values(model, totals))],
        assumptions=[
            Assumption("Transfers share links max-min fairly, at once.", False, f"active in the mean: {text}"),
            Assumption.broken_by(
                "Losses cost the transfers no time.",
                "they do: time-outs and slow starts make transfers longer, so that more are active than computed",
            ),
            Assumption.broken_by(
                "Losing acknowledgements costs nothing and helps nothing.",
                "DDRED drops those that come from near in place of data; windows that grow by the acknowledgement grow "
                "more slowly then, so that p is too high"
                if is_ddred
                else "",
            ),
        ],
        shares=shares,
    )


def drawn_flows(model: LinkModel, seeds: Sequence[int]) -> pd.DataFrame:
    """Return the flows as the core draws them: seed, flow, from, to, size_packets, start_s.

    The scenario is run for a microsecond, which draws everything and simulates nothing; all of it is run where times in
    the file, such as changes of links, need its length.
    """
    from aqmlab.runs.runner import run

    try:
        short = model.scenario.with_overrides({"run.duration": "1us", "run.warmup": "0s"})
    except InputError:
        short = model.scenario
    return run(short, seeds=list(seeds), progress=False, workers=1).flows


def _of_seed(model: LinkModel, draws: pd.DataFrame, shortest: ShortestPaths, *, distances: bool) -> Totals:
    scenario, place = model.scenario, {link.name: n for n, link in enumerate(model.scenario.links)}
    here, back = place[model.link.name], _reverse(model)
    known = {flow.name: flow for flow in scenario.flows}
    found: list[Drawn] = []
    for row in draws.to_dict("records"):
        flow = known[row["flow"]]
        if not flow.is_tcp:
            continue
        path = tuple(place[name] for name in _path(flow, row, shortest))
        if path:
            found.append(_drawn(model, flow, path, float(row["size_packets"]), float(row["start_s"])))
    over = [i for i, one in enumerate(found) if here in one.transfer.path]
    acks = [i for i, one in enumerate(found) if back in one.transfer.path]
    begin, end = scenario.warmup_s, scenario.duration_s
    total = Totals(time=end - begin)
    full: list[tuple[Segment, float]] = []
    for one in share_out([x.transfer for x in found], [k.rate_bps for k in scenario.links], until=end):
        lasts = one.end - max(one.begin, begin)
        if lasts <= 0:
            continue
        rate = dict(zip(one.active, one.rates.tolist(), strict=True))
        own = [i for i in one.active if i in set(over)]
        total.active += len(own) * lasts / total.time
        answers = {i: _acks(found[i], rate[i]) for i in acks if i in rate}
        carried = sum(rate[i] for i in own)
        total.packets += lasts * (sum(_packets(found[i], rate[i]) for i in own) + sum(answers.values()))
        small = sum(8 * float(found[i].flow.parameters["ack_size"]) * number for i, number in answers.items())
        total.bits += lasts * min(carried + small, model.link.rate_bps)
        for i in own:
            distance = found[i].distance
            total.sent[distance] = total.sent.get(distance, 0.0) + lasts * _packets(found[i], rate[i])
        if carried >= FULL * model.link.rate_bps:
            full.append((one, lasts))
    for part in _bins(full):
        _add(model, part, found, set(over), set(acks), total, distances=distances)
    return total


def _path(flow: Flow, row: Mapping[Hashable, Any], shortest: ShortestPaths) -> tuple[str, ...]:
    """Return the links that a flow crosses, by name; the simulator draws the ends of those without a path."""
    return flow.path or tuple(link.name for link in shortest.path(row["from"], row["to"]))


def _drawn(model: LinkModel, flow: Flow, path: tuple[int, ...], size: float, start: float) -> Drawn:
    routes, links = Routes(model.scenario), model.scenario.links
    data, there = 8 * wire_bytes(flow), [links[n] for n in path]
    rtt, back = routes.round_trip_s(flow, there), routes.back(there)
    names = [link.name for link in there]
    if model.link.name in names:
        distance = names.index(model.link.name)
    else:
        own = [link.name for link in reversed(back)]
        distance = own.index(model.link.name) if model.link.name in own else 0
    bits = size * data if size > 0 else math.inf
    return Drawn(flow, Transfer(start, bits, path, window_packets(flow) * data / rtt), rtt, distance, len(path))


def _reverse(model: LinkModel) -> int:
    """Return the number of the link in the other direction, -1 without one."""
    link = Routes(model.scenario).reverse(model.link)
    return -1 if link is None else [one.name for one in model.scenario.links].index(link.name)


def _packets(one: Drawn, bits: float) -> float:
    return bits / 8 / wire_bytes(one.flow)


def _acks(one: Drawn, bits: float) -> float:
    return _packets(one, bits) / (2 if one.flow.parameters.get("delayed_ack") else 1)


def _bins(full: list[tuple[Segment, float]]) -> list[list[tuple[Segment, float]]]:
    """Put segments in their order into parts that last about as long."""
    whole = sum(lasts for _, lasts in full)
    parts: list[list[tuple[Segment, float]]] = [[] for _ in range(BINS)]
    passed = 0.0
    for one, lasts in full:
        parts[min(int(BINS * (passed + lasts / 2) / whole), BINS - 1)].append((one, lasts))
        passed += lasts
    return [part for part in parts if part]


def _add(
    model: LinkModel,
    part: list[tuple[Segment, float]],
    found: list[Drawn],
    over: set[int],
    acks: set[int],
    total: Totals,
    *,
    distances: bool,
) -> None:
    """Solve the fluid for the means of a part of the time, and add what it says."""
    lasts = sum(time for _, time in part)
    here = [link.name for link in model.scenario.links].index(model.link.name)
    counts: dict[tuple[float, int, int, float], float] = {}
    others: dict[float, float] = {}
    load = light = 0.0
    by_fraction = model.link.parameters.get("distance") == "fraction"

    def key(one: Drawn) -> float:
        return min(one.distance / max(one.hops - 1, 1), 1.0) if by_fraction else float(one.distance)

    for segment, time in part:
        for i, rate, limit in zip(segment.active, segment.rates.tolist(), segment.limits.tolist(), strict=True):
            one, weight = found[i], time / lasts
            packets = weight * _packets(one, rate)
            if i in over and limit in (here, CAPPED):
                group = (key(one), one.distance, round(one.propagation_s / ROUND_S), window_packets(one.flow))
                counts[group] = counts.get(group, 0.0) + weight
            elif i in over:
                others[key(one)] = others.get(key(one), 0.0) + packets
                load += packets
            if i in acks:
                ack = weight * _acks(one, rate)
                others[key(one)] = others.get(key(one), 0.0) + ack
                light += ack
    if not counts:
        return
    groups = list(counts)
    classes = tuple(FlowClass("transfers", counts[g], max(g[2], 1) * ROUND_S, max(g[3], 1.0)) for g in groups)
    curve = model.curve.over_waiting
    bottleneck = Bottleneck(
        capacity=model.capacity,
        curve=curve,
        w_q=model.curve.w_q,
        limit=curve.limit,
        unresponsive=min(load, 0.99 * model.capacity),
    )
    fluid = FluidModel(bottleneck, classes, "recovery")
    in_bytes = model.link.parameters.get("mode") == "bytes"
    answer = None
    if distances:
        answer = DdredFlows(
            "recovery",
            fluid.flows,
            np.array([g[0] for g in groups]),
            others,
            light if in_bytes else 0.0,
            bool(model.link.parameters.get("arrival_is_candidate")),
        )
    try:
        point = solve(fluid, None if answer is None else answer.windows)
    except DomainError:
        return
    windows, rtts = np.array(point.windows), np.array(point.rtts)
    sent = fluid.flows * windows / rtts
    lost = sent * (point.p if answer is None else answer.losses(point.p, point.queue, windows, rtts))
    data = float(sent.sum()) + load
    total.queue += point.queue * (data + light) / data * lasts
    total.lost += point.p * data * lasts
    for group, drops in zip(groups, lost.tolist(), strict=True):
        total.drops[group[1]] = total.drops.get(group[1], 0.0) + drops * lasts


def _values(model: LinkModel, totals: Sequence[Totals]) -> dict[str, float]:
    lost, packets = sum(one.lost for one in totals), sum(one.packets for one in totals)
    bps = float(np.mean([one.bits / one.time for one in totals]))
    return {
        "p": lost / (packets + lost),
        "mean_queue": float(np.mean([one.queue / one.time for one in totals])),
        "mean_delay_ms": 1e3 * sum(one.queue for one in totals) / packets,
        "throughput_mbps": bps / 1e6,
        "utilization": bps / model.link.rate_bps,
    }


def _names(model: LinkModel, draws: pd.DataFrame, shortest: ShortestPaths) -> dict[int, list[str]]:
    """Return for each seed the TCP flows over the link."""
    known = {flow.name: flow for flow in model.scenario.flows}
    found: dict[int, list[str]] = {}
    for row in draws.to_dict("records"):
        flow = known[row["flow"]]
        if flow.is_tcp and model.link.name in _path(flow, row, shortest):
            found.setdefault(int(row["seed"]), []).append(flow.name)
    return found


def _shares(
    model: LinkModel, totals: Sequence[Totals], levels: tuple[int, ...], names: dict[int, list[str]]
) -> ClassShares:
    values = {ACTIVE.key: float(np.mean([one.active for one in totals]))}
    dropped = [one for one in totals if sum(one.drops.values()) > 0]
    for d in levels:
        if dropped:
            values[f"drops_{d}"] = float(np.mean([one.drops.get(d, 0.0) / sum(one.drops.values()) for one in dropped]))
    quantities = (ACTIVE, *drop_quantities(levels))
    victim = str(model.link.parameters.get("victim", ""))
    reason = ""
    if victim not in ("", "arriving", "ddred"):
        reason = f"no theory of shares by class for drawn or short transfers with the victim rule {victim}"
    return ClassShares(
        about="Transfers of each seed" + (", and DDRED's shares by distance" if levels else ""),
        reason=reason,
        quantities=quantities,
        columns=(Analysed("transfers, by seed", values),),
        measure=partial(_measured, model, levels, names),
    )


def _measured(
    model: LinkModel, levels: tuple[int, ...], names: dict[int, list[str]], result: Result
) -> Mapping[str, Interval]:
    begin, end = model.scenario.warmup_s, model.scenario.duration_s
    active = []
    for seed, rows in result.flows.groupby("seed"):
        own = rows[rows["flow"].isin(names.get(int(str(seed)), []))]
        last = own["finish_s"].fillna(end).clip(upper=end).to_numpy(dtype=float)
        first = own["start_s"].clip(lower=begin).to_numpy(dtype=float)
        active.append(float(np.maximum(last - first, 0.0).sum()) / (end - begin))
    found = {ACTIVE.key: mean_interval(np.array(active), bounds=NOT_NEGATIVE)[0]}
    return found | (drops_by_distance(result, model.link.name, levels) if levels else {})
