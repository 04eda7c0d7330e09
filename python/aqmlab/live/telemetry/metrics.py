"""Every metric that a scraper finds: name, kind, labels, meaning, and where in a snapshot it is.

Names follow Prometheus: a prefix of the program, base units in plural (seconds, bytes, ratio), ``_total`` for what only
grows. Rates are in bytes a second, as bytes are the base unit. Docs: docs/live-statistics.md; a test keeps it equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aqmlab.live.telemetry.snapshot import ClassCounts, Direction, FlowCounts, Plane, Snapshot

Sample = tuple[tuple[str, ...], float]
Read = Callable[[Snapshot], Iterator[Sample]]


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes
    ----------
    name
        As exposed.
    kind
        ``counter`` or ``gauge``.
    labels
        Names of its labels.
    help
        Its meaning.
    read
        Gives the values of the labels and the number, for each of its series.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    help: str
    read: Read


LINK = ("direction", "link")


def _link(direction: Direction) -> tuple[str, ...]:
    return (direction.name, direction.link)


def _of_links(value: Callable[[Direction], float | None]) -> Read:
    """Read one number of each direction that has it."""

    def read(snapshot: Snapshot) -> Iterator[Sample]:
        for direction in snapshot.directions:
            number = value(direction)
            if number is not None:
                yield _link(direction), number

    return read


def _by(values: Callable[[Direction], dict[str, float]]) -> Read:
    """Read several numbers of each direction, with one label more that says which."""

    def read(snapshot: Snapshot) -> Iterator[Sample]:
        for direction in snapshot.directions:
            for name, number in values(direction).items():
                yield (*_link(direction), name), number

    return read


def _of_classes(value: Callable[[ClassCounts], float]) -> Read:
    def read(snapshot: Snapshot) -> Iterator[Sample]:
        for direction in snapshot.directions:
            for entry in direction.classes:
                yield (*_link(direction), str(entry.dscp)), value(entry)

    return read


def _of_flows(value: Callable[[FlowCounts], float]) -> Read:
    def read(snapshot: Snapshot) -> Iterator[Sample]:
        for direction in snapshot.directions:
            for entry in direction.flows:
                yield (*_link(direction), str(entry.flow), entry.group, entry.label), value(entry)

    return read


def _of_plane(value: Callable[[Plane], float | None]) -> Read:
    def read(snapshot: Snapshot) -> Iterator[Sample]:
        number = value(snapshot.plane)
        if number is not None:
            yield (), number

    return read


def _of_plane_by(values: Callable[[Plane], dict[str, float | None]]) -> Read:
    def read(snapshot: Snapshot) -> Iterator[Sample]:
        for name, number in values(snapshot.plane).items():
            if number is not None:
                yield (name,), number

    return read


def _info(snapshot: Snapshot) -> Iterator[Sample]:
    for direction in snapshot.directions:
        yield (*_link(direction), direction.aqm), 1.0


def _time(snapshot: Snapshot) -> Iterator[Sample]:
    yield (), snapshot.t


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


CLASS = (*LINK, "dscp")
FLOW = (*LINK, "flow", "group", "addresses")

METRICS: tuple[Metric, ...] = (
    Metric("aqmlab_run_time_seconds", "gauge", (), "Time since the start of the run.", _time),
    Metric("aqmlab_link_info", "gauge", (*LINK, "aqm"), "Always 1; its discipline as a label.", _info),
    Metric("aqmlab_link_rate_bytes_per_second", "gauge", LINK, "Rate of the link.", _of_links(_rate)),
    Metric("aqmlab_queue_packets", "gauge", LINK, "Packets queued.", _of_links(lambda d: d.backlog_packets)),
    Metric("aqmlab_queue_bytes", "gauge", LINK, "Bytes queued.", _of_links(lambda d: d.backlog_bytes)),
    Metric(
        "aqmlab_average_queue_packets", "gauge", LINK, "RED's average; absent for disciplines without one.",
        _of_links(lambda d: d.average),
    ),
    Metric(
        "aqmlab_drop_probability_ratio", "gauge", LINK,
        "p_b of RED: probability of the curve at the average, before spacing.",
        _of_links(lambda d: d.p_b),
    ),
    Metric(
        "aqmlab_discipline_state", "gauge", (*LINK, "name"),
        "Other gauges of the discipline, by its own names and in its own units: p_a and count of RED, p of PIE.",
        _by(lambda d: dict(d.gauges)),
    ),
    Metric(
        "aqmlab_quantity", "gauge", (*LINK, "key"),
        "Quantities of the link over the measured time so far, in their own units.", _by(lambda d: dict(d.quantities)),
    ),
    Metric(
        "aqmlab_queue_delay_mean_seconds", "gauge", LINK, "Mean time in the queue since the snapshot before.",
        _of_links(lambda d: d.delay_mean_s),
    ),
    Metric(
        "aqmlab_arrivals_packets_total", "counter", LINK, "Packets that arrived at the queue.",
        _of_links(lambda d: d.counters.arrivals),
    ),
    Metric(
        "aqmlab_arrivals_bytes_total", "counter", LINK, "Bytes that arrived at the queue.",
        _of_links(lambda d: d.counters.arrived_bytes),
    ),
    Metric(
        "aqmlab_departures_packets_total", "counter", LINK, "Packets that departed.",
        _of_links(lambda d: d.counters.departures),
    ),
    Metric(
        "aqmlab_departures_bytes_total", "counter", LINK, "Bytes that departed.",
        _of_links(lambda d: d.counters.departed_bytes),
    ),
    Metric(
        "aqmlab_drops_packets_total", "counter", (*LINK, "reason"),
        "Packets dropped, by class of reason: early (to signal congestion), forced, overflow (no room).", _by(_drops),
    ),
    Metric(
        "aqmlab_marks_packets_total", "counter", (*LINK, "reason"),
        "Packets marked with ECN, by class of reason: early (to signal congestion), forced.", _by(_marks),
    ),
    Metric(
        "aqmlab_lost_packets_total", "counter", LINK, "Packets lost at random, not by the discipline.",
        _of_links(lambda d: d.counters.lost),
    ),
    Metric(
        "aqmlab_class_arrivals_packets_total", "counter", CLASS, "Packets of a code point that arrived.",
        _of_classes(lambda c: c.arrivals),
    ),
    Metric(
        "aqmlab_class_drops_packets_total", "counter", CLASS, "Packets of a code point dropped.",
        _of_classes(lambda c: c.drops),
    ),
    Metric(
        "aqmlab_class_marks_packets_total", "counter", CLASS, "Packets of a code point marked with ECN.",
        _of_classes(lambda c: c.marks),
    ),
    Metric(
        "aqmlab_class_departures_bytes_total", "counter", CLASS, "Bytes of a code point that departed.",
        _of_classes(lambda c: c.departed_bytes),
    ),
    Metric(
        "aqmlab_flow_arrivals_packets_total", "counter", FLOW, "Packets of a flow that arrived.",
        _of_flows(lambda f: f.arrivals),
    ),
    Metric(
        "aqmlab_flow_drops_packets_total", "counter", FLOW, "Packets of a flow dropped.", _of_flows(lambda f: f.drops)
    ),
    Metric(
        "aqmlab_flow_marks_packets_total", "counter", FLOW, "Packets of a flow marked with ECN.",
        _of_flows(lambda f: f.marks),
    ),
    Metric(
        "aqmlab_flow_departures_bytes_total", "counter", FLOW, "Bytes of a flow that departed.",
        _of_flows(lambda f: f.departed_bytes),
    ),
    Metric("aqmlab_plane_in_packets_total", "counter", (), "Packets read.", _of_plane(lambda p: p.packets_in)),
    Metric("aqmlab_plane_out_packets_total", "counter", (), "Packets written.", _of_plane(lambda p: p.packets_out)),
    Metric("aqmlab_plane_held_packets", "gauge", (), "Packets inside at present.", _of_plane(lambda p: p.held)),
    Metric(
        "aqmlab_plane_malformed_packets_total", "counter", ("reason",), "Packets that could not be read, and dropped.",
        _of_plane_by(lambda p: dict(p.malformed)),
    ),
    Metric(
        "aqmlab_plane_tun_dropped_packets_total", "counter", ("side",),
        "Packets that a TUN device dropped before the link saw them.", _of_plane_by(lambda p: dict(p.tun_dropped)),
    ),
    Metric(
        "aqmlab_plane_lateness_seconds", "gauge", ("quantile",), "How much later than planned packets left.",
        _of_plane_by(_lateness),
    ),
    Metric(
        "aqmlab_plane_lateness_max_seconds", "gauge", (), "The latest of all departures.",
        _of_plane(lambda p: _seconds(p.lateness.max)),
    ),
    Metric(
        "aqmlab_plane_timed_departures_total", "counter", (), "Departures whose lateness was measured.",
        _of_plane(lambda p: p.lateness.n),
    ),
    Metric(
        "aqmlab_plane_stalls_total", "counter", (), "Departures more than 10 ms late.", _of_plane(lambda p: p.stalls)
    ),
    Metric(
        "aqmlab_plane_idle_ratio", "gauge", (), "Share of time in which the link thread slept.",
        _of_plane(lambda p: p.idle_share),
    ),
)  # fmt: skip
