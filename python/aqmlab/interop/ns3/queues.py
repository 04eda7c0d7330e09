"""Queues in the words of ns-3 3.37 (src/traffic-control/model), and what it has not of them.

| ours | ns-3 |
|---|---|
| drop-tail | ``FifoQueueDisc`` |
| red, gentle-red, nlred, feng-red, adaptive-red | ``RedQueueDisc`` |
| codel, fq-codel, cobalt, pie, fq-pie | ``CoDelQueueDisc``, ``FqCoDelQueueDisc``, ``CobaltQueueDisc``, ... |

ns-3's RED is ns-2's: the same average, curve, count and spacing. So a scenario with ``dialect = "ns2-2.35"`` has its
rules, but for two: p_b = 1 is a forced drop (``p_one_is_early = false``), ECN marks at any p_b (``mark_up_to = 1``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aqmlab.interop.crosscheck.model import DROP_TAIL
from aqmlab.interop.crosscheck.tool import Kind, Semantic
from aqmlab.interop.formatting import flag, number
from aqmlab.interop.ns3.beside import BESIDE, attributes_beside, differences_beside, size
from aqmlab.interop.ns3.formatting import rate, seconds
from aqmlab.scenario.parts import Link

RED = "ns3::RedQueueDisc"
FIFO = "ns3::FifoQueueDisc"
CURVES = ("linear", "gentle", "nlred")
ADAPTATIONS = ("none", "feng", "adaptive-red")
SPACINGS = {"ns2-wait": True, "ns2-nowait": False, "floyd93": False, "linux": False}
"""Spacing to ``Wait``; the last two are nearly as without."""
FIXED: dict[str, tuple[object, str, str]] = {
    "at_idle": ("integer", "idle rule", "counts whole packets in an idle period"),
    "idle_extra_step": (True, "idle rule", "lets the average decay once more behind an idle period"),
    "idle_when": ("free", "idle rule", "begins an idle period when it finds nothing to send"),
    "guard_one": (True, "guard of one packet", "never drops early while at most one packet waits"),
    "crossing": ("count-one", "first packet above min_th", "never drops the first packet above min_th"),
    "p_one_is_early": (False, "probability one", "drops without a draw where p_b is 1"),
    "mark_up_to": (1, "marking", "marks at any p_b below 1"),
    "full_first": (False, "full buffer first", "computes the average before it looks whether there is room"),
    "in_service_counts": (False, "packet in service", "counts the packets waiting, without the one in service"),
}
"""Switches of RED that ns-3 does not have: the value that it always has, the name of the difference, and what it
means."""


@dataclass(frozen=True)
class Disc:
    """A queue disc: its type and attributes."""

    kind: str
    attributes: tuple[tuple[str, str], ...]


def disc_of(link: Link) -> Disc:
    """Write a link's queue; what ns-3 has not is passed over (`queue_differences` names it)."""
    own = link.parameters
    if link.aqm == DROP_TAIL or not _known(link):
        return Disc(FIFO, (("MaxSize", size(own.get("limit", 1000))),))
    if link.aqm in BESIDE:
        return Disc(BESIDE[link.aqm].kind, tuple(attributes_beside(link.aqm, own).items()))
    return Disc(RED, tuple(_red(link).items()))


def queue_differences(link: Link) -> Iterator[Semantic]:
    """Name what ns-3 has not of a link's queue, and what it understands otherwise."""
    own, name = link.parameters, f"queue.{link.queue}"
    if link.aqm == DROP_TAIL:
        return
    if not _known(link):
        yield Semantic("discipline", f'{name}: ns-3 3.37 has no "{link.aqm}" of this kind.', Kind.INEXPRESSIBLE)
    elif link.aqm in BESIDE:
        yield from differences_beside(link.aqm, own, name)
    else:
        yield from _missing_parts(own, name)
        yield from _other_rules(own, name)


def _known(link: Link) -> bool:
    is_red = {"min_th", "max_th", "max_p", "w_q", "spacing"} <= link.parameters.keys() and not link.classes
    return is_red or link.aqm in BESIDE


