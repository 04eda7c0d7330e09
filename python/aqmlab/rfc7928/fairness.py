"""Sections 6.2, 4.5 and 4.4: two round trips, the same with ECN, and two sizes of packets."""

from __future__ import annotations

from aqmlab.rfc7928 import network
from aqmlab.rfc7928.case import Case, Effort, on_dumbbell
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.traffic import tcp

WARM_UP_S = 60.0
"""A flow of 560 ms needs so long to leave slow start and to recover from its end."""
LONGER = 3.0
"""These runs are longer than the others by that: with 560 ms a flow's sawtooth takes minutes."""
SMALL_BYTES = 500
"""The smaller packets of section 4.4."""


def cases(effort: Effort, settings: Settings) -> list[Case]:
    """List the scenarios of section 6.2, without and with ECN, and those of section 4.4."""
    found = [_two_round_trips(rtt, effort, settings, ecn=False) for rtt in effort.rtts_ms]
    if settings.marks:
        found += [_two_round_trips(rtt, effort, settings, ecn=True) for rtt in effort.rtts_ms]
    return [*found, _two_sizes(effort, settings)]


def _two_round_trips(rtt_ms: float, effort: Effort, settings: Settings, *, ecn: bool) -> Case:
    """One flow of each category; the buffer is that of the longest round trip, the same at all points."""
    groups = [
        tcp("one", "category I, 100 ms", ecn=ecn),
        tcp("two", "category II", rtt_s=rtt_ms / 1e3, ecn=ecn),
    ]
    return on_dumbbell(
        "4.5" if ecn else "6.2",
        f"{rtt_ms:g}ms",
        f"category II at {rtt_ms:g} ms{', with ECN' if ecn else ''}",
        settings,
        groups,
        seeds=effort.seeds,
        begin_s=WARM_UP_S,
        measured_s=LONGER * effort.measured_s,
        buffer=network.bdp_packets(network.CAPACITY_BPS, network.LONGEST_RTT_S),
        ecn=ecn,
        point=rtt_ms,
    )


def _two_sizes(effort: Effort, settings: Settings) -> Case:
    """Mild congestion, half of the flows with small packets."""
    bdp = network.bdp_packets(network.CAPACITY_BPS, network.RTT_S)
    count = network.flows_at("mild", 2 * bdp)
    groups = [
        tcp("small", f"packets of {SMALL_BYTES} B", count=count // 2, packet_bytes=SMALL_BYTES),
        tcp("large", f"packets of {network.PACKET_BYTES} B", count=count - count // 2),
    ]
    return on_dumbbell(
        "4.4",
        "",
        f"mild congestion, {count} flows, half of them with packets of {SMALL_BYTES} B",
        settings,
        groups,
        seeds=effort.seeds,
        measured_s=effort.measured_s,
    )
