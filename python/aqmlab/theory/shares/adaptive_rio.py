"""Adaptive-RIO: assured and best-effort flows at given thresholds, and where the thresholds move.

C.-H. Chien and W. Liao, "A Self-Configuring RED Gateway for Quality of Service (QoS) Networks", section 3, Figure 3 and
Table 1 (the figure is lost; the algorithm is the reconstruction that is simulated, `aqm/src/red/adaptation`).

**Windows.** Of a flow with the committed rate r (packets/s; W_r = r R packets in a round trip) the edge marks what
exceeds r as best effort. With p_in and p_out the losses of the two kinds, a window W loses in a round trip

    H(W) = p_in min(W, W_r) + p_out max(W - W_r, 0)      packets

Misra's equation, W H(W)/2 = 1, has for p_in = 0 the window W = W_r/2 + sqrt(W_r^2/4 + 2/p_out), the form of Yeom and
Reddy ("Modeling TCP behavior in a differentiated services network", IEEE/ACM ToN 9(1), 2001). Where the loop swings,
the same losses drive the equation in time (`aqmlab.theory.fluid.trajectory`, `losses`).

**Thresholds.** With A(max) the rate of all arrivals at a threshold (sent/(1-p)), every UI:

    no assured traffic for T_abs       max rises by Delta_T to max_U,  C' falls by Delta_C to C_init
    A > C' (1 + eps)                   max falls to max_L,             C' rises to C
    A < C' (1 - eps)                   max rises,                      C' falls
    else                               both rest: a fixed point

With `trend = "both"` (and "either" at rest) a step needs A to move away too, which a stationary A does at half of the
updates: speeds are halved. A full link has A >= C > C' (1 - eps), so that with assured traffic max ends at max_L and C'
at min(A/(1 + eps), C); without, at max_U and C_init. `walk` follows them through the periods of the assured flows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from aqmlab.theory.domain import not_negative, positive, reject
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW
from aqmlab.theory.shares.response import LARGEST, settle, windows_at


def assured_window(reserved: float, p_in: float, p_out: float) -> float:
    """Return the window in packets of Misra's equation with a committed rate, W H(W)/2 = 1.

    Parameters
    ----------
    reserved
        W_r, packets in a round trip; 0 or more.
    p_in, p_out
        Losses of packets within and beyond the committed rate, 0 to 1.

    Examples
    --------
    Without a rate sqrt(2/p); with W_r = 20 and 1 % loss beyond the rate: 10 + sqrt(100 + 200).

    >>> assured_window(0, 0, 0.02), round(assured_window(20, 0, 0.01), 4)
    (10.0, 27.3205)
    """
    not_negative("reserved", reserved, "packets")
    if p_in > 0 and math.sqrt(2 / p_in) < reserved:
        return max(math.sqrt(2 / p_in), LEAST_WINDOW)
    if p_out <= 0:
        return LARGEST
    half = (1 - p_in / p_out) * reserved / 2
    return max(half + math.sqrt(half**2 + 2 / p_out), LEAST_WINDOW)


@dataclass
class RioFlows:
    """The answer of classes of flows to RIO's two curves, for `aqmlab.theory.fluid.operating_point.solve`.

    The solver's p is p_out, of the curve of best effort over the average of all packets. Windows are Misra's.

    Attributes
    ----------
    flows
        Of each class.
    reserved
        Committed rate of a flow of each class, packets/s; 0 for best effort.
    within
        Share of packets within their rate that is dropped, against the average of their number.
    load_in, load_out
        Packets/s of traffic that does not react, within and beyond its rate.
    """

    flows: Array
    reserved: Array
    within: Callable[[float], float]
    load_in: float = 0.0
    load_out: float = 0.0
    _last: Array | None = field(default=None, repr=False)

    def windows(self, p: float, queue: float, rtts: Array) -> Array:
        """Return the classes' mean windows in packets at p_out, a queue in packets and round trips in s."""
        free = windows_at("misra", np.full(len(self.flows), p))
        if not (self.reserved > 0).any():
            return free
        start = free if self._last is None else self._last

        def step(windows: Array) -> Array:
            p_in = self.p_in(queue, windows, rtts)
            own = [
                assured_window(float(r * rtt), p_in, p) if r > 0 else float(w)
                for r, rtt, w in zip(self.reserved, rtts, free, strict=True)
            ]
            found: Array = np.clip(np.array(own, dtype=float), LEAST_WINDOW, LARGEST)
            return found

        # While nothing within the rate is dropped the windows do not depend on each other.
        if self.within(queue) <= 0:
            self._last = step(start)
        else:
            self._last = settle(step, start)
        return self._last

    def p_in(self, queue: float, windows: Array, rtts: Array) -> float:
        """Return the share of packets within their rate that is dropped; their average is their part of the queue."""
        inside = self.flows * np.minimum(windows / rtts, self.reserved)
        total = float(np.sum(self.flows * windows / rtts)) + self.load_in + self.load_out
        return self.within(queue * (float(np.sum(inside)) + self.load_in) / total) if total else 0.0

    def losses(self, p: float, queue: float, windows: Array, rtts: Array) -> Array:
        """Return the share of its packets that each class loses."""
        sent: Array = self.flows * windows / rtts
        lost: Array = self.drops(p, queue, windows, rtts) / sent
        return lost

    def drops(self, p: float, queue: float, windows: Array, rtts: Array) -> Array:
        """Return the drops/s of each class."""
        sent = self.flows * windows / rtts
        inside = self.flows * np.minimum(windows / rtts, self.reserved)
        return np.asarray(self.p_in(queue, windows, rtts) * inside + p * (sent - inside))


