"""The link as ``tc -s -d qdisc show`` of iproute2 would show it, so that eyes and scripts made for that find their way.

The lines have tc's form and order, the facts are the link's. Where they differ in meaning:

* *dropped* is every drop of the discipline, *overlimits* drops and marks by RED, *pdrop* drops for want of room,
  *early* drops by chance or beyond the curve, *marked* ECN marks. *other* and *requeues* do not exist here.
* *ewma* is -log2 of the average's weight, a whole number in Linux alone; *probability* is ``max_p``.
* thresholds are in packets (``p``) where the discipline counts packets, and in bytes (``b``) else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, TextIO

from aqmlab.live.telemetry.snapshot import Direction, Snapshot
from aqmlab.live.telemetry.view import Clock, Line, Paced
from aqmlab.scenario.parts import Link

EVERY_S = 1.0
PLAIN = ("drop-tail", "ddred-tail")
"""Disciplines that drop for want of room alone."""


class TcText:
    """Writes a block a second; `links` has those whose parameters are known, and may change."""

    def __init__(self, out: TextIO, links: Mapping[str, Link], *, clock: Clock = time.monotonic) -> None:
        self._out = out
        self._links = links
        self._pace = Paced(self._draw, EVERY_S, clock)

    def show(self, line: Line) -> None:
        """Take a line."""
        self._pace.show(line)

    def close(self) -> None:
        """Write the last block."""
        self._pace.close()

    def _draw(self, snapshot: Snapshot) -> None:
        self._out.write(block(snapshot, self._links) + "\n")
        self._out.flush()


def block(snapshot: Snapshot, links: Mapping[str, Link]) -> str:
    """Return the lines of every direction; `links` has those whose parameters are known."""
    parts = []
    for number, direction in enumerate(snapshot.directions, 1):
        parts += _direction(number, direction, links.get(direction.link))
    return "".join(f"{part}\n" for part in parts)


def _direction(number: int, direction: Direction, link: Link | None) -> list[str]:
    counted = direction.counters
    is_red = direction.aqm not in PLAIN
    words = [f"qdisc {direction.aqm} {number}: dev {direction.link} root"]
    # A reload may have brought another discipline than the file had when it was first read.
    if link is not None and link.aqm != direction.aqm:
        link = None
    if link is not None:
        words += _parameters(link.parameters, is_red=is_red)
    overlimits = counted.drops_early + counted.drops_forced + counted.marks if is_red else 0
    lines = [
        " ".join(words),
        f" Sent {counted.departed_bytes} bytes {counted.departures} pkt "
        f"(dropped {counted.drops}, overlimits {overlimits} requeues 0)",
        f" backlog {direction.backlog_bytes}b {direction.backlog_packets}p requeues 0",
    ]
    if is_red:
        early = counted.drops_early + counted.drops_forced
        lines.append(f"  marked {counted.marks} early {early} pdrop {counted.drops_overflow} other 0")
    if link is not None:
        lines += ["  " + " ".join(_class(group, link.parameters)) for group in link.classes]
    return lines


def _parameters(values: dict[str, Any], *, is_red: bool) -> list[str]:
    words = [f"limit {_size(values.get('limit'), {})}"]
    if is_red:
        words += [f"{short} {_size(values.get(key), values)}" for short, key in (("min", "min_th"), ("max", "max_th"))]
        words += ["ecn"] if values.get("ecn") is True else []
        words += ["adaptive"] if values.get("adaptation", "none") != "none" else []
        words += [f"ewma {_ewma(values.get('w_q'))}", f"probability {_number(values.get('max_p'))}"]
    return words


def _class(group: dict[str, Any], values: dict[str, Any]) -> list[str]:
    points = ["default"] if group.get("default") else [str(point) for point in group.get("dscp", ())]
    words = [f"class {group.get('name')} dscp {','.join(points)}"]
    words += [f"{short} {_size(group.get(key), values)}" for short, key in (("min", "min_th"), ("max", "max_th"))]
    return [*words, f"probability {_number(group.get('max_p'))}"]


def _size(value: object, values: dict[str, Any]) -> str:
    """Write a length of the queue: in packets, or in bytes where the discipline counts them.

    >>> _size(5, {"mode": "packets"}), _size(5, {"mode": "bytes", "mean_packet": 1000}), _size("150000B", {})
    ('5p', '5000b', '150000b')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        if values.get("mode") == "bytes":
            return f"{value * values.get('mean_packet', 1):.0f}b"
        return f"{value:g}p"
    return str(value).replace("B", "b")


def _ewma(weight: object) -> str:
    """Write a weight as tc does.

    >>> _ewma(1 / 16), _ewma(0.002), _ewma("auto")
    ('4', '8.97', 'auto')
    """
    return f"{-math.log2(weight):.3g}" if isinstance(weight, float) and weight > 0 else str(weight)


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
