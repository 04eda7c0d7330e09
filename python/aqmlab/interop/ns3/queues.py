"""Queues in the words of ns-3 3.37 (src/traffic-control/model), and back.

| ours | ns-3 |
|---|---|
| drop-tail | ``FifoQueueDisc`` |
| red, gentle-red, nlred, feng-red, adaptive-red | ``RedQueueDisc`` |
| codel, fq-codel, cobalt, pie, fq-pie | ``CoDelQueueDisc``, ``FqCoDelQueueDisc``, ``CobaltQueueDisc``, ... |

ns-3's RED is ns-2's: the same average, curve, count and spacing. So a scenario with ``dialect = "ns2-2.35"`` has its
rules, but for two: p_b = 1 is a forced drop (``p_one_is_early = false``), ECN marks at any p_b (``mark_up_to = 1``).

Adaptive RED is ``AdaptMaxP``, which moves max_p alone. The attribute ``ARED`` is never written: with it ns-3 discards
MinTh, MaxTh and QW, and computes its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.ns3.formatting import rate
from aqmlab.interop.ns3.other_queues import OTHER_QUEUES, SECONDS, SIZE, size
from aqmlab.interop.red import ADAPTATIONS, SPACINGS, adaptation_differences, missing_parts
from aqmlab.interop.translation import AT_LEAST_ONE, FLAG, INVERSE, NUMBER, Fixed, Format, Row, Table, is_true, one_of
from aqmlab.scenario.parts import DROP_TAIL, Link, packets

FIFO = "ns3::FifoQueueDisc"
CURVES = ("linear", "gentle", "nlred")
PARTS = {"curve": CURVES, "victim": ("arriving",), "adaptation": ADAPTATIONS, "spacing": SPACINGS}
UNLESS = Format(lambda value: "false" if value else "true", lambda text: not is_true(text))
RATE = Format(rate, lambda text: float(text.removesuffix("bps")), absolute=0.5)
IDLE, MARKING = "idle rule", "marking"
RED = Table(
    "ns3::RedQueueDisc",
    (
        Row("min_th", "MinTh", NUMBER),
        Row("max_th", "MaxTh", NUMBER),
        Row("max_p", "LInterm", INVERSE),
        Row("w_q", "QW", NUMBER),
        Row("limit", "MaxSize", SIZE),
        Row("mean_packet", "MeanPktSize", AT_LEAST_ONE),
        Row("curve", "Gentle", one_of("gentle", "linear")),
        Row("curve", "NLRED", one_of("nlred")),
        Row("spacing", "Wait", one_of("ns2-wait", "ns2-nowait")),
        Row("ecn", "UseEcn", FLAG),
        Row("mark_forced", "UseHardDrop", UNLESS),
        Row("rate_bps", "LinkBandwidth", RATE),
        Row("delay_s", "LinkDelay", SECONDS),
    ),
    (
        Fixed("at_idle", "integer", "counts whole packets in an idle period", IDLE),
        Fixed("idle_extra_step", True, "lets the average decay once more behind an idle period", IDLE),
        Fixed("idle_when", "free", "begins an idle period when it finds nothing to send", IDLE),
        Fixed("guard_one", True, "never drops early while at most one packet waits", "guard of one packet"),
        Fixed("crossing", "count-one", "never drops the first packet above min_th", "first packet above min_th"),
        Fixed("p_one_is_early", False, "drops without a draw where p_b is 1", "probability one"),
        Fixed("forced_at", "end", "drops without a draw from the end of the curve on", "probability one"),
        Fixed("mark_up_to", 1, "marks at any p_b below 1", MARKING),
        Fixed("overflow_restarts", True, "restarts the count when a full buffer drops", "full buffer and count"),
        Fixed("full_first", False, "computes the average before it looks whether there is room", "full buffer first"),
        Fixed(
            "in_service_counts", False, "counts the packets waiting, without the one in service", "packet in service"
        ),
    ),
)
"""Thresholds are in packets where MaxSize is, in bytes where it is in bytes."""
ADAPTATION: dict[str, Table] = {
    "adaptive-red": Table(
        "adaptive-red",
        (
            Row("ared_alpha", "Alpha", NUMBER),
            Row("ared_beta", "Beta", NUMBER),
            Row("adapt_interval", "Interval", SECONDS),
            Row("max_p_high", "Top", NUMBER),
            Row("max_p_low", "Bottom", NUMBER),
        ),
        always={"AdaptMaxP": "true"},
    ),
    "feng": Table(
        "feng",
        (Row("feng_alpha", "FengAlpha", NUMBER), Row("feng_beta", "FengBeta", NUMBER)),
        always={"FengAdaptive": "true"},
    ),
}


@dataclass(frozen=True)
class Disc:
    """A queue disc: its type and attributes."""

    kind: str
    attributes: tuple[tuple[str, str], ...]


def disc_of(link: Link) -> Disc:
    """Return a link's queue; features that ns-3 lacks are left out (`queue_differences` names them)."""
    own = link.parameters
    if link.aqm == DROP_TAIL or not _known(link):
        return Disc(FIFO, (("MaxSize", size(own.get("limit", 1000))),))
    if link.aqm in OTHER_QUEUES:
        table = OTHER_QUEUES[link.aqm]
        return Disc(table.kind, tuple(table.write(own).items()))
    return Disc(RED.kind, tuple(_red(link).items()))


