"""The fluid's equations (`aqmlab.theory.fluid.model`) in time: the method of steps with Heun's rule.

The delay R_i = propagation_i + q/C depends on the state and differs from class to class. Solvers from PyPI were looked
at: ddeint interpolates every delayed value in Python, one at a time; PyDDE is no longer kept; jitcdde compiles C for
every model. None takes a vector of a thousand classes with a thousand different delays, so these few lines are our own.

The loss events that the queue causes a class in a second, L_i(t) = events(W_i, p)/R_i (Misra: W_i p/R_i), are kept in
a ring of past steps and read at t - R_i(t), linearly between two steps. The step is never longer than the shortest
propagation delay, so values read are always in the past. The average follows exactly for a queue that is linear within
a step; hence a fast average needs no shorter step. Both rules are of second order where p is continuous.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aqmlab.theory.domain import DomainError, positive, reject
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW, loss_law
from aqmlab.theory.fluid.operating_point import OperatingPoint
from aqmlab.theory.fluid.parts import Bottleneck, Fluid

PER_ROUND_TRIP = 10
"""Steps in the shortest propagation delay, unless the caller gives a step."""
SAMPLES = 4000
"""About so many moments of a trajectory are kept."""
MOST_STEPS = 5_000_000


@dataclass(frozen=True)
class Trajectory:
    """The fluid in time; one entry (of `windows` and `throughput`: one row) per moment.

    Attributes
    ----------
    t
        s.
    queue, average
        Packets.
    p
        Probability that a packet is dropped, early or for want of room.
    windows
        Packets, a column for each class.
    throughput
        Packets/s that the queue takes from each class, a column for each.
    arrived, departed, lost
        Packets since time 0: come to the queue (early drops are none), sent by the link, and lost for want of room.
    capacity
        Of the link, packets/s.
    """

    t: Array
    queue: Array
    average: Array
    p: Array
    windows: Array
    throughput: Array
    arrived: Array
    departed: Array
    lost: Array
    capacity: float

    @property
    def utilization(self) -> Array:
        """Share of the capacity that was used since the moment before; the first entry repeats the second."""
        used = np.diff(self.departed) / (self.capacity * np.diff(self.t))
        return np.concatenate([used[:1], used])

    def mean_queue(self, *, since: float = 0.0) -> float:
        """Return the mean over time of the queue from a moment on, packets."""
        return self._mean(self.queue, since)

    def mean_utilization(self, *, since: float = 0.0) -> float:
        """Return the share of the capacity used from a moment on."""
        first = self._first(since)
        time = self.t[-1] - self.t[first]
        return float((self.departed[-1] - self.departed[first]) / (self.capacity * time))

    def mean_p(self, *, since: float = 0.0) -> float:
        """Return the mean over time of p from a moment on."""
        return self._mean(self.p, since)

    def _mean(self, values: Array, since: float) -> float:
        first = self._first(since)
        return float(np.trapezoid(values[first:], self.t[first:]) / (self.t[-1] - self.t[first]))

    def _first(self, since: float) -> int:
        if not 0 <= since < self.t[-1]:
            reject("since", since, f"0 s or more, below the end at {self.t[-1]:g} s")
        return min(int(np.searchsorted(self.t, since)), len(self.t) - 2)


Losses = Callable[[float, Array, Array], Array]
"""The share of its packets that each class loses at an overall p, windows in packets and round trips in s."""


def integrate(
    model: Fluid,
    duration: float,
    *,
    step: float | None = None,
    start: OperatingPoint | None = None,
    losses: Losses | None = None,
) -> Trajectory:
    """Return the trajectory of a model (`FluidModel.integrate`).

    `losses` says what each class loses where not all lose the share p of their packets; default: p.
    """
    positive("duration", duration, "s")
    shortest = float(model.propagation.min())
    h = shortest / PER_ROUND_TRIP if step is None else positive("step", step, "s")
    if h > shortest:
        reject("step", float(h), f"at most the shortest propagation delay, {shortest:g} s")
    steps = max(math.ceil(duration / h - 1e-9), 2)
    if steps > MOST_STEPS:
        raise DomainError(f"step: {steps} steps are too many (allowed: {MOST_STEPS}; a longer step or less time)")
    return _Integration(model, duration / steps, start, losses).run(steps)


class _Past:
    """The loss events L_i of each class at the last steps; before time 0 they were constant."""

    def __init__(self, before: Array, rows: int) -> None:
        self.ring = np.tile(before, (rows, 1))
        self.columns = np.arange(len(before))
        self.latest = -1

    def add(self, lost: Array) -> None:
        self.latest += 1
        self.ring[self.latest % len(self.ring)] = lost

    def at(self, position: Array, longest: float) -> Array:
        """Return L_i at a position of each class, counted in steps from time 0, at most `longest` before the last."""
        while longest > len(self.ring) - 3:
            self._grow()
        below = np.floor(position)
        place = (below.astype(np.intp) % len(self.ring)) * len(self.columns) + self.columns
        low = self.ring.take(place)
        high = self.ring.take(place + len(self.columns), mode="wrap")
        return np.asarray(low + (position - below) * (high - low))

    def _grow(self) -> None:
        """Double the memory; what lies before it was constant."""
        rows = len(self.ring)
        kept = np.arange(self.latest - rows + 1, self.latest + 1)
        larger = np.tile(self.ring[kept[0] % rows], (2 * rows, 1))
        larger[kept % (2 * rows)] = self.ring[kept % rows]
        self.ring = larger


class _Integration:
    """The state of a run and its step."""

    def __init__(self, model: Fluid, h: float, start: OperatingPoint | None, losses: Losses | None = None) -> None:
        link = model.bottleneck
        self.losses = losses
        self.link, self.h = link, h
        self.law = loss_law(model.loss_law)
        self.flows, self.propagation, self.limits = model.flows, model.propagation, model.window_limits
        self.places, self.drops = _table(link)
        if start is None:
            self.windows, self.queue = np.full(len(self.flows), LEAST_WINDOW), 0.0
        else:
            self.windows = np.clip(np.array(start.windows, dtype=float), LEAST_WINDOW, self.limits)
            self.queue = min(max(start.queue, 0.0), link.limit)
            if self.windows.shape != self.flows.shape:
                raise DomainError("start: its windows are not those of the classes")
        self.average = self.queue
        self.forget = 0.0 if link.w_q == 1 else math.exp(-link.averaging_rate * h)
        # Of a queue that rises by 1 within a step, the average has this much at its end.
        self.follow = 1.0 if link.w_q == 1 else 1 - (1 - self.forget) / (link.averaging_rate * h)
        self.longest = float(self.propagation.max())
        before = self._events(self.propagation + self.queue / link.capacity, 0.0 if start is None else start.p)
        self.past = _Past(before, math.ceil(self.longest / h) + 4)

    def run(self, steps: int) -> Trajectory:
        stride = max(steps // SAMPLES, 1)
        kept: list[tuple[float, ...]] = []
        windows, throughput = [], []
        arrived = departed = lost = 0.0
        for k in range(steps + 1):
            rtt = self.propagation + self.queue / self.link.capacity
            rate = self.windows / rtt
            early = self._early(self.average)
            offered = self._offered(self.windows, rtt, early)
            over = self._over(offered)
            p = early + (1 - early) * over
            self.past.add(self._events(rtt, p))
            if k % stride == 0 or k == steps:
                kept.append((k * self.h, self.queue, self.average, p, arrived, departed, lost))
                windows.append(self.windows)
                throughput.append(rate * (1 - over) * self.flows)
            taken, sent, refused = self._step(k, rtt, offered)
            arrived, departed, lost = arrived + taken, departed + sent, lost + refused
        t, queue, average, p_s, arrivals, departures, losses = np.array(kept).T
        return Trajectory(
            t,
            queue,
            average,
            p_s,
            np.array(windows),
            np.array(throughput),
            arrivals,
            departures,
            losses,
            self.link.capacity,
        )

    def _step(self, k: int, rtt: Array, offered: float) -> tuple[float, float, float]:
        """Go on by a step; return the packets that came, that left, and that found no room."""
        h, link = self.h, self.link
        slope = self._slope(self.windows, rtt, k, self.queue)
        ahead = self._bounded(self.windows + h * slope)
        queue = min(max(self.queue + h * (offered - link.capacity), 0.0), link.limit)
        rtt_ahead = self.propagation + queue / link.capacity
        early_ahead = self._early(self._averaged(queue)) if link.unresponsive > 0 else 0.0
        offered_ahead = self._offered(ahead, rtt_ahead, early_ahead)
        slope_ahead = self._slope(ahead, rtt_ahead, k + 1, queue)
        self.windows = self._bounded(self.windows + 0.5 * h * (slope + slope_ahead))
        came = 0.5 * h * (offered + offered_ahead)
        unbounded = self.queue + came - h * link.capacity
        after = min(max(unbounded, 0.0), link.limit)
        self.average, self.queue = self._averaged(after), after
        return came, h * link.capacity - max(-unbounded, 0.0), max(unbounded - link.limit, 0.0)

    def _slope(self, windows: Array, rtt: Array, position: int, queue: float) -> Array:
        longest = (self.longest + queue / self.link.capacity) / self.h
        return np.asarray(1 / rtt - self.law.cut * windows * self.past.at(position - rtt / self.h, longest))

    def _bounded(self, windows: Array) -> Array:
        return np.minimum(np.maximum(windows, LEAST_WINDOW), self.limits)

    def _offered(self, windows: Array, rtt: Array, early: float) -> float:
        return float(self.flows @ (windows / rtt)) + self.link.unresponsive * (1 - early)

    def _averaged(self, queue: float) -> float:
        """Return the average after a step in which the queue goes evenly to here."""
        rise = (queue - self.queue) * self.follow
        return self.average * self.forget + self.queue * (1 - self.forget) + rise

    def _early(self, average: float) -> float:
        if self.places is None:
            return float(self.link.drop(average))
        return float(np.interp(average, self.places, self.drops))

    def _over(self, offered: float) -> float:
        """Return the share that does not fit: what comes at a full queue above the capacity."""
        return (
            1 - self.link.capacity / offered if self.queue >= self.link.limit and offered > self.link.capacity else 0.0
        )

    def _events(self, rtt: Array, p: float) -> Array:
        own = np.asarray(p) if self.losses is None else self.losses(p, self.windows, rtt)
        return np.asarray(self.law.events(self.windows, own) / rtt)


def _table(link: Bottleneck) -> tuple[Array | None, Array]:
    """Return the rate of drops at averages up to the limit, jumps kept sharp; nothing if there is no limit."""
    if not math.isfinite(link.limit):
        return None, np.zeros(0)
    x, _ = link.curve.table(top=link.limit)
    knots = np.array([knot for knot in link.curve.knots if 0 < knot < link.limit])
    x = np.unique(np.concatenate([x, knots * (1 - 1e-12)]))
    return x, link.drop(x)
