"""The outcome of a run over Linux, in the tables of all runs.

tc counts packets that left, drops and marks since the qdisc was made; a run's counts are differences over the time
after the warm-up. What is not counted is NaN: RED's early and forced drops are one count in tc (here under early),
and tc has no average. The mean queue is tc's backlog, sampled ten times a second, without the packet in service: below
a token bucket that packet still waits in the queue. The mean delay follows from it and the departures by Little's law.
Pings are a sparse flow, which disciplines with a queue for each flow serve first: what they wait is reported as such,
and is not the queue's delay.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import fmean
from typing import Any

import pyarrow as pa

from aqmlab.errors import InputError
from aqmlab.live.plan import FlowGroup
from aqmlab.live.tables import flows_table, to_arrow, with_headers
from aqmlab.live.tc.failure import read_record
from aqmlab.live.tc.iperf import FlowCounts, flow_counts, sent_s
from aqmlab.live.tc.job import ETHERNET
from aqmlab.live.tc.setting import IP_AND_UDP, Setting

LATE_S = 2.0
"""Flows that begin that much later than they should, mostly since their first packets were lost: their goodput is that
over all the time in which they should have sent."""
ECHO = 84
"""Bytes of an echo request's IP packet."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Count:
    """Counts of a bottleneck at a time, or between two times; bytes are those of IP packets.

    `early` has RED's forced drops in it with tc as bottleneck; `average` and `p_b` are known in user space alone.
    """

    t_s: float
    departures: int
    departed_bytes: int
    drops: int
    early: int
    marks: int
    packets: int
    bytes: int
    average: float = math.nan
    p_b: float = math.nan

    @property
    def arrivals(self) -> int:
        """Packets that came."""
        return self.departures + self.drops + self.packets

    def since(self, earlier: Count) -> Count:
        """Return the counts since an earlier time; `packets` and `bytes` are the growth of the queue."""
        names = ("t_s", "departures", "departed_bytes", "drops", "early", "marks", "packets", "bytes")
        return Count(*(getattr(self, name) - getattr(earlier, name) for name in names))


@dataclass(frozen=True)
class Sample:
    """A queue's length at a time; bytes are those of IP packets. `average` and `p_b` are known in user space alone."""

    t_s: float
    packets: int
    bytes: int
    average: float = math.nan
    p_b: float = math.nan


