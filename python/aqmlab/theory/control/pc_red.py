"""PC-RED's own model: the flows that pay for a drop, and the response of a flow's average dropping rate a_d to it.

Y. Li and S.-H. Yang, "PC-RED for IPv6: Algorithm and Performance Analysis". The loop of its section 4.A is in
`aqmlab.theory.control.loop`, its conditions (5) and (6) in `aqmlab.theory.control.conditions`.

The three channels of Figure 2 divide a change of the dropping probability among N_p+ flows above their limit, N_p-
high-priority flows below it and N_n others (section 3). A packet that is picked and protected pays only if it is the
last of the queue, which the paper takes to be so once in q picks; what it is spared falls to the others by their
numbers:

    C_p+ = 0 or N_p+/(N q)                                                                        (2)
    C_p- = N_p-/N + (N_p+/N - C_p+) N_p-/(N - N_p+)                                               (3), (4)
    C_n  = N_n/N  + (N_p+/N - C_p+) N_n /(N - N_p+)

They add up to 1. Two things are left out: flows that are protected send more, so that their share of the queue is not
N_p+/N; and the last packet also pays when the pick falls on any packet of a run of protected ones that ends at the
tail. `paid_by_protected` has the latter.

a_d in closed form (section 4.B, equation 7, Figure 3): with one drop of X bytes in every interval g, starting from L/2,

    a_d(n) = (1 - w)^n L/2 + (1 - (1 - w)^n) X
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from aqmlab.theory.domain import DomainError, not_negative
from aqmlab.theory.drop_curve import Array

Number = TypeVar("Number", float, np.ndarray)

LIMIT = 300.0
"""L of Figure 3, in bytes an interval."""
DROPPED = 500.0
"""X of Figure 3, in bytes."""
WEIGHTS = (0.001, 0.003, 0.00558, 0.01113, 0.03, 0.1)
"""The weights drawn: the ends of the paper's range (0.003, 0.03), and those that reach L after 100 and 50 intervals."""


@dataclass(frozen=True)
class Channels:
    """Shares of the drops that fall to N_p+, N_p- and N_n."""

    plus: Array
    minus: Array
    non: Array


def channels(plus: ArrayLike, minus: ArrayLike, non: ArrayLike, *, queue: ArrayLike | None = None) -> Channels:
    """Return C_p+, C_p- and C_n by equations (2) to (4).

    Parameters
    ----------
    plus, minus, non
        N_p+, N_p- and N_n; not all flows may be N_p+, for then no other packet can be the victim.
    queue
        q in packets, 1 or more: a protected packet is the victim once in q picks. None: never, C_p+ = 0.

    Examples
    --------
    >>> found = channels(2, 4, 14, queue=20)
    >>> float(found.plus), round(float(found.minus), 4), round(float(found.non), 4)
    (0.005, 0.2211, 0.7739)
    """
    a, b, c = (np.asarray(numbers, dtype=float) for numbers in (plus, minus, non))
    for name, numbers in (("N_p+", a), ("N_p-", b), ("N_n", c)):
        not_negative(name, float(np.min(numbers)))
    flows, others = a + b + c, b + c
    if not (others > 0).all():
        raise DomainError("N_p+: all flows are above their limit, and (3) and (4) have no value (allowed: below N)")
    pays = np.zeros_like(flows)
    if queue is not None:
        q = np.asarray(queue, dtype=float)
        if not (q >= 1).all():
            raise DomainError(f"queue: {np.min(q):g} is not possible (allowed: 1 packet or more)")
        pays = a / (flows * q)
    spared = a / flows - pays
    return Channels(pays, b / flows + spared * b / others, c / flows + spared * c / others)


def paid_by_protected(share: ArrayLike, queue: ArrayLike) -> Array:
    """Return the share of drops that protected packets pay if each packet of a queue is one with this probability.

    The pick must fall on one of the k protected packets in a row at the tail: E(k)/q = sum of share^k / q, k = 1 .. q.
    Equation (2) has share / q, the first term.

    >>> paid_by_protected([0.0, 0.5, 1.0], 10).round(4).tolist()
    [0.0, 0.0999, 1.0]
    """
    s, q = np.broadcast_arrays(np.asarray(share, dtype=float), np.asarray(queue, dtype=float))
    open_share = np.where(s < 1, 1 - s, 1.0)
    return np.where(s < 1, s * (1 - s**q) / (open_share * q), 1.0)


def average_rate(w: float, n: Number, *, limit: float = LIMIT, dropped: float = DROPPED) -> Number:
    """a_d after n intervals with a drop each.

    >>> round(average_rate(0.01, 50), 3)
    288.248
    """
    kept: Number = (1 - w) ** n
    return kept * limit / 2 + (1 - kept) * dropped


def step(a_d: float, *, w: float, intervals: float, dropped: float) -> float:
    """a_d after one more drop, so many intervals after the last one (equation 7).

    >>> step(150.0, w=0.01, intervals=1, dropped=500.0)
    153.5
    """
    return float((1 - w) ** intervals) * a_d + w * dropped


def intervals_to_cross(w: float, *, limit: float = LIMIT, dropped: float = DROPPED) -> int:
    """First whole number of intervals at which a_d is above L; within rounding of L it is not.

    >>> intervals_to_cross(0.003), intervals_to_cross(0.03)
    (187, 19)
    >>> intervals_to_cross(0.1, limit=100, dropped=550)  # a_d is L after one interval
    2
    """
    reached = math.log(_share(limit, dropped)) / math.log1p(-w)
    whole = round(reached)
    return (whole if math.isclose(reached, whole, rel_tol=1e-9) else math.floor(reached)) + 1


def weight_to_cross(n: float, *, limit: float = LIMIT, dropped: float = DROPPED) -> float:
    """Return the weight with which a_d reaches L after n intervals.

    >>> round(weight_to_cross(50), 5), round(weight_to_cross(100), 5)
    (0.01113, 0.00558)
    """
    return -math.expm1(math.log(_share(limit, dropped)) / n)


def _share(limit: float, dropped: float) -> float:
    """(1 - w)^n at which a_d is L; X must be above L, else a_d never gets there."""
    if not dropped > limit > 0:
        raise DomainError(f"L: a_d reaches L only if X is above it, not with L = {limit:g} and X = {dropped:g}")
    return (dropped - limit) / (dropped - limit / 2)
