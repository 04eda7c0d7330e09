"""Features of a queue that ns-2 lacks or implements differently."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.ns2.queues import RED, limit_of
from aqmlab.interop.red import ADAPTATIONS, SPACINGS, adaptation_differences, missing_parts
from aqmlab.scenario.parts import DROP_TAIL, Link

FAMILY = ("red", "gentle-red", "adaptive-red", "feng-red", "load-red", "mred", "exred", "nlred", "pc-red", "ddred")
"""Disciplines that are RED with other parts; the parts that ns-2 lacks are named."""
PARTS = {"curve": ("linear", "gentle"), "victim": ("arriving",), "adaptation": ADAPTATIONS, "spacing": SPACINGS}


def queue_differences(link: Link) -> Iterator[Semantic]:
    """Yield the features of a link's queue that ns-2 lacks or implements differently."""
    own, name = link.parameters, f"queue.{link.queue}"
    if link.aqm == DROP_TAIL:
        return
    if link.aqm not in FAMILY or link.classes:
        yield Semantic("discipline", f'{name}: ns-2 2.35 has no "{link.aqm}" of this kind.', Kind.INEXPRESSIBLE)
        return
    yield from missing_parts(own, name, "ns-2", PARTS)
    yield from _other_rules(own, name)
    yield from _marking(own, name)
    yield from _bytes(own, name)


def _other_rules(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    if own.get("spacing") in ("floyd93", "linux"):
        text = (
            f'{name}: ns-2 without wait_ stands for spacing "{own["spacing"]}", with its own count of packets; '
            'spacing = "ns2-nowait" has ns-2\'s.'
        )
        yield Semantic("spacing dialect", text, Kind.DIFFERS)
    for what, clauses in RED.rules(own, "ns-2").items():
        text = f'{name}: the scenario has {"; ".join(clauses)}. dialect = "ns2-2.35" has all of ns-2\'s rules.'
        yield Semantic(what, text, Kind.DIFFERS)
    yield from adaptation_differences(own, name, "ns-2")


def _marking(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    if not own.get("ecn"):
        return
    if own.get("mark_forced"):
        text = f"{name}: ns-2 never marks where it must drop (mark_forced = true)."
        yield Semantic("marking", text, Kind.DIFFERS)
    if own.get("nodrop"):
        text = f"{name}: ns-2 drops a chosen packet that is not ECN-capable (nodrop = true)."
        yield Semantic("marking", text, Kind.DIFFERS)
    if own.get("p_one_is_early") and own.get("mark_at_bound"):
        text = (
            f"{name}: ns-2 marks where p_b is below mark_p_, and drops at it; mark_at_bound = true marks "
            "there too, as ns-2 with the patch of DCTCP."
        )
        yield Semantic("marking", text, Kind.DIFFERS)
    if not own.get("p_one_is_early") and own.get("forced_at", "end") != "end":
        text = (
            f'{name}: without use_mark_p_ ns-2 drops without a draw from the end of the curve on (forced_at = "end").'
        )
        yield Semantic("probability one", text, Kind.DIFFERS)
    if not own.get("p_one_is_early") and float(own.get("mark_up_to", 1)) < 1:
        text = f"{name}: without use_mark_p_ (p_one_is_early = false) ns-2 marks at any p_b, not up to mark_up_to."
        yield Semantic("marking", text, Kind.DIFFERS)


def _bytes(own: dict[str, Any], name: str) -> Iterator[Semantic]:
    in_bytes = own.get("mode") == "bytes"
    limit, unit = limit_of(own["limit"])
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
