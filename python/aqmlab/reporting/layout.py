"""Layout of the nodes of a network.

Hosts that hang on the same router in the same way are shown as one, with their number. The remaining nodes are laid
out as a line if they are a chain of routers, else by springs (Fruchterman and Reingold 1991) from a circle, so that the
same network always looks the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from aqmlab.scenario.file import Scenario
    from aqmlab.scenario.parts import Link


HOP = 0.36
"""Least distance of two routers in a row; the distance of two alone is 1."""
MANY_ROUTERS = 9
"""From so many routers on, hosts are drawn nearer to theirs."""


@dataclass(frozen=True)
class Spot:
    """A node as shown: `count` hosts drawn as one, or a router; `angle` (radians) points away from a host's router."""

    key: str
    label: str
    count: int
    x: float
    y: float
    is_host: bool
    angle: float = 0.0


@dataclass(frozen=True)
class Wire:
    """A link as shown, between two spots; `forward` and `back` are its directions."""

    a: str
    b: str
    forward: Link
    back: Link | None


@dataclass(frozen=True)
class Drawing:
    """Spots and wires, in a square of about -1 to 1."""

    spots: dict[str, Spot]
    wires: list[Wire]


def arrange(scenario: Scenario) -> Drawing:
    """Lay out a scenario's network."""
    hosts = _host_groups(scenario)
    shown = {node: key for key, members in hosts.items() for node in members}
    core = [node for node in scenario.nodes if node not in shown]
    links = _pairs(scenario)
    neighbours = {node: set[str]() for node in core}
    for (a, b), _ in links.items():
        if a in neighbours and b in neighbours:
            neighbours[a].add(b)
            neighbours[b].add(a)
    line = _as_line(core, neighbours)
    places = _on_line(line) if line else _by_springs(core, neighbours)
    spots = {node: Spot(node, node, 1, *places[node], is_host=False) for node in core}
    _hang_hosts(spots, hosts, links, is_line=bool(line), senders={flow.from_ for flow in scenario.flows})
    return Drawing(spots, _wires(links, shown))


def _pairs(scenario: Scenario) -> dict[tuple[str, str], tuple[Link, Link | None]]:
    """Both directions of each link together, the first one seen in front."""
    found: dict[tuple[str, str], tuple[Link, Link | None]] = {}
    for link in scenario.links:
        back = (link.to, link.from_)
        if back in found and found[back][1] is None:
            found[back] = (found[back][0], link)
        else:
            found.setdefault((link.from_, link.to), (link, None))
    return found


def _host_groups(scenario: Scenario) -> dict[str, list[str]]:
    """Nodes with a single neighbour, by that neighbour, kind of link and flow group.

    Such a node forwards nothing: it is a host also where the ends of transfers are drawn and no flow names it.
    """
    around: dict[str, set[str]] = {node: set() for node in scenario.nodes}
    first: dict[str, Link] = {}
    for link in scenario.links:
        around[link.from_].add(link.to)
        around[link.to].add(link.from_)
        first.setdefault(link.from_, link)
        first.setdefault(link.to, link)
    traffic: dict[str, set[str]] = {}
    for flow in scenario.flows:
        traffic.setdefault(flow.from_, set()).add(f"{flow.group} from")
        traffic.setdefault(flow.to, set()).add(f"{flow.group} to")
    groups: dict[tuple[object, ...], list[str]] = {}
    for node in scenario.nodes:
        if len(around[node]) == 1:
            (router,) = around[node]
            if len(around[router]) > 1:
                kind = (first[node].rate_bps, first[node].delay_s, first[node].queue)
                groups.setdefault((router, kind, tuple(sorted(traffic.get(node, ())))), []).append(node)
    return {members[0]: members for members in groups.values()}


def _as_line(core: list[str], neighbours: dict[str, set[str]]) -> list[str]:
    """Return the routers in a row if they form one, else nothing."""
    ends = [node for node in core if len(neighbours[node]) <= 1]
    if not core or not ends or any(len(n) > 2 for n in neighbours.values()):
        return []
    row, last = [ends[0]], ""
    while True:
        onward = [n for n in neighbours[row[-1]] if n != last]
        if not onward:
            break
        last = row[-1]
        row.append(onward[0])
    return row if len(row) == len(core) else []