def read_red(attributes: Mapping[str, str]) -> dict[str, Any]:
    """Read attributes of ``RedQueueDisc``: thresholds in packets, the limit in packets or as ``64000B``."""
    found = RED.read(attributes)
    in_bytes = isinstance(found["limit"], str)
    for key in ("min_th", "max_th"):
        found[key] /= found["mean_packet"] if in_bytes else 1
    found |= {"mode": "bytes" if in_bytes else "packets", "adaptation": "none"}
    for name, table in ADAPTATION.items():
        if table.matches(attributes):
            found |= {"adaptation": name, **table.read(attributes)}
    return found


def queue_differences(link: Link) -> Iterator[Semantic]:
    """Yield the features of a link's queue that ns-3 lacks or implements differently."""
    own, name = link.parameters, f"queue.{link.queue}"
    if link.aqm == DROP_TAIL:
        return
    if not _known(link):
        yield Semantic("discipline", f'{name}: ns-3 3.37 has no "{link.aqm}" of this kind.', Kind.INEXPRESSIBLE)
    elif link.aqm in OTHER_QUEUES:
        yield from OTHER_QUEUES[link.aqm].differences(own, name, "ns-3")
        if link.aqm in ("codel", "fq-codel") and own["ecn"]:
            text = f"{name}: ns-3 plans the mark after a mark from now, ours from when the last one was due."
            yield Semantic("next mark", text, Kind.DIFFERS)
    else:
        yield from missing_parts(own, name, "ns-3", PARTS)
        yield from _other_rules(own, name)


def _known(link: Link) -> bool:
    is_red = {"min_th", "max_th", "max_p", "w_q", "spacing"} <= link.parameters.keys() and not link.classes
    return is_red or link.aqm in OTHER_QUEUES


def _red(link: Link) -> dict[str, str]:
    own = dict(link.parameters)
    mean, limit = float(own["mean_packet"]), own["limit"]
    unit = mean if own["mode"] == "bytes" else 1.0
    if own["mode"] == "bytes" and not isinstance(limit, str):
        limit = f"{float(limit) * mean}B"
    elif own["mode"] != "bytes" and isinstance(limit, str):
        limit = max(1.0, packets(limit, mean))
    own |= {key: packets(own[key], mean) * unit for key in ("min_th", "max_th")}
    own |= {"limit": limit, "rate_bps": link.rate_bps, "delay_s": link.delay_s}
    adaptation = ADAPTATION.get(str(own.get("adaptation")))
    return RED.write({"mark_forced": False, **own}) | (adaptation.write(own) if adaptation is not None else {})


def _other_rules(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    if own["spacing"] in ("floyd93", "linux"):
        text = f'{name}: ns-3 without Wait stands for spacing "{own["spacing"]}"; spacing = "ns2-nowait" is the same.'
        yield Semantic("spacing dialect", text, Kind.DIFFERS)
    for what, clauses in RED.rules(own, "ns-3").items():
        if own["ecn"] or what != MARKING:
            yield Semantic(what, f"{name}: the scenario has {'; '.join(clauses)}.", Kind.DIFFERS)
    if own["mode"] == "bytes":
        yield from _bytes(own, name)
    elif isinstance(own["limit"], str):
        yield Semantic("unit of the limit", f"{name}: ns-3 limits what it averages: packets.", Kind.DIFFERS)
    yield from adaptation_differences(own, name, "ns-3")


def _bytes(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    if own["byte_scaling"] != "after-spacing":
        text = f'{name}: ns-3 scales p_a by the packet\'s size, and counts in bytes (byte_scaling = "after-spacing").'
        yield Semantic("byte mode", text, Kind.DIFFERS)
    if not isinstance(own["limit"], str):
        yield Semantic("unit of the limit", f"{name}: ns-3 limits what it averages: bytes.", Kind.DIFFERS)
