"""ns-3's disciplines beside RED: which attribute has which of our parameters.

A parameter that ns-3 has no attribute for is named where it is not what ns-3 does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.interop.crosscheck.tool import Kind, Semantic
from aqmlab.interop.formatting import flag, number
from aqmlab.interop.ns3.formatting import seconds

Write = Callable[[Any], str]


@dataclass(frozen=True)
class Beside:
    """A discipline.

    Attributes
    ----------
    kind
        Its type.
    words
        Our parameter to an attribute and how it is written.
    fixed
        Our parameters for which ns-3 has one value: that value, and what it does.
    always
        Attributes that leave out what ours has not.
    notes
        Names of further differences, and what ns-3 does.
    """

    kind: str
    words: Mapping[str, tuple[str, Write]]
    fixed: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    always: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


def size(limit: float | str) -> str:
    """Write a limit in packets or bytes.

    >>> size(100), size("64000B")
    ('100p', '64000B')
    """
    return f"{round(float(limit.removesuffix('B')))}B" if isinstance(limit, str) else f"{round(limit)}p"


def whole(value: float | str) -> str:
    """Write a whole number, of bytes perhaps."""
    return str(round(float(value.removesuffix("B") if isinstance(value, str) else value)))


def least_left(most: float) -> str:
    """Write how many bytes must be left for a drop, where ours names how many are too few.

    >>> least_left(1514)
    '1515'
    """
    return whole(most + 1)


def key(value: float | str) -> str:
    """Write the key of a hash; the program draws one where it is "random"."""
    return value if isinstance(value, str) else whole(value)


def is_rate(value: object) -> str:
    """Write whether the delay is found by the rate of departures."""
    return flag(value == "departure-rate")


CODEL: dict[str, tuple[str, Write]] = {
    "limit": ("MaxSize", size),
    "target": ("Target", seconds),
    "interval": ("Interval", seconds),
    "ecn": ("UseEcn", flag),
}
PIE: dict[str, tuple[str, Write]] = {
    "limit": ("MaxSize", size),
    "target": ("QueueDelayReference", seconds),
    "t_update": ("Tupdate", seconds),
    "alpha": ("A", number),
    "beta": ("B", number),
    "max_burst": ("MaxBurstAllowance", seconds),
    "mean_packet": ("MeanPktSize", whole),
    "mark_up_to": ("MarkEcnThreshold", number),
    "delay": ("UseDequeueRateEstimator", is_rate),
    "cap_adjustment": ("UseCapDropAdjustment", flag),
    "derandomize": ("UseDerandomization", flag),
    "ecn": ("UseEcn", flag),
}
LAW: dict[str, tuple[object, str]] = {"dialect": ("linux", "has Linux's arithmetic of the control law")}
BYTES: dict[str, tuple[object, str]] = {"byte_mode": (False, "counts packets where the limit is in packets")}
DECAY: dict[str, tuple[object, str]] = {"decay": ("empty", "lets the probability decay while there is no delay at all")}
FAIR: dict[str, tuple[str, Write]] = {"queues": ("Flows", whole), "hash_key": ("Perturbation", key)}
TURNS: dict[str, tuple[object, str]] = {"quantum": (1500, "takes the device's MTU, 1500 bytes")}
HASH = {"hash": "hashes addresses and ports with a function of its own; other flows share a queue."}
SPARING = {
    "burst allowance": "grants it with the first packet, and again after 1.5 s of rest (RFC 8033: at once).",
    "short queues": "never drops while two packets wait, of any length; ours while two mean_packet wait.",
}
NEVER = "1000000s"
BESIDE: dict[str, Beside] = {
    "codel": Beside("ns3::CoDelQueueDisc", {**CODEL, "max_packet": ("MinBytes", least_left)}, LAW),
    "fq-codel": Beside(
        "ns3::FqCoDelQueueDisc",
        {**CODEL, **FAIR, "drop_batch": ("DropBatchSize", whole)},
        {
            **LAW,
            **TURNS,
            "max_packet": (1499, "drops while 1500 bytes are left in a flow's queue (MinBytes of CoDel)"),
            "occupancy": ("queue", "looks at what is left in the flow's queue, not in all"),
        },
        notes=HASH,
    ),
    "cobalt": Beside(
        "ns3::CobaltQueueDisc",
        {**CODEL, "increment": ("Increment", number), "decrement": ("Decrement", number)},
        {"max_packet": (0, "may drop also while the delay is less than the time of four packets")},
        {"BlueThreshold": NEVER},
    ),
    "pie": Beside("ns3::PieQueueDisc", PIE, {**BYTES, **DECAY}, notes=SPARING),
    "fq-pie": Beside(
        "ns3::FqPieQueueDisc",
        {**{name: words for name, words in PIE.items() if name != "mark_up_to"}, **FAIR},
        {
            **BYTES,
            **DECAY,
            **TURNS,
            "mark_up_to": (0.1, "does not hand MarkEcnThreshold on to its queues, which mark up to 0.1"),
        },
        notes={**SPARING, **HASH, "full buffer": "drops from the longest queue, ours what arrives."},
    ),
}


def attributes_beside(aqm: str, own: Mapping[str, Any]) -> dict[str, str]:
    """Return attributes of a discipline with our parameters."""
    known = BESIDE[aqm]
    made = {name: write(own[key]) for key, (name, write) in known.words.items() if own.get(key) is not None}
    return {**made, **known.always}


def differences_beside(aqm: str, own: Mapping[str, Any], name: str) -> Iterator[Semantic]:
    """Name our parameters for which ns-3 has no attribute."""
    known = BESIDE[aqm]
    for key, value in own.items():
        if key in known.words or value is None:
            continue
        fixed, meaning = known.fixed.get(key, (None, "has no attribute for it"))
        if value != fixed:
            text = f"{name}: the scenario has {key} = {_said(value)}, ns-3 {meaning}."
            yield Semantic(f"parameter {key}", text, Kind.DIFFERS)
    for what, meaning in known.notes.items():
        yield Semantic(what, f"{name}: ns-3 {meaning}", Kind.DIFFERS)


def _said(value: object) -> str:
    return flag(value) if isinstance(value, bool) else number(value) if isinstance(value, int | float) else str(value)
