"""The metrics of RFC 7928, sections 2 and 4.2, each from the records of packets and flows."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aqmlab.results.quantities import ratio
from aqmlab.rfc7928.packets import Packets, encoded

K = 10
"""Goodput is sampled every K x minRTT (section 2.7)."""
DELAY_EDGES_MS = np.concatenate([[0.0], np.geomspace(0.01, 10_000.0, 121)])
"""Bins of distributions of delay: 20 a decade, so that a quantile is within 6 %."""
GOODPUT_EDGES = 1.25 * np.linspace(0.0, 1.0, 301) ** 2
"""Bins of distributions of goodput, as a share of the bottleneck's rate: finer where many flows share it."""
PDV_SHARES = (0.5, 0.95, 0.99, 0.999)


def loss(packets: Packets) -> dict[str, float]:
    """Loss and marks (section 2.3): long-term ratios, and the mean time between two losses in a row.

    Packets offered to the bottleneck and not dropped arrive: no other place loses packets.
    """
    gone = np.sort(packets.dropped_s[packets.dropped])
    return {
        "offered": float(len(packets.flow)),
        "lost": float(packets.dropped.sum()),
        "loss": ratio(float(packets.dropped.sum()), float(len(packets.flow))),
        "marks": ratio(float(len(packets.mark_flow)), float(len(packets.flow))),
        "gap_s": float(np.mean(np.diff(gone))) if len(gone) > 1 else math.nan,
    }


def delay(packets: Packets, *, one_way_ms: float, rate_bps: float) -> dict[str, float]:
    """Queueing delay, one-way latency, and delay variation (section 2.6), in ms, over every packet that left.

    Parameters
    ----------
    packets
        Of one group of flows, at the bottleneck.
    one_way_ms
        Propagation delay of the whole way.
    rate_bps
        Rate of the bottleneck, at which a packet is transmitted.

    Returns
    -------
    dict
        ``delay_ms``: mean time in the queue, which is the delay in excess of the minimum. ``latency_ms`` and
        ``latency_p95_ms``: from sender to receiver. ``pdv_p50_ms`` ... ``pdv_p99.9_ms``: quantiles of RFC 5481's PDV,
        a packet's one-way delay less the smallest of all.
    """
    waited = packets.waited_s
    left = ~np.isnan(waited)
    if not left.any():
        return {}
    waited = waited[left] * 1e3
    latency = one_way_ms + waited + packets.bytes[left] * 8 / rate_bps * 1e3
    spread = latency - latency.min()
    found = {
        "delay_ms": float(waited.mean()),
        "latency_ms": float(latency.mean()),
        "latency_p95_ms": float(np.quantile(latency, 0.95)),
    }
    quantiles = np.quantile(spread, PDV_SHARES)
    return found | {f"pdv_p{share * 100:g}_ms": float(one) for share, one in zip(PDV_SHARES, quantiles, strict=True)}


def histogram(values: np.ndarray, edges: np.ndarray) -> list[int]:
    """Return the number of values per bin; values beyond the ends are counted in the first and the last bin."""
    found = values[~np.isnan(values)]
    return [int(n) for n in np.histogram(np.clip(found, edges[0], edges[-1]), edges)[0]]


