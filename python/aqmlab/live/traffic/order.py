"""What one process of a side is to send or to receive."""

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
        flows = tuple(
            FlowOrder(**{**flow, "periods_s": tuple((begin, end) for begin, end in flow["periods_s"])})
            for flow in data["flows"]
        )
        return cls(**{**data, "flows": flows})
