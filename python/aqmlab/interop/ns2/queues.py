"""Queues in ns-2's words, and where ns-2 understands them otherwise (queue/red.cc, queue/drop-tail.cc of 2.35).

| ours | ns-2 |
|---|---|
| drop-tail, ``limit`` N packets | ``DropTail``, ``limit_`` N + 1: it drops when the queue would reach its limit |
| drop-tail, N packets, ``strict_limit`` | ``limit_`` N |
| drop-tail, N bytes | ``queue_in_bytes_``, ``mean_pktsize_`` 1, ``limit_`` as above in bytes |
| ``min_th``, ``max_th``, ``w_q``, ``mean_packet`` | ``thresh_``, ``maxthresh_``, ``q_weight_``, ``mean_pktsize_`` |
| ``max_p`` | ``linterm_`` = 1/max_p |
| ``curve``: linear, gentle | ``gentle_`` |
| ``spacing``: ns2-wait, ns2-nowait | ``wait_`` |
| ``mode``: bytes | ``bytes_`` and ``queue_in_bytes_`` |
| ``ecn``, ``p_one_is_early``, ``mark_up_to`` | ``setbit_``, ``use_mark_p_``, ``mark_p_`` |
| ``adaptation``: adaptive-red | ``adaptive_`` with ``alpha_``, ``beta_``, ``interval_``, ``top_``, ``bottom_`` |
| ``adaptation``: feng | ``adaptive_`` and ``feng_adaptive_`` with ``alpha_``, ``beta_`` |
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aqmlab.interop.crosscheck.model import DROP_TAIL
from aqmlab.interop.crosscheck.tool import Kind, Semantic
from aqmlab.interop.formatting import flag, number
from aqmlab.scenario.parts import Link

FIXED = {
    "at_idle": ("integer", "rounds the number of packets that an idle time is worth down"),
    "idle_extra_step": (True, "takes one more step of the average after an idle period"),
    "guard_one": (True, "drops nothing early while at most one packet waits"),
    "crossing": ("count-one", "never drops the first packet that finds the average above min_th"),
    "full_first": (False, "computes average and count for a packet before it looks whether there is room"),
    "idle_when": ("free", "begins an idle period when the link has nothing to send"),
    "in_service_counts": (False, "counts the packets waiting, without the one in service"),
}
"""Switches of RED that ns-2 does not have, with the value that it always has, and what that means."""
NAMES = {
    "at_idle": "idle rule",
    "idle_extra_step": "idle rule",
    "idle_when": "idle rule",
    "guard_one": "guard of one packet",
    "crossing": "first packet above min_th",
    "full_first": "full buffer first",
    "in_service_counts": "packet in service",
}
FAMILY = ("red", "gentle-red", "adaptive-red", "feng-red", "load-red", "mred", "exred", "nlred", "pc-red", "ddred")
"""Disciplines that are RED with other parts, which are named if ns-2 has not got them."""
SPACINGS = {"ns2-wait": True, "ns2-nowait": False, "floyd93": False, "linux": False}
"""Spacing to ``wait_``; the last two are nearly as without."""


@dataclass(frozen=True)
class Ns2Queue:
    """A queue for ns-2: its class below ``Queue/``, ``limit_``, and variables of the class."""

    discipline: str
    limit: int
    settings: dict[str, str]


def ns2_queue(link: Link) -> Ns2Queue:
    """Write a link's queue; what ns-2 has not is passed over (`queue_differences` names it)."""
    own = link.parameters
    if link.aqm == DROP_TAIL:
        return _drop_tail(own)
    size = max(1, round(float(own.get("mean_packet", 1000))))
    in_bytes = own.get("mode") == "bytes"
    limit, unit = _limit(own["limit"])
    settings = {
        "bytes_": flag(in_bytes),
        "queue_in_bytes_": flag(in_bytes),
        "mean_pktsize_": str(size),
        "thresh_": number(own["min_th"]),
        "maxthresh_": number(own["max_th"]),
        "linterm_": number(1 / max(float(own["max_p"]), 1e-300)),
        "q_weight_": number(own["w_q"]),
        "gentle_": flag(own.get("curve") == "gentle"),
        "wait_": flag(SPACINGS.get(str(own.get("spacing")), False)),
        "setbit_": flag(bool(own.get("ecn"))),
        "use_mark_p_": flag(bool(own.get("p_one_is_early"))),
        "mark_p_": number(own.get("mark_up_to", 1)),
        **_adaptation(own),
    }
    return Ns2Queue("RED", max(1, round(limit / size)) if unit == "bytes" else round(limit), settings)


def queue_differences(link: Link) -> Iterator[Semantic]:
    """Name what ns-2 has not of a link's queue, and what it understands otherwise."""
    own, name = link.parameters, f"queue.{link.queue}"
    if link.aqm == DROP_TAIL:
        return
    if link.aqm not in FAMILY or link.classes:
        yield Semantic("discipline", f'{name}: ns-2 2.35 has no "{link.aqm}" of this kind.', Kind.INEXPRESSIBLE)
        return
    yield from _missing_parts(own, name)
    yield from _other_rules(own, name)
    yield from _marking(own, name)
    yield from _bytes(own, name)


