"""Edge cases: short sequences of packets with the expected victim. Every expectation is worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass

from reference_models.rio import AF11
from reference_models.traffic import Operation, ReferenceModel, Template

RATE_BPS = 8e6
"""One packet of 1000 bytes takes 1 ms."""


def packet(
    distance: int = 1,
    *,
    flow: int = 0,
    high: bool = False,
    assured: bool = False,
    ect: bool = False,
    way: int | None = None,
    size: int = 1000,
) -> Template:
    """A data packet; `way` is the routers on the whole way, as far as it is known."""
    return {
        "bytes": size,
        "flow": flow,
        "cls": int(high),
        "kind": "data",
        "dscp": AF11 if assured else 0,
        "ect": ect,
        "ttl_initial": 64,
        "ttl": 64 - distance,
        "ttl_final": 0 if way is None else 64 - way,
    }


def arrivals(*packets: Template | None) -> list[Operation]:
    """Packet 0 goes into transmission at once, one thing a microsecond follows; `None` is an end of service."""
    operations: list[Operation] = [(0, packets[0]), (0, None)]
    return operations + [(i * 1_000_000, template) for i, template in enumerate(packets[1:], start=1)]


@dataclass(frozen=True)
class Edge:
    """A queue, its operations, and the expected drops (packet number and reason) and marks."""

    name: str
    queue: str
    model: ReferenceModel
    operations: list[Operation]
    draws: list[float]
    dropped: list[tuple[int, str]]
    marked: list[int]


NEVER = 0.999999
"""A draw that drops nothing."""


def word(value: bool) -> str:
    """A truth value in TOML."""
    return "true" if value else "false"
