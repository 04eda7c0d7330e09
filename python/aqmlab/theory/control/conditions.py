"""Conditions that papers give for the stability of a loop of TCP and RED: Hollot et al.'s, and PC-RED's (5) and (6).

Hollot et al. (INFOCOM 2001) choose w_g = 0.1 min(2N/(R^2 C), 1/R), far below both lags of TCP and queue, and ask that
abs(L(j w_g)) is at most 1:

    L_red (R C)^3/(2N)^2 <= sqrt(w_g^2/K^2 + 1)

PC-RED (section 4.A) writes w_g = r_p N/(5 R^2 C) and

    r_p < R C/(2N)                                  (5)
    L_red (R C)^3/(4 r_p^2 N^3 q) <= w_g/K          (6)

Findings on them: (5) says no more than that the lag of TCP is below that of the queue, so that 2 r_p N/(R^2 C) is
the smaller of the two. (6) is sharper than it need be, since sqrt(w_g^2/K^2 + 1) would do. Its left side falls with r_p
(as r_p^-2, and as r_p^-1 with the factor r_p N that it lacks) while its right side grows: (6) is a lower bound on r_p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from aqmlab.theory.average import averaging_rate
from aqmlab.theory.control.loop import PcRedForm, pc_red_loop, red_loop, share_of_flows
from aqmlab.theory.domain import positive


@dataclass(frozen=True)
class Condition:
    """An inequality at given parameters.

    Attributes
    ----------
    name
        Its name, with its source.
    left, right
        Both sides.
    holds
        Whether it is met.
    says
        In one sentence, what that means.
    """

    name: str
    left: float
    right: float
    holds: bool
    says: str


def hollot_frequency(*, flows: float, capacity: float, rtt: float) -> float:
    """w_g of Hollot et al., in rad/s: a tenth of the smaller corner frequency of TCP."""
    return 0.1 * min(2 * flows / (rtt**2 * capacity), 1 / rtt)


def hollot_condition(
    *, flows: float, capacity: float, rtt: float, max_p: float, min_th: float, max_th: float, w_q: float
) -> Condition:
    """Hollot et al.'s sufficient condition.

    >>> found = hollot_condition(flows=60, capacity=3750, rtt=0.246, max_p=0.1, min_th=150, max_th=700, w_q=1.33e-6)
    >>> round(found.left, 3), round(found.right, 3), found.holds
    (9.912, 10.649, True)
    """
    loop = red_loop(flows=flows, capacity=capacity, rtt=rtt, max_p=max_p, min_th=min_th, max_th=max_th, w_q=w_q)
    slow = hollot_frequency(flows=flows, capacity=capacity, rtt=rtt)
    return _about_gain("Hollot et al.", loop.dc_gain, math.hypot(slow / averaging_rate(w_q, capacity), 1), slow)


def condition_5(*, flows: float, capacity: float, rtt: float, priority_share: float) -> Condition:
    """Return PC-RED's (5): r_p < R C / (2N).

    >>> condition_5(flows=20, capacity=125, rtt=0.1, priority_share=0.3).right
    0.3125
    >>> condition_5(flows=20, capacity=125, rtt=0.364, priority_share=0.3).says
    'The bound 1.1375 is above 1: every share of high-priority flows meets it.'
    """
    bound = positive("rtt", rtt, "s") * positive("capacity", capacity, "packets/s") / (2 * positive("flows", flows))
    r_p = share_of_flows(priority_share)
    if bound > 1:
        says = f"The bound {bound:.5g} is above 1: every share of high-priority flows meets it."
    elif r_p < bound:
        says = f"r_p = {r_p:g} is below the bound {bound:.5g}, at {r_p / bound:.0%} of it."
    else:
        says = f"r_p = {r_p:g} is not below the bound {bound:.5g}: the queue's lag is slower than TCP's."
    return Condition("PC-RED (5)", r_p, bound, r_p < bound, says)


def slow_frequency(*, flows: float, capacity: float, rtt: float, priority_share: float = 1.0) -> float:
    """w_g = r_p N/(5 R^2 C) of PC-RED, in rad/s: a tenth of the lag of TCP."""
    return share_of_flows(priority_share) * flows / (5 * rtt**2 * capacity)


def condition_6(
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
    sufficient: bool = False,
) -> Condition:
    """Return PC-RED's (6), at the gain of the printed, the derived or plain RED's loop.

    With `sufficient` the right side is sqrt(w_g^2/K^2 + 1), which is all that abs(L(j w_g)) <= 1 needs.
    """
    loop = pc_red_loop(
        flows=flows, capacity=capacity, rtt=rtt, priority_share=priority_share, queue=queue, max_p=max_p,
        min_th=min_th, max_th=max_th, w_q=w_q, form=form,
    )  # fmt: skip
    slow = slow_frequency(flows=flows, capacity=capacity, rtt=rtt, priority_share=priority_share)
    ratio = slow / averaging_rate(w_q, capacity)
    name = f"PC-RED (6), {form}{', with the sufficient bound' if sufficient else ''}"
    return _about_gain(name, loop.dc_gain, math.hypot(ratio, 1) if sufficient else ratio, slow)


def smallest_share(
    *, flows: float, capacity: float, rtt: float, queue: float, max_p: float, min_th: float, max_th: float, w_q: float,
    form: PcRedForm = "printed",
) -> float:  # fmt: skip
    """Return the r_p from which on (6) holds: its left side is r_p^-2 (derived: r_p^-1) times that at r_p = 1.

    >>> usual = dict(flows=20, capacity=125, queue=33, max_p=0.1, min_th=10, max_th=35, w_q=0.004)
    >>> round(smallest_share(rtt=0.364, **usual), 4), round(smallest_share(rtt=0.364, form="rederived", **usual), 4)
    (0.0905, 0.1217)
    """
    at_1 = condition_6(
        flows=flows, capacity=capacity, rtt=rtt, priority_share=1.0, queue=queue, max_p=max_p, min_th=min_th,
        max_th=max_th, w_q=w_q, form=form,
    )  # fmt: skip
    falls = {"printed": 2, "rederived": 1, "hollot": 0}[form]
    return float((at_1.left / at_1.right) ** (1 / (falls + 1)))


def printed_phase_bound(slow: float, *, w_q: float, capacity: float, rtt: float) -> float:
    """Return what PC-RED prints as the phase at w_g, in degrees: of the average's lag and of the delay alone.

    The lags of TCP and queue are left out, 5.7 degrees each at a tenth of their rates.
    """
    return -math.degrees(math.atan(slow / averaging_rate(w_q, capacity)) + slow * rtt)


def _about_gain(name: str, left: float, right: float, slow: float) -> Condition:
    holds = left <= right
    if left < 1:
        says = f"The gain {left:.4g} is below 1 at every frequency: stable by small gain, whatever the condition says."
    elif holds:
        says = f"At {slow:.4g} rad/s the gain has fallen to 1 or less, far below the lags of TCP and queue: stable."
    else:
        says = f"At {slow:.4g} rad/s the gain is still above 1: the condition does not say that the loop is stable."
    return Condition(name, left, right, holds, says)
