"""The parts of a fluid model: the link with its queue, classes of flows, and what solvers ask of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from aqmlab.theory.average import averaging_rate
from aqmlab.theory.domain import not_negative, positive, reject, weight
from aqmlab.theory.drop_curve import Array, DropCurve, drop_rate
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW


@dataclass(frozen=True)
class Bottleneck:
    """The link that all flows share, and its queue.

    Attributes
    ----------
    capacity
        Packets/s.
    curve
        p_b against the average queue.
    w_q
        Weight of a sample in the average; 1 means that the curve sees the queue itself.
    limit
        Packets that may wait; infinite if there is no bound.
    spacing
        The rule that turns p_b into the rate of drops (`drop_rate`).
    unresponsive
        Packets/s of load that does not react to loss, as offered.
    """

    capacity: float
    curve: DropCurve
    w_q: float
    limit: float = math.inf
    spacing: str = "none"
    unresponsive: float = 0.0

    def __post_init__(self) -> None:
        positive("capacity", self.capacity, "packets/s")
        weight("w_q", self.w_q)
        if not self.limit > 0:
            reject("limit", self.limit, "above 0 packets, or infinite")
        drop_rate(0.0, self.spacing)
        not_negative("unresponsive", self.unresponsive, "packets/s")

    @property
    def averaging_rate(self) -> float:
        """K, rad/s: how fast the average follows; infinite for w_q = 1."""
        return averaging_rate(self.w_q, self.capacity)

    def drop(self, x: ArrayLike) -> Array:
        """Return the rate of early drops at averages in packets."""
        return drop_rate(self.curve(x), self.spacing)


@dataclass(frozen=True)
class FlowClass:
    """Flows that are alike.

    Attributes
    ----------
    name
        The class's name in messages.
    flows
        How many.
    propagation
        Delay of the whole round trip without queueing, s.
    window_limit
        Largest window, packets.
    """

    name: str
    flows: float
    propagation: float
    window_limit: float = math.inf

    def __post_init__(self) -> None:
        positive(f"{self.name}: flows", self.flows)
        positive(f"{self.name}: propagation", self.propagation, "s")
        if not self.window_limit >= LEAST_WINDOW:
            reject(f"{self.name}: window_limit", self.window_limit, "1 packet or more")


class Fluid(Protocol):
    """Interface that solvers need of a model: `aqmlab.theory.fluid.model.FluidModel`."""

    @property
    def bottleneck(self) -> Bottleneck:
        """The link."""

    @property
    def classes(self) -> tuple[FlowClass, ...]:
        """Flows that share it."""

    @property
    def loss_law(self) -> str:
        """How windows answer losses."""

    @property
    def flows(self) -> Array:
        """Flows of each class."""

    @property
    def propagation(self) -> Array:
        """Round trip of each class without queueing, s."""

    @property
    def window_limits(self) -> Array:
        """Largest window of each class, packets."""