@dataclass(frozen=True)
class PeerRun:
    """A finished run over Linux.

    Attributes
    ----------
    setting
        The scenario as tc and iperf3 ran it.
    lines
        The job's report, as it came.
    system
        Versions: kernel, and those of the emulator and its image if there is one.
    ping_interval_s
        Echo requests were sent that often.
    """

    setting: Setting
    lines: tuple[str, ...]
    system: dict[str, str]
    ping_interval_s: float

    @property
    def digest(self) -> str:
        """SHA-256 of the job's report: equal for equal runs in virtual time."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The lines, read."""
        return tuple(read_record(line) for line in self.lines)

    def of_kind(self, kind: str) -> list[Record]:
        """Return the records of a kind, in order."""
        return [record for record in self.records if record["kind"] == kind]

    def packed(self, kind: str) -> bytes:
        """Return the data that the job reported in parts, packed by gzip, in base64; empty without such parts."""
        return unpacked(record["data"] for record in self.of_kind(kind))

    @cached_property
    def samples(self) -> list[Sample]:
        """The bottleneck's queue, in order of time: ten samples a second, or the counts of each second."""
        found = [_sampled(line) for line in self.packed("backlog").decode().splitlines()]
        counts = [Sample(one.t_s, one.packets, one.bytes, one.average, one.p_b) for one in self.counts]
        return [one for one in found if one.t_s <= self.setting.duration_s] or counts

    @cached_property
    def pings(self) -> list[tuple[float, float]]:
        """Time and round trip of every ping that came back, in s."""
        return [(ping["seq"] * self.ping_interval_s, ping["rtt_ms"] / 1e3) for ping in self.of_kind("ping")]

    @property
    def discipline(self) -> Record:
        """The report of tc on the bottleneck's discipline at the start: ``kind``, ``options`` and statistics."""
        return _discipline(self.of_kind("qdisc")[0])

    @cached_property
    def counts(self) -> list[Count]:
        """The bottleneck's counts since it was made, about once a second from the start to the end."""
        told = [_of_tc(record) for record in self.of_kind("qdisc")]
        snapshots = [record["data"] for record in self.of_kind("link") if "t" in record["data"]]
        if snapshots:
            told = [Count(0.0, 0, 0, 0, 0, 0, 0, 0), *(_of_link(one, self.setting.plan.link) for one in snapshots)]
        end = min(told, key=lambda count: abs(count.t_s - self.setting.duration_s))
        return told[: told.index(end) + 1]

    @property
    def longest_gap_s(self) -> float:
        """Longest time between two looks at tc's counters, of which there is one a second; 0 without them."""
        looks = [record["ms"] / 1e3 for record in self.of_kind("qdisc")]
        return max((later - earlier for earlier, later in pairwise(looks)), default=0.0)

    def counted(self, from_s: float = 0.0) -> Count:
        """Return the bottleneck's counts from a time of the run to its end."""
        return self.counts[-1].since(min(self.counts, key=lambda count: abs(count.t_s - from_s)))

    def mean_backlog(self) -> float:
        """Mean of the packets in the queue after the warm-up, as tc counts them: the one in service is among them."""
        return fmean([float(one.packets) for one in self._measured] or [math.nan])

    def mean_queue(self) -> tuple[float, float]:
        """Mean of the packets and bytes that wait after the warm-up, the packet in service not counted."""
        in_service = 1 if self.of_kind("qdisc") else 0
        packets = [float(max(one.packets - in_service, 0)) for one in self._measured] or [math.nan]
        waiting = [one.bytes * (1 - in_service / one.packets) for one in self._measured if one.packets]
        return fmean(packets), sum(waiting) / len(packets)

    @property
    def _measured(self) -> list[Sample]:
        return [one for one in self.samples if one.t_s >= self.setting.warmup_s]

    def sparse_flow_wait_s(self) -> float:
        """Mean time that pings, a sparse flow, waited in the bottleneck after the warm-up; NaN without pings."""
        round_trips = [rtt for t, rtt in self.pings if t >= self.setting.warmup_s]
        if not round_trips:
            return math.nan
        own = (ECHO + ETHERNET) * 8 / self.setting.rate_bps
        return sum(round_trips) / len(round_trips) - self.setting.groups[0].delay_s - own

    @property
    def tables(self) -> dict[str, pa.Table]:
        """Tables ``links``, ``flows`` and ``queue_samples``, with the run's seed as first column."""
        seed = self.setting.plan.seed
        samples: dict[str, list[Any]] = {
            "t_s": [one.t_s for one in self.samples],
            "link": [self.setting.plan.link] * len(self.samples),
            "queue_packets": [one.packets for one in self.samples],
            "queue_bytes": [one.bytes for one in self.samples],
            "average": [one.average for one in self.samples],
            "p_b": [one.p_b for one in self.samples],
        }
        tins = tins_of(self)
        return {
            "links": to_arrow(links_of(self), seed=seed),
            **({"tins": to_arrow(tins, seed=seed)} if tins["tin"] else {}),
            "flows": flows_of(self),
            "queue_samples": to_arrow(samples, seed=seed),
        }


def unpacked(parts: Iterable[str]) -> bytes:
    """Return a file that a job reported in parts, packed by gzip, in base64; nothing if there are no parts."""
    packed = base64.b64decode("".join(parts))
    return gzip.decompress(packed) if packed else b""


