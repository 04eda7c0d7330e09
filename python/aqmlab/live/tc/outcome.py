"""What came of a run over Linux, in the tables of all runs.

tc counts packets that left, drops and marks since the qdisc was made; a run's counts are differences over the time after
the warm-up. What is not counted is NaN: RED's early and forced drops are one count in tc (here under early), queue and
average are not averaged. The mean delay is that of echoes: their round trip without the links' delay and their own
transmission; the mean queue follows from it by Little's law.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from aqmlab.errors import InputError
from aqmlab.live.plan import FlowGroup
from aqmlab.live.tables import flows_table, to_arrow, with_headers
from aqmlab.live.tc.iperf import FlowCounts, flow_counts
from aqmlab.live.tc.setting import IP_AND_UDP, Setting

ETHERNET = 14
"""Bytes of header that tc counts with every packet."""
ECHO = 84
"""Bytes of an echo request's IP packet."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class PeerRun:
    """A finished run over Linux.

    Attributes
    ----------
    setting
        What was done.
    lines
        What the job told, as it came.
    system
        Versions: kernel, and of a laboratory its emulator and image.
    ping_interval_s
        Echo requests were sent that often.
    """

    setting: Setting
    lines: tuple[str, ...]
    records: tuple[Record, ...]
    system: dict[str, str]
    ping_interval_s: float

    @property
    def digest(self) -> str:
        """SHA-256 of all that the job told: equal for equal runs in virtual time."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()

    def of_kind(self, kind: str) -> list[Record]:
        """Return the records of a kind, in order."""
        return [record for record in self.records if record["kind"] == kind]

    @cached_property
    def echoes(self) -> list[tuple[float, float]]:
        """Time and round trip of every echo that came back, in s."""
        return [(echo["seq"] * self.ping_interval_s, echo["rtt_ms"] / 1e3) for echo in self.of_kind("ping")]

    @cached_property
    def counters(self) -> list[tuple[float, dict[str, Any]]]:
        """What tc said of the bottleneck's discipline, with the time in s."""
        return [(record["ms"] / 1e3, discipline(record["data"])) for record in self.of_kind("qdisc")]

    @property
    def outcome(self) -> dict[str, Any] | None:
        """What the bottleneck in user space said at its end; None with tc as bottleneck."""
        return next((line["data"]["outcome"] for line in self.of_kind("link") if "outcome" in line["data"]), None)

    def mean_wait_s(self) -> float:
        """Mean time that echoes waited in the bottleneck after the warm-up; NaN without echoes."""
        waits = [rtt for t, rtt in self.echoes if t >= self.setting.warmup_s]
        if not waits:
            return math.nan
        own = (ECHO + ETHERNET) * 8 / self.setting.rate_bps
        return sum(waits) / len(waits) - self.setting.groups[0].delay_s - own

    @property
    def tables(self) -> dict[str, pa.Table]:
        """Tables ``links``, ``flows`` and ``queue_samples``, with the run's seed as first column."""
        seed = self.setting.plan.seed
        own = {"flows": flows_of(self)}
        if self.outcome is not None:
            told = {k: v for k, v in self.outcome["tables"].items() if k != "flows" and any(v.values())}
            return {**{name: to_arrow(columns, seed=seed) for name, columns in told.items()}, **own}
        samples = {
            "t_s": [t for t, _ in self.counters],
            "link": [self.setting.plan.link] * len(self.counters),
            "queue_packets": [int(of["qlen"]) for _, of in self.counters],
            "queue_bytes": [int(of["backlog"]) for _, of in self.counters],
            "average": [math.nan] * len(self.counters),
            "p_b": [math.nan] * len(self.counters),
        }
        return {"links": to_arrow(links_of(self), seed=seed), **own, "queue_samples": to_arrow(samples, seed=seed)}


