"""Groups of flows of RFC 7928's scenarios, as scenario text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aqmlab.rfc7928.network import PACKET_BYTES, RTT_S, bits, left_delay, seconds, table
from aqmlab.scenario.toml_text import Value

HEADERS = 52
"""Bytes of IP and TCP headers in a data packet."""
APART_S = 1.0
"""Long flows start at random within this time, so that seeds differ."""


@dataclass(frozen=True)
class Group:
    """Flows that are alike.

    Attributes
    ----------
    name
        Name of the ``[[flow]]`` table.
    title
        Name in tables.
    text
        The table.
    rtt_s
        Their round trip without queues.
    forward
        Whether their data go from A to B.
    greedy
        Whether they are TCP that always has data to send.
    """

    name: str
    title: str
    text: str = field(repr=False)
    rtt_s: float = RTT_S
    forward: bool = True
    greedy: bool = False


def tcp(
    name: str,
    title: str,
    *,
    control: str = "reno",
    count: int = 1,
    rtt_s: float = RTT_S,
    initial_window: int = 3,
    ecn: bool = False,
    size: str | None = None,
    start: Value | None = None,
    active: Sequence[tuple[float, float]] | None = None,
    packet_bytes: int = PACKET_BYTES,
    forward: bool = True,
    options: Mapping[str, Value] | None = None,
) -> Group:
    """Flows of TCP by the RFCs: long ones unless they have a size.

    ``reno`` with selective acknowledgements is the RFC's NewReno with SACK: its losses are found and mended by
    RFC 8985 and RFC 6937, its window follows RFC 5681.
    """
    settings: dict[str, Value] = {"congestion_control": control, "initial_window": f"{initial_window}p"}
    settings |= {"ecn": True} if ecn else {}
    settings |= {"mss": f"{packet_bytes - HEADERS}B"} if packet_bytes != PACKET_BYTES else {}
    values: dict[str, Value] = {"name": name, "count": count, "transport": "tcp"}
    values |= {} if forward else {"from": "right", "to": "left"}
    values |= {"size": size} if size else {}
    if active is None:
        values["start"] = {"uniform": ["0s", seconds(APART_S)]} if start is None else start
    else:
        values["active"] = [[seconds(begin), seconds(end)] for begin, end in active]
    values["left"] = {"delay": seconds(left_delay(rtt_s))}
    values["tcp"] = {**settings, **(options or {})}
    return Group(name, title, table("[flow]", values), rtt_s, forward, greedy=size is None)


def udp(name: str, title: str, *, rate_bps: float, packet_bytes: int = PACKET_BYTES, rtt_s: float = RTT_S) -> Group:
    """UDP at a constant rate, headers included."""
    values: dict[str, Value] = {
        "name": name,
        "transport": "udp",
        "rate": bits(rate_bps),
        "packet_size": f"{packet_bytes}B",
        "start": {"uniform": ["0s", seconds(APART_S)]},
        "left": {"delay": seconds(left_delay(rtt_s))},
    }
    return Group(name, title, table("[flow]", values), rtt_s)


def frames(name: str, title: str, *, mean_bps: float, a_second: float, rtt_s: float = RTT_S) -> Group:
    """Video whose frames are bursts: packets of one frame back to back, frames of exponentially distributed length."""
    period = 1 / a_second
    burst = period * mean_bps / BURST_BPS
    values: dict[str, Value] = {
        "name": name,
        "transport": "udp",
        "rate": bits(BURST_BPS),
        "packet_size": f"{PACKET_BYTES}B",
        "pattern": {"on": {"exponential": seconds(burst)}, "off": seconds(period - burst)},
        "left": {"delay": seconds(left_delay(rtt_s))},
    }
    return Group(name, title, table("[flow]", values), rtt_s)


BURST_BPS = 100e6
"""Rate within a frame: ten times that of the bottleneck."""


def web(name: str, title: str, *, starts_s: Sequence[float], rtt_s: float = RTT_S) -> Group:
    """Web pages: 50 objects of 1 KB or more over six parallel connections, initial window 10 (section 7.2)."""
    values: dict[str, Value] = {
        "name": name,
        "count": len(starts_s),
        "transport": "tcp",
        "start": [seconds(at) for at in starts_s],
        "left": {"delay": seconds(left_delay(rtt_s))},
        "tcp": {"congestion_control": "reno", "initial_window": "10p"},
        "web": {"objects": 50, "connections": 6, "size": {"uniform": ["1KB", "30KB"]}},
    }
    return Group(name, title, table("[flow]", values), rtt_s)


def adaptive_video(name: str, title: str, *, rtt_s: float = RTT_S) -> Group:
    """One adaptive video: segments of 4 s of a rate that follows the client's buffer (Huang et al., SIGCOMM 2014)."""
    values: dict[str, Value] = {
        "name": name,
        "transport": "tcp",
        "start": {"uniform": ["0s", seconds(APART_S)]},
        "left": {"delay": seconds(left_delay(rtt_s))},
        "tcp": {"congestion_control": "reno", "initial_window": "10p"},
        "video": {"rule": "bba-0", "buffer": "20s"},
    }
    return Group(name, title, table("[flow]", values), rtt_s)


def call(name: str, title: str, *, rtt_s: float = RTT_S) -> Group:
    """One call in both directions: G.711 in frames of 20 ms."""
    values: dict[str, Value] = {
        "name": name,
        "voip": {"codec": "g711", "frame": "20ms"},
        "left": {"delay": seconds(left_delay(rtt_s))},
    }
    return Group(name, title, table("[flow]", values), rtt_s)