def _missing_parts(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    allowed = {
        "curve": ("linear", "gentle"),
        "victim": ("arriving",),
        "adaptation": ("none", "adaptive-red", "feng"),
        "spacing": tuple(SPACINGS),
    }
    for key, values in allowed.items():
        if (value := str(own.get(key, values[0]))) not in values:
            there = ", ".join(values)
            yield Semantic(
                f"{key} {value}", f'{name}: ns-2\'s RED has no {key} "{value}" (there: {there}).', Kind.INEXPRESSIBLE
            )
    if own.get("spacing") in ("floyd93", "linux"):
        yield Semantic(
            "spacing dialect",
            f'{name}: ns-2 without wait_ stands for spacing "{own["spacing"]}", with its own count of packets; '
            'spacing = "ns2-nowait" has ns-2\'s.',
            Kind.DIFFERS,
        )


def _other_rules(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    found: dict[str, list[str]] = {}
    for key, (value, meaning) in FIXED.items():
        if key in own and own[key] != value:
            found.setdefault(NAMES[key], []).append(f"{key} = {_toml(own[key])}, ns-2 {meaning} ({_toml(value)})")
    for what, lines in found.items():
        text = f'{name}: the scenario has {"; ".join(lines)}. dialect = "ns2-2.35" has all of ns-2\'s rules.'
        yield Semantic(what, text, Kind.DIFFERS)
    if own.get("adaptation") == "feng" and (own["max_p_low"] > 0 or own["max_p_high"] < 1):
        text = f"{name}: ns-2 does not keep Feng's max_p between max_p_low and max_p_high."
        yield Semantic("bounds of max_p", text, Kind.DIFFERS)
    if own.get("adapt_clock") == "timer":
        text = f'{name}: ns-2 adapts at arrivals, the scenario has adapt_clock = "timer".'
        yield Semantic("clock of the adaptation", text, Kind.DIFFERS)


def _marking(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    if not own.get("ecn"):
        return
    if own.get("mark_forced"):
        text = f"{name}: ns-2 never marks where it must drop (mark_forced = true)."
        yield Semantic("marking", text, Kind.DIFFERS)
    if not own.get("p_one_is_early") and float(own.get("mark_up_to", 1)) < 1:
        text = f"{name}: without use_mark_p_ (p_one_is_early = false) ns-2 marks at any p_b, not up to mark_up_to."
        yield Semantic("marking", text, Kind.DIFFERS)


def _bytes(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    in_bytes = own.get("mode") == "bytes"
    limit, unit = _limit(own["limit"])
    if in_bytes and own.get("byte_scaling", "after-spacing") != "after-spacing":
        text = f'{name}: ns-2 scales p_a by the packet\'s size, and counts in bytes (byte_scaling = "after-spacing").'
        yield Semantic("byte mode", text, Kind.DIFFERS)
    if unit != ("bytes" if in_bytes else "packets"):
        text = f"{name}: ns-2 measures limit and average in the same unit; the limit is converted by mean_packet."
        yield Semantic("unit of the limit", text, Kind.DIFFERS)
    elif in_bytes and not own.get("strict_limit"):
        text = f"{name}: ns-2's buffer is full when the bytes waiting reach the limit (strict_limit = true)."
        yield Semantic("full buffer", text, Kind.DIFFERS)
    if in_bytes and unit == "bytes" and not math.isclose(limit % float(own["mean_packet"]), 0, abs_tol=1e-9):
        text = f"{name}: ns-2's limit is a whole number of mean packets; it is rounded."
        yield Semantic("unit of the limit", text, Kind.DIFFERS)
    if own.get("mean_packet") and float(own["mean_packet"]) != round(float(own["mean_packet"])):
        yield Semantic("mean packet", f"{name}: ns-2's mean_pktsize_ is whole; it is rounded.", Kind.DIFFERS)


def _adaptation(own: dict[str, Any]) -> dict[str, str]:
    match own.get("adaptation"):
        case "adaptive-red":
            return {
                "adaptive_": "1",
                "feng_adaptive_": "0",
                "alpha_": number(own["ared_alpha"]),
                "beta_": number(own["ared_beta"]),
                "interval_": number(own["adapt_interval"]),
                "top_": number(own["max_p_high"]),
                "bottom_": number(own["max_p_low"]),
            }
        case "feng":
            feng = {"alpha_": number(own["feng_alpha"]), "beta_": number(own["feng_beta"])}
            return {"adaptive_": "1", "feng_adaptive_": "1", **feng}
        case _:
            return {"adaptive_": "0", "feng_adaptive_": "0"}


def _drop_tail(own: dict[str, Any]) -> Ns2Queue:
    limit, unit = _limit(own["limit"])
    whole = round(limit) + (0 if own.get("strict_limit") else 1)
    if unit == "bytes":
        return Ns2Queue("DropTail", whole, {"queue_in_bytes_": "true", "mean_pktsize_": "1"})
    return Ns2Queue("DropTail", whole, {"queue_in_bytes_": "false", "mean_pktsize_": "500"})


def _limit(value: float | str) -> tuple[float, str]:
    if isinstance(value, str):
        return float(value.removesuffix("B")), "bytes"
    return float(value), "packets"


def _toml(value: object) -> str:
    return flag(value) if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