def discipline(qdiscs: Sequence[Record]) -> dict[str, Any]:
    """Find the bottleneck's discipline in what ``tc -j -s`` says: the one with the handle 10."""
    for qdisc in qdiscs:
        if qdisc.get("handle") == "10:":
            return dict(qdisc)
    raise InputError("tc does not tell of the bottleneck's discipline")


def counted(run: PeerRun) -> tuple[dict[str, float], dict[str, Any]]:
    """Return what tc counted from the warm-up to the end, and what it said at the end."""
    first = next(of for t, of in run.counters if t >= run.setting.warmup_s - 1e-3)
    last = run.counters[-1][1]
    names = ("packets", "bytes", "drops", "early", "marked", "qlen", "backlog")
    return {name: float(last.get(name, 0)) - float(first.get(name, 0)) for name in names}, last


def links_of(run: PeerRun) -> dict[str, list[Any]]:
    """Return the bottleneck's row of the table ``links``."""
    setting, (count, last) = run.setting, counted(run)
    span_s = setting.duration_s - setting.warmup_s
    arrivals = count["packets"] + count["drops"] + count["qlen"]
    departed = count["bytes"] - ETHERNET * count["packets"]
    wait = run.mean_wait_s()
    link = setting.plan.scenario.link(setting.plan.link)
    row = {
        "link": link.name,
        "aqm": setting.qdisc.kind,
        "arrivals": int(arrivals),
        "departures": int(count["packets"]),
        "departed_bytes": int(departed),
        "drops_early": int(count["early"]),
        "drops_forced": math.nan,
        "drops_overflow": int(count["drops"] - count["early"]),
        "drops": int(count["drops"]),
        "marks_early": math.nan,
        "marks": int(count["marked"]),
        "mean_queue": count["packets"] / span_s * wait,
        "mean_queue_bytes": departed / span_s * wait,
        "mean_average": math.nan,
        "sd_average": math.nan,
        "max_queue": max(int(of["qlen"]) for _, of in run.counters),
        "mean_delay_s": wait,
        "utilization": count["bytes"] * 8 / span_s / setting.rate_bps,
        "throughput_bps": departed * 8 / span_s,
        "packets_at_end": int(last["qlen"]),
    }
    return {name: [value] for name, value in row.items()}


def flows_of(run: PeerRun) -> pa.Table:
    """Return the table ``flows``, from what the programs at both ends say."""
    setting = run.setting
    groups = {group.number: group for group in setting.plan.groups}
    reports = [record["data"] for record in run.of_kind("client")]
    rows: dict[str, dict[str, Any]] = {}
    for client, report in zip(setting.clients, reports, strict=True):
        after = max(setting.warmup_s - client.start_s, 0.0)
        for name, counts in zip(client.names, flow_counts(report, after_s=after), strict=True):
            rows[name] = _flow(groups[client.group], counts, setting.duration_s - setting.warmup_s)
    return flows_table(setting.plan, sources={}, sinks={}, drops={}, others=rows)


def _flow(group: FlowGroup, counts: FlowCounts, span_s: float) -> dict[str, Any]:
    if group.is_udp:
        size = int(group.parameters["packet_size"])
        whole = size / (size - IP_AND_UDP)
    else:
        whole = with_headers(group, "ipv4")
    packet = group.payload_bytes("ipv4") if not group.is_udp else 1
    goodput = counts.received_bytes * whole
    return {
        "sent": counts.sent if group.is_udp else round(counts.sent_bytes / packet) + counts.retransmissions,
        "sent_bytes": round(counts.sent_bytes * whole),
        "retransmissions": counts.retransmissions,
        "received": counts.received if group.is_udp else round(counts.received_bytes / packet),
        "goodput_bytes": round(goodput),
        "goodput_bps": goodput * 8 / span_s,
        "timeouts": math.nan,
        "fast_retransmits": math.nan,
        "drops": counts.lost if group.is_udp else math.nan,
        "mean_rtt_s": counts.mean_rtt_s,
    }
