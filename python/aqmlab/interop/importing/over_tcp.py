"""Applications of ns-2 that hand data to TCP at their own times: Telnet, CBR and on-off sources over TCP.

A scenario has no such supply; the nearest is a page of objects over one connection, in which an object waits until the
one before is acknowledged. A source that is faster than its way is greedy. Both are named as differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from aqmlab.interop.importing.ns2_study import Named, Table
from aqmlab.interop.importing.quantities import size, time
from aqmlab.interop.importing.recording import Recording
from aqmlab.interop.ns2.quantities import bits, seconds

MOST_OBJECTS = 100_000
WAITS = "its data wait here until those before are acknowledged"


@dataclass(frozen=True)
class Way:
    """Path of a connection: bits of a packet with header, the slowest rate in bit/s, and an empty round trip in s."""

    packet_bits: float
    rate_bps: float
    round_trip_s: float


def is_read(kind: str) -> bool:
    """Return whether an application over TCP is read.

    >>> is_read("Application/Telnet"), is_read("Application/FTP")
    (True, False)
    """
    return kind == "Application/Telnet" or (
        kind.removeprefix("Application/").startswith("Traffic/")
        and kind.endswith(("/CBR", "/Exponential", "/Pareto", "/Expoo"))
    )


def supply(of: Recording, app: str, payload: float, way: Way, named: Named) -> Table:
    """Return the keys of a flow that stand for an application over TCP; none for one that is greedy."""
    own, kind, place = of.settings(app), of.kind(app), of.place(app)
    if kind == "Application/Telnet":
        interval = seconds(own["interval_"])
        if interval == 0:
            named.add(place, "interval_ 0 of Application/Telnet, which are times of tcplib: a mean of 1 s is taken")
        named.add(place, f"{kind} over TCP: {WAITS}")
        return _page(payload, {"exponential": time(interval or 1.0)})
    message, speed = float(own["packetSize_"]), bits(own["rate_"])
    number = math.ceil(message / payload)
    gap = 8 * message / speed
    if kind.endswith("/CBR"):
        if number * way.packet_bits / gap >= way.rate_bps:
            named.add(place, f"{kind} over TCP is faster than its way: here it always has data to send")
            return {}
        named.add(place, f"{kind} over TCP: {WAITS}")
        # So many that the round trip is a part of the time that they take.
        together = max(1, math.ceil(2 * way.round_trip_s / gap))
        return _page(together * number * payload, time(max(0.0, together * gap - way.round_trip_s)))
    named.add(place, f"{kind} over TCP: a burst is a number of packets that is drawn, and {WAITS}")
    own.without_effect("shape_")
    burst = max(1.0, seconds(own["burst_time_"]) / gap) * number * payload
    return _page({"exponential": size(round(burst))}, {"exponential": time(seconds(own["idle_time_"]))})


def _page(length: float | Table, think: str | Table) -> Table:
    amount = length if isinstance(length, dict) else size(length)
    return {"web": {"objects": MOST_OBJECTS, "size": amount, "connections": 1, "think": think}}
