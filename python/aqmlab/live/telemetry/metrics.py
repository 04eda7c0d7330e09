"""Every metric that a scraper finds: name, kind, labels, meaning, and where in a snapshot it is.

Names follow Prometheus: a prefix of the program, base units in plural (seconds, bytes, ratio), ``_total`` for what only
grows. Rates are in bytes a second, as bytes are the base unit. Docs: docs/live-statistics.md; a test keeps it equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from aqmlab.live.telemetry.snapshot import ClassCounts, Direction, FlowCounts, Plane, Snapshot

T = TypeVar("T")
Sample = tuple[tuple[str, ...], float]
Read = Callable[[Snapshot], Iterator[Sample]]


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes
    ----------
    name
        As exposed.
    labels
        Names of its labels.
    help
        Its meaning.
    read
        Gives the values of the labels and the number, for each of its series.
    """

    name: str
    labels: tuple[str, ...]
    help: str
    read: Read

    @property
    def kind(self) -> str:
        """``counter`` for a number that only grows, else ``gauge``."""
        return "counter" if self.name.endswith("_total") else "gauge"


@dataclass(frozen=True)
class Level(Generic[T]):
    """The entries of one kind in a snapshot, such as links or flows, with the values of their labels.

    Attributes
    ----------
    labels
        Names of the labels.
    entries
        Gives each entry with the values of its labels.
    """

    labels: tuple[str, ...]
    entries: Callable[[Snapshot], Iterator[tuple[tuple[str, ...], T]]]

    def one(self, name: str, help: str, value: Callable[[T], float | None]) -> Metric:
        """Return the metric of one number an entry; an entry without it has no series."""

        def read(snapshot: Snapshot) -> Iterator[Sample]:
            for labels, entry in self.entries(snapshot):
                number = value(entry)
                if number is not None:
                    yield labels, number

        return Metric(name, self.labels, help, read)

    def several(self, name: str, label: str, help: str, values: Callable[[T], Mapping[str, float | None]]) -> Metric:
        """Return the metric of several numbers an entry, named by one more label."""

        def read(snapshot: Snapshot) -> Iterator[Sample]:
            for labels, entry in self.entries(snapshot):
                for which, number in values(entry).items():
                    if number is not None:
                        yield (*labels, which), number

        return Metric(name, (*self.labels, label), help, read)


def _directions(snapshot: Snapshot) -> Iterator[tuple[tuple[str, ...], Direction]]:
    for direction in snapshot.directions:
        yield (direction.name, direction.link), direction


def _classes(snapshot: Snapshot) -> Iterator[tuple[tuple[str, ...], ClassCounts]]:
    for link, direction in _directions(snapshot):
        for entry in direction.classes:
            yield (*link, str(entry.dscp)), entry


def _flows(snapshot: Snapshot) -> Iterator[tuple[tuple[str, ...], FlowCounts]]:
    for link, direction in _directions(snapshot):
        for entry in direction.flows:
            yield (*link, str(entry.flow), entry.group, entry.label), entry


RUN = Level((), lambda snapshot: iter([((), snapshot)]))
PLANE = Level((), lambda snapshot: iter([((), snapshot.plane)]))
LINKS = Level(("direction", "link"), _directions)
CLASSES = Level((*LINKS.labels, "dscp"), _classes)
FLOWS = Level((*LINKS.labels, "flow", "group", "addresses"), _flows)


