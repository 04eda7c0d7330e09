"""iperf3's reports on a client's flows (its option -J), both ends, per flow.

The report has intervals of a second from the client's start; the server's has the same, without the sender's numbers.
Counts are those after the warm-up; of an interval that is partly inside, the share that is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError

SHUT_OUT = "unable to connect stream: Connection timed out"
"""A client's error when none of a TCP flow's first packets came through, sent again for two minutes: it got nothing."""
Shares = list[tuple[float, Mapping[str, Any]]]
"""Intervals of a flow, each with the share of it that is counted."""


@dataclass(frozen=True)
class FlowCounts:
    """One flow after the warm-up.

    Attributes
    ----------
    sent_bytes, received_bytes
        Payload.
    received_bps
        Payload over the receiver's own intervals, which end with the sender's: packets in the queue then are not
        counted. Of flows that began late over all the time in which they should have sent.
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


def flow_counts(
    report: Mapping[str, Any],
    *,
    flows: int = 1,
    after_s: float,
    until_s: float | None = None,
    over_s: float | None = None,
) -> list[FlowCounts]:
    """Read a report: one entry per flow, in the order of their connections.

    Parameters
    ----------
    report
        The client's, with the server's in it.
    flows
        How many it was to have.
    after_s
        End of the warm-up from the client's start.
    until_s
        End of its flows from the client's start, where the client goes on behind it.
    over_s
        Time over which the payload is a rate; that of the intervals if it is not given.
    """
    if report.get("error") == SHUT_OUT:
        return [FlowCounts(0, 0, 0.0, 0, 0, 0, 0, math.nan)] * flows
    if "error" in report:
        raise InputError(f"iperf3: {report['error']}")
    server = report.get("server_output_json", {})
    found = []
    for at in range(len(report["end"]["streams"])):
        sent, got = (_of(one, at, after_s, until_s) for one in (report, server))
        end = report["end"]["streams"][at].get("sender", {})
        found.append(
            FlowCounts(
                sent_bytes=_sum(sent, "bytes"),
                received_bytes=_sum(got, "bytes"),
                received_bps=_sum(got, "bytes") * 8 / (over_s or _length_s(got) or math.nan),
                sent=_sum(sent, "packets"),
                received=_sum(got, "packets") - _sum(got, "lost_packets"),
                lost=_sum(got, "lost_packets"),
                retransmissions=_sum(sent, "retransmits"),
                mean_rtt_s=end["mean_rtt"] / 1e6 if end.get("mean_rtt") else math.nan,
            )
        )
    return found


def sent_s(report: Mapping[str, Any]) -> float:
    """Return how long a client has sent; 0 if it never did."""
    intervals = report.get("intervals") or ()
    return max((float(one["end"]) for one in intervals[-1]["streams"]), default=0.0) if intervals else 0.0


def _of(report: Mapping[str, Any], flow: int, after_s: float, until_s: float | None) -> Shares:
    """Return a flow's intervals, each with the share of it that lies between two times."""
    streams = [interval["streams"] for interval in report.get("intervals", ())]
    own = [intervals[flow] for intervals in streams if flow < len(intervals)]
    last = math.inf if until_s is None else until_s
    inside = [min(one["end"], last) - max(one["start"], after_s) for one in own]
    return [(length / (one["end"] - one["start"]), one) for length, one in zip(inside, own, strict=True) if length > 0]


def _sum(intervals: Shares, key: str) -> int:
    return round(sum(share * int(interval.get(key, 0)) for share, interval in intervals))


def _length_s(intervals: Shares) -> float:
    return sum(share * float(interval["seconds"]) for share, interval in intervals)