def links_of(run: PeerRun) -> dict[str, list[Any]]:
    """Return the bottleneck's row of the table ``links``."""
    setting = run.setting
    count, (queue, queue_bytes) = run.counted(setting.warmup_s), run.mean_queue()
    row = {
        "link": setting.plan.link,
        "aqm": setting.qdisc.kind,
        "arrivals": count.arrivals,
        "arrived_bytes": math.nan,
        "departures": count.departures,
        "departed_bytes": count.departed_bytes,
        "drops_early": count.early,
        "drops_forced": math.nan,
        "drops_overflow": count.drops - count.early,
        "drops": count.drops,
        "marks_early": math.nan,
        "marks": count.marks,
        "mean_queue": queue,
        "mean_queue_bytes": queue_bytes,
        "mean_average": math.nan,
        "sd_average": math.nan,
        "max_queue": max(one.packets for one in run.samples),
        "mean_delay_s": queue * count.t_s / count.departures if count.departures else math.nan,
        "utilization": (count.departed_bytes + ETHERNET * count.departures) * 8 / count.t_s / setting.rate_bps,
        "throughput_bps": count.departed_bytes * 8 / count.t_s,
        "packets_at_end": run.counts[-1].packets,
        "capacity_bps": setting.rate_bps,
    }
    return {name: [value] for name, value in row.items()}


TINS = {
    "threshold_bps": ("threshold_rate", 8.0),
    "target_s": ("target_us", 1e-6),
    "interval_s": ("interval_us", 1e-6),
    "peak_delay_s": ("peak_delay_us", 1e-6),
    "average_delay_s": ("avg_delay_us", 1e-6),
    "sparse_delay_s": ("base_delay_us", 1e-6),
    "backlog_bytes": ("backlog_bytes", 1),
    "packets": ("sent_packets", 1),
    "bytes": ("sent_bytes", 1),
    "indirect_hits": ("way_indirect_hits", 1),
    "way_misses": ("way_misses", 1),
    "way_collisions": ("way_collisions", 1),
    "drops": ("drops", 1),
    "marks": ("ecn_mark", 1),
    "ack_drops": ("ack_drops", 1),
    "sparse_flows": ("sparse_flows", 1),
    "bulk_flows": ("bulk_flows", 1),
    "unresponsive_flows": ("unresponsive_flows", 1),
    "longest_packet": ("max_pkt_len", 1),
    "quantum": ("flow_quantum", 1),
}
"""Column of the table ``tins``: its name in tc's JSON, and the factor to our unit."""
COUNTED = ("packets", "bytes", "indirect_hits", "way_misses", "way_collisions", "drops", "marks", "ack_drops")
"""Columns that count from the warm-up on."""
NAMES = {1: ("best-effort",), 3: ("bulk", "best-effort", "voice"), 4: ("bulk", "best-effort", "video", "voice")}
"""Tins in tc's order, by their number."""


def tins_of(run: PeerRun) -> dict[str, list[Any]]:
    """Return the table ``tins`` of Linux's cake, without rows for another discipline; frames have Ethernet's header."""
    looks = [(record["ms"] / 1e3, _discipline(record).get("tins", ())) for record in run.of_kind("qdisc")]
    if not looks or not looks[0][1]:
        return {"link": [], "tin": [], **{column: [] for column in TINS}}
    before, after = (
        min(looks, key=lambda look: abs(look[0] - at))[1] for at in (run.setting.warmup_s, run.setting.duration_s)
    )
    names = NAMES.get(len(after), tuple(f"tin-{place}" for place in range(len(after))))
    found: dict[str, list[Any]] = {"link": [run.setting.plan.link] * len(after), "tin": list(names)}
    for column, (word, factor) in TINS.items():
        earlier = [tin[word] if column in COUNTED else 0 for tin in before]
        found[column] = [(tin[word] - start) * factor for tin, start in zip(after, earlier, strict=True)]
    return found


def _discipline(record: Record) -> Record:
    """Return what ``tc -j -s`` says of the bottleneck's discipline, the one with the handle 10."""
    found: Record | None = next((qdisc for qdisc in record["data"] if qdisc.get("handle") == "10:"), None)
    if found is None:
        raise InputError("tc reports no statistics of the bottleneck's discipline")
    return found


