"""The loop of TCP and RED as a linear control system with delay.

C. Hollot, V. Misra, D. Towsley and W. Gong, "A control theoretic analysis of RED", INFOCOM 2001; and what section 4.A
of PC-RED's paper makes of it.

A loop is the transfer function L(s) that one walk round it multiplies a perturbation by, its sign taken out, so that
the closed loop is 1 / (1 + L(s)). Around an operating point W0 = R C / N, p0 = 2 / W0^2:

    window   dW' = -2N/(R^2 C) dW - R C^2/(2N^2) dp(t - R)         pole 2N/(R^2 C)
    queue    dq' = N/R dW - dq/R                                    pole 1/R
    average  dx' = K (dq - dx),  K = -ln(1 - w_q) C                 pole K
    curve    dp  = L_red dx,     L_red = max_p / (max_th - min_th)

    L(s) = L_red (R C)^3/(2N)^2 e^(-sR) / ((s/K + 1) (s R^2 C/(2N) + 1) (s R + 1))

Frequencies are in rad/s, times in s, queues in packets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.average import averaging_rate
from aqmlab.theory.control.margins import Margins, margins_of
from aqmlab.theory.domain import not_negative, positive, reject
from aqmlab.theory.drop_curve import Array

ComplexArray = NDArray[np.complex128]
PcRedForm = Literal["printed", "rederived", "hollot"]


@dataclass(frozen=True)
class Branch:
    """gain e^(-s delay) / product of (s/pole + 1): one class of flows round the loop.

    >>> Branch(2.0, (1.0,), 0.0)(np.array([0j, 1j])).tolist()
    [(2+0j), (1-1j)]
    """

    gain: float
    poles: tuple[float, ...]
    delay: float

    def __call__(self, s: ComplexArray) -> ComplexArray:
        """Return the branch at these complex frequencies."""
        found = np.asarray(self.gain * np.exp(-s * self.delay), dtype=complex)
        for pole in self.poles:
            found = found / (s / pole + 1)
        return found


@dataclass(frozen=True)
class Loop:
    """A loop that is stable as long as it is open.

    Attributes
    ----------
    name
        Its name in figures and messages.
    transfer
        L(s) at complex frequencies.
    dc_gain
        L(0).
    poles
        Rates in rad/s at which its lags begin; exact for a sum of branches.
    delays
        Delays of its branches in s.
    """

    name: str
    transfer: Callable[[ComplexArray], ComplexArray]
    dc_gain: float
    poles: tuple[float, ...]
    delays: tuple[float, ...]

    @classmethod
    def of_branches(cls, name: str, *branches: Branch) -> Loop:
        """Return the sum of branches.

        >>> loop = Loop.of_branches("two classes", Branch(1.0, (2.0,), 0.1), Branch(3.0, (4.0,), 0.2))
        >>> loop.dc_gain, loop.poles, loop.delay
        (4.0, (2.0, 4.0), 0.1)
        """

        def transfer(s: ComplexArray) -> ComplexArray:
            return np.asarray(np.sum([branch(s) for branch in branches], axis=0), dtype=complex)

        poles = tuple(dict.fromkeys(pole for branch in branches for pole in branch.poles))
        delays = tuple(branch.delay for branch in branches)
        return cls(name, transfer, sum(branch.gain for branch in branches), poles, delays)

    @property
    def delay(self) -> float:
        """Return the shortest delay, in s."""
        return min(self.delays)

    def response(self, omega: ArrayLike) -> ComplexArray:
        """Return L(j omega), with the exact delay."""
        w = np.asarray(omega, dtype=float)
        return self.transfer(1j * w.ravel()).reshape(w.shape)

    def magnitude(self, omega: ArrayLike) -> Array:
        """Return abs(L(j omega))."""
        return np.abs(self.response(omega))

    def phase(self, omega: ArrayLike) -> Array:
        """Return the phase of L(j omega) in degrees, without jumps from 0 rad/s on."""
        w = np.atleast_1d(np.asarray(omega, dtype=float))
        if not w.size:
            return w
        # A step moves the phase by less than a quarter of a turn: each lag and each delay are resolved.
        top = max(float(w.max()), min(self.poles, default=1.0))
        path = np.geomspace(1e-3 * min(self.poles, default=1.0), top, 2000)
        path = np.concatenate([[0.0], path, np.arange(0.0, top, 0.3 / max(*self.delays, 1e-3 / top)), w])
        path, place = np.unique(path, return_inverse=True)
        turned = np.degrees(np.unwrap(np.angle(self.response(path))))
        return np.asarray(turned[place[-w.size :]]).reshape(np.shape(omega))

    def margins(self) -> Margins:
        """Return gain, phase and delay margins, and whether the closed loop is stable."""
        return self._margins

    @cached_property
    def _margins(self) -> Margins:
        return margins_of(self.response, self.dc_gain, self.poles, self.delays)

    def renamed(self, name: str) -> Loop:
        """Return the same loop under another name."""
        return replace(self, name=name)


def red_slope(max_p: float, min_th: float, max_th: float) -> float:
    """L_red: RED's slope, per packet."""
    low, high = not_negative("min_th", min_th, "packets"), positive("max_th", max_th, "packets")
    if high <= low:
        reject("max_th", max_th, f"above min_th = {min_th:g}")
    if not 0 < max_p <= 1:
        reject("max_p", max_p, "above 0, at most 1")
    return max_p / (high - low)


