"""The order of one process of a side: flows to send or to receive."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class FlowOrder:
    """One connection.

    Attributes
    ----------
    name
        The flow's.
    local, peer, port
        Addresses of the sender and of the receiver, and the receiver's port.
    periods_s
        When there is something to send: from, to (None: to the end of the run), one after the other.
    size_bytes
        Payload to send; None without end.
    congestion_control
        Of the sender; None for the route's.
    dscp
        Code point of its packets.
    segment_bytes
        Payload of a full segment.
    ttl_fields
        DDRED's TTL_i, TTL_f of data and TTL_f of replies, which packets are to carry; None: they carry none.
    """

    name: str
    local: str
    peer: str
    port: int
    periods_s: tuple[tuple[float, float | None], ...]
    size_bytes: int | None
    congestion_control: str | None
    dscp: int
    segment_bytes: int
    ttl_fields: tuple[int, int, int] | None = None

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FlowOrder:
        """Read it."""
        periods, fields = data["periods_s"], data["ttl_fields"]
        changes = {
            "periods_s": tuple((begin, end) for begin, end in periods),
            "ttl_fields": None if fields is None else tuple(fields),
        }
        return cls(**{**data, **changes})

    @property
    def ends(self) -> bool:
        """Whether its data end before the run does."""
        return self.size_bytes is not None or any(to is not None for _, to in self.periods_s)


@dataclass(frozen=True)
class Order:
    """All connections of a side, and what to record.

    Attributes
    ----------
    flows
        The connections.
    duration_s, warmup_s
        Length of the run, and the time at which the counts begin.
    cwnd_interval_s, flow_interval_s
        How often windows, and bytes, are recorded; None: never.
    """

    flows: tuple[FlowOrder, ...]
    duration_s: float
    warmup_s: float
    cwnd_interval_s: float | None = None
    flow_interval_s: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Order:
        """Read it."""
        flows = tuple(FlowOrder.from_json(flow) for flow in data["flows"])
        return cls(**{**data, "flows": flows})
