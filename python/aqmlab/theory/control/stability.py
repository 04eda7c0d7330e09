"""Where the loop of TCP and RED is stable: its gain margin over the number of flows N and the propagation delay.

Every point of the map has its own operating point (`aqmlab.theory.fluid.operating_point`, here for all points at
once) and its own loop (`linearize`, form "hollot", one class). The gain margin is that of the crossover at -180 degrees
with the largest abs(L); the closed loop is stable if it is above 1 (0 dB).

The map also says where the model itself ends: the flows do not fill the link; the p that they need lies beyond the
part of the curve that rises; or windows are below 4 packets, where losses end in time-outs, which the model lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.control.linearization import slope_of_loss, slopes_of_events
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW, LossLaw, loss_law
from aqmlab.theory.fluid.operating_point import FEW, JUMP
from aqmlab.theory.fluid.parts import Bottleneck

Bools = NDArray[np.bool_]
HALVINGS = 60
"""Steps of a bisection: from the whole range to the last digit."""
FREQUENCIES = 500
"""Points of the grid on which crossings are looked for, over six decades."""
ENOUGH_DB = 6.0
"""A usual demand on a gain margin: a factor of 2."""


class Region(IntEnum):
    """Validity of the model at a point."""

    LINEAR = 0
    """On the curve, windows of 4 packets or more."""
    FEW_PACKETS = 1
    """On the curve, but windows below 4 packets."""
    OFF_CURVE = 2
    """The queue sits at a jump of the curve, at its limit, or where the curve is flat."""
    NOT_FILLED = 3
    """The flows do not fill the link."""


@dataclass(frozen=True)
class StabilityMap:
    """A loop for every number of flows and every propagation delay: arrays with a row per delay, a column per number.

    Attributes
    ----------
    bottleneck
        The link and its queue.
    flows, propagation
        The axes: N, and the round trip without queueing in s.
    queue, p, window, rtt
        The operating points: packets, drop probability, packets, s; p and the window are NaN off the curve.
    gain_margin_db
        NaN where there is no loop.
    region
        A `Region` each.
    """

    bottleneck: Bottleneck
    flows: Array
    propagation: Array
    queue: Array
    p: Array
    window: Array
    rtt: Array
    gain_margin_db: Array
    region: Array

    @property
    def stable(self) -> Bools:
        """Return whether the linear loop is stable; false at points without one."""
        return np.asarray(np.nan_to_num(self.gain_margin_db, nan=-np.inf) > 0)

    def boundary(self, margin_db: float = 0.0) -> Array:
        """Return for each N the delay in s at which the gain margin falls to so many dB; NaN where it does not."""
        return _falls_to(self.propagation, self.gain_margin_db, margin_db)

    def least_delay(self, least: Region) -> Array:
        """Return for each N the delay in s below which the region is `least` or worse, up to OFF_CURVE."""
        worse = (self.region >= least) & (self.region <= Region.OFF_CURVE)
        # From below: the last row that is worse, and the next.
        edge = np.where(worse.any(axis=0), worse.shape[0] - 1 - np.argmax(worse[::-1], axis=0), -1)
        here, after = self.propagation[edge], self.propagation[np.minimum(edge + 1, len(self.propagation) - 1)]
        return np.where((edge < 0) | (edge == len(self.propagation) - 1), np.nan, np.sqrt(here * after))

    def summary(self) -> dict[str, float]:
        """Return the shares of all points that are stable, stable with 6 dB, and in each region."""
        shares = {region.name.lower().replace("_", " "): float(np.mean(self.region == region)) for region in Region}
        enough = np.nan_to_num(self.gain_margin_db, nan=-np.inf) > ENOUGH_DB
        return {"stable": float(np.mean(self.stable)), "stable with 6 dB": float(np.mean(enough)), **shares}


def stability_map(
    bottleneck: Bottleneck, *, flows: ArrayLike, propagation: ArrayLike, law: str = "misra"
) -> StabilityMap:
    """Return the map of a bottleneck over numbers of flows and propagation delays (s), both rising.

    Examples
    --------
    >>> from aqmlab.theory.drop_curve import DropCurve
    >>> red = Bottleneck(3750, DropCurve.of("red", min_th=150, max_th=700, max_p=0.1, limit=800), 1.33e-6, limit=800)
    >>> found = stability_map(red, flows=[20, 60, 200], propagation=[0.1, 0.2, 0.8])
    >>> found.gain_margin_db.round(1).tolist()
    [[32.3, 46.8, 52.9], [14.3, 32.2, 45.5], [-26.9, -9.3, 11.0]]
    """
    n, t = _axis("flows", flows), _axis("propagation", propagation)
    link, rule = bottleneck, loss_law(law)
    grid_n, grid_t = np.meshgrid(n, t)
    queue, p, on_curve, filled = _rest(link, rule, grid_n, grid_t)
    rtt = grid_t + queue / link.capacity
    own_share = link.capacity - link.unresponsive * (1 - p)
    window = np.where(on_curve, own_share * rtt / grid_n, np.nan)
    region = np.where(window < FEW, Region.FEW_PACKETS, Region.LINEAR)
    region = np.where(on_curve, region, Region.OFF_CURVE)
    region = np.where(filled, region, Region.NOT_FILLED)
    margin = np.full(grid_n.shape, np.nan)
    # A window at its least does not answer a loss.
    use = on_curve & filled & (window > LEAST_WINDOW)
    margin[use] = _gain_margin_db(link, rule, grid_n[use], queue[use], p[use], window[use], rtt[use])
    return StabilityMap(link, n, t, queue, p, window, rtt, margin, region)


def stability_maps(
    bottleneck: Bottleneck, *, capacities: ArrayLike, flows: ArrayLike, propagation: ArrayLike
) -> list[StabilityMap]:
    """Return a map for each capacity (packets/s), the queue and its parameters being the same."""
    return [
        stability_map(replace(bottleneck, capacity=float(c)), flows=flows, propagation=propagation)
        for c in _axis("capacities", capacities)
    ]


def _axis(name: str, values: ArrayLike) -> Array:
    found = np.atleast_1d(np.asarray(values, dtype=float))
    if not (np.isfinite(found).all() and (found > 0).all() and (np.diff(found) > 0).all()):
        raise DomainError(f"{name}: rising finite numbers above 0 are needed")
    return found


def _rest(link: Bottleneck, law: LossLaw, n: Array, t: Array) -> tuple[Array, Array, Bools, Bools]:
    """Return queue and p at rest, and whether the curve rises there, without a jump, and the link is full."""

    def too_much(queue: Array) -> Bools:
        p = link.drop(queue)
        free = law.window(np.where(p > 0, p, 1.0))
        window = np.where(p > 0, np.maximum(free, LEAST_WINDOW), np.inf)
        return np.asarray(n * window / (t + queue / link.capacity) + link.unresponsive * (1 - p) > link.capacity)

    top = link.limit if np.isfinite(link.limit) else max(link.curve.knots, default=np.inf)
    if not np.isfinite(top):
        raise DomainError("limit: a queue without limit and without drops grows for ever (allowed: a limit)")
    filled, full = too_much(np.zeros_like(n)), too_much(np.full_like(n, top))
    low, high = np.zeros_like(n), np.full_like(n, float(top))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = too_much(middle)
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    below, above = link.drop(low), link.drop(high)
    queue = np.where(filled, np.where(full, top, high), 0.0)
    rises = filled & ~full & (above - below <= JUMP) & (slope_of_loss(link, queue) > 0)
    return queue, np.where(rises, above, np.nan), rises, filled


def _gain_margin_db(
    link: Bottleneck, law: LossLaw, n: Array, queue: Array, p: Array, window: Array, rtt: Array
) -> Array:
    """Return the gain margins of many loops of one class each (the coefficients of `linearization`), in dB."""
    by_window, by_loss = slopes_of_events(law, window, p)
    lag = (1 / window + law.cut * window * by_window) / rtt
    thinning = n * window / (rtt**2 * link.capacity)
    slope = slope_of_loss(link, queue)
    gain = slope * (n / rtt) * law.cut * window * by_loss / rtt / (lag * thinning)
    at_once = slope * link.unresponsive / thinning

    def loop(omega: Array) -> NDArray[np.complex128]:
        s = 1j * omega
        windows = gain * np.exp(-s * rtt) / (s / lag + 1)
        found = (windows + at_once) / (s / thinning + 1)
        return np.asarray(found / (s / link.averaging_rate + 1) if link.w_q < 1 else found)

    with np.errstate(divide="ignore"):
        return np.asarray(-20 * np.log10(_largest_at_half_a_turn(loop, 20 / rtt)))


def _largest_at_half_a_turn(loop: Callable[[Array], NDArray[np.complex128]], top: Array) -> Array:
    """Return the largest abs(L) where the phases of many loops are -180 degrees, up to `top` (rad/s); or 0."""
    scale = np.geomspace(1e-6, 1, FREQUENCIES)
    values = loop(scale[:, None] * top)
    crosses = (np.diff(np.sign(values.imag), axis=0) != 0) & (values.real[:-1] < 0)
    size = np.where(crosses, np.abs(values[:-1]), 0.0)
    place = np.argmax(size, axis=0)
    low, high = scale[place] * top, scale[place + 1] * top
    side = np.sign(loop(low).imag)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        before = np.sign(loop(middle).imag) == side
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return np.where(crosses.any(axis=0), np.abs(loop(high)), 0.0)


def _falls_to(at: Array, values: Array, level: float) -> Array:
    """Return for each column where it first falls from above a level to it, between rows by logarithms of `at`."""
    found = np.full(values.shape[1], np.nan)
    for column in range(values.shape[1]):
        v = values[:, column]
        for i in range(len(v) - 1):
            if v[i] > level >= v[i + 1]:
                share = (v[i] - level) / (v[i] - v[i + 1])
                found[column] = at[i] * (at[i + 1] / at[i]) ** share
                break
    return found