def red_loop(
    *,
    flows: float,
    capacity: float,
    rtt: float,
    max_p: float,
    min_th: float,
    max_th: float,
    w_q: float,
    name: str = "RED",
) -> Loop:
    """Return Hollot et al.'s loop of RED: N flows with the round-trip time R (queueing included) share C packets/s.

    >>> loop = red_loop(flows=60, capacity=3750, rtt=0.246, max_p=0.1, min_th=150, max_th=700, w_q=1.33e-6)
    >>> round(loop.dc_gain, 3)
    9.912
    """
    n, c, r = positive("flows", flows), positive("capacity", capacity, "packets/s"), positive("rtt", rtt, "s")
    gain = red_slope(max_p, min_th, max_th) * (r * c) ** 3 / (2 * n) ** 2
    return Loop.of_branches(name, Branch(gain, _lags(averaging_rate(w_q, c), 2 * n / (r**2 * c), 1 / r), r))


def pc_red_loop(
    *,
    flows: float,
    capacity: float,
    rtt: float,
    priority_share: float,
    queue: float,
    max_p: float,
    min_th: float,
    max_th: float,
    w_q: float,
    form: PcRedForm = "printed",
) -> Loop:
    """Return the loop of PC-RED's section 4.A, in which all high-priority flows are above their limit.

    Parameters
    ----------
    flows, capacity, rtt
        N, C in packets/s, R in s.
    priority_share
        r_p = N_p / N.
    queue
        q at the operating point, in packets: a protected packet is the victim with probability 1/q.
    max_p, min_th, max_th, w_q
        RED's parameters.
    form
        "printed": gain L_red (R C)^3 / (4 r_p^2 N^3 q). "rederived": with the queue block's gain r_p N, which the
        printed one lacks. "hollot": plain RED's loop, without the factor N_p+/(N q) and with N in the window's pole.
    """
    plain = red_loop(
        flows=flows, capacity=capacity, rtt=rtt, max_p=max_p, min_th=min_th, max_th=max_th, w_q=w_q, name="RED"
    )
    if form == "hollot":
        return plain
    if form not in ("printed", "rederived"):
        reject("form", form, "printed, rederived, hollot")
    share = share_of_flows(priority_share)
    gain = plain.dc_gain / (share**2 * flows * positive("queue", queue, "packets"))
    if form == "rederived":
        gain *= share * flows
    lags = _lags(averaging_rate(w_q, capacity), 2 * share * flows / (rtt**2 * capacity), 1 / rtt)
    return Loop.of_branches(f"PC-RED, {form}", Branch(gain, lags, rtt))


def share_of_flows(r_p: float) -> float:
    """Return r_p, above 0 and at most 1."""
    if not 0 < r_p <= 1:
        reject("r_p", r_p, "above 0, at most 1")
    return float(r_p)


def _lags(*poles: float) -> tuple[float, ...]:
    """Return the finite poles; an infinite pole is not a lag."""
    return tuple(pole for pole in poles if math.isfinite(pole))
