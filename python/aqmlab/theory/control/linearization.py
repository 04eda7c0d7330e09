"""The loop of a fluid model at its operating point, for any drop curve and several classes of flows.

Small changes of the equations of `aqmlab.theory.fluid.model` around W_i, q, p give for class i, with the law of
losses e(W, p) (events in a round trip; Misra: W p) and its cut (Misra: 1/2),

    dW_i' = -a_i dW_i - a'_i dW_i(t-R_i) - b_i dp(t-R_i) - (dq - dq(t-R_i)) / (R_i^2 C)
    dq'   = sum_i (N_i/R_i) dW_i - sum_i N_i W_i/(R_i^2 C) dq - u dp
    a_i = 1/(W_i R_i),   a'_i = cut W_i e_W/R_i,   b_i = cut W_i e_p/R_i         (Misra: a' = a, b_i = W_i^2/(2 R_i))

and dp = slope of the curve times dx, with x the average. Two forms:

* ``hollot``: as Hollot et al. do for one class, dW(t-R) is taken as dW and the last term of dW' is left out; both are
  small for W much larger than 1. Every class is then a branch with the lags K, a_i + a'_i and the queue's
  sum_i N_i W_i/(R_i^2 C) = 1/R for one class. With one class this is `red_loop`.
* ``full``: nothing is left out.

A class whose window stands at its limit does not answer a loss: it has no branch, but it counts in the queue's lag.
Load that does not react (u) is thinned by early drops at once: a branch without delay and without the lag of a window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from aqmlab.theory.control.loop import Branch, ComplexArray, Loop
from aqmlab.theory.domain import DomainError, reject
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW, LossLaw, loss_law

if TYPE_CHECKING:
    from aqmlab.theory.fluid.model import FluidModel
    from aqmlab.theory.fluid.operating_point import OperatingPoint
    from aqmlab.theory.fluid.parts import Bottleneck

Form = Literal["hollot", "full"]


def linearize(model: FluidModel, point: OperatingPoint, *, form: Form = "hollot") -> Loop:
    """Return the loop of a fluid model around its operating point.

    Raises
    ------
    DomainError
        If the point is no place to linearize at: the link is not full, the queue is at its limit or at a jump.

    Examples
    --------
    >>> from aqmlab.theory.drop_curve import DropCurve
    >>> from aqmlab.theory.fluid.model import Bottleneck, FlowClass, FluidModel
    >>> red = DropCurve.of("red", min_th=150, max_th=700, max_p=0.1, limit=800)
    >>> model = FluidModel(Bottleneck(3750, red, 1.33e-6), (FlowClass("tcp", 60, 0.2),))
    >>> margins = linearize(model, model.operating_point()).margins()
    >>> margins.stable, round(margins.gain_margin, 1)
    (True, 40.9)
    """
    if form not in ("hollot", "full"):
        reject("form", form, "hollot, full")
    if not point.inside:
        why = point.notes[0] if point.notes else "it is not on a continuous part of the curve with the link full"
        raise DomainError(f"operating point: cannot be linearized; {why}")
    classes = _classes(model, point)
    slope = float(slope_of_loss(model.bottleneck, point.queue))
    if form == "hollot":
        return _hollot(model, classes, slope)
    return _full(model, classes, slope)


def slope_of_loss(bottleneck: Bottleneck, queue: ArrayLike) -> Array:
    """Return the slope of the rate of drops at averages in packets, per packet; at a knot the mean of its sides."""
    q = np.asarray(queue, dtype=float)
    scale = np.maximum(q, 1.0)
    distance = np.min([np.abs(q - knot) for knot in bottleneck.curve.knots], axis=0, initial=np.inf)
    step = np.minimum(1e-3 * scale, np.minimum(distance, q) / 3)
    # Four points, none beyond a knot; across a knot two.
    smooth = (bottleneck.drop(q - 2 * step) - bottleneck.drop(q + 2 * step)) / 12
    smooth = smooth + (bottleneck.drop(q + step) - bottleneck.drop(q - step)) * (2 / 3)
    low, high = np.maximum(q - 1e-6 * scale, 0.0), q + 1e-6 * scale
    across = (bottleneck.drop(high) - bottleneck.drop(low)) / (high - low)
    near = step < 1e-7 * scale
    return np.where(near, across, smooth / np.where(near, 1.0, step))


@dataclass(frozen=True)
class _Class:
    """A class's coefficients: rates in rad/s."""

    rtt: float
    sent: float
    """N/R, flows/s."""
    own: float
    """a."""
    delayed: float
    """a'."""
    loss: float
    """b, packets/s."""
    thinning: float
    """N W/(R^2 C): how fast its rate falls with the queue."""
    shift: float
    """1/(R^2 C), 1/s per packet of queue."""


