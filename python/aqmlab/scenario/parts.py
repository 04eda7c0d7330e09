"""Parts of a checked scenario: links with their queues, and flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

P = TypeVar("P", "Link", "Flow")
DROP_TAIL = "drop-tail"
RIO = ("rio", "adaptive-rio")
"""Disciplines with the same two classes."""
UDP = "udp"
SCREAM = "scream"
NOT_TCP = (UDP, SCREAM)


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a link, with its queue.

    Attributes
    ----------
    name, from_, to
        Its name and the nodes it joins.
    rate_bps
        Rate in bit/s at the start; the mean of a rate that varies by itself.
    delay_s
        Propagation delay in s.
    queue
        Name of its ``[queue.NAME]`` table.
    aqm
        The discipline.
    parameters
        Effective values of every parameter and switch of the discipline.
    without_effect
        Keys of the parameters that have no effect with the others as they are: ``mark_up_to`` without ``ecn``.
    channel
        Impairments of packets on the way: settings by key (``loss``, ``jitter``, ``reorder``,
        ``duplicate``), shares from 0 to 1, times in s; empty if nothing does.
    classes
        Effective values of every class of a queue that has classes, in their order: name, code points, curve.
    token_bucket
        Of a token bucket: ``burst`` and ``mtu`` in bytes, ``peakrate_bps`` in bit/s; None for other servers.
    framing
        Lengths on the wire: ``overhead`` and ``mpu`` in bytes, ``linklayer``; None if they are those of the packets.
    in_service
        End of the packet in service when the rate changes: ``remaining-bits`` or ``as-started``.
    trace
        The trace that the rate follows: ``reading`` (``opportunities``, ``hold`` or ``interpolate``), ``period_s``,
        ``mean_bps``, ``longest_outage_s`` and ``bins_bps``, the means of equal parts of a period; None without.
    varies_by
        Keys of the models or the trace by which rate and delay vary: ``trace``, ``cellular``, ``handover_step``, ...; a
        ``[[change]]`` and a token bucket are not among them.
    """

    name: str
    from_: str
    to: str
    rate_bps: float
    delay_s: float
    queue: str
    aqm: str
    parameters: dict[str, Any] = field(default_factory=dict)
    channel: dict[str, Any] = field(default_factory=dict)
    classes: tuple[dict[str, Any], ...] = ()
    token_bucket: dict[str, Any] | None = None
    framing: dict[str, Any] | None = None
    in_service: str = "remaining-bits"
    trace: dict[str, Any] | None = None
    varies_by: tuple[str, ...] = ()
    without_effect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow: sender, receiver, times, transport or pattern, and the links of its path.

    Attributes
    ----------
    name, group, transport
        Its name, that of its ``[[flow]]`` table, and a variant of TCP or ``udp``.
    from_, to, path
        The ends and the links from one to the other; ``random`` and no path where an end is drawn in every run.
    parameters
        Effective values of the transport.
    start_s, stop_s, again
        Earliest and latest start in s, the end of its data if it has one, and further periods in which there is data.
    arrivals_per_s
        Rate of the Poisson process with whose arrivals the flows of its group start; None if they start otherwise.
    dscp
        Code point of its data as it is sent.
    priority
        Its priority level for PC-RED, from 1; 0 without priority.
    ttl
        Time to live with which both ends send, 1 to 255.
    acks_share_label
        Whether acknowledgements carry the flow label and the priority of the data.
    source_host, destination_host
        Hosts of data packets for host isolation (CAKE); None: the nodes at its ends.
    source_nat, destination_nat
        Translators whose addresses replace those of the hosts where CAKE has ``nat = false``; None: no translation.
    """

    name: str
    group: str
    transport: str
    from_: str
    to: str
    path: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    start_s: tuple[float, float] = (0.0, 0.0)
    arrivals_per_s: float | None = None
    stop_s: float | None = None
    again: tuple[tuple[float, float], ...] = ()
    dscp: int = 0
    priority: int = 0
    ttl: int = 64
    acks_share_label: bool = False
    source_host: str | None = None
    destination_host: str | None = None
    source_nat: str | None = None
    destination_nat: str | None = None

    @property
    def is_tcp(self) -> bool:
        """Whether it sends by TCP."""
        return self.transport not in NOT_TCP

    @property
    def payload_bytes(self) -> float:
        """Payload of a full packet of TCP in bytes."""
        return float(self.parameters["mss" if "mss" in self.parameters else "packet_size"])

    @property
    def packet_bytes(self) -> tuple[float, float]:
        """Least and greatest length of a full packet on a link in bytes, headers included."""
        if self.transport == SCREAM:
            return float(self.parameters["mss"]), float(self.parameters["mss"])
        if self.transport != UDP:
            full = self.payload_bytes + float(self.parameters["header"])
            return full, full
        size = self.parameters["packet_size"]
        if isinstance(size, dict) and "uniform" in size:
            return float(size["uniform"][0]), float(size["uniform"][1])
        return mean_of(size), mean_of(size)


def parts(kind: type[P], records: Iterable[dict[str, Any]]) -> tuple[P, ...]:
    """Make links or flows of the core's records; equal ones have one table of parameters."""
    shared: dict[str, dict[str, Any]] = {}

    def part(record: dict[str, Any]) -> P:
        own = record.pop("parameters")
        return kind(from_=record.pop("from"), parameters=shared.setdefault(repr(own), own), **record)

    return tuple(map(part, records))


def safe(name: str) -> str:
    """Return a name as part of a file's name: ``-`` replaces all but letters, digits, ``-``, ``_`` and ``.``."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)


def rate_text(bps: float, digits: int = 6) -> str:
    """Write a rate with its unit, in so many significant digits.

    >>> rate_text(10e6), rate_text(1.5e9), rate_text(125)
    ('10 Mb/s', '1.5 Gb/s', '125 b/s')
    """
    size, unit = next((one for one in ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")) if bps >= one[0]), (1.0, "b/s"))
    return f"{bps / size:.{digits}g} {unit}"


def packets(value: float | str, packet: float) -> float:
    """Return a size in packets; the core writes sizes in bytes as ``25000B``.

    >>> packets("25000B", 1000), packets(12, 1000)
    (25.0, 12.0)
    """
    return float(value.removesuffix("B")) / packet if isinstance(value, str) else float(value)


def mean_of(spread: float | Mapping[str, Any]) -> float:
    """Return the mean of a distribution in the form of the core.

    >>> mean_of(2.0), mean_of({"uniform": [1, 3], "unit": "s"}), mean_of({"pareto": {"mean": 5, "shape": 1.5}})
    (2.0, 2.0, 5.0)
    """
    if not isinstance(spread, Mapping):
        return float(spread)
    if "uniform" in spread:
        return sum(map(float, spread["uniform"])) / 2
    return float(spread["exponential"] if "exponential" in spread else spread["pareto"]["mean"])
