"""The drop curve of a scenario's link, in packets of the size that crosses it.

Queues in bytes measure in packets of ``mean_packet``, and scale p_b by the packet's size; queues with classes have a
curve for each. Everything is brought into one form: the long-run share of packets dropped against the average number
of packets waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link, packets
from aqmlab.theory.drop_curve import Array, DropCurve, drop_rate

WAITS = {"ns2-wait": 1.0}
"""Lengths of the pause after a drop in which none follows, in units of 1/p_b; all other rules have none."""


@dataclass(frozen=True)
class LinkCurve:
    """Response of a link's queue to an average.

    Attributes
    ----------
    name
        Discipline, and class if it has classes.
    p_b
        The curve as the discipline computes it, scaled to the packet's size.
    rate
        The share of packets dropped: `p_b` after the rule that spaces drops.
    limit
        Packets that may wait, the one in service not among them unless `in_service_counts`.
    w_q
        Weight of the average; 1 for a queue without one.
    spacing
        The rule that spaces drops.
    unit
        How many of the discipline's own packets (``mean_packet`` in byte mode) one packet is.
    in_service_counts
        Whether the packet in service counts as queued.
    """

    name: str
    p_b: DropCurve
    rate: DropCurve
    limit: float
    w_q: float
    spacing: str
    unit: float
    in_service_counts: bool

    @property
    def drops_early(self) -> bool:
        """Whether there is a curve at all."""
        return bool(np.isfinite(self.p_b.max_th))

    @property
    def over_waiting(self) -> DropCurve:
        """The rate of drops against the packets that wait behind one in service."""
        return _moved(self.rate, -1) if self.in_service_counts else self.rate

    @property
    def over_system(self) -> DropCurve:
        """The rate of drops against the packets in the system, the one in service among them."""
        return self.rate if self.in_service_counts else _moved(self.rate, 1)


def curve_of(scenario: Scenario, link: Link, *, packet_bytes: float, class_name: str = "") -> LinkCurve:
    """Return the curve of a link for packets of one size.

    Parameters
    ----------
    scenario
        Where the link is from; its ``[queue.NAME]`` table has the points of a curve through points.
    link
        The link.
    packet_bytes
        Size of a data packet with its header.
    class_name
        The class of a queue that has classes.
    """
    parameters = link.parameters
    limit = parameters.get("limit", np.inf)
    in_bytes = parameters.get("mode") == "bytes"
    room = packets(limit, packet_bytes)
    if link.aqm == "drop-tail" or not _has_curve(link):
        none = DropCurve.none(limit=room, name=link.aqm)
        return LinkCurve(link.aqm, none, none, room, 1.0, "none", 1.0, in_service_counts=False)
    name = f"{link.aqm}, class {class_name}" if class_name else link.aqm
    own = DropCurve.of_queue(_body(scenario, link, class_name), name=name)
    unit = packet_bytes / float(parameters["mean_packet"]) if in_bytes else 1.0
    scale = 1.0 if not in_bytes or parameters.get("byte_scaling") == "none" else unit
    spacing = str(parameters["spacing"])
    late = parameters.get("byte_scaling") == "after-spacing"

    def p_b(x: Array) -> Array:
        return np.minimum(own(x * unit) * (1.0 if late else scale), 1.0)

    def rate(x: Array) -> Array:
        found = p_b(x)
        return scaled_rate(found, spacing, scale) if late and scale != 1 else drop_rate(found, spacing)

    return LinkCurve(
        name=name,
        p_b=_in_packets(own, p_b, unit, room),
        rate=_in_packets(own, rate, unit, room),
        limit=room,
        w_q=float(parameters["w_q"]),
        spacing=spacing,
        unit=unit,
        in_service_counts=bool(parameters.get("in_service_counts", False)),
    )


def scaled_rate(p_b: Array, spacing: str, scale: float) -> Array:
    """Return the share dropped where byte mode scales after the spacing.

    With h = p_b/(1 - n p_b) the chance of the n-th packet after the pause, scaled by s = size/mean, n reaches 1/p_b
    with probability (1 - n p_b)^s: the mean gap is 1/(p_b (s + 1)), and the pause before it.

    >>> scaled_rate(np.array([0.03]), "ns2-wait", 1.0).round(9).tolist() == drop_rate([0.03], "ns2-wait").tolist()
    True
    """
    gap = WAITS.get(spacing, 0.0) + 1 / (scale + 1)
    if spacing == "none":
        gap = 1 / scale
    return np.where(p_b >= 1, 1.0, np.minimum(p_b / gap, 1.0))


def is_modelled(link: Link) -> bool:
    """Whether the discipline of a link drops by a curve over the queue, or when the buffer is full alone."""
    return link.aqm in ("drop-tail", "ddred-tail") or "spacing" in link.parameters


def _has_curve(link: Link) -> bool:
    # Behind a class of a scheduler stands a queue of its own; RED's classes have averages.
    if link.classes:
        return "averages" in link.parameters
    return "spacing" in link.parameters and link.parameters.get("min_th") is not None


def _body(scenario: Scenario, link: Link, class_name: str) -> dict[str, Any]:
    """Return a queue table with one curve in it."""
    # A curve in Python has no name beside that of its discipline.
    aqm = "red" if "curve" in link.parameters else link.aqm
    found: dict[str, Any] = {"aqm": aqm, **link.parameters, "points": None}
    written: Mapping[str, Any] = scenario.queue_table(link.queue)
    if link.classes:
        own: Mapping[str, Any] = next(c for c in link.classes if c["name"] == class_name)
        found |= {key: own[key] for key in ("min_th", "max_th", "max_p", "curve") if own.get(key) is not None}
        written = next((c for c in written.get("class", ()) if c["name"] == class_name), {})
    points = written.get("points") or scenario.queue_table(link.queue).get("points")
    if found.get("curve") == "points" and points:
        found |= {"points": points, "min_th": points[0][0], "max_th": points[-1][0]}
    return found


def _in_packets(own: DropCurve, function: Callable[[Array], Array], unit: float, limit: float) -> DropCurve:
    knots = tuple(sorted({*(knot / unit for knot in own.knots), limit}))
    return replace(own, function=function, min_th=own.min_th / unit, max_th=own.max_th / unit, knots=knots, limit=limit)


def _moved(curve: DropCurve, by: float) -> DropCurve:
    """Return a curve moved to the right by so many packets."""
    return replace(
        curve,
        function=lambda x: curve(np.maximum(x - by, 0.0)),
        min_th=curve.min_th + by,
        max_th=curve.max_th + by,
        knots=tuple(knot + by for knot in curve.knots if knot + by > 0),
        limit=curve.limit + by,
    )
