"""The rest point of the fluid: the queue at which the flows send as much as the link carries.

At a queue q the curve gives p(q), the law of losses gives every class its window, and the flows offer

    A(q) = sum_i N_i W_i(p(q)) / (propagation_i + q/C) + u (1 - p(q))

which falls as q grows. Bisection finds A(q) = C. Three things can come in between: the flows cannot fill the link
(A(0) <= C: q = 0); the curve jumps over the p that is needed (the queue sits at the jump, and p is as the flows need);
or p is not reached within the limit (the queue is full, and p includes what does not fit).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW, equilibrium_window, loss_law
from aqmlab.theory.fluid.parts import Fluid

FEW = 4.0
"""Packets: a flow with a smaller window has too few duplicate acknowledgements for fast retransmit (RFC 5681)."""
JUMP = 1e-6
"""A step of p that counts as a jump of the curve."""


@dataclass(frozen=True)
class OperatingPoint:
    """The equilibrium of a fluid model.

    Attributes
    ----------
    queue
        Packets.
    p
        Probability that a packet is dropped, early or for want of room.
    windows, rtts
        Of each class, packets and s.
    throughput
        Packets/s that leave the link.
    inside
        Whether the point lies on a continuous part of the curve with the link full: only there can it be linearized.
    notes
        Each assumption of the model that does not hold here, in plain words.
    """

    queue: float
    p: float
    windows: tuple[float, ...]
    rtts: tuple[float, ...]
    throughput: float
    inside: bool
    notes: tuple[str, ...]


Windows = Callable[[float, float, Array], Array]
"""Mean windows of the classes at an overall loss p, a queue in packets and the round trips in s."""


def solve(model: Fluid, windows: Windows | None = None) -> OperatingPoint:
    """Return the operating point of a model (`FluidModel.operating_point`).

    Parameters
    ----------
    model
        Link, classes and law of losses.
    windows
        How the classes answer where they do not all lose the same share p of their packets
        (`aqmlab.theory.shares`); default: every class has the window of the law of losses at p.
    """
    link = model.bottleneck
    rest = _Rest(model, windows)
    if rest.offered(0.0, rest.early(0.0)) <= link.capacity:
        return rest.point(0.0, rest.early(0.0), inside=False, why="")
    top = _top(rest)
    if rest.offered(top, rest.early(top)) > link.capacity:
        return _full(rest)
    low, high = _bisect(lambda q: rest.offered(q, rest.early(q)) > link.capacity, 0.0, top)
    below, above = rest.early(low), rest.early(high)
    high = min((knot for knot in link.curve.knots if abs(knot - high) <= 1e-9 * knot), default=high)
    if above - below <= JUMP:
        return rest.point(high, above, inside=True, why="")
    _, p = _bisect(lambda p: rest.offered(high, p) > link.capacity, below, above)
    why = (
        f"the curve jumps from p = {below:.4g} to {above:.4g} at {high:.5g} packets, over the p = {p:.4g} that the "
        "flows need: the queue sits at the jump, and there is no slope to linearize"
    )
    return rest.point(high, p, inside=False, why=why)


class _Rest:
    """Flows at a constant queue and a constant loss."""

    def __init__(self, model: Fluid, windows: Windows | None = None) -> None:
        self._windows = windows
        self.model, self.link = model, model.bottleneck
        self.law = loss_law(model.loss_law)
        self.flows, self.propagation, self.limits = model.flows, model.propagation, model.window_limits

    def early(self, queue: float) -> float:
        return float(self.link.drop(queue))

    def rtts(self, queue: float) -> Array:
        return self.propagation + queue / self.link.capacity

    def windows(self, p: float, queue: float) -> Array:
        if self._windows is not None:
            return np.clip(self._windows(p, queue, self.rtts(queue)), LEAST_WINDOW, self.limits)
        return equilibrium_window(self.law, p, self.limits)

    def offered(self, queue: float, p: float, early: float | None = None) -> float:
        """Return what comes to the queue, packets/s; `early` is the part of p that is not for want of room."""
        passing = 1 - (p if early is None else early)
        return float(np.sum(self.flows * self.windows(p, queue) / self.rtts(queue))) + self.link.unresponsive * passing

    def point(self, queue: float, p: float, *, inside: bool, why: str) -> OperatingPoint:
        capacity = self.link.capacity
        windows, rtts = self.windows(p, queue), self.rtts(queue)
        throughput = min(self.offered(queue, p, min(p, self.early(queue))), capacity)
        notes = [why] if why else []
        if queue == 0:
            notes.append(
                f"the flows do not fill the link: {throughput:.5g} of {capacity:.5g} packets/s, the queue is 0"
            )
        notes += self._about_curve(p) + self._about_windows(windows)
        return OperatingPoint(queue, p, tuple(windows.tolist()), tuple(rtts.tolist()), throughput, inside, tuple(notes))

    def _about_curve(self, p: float) -> list[str]:
        curve = self.link.curve
        if not math.isfinite(curve.max_th):
            return []
        most = self.early(curve.max_th * (1 - 1e-9))
        if p <= most + JUMP:
            return []
        notes = [f"p = {p:.4g} is above {most:.4g}, the highest that the curve gives below max_th"]
        if p >= 1:
            notes.append("every packet is dropped, and still the windows, which no loss makes smaller, fill the link")
        return notes

    def _about_windows(self, windows: Array) -> list[str]:
        notes = []
        for flow_class, window in zip(self.model.classes, windows.tolist(), strict=True):
            if window < FEW:
                notes.append(
                    f"{flow_class.name}: a window of {window:.3g} packets, below {FEW:g}: losses end in time-outs, "
                    "which the model does not have"
                )
            if window >= flow_class.window_limit:
                notes.append(
                    f"{flow_class.name}: the window stands at its limit of {window:.5g} packets and does not react "
                    "to loss"
                )
        return notes


def _full(rest: _Rest) -> OperatingPoint:
    """Return the point with a full queue: the share of the offered packets that does not fit is lost."""
    link = rest.model.bottleneck
    early = rest.early(link.limit)

    def too_few_lost(p: float) -> bool:
        over = 1 - link.capacity / max(rest.offered(link.limit, p, early), link.capacity)
        return p < early + (1 - early) * over

    _, p = _bisect(too_few_lost, early, 1.0)
    why = (
        f"the curve gives p = {early:.4g} at the limit of {link.limit:.5g} packets, less than the flows need: the "
        f"queue is full, and p = {p:.4g} includes what does not fit"
    )
    return rest.point(float(link.limit), p, inside=False, why=why)


def _top(rest: _Rest) -> float:
    """Return the limit, or a queue so long that the flows offer less than the link carries."""
    link = rest.model.bottleneck
    if math.isfinite(link.limit):
        return link.limit
    most = rest.early(1e12)
    if link.unresponsive * (1 - most) >= link.capacity:
        raise DomainError(
            f"unresponsive: {link.unresponsive:g} packets/s are more than the link and the curve can cope with, and a "
            "queue without limit grows for ever (allowed: less, or a limit)"
        )
    if not np.isfinite(rest.limits).all() and most == 0:
        raise DomainError("limit: a queue without limit and without drops grows for ever (allowed: a limit)")
    top = 1.0
    while rest.offered(top, rest.early(top)) > link.capacity:
        top *= 2
    return top


def _bisect(left: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return neighbours between which a condition that holds on the left ends."""
    while high - low > 1e-14 * max(abs(high), 1e-3):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if left(middle) else (low, middle)
    return low, high
