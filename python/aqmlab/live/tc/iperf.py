"""What iperf3 says of a client's flows (its option -J), both ends, per flow.

Its report has intervals of a second from the client's start; the server's has the same, without the sender's numbers.
Counts are those of intervals that begin after the warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError

SLACK_S = 0.05
"""Intervals begin that much before or after their second."""


@dataclass(frozen=True)
class FlowCounts:
    """One flow after the warm-up.

    Attributes
    ----------
    sent_bytes, received_bytes
        Payload.
    received_bps
        Payload over the receiver's own intervals: its last one goes on until the queue is empty.
    sent, received, lost
        Datagrams; 0 for TCP.
    retransmissions
        Segments.
    mean_rtt_s
        Mean of the smoothed round trip over the whole flow; NaN for UDP.
    """

    sent_bytes: int
    received_bytes: int
    received_bps: float
    sent: int
    received: int
    lost: int
    retransmissions: int
    mean_rtt_s: float


def flow_counts(report: Mapping[str, Any], *, after_s: float) -> list[FlowCounts]:
    """Read a report: one entry per flow, in the order of their connections.

    Parameters
    ----------
    report
        The client's, with the server's in it.
    after_s
        End of the warm-up from the client's start.
    """
    if "error" in report:
        raise InputError(f"iperf3: {report['error']}")
    server = report.get("server_output_json", {})
    flows = len(report["end"]["streams"])
    found = []
    for at in range(flows):
        sent, got = _of(report, at, after_s), _of(server, at, after_s)
        end = report["end"]["streams"][at].get("sender", {})
        found.append(
            FlowCounts(
                sent_bytes=_sum(sent, "bytes"),
                received_bytes=_sum(got, "bytes"),
                received_bps=_sum(got, "bytes") * 8 / (sum(float(one["seconds"]) for one in got) or math.nan),
                sent=_sum(sent, "packets"),
                received=_sum(got, "packets") - _sum(got, "lost_packets"),
                lost=_sum(got, "lost_packets"),
                retransmissions=_sum(sent, "retransmits"),
                mean_rtt_s=end["mean_rtt"] / 1e6 if end.get("mean_rtt") else math.nan,
            )
        )
    return found


def _of(report: Mapping[str, Any], flow: int, after_s: float) -> list[Mapping[str, Any]]:
    streams = [interval["streams"] for interval in report.get("intervals", ())]
    return [own[flow] for own in streams if flow < len(own) and own[flow]["start"] > after_s - SLACK_S]


def _sum(intervals: list[Mapping[str, Any]], key: str) -> int:
    return sum(int(interval.get(key, 0)) for interval in intervals)