def _sampled(line: str) -> Sample:
    """Read a sample of tc's backlog: the time in ms, and what tc reports."""
    ms, _, told = line.partition(" ")
    found = _discipline({"data": read_record(told)})
    return Sample(int(ms) / 1e3, found["qlen"], found["backlog"] - ETHERNET * found["qlen"])


def _of_tc(record: Record) -> Count:
    """Read the counts of the bottleneck's discipline."""
    found = _discipline(record)
    return Count(
        t_s=record["ms"] / 1e3,
        departures=found["packets"],
        departed_bytes=found["bytes"] - ETHERNET * found["packets"],
        drops=found["drops"],
        early=found.get("early", 0),
        marks=found.get("marked", found.get("ecn_mark", sum(tin["ecn_mark"] for tin in found.get("tins", ())))),
        packets=found["qlen"],
        bytes=found["backlog"] - ETHERNET * found["qlen"],
    )


def _of_link(snapshot: Record, link: str) -> Count:
    """Read a snapshot of the bottleneck in user space."""
    own = next(side for side in snapshot["directions"] if side["link"] == link)
    counters = own["counters"]
    early, forced = counters["drops_early"], counters["drops_forced"]
    return Count(
        t_s=snapshot["t"],
        departures=counters["departures"],
        departed_bytes=counters["departed_bytes"] - ETHERNET * counters["departures"],
        drops=early + forced + counters["drops_overflow"],
        early=early + forced,
        marks=counters["marks_early"] + counters["marks_forced"],
        packets=own["backlog"]["packets"],
        bytes=own["backlog"]["bytes"] - ETHERNET * own["backlog"]["packets"],
        average=math.nan if own["average"] is None else own["average"],
        p_b=math.nan if own["p_b"] is None else own["p_b"],
    )


def flows_of(run: PeerRun) -> pa.Table:
    """Return the table ``flows``, from the reports of the programs at both ends."""
    setting = run.setting
    groups = {group.number: group for group in setting.plan.groups}
    reports = [record["data"] for record in run.of_kind("client")]
    rows: dict[str, dict[str, Any]] = {}
    ended = {record["data"]["client"]: record["data"]["ms"] / 1e3 for record in run.of_kind("ended")}
    for at, (client, report) in enumerate(zip(setting.clients, reports, strict=True)):
        # Connections take a while, above all if their first packets are lost.
        began = max(ended[at] - sent_s(report) if at in ended else 0.0, client.start_s)
        late = began - client.start_s > LATE_S
        over_s = max(client.stop_s - max(setting.warmup_s, client.start_s), 0.0) if late else None
        after, until = max(setting.warmup_s - began, 0.0), client.stop_s - began
        found = flow_counts(report, flows=len(client.names), after_s=after, until_s=until, over_s=over_s)
        for name, counts in zip(client.names, found, strict=True):
            rows[name] = _flow(groups[client.group], counts)
    return flows_table(setting.plan, sources={}, sinks={}, drops={}, others=rows)


def _flow(group: FlowGroup, counts: FlowCounts) -> dict[str, Any]:
    if group.is_udp:
        size = int(group.parameters["packet_size"])
        whole = size / (size - IP_AND_UDP)
    else:
        whole = with_headers(group, "ipv4")
    packet = group.payload_bytes("ipv4") if not group.is_udp else 1
    return {
        "sent": counts.sent if group.is_udp else round(counts.sent_bytes / packet) + counts.retransmissions,
        "sent_bytes": round(counts.sent_bytes * whole),
        "retransmissions": counts.retransmissions,
        "received": counts.received if group.is_udp else round(counts.received_bytes / packet),
        "goodput_bytes": round(counts.received_bytes * whole),
        "goodput_bps": counts.received_bps * whole,
        "timeouts": math.nan,
        "fast_retransmits": math.nan,
        "drops": counts.lost if group.is_udp else math.nan,
        "mean_rtt_s": counts.mean_rtt_s,
    }
