"""Addresses, routes and kernel settings of the groups of flows, and the groups in the link process's configuration.

A group is known by its addresses: senders are 10.77.G.1 or fd77:0:0:G::1, receivers .2, where G is its number. The
routes between the two set the properties of the group's connections: congestion control, hop limit, ECN, initial
window, length of segments. The commands of ``--exec-a`` and ``--exec-b`` have a group of their own, the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError
from aqmlab.live.namespaces import FEATURE_ECN, Route
from aqmlab.live.plan import FAMILIES, FlowGroup, LivePlan

MOST_GROUPS = 254
"""The group's number is one byte of the addresses."""
A, B = "a", "b"
"""The sides: data of forward groups go from a to b."""
PREFIX_LENGTH = {"ipv4": 32, "ipv6": 128}


@dataclass(frozen=True)
class Ends:
    """The two addresses of a group: at side a, and at side b."""

    a: str
    b: str

    def at(self, side: str) -> str:
        """Return the address at a side."""
        return self.a if side == A else self.b


def ends(number: int, family: str) -> Ends:
    """Return a group's addresses.

    >>> ends(3, "ipv4"), ends(3, "ipv6")
    (Ends(a='10.77.3.1', b='10.77.3.2'), Ends(a='fd77:0:0:3::1', b='fd77:0:0:3::2'))
    """
    if not 1 <= number <= MOST_GROUPS:
        raise InputError(
            f"a live run has {number} groups of flows (allowed: up to {MOST_GROUPS - 1}, and one for commands)"
        )
    if family == "ipv4":
        return Ends(f"10.77.{number}.1", f"10.77.{number}.2")
    return Ends(f"fd77:0:0:{number:x}::1", f"fd77:0:0:{number:x}::2")


def addresses(side: str, numbers: Iterable[int]) -> list[str]:
    """Addresses of a side with their lengths, of both families."""
    return [f"{ends(g, f).at(side)}/{PREFIX_LENGTH[f]}" for g in numbers for f in FAMILIES]


def other(side: str) -> str:
    """Return the other side."""
    return B if side == A else A


def sender_side(group: FlowGroup) -> str:
    """Return the side that a group's data come from."""
    return A if group.forward else B


def routes(plan: LivePlan, side: str) -> list[Route]:
    """Return the routes of a side to the groups' ends at the other one."""
    found = []
    for group in plan.groups:
        found += [_route(group.number, side, family, _metrics(group, family)) for family in FAMILIES]
    return found + [_route(command_group(plan), side, family, _of_commands(plan)) for family in FAMILIES]


def command_group(plan: LivePlan) -> int:
    """Return the number of the group of ``--exec-a`` and ``--exec-b``."""
    return len(plan.groups) + 1


def kernel_settings(plan: LivePlan) -> dict[str, str]:
    """Settings below ``/proc/sys/net`` of both namespaces."""
    tcp = [group.parameters for group in plan.groups if not group.is_udp]

    def everywhere(key: str, default: bool = True) -> str:
        return "1" if all(bool(parameters.get(key, default)) for parameters in tcp) else "0"

    return {
        # Before addresses: IPv6 addresses are used at once.
        "ipv6/conf/all/accept_dad": "0",
        "ipv6/conf/default/accept_dad": "0",
        "ipv6/conf/default/dad_transmits": "0",
        "ipv6/conf/default/router_solicitations": "0",
        "ipv6/auto_flowlabels": "1",
        # A connection keeps its label: by default it takes another after each timeout, and would be another flow.
        "core/txrehash": "0",
        "ipv4/conf/all/rp_filter": "0",
        "ipv4/conf/default/rp_filter": "0",
        # Connections request ECN where their route has the feature, and accept it from every peer.
        "ipv4/tcp_ecn": "2",
        # A run knows nothing of those before it.
        "ipv4/tcp_no_metrics_save": "1",
        "ipv4/tcp_fastopen": "0",
        "ipv4/tcp_slow_start_after_idle": everywhere("idle_restart"),
        "ipv4/tcp_sack": everywhere("sack"),
        "ipv4/tcp_timestamps": everywhere("timestamps"),
    }


def link_groups(plan: LivePlan) -> list[dict[str, Any]]:
    """Return the groups as the link process takes them."""
    found = [_link_group(group, plan) for group in plan.groups]
    first = plan.groups[0]
    own = _link_group(first, plan) | {
        "name": "(commands)",
        "dscp": None,
        "class": 0,
        "prefix_a": addresses(A, [command_group(plan)]),
        "prefix_b": addresses(B, [command_group(plan)]),
    }
    return [*found, own]


def has_reverse_queue(plan: LivePlan) -> bool:
    """Whether the way back has a queue that matters: one of active management, or one that data cross."""
    if plan.reverse_link is None:
        return False
    return plan.reverse_aqm not in (None, "drop-tail") or any(not group.forward for group in plan.groups)


def _link_group(group: FlowGroup, plan: LivePlan) -> dict[str, Any]:
    there, back = (group.there, group.back) if group.forward else (group.back, group.there)
    # With a queue on the way back, that link's own delay is the link's.
    back_ns = back.delay_before_ns + back.delay_after_ns if has_reverse_queue(plan) else back.delay_ns
    return {
        "name": group.name,
        "prefix_a": addresses(A, [group.number]),
        "prefix_b": addresses(B, [group.number]),
        "delay_before_ns": there.delay_before_ns,
        "delay_after_ns": there.delay_after_ns,
        "delay_back_ns": back_ns,
        "hops_before": there.hops_before,
        "hops_after": there.hops_after,
        "dscp": group.dscp,
        "class": group.traffic_class,
        "flow_label": plan.settings["flow_label"],
        "acks_share_label": group.acks_share_label,
    }


def _route(number: int, side: str, family: str, metrics: dict[str, int | str]) -> Route:
    own = ends(number, family)
    return Route(f"{own.at(other(side))}/{PREFIX_LENGTH[family]}", own.at(side), metrics)


def _of_commands(plan: LivePlan) -> dict[str, int | str]:
    """Connections of commands have the first group's congestion control, and not this machine's default."""
    control = next((group.congestion_control for group in plan.groups if group.congestion_control), None)
    return {} if control is None else {"cc_algo": control}


def _metrics(group: FlowGroup, family: str) -> dict[str, int | str]:
    """Return the settings of the connections over a route."""
    found: dict[str, int | str] = {"hoplimit": group.ttl}
    if group.is_udp:
        return found
    if group.congestion_control is not None:
        found["cc_algo"] = group.congestion_control
    if group.ecn:
        found["features"] = FEATURE_ECN
    # An end announces a length without the options of its peer's segments.
    found["advmss"] = group.segment_bytes(family)
    if not group.speaks_as_kernels_do:
        return found
    if (window := group.parameters.get("initial_window")) is not None:
        found["initcwnd"] = max(1, round(float(window)))
    if (least := group.parameters.get("min_rto")) is not None:
        found["rto_min"] = max(1, round(float(least) * 1e3))
    if group.parameters.get("delayed_ack") is False:
        found["quickack"] = 1
    return found