def _red(link: Link) -> dict[str, str]:
    own = link.parameters
    mean = float(own["mean_packet"])
    unit = mean if own["mode"] == "bytes" else 1.0
    limit = own["limit"]
    if own["mode"] == "bytes" and not isinstance(limit, str):
        limit = f"{float(limit) * mean}B"
    elif own["mode"] != "bytes" and isinstance(limit, str):
        limit = max(1.0, float(limit.removesuffix("B")) / mean)
    return {
        "MinTh": number(_packets(own["min_th"], mean) * unit),
        "MaxTh": number(_packets(own["max_th"], mean) * unit),
        "LInterm": number(1 / max(float(own["max_p"]), 1e-300)),
        "QW": number(own["w_q"]),
        "MaxSize": size(limit),
        "MeanPktSize": number(round(mean)),
        "Gentle": flag(own["curve"] == "gentle"),
        "NLRED": flag(own["curve"] == "nlred"),
        "Wait": flag(SPACINGS.get(str(own["spacing"]), False)),
        "UseEcn": flag(own["ecn"]),
        "UseHardDrop": flag(not own.get("mark_forced")),
        "LinkBandwidth": rate(link.rate_bps),
        "LinkDelay": seconds(link.delay_s),
        **_adaptation(own),
    }


def _packets(value: float | str, mean: float) -> float:
    return float(value.removesuffix("B")) / mean if isinstance(value, str) else float(value)


def _adaptation(own: dict[str, Any]) -> dict[str, str]:
    """Write how max_p moves; thresholds and weight stay as they are (``ARED`` would compute its own)."""
    match own.get("adaptation"):
        case "adaptive-red":
            return {
                "AdaptMaxP": "true",
                "Alpha": number(own["ared_alpha"]),
                "Beta": number(own["ared_beta"]),
                "Interval": seconds(own["adapt_interval"]),
                "Top": number(own["max_p_high"]),
                "Bottom": number(own["max_p_low"]),
            }
        case "feng":
            return {
                "FengAdaptive": "true",
                "FengAlpha": number(own["feng_alpha"]),
                "FengBeta": number(own["feng_beta"]),
            }
        case _:
            return {}


def _missing_parts(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    allowed = {"curve": CURVES, "victim": ("arriving",), "adaptation": ADAPTATIONS, "spacing": tuple(SPACINGS)}
    for key, values in allowed.items():
        if (value := str(own.get(key, values[0]))) not in values:
            there = ", ".join(values)
            text = f'{name}: ns-3\'s RED has no {key} "{value}" (there: {there}).'
            yield Semantic(f"{key} {value}", text, Kind.INEXPRESSIBLE)


def _other_rules(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    if own["spacing"] in ("floyd93", "linux"):
        text = f'{name}: ns-3 without Wait stands for spacing "{own["spacing"]}"; spacing = "ns2-nowait" is the same.'
        yield Semantic("spacing dialect", text, Kind.DIFFERS)
    found: dict[str, list[str]] = {}
    for key, (value, what, meaning) in FIXED.items():
        matters = bool(own["ecn"]) or key != "mark_up_to"
        if key in own and own[key] != value and matters:
            found.setdefault(what, []).append(f"{key} = {_toml(own[key])}, ns-3 {meaning} ({_toml(value)})")
    for what, lines in found.items():
        yield Semantic(what, f"{name}: the scenario has {'; '.join(lines)}.", Kind.DIFFERS)
    if own["mode"] == "bytes":
        yield from _bytes(own, name)
    elif isinstance(own["limit"], str):
        yield Semantic("unit of the limit", f"{name}: ns-3 limits what it averages: packets.", Kind.DIFFERS)
    if own["adaptation"] == "feng" and (own["max_p_low"] > 0 or own["max_p_high"] < 1):
        text = f"{name}: ns-3 does not keep Feng's max_p between max_p_low and max_p_high."
        yield Semantic("bounds of max_p", text, Kind.DIFFERS)
    if own.get("adapt_clock") == "timer":
        text = f'{name}: ns-3 adapts at arrivals, the scenario has adapt_clock = "timer".'
        yield Semantic("clock of the adaptation", text, Kind.DIFFERS)


def _bytes(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    if own["byte_scaling"] != "after-spacing":
        text = f'{name}: ns-3 scales p_a by the packet\'s size, and counts in bytes (byte_scaling = "after-spacing").'
        yield Semantic("byte mode", text, Kind.DIFFERS)
    if not isinstance(own["limit"], str):
        yield Semantic("unit of the limit", f"{name}: ns-3 limits what it averages: bytes.", Kind.DIFFERS)


def _toml(value: object) -> str:
    return flag(value) if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
