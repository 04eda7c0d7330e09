"""One look at a running link: queue, average, probabilities, counts, and how well the link keeps time.

A link process writes a snapshot as a line of JSON, up to 100 a second. All counts are since the start, so that a
reader that misses lines misses no packet. Unknown keys are passed over: a newer link may say more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.live.telemetry.fields import Fields, SnapshotError

__all__ = ["ClassCounts", "Counters", "Direction", "FlowCounts", "Lateness", "Plane", "Snapshot", "SnapshotError"]


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of a link since the start, in packets, or in bytes where the name ends so.

    Arriving packets are dropped, lost on the wire, queued, or depart. Drops and marks are counted by the class of their
    reason: *early* to signal congestion, *forced* because every such packet is rejected (RED: the average is beyond the
    curve), *overflow* because there is no room.
    """

    arrivals: int
    arrived_bytes: int
    departures: int
    departed_bytes: int
    drops_early: int
    drops_forced: int
    drops_overflow: int
    marks_early: int
    marks_forced: int
    lost: int

    @property
    def drops(self) -> int:
        """Packets that the queue discipline dropped."""
        return self.drops_early + self.drops_forced + self.drops_overflow

    @property
    def marks(self) -> int:
        """Packets that it marked."""
        return self.marks_early + self.marks_forced


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Packets of one DiffServ code point."""

    dscp: int
    arrivals: int
    drops: int
    marks: int
    departed_bytes: int


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """Packets of one flow, with its group and its addresses as a label."""

    flow: int
    group: str
    label: str
    arrivals: int
    drops: int
    marks: int
    departed_bytes: int


@dataclass(frozen=True, slots=True)
class Direction:
    """A link in one direction.

    Attributes
    ----------
    name, link, aqm
        ``forward`` or ``reverse``, the scenario's link, and its discipline.
    rate_bps
        Rate in bit/s at present; None for a link without a rate.
    backlog_packets, backlog_bytes
        Packets and bytes in the queue.
    average
        RED's average in packets; None for disciplines without one.
    p_b
        Probability of the curve at that average; None for disciplines without one.
    gauges
        All other gauges of the discipline by name: ``p_a`` and ``count`` of RED, ``p`` of PIE, ``delay`` of CoDel.
    quantities
        Quantities of `aqmlab.results.quantities` over the measured time so far, by key.
    delay_mean_s
        Mean time in the queue since the last snapshot in s; None if no packet departed.
    """

    name: str
    link: str
    aqm: str
    rate_bps: float | None
    backlog_packets: int
    backlog_bytes: int
    average: float | None
    p_b: float | None
    gauges: Mapping[str, float]
    counters: Counters
    quantities: Mapping[str, float]
    delay_mean_s: float | None
    classes: tuple[ClassCounts, ...]
    flows: tuple[FlowCounts, ...]


@dataclass(frozen=True, slots=True)
class Lateness:
    """How much later than planned packets left, in us: number of departures, quantiles and the most."""

    n: int
    p50: float | None
    p99: float | None
    p999: float | None
    max: float | None


@dataclass(frozen=True, slots=True)
class Plane:
    """The data plane itself.

    Attributes
    ----------
    malformed
        Packets that could not be read, by reason.
    tun_dropped
        Packets that a TUN device dropped before the link saw them, by side.
    lateness
        Of departures.
    stalls
        Departures more than 10 ms late.
    idle_share
        Share of time in which the link thread slept.
    packets_in, packets_out, held
        Packets read, written, and kept at present.
    """

    malformed: Mapping[str, int]
    tun_dropped: Mapping[str, int]
    lateness: Lateness
    stalls: int
    idle_share: float | None
    packets_in: int
    packets_out: int
    held: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A link process at `t` seconds since its start: each direction, and the data plane."""

    t: float
    directions: tuple[Direction, ...]
    plane: Plane

    @classmethod
    def from_line(cls, line: str) -> Snapshot:
        """Read a line.

        Raises
        ------
        SnapshotError
            If it is no JSON object, or something is missing or of another kind; the text says what.
        """
        try:
            data = json.loads(line)
        except ValueError as error:
            raise SnapshotError(f"snapshot: is no JSON ({error})") from None
        if not isinstance(data, dict):
            raise SnapshotError("snapshot: is no JSON object")
        return cls.from_json(data)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], place: str = "snapshot") -> Snapshot:
        """Build a snapshot from a JSON object; `place` is used in messages."""
        fields = Fields(data, place)
        directions = tuple(_direction(part) for part in fields.parts("directions"))
        return cls(t=fields.number("t"), directions=directions, plane=_plane(fields.part("plane")))


def _direction(fields: Fields) -> Direction:
    backlog = fields.part("backlog")
    return fields.made(
        Direction,
        backlog_packets=backlog.count("packets"),
        backlog_bytes=backlog.count("bytes"),
        counters=fields.part("counters").made(Counters),
        classes=tuple(part.made(ClassCounts) for part in fields.parts("classes", required=False)),
        flows=tuple(part.made(FlowCounts) for part in fields.parts("flows", required=False)),
    )


def _plane(fields: Fields) -> Plane:
    return fields.made(
        Plane,
        lateness=fields.part("lateness_us").made(Lateness),
        packets_in=fields.count("in"),
        packets_out=fields.count("out"),
    )
