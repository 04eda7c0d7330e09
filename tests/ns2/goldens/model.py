"""Parts of a case. Times are decimals of a second, so that a case is exact until a tool rounds it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from zlib import crc32

GRID = Decimal(1) / 4096
"""2^-12 s: the finest grid that is exact both in doubles and in integer picoseconds."""

BOTTLENECK = "bottleneck"


@dataclass(frozen=True)
class Link:
    """A one-way link: bit/s, propagation delay, drop-tail limit in packets (ns-2's `limit_`)."""

    source: str
    target: str
    rate: int
    delay: Decimal
    limit: int = 1000
    name: str | None = None


@dataclass(frozen=True)
class Tcp:
    """A TCP flow: sizes in bytes, `size` in packets (None: greedy), `seed` for its clock's phase."""

    source: str
    target: str
    variant: str
    start: Decimal
    seed: int = 1
    window: int = 64
    payload: int = 1000
    header: int = 40
    ack_size: int = 40
    initial_window: int = 2
    syn: bool = True
    delayed_ack: Decimal | None = None
    limited_transmit: bool = True
    min_rto: Decimal = Decimal("0.2")
    max_rto: Decimal = Decimal(60)
    initial_rto: Decimal = Decimal(3)
    tick: Decimal = Decimal("0.01")
    max_burst: int = 0
    size: int | None = None


def with_seeds(flows: tuple[Flow, ...], case: str) -> tuple[Flow, ...]:
    """The flows with a seed of their own each. Nearby seeds would give ns-2's senders nearly the same phase."""
    return tuple(
        replace(flow, seed=crc32(f"{case}/{index}".encode()) >> 2) if isinstance(flow, Tcp) else flow
        for index, flow in enumerate(flows)
    )


@dataclass(frozen=True)
class Cbr:
    """A constant bit rate UDP flow: bit/s, bytes of the whole packet."""

    source: str
    target: str
    start: Decimal
    stop: Decimal
    rate: int
    packet: int


Flow = Tcp | Cbr


@dataclass(frozen=True)
class Case:
    """One scenario. Family "exact" lives on the grid; "ordinary" has numbers as anyone would choose them."""

    family: str
    name: str
    description: str
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    duration: Decimal | None = None
    """None: the shortest whole number of seconds (and 0.1 ms) that gives enough events."""

    @property
    def bottleneck(self) -> Link:
        """The link whose events are the golden."""
        return next(link for link in self.links if link.name == BOTTLENECK)


@dataclass
class Counts:
    """ns-2's own counts for one TCP flow."""

    timeouts: int = 0
    sent: int = 0
    retransmitted: int = 0
    clock_offset: str = "0"
    fast_retransmits: int = 0
    backoffs: int = 0
    max_backoff: int = 1


@dataclass
class Run:
    """The outcome of one run of ns-2."""

    trace: list[Event] = field(default_factory=list)
    counts: dict[int, Counts] = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """A trace line: `t` seconds, kind (+ enqueue, - dequeue, d drop, r received), link ends, packet."""

    t: Decimal
    kind: str
    source: str
    target: str
    flow: int
    seq: int
    bytes: int
    uid: int
    is_ack: bool
