"""A scenario's queue in the words of Linux's tc, disciplines beside RED too.

RED and drop-tail are those of `aqmlab.live.tc.qdisc`. CoDel and PIE, also with fair queues, have the same parameters in
tc; what tc has no word for is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.interop.crosscheck.model import DROP_TAIL
from aqmlab.interop.crosscheck.tool import Kind, Semantic
from aqmlab.scenario.parts import Link

Write = Callable[[Any], str]


@dataclass(frozen=True)
class Words:
    """A discipline of tc.

    Attributes
    ----------
    kind
        Its name there.
    words
        Our parameter to tc's word and how its value is written.
    flags
        Our flag to tc's words for true and for false.
    fixed
        Our parameters for which Linux has one value: that value, and what it does.
    """

    kind: str
    words: Mapping[str, tuple[str, Write]]
    flags: Mapping[str, tuple[str, str]]
    fixed: Mapping[str, tuple[object, str]] = field(default_factory=dict)


def microseconds(value: float) -> str:
    """Write a time.

    >>> microseconds(0.005)
    '5000us'
    """
    return f"{round(float(value) * 1e6)}us"


def packets(value: float | str) -> str:
    """Write a limit: tc's codel and pie count packets.

    >>> packets(100), packets("150000B")
    ('100', '100')
    """
    return str(round(float(value.removesuffix("B")) / 1500) if isinstance(value, str) else round(value))


def whole(value: float | str) -> str:
    """Write a whole number, of bytes perhaps."""
    return str(round(float(value.removesuffix("B") if isinstance(value, str) else value)))


ECN = {"ecn": ("ecn", "noecn")}
CODEL: dict[str, tuple[str, Write]] = {
    "limit": ("limit", packets),
    "target": ("target", microseconds),
    "interval": ("interval", microseconds),
}
LAW: dict[str, tuple[object, str]] = {
    "dialect": ("linux", "has its own arithmetic of the control law"),
    "max_packet": (1514, "takes the device's largest packet"),
}
PIE: dict[str, tuple[str, Write]] = {
    "limit": ("limit", packets),
    "target": ("target", microseconds),
    "t_update": ("tupdate", microseconds),
}
CONTROLLER: dict[str, tuple[object, str]] = {
    "alpha": (0.125, "has alpha in sixteenths, here its default of 2"),
    "beta": (1.25, "has beta in sixteenths, here its default of 20"),
    "max_burst": (0.15, "spares bursts of 150 ms"),
    "mark_up_to": (0.1, "marks up to a probability of 0.1"),
    "delay": ("timestamp", "takes the delay of the last packet to leave"),
    "derandomize": (True, "spaces drops (RFC 8033, section 5.4)"),
    "cap_adjustment": (True, "bounds the steps of the probability"),
    "mean_packet": (1514, "takes the device's largest packet"),
    "decay": ("empty", "lets the probability decay while there is no delay at all"),
}
FAIR: dict[str, tuple[str, Write]] = {"queues": ("flows", whole), "quantum": ("quantum", whole)}
KEY: dict[str, tuple[object, str]] = {"hash_key": (None, "draws the key of its hash")}
ALL: dict[str, tuple[object, str]] = {"occupancy": ("all", "looks at what is left in all queues")}
MODE = {**ECN, "byte_mode": ("bytemode", "nobytemode")}
BESIDE: dict[str, Words] = {
    "codel": Words("codel", CODEL, ECN, LAW),
    "fq-codel": Words("fq_codel", {**CODEL, **FAIR, "drop_batch": ("drop_batch", whole)}, ECN, {**LAW, **KEY, **ALL}),
    "pie": Words("pie", PIE, MODE, CONTROLLER),
    "fq-pie": Words("fq_pie", {**PIE, **FAIR}, MODE, {**CONTROLLER, **KEY}),
}


def words_of(link: Link) -> str | None:
    """Return tc's words for a discipline beside RED; None for those that `aqmlab.live.tc.qdisc` writes.

    Parameters that are of one value in Linux are left out.
    """
    known = BESIDE.get(link.aqm)
    if known is None:
        return None
    own = link.parameters
    parts = [known.kind]
    parts += [f"{word} {write(own[key])}" for key, (word, write) in known.words.items() if own.get(key) is not None]
    parts += [yes if own[key] else no for key, (yes, no) in known.flags.items() if own.get(key) is not None]
    return " ".join(parts)


def queue_differences(link: Link) -> Iterator[Semantic]:
    """Name what of a discipline beside RED Linux does otherwise."""
    known = BESIDE.get(link.aqm)
    if known is None or link.aqm == DROP_TAIL:
        return
    for key, value in link.parameters.items():
        if key in known.words or key in known.flags or value is None:
            continue
        fixed, meaning = known.fixed.get(key, (None, "has no word for it"))
        if value != fixed:
            text = f"queue.{link.queue}: the scenario has {key} = {value}, Linux {meaning}."
            yield Semantic(f"parameter {key}", text, Kind.DIFFERS)
    if isinstance(link.parameters.get("limit"), str):
        text = f"queue.{link.queue}: Linux's {known.kind} counts packets; the limit is converted by 1500 bytes."
        yield Semantic("unit of the limit", text, Kind.DIFFERS)
