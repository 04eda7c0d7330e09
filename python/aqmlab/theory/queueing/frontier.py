"""Shapes or parameters: how little a curve can lose at a given mean delay, with parameters of its own.

Curves with the same thresholds and max_p differ in delay, so one may look better only because its parameters mean
something else to it. Here each shape is given every setting of a grid, and what counts is the least loss at each mean
delay, against a bound that no discipline can pass in this model:

    Whatever a discipline knows of the past, least E(Q) for a given throughput of the queue M/M/1 is had by admitting
    while fewer than m packets are there, tossing a coin at m, and rejecting above (Naor, "The regulation of queue size
    by levying tolls", Econometrica 37, 1969, for the single threshold; the coin is there because a linear program with
    one constraint has at most one state with two actions). A mean delay T = E(Q)/X at most D is the linear constraint
    E(Q) - D X <= 0, so the same policy carries most at a mean delay.

That policy is drop-tail with a shorter buffer, and it has no average.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from aqmlab.theory.domain import reject
from aqmlab.theory.drop_curve import Array, DropCurve
from aqmlab.theory.queueing.best_curve import SHAPES, Outcome, outcome
from aqmlab.theory.queueing.chain import Chain, solve_chain
from aqmlab.theory.queueing.runs import consecutive_drops

MAX_TH = (
    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 33, 36, 40, 44, 48, 53, 58, 64, 70, 77,
    85,
)  # fmt: skip
BEGINS = (0.1, 0.4, 0.8)
MAX_P = (0.001, 0.02, 0.1, 0.3, 0.6)
"""The grid of settings: max_th in packets, min_th as a part of it, max_p."""
SCALES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5)
"""Factors on both thresholds, with max_p as it is."""
NEAR = 0.05
"""A mean delay that differs relatively by no more counts as the one asked for."""
ROUNDING = 1e-9
"""Part by which a delay may lie outside the possible range."""
SLIGHT = 0.001
"""A share of arrivals that may be lost in addition for the sake of shorter runs of drops."""
Best = dict[str, float]
"""A setting that was found, and what it gives."""


@dataclass(frozen=True)
class Setting:
    """A curve with its parameters, in packets."""

    shape: str
    min_th: float
    max_th: float
    max_p: float

    def curve(self, *, limit: float) -> DropCurve:
        """Return the curve."""
        keys = {"min_th": self.min_th, "max_th": self.max_th, "max_p": self.max_p}
        return DropCurve.of(SHAPES[self.shape], **keys, limit=limit, name=self.shape)

    def fits(self, limit: float) -> bool:
        """Whether the discipline allows it: ExRED's slope must not fall (its a_2 must not be negative)."""
        if self.shape == "ExRED" and self.max_p > (self.max_th - self.min_th) / (limit - self.min_th):
            return False
        return self.max_th < limit


def settings(shape: str, *, limit: float) -> Iterator[Setting]:
    """Yield every setting of the grid that a shape allows."""
    for max_th, begins, max_p in product(MAX_TH, BEGINS, MAX_P):
        setting = Setting(shape, begins * max_th, float(max_th), max_p)
        if setting.fits(limit):
            yield setting


def scaled(shape: str, *, min_th: float, max_th: float, max_p: float, limit: float) -> Iterator[Setting]:
    """Yield settings with both thresholds multiplied by each of `SCALES`."""
    for scale in SCALES:
        setting = Setting(shape, min_th * scale, max_th * scale, max_p)
        if setting.fits(limit):
            yield setting


def threshold(m: float) -> DropCurve:
    """Return the curve that admits below the whole part of m, at it with the rest as probability, and none above.

    >>> threshold(2.25)([1, 2, 3]).tolist()
    [0.0, 0.75, 1.0]
    """

    def function(x: Array) -> Array:
        return np.clip(np.floor(x) + 1 - m, 0.0, 1.0)

    return DropCurve("threshold", function, np.inf, np.inf)