def _on_line(row: list[str]) -> dict[str, tuple[float, float]]:
    if len(row) == 1:
        return {row[0]: (0.0, 0.0)}
    hop = max(HOP, 1.0 / (len(row) - 1))
    return {node: ((i - (len(row) - 1) / 2) * hop, 0.0) for i, node in enumerate(row)}


def _by_springs(core: list[str], neighbours: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    n = len(core)
    index = {node: i for i, node in enumerate(core)}
    angles = 2 * math.pi * np.arange(n) / max(n, 1)
    at = 0.6 * np.column_stack([np.cos(angles), np.sin(angles)])
    tied = np.zeros((n, n))
    for node, others in neighbours.items():
        for other in others:
            tied[index[node], index[other]] = 1
    rest = 0.9 / math.sqrt(max(n, 1))
    for heat in np.linspace(0.1, 0.005, 120):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = (rest**2 / distance**2 - tied * distance / rest)[:, :, None] * apart
        step = force.sum(axis=1)
        length = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
        at = at + step / length * np.minimum(length, heat)
    at = at - at.mean(axis=0)
    at = at / max(float(np.abs(at).max()), 1e-9) * 0.6
    return {node: (float(at[i, 0]), float(at[i, 1])) for node, i in index.items()}


def _hang_hosts(
    spots: dict[str, Spot],
    hosts: dict[str, list[str]],
    links: dict[tuple[str, str], tuple[Link, Link | None]],
    *,
    is_line: bool,
    senders: set[str],
) -> None:
    """Place the host groups around their routers: outward on a ring, senders left and receivers right on a line."""
    by_router: dict[str, list[str]] = {}
    wired: dict[str, list[float]] = {}
    for a, b in links:
        for one, other in ((a, b), (b, a)):
            if one in hosts:
                by_router.setdefault(other, []).append(one)
            elif one in spots and other in spots:
                towards = math.atan2(spots[other].y - spots[one].y, spots[other].x - spots[one].x)
                wired.setdefault(one, []).append(towards)
    xs = [spot.x for spot in spots.values()]
    reach = 0.42 if is_line or len(spots) < MANY_ROUTERS else 0.24
    stretch = max(1.0, (max(xs) - min(xs)) / 1.8)
    for router, own in by_router.items():
        centre = spots[router]
        outward = (
            _along_line(centre, xs, sends=own[0] in senders) if is_line else _widest_gap(centre, wired.get(router, []))
        )
        for i, host in enumerate(own):
            spread = (i - (len(own) - 1) / 2) * min(0.7, 2.4 / max(len(own), 1))
            angle = outward + (-spread if math.cos(outward) > 0 else spread)
            members = hosts[host]
            label = host if len(members) == 1 else f"{_common(members)} × {len(members)}"
            place = (centre.x + stretch * reach * math.cos(angle), centre.y + reach * math.sin(angle))
            spots[host] = Spot(host, label, len(members), *place, is_host=True, angle=angle)


def _along_line(centre: Spot, xs: list[float], *, sends: bool) -> float:
    if len(xs) == 1:
        return math.pi if sends else 0.0
    if centre.x == min(xs):
        return math.pi
    return 0.0 if centre.x == max(xs) else math.pi / 2


def _widest_gap(centre: Spot, wired: list[float]) -> float:
    """Return the direction in which a router has most room between its wires to other routers."""
    if not wired:
        return math.atan2(centre.y, centre.x)
    towards = sorted(wired)
    gaps = [(b - a, a) for a, b in zip(towards, [*towards[1:], towards[0] + 2 * math.pi], strict=True)]
    width, begin = max(gaps)
    return begin + width / 2


def _common(names: list[str]) -> str:
    """Return what all names share: ``left.tcp`` for left.tcp.0, left.tcp.1."""
    first, last = names[0], names[-1]
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same].rstrip("._-0123456789") or first


def _wires(links: dict[tuple[str, str], tuple[Link, Link | None]], shown: dict[str, str]) -> list[Wire]:
    """One wire per link; of a host group only its first member's."""
    wires = []
    for (a, b), (forward, back) in links.items():
        if shown.get(a, a) == a and shown.get(b, b) == b:
            wires.append(Wire(a, b, forward, back))
    return wires
