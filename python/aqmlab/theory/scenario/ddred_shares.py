"""DDRED's shares by distance for a scenario: one class for each number of routers that packets have entered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.results.quantities import NOT_NEGATIVE, SHARE, Quantity
from aqmlab.statistics import Interval, mean_interval
from aqmlab.theory.fluid.operating_point import solve
from aqmlab.theory.scenario.assumption import Assumption
from aqmlab.theory.scenario.class_shares import ClassShares, columns_of, per_flow_mbps
from aqmlab.theory.scenario.link_traffic import wire_bytes
from aqmlab.theory.shares.ddred import DdredFlows

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.scenario.parts import Flow, Link
    from aqmlab.theory.scenario.model import LinkModel

COLUMNS = (("least distance", False), ("least distance, refined", True))
"""With Misra's law, and with the one that counts recovery."""


def shares_of(model: LinkModel) -> ClassShares:
    """Return DDRED's shares of drops and throughput by distance at a link."""
    distances = distances_of(model)
    if len(set(distances)) < 2:
        return ClassShares(
            reason=f"no theory of DDRED's shares by distance: all TCP flows over {model.link.name} come from the same "
            f"distance ({distances[0]}), so all pay alike"
        )
    models = [(name, partial(_column, model, refined=refined)) for name, refined in COLUMNS]
    columns, reason = columns_of(models, "DDRED's shares by distance")
    if reason:
        return ClassShares(reason=reason)
    levels = tuple(sorted(set(distances)))
    return ClassShares(
        about="DDRED's shares by distance (routers entered, this one included): the least waiting pays",
        quantities=quantities(levels),
        columns=columns,
        measure=partial(_measured, model, levels),
        assumptions=(_searched(model), _mixed(model)),
    )


def quantities(levels: tuple[int, ...]) -> tuple[Quantity, ...]:
    """Return the compared quantities at these distances."""
    return (
        *drop_quantities(levels),
        *(Quantity(f"sent_{d}", f"Throughput of distance {d}", "1", 4, "share of the TCP goodput") for d in levels),
        *(Quantity(f"rate_{d}", f"Flow of distance {d}", "Mb/s", 4, "mean goodput of a flow") for d in levels),
    )


def drop_quantities(levels: tuple[int, ...]) -> tuple[Quantity, ...]:
    """Return the shares of drops at these distances."""
    what = "share of the dropped data packets"
    return tuple(Quantity(f"drops_{d}", f"Drops at distance {d}", "1", 4, what) for d in levels)


def distance_at(flow: Flow, link: Link) -> int:
    """Return d_r of a flow's packets in the queue of a link: how many routers they have entered, its own included."""
    return flow.path.index(link.name)


def key_at(flow: Flow, link: Link) -> float:
    """Return what DDRED compares: hops, or with `distance = "fraction"` their share of the route, at most 1."""
    hops = distance_at(flow, link)
    if link.parameters.get("distance") != "fraction":
        return float(hops)
    route = len(flow.path) - 1
    return min(hops / route, 1.0) if route else 1.0


def distances_of(model: LinkModel) -> list[int]:
    """Return the distance of each class of greedy flows."""
    flows = {flow.name: flow for flow in model.scenario.flows}
    return [distance_at(flows[c.flows[0]], model.link) for c in model.traffic.greedy]


def _column(model: LinkModel, *, refined: bool) -> dict[str, float]:
    greedy = model.traffic.greedy
    flows = {flow.name: flow for flow in model.scenario.flows}
    fluid = model.refined() if refined else model.fluid()
    others: dict[float, float] = {}
    for load in model.traffic.loads:
        key = key_at(load.flow, model.link)
        others[key] = others.get(key, 0.0) + load.mean_bps / 8 / wire_bytes(load.flow)
    answer = DdredFlows(
        law=fluid.loss_law,
        flows=fluid.flows,
        keys=np.array([key_at(flows[c.flows[0]], model.link) for c in greedy]),
        others=others,
        arrival=bool(model.link.parameters.get("arrival_is_candidate")),
    )
    point = solve(fluid, answer.windows)
    windows, rtts = np.array(point.windows), np.array(point.rtts)
    sent = fluid.flows * windows / rtts
    drops = sent * answer.losses(point.p, point.queue, windows, rtts)
    mbps = sent * 8e-6 * np.array([c.packet_bytes for c in greedy])
    return by_distance(np.array(distances_of(model)), np.array([c.count for c in greedy]), drops, mbps)


def by_distance(distances: np.ndarray, counts: np.ndarray, drops: np.ndarray, mbps: np.ndarray) -> dict[str, float]:
    """Return shares of drops, of throughput, and the mean rate of a flow at each distance.

    >>> found = by_distance(np.array([1, 2, 2]), np.array([2, 1, 1]), np.array([3.0, 1, 0]), np.array([1.0, 2, 1]))
    >>> [found[key] for key in ("drops_1", "drops_2", "sent_1", "sent_2", "rate_1", "rate_2")]
    [0.75, 0.25, 0.25, 0.75, 0.5, 1.5]
    """
    values: dict[str, float] = {}
    for d in sorted({int(d) for d in distances}):
        own = distances == d
        values[f"drops_{d}"] = float(drops[own].sum() / drops.sum()) if drops.sum() else float("nan")
        values[f"sent_{d}"] = float(mbps[own].sum() / mbps.sum())
        values[f"rate_{d}"] = float(mbps[own].sum() / counts[own].sum())
    return values


def _measured(model: LinkModel, levels: tuple[int, ...], result: Result) -> Mapping[str, Interval]:
    found: dict[str, Interval] = {}
    greedy = model.traffic.greedy
    names = {
        d: tuple(name for c, own in zip(greedy, distances_of(model), strict=True) if own == d for name in c.flows)
        for d in levels
    }
    rates = {d: per_flow_mbps(result, own) for d, own in names.items()}
    total = sum(len(names[d]) * rates[d] for d in levels)
    for d in levels:
        found[f"rate_{d}"] = mean_interval(rates[d], bounds=NOT_NEGATIVE)[0]
        found[f"sent_{d}"] = mean_interval(len(names[d]) * rates[d] / total, bounds=SHARE)[0]
    return found | drops_by_distance(result, model.link.name, levels)


def drops_by_distance(result: Result, link: str, levels: tuple[int, ...]) -> dict[str, Interval]:
    """Return the shares of the dropped data packets at these distances; none where no data was dropped."""
    if "drop_distances" not in result.tables:
        return {}
    rows = result.drop_distances
    rows = rows[(rows["link"] == link) & rows["distance"].isin(levels)]
    table = rows.pivot_table(index="seed", columns="distance", values="data_drops", fill_value=0, aggfunc="sum")
    table = table.reindex(columns=list(levels), fill_value=0)
    table = table[table.sum(axis=1) > 0]
    shares = table.div(table.sum(axis=1), axis=0)
    if not len(shares):
        return {}
    return {f"drops_{d}": mean_interval(shares[d].to_numpy(dtype=float), bounds=SHARE)[0] for d in levels}


def _searched(model: LinkModel) -> Assumption:
    early = model.link.parameters.get("search") == "early"
    how = "search = early: a drop that is not early takes the arriving packet" if early else ""
    return Assumption.broken_by("DDRED searches the queue at every drop.", how)


def _mixed(model: LinkModel) -> Assumption:
    fraction = model.link.parameters.get("distance") == "fraction"
    how = "the route of a flow's first packets is not known, and they count as having travelled all of it"
    return Assumption.broken_by("The distance of every packet is known.", how if fraction else "")
