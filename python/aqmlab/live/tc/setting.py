"""The set-up of a run in Linux, read off the plan of a live run: one bottleneck, groups of flows and their programs.

Access links are delay alone. The whole round trip's delay is laid on the way back, where nothing queues: for a closed
loop it only matters how long it is round, not where.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError
from aqmlab.interop.tc.queues import Qdisc, qdisc_of
from aqmlab.live.plan import FlowGroup, LivePlan

IP_AND_UDP = 28
"""Bytes of headers around a datagram's payload (IPv4)."""
LARGEST_SEGMENT = 1460
"""Bytes of a TCP segment, options included, in a packet of 1500 bytes (IPv4)."""
LEAST_PAYLOAD = 16
"""Bytes of iperf3's smallest datagram."""
MOST_CLIENTS = 64
IN_USERSPACE = Qdisc("aqmlab-link", "")


@dataclass(frozen=True)
class Client:
    """One sending program: flows of one group that begin together.

    Attributes
    ----------
    group
        Number of its group.
    names
        Its flows' names.
    start_s, stop_s
        From the start of the run.
    """

    group: int
    names: tuple[str, ...]
    start_s: float
    stop_s: float

    @property
    def length_s(self) -> int:
        """How long it sends: iperf3 takes whole seconds. It sends to its end at least, so that the load is the same."""
        return max(1, math.ceil(self.stop_s - self.start_s))


@dataclass(frozen=True)
class Group:
    """How the flows of a group send, and over which distance.

    Attributes
    ----------
    number, name
        Its number, which is in its addresses 10.77.number.1 and 10.77.number.2, and its name.
    transport
        Congestion control of the kernel, or ``udp``.
    ecn
        Whether TCP asks for ECN.
    advmss
        The largest segment that TCP announces, options included, in bytes; None: as the device allows.
    payload, rate_bps
        Of UDP: bytes of payload in a datagram, and bits of IP packets per second of each flow.
    delay_s
        Of the whole round trip's links.
    dscp
        Code point of its data.
    ttl
        Time to live with which its data start: behind the one router before the bottleneck it is that of the scenario.
    level
        Priority level of its packets, for the link in user space.
    """

    number: int
    name: str
    transport: str
    ecn: bool
    advmss: int | None
    payload: int
    rate_bps: float
    delay_s: float
    dscp: int
    ttl: int
    level: int

    @property
    def is_udp(self) -> bool:
        """Whether it sends datagrams."""
        return self.transport == "udp"


@dataclass(frozen=True)
class Policer:
    """A marker of the kind token-bucket: what exceeds it loses its code point.

    Attributes
    ----------
    group
        Number of the group whose packets it marks.
    rate_bps, burst_bytes
        Of its bucket.
    green, red
        Code points of what conforms and of what exceeds; None if it is dropped.
    """

    group: int
    rate_bps: float
    burst_bytes: int
    green: int
    red: int | None


@dataclass(frozen=True)
class Setting:
    """A run: the bottleneck with its discipline, the groups and their programs.

    Attributes
    ----------
    plan
        The plan from which it was read.
    qdisc
        The bottleneck's discipline in tc's words.
    rate_bps, duration_s, warmup_s
        Of the bottleneck; of the run; of the part at its start that tables leave out.
    policers
        Markers of the scenario, at the senders.
    """

    plan: LivePlan
    qdisc: Qdisc
    groups: tuple[Group, ...]
    clients: tuple[Client, ...]
    rate_bps: float
    duration_s: float
    warmup_s: float
    policers: tuple[Policer, ...] = ()


