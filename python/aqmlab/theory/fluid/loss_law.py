"""How windows answer losses: the laws that `FluidModel.loss_law` names.

A law says how many loss events a flow sees in a round trip, and what share of its window an event takes:

    dW/dt = 1/R - cut W events(W(t-R), p(t-R)) / R(t-R)        and in equilibrium   cut W events(W, p) = 1

| name | events in a round trip | cut | W in equilibrium | what it is |
|---|---|---|---|---|
| misra | W p | 1/2 | 1.4142/sqrt(p) | the equation of Misra, Gong and Towsley [1]: E[W^2] is taken for E[W]^2 |
| random | W p | 0.5829 | 1.3098/sqrt(p) | the same flow's true mean window when losses are independent [2] |
| periodic | W p | 2/3 | 1.2247/sqrt(p) | the same flow's true mean window when losses come evenly [3] |
| recovery | 2 c(W) W p | 1/2 | below | `random`, with a round trip of recovery after each loss, and whole packets |

`random`: between losses the window grows by one packet in a round trip, and each packet is lost with probability p.
Then p W^2/2 just before a loss is a sum of E_k/4^k over k = 0, 1, ..., E_k exponential with mean 1; hence W there has
the mean B/sqrt(p), B = E[sqrt(2 sum)] = 1.5269; growth takes B/(2 sqrt(p)) round trips and 1/p packets, so that the
mean window is 2/(B sqrt(p)).

`recovery` (our own step beyond [2]; no number is fitted): after each loss NewReno sends half a window for a round trip,
without growth (RFC 6582), and of a window half a packet on average cannot be sent, as only whole packets are. So

    W(p) = (1/p + B/(2 sqrt(p))) / (1 + B/(2 sqrt(p))) - 1/2

packets on the way, and c(W) = 1/(W^2 p(W)) makes the equation above rest there. Time-outs are in none of the laws.

[1] "Fluid-based analysis of a network of AQM routers supporting TCP flows with an application to RED", SIGCOMM 2000.
[2] Ott, Kemperman, Mathis, "The stationary behavior of ideal TCP congestion avoidance", 1996.
[3] Mathis, Semke, Mahdavi, Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR 27(3), 1997.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aqmlab.theory.domain import refuse
from aqmlab.theory.drop_curve import Array

LEAST_WINDOW = 1.0
"""A window is never below one packet."""


def _peak() -> float:
    """Return B: the sum's density is that of exponentials with the rates 4^k, and converges within 20 of them."""
    rates = 4.0 ** np.arange(20)
    others = 1 - rates[:, None] / rates
    np.fill_diagonal(others, 1.0)
    return math.sqrt(2) * math.gamma(1.5) * float(np.sum(1 / np.prod(others, axis=1) / np.sqrt(rates)))


B = _peak()
"""Mean window just before a loss, times sqrt(p), when losses are independent."""


@dataclass(frozen=True)
class LossLaw:
    """A law.

    Attributes
    ----------
    events
        Loss events in a round trip at a window (packets) and a loss probability.
    cut
        The share of the window that an event takes.
    window
        The window in equilibrium at a loss probability above 0, without limits.
    """

    events: Callable[[Array, Array], Array]
    cut: float
    window: Callable[[Array], Array]


def _by_square(cut: float) -> LossLaw:
    """Return the law with cut W^2 p = 1 in equilibrium."""
    return LossLaw(lambda w, p: w * p, cut, lambda p: np.sqrt(1 / (cut * p)))


def _recovery_window(p: Array) -> Array:
    growth = B / (2 * np.sqrt(p))
    return np.asarray((1 / p + growth) / (1 + growth) - 0.5)


def _recovery_events(w: Array, p: Array) -> Array:
    """Return 2 c(W) W p; 1/p(W) is the square of the root of the equation of W(p) in 1/sqrt(p)."""
    linear = B / 2 * (w - 0.5)
    packets = ((linear + np.sqrt(linear**2 + 4 * (w + 0.5))) / 2) ** 2
    return np.asarray(2 * packets / w * p)


LAWS = {
    "misra": _by_square(1 / 2),
    "random": _by_square(B**2 / 4),
    "periodic": _by_square(2 / 3),
    "recovery": LossLaw(_recovery_events, 0.5, _recovery_window),
}


def loss_law(name: str) -> LossLaw:
    """Return a law by its name."""
    if name not in LAWS:
        refuse("loss_law", name, ", ".join(LAWS))
    return LAWS[name]


def equilibrium_window(law: LossLaw, p: float, limits: Array) -> Array:
    """Return the windows of classes at a loss probability: at least one packet, at most each class's limit.

    >>> equilibrium_window(loss_law("misra"), 0.02, np.array([np.inf, 4.0])).tolist()
    [10.0, 4.0]
    """
    free = float(law.window(np.array([p]))[0]) if p > 0 else np.inf
    return np.clip(np.full_like(limits, free), LEAST_WINDOW, limits)
