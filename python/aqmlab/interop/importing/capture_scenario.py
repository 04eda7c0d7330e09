"""A capture as a scenario: the arrivals of one direction, or the flows of both.

Arrivals are replayed in the open loop: one link with a queue, and a flow of UDP for each flow of the capture, which
sends its packets when they were captured and as long as they were. Whatever the queue does, the same packets arrive.

Flows are replayed in the closed loop: each connection of TCP starts when it started, sends as many bytes, and has the
round-trip time of its handshake (from the first packet to the third, wherever on the path the capture was made).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aqmlab.errors import InputError, counted, one_line
from aqmlab.interop.importing.bottleneck import head
from aqmlab.interop.importing.capture_file import ACK, SYN, TCP, Packet, read_capture
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import plain, rate, size, time
from aqmlab.scenario.toml_text import entries, inline

MOST_FLOWS = 500
"""Flows with a table of their own; of arrivals all others are one further flow, of connections they are left out."""
LONGEST_PACKET = 65_535
FULL_PACKET = 1514
LONGEST_S = 8_640_000.0
WINDOW_NS = 100_000_000
"""Of the rate that is assumed."""
TCP_HEADERS = 52
NS = 1_000_000_000
RTT_S = 0.04
"""Round-trip time where no handshake was captured."""


@dataclass(frozen=True)
class Traffic:
    """Packets of a capture by direction, in order of time from 0 ns on.

    Attributes
    ----------
    forward, reverse
        The direction with more bytes, and the other one.
    notes
        Assumptions and omissions.
    """

    forward: list[Packet]
    reverse: list[Packet]
    notes: list[str]


@dataclass
class Connection:
    """A connection of TCP.

    Attributes
    ----------
    first_ns
        When its first packet was captured, from the start of the capture.
    sent
        Bytes of payload in either direction, each counted once.
    rtt_ns
        From the first packet of the handshake to the third; None without it.
    longest
        Longest payload of a packet.
    """

    first_ns: int
    sent: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    rtt_ns: int | None = None
    longest: int = 0
    _begin: dict[bool, int] = field(default_factory=dict)
    _syn_ns: int | None = None
    _answered: bool = False

    def add(self, packet: Packet, now_ns: int, forward: bool) -> None:
        """Take in a packet."""
        begin = self._begin.setdefault(forward, (packet.seq + bool(packet.flags & SYN)) % 2**32)
        if packet.payload:
            # Sequence numbers wrap; a transfer goes on from where it was.
            ahead = (packet.seq + packet.payload - begin - self.sent[forward]) % 2**32
            if ahead < 2**31:
                self.sent[forward] += ahead
            self.longest = max(self.longest, packet.payload)
        if packet.flags & SYN and not packet.flags & ACK:
            self._syn_ns = now_ns
        elif packet.flags & SYN and self._syn_ns is not None:
            self._answered = True
        elif packet.flags & ACK and self._answered and self.rtt_ns is None and self._syn_ns is not None:
            self.rtt_ns = now_ns - self._syn_ns


def traffic_of(path: Path) -> Traffic:
    """Read a capture and split its packets by direction.

    Raises
    ------
    InputError
        If it cannot be read, has no IP packet, or is longer than 100 days.
    """
    capture = read_capture(path)
    if not capture.packets:
        raise InputError(f"{path}: has no IP packet")
    packets = sorted(capture.packets, key=lambda packet: packet.time_ns)
    length_s = (packets[-1].time_ns - packets[0].time_ns) / NS
    if length_s > LONGEST_S:
        raise InputError(f"{path}: its times are {length_s:.0f} s apart (allowed: up to 100 days)")
    notes = (
        [f"{counted(capture.others, 'record is not an IP packet', 'records are not IP packets')}"]
        if capture.others
        else []
    )
    if packets != capture.packets:
        notes.append("times in the file go back: packets are sorted by time")
    if longer := sum(packet.length > FULL_PACKET for packet in packets):
        notes.append(
            f"{counted(longer, 'packet is', 'packets are')} longer than {FULL_PACKET} B: "
            "the capturing machine joined segments (ethtool -K DEV "
            "gro off gso off tso off)"
        )
    groups: dict[bool, list[Packet]] = {True: [], False: []}
    for packet, forward in zip(packets, _directions(packets), strict=True):
        groups[forward].append(packet)
    totals = {forward: sum(packet.length for packet in group) for forward, group in groups.items()}
    more = totals[True] >= totals[False]
    return Traffic(groups[more], groups[not more], notes)


def _directions(packets: Sequence[Packet]) -> list[bool]:
    """Say of each packet whether it goes one way or the other.

    The link layer tells where it has exactly two senders (or this machine's packets); else hosts are on two sides, and
    those that speak to each other are on different ones.
    """
    sides = Counter(packet.side for packet in packets)
    if len(sides) == 2 and b"" not in sides:
        first = packets[0].side
        return [packet.side == first for packet in packets]
    side_of: dict[bytes, bool] = {}
    found = []
    for packet in packets:
        source, target = _host(packet.source), _host(packet.target)
        if source not in side_of:
            side_of[source] = not side_of[target] if target in side_of else True
        side_of.setdefault(target, not side_of[source])
        found.append(side_of[source])
    return found


def _host(end: bytes) -> bytes:
    return end[:16] if len(end) >= 16 else end[:4]


def arrivals_text(traffic: Traffic, *, name: str, description: str) -> tuple[str, list[str]]:
    """Return the scenario of the arrivals of the forward direction, and the assumptions."""
    packets = traffic.forward
    begin = packets[0].time_ns
    flows: dict[object, list[Packet]] = defaultdict(list)
    for packet in packets:
        flows[packet.source, packet.target, packet.protocol].append(packet)
    largest = sorted(flows.values(), key=lambda own: -sum(packet.length for packet in own))
    kept = sorted(largest[:MOST_FLOWS], key=lambda own: own[0].time_ns)
    notes = [*traffic.notes]
    if others := largest[MOST_FLOWS:]:
        notes.append(f"{len(others)} of {len(flows)} flows, the smallest, are one flow, others")
    if traffic.reverse:
        notes.append(
            f"left out: {counted(len(traffic.reverse), 'packet')} of the other direction "
            "(--as flows makes connections of TCP)"
        )
    bits = _busiest_rate(packets)
    notes.append(f"the link's rate is not in a capture: {rate(bits)}, the highest in 100 ms, is assumed")
    length_s = (packets[-1].time_ns - begin) / NS
    lines = [
        *_head(name, description, notes),
        "[run]",
        f"duration = {inline(time(_rounded_up(length_s + 1.0)))}",
        "",
        "[[link]]",
        'from = "a"',
        'to = "b"',
        'name = "bottleneck"',
        f"rate = {inline(rate(bits))}",
        'delay = "10ms"',
        'queue = "bottleneck"',
        "duplex = false",
        "",
        *_queue(),
    ]
    for number, own in enumerate(kept):
        lines += _arrivals(f"{_protocol(own[0])}-{number + 1}", own, begin)
    if others:
        lines += _arrivals("others", sorted((p for own in others for p in own), key=lambda p: p.time_ns), begin)
    return "\n".join(lines) + "\n", notes


def flows_text(traffic: Traffic, path: Path, *, name: str, description: str) -> tuple[str, list[str]]:
    """Return the scenario of the capture's connections, and the assumptions.

    Raises
    ------
    InputError
        If no connection of TCP with data is seen in both directions.
    """
    begin = min(own[0].time_ns for own in (traffic.forward, traffic.reverse) if own)
    connections = _connections(traffic, begin)
    seen = [one for one in connections.values() if len(one._begin) == 2 and any(one.sent.values())]
    if not seen:
        raise InputError(f"{path}: no connection of TCP with data is seen in both directions (--as arrivals needs one)")
    notes = [*traffic.notes]
    seen.sort(key=lambda one: -max(one.sent.values()))
    if len(seen) > MOST_FLOWS:
        notes.append(f"{len(seen) - MOST_FLOWS} of {len(seen)} connections, the smallest, are left out")
    kept = sorted(seen[:MOST_FLOWS], key=lambda one: one.first_ns)
    other = len(connections) - len(seen)
    if other:
        notes.append(f"left out: {counted(other, 'connection')} without data, or seen in one direction")
    udp = sum(packet.protocol != TCP for packet in traffic.forward + traffic.reverse)
    if udp:
        notes.append(f"left out: {counted(udp, 'packet')} not of TCP (--as arrivals replays them)")
    known = sorted(one.rtt_ns for one in kept if one.rtt_ns)
    usual = known[len(known) // 2] if known else round(RTT_S * NS)
    unknown = sum(not one.rtt_ns for one in kept)
    if unknown:
        source = "the median of the others" if known else "an assumption"
        notes.append(
            f"{counted(unknown, 'connection')} without a handshake: the round-trip time is {time(usual / NS)}, {source}"
        )
    bits = _busiest_rate(traffic.forward)
    notes.append(f"the link's rate is not in a capture: {rate(bits)}, the highest in 100 ms, is assumed")
    notes.append("the congestion control is not in a capture: CUBIC is assumed")
    end = max(own[-1].time_ns for own in (traffic.forward, traffic.reverse) if own)
    shortest = min([usual, *known]) / NS
    trunk: Table = {"rate": rate(bits), "delay": time(shortest / 4), "queue": "bottleneck"}
    access: Table = {"rate": rate(max(1e9, 10 * bits)), "delay": "0s"}
    lines = [
        *_head(name, description, notes),
        "[run]",
        f"duration = {inline(time(_rounded_up((end - begin) / NS + 1.0)))}",
        "",
        "[dumbbell]",
        *entries({"bottleneck": trunk, "left": access, "right": access}),
        "",
        *_queue(),
    ]
    for number, one in enumerate(kept):
        lines += _connection(number, one, (one.rtt_ns or usual) / NS / 2 - shortest / 4)
    return "\n".join(lines) + "\n", notes


def _connections(traffic: Traffic, begin: int) -> dict[frozenset[bytes], Connection]:
    """Follow the connections of TCP; a further handshake on the same ports is the same connection."""
    found: dict[frozenset[bytes], Connection] = {}
    both = [(packet, True) for packet in traffic.forward] + [(packet, False) for packet in traffic.reverse]
    both.sort(key=lambda one: one[0].time_ns)
    for packet, forward in both:
        if packet.protocol != TCP:
            continue
        key = frozenset((packet.source, packet.target))
        now = packet.time_ns - begin
        one = found.get(key)
        if one is None:
            one = found[key] = Connection(now)
        one.add(packet, now, forward)
    return found


def _connection(number: int, one: Connection, delay_s: float) -> list[str]:
    """Write the larger direction of a connection."""
    forward = one.sent[True] >= one.sent[False]
    lines = ["", "[[flow]]", f'name = "tcp-{number + 1}"', 'transport = "tcp"']
    if not forward:
        lines += ['from = "right"', 'to = "left"']
    lines.append(f"start = {inline(time(one.first_ns / NS))}")
    lines.append(f"size = {inline(size(one.sent[forward]))}")
    lines.append(f"left = {{ delay = {inline(time(max(0.0, delay_s)))} }}")
    if 64 <= one.longest <= FULL_PACKET - TCP_HEADERS:
        lines.append(f"tcp = {{ mss = {inline(size(one.longest))} }}")
    return lines


def _head(name: str, description: str, notes: Iterable[str]) -> list[str]:
    return [*head(name, description), *(f"# {one_line(note)}." for note in notes), ""]


def _queue() -> list[str]:
    return [
        "# The queue is not in a capture: it is an example.",
        "[queue.bottleneck]",
        'aqm = "drop-tail"',
        'limit = "100p"',
    ]


def _arrivals(name: str, own: Sequence[Packet], begin: int) -> list[str]:
    lines = ["", "[[flow]]", f"name = {inline(name)}", 'transport = "udp"', 'from = "a"', 'to = "b"']
    points = {packet.dscp for packet in own}
    if len(points) == 1 and points != {0}:
        lines.append(f"dscp = {points.pop()}")
    packets = (f"{plain((packet.time_ns - begin) / NS)} {min(packet.length, LONGEST_PACKET)}" for packet in own)
    return [*lines, 'arrivals = """', *packets, '"""']


def _protocol(packet: Packet) -> str:
    return {6: "tcp", 17: "udp", 1: "icmp", 58: "icmp"}.get(packet.protocol, "ip")


def _busiest_rate(packets: Sequence[Packet]) -> float:
    """Return the highest rate in 100 ms, in bit/s."""
    begin = packets[0].time_ns
    windows: Counter[int] = Counter()
    for packet in packets:
        windows[(packet.time_ns - begin) // WINDOW_NS] += packet.length
    return float(max(windows.values()) * 8 * NS // WINDOW_NS)


def _rounded_up(seconds: float) -> float:
    return float(int(seconds) + (seconds > int(seconds)))
