"""The set-up of RFC 7928, section 3: a dumbbell, the buffer, and how many flows make a level of congestion.

All scenarios send packets of 1500 bytes, headers included, over a bottleneck of 10 Mb/s (section 8.2.6: 100 Mb/s as
well) with a round trip of 100 ms, the RFC's category I, unless a scenario says otherwise. Access links are a hundred
times as fast as the bottleneck of 10 Mb/s and never lose a packet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from aqmlab.scenario.toml_text import Value, inline

PACKET_BYTES = 1500
"""A full packet on the wire: 1448 bytes of payload and 52 of headers."""
CAPACITY_BPS = 10e6
RTT_S = 0.1
"""Round trip without queues (propagation)."""
LONGEST_RTT_S = 0.56
"""The upper end of the RFC's range, that of a path over a satellite (section 6.2)."""
QUEUE = "aqm"
"""Name of the queue that has the discipline in question."""
BUFFER = "buffer"
"""Name of the drop-tail queue of the other direction, as large as the first (figure 1: both routers have Bsize)."""
BOTTLENECK_DELAY_S, RIGHT_DELAY_S = 1e-3, 0.5e-3
"""One-way delays that all flows share; the left access link has the rest of half the round trip."""
LEVELS: Mapping[str, float] = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
"""N / S of the congestion levels (sections 8.2.2 to 8.2.4): loss of about 0.1, 0.5 and 1 % behind drop-tail."""
LOSS_FACTOR = 0.76
"""Of the loss projection, section 8.2.1, after Morris (INFOCOM 2000, equation 3)."""


def bdp_packets(capacity_bps: float, rtt_s: float) -> int:
    """Bandwidth-delay product in whole packets.

    >>> bdp_packets(10e6, 0.1), bdp_packets(100e6, 0.1), bdp_packets(10e6, 0.56)
    (83, 833, 467)
    """
    return round(capacity_bps * rtt_s / 8 / PACKET_BYTES)


def flows_at(level: str, s_packets: float) -> int:
    """Return how many bulk flows make a level of congestion: ROUND(0.036 S) and so on.

    Parameters
    ----------
    level
        A key of `LEVELS`.
    s_packets
        S: bandwidth-delay product and buffer together, in packets.

    >>> [flows_at(level, 83 + 83) for level in LEVELS]
    [6, 13, 19]
    """
    return max(1, math.floor(LEVELS[level] * s_packets + 0.5))


def projected_loss(flows: float, s_packets: float) -> float:
    """Loss ratio that N flows would have behind drop-tail: l_r = 0.76 N^2 / S^2 (section 8.2.1).

    >>> [round(projected_loss(share, 1.0), 4) for share in LEVELS.values()]
    [0.001, 0.005, 0.0099]
    """
    return LOSS_FACTOR * flows**2 / s_packets**2


def seconds(value: float) -> str:
    """Write a time for a scenario.

    >>> seconds(0.0485), seconds(20)
    ('48.5ms', '20s')
    """
    return f"{value:.10g}s" if value >= 1 or value == 0 else f"{value * 1e3:.10g}ms"


def bits(value: float) -> str:
    """Write a rate for a scenario.

    >>> bits(7.5e6)
    '7.5Mbps'
    """
    return f"{value / 1e6:.10g}Mbps"


def table(name: str, values: Mapping[str, Value]) -> str:
    """Write a TOML table, or an entry of a list of tables if the name stands in brackets.

    >>> print(table("[flow]", {"name": "tcp", "tcp": {"ecn": True}}))
    [[flow]]
    name = "tcp"
    tcp = { ecn = true }
    """
    return "\n".join([f"[{name}]", *(f"{key} = {inline(value)}" for key, value in values.items())])


def head(name: str, *, warmup_s: float, duration_s: float) -> str:
    """Begin a scenario; `duration_s` is measured behind `warmup_s`."""
    times = {"warmup": seconds(warmup_s), "duration": seconds(warmup_s + duration_s)}
    return f'format = 1\nname = "rfc7928-{name}"\n\n{table("run", times)}'


def dumbbell(
    aqm: Mapping[str, Value],
    *,
    buffer: int,
    capacity_bps: float = CAPACITY_BPS,
    reverse_bps: float | None = None,
    both: bool = False,
) -> str:
    """Write routers L and R with the bottleneck and its queues.

    Parameters
    ----------
    aqm
        The table of the queue with the discipline.
    buffer
        Size of the other direction's queue, in packets.
    capacity_bps, reverse_bps
        Rates from A to B and back; the same if no other is given for the way back.
    both
        Whether the discipline is in both directions.
    """
    access: Mapping[str, Value] = {"rate": "1Gbps", "delay": seconds(RIGHT_DELAY_S), "queue": "access"}
    link: dict[str, Value] = {"rate": bits(capacity_bps), "delay": seconds(BOTTLENECK_DELAY_S)}
    link |= {"queue": QUEUE, "reverse_queue": QUEUE if both else BUFFER}
    parts = [
        table(
            "dumbbell", {"bottleneck": link, "left": {**access, "delay": seconds(left_delay(RTT_S))}, "right": access}
        ),
        table(f"queue.{QUEUE}", aqm),
        *([] if both else [table(f"queue.{BUFFER}", {"aqm": "drop-tail", "limit": f"{buffer}p"})]),
        table("queue.access", {"aqm": "drop-tail", "limit": "100000p"}),
    ]
    if reverse_bps is not None and reverse_bps != capacity_bps:
        parts.append(table("[change]", {"at": "0s", "link": "bottleneck.reverse", "rate": bits(reverse_bps)}))
    return "\n\n".join(parts)


def left_delay(rtt_s: float) -> float:
    """One-way delay of the left access link with which a flow has this round trip."""
    return rtt_s / 2 - BOTTLENECK_DELAY_S - RIGHT_DELAY_S


def changes(link: str, rates_bps: Iterable[float], *, start_s: float, every_s: float) -> str:
    """Write a link whose rate takes one value after the other."""
    found = []
    for index, rate in enumerate(rates_bps):
        at = seconds(round(start_s + index * every_s, 9))
        found.append(table("[change]", {"at": at, "link": link, "rate": bits(rate)}))
    return "\n\n".join(found)


def probe(*, links: Iterable[str], sample_s: float, windows: bool) -> str:
    """Return the probe table: each packet at the links, the flows' deliveries, and windows if `windows` is true."""
    values: dict[str, Value] = {"packets": True, "links": list(links), "flow_interval": seconds(sample_s)}
    if windows:
        values["cwnd_interval"] = seconds(RTT_S)
    return table("probe", values)