def least_loss(delay: float, *, load: float, capacity: int) -> Outcome:
    """Return the outcome of the best of all disciplines at a load and a mean delay, in service times.

    Examples
    --------
    >>> bound = least_loss(13.52, load=1.0, capacity=100)
    >>> round(bound.delay, 6), round(bound.throughput, 4)
    (13.52, 0.963)
    """
    m = _threshold_with(delay, load=load, capacity=capacity)
    return outcome(threshold(m), load=load, capacity=capacity)


def _threshold_with(delay: float, *, load: float, capacity: int) -> float:
    """Return the m of `threshold` that has this mean delay.

    With weights rho^k and none above n + 1, E(Q)/(1 - pi(0)) is linear over linear in the weight y that n + 1 keeps of
    its rho^(n+1) when a coin is tossed at n: (S1 + (n+1) y)/(S0 + y), S0 and S1 summed over k = 1 .. n.
    """
    k = np.arange(1, capacity + 1)
    weights = np.exp((k - (capacity if load > 1 else 0)) * np.log(load))
    s0, s1 = np.cumsum(weights), np.cumsum(k * weights)
    delays = s1 / s0
    if not 1 - ROUNDING <= delay <= delays[-1] * (1 + ROUNDING):
        reject("delay", delay, f"1 to {delays[-1]:.4g} service times at load {load:g}")
    n = int(np.searchsorted(delays, delay, side="right"))
    if n == capacity:
        return float(capacity)
    if n == 0:
        return 1.0
    y = (delay * s0[n - 1] - s1[n - 1]) / (n + 1 - delay)
    return n + float(np.clip(y / weights[n], 0.0, 1.0))


def excess_loss(one: Outcome, *, capacity: int) -> float:
    """Return by how much a curve's share of dropped packets exceeds the least at its mean delay."""
    m = _threshold_with(one.delay, load=one.load, capacity=capacity)
    return one.p_drop - solve_chain(threshold(m), load=one.load, capacity=capacity).p_drop


def best_settings(*, shape: str, load: float, capacity: int, delays: Sequence[float]) -> dict[str, list[Best]]:
    """Find the parameters of a shape that lose least near each of some mean delays, and those of the shortest runs.

    Parameters
    ----------
    shape
        A curve of `aqmlab.theory.queueing.best_curve.SHAPES` that drops early.
    load
        lambda/mu.
    capacity
        K in packets, the one in service included.
    delays
        Mean times in system in service times; a setting counts as near if its own is within `NEAR` of it.

    Returns
    -------
    dict
        As plain data, one entry per delay that some setting of the grid comes near to: ``least_loss``, and
        ``shortest_runs`` among those that lose at most `SLIGHT` more than the least possible. Each has ``near`` (the
        delay asked for), ``delay``, ``p_drop``, ``excess``, ``mean_run``, ``min_th``, ``max_th`` and ``max_p``.
    """
    solved = [
        (setting, solve_chain(setting.curve(limit=capacity), load=load, capacity=capacity))
        for setting in settings(shape, limit=capacity)
    ]
    found: dict[str, list[Best]] = {"least_loss": [], "shortest_runs": []}
    for asked in delays:
        near = [
            _numbers(asked, setting, chain)
            for setting, chain in solved
            if abs((1 + chain.mean_wait) / asked - 1) <= NEAR
        ]
        if near:
            found["least_loss"].append(min(near, key=lambda one: one["excess"]))
        slight = [one for one in near if one["excess"] <= SLIGHT]
        if slight:
            found["shortest_runs"].append(min(slight, key=lambda one: one["mean_run"]))
    return found


def _numbers(asked: float, setting: Setting, chain: Chain) -> Best:
    delay = 1 + chain.mean_wait
    m = _threshold_with(delay, load=chain.load, capacity=chain.capacity)
    least = solve_chain(threshold(m), load=chain.load, capacity=chain.capacity).p_drop
    return {
        "near": asked,
        "delay": delay,
        "p_drop": chain.p_drop,
        "excess": chain.p_drop - least,
        "mean_run": consecutive_drops(chain).mean_run,
        "min_th": setting.min_th,
        "max_th": setting.max_th,
        "max_p": setting.max_p,
    }