def distribution(counts: Sequence[Sequence[int]], edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the cumulative distribution of several histograms together: upper ends of bins, and shares.

    >>> ends, share = distribution([[1, 0], [1, 2]], np.array([0.0, 1.0, 2.0]))
    >>> ends.tolist(), share.tolist()
    ([1.0, 2.0], [0.5, 1.0])
    """
    total = np.sum(np.asarray(counts, dtype=float), axis=0)
    whole = total.sum()
    return edges[1:], np.cumsum(total) / whole if whole else np.full(len(total), np.nan)


def synchronization(packets: Packets, *, flows: int, span_s: float) -> dict[str, float]:
    """Global synchronization ratio (section 2.4): which share of the flows loses packets in one loss event.

    A loss event begins with a loss that no earlier one covers and lasts `span_s`, a round trip: within that time flows
    cannot yet have answered. A mark counts as a loss, since a sender answers to it likewise.

    >>> none = np.array([])
    >>> lost = np.array([0.0, 0.05, 0.3])
    >>> found = Packets(np.array([0, 1, 1]), none, none, lost, lost * np.nan, lost == lost, lost, none, none)
    >>> synchronization(found, flows=2, span_s=0.1)
    {'loss_events': 2.0, 'synchronization': 0.75}
    """
    time = np.concatenate([packets.dropped_s[packets.dropped], packets.mark_s])
    flow = np.concatenate([packets.flow[packets.dropped], packets.mark_flow])
    order = np.argsort(time, kind="stable")
    times, lost = time[order].tolist(), flow[order].tolist()
    shares, at = [], 0
    while at < len(times):
        end = max(bisect_left(times, times[at] + span_s), at + 1)
        shares.append(len(set(lost[at:end])) / flows)
        at = end
    return {"loss_events": float(len(shares)), "synchronization": float(np.mean(shares)) if shares else math.nan}


@dataclass(frozen=True)
class Delivered:
    """Bytes of each flow that were delivered in order, by time; they count once.

    Attributes
    ----------
    times_s
        When samples were taken, in order.
    bytes
        A row a time, a column a flow; 0 where the flow has no sample.
    column
        The column of each flow.
    """

    times_s: np.ndarray
    bytes: np.ndarray
    column: Mapping[str, int]

    @classmethod
    def of(cls, samples: pa.Table) -> Delivered:
        """Read the table ``flow_samples`` of a run."""
        flow, names = encoded(samples["flow"])
        times, row = np.unique(samples["t_s"].to_numpy(), return_inverse=True)
        found = np.zeros((len(times), len(names)))
        found[row, flow] = samples["delivered_bytes"].to_numpy()
        return cls(times, found, {name: index for index, name in enumerate(names)})

    def goodput(self, flows: Sequence[str], *, begin_s: float, end_s: float = math.inf) -> np.ndarray:
        """Goodput of each flow in each interval between two samples (section 2.5), in Mb/s: a row an interval.

        Intervals that begin before `begin_s` or end after `end_s` are left out.
        """
        inside = (self.times_s >= begin_s - 1e-9) & (self.times_s <= end_s + 1e-9)
        times, rows = self.times_s[inside], self.bytes[inside]
        if len(times) < 2:
            return np.zeros((0, len(flows)))
        known = [index for index, name in enumerate(flows) if name in self.column]
        delivered = np.zeros((len(times), len(flows)))
        delivered[:, known] = rows[:, [self.column[flows[index]] for index in known]]
        found: np.ndarray = np.diff(delivered, axis=0) * 8e-6 / np.diff(times)[:, None]
        return found


def startup_times(packets: Packets, flows: np.ndarray, starts_s: np.ndarray, *, lead_s: np.ndarray) -> list[float]:
    """Flow start-up time (section 2.2): from the request of a connection to the first data, as they leave the server.

    Parameters
    ----------
    packets
        At the bottleneck.
    flows, starts_s
        Numbers of flows, and when each asked for its connection.
    lead_s
        For each the time from its server to the bottleneck.
    """
    first: dict[int, float] = {}
    data = packets.data
    for flow, at in zip(packets.flow[data].tolist(), packets.offered_s[data].tolist(), strict=True):
        first.setdefault(flow, at)
    return [
        first[flow] - start - lead
        for flow, start, lead in zip(flows.tolist(), starts_s.tolist(), lead_s.tolist(), strict=True)
        if flow in first
    ]


def congestion_avoidance_s(samples: pa.Table, flows: Sequence[str]) -> float:
    """When all flows have reached congestion avoidance: cwnd at or above a threshold that is known; nan if never.

    Parameters
    ----------
    samples
        The table ``cwnd_samples``.
    flows
        The flows that are waited for.

    >>> thresholds = [math.nan, math.nan, 5.0]
    >>> rows = pa.table({"t_s": [0.0, 1.0, 2.0], "flow": ["a"] * 3, "cwnd": [1.0, 4.0, 5.0], "ssthresh": thresholds})
    >>> congestion_avoidance_s(rows, ["a"]), congestion_avoidance_s(rows, ["a", "b"])
    (2.0, nan)
    """
    flow, names = encoded(samples["flow"])
    there = np.flatnonzero(samples["cwnd"].to_numpy() >= samples["ssthresh"].to_numpy())
    reached, first = np.unique(flow[there], return_index=True)
    times = samples["t_s"].to_numpy()[there[first]]
    at = {names[index]: float(time) for index, time in zip(reached, times, strict=True)}
    return max(at[name] for name in flows) if all(name in at for name in flows) else math.nan
