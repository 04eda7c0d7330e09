"""PC-RED's three channels as a fixed point: which flows are protected, what each kind loses, and what it sends.

Y. Li and S.-H. Yang, "PC-RED for IPv6: Algorithm and Performance Analysis". Equations (2) to (4) (in
`aqmlab.theory.control.pc_red`) divide drops among N_p+, N_p- and N_n *given* N_p+. What N_p+ is follows from (7), which
the paper does not solve. With D = p S drops/s of the queue in all, S packets/s from all flows, a flow loses

    d_+ = D C_p+/N_p+       while it is protected            d_- = D C_p-/N_p-       while it is not    [drops/s]

Between drops a_d decays at the rate k = -ln(1-w)/g, and a drop of B bytes adds w B (7). Constant drops at a rate d
hold a_d at w B d/k, so that L corresponds to 1/tau drops/s with tau = w B/(k L), about B g/L:

* d_- tau <= 1: a_d does not reach L, the flow is never protected.
* d_+ tau >= 1: a_d stays above L, the flow is always protected. This is the paper's "critical state".
* else the flow alternates. With `status_refresh = "on-drop"` protection ends at a drop that finds a_d below L. The
  excess of a_d over L, as the time it takes to decay, is a random walk with steps tau - T, T exponential with mean
  1/d_+; by Wald's identity, and since T forgets,

      E T_+ = (1/d_+ + tau/2)/(1 - d_+ tau)                    s protected
      E T_- = (1/k) E ln((A - L e^(-k T))/(A - L))             s not protected, A = w B d_-/k
            = (1/k) r/(nu + 1) 2F1(1, nu + 1; nu + 2; r)       r = L/A, nu = d_+/k

  (near L decay is taken as even: against a_d played out drop by drop, the share of time protected is within 0.03).
  With "on-arrival" protection ends as soon as a_d has decayed to L: E T_+ = tau/(1 - d_+ tau) (a busy period of M/D/1)
  and E T_- = 1/(d_- - 1/tau), so that the mean rate of drops is 1/tau.

N_p+ = N_p E T_+/(E T_+ + E T_-) then gives the channels, and the mean windows W_+, W_- of the two states follow from
the law of losses (`aqmlab.theory.fluid.loss_law`; a loss takes the share h of a window), with beta = 1/E T_+,
alpha = 1/E T_-, phi = N_p+/N_p, m_+ = phi W_+, m_- = (1-phi) W_-; e is 1 if protection ends at a drop, else 0:

    phi/R     = (beta + (d_+ - e beta) h_+) m_+ - alpha (1-h_-) m_-
    (1-phi)/R = (alpha + (d_- - alpha) h_-) m_- - beta (1 - e h_+) m_+

Readings of "share": `flows` takes (2) to (4) as printed, by numbers of flows. `packets` takes shares s of packets in
the queue: a pick on any protected packet of a row at the tail ends at the tail, (s + ... + s^q)/q of the drops
(`paid_by_protected`), and the rest falls on other packets by their numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import hyp2f1

from aqmlab.theory.control.pc_red import paid_by_protected
from aqmlab.theory.domain import DomainError, positive, weight
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW
from aqmlab.theory.shares.response import LARGEST, cut_of, settle, windows_at

Reading = Literal["flows", "packets"]


@dataclass(frozen=True)
class Loop:
    """The loop of a_d: equation (7) and what protects a flow.

    Attributes
    ----------
    limit
        L, bytes an interval; above 0.
    interval
        g, s; above 0.
    weight
        w; above 0, below 1.
    on_arrival
        Whether a status ends as soon as a_d has decayed (`status_refresh = "on-arrival"`), not at the next drop.
    """

    limit: float
    interval: float
    weight: float
    on_arrival: bool = False

    def __post_init__(self) -> None:
        positive("L", self.limit, "bytes")
        positive("g", self.interval, "s")
        if weight("w", self.weight) == 1:
            raise DomainError("w: 1 is not possible (allowed: above 0, below 1)")

    @property
    def decay(self) -> float:
        """Return k = -ln(1-w)/g, 1/s."""
        return -math.log1p(-self.weight) / self.interval

    def undone(self, dropped: float) -> float:
        """Return tau in s: the time in which, at a_d = L, the increase by a drop of so many bytes decays.

        >>> round(Loop(70, 0.36, 0.003).undone(500), 4)
        2.5676
        """
        return self.weight * dropped / (self.decay * self.limit)

    def first_protected_s(self, drops: float, dropped: float) -> float:
        """Return when a flow that starts with a_d = L/2 is first protected, s; infinite if never.

        >>> round(Loop(70, 1, 0.01).first_protected_s(1, 500), 2)
        7.83
        """
        held = self.weight * dropped * drops / self.decay
        if held <= self.limit:
            return math.inf
        return math.log((held - self.limit / 2) / (held - self.limit)) / self.decay

    def phases(self, protected: float, open_: float, dropped: float) -> tuple[float, float]:
        """Return E T_+ and E T_-, the mean lengths in s of being protected and of not being so.

        Parameters
        ----------
        protected, open_
            d_+ and d_-, drops/s that the flow suffers in either state.
        dropped
            B, bytes.

        Examples
        --------
        Never and always protected; and at d_+ = 0 protection that ends with no drop:

        >>> loop = Loop(70, 0.36, 0.003)
        >>> loop.phases(0.01, 0.38, 500), loop.phases(0.4, 2.0, 500), loop.phases(0.0, 2.0, 500)[0]
        ((0.0, inf), (inf, 0.0), inf)
        """
        tau = self.undone(dropped)
        if open_ * tau <= 1:
            return 0.0, math.inf
        if protected * tau >= 1:
            return math.inf, 0.0
        if self.on_arrival:
            return tau / (1 - protected * tau), 1 / (open_ - 1 / tau)
        r, nu = 1 / (open_ * tau), protected / self.decay
        climb = r / (nu + 1) * float(hyp2f1(1.0, nu + 1, nu + 2, r)) / self.decay
        if protected == 0:
            return math.inf, climb
        return (1 / protected + tau / 2) / (1 - protected * tau), climb


@dataclass(frozen=True)
class Point:
    """PC-RED's flows in equilibrium; arrays have an entry for each class.

    Attributes
    ----------
    share
        phi: of the class's flows, those that are protected; 0 without priority.
    plus, minus
        Windows in packets while protected, and while not.
    drops_plus, drops_minus
        Drops/s of a flow while protected, and while not.
    """

    share: Array
    plus: Array
    minus: Array
    drops_plus: Array
    drops_minus: Array

    @property
    def windows(self) -> Array:
        """Mean windows, packets."""
        return self.share * self.plus + (1 - self.share) * self.minus

    @property
    def drops(self) -> Array:
        """Mean drops/s of a flow."""
        return self.share * self.drops_plus + (1 - self.share) * self.drops_minus


@dataclass
class PcRedFlows:
    """The answer of classes of flows to PC-RED, for `aqmlab.theory.fluid.operating_point.solve`.

    Attributes
    ----------
    loop
        Of a_d.
    law
        How windows answer losses.
    flows
        Of each class.
    priority
        Whether a class has priority.
    dropped
        Bytes of a packet of each class.
    limits
        Largest window of each class, packets.
    reading
        Whether shares are of `flows`, as printed, or of `packets`.
    circular
        Whether the search goes on from the head, so that a protected packet is the victim only where all are.
    lasts
        s; a flow that would be protected only later than this is never protected.
    """

    loop: Loop
    law: str
    flows: Array
    priority: Array
    dropped: Array
    limits: Array
    reading: Reading = "flows"
    circular: bool = False
    lasts: float = math.inf
    _last: Array | None = field(default=None, repr=False)

    def windows(self, p: float, queue: float, rtts: Array) -> Array:
        """Return the classes' mean windows in packets at an overall loss p, a queue in packets and round trips in s."""
        return self.at(p, queue, rtts).windows

    def at(self, p: float, queue: float, rtts: Array) -> Point:
        """Return the equilibrium of the lists and windows at an overall loss, a queue and round trips."""
        n = len(self.flows)
        start = windows_at(self.law, np.full(2 * n, max(p, 1e-12))) if self._last is None else self._last
        found: list[Point] = []
        state = [np.where(self.priority, 0.5, 0.0)]

        def step(both: Array) -> Array:
            plus, minus = both[:n], both[n:]
            point = self._step(p, queue, rtts, Point(state[0], plus, minus, plus, minus))
            state[0] = np.where(self.priority, (state[0] + point.share) / 2, 0.0)
            found[:] = [point]
            return np.concatenate([point.plus, point.minus])

        self._last = settle(step, start)
        return found[0]

    def _step(self, p: float, queue: float, rtts: Array, now: Point) -> Point:
        rate_plus, rate_minus = self._drops(p, max(queue, 0.0) + 1.0, rtts, now)
        share, plus, minus = (np.empty_like(rtts) for _ in range(3))
        cut_plus, cut_minus = cut_of(self.law, now.plus), cut_of(self.law, now.minus)
        for i in range(len(rtts)):
            length = self._phases(i, rate_plus[i], rate_minus[i])
            share[i], plus[i], minus[i] = _two_states(
                length, rate_plus[i], rate_minus[i], float(cut_plus[i]), float(cut_minus[i]), rtts[i],
                at_drop=not self.loop.on_arrival,
            )  # fmt: skip
        bound = np.minimum(self.limits, LARGEST)
        return Point(
            share, np.clip(plus, LEAST_WINDOW, bound), np.clip(minus, LEAST_WINDOW, bound), rate_plus, rate_minus
        )

    def _phases(self, i: int, plus: float, minus: float) -> tuple[float, float]:
        if not self.priority[i] or self.loop.first_protected_s(minus, self.dropped[i]) > self.lasts:
            return 0.0, math.inf
        return self.loop.phases(plus, minus, self.dropped[i])

    def _drops(self, p: float, queue: float, rtts: Array, now: Point) -> tuple[Array, Array]:
        """Return d_+ and d_- of a flow of each class, drops/s; `queue` counts the arriving packet."""
        protected = self.flows * now.share
        sent_plus, sent_minus = protected * now.plus / rtts, (self.flows - protected) * now.minus / rtts
        sent = float(np.sum(sent_plus + sent_minus))
        if self.reading == "flows":
            total, listed = float(np.sum(self.flows)), float(np.sum(protected))
            pays = 0.0 if self.circular else 1 / (total * queue)
            others = max(total - listed, 1e-9)
            rest = 1 / total + (listed / total - listed * pays) / others
            return np.full_like(rtts, p * sent * pays), np.full_like(rtts, p * sent * rest)
        s = min(float(np.sum(sent_plus)) / sent, 1 - 1e-9)
        paid = s**queue if self.circular else float(paid_by_protected(s, queue))
        first = paid / s if s > 0 else (0.0 if self.circular else 1 / queue)
        return p * first * now.plus / rtts, p * (1 - paid) / (1 - s) * now.minus / rtts