@dataclass(frozen=True)
class Steps:
    """Parameters of the adaptation (Table 1).

    Attributes
    ----------
    max_l, max_u
        Bounds of max_th of best effort, packets; 0 < max_l <= max_u.
    delta_t
        Delta_T/max_U of a step.
    c_init, delta_c
        C_init/C and Delta_C/C.
    epsilon
        Dead zone, as a share of C'.
    interval
        UI, s.
    absence
        T_abs, s.
    share
        Share of the updates at which a stationary rate asks for a step: 1/2 if its trend must agree, else 1.
    """

    max_l: float
    max_u: float
    delta_t: float = 0.02
    c_init: float = 0.9
    delta_c: float = 0.0002
    epsilon: float = 0.025
    interval: float = 0.2
    absence: float = 1.0
    share: float = 0.5

    def __post_init__(self) -> None:
        positive("max_l", self.max_l, "packets")
        if not self.max_u >= self.max_l:
            reject("max_u", self.max_u, f"max_l = {self.max_l:g} packets or more")
        for name in ("delta_t", "c_init", "delta_c"):
            if not 0 < getattr(self, name) <= 1:
                reject(name, getattr(self, name), "above 0, at most 1")
        positive("interval", self.interval, "s")


def step(now: tuple[float, float], rate: float, *, present: bool, steps: Steps) -> tuple[float, float]:
    """Return max_th and C'/C after one update.

    Parameters
    ----------
    now
        max_th in packets and C'/C.
    rate
        A/C, the rate of all arrivals.
    present
        Whether there is assured traffic.

    Examples
    --------
    At A = C congested; without assured traffic upwards; in the dead zone at rest:

    >>> rio = Steps(max_l=15, max_u=60, share=1)
    >>> [tuple(round(x, 4) for x in step((30, 0.9), a, present=b, steps=rio))
    ...  for a, b in ((1.0, True), (1.0, False), (0.91, True), (0.87, True))]
    [(28.8, 0.9002), (31.2, 0.9), (30, 0.9), (31.2, 0.9)]
    """
    threshold, reference = now
    if not present:
        up = 1.0
    elif rate > reference * (1 + steps.epsilon):
        up = -steps.share
    elif rate < reference * (1 - steps.epsilon):
        up = steps.share
    else:
        return now
    return (
        min(max(threshold + up * steps.delta_t * steps.max_u, steps.max_l), steps.max_u),
        min(max(reference - up * steps.delta_c, steps.c_init), 1.0),
    )


@dataclass(frozen=True)
class Walk:
    """max_th and C'/C at the updates."""

    t: Array
    threshold: Array
    reference: Array


def walk(
    rate: Callable[[float], float],
    steps: Steps,
    *,
    periods: Sequence[tuple[float, float]],
    duration: float,
    start: float,
) -> Walk:
    """Return how the thresholds move.

    Parameters
    ----------
    rate
        A/C at a threshold in packets, with assured traffic.
    steps
        Of the adaptation.
    periods
        Beginnings and ends of assured traffic, s.
    duration
        s.
    start
        max_th at time 0, packets.
    """
    t = np.arange(0.0, duration, steps.interval)
    there = np.zeros(len(t), dtype=bool)
    for begin, end in periods:
        there |= (t >= begin) & (t < end + steps.absence)
    there |= t < steps.absence
    now = (min(max(start, steps.max_l), steps.max_u), steps.c_init)
    seen = []
    for present in there.tolist():
        seen.append(now)
        now = step(now, rate(now[0]) if present else 0.0, present=present, steps=steps)
    found = np.array(seen)
    return Walk(t, found[:, 0], found[:, 1])
