"""Which traffic crosses a link, as models see it: classes of greedy TCP flows, and load that does not listen to drops.

Models are stationary: a flow that is not there all the time counts with the share of the measured time in which it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import UDP, Flow, Link, mean_of

ALIKE_S = 1e-5
"""Round trips that differ by less are one class."""
NEARLY_ALL = 0.95
"""A flow that is there for so much of the measured time counts as always there."""


@dataclass(frozen=True)
class Greedy:
    """TCP flows that are alike.

    Attributes
    ----------
    name
        Of their group, with the round trip where a group has several.
    flows
        Their names.
    count
        How many, each with the share of time in which it sends.
    propagation_s
        Round trip without queueing: delays and transmissions of a packet there and of an ACK back.
    window
        Packets.
    packet_bytes
        With header.
    delayed_acks
        Whether every second packet is acknowledged.
    """

    name: str
    flows: tuple[str, ...]
    count: float
    propagation_s: float
    window: float
    packet_bytes: float
    delayed_acks: bool


@dataclass(frozen=True)
class Load:
    """One UDP flow: its mean load in bit/s over the measured time, and what it is while it sends."""

    flow: Flow
    mean_bps: float

    @property
    def poisson(self) -> bool:
        """Whether packets leave as a Poisson process."""
        return bool(self.flow.parameters["pattern"] == "poisson")

    @property
    def exponential(self) -> bool:
        """Whether its packets have exponential lengths."""
        size = self.flow.parameters["packet_size"]
        return isinstance(size, dict) and "exponential" in size

    @property
    def steady(self) -> bool:
        """Whether it sends at one rate all the time."""
        return math.isclose(self.mean_bps, float(self.flow.parameters["rate_bps"]))


@dataclass(frozen=True)
class Traffic:
    """The traffic over a link.

    Attributes
    ----------
    greedy
        Classes of TCP flows without end, or that last as long as the run.
    loads
        UDP flows.
    transfers
        TCP flows of a finite size that are not counted among `greedy`.
    partly
        TCP flows that are counted with a share of the time.
    drawn
        All flows of the scenario whose ends, hence whose routes, are drawn in every run.
    """

    greedy: tuple[Greedy, ...]
    loads: tuple[Load, ...]
    transfers: tuple[Flow, ...]
    partly: tuple[Flow, ...]
    drawn: tuple[Flow, ...]

    @property
    def packet_bytes(self) -> float:
        """Mean size of a data packet: over TCP flows if there are any, else over the load; 0 if nothing crosses."""
        if self.greedy:
            return sum(c.count * c.packet_bytes for c in self.greedy) / sum(c.count for c in self.greedy)
        bits = sum(load.mean_bps for load in self.loads)
        packets = sum(load.mean_bps / wire_bytes(load.flow) for load in self.loads)
        return bits / packets if packets else 0.0


def traffic_over(scenario: Scenario, link: Link) -> Traffic:
    """Return what crosses a link."""
    crossing = [flow for flow in scenario.flows if link.name in flow.path]
    tcp = [flow for flow in crossing if flow.is_tcp]
    shares = {flow.name: _share(scenario, link, flow, fellows=len(tcp)) for flow in tcp}
    counted = [flow for flow in tcp if shares[flow.name] > 0]
    loads = [Load(flow, _mean_rate(flow, scenario)) for flow in crossing if flow.transport == UDP]
    return Traffic(
        greedy=_classes(scenario, counted, shares),
        loads=tuple(load for load in loads if load.mean_bps > 0),
        transfers=tuple(flow for flow in crossing if flow.transport != UDP and flow not in counted),
        partly=tuple(flow for flow in counted if shares[flow.name] < 1),
        drawn=tuple(flow for flow in scenario.flows if not flow.path),
    )


def wire_bytes(flow: Flow) -> float:
    """Return the mean size of a flow's data packets with their headers."""
    if flow.transport == UDP:
        return mean_of(flow.parameters["packet_size"])
    return flow.payload_bytes + float(flow.parameters["header"])


def window_packets(flow: Flow) -> float:
    """Return the receiver's window of a TCP flow in packets: one profile has it in packets, the other in bytes."""
    window = flow.parameters.get("window")
    if window is None:
        return math.inf
    return float(window) / (flow.payload_bytes if flow.parameters["profile"] == "rfc" else 1.0)