def _classes(model: FluidModel, point: OperatingPoint) -> list[_Class]:
    law, capacity = loss_law(model.loss_law), model.bottleneck.capacity
    found = []
    for one, window, rtt in zip(model.classes, point.windows, point.rtts, strict=True):
        answers = LEAST_WINDOW < window < one.window_limit
        slopes = slopes_of_events(law, np.array(window), np.array(point.p)) if answers else (0.0, 0.0)
        by_window, by_loss = map(float, slopes)
        found.append(
            _Class(
                rtt=rtt,
                sent=one.flows / rtt if answers else 0.0,
                own=1 / (window * rtt),
                delayed=law.cut * window * by_window / rtt,
                loss=law.cut * window * by_loss / rtt,
                thinning=one.flows * window / (rtt**2 * capacity),
                shift=1 / (rtt**2 * capacity),
            )
        )
    return found


def slopes_of_events(law: LossLaw, window: Array, p: Array) -> tuple[Array, Array]:
    """Return the slopes of a law's events against the window and against the loss, by central differences."""
    w, q = 1e-5 * window, 1e-5 * p
    by_window = (law.events(window + w, p) - law.events(window - w, p)) / (2 * w)
    return by_window, (law.events(window, p + q) - law.events(window, p - q)) / (2 * q)


def _hollot(model: FluidModel, classes: list[_Class], slope: float) -> Loop:
    queue = sum(one.thinning for one in classes)
    average = _average(model)
    branches = [
        Branch(
            slope * one.sent * one.loss / ((one.own + one.delayed) * queue),
            (*average, one.own + one.delayed, queue),
            one.rtt,
        )
        for one in classes
        if one.sent > 0
    ]
    if not branches:
        raise DomainError("classes: no window answers a loss, so that there is no loop")
    if model.bottleneck.unresponsive > 0:
        branches.append(Branch(slope * model.bottleneck.unresponsive / queue, (*average, queue), 0.0))
    return Loop.of_branches(model.bottleneck.curve.name, *branches)


def _full(model: FluidModel, classes: list[_Class], slope: float) -> Loop:
    simple = _hollot(model, classes, slope)
    average, thinning = _average(model), sum(one.thinning for one in classes)

    def transfer(s: ComplexArray) -> ComplexArray:
        loss = np.full_like(s, model.bottleneck.unresponsive)
        queue = s + thinning
        for one in classes:
            late = np.exp(-s * one.rtt)
            lag = s + one.own + one.delayed * late
            loss = loss + one.sent * one.loss * late / lag
            queue = queue + one.sent * one.shift * (1 - late) / lag
        found: ComplexArray = slope * loss / queue
        for pole in average:
            found = found / (s / pole + 1)
        return found

    return Loop(f"{simple.name}, full", transfer, simple.dc_gain, simple.poles, simple.delays)


def _average(model: FluidModel) -> tuple[float, ...]:
    rate = model.bottleneck.averaging_rate
    return (rate,) if math.isfinite(rate) else ()