def _two_states(
    length: tuple[float, float],
    d_plus: float,
    d_minus: float,
    h_plus: float,
    h_minus: float,
    rtt: float,
    *,
    at_drop: bool,
) -> tuple[float, float, float]:
    """Return phi, W_+ and W_- of a flow that is protected for E T_+ and not for E T_- seconds in turn."""
    one_plus = LARGEST if d_plus <= 0 else min(1 / (rtt * d_plus * h_plus), LARGEST)
    one_minus = LARGEST if d_minus <= 0 else min(1 / (rtt * d_minus * h_minus), LARGEST)
    if length[0] == 0 or math.isinf(length[1]):
        return 0.0, one_plus, one_minus
    if length[1] == 0 or math.isinf(length[0]):
        return 1.0, one_plus, one_minus
    phi = length[0] / (length[0] + length[1])
    beta, alpha = 1 / length[0], 1 / length[1]
    e = 1.0 if at_drop else 0.0
    alpha_drop = min(alpha, d_minus)
    matrix = np.array(
        [
            [beta + max(d_plus - e * beta, 0.0) * h_plus, -alpha * (1 - h_minus)],
            [-beta * (1 - e * h_plus), alpha + (d_minus - alpha_drop) * h_minus],
        ]
    )
    plus, minus = np.linalg.solve(matrix, np.array([phi, 1 - phi]) / rtt)
    return phi, float(plus) / phi, float(minus) / (1 - phi)
