"""Sections 7.2, 9.1 and 9.2: bursts, a mix of applications, and traffic in both directions."""

from __future__ import annotations

from aqmlab.rfc7928 import network, traffic
from aqmlab.rfc7928.case import Case, Effort, on_dumbbell
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.stability import WARM_UP_S, levels
from aqmlab.rfc7928.traffic import Group, tcp

BURSTS = {"I": (0, 0), "II": (0, 1), "III": (1, 0), "IV": (1, 1)}
"""Figure 2: whether there is video, and whether there is bulk TCP; web and CBR are in all."""
VIDEO_BPS, FRAMES_A_SECOND = 3e6, 25.0
CBR_BPS, CBR_BYTES = 1e6, 500
PAGE_EVERY_S = 10.0
"""Pages are asked for so far apart: the one before is done by then (the report says how many were)."""
PAGES, BULK = 6, 5
"""Web pages and bulk flows of the mix in section 9.1."""
ASYMMETRIC_BPS = 2e6
"""Rate from B to A where the bottleneck is asymmetric (section 3.1): a fifth of that from A to B."""


def cases(effort: Effort, settings: Settings) -> list[Case]:
    """List the scenarios of sections 7.2, 9.1 and 9.2."""
    both_ways = [
        _both_ways(f"{shape}, {'both' if both else 'one'}", rate, effort, settings, both=both)
        for shape, rate in (("symmetric", network.CAPACITY_BPS), ("asymmetric", ASYMMETRIC_BPS))
        for both in (False, True)
    ]
    return [*(_bursts(case, effort, settings) for case in BURSTS), _mix(effort, settings), *both_ways]


def _bursts(case: str, effort: Effort, settings: Settings) -> Case:
    """Section 7.2: one web page after the other, CBR, and what else the case has."""
    video, bulk = BURSTS[case]
    pages = [WARM_UP_S + index * PAGE_EVERY_S for index in range(int(effort.measured_s / PAGE_EVERY_S))]
    groups: list[Group] = [
        traffic.web("web", "web, IW 10", starts_s=pages),
        traffic.udp("cbr", "CBR", rate_bps=CBR_BPS, packet_bytes=CBR_BYTES),
    ]
    if video:
        groups.append(traffic.frames("video", "video frames", mean_bps=VIDEO_BPS, a_second=FRAMES_A_SECOND))
    if bulk:
        groups.append(tcp("bulk", "bulk"))
    names = ["web", "CBR", *(["video"] if video else []), *(["bulk TCP"] if bulk else [])]
    return on_dumbbell(
        "7.2",
        case,
        f"case {case}: {', '.join(names)}",
        settings,
        groups,
        seeds=effort.seeds,
        begin_s=WARM_UP_S,
        measured_s=effort.measured_s,
        needs="web pages",
    )


def _mix(effort: Effort, settings: Settings) -> Case:
    """Section 9.1: one call, six pages, one CBR, one adaptive video, five bulk flows."""
    pages = [WARM_UP_S + index * effort.measured_s / PAGES for index in range(PAGES)]
    groups = [
        traffic.call("call", "VoIP"),
        traffic.web("web", "web, IW 10", starts_s=pages),
        traffic.udp("cbr", "CBR", rate_bps=CBR_BPS, packet_bytes=CBR_BYTES),
        traffic.adaptive_video("video", "adaptive video"),
        tcp("bulk", "bulk", count=BULK),
    ]
    return on_dumbbell(
        "9.1",
        "",
        f"one call, {PAGES} web pages, CBR, adaptive video, {BULK} bulk flows",
        settings,
        groups,
        seeds=effort.seeds,
        begin_s=WARM_UP_S,
        measured_s=effort.measured_s,
        needs="applications",
    )


def _both_ways(key: str, reverse_bps: float, effort: Effort, settings: Settings, *, both: bool) -> Case:
    """Section 9.2: mild congestion in either direction; each direction's flows follow from its own S."""
    down = levels()["mild"]
    bdp = network.bdp_packets(network.CAPACITY_BPS, network.RTT_S)
    up = levels(reverse_bps, bdp)["mild"]
    groups = [
        tcp("down", "A to B", count=down),
        tcp("up", "B to A", count=up, forward=False),
    ]
    where = "in both directions" if both else "from A to B only"
    return on_dumbbell(
        "9.2",
        key,
        f"{key.split(',')[0]} bottleneck, discipline {where}; {down} flows down, {up} up",
        settings,
        groups,
        seeds=effort.seeds,
        begin_s=WARM_UP_S,
        measured_s=effort.measured_s,
        reverse_bps=reverse_bps,
        both=both,
    )