def _seconds(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / 1e6


def _rate(direction: Direction) -> float | None:
    return None if direction.rate_bps is None else direction.rate_bps / 8


def _drops(direction: Direction) -> dict[str, float]:
    c = direction.counters
    return {"early": c.drops_early, "forced": c.drops_forced, "overflow": c.drops_overflow}


def _marks(direction: Direction) -> dict[str, float]:
    return {"early": direction.counters.marks_early, "forced": direction.counters.marks_forced}


def _lateness(plane: Plane) -> dict[str, float | None]:
    late = plane.lateness
    return {"0.5": _seconds(late.p50), "0.99": _seconds(late.p99), "0.999": _seconds(late.p999)}


METRICS: tuple[Metric, ...] = (
    RUN.one("aqmlab_run_time_seconds", "Time since the start of the run.", lambda s: s.t),
    LINKS.several("aqmlab_link_info", "aqm", "Always 1; its discipline as a label.", lambda d: {d.aqm: 1.0}),
    LINKS.one("aqmlab_link_rate_bytes_per_second", "Rate of the link.", _rate),
    LINKS.one("aqmlab_queue_packets", "Packets queued.", lambda d: d.backlog_packets),
    LINKS.one("aqmlab_queue_bytes", "Bytes queued.", lambda d: d.backlog_bytes),
    LINKS.one(
        "aqmlab_average_queue_packets", "RED's average; absent for disciplines without one.", lambda d: d.average,
    ),
    LINKS.one(
        "aqmlab_drop_probability_ratio", "p_b of RED: probability of the curve at the average, before spacing.",
        lambda d: d.p_b,
    ),
    LINKS.several(
        "aqmlab_discipline_state", "name",
        "Other gauges of the discipline, by its own names and in its own units: p_a and count of RED, p of PIE.",
        lambda d: d.gauges,
    ),
    LINKS.several(
        "aqmlab_quantity", "key", "Quantities of the link over the measured time so far, in their own units.",
        lambda d: d.quantities,
    ),
    LINKS.one(
        "aqmlab_queue_delay_mean_seconds", "Mean time in the queue since the snapshot before.",
        lambda d: d.delay_mean_s,
    ),
    LINKS.one("aqmlab_arrivals_packets_total", "Packets that arrived at the queue.", lambda d: d.counters.arrivals),
    LINKS.one("aqmlab_arrivals_bytes_total", "Bytes that arrived at the queue.", lambda d: d.counters.arrived_bytes),
    LINKS.one("aqmlab_departures_packets_total", "Packets that departed.", lambda d: d.counters.departures),
    LINKS.one("aqmlab_departures_bytes_total", "Bytes that departed.", lambda d: d.counters.departed_bytes),
    LINKS.several(
        "aqmlab_drops_packets_total", "reason",
        "Packets dropped, by class of reason: early (to signal congestion), forced, overflow (no room).", _drops,
    ),
    LINKS.several(
        "aqmlab_marks_packets_total", "reason",
        "Packets marked with ECN, by class of reason: early (to signal congestion), forced.", _marks,
    ),
    LINKS.one("aqmlab_lost_packets_total", "Packets lost at random, not by the discipline.", lambda d: d.counters.lost),
    CLASSES.one("aqmlab_class_arrivals_packets_total", "Packets of a code point that arrived.", lambda c: c.arrivals),
    CLASSES.one("aqmlab_class_drops_packets_total", "Packets of a code point dropped.", lambda c: c.drops),
    CLASSES.one("aqmlab_class_marks_packets_total", "Packets of a code point marked with ECN.", lambda c: c.marks),
    CLASSES.one(
        "aqmlab_class_departures_bytes_total", "Bytes of a code point that departed.", lambda c: c.departed_bytes,
    ),
    FLOWS.one("aqmlab_flow_arrivals_packets_total", "Packets of a flow that arrived.", lambda f: f.arrivals),
    FLOWS.one("aqmlab_flow_drops_packets_total", "Packets of a flow dropped.", lambda f: f.drops),
    FLOWS.one("aqmlab_flow_marks_packets_total", "Packets of a flow marked with ECN.", lambda f: f.marks),
    FLOWS.one("aqmlab_flow_departures_bytes_total", "Bytes of a flow that departed.", lambda f: f.departed_bytes),
    PLANE.one("aqmlab_plane_in_packets_total", "Packets read.", lambda p: p.packets_in),
    PLANE.one("aqmlab_plane_out_packets_total", "Packets written.", lambda p: p.packets_out),
    PLANE.one("aqmlab_plane_held_packets", "Packets inside at present.", lambda p: p.held),
    PLANE.several(
        "aqmlab_plane_malformed_packets_total", "reason", "Packets that could not be read, and dropped.",
        lambda p: p.malformed,
    ),
    PLANE.several(
        "aqmlab_plane_tun_dropped_packets_total", "side", "Packets that a TUN device dropped before the link saw them.",
        lambda p: p.tun_dropped,
    ),
    PLANE.several("aqmlab_plane_lateness_seconds", "quantile", "How much later than planned packets left.", _lateness),
    PLANE.one("aqmlab_plane_lateness_max_seconds", "The latest of all departures.", lambda p: _seconds(p.lateness.max)),
    PLANE.one("aqmlab_plane_timed_departures_total", "Departures whose lateness was measured.", lambda p: p.lateness.n),
    PLANE.one("aqmlab_plane_stalls_total", "Departures more than 10 ms late.", lambda p: p.stalls),
    PLANE.one("aqmlab_plane_idle_ratio", "Share of time in which the link thread slept.", lambda p: p.idle_share),
)  # fmt: skip