def setting_of(plan: LivePlan, *, qdisc: str | Qdisc | None = None) -> Setting:
    """Read a run off a live plan.

    Parameters
    ----------
    plan
        The scenario for one seed.
    qdisc
        The discipline in place of the scenario's, or its words, e.g. ``"pie target 15ms"``.

    Raises
    ------
    InputError
        If Linux has nothing that corresponds.
    """
    scenario = plan.scenario
    for what, so in {
        "addresses of IPv6": plan.family != "ipv4",
        "random loss": bool(plan.settings.get("loss")),
        "TTL_i in packets (live.distance)": plan.carries_ttl,
        "QOSA in packets (live.qosa_bit)": bool(plan.settings["qosa_bit"]),
    }.items():
        if so:
            raise InputError(f"live: {what} cannot be had with tc as bottleneck")
    if channel := ", ".join(key for key, value in scenario.link(plan.link).channel.items() if value):
        raise InputError(f"live: {channel} of {plan.link} cannot be had with tc as bottleneck")
    markers = () if qdisc is IN_USERSPACE else scenario.markers
    policers = tuple(policer for marker in markers for policer in _policers(marker, plan))
    clients = tuple(client for group in plan.groups for client in _clients(group, scenario.duration_s))
    if len(clients) > MOST_CLIENTS:
        raise InputError(f"{len(clients)} flows that start one by one are too many (at most {MOST_CLIENTS})")
    return Setting(
        plan=plan,
        qdisc=qdisc if isinstance(qdisc, Qdisc) else qdisc_of(scenario, scenario.link(plan.link), words=qdisc),
        groups=tuple(_group(group, policers) for group in plan.groups),
        policers=policers,
        clients=clients,
        rate_bps=plan.rate_bps,
        duration_s=scenario.duration_s,
        warmup_s=scenario.warmup_s,
    )


def _clients(group: FlowGroup, duration_s: float) -> list[Client]:
    together: dict[float, list[str]] = {}
    for name, start in zip(group.flows, group.starts_s, strict=True):
        together.setdefault(round(start, 3), []).append(name)
    stop = duration_s if group.stop_s is None else min(group.stop_s, duration_s)
    return [Client(group.number, tuple(names), start, stop) for start, names in together.items() if start < stop]


def _policers(marker: Mapping[str, Any], plan: LivePlan) -> list[Policer]:
    """Return a marker's policers: one for a flow, or for a group whose flows share a bucket."""
    marked = set(marker["flows"])
    own = [group for group in plan.groups if not marked or marked.intersection((group.group, *group.flows))]
    of_flows = marker["per"] == "flow" and all(len(group.flows) == 1 for group in own)
    if marker["kind"] != "token-bucket" or not (of_flows or (marker["per"] == "group" and len(own) == 1)):
        raise InputError(
            f'live: the marker "{marker["name"]}" cannot be had with tc as bottleneck '
            '(allowed: kind = "token-bucket", for groups of one flow or with per = "group" for one group)'
        )
    values, points = marker["parameters"], marker["dscp"]
    return [Policer(g.number, float(values["cir"]), int(values["cbs"]), points["green"], points["red"]) for g in own]


def _group(group: FlowGroup, policers: Sequence[Policer]) -> Group:
    own = group.parameters
    strange = {
        "its data cross the other direction": not group.forward,
        "it is a command": group.exec is not None,
        "it pauses": bool(group.again_s),
        "it has a size": any(size is not None for size in group.size_bytes),
        "its packets differ": group.is_udp and not isinstance(own["packet_size"], int),
        f"its packets are smaller than iperf3's of {LEAST_PAYLOAD + IP_AND_UDP} bytes": group.is_udp
        and isinstance(own["packet_size"], int)
        and own["packet_size"] < LEAST_PAYLOAD + IP_AND_UDP,
        "its rate is not constant": group.is_udp and own["pattern"] != "constant",
        "the kernel has no such congestion control": not group.is_udp and group.congestion_control is None,
    }
    for why, so in strange.items():
        if so:
            raise InputError(f'flow "{group.name}" cannot be sent with tc as bottleneck: {why}')
    return Group(
        number=group.number,
        name=group.name,
        transport=group.congestion_control or "udp",
        ecn=group.ecn,
        advmss=None if group.is_udp else _advmss(group),
        payload=own["packet_size"] - IP_AND_UDP if group.is_udp else 0,
        rate_bps=float(own["rate_bps"]) if group.is_udp else 0.0,
        delay_s=(group.there.delay_ns + group.back.delay_ns) / 1e9,
        dscp=next((one.green for one in policers if one.group == group.number), group.dscp),
        ttl=group.ttl - group.there.hops_before + 1,
        level=group.traffic_class,
    )


def _advmss(group: FlowGroup) -> int | None:
    segment = group.segment_bytes("ipv4")
    return segment if segment < LARGEST_SEGMENT else None
