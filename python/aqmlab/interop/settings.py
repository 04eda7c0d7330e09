"""Effective parameters of RED as text for other systems, with the values that each of them makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.interop.differences import Kind, Semantic
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link, packets
from aqmlab.theory.drop_curve import DropCurve, drop_rate

RED_LIKE = ("min_th", "max_th", "max_p", "w_q")


@dataclass(frozen=True)
class Settings:
    """Effective parameters of a queue with RED's parameters.

    Attributes
    ----------
    aqm
        The discipline's name.
    curve, spacing, adaptation, victim
        Which parts it has: the curve's name, how drops are spread, how parameters move, which packet is dropped.
    min_th, max_th, limit
        In packets.
    max_p, w_q
        Probability at max_th, and weight of one sample in the average.
    mean_packet
        In bytes.
    unit_bytes
        Bytes for which one packet of min_th and max_th stands: mean_packet in byte mode, else the traffic's packet.
    limit_bytes
        Limit in bytes: as it is given, or in packets of `unit_bytes`.
    other_sizes
        Least and greatest packet of the traffic in bytes where the packets differ in packet mode; else None.
    rate_bps, delay_s
        Of the link.
    ecn, mark_forced, nodrop
        Whether packets are marked instead of dropped; also where all would be dropped; and whether packets that
        are not ECN-capable are then accepted.
    probability
        p_b as a function of the average in packets.
    """

    aqm: str
    curve: str
    spacing: str
    adaptation: str
    victim: str
    min_th: float
    max_th: float
    limit: float
    max_p: float
    w_q: float
    mean_packet: float
    unit_bytes: float
    limit_bytes: float
    other_sizes: tuple[float, float] | None
    rate_bps: float
    delay_s: float
    ecn: bool
    mark_forced: bool
    nodrop: bool
    probability: DropCurve

    @classmethod
    def of(cls, plan: Scenario, link: Link) -> Settings | None:
        """Read them off a checked scenario; None for a queue that has no such parameters, or several sets of them."""
        own: dict[str, Any] = link.parameters
        if link.classes or not all(isinstance(own.get(key), int | float | str) for key in RED_LIKE):
            return None
        if own.get("curve") == "points" or "spacing" not in own:
            return None
        size = float(own.get("mean_packet", 1000))
        low, high, limit = (packets(own[key], size) for key in ("min_th", "max_th", "limit"))
        sizes = packet_sizes(plan, link)
        in_bytes = own.get("mode") == "bytes" or sizes is None
        unit = size if in_bytes or sizes is None else sizes[1]
        body = {"aqm": link.aqm, "min_th": low, "max_th": high, "limit": own["limit"], "max_p": own["max_p"]}
        return cls(
            aqm=link.aqm,
            curve=str(own.get("curve", "linear")),
            spacing=str(own["spacing"]),
            adaptation=str(own.get("adaptation", "none")),
            victim=str(own.get("victim", "arriving")),
            min_th=low,
            max_th=high,
            limit=limit,
            max_p=float(own["max_p"]),
            w_q=float(own["w_q"]),
            mean_packet=size,
            unit_bytes=unit,
            limit_bytes=size_in_bytes(own["limit"], unit),
            other_sizes=None if in_bytes or sizes is None or sizes[0] == sizes[1] else sizes,
            rate_bps=link.rate_bps,
            delay_s=link.delay_s,
            ecn=bool(own.get("ecn", False)),
            mark_forced=bool(own.get("mark_forced", False)),
            nodrop=bool(own.get("nodrop", False)),
            probability=DropCurve.of_queue(
                {**body, "mean_packet": own.get("mean_packet"), "curve": own.get("curve")}, name=link.aqm
            ),
        )

    def drop_factor(self, spacing: str) -> float:
        """Return how many times as many packets another rule of spacing drops, at the same small p_b.

        The rules differ up to threefold in what they make of p_b (`aqmlab.theory.drop_curve.drop_rate`).
        """
        small = 1e-6
        return float(drop_rate(small, spacing) / drop_rate(small, self.spacing))


def packet_sizes(plan: Scenario, link: Link) -> tuple[float, float] | None:
    """Return the least and the greatest full packet in bytes of the flows that cross a link; None if none does."""
    sizes = [flow.packet_bytes for flow in plan.flows if not flow.path or link.name in flow.path]
    return (min(least for least, _ in sizes), max(most for _, most in sizes)) if sizes else None


def size_in_bytes(value: float | str, unit: float) -> float:
    """Return a size in bytes, where one packet has `unit` bytes.

    >>> size_in_bytes("25000B", 1500), size_in_bytes(12, 1500)
    (25000.0, 18000.0)
    """
    return float(value.removesuffix("B")) if isinstance(value, str) else float(value) * unit


def strange_parts(own: Settings, *, curves: tuple[str, ...], adaptations: tuple[str, ...] = ("none",)) -> list[str]:
    """Return notes on the parts of a queue that a system lacks; `curves` and `adaptations` are those that it has."""
    notes = []
    if own.curve not in curves:
        notes.append(f'the curve "{own.curve}" is not there; the text has a straight line from min_th to max_th')
    if own.victim != "arriving":
        notes.append(f'the victim "{own.victim}" is not there; the arriving packet is dropped')
    if own.adaptation not in adaptations:
        notes.append(f'the adaptation "{own.adaptation}" is not there; parameters stay as they are')
    return notes


def effective(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the values that a system makes of a text, as it was read back, with their units."""
    mean = float(str(found.get("mean_packet", 1)).removesuffix("B"))
    sizes = {key: f"{packets(found[key], mean):.6g} packets" for key in ("min_th", "max_th", "limit")}
    return {**sizes, "max_p": f"{found['max_p']:.9g}", "w_q": f"{found['w_q']:.9g}"}


def spacing_note(own: Settings, spacing: str, queue: str) -> list[str]:
    """Return a note on how many times as many packets another rule of spacing drops, if it differs."""
    factor = own.drop_factor(spacing)
    if spacing == own.spacing or abs(factor - 1) < 1e-3:
        return []
    return [
        f'drops are spread as by "{spacing}", not "{own.spacing}": {factor:.2g} times as many at the same small p_b. '
        f"To tune for that, give --set queue.{queue}.spacing={spacing}"
    ]


def simulator_notes(
    own: Settings, queue: str, parts: Mapping[str, tuple[str, ...]], differences: Iterable[Semantic]
) -> list[str]:
    """Return notes on the differences of a queue in ns-2 or ns-3, given the parts of that simulator."""
    notes = strange_parts(own, curves=parts["curve"], adaptations=parts["adaptation"])
    notes += [one.text.removesuffix(".") for one in differences if one.kind is Kind.DIFFERS]
    return notes if own.spacing == "ns2-wait" else [*notes, *spacing_note(own, "ns2-nowait", queue)]


def shares_at(own: Settings, averages: np.ndarray) -> np.ndarray:
    """Return p_b at averages in packets; everything is dropped at the limit."""
    found = np.asarray(own.probability(averages), dtype=float)
    return np.where(averages >= own.limit, 1.0, found)
