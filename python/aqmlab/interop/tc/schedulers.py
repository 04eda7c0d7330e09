"""Schedulers of classes in tc's words: ``priority`` and ``wfq`` as ``ets`` with a discipline for each band.

Bands are strict in the order of the classes; the classes of a ``wfq``, also of one in the last class of a ``priority``,
share by their quanta. Code points come to bands by the priority that Linux makes of them when it forwards a packet and
the priomap, where that tells them apart, else by filters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError
from aqmlab.scenario.parts import Link

BY_TOS = (0, 0, 2, 2, 6, 6, 4, 4)
"""Linux's priority of a packet by the lower three bits of its code point: best effort, bulk, interactive, both
(net/ipv4/route.c, ip_tos2prio)."""
CODE_POINTS = range(64)
PRIORITIES = 16
MOST_BANDS = 16
QUANTUM = 1514
"""Bytes of the smallest quantum; smaller ones take several turns a packet."""
LEAST_QUANTUM = 256
SCHEDULERS = ("priority", "wfq")
OF_CLASS = ("aqm", "name", "dscp", "default", "weight")


@dataclass(frozen=True)
class Band:
    """A band of ``ets``: its weight (None: strict), code points (None: all others), and the queue."""

    weight: float | None
    points: frozenset[int] | None
    link: Link


def bands_of(link: Link) -> list[Band]:
    """Return the bands of a scheduler in their order."""
    found = [Band(weight, points, child) for weight, points, child in _classes(link)]
    last = found[-1].link
    if link.aqm == "priority" and last.aqm == "wfq":
        outer = found.pop()
        inner = [Band(weight, points, child) for weight, points, child in _classes(last)]
        explicit = frozenset(point for band in inner for point in band.points or ())
        for band in inner:
            points = band.points
            if outer.points is not None:
                points = outer.points - explicit if points is None else points & outer.points
            found.append(Band(band.weight, points, band.link))
    if len(found) > MOST_BANDS:
        raise InputError(f"link {link.name}: ets has at most {MOST_BANDS} bands, not {len(found)}")
    return found


def _classes(link: Link) -> Iterator[tuple[float | None, frozenset[int] | None, Link]]:
    for one in link.classes:
        weight = float(one.get("weight", 1)) if link.aqm == "wfq" else None
        points = None if one["default"] else frozenset(one["dscp"])
        own = {key: value for key, value in one.items() if key not in OF_CLASS and not key.startswith("class.")}
        child = Link(
            name=link.name,
            from_=link.from_,
            to=link.to,
            rate_bps=link.rate_bps,
            delay_s=link.delay_s,
            queue=f"{link.queue}.{one['name']}",
            aqm=str(one["aqm"]),
            parameters=own,
            classes=tuple(_nested(one)),
        )
        yield weight, points, child


def _nested(one: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the classes of a class, whose parameters are ``class.NAME.KEY``."""
    parts = [key.split(".", 2) for key in one if key.startswith("class.")]
    for name in dict.fromkeys(part[1] for part in parts):
        own = {key: one[f"class.{name}.{key}"] for _, inner, key in parts if inner == name}
        words = str(own.pop("dscp", "")).split()
        dscp = [int(word) for word in words if word.isdigit()]
        yield {"name": name, "dscp": dscp, "default": "default" in words, **own}


def write_ets(link: Link, handle: str, handles: Iterator[str], write: Callable[[Link], Any]) -> tuple[str, list[str]]:
    """Return the words of ``ets`` and the commands for the disciplines below it.

    Parameters
    ----------
    link
        With the scheduler.
    handle, handles
        Of the discipline, such as ``10:``, and of those below it.
    write
        Writes the discipline of a link without classes (`aqmlab.interop.tc.queues.Qdisc`).
    """
    bands = bands_of(link)
    weights = [band.weight for band in bands if band.weight is not None]
    words = [f"bands {len(bands)}"]
    if strict := len(bands) - len(weights):
        words.append(f"strict {strict}")
    if weights:
        words.append(f"quanta {' '.join(map(str, quanta_of(weights)))}")
    priomap, filters = _sorting(bands, handle)
    words.append(f"priomap {' '.join(map(str, priomap))}")
    below = []
    for number, band in enumerate(bands, start=1):
        own, at = next(handles), f"parent {handle}{number:x}"
        if band.link.aqm in SCHEDULERS:
            text, more = write_ets(band.link, own, handles, write)
            below += [f"qdisc add dev DEV {at} handle {own} ets {text}", *more]
        else:
            below.append(f"qdisc add dev DEV {at} handle {own} {write(band.link).text}")
    return " ".join(words), below + filters


def quanta_of(weights: Iterable[float]) -> list[int]:
    """Return quanta in the ratio of weights; weights that can be quanta stay as they are.

    >>> quanta_of([3, 1]), quanta_of([1000, 2000])
    ([4542, 1514], [1000, 2000])
    """
    given = list(weights)
    if all(float(one).is_integer() and one >= LEAST_QUANTUM for one in given):
        return [int(one) for one in given]
    return [round(QUANTUM * one / min(given)) for one in given]


def _sorting(bands: list[Band], handle: str) -> tuple[list[int], list[str]]:
    """Return the priomap, and filters for code points that it does not tell apart."""
    default = next((number for number, band in enumerate(bands) if band.points is None), len(bands) - 1)
    band_of = dict.fromkeys(CODE_POINTS, default)
    for number, band in enumerate(bands):
        band_of.update(dict.fromkeys(band.points or (), number))
    priomap, filters = [default] * PRIORITIES, []
    for priority in dict.fromkeys(BY_TOS):
        points = [point for point in CODE_POINTS if BY_TOS[point & 7] == priority]
        if len({band_of[point] for point in points}) == 1:
            priomap[priority] = band_of[points[0]]
            continue
        filters += [
            f"filter add dev DEV parent {handle} protocol ip prio 1 u32 match ip dsfield {point << 2:#04x} 0xfc "
            f"flowid {handle}{band_of[point] + 1:x}"
            for point in points
            if band_of[point] != default
        ]
    return priomap, filters


def handles_from(first: int) -> Iterator[str]:
    """Yield handles in tc's notation.

    >>> next(handles_from(32))
    '20:'
    """
    return (f"{number:x}:" for number in itertools.count(first))