class Routes:
    """Round trips without queueing over a scenario's links."""

    def __init__(self, scenario: Scenario) -> None:
        self._links = {link.name: link for link in scenario.links}
        self._by_ends = {(link.from_, link.to): link for link in reversed(scenario.links)}

    def reverse(self, link: Link) -> Link | None:
        """Return the link in the other direction, if there is one."""
        return self._by_ends.get((link.to, link.from_))

    def there(self, flow: Flow) -> list[Link]:
        """Return the links that a flow's data crosses."""
        return [self._links[name] for name in flow.path]

    def propagation_s(self, flow: Flow) -> float:
        """Return delays and transmissions of a packet there and of an ACK back, in s.

        The way back is the reverse of the way there; where a link has none, it is taken to be like the way there.
        """
        return self.round_trip_s(flow, self.there(flow))

    def back(self, there: Sequence[Link]) -> list[Link]:
        """Return the links of acknowledgements for each link of the way there, in the same order."""
        return [self.reverse(link) or link for link in there]

    def round_trip_s(self, flow: Flow, there: Sequence[Link]) -> float:
        """Return `propagation_s` over a way that the flow does not name itself."""
        bits = ((8 * wire_bytes(flow), there), (8 * float(flow.parameters["ack_size"]), self.back(there)))
        return math.fsum(link.delay_s + size / link.rate_bps for size, links in bits for link in links)


def _classes(scenario: Scenario, flows: Sequence[Flow], shares: dict[str, float]) -> tuple[Greedy, ...]:
    """Put flows of a group together that have the same round trip, window and packets."""
    routes = Routes(scenario)
    groups: dict[tuple[str, int, float, float, bool], list[Flow]] = {}
    for flow in flows:
        rtt = round(routes.propagation_s(flow) / ALIKE_S)
        alike = (
            flow.group,
            rtt,
            window_packets(flow),
            wire_bytes(flow),
            bool(flow.parameters["delayed_ack"]),
        )
        groups.setdefault(alike, []).append(flow)
    names = Counter(group for group, *_ in groups)
    return tuple(
        Greedy(
            name=group if names[group] == 1 else f"{group}, {rtt * ALIKE_S * 1e3:.4g} ms",
            flows=tuple(flow.name for flow in members),
            count=sum(shares[flow.name] for flow in members),
            propagation_s=routes.propagation_s(members[0]),
            window=window,
            packet_bytes=size,
            delayed_acks=delayed,
        )
        for (group, rtt, window, size, delayed), members in groups.items()
    )


def _share(scenario: Scenario, link: Link, flow: Flow, *, fellows: int) -> float:
    """Return the share of the measured time in which a TCP flow has data to send; 0 for short transfers."""
    begin, end = scenario.warmup_s, scenario.duration_s
    size = flow.parameters.get("size")
    start = sum(flow.start_s) / 2
    if isinstance(size, dict):
        return 0.0
    if size is not None:
        lasts = 8 * float(size) * wire_bytes(flow) * fellows / link.rate_bps
        return 1.0 if start <= begin + (1 - NEARLY_ALL) * (end - begin) and start + lasts >= end else 0.0
    stop = end if flow.stop_s is None else flow.stop_s
    share = _within([(start, stop), *flow.again], begin, end) / (end - begin)
    return 1.0 if share >= NEARLY_ALL else share


def _mean_rate(flow: Flow, scenario: Scenario) -> float:
    """Return the mean load of a UDP flow over the measured time in bit/s."""
    begin, end = scenario.warmup_s, scenario.duration_s
    stop = end if flow.stop_s is None else flow.stop_s
    there = _within([(sum(flow.start_s) / 2, stop), *flow.again], begin, end) / (end - begin)
    return float(flow.parameters["rate_bps"]) * there * _on_share(flow.parameters["pattern"])


def _on_share(pattern: object) -> float:
    if not isinstance(pattern, dict):
        return 1.0
    on, off = mean_of(pattern["on"]), mean_of(pattern["off"])
    return on / (on + off) if on + off else 1.0


def _within(periods: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    return sum(max(min(b, end) - max(a, begin), 0.0) for a, b in periods)
