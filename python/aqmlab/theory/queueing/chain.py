"""The birth-death chain of a queue that drops by its present length: the number in system, for any curve.

Source: ExRED, eq. (9), (12), (13) and (15). The average is taken to be the number in system k = 0 .. K (w_q = 1, the
packet in service counted), arrivals are Poisson with rate lambda, service is exponential with rate mu, and an arrival
that finds k is dropped with probability p(k), always at k = K. Then

    pi(k)      = pi(0) rho^k prod_{i<k} (1 - p(i))          balance of k and k + 1
    P_drop     = sum_k pi(k) p(k)                (9), (15)  Poisson arrivals see time averages
    throughput = lambda (1 - P_drop) = mu (1 - pi(0))
    E(Q)       = sum_k k pi(k)                        (13)
    D          = E(Q)/((1 - P_drop) lambda) - 1/mu    (12)

(13) is meant with one sum over another; the print reuses the index. D is the mean wait of an accepted packet and is
computed as such, sum k (1 - p(k)) pi(k) / (mu (1 - P_drop)), without a subtraction. Probabilities are kept as
logarithms: drop-tail with K = 1000 at load 0.1 drops with probability 10^-1000, and how its drops cluster is still
known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from aqmlab.theory.domain import DomainError, positive, refuse, whole
from aqmlab.theory.drop_curve import Array, DropCurve


@dataclass(frozen=True)
class Chain:
    """The stationary chain.

    Attributes
    ----------
    name
        The curve's name.
    load
        rho = lambda/mu.
    capacity
        K in packets, the one in service included.
    service_rate
        mu in packets per second.
    p
        Probability that an arrival that finds k in system is dropped, k = 0 .. K.
    log_pi
        Logarithm of the probability of k in system; minus infinity where the chain never is.
    """

    name: str
    load: float
    capacity: int
    service_rate: float
    p: Array
    log_pi: Array

    @property
    def pi(self) -> Array:
        """Probability of k in system, k = 0 .. K."""
        return np.asarray(np.exp(self.log_pi))

    @property
    def p_drop(self) -> float:
        """Probability that an arrival is dropped, eq. (9) and (15)."""
        return float(self.pi @ self.p)

    @property
    def throughput(self) -> float:
        """Packets carried per second, lambda (1 - P_drop)."""
        return self.load * self.service_rate * self._accepted

    @property
    def mean_number(self) -> float:
        """Mean number in system E(Q), eq. (13), in packets."""
        return float(self.pi @ np.arange(self.capacity + 1))

    @property
    def mean_wait(self) -> float:
        """Mean wait of an accepted packet before its service, eq. (12), in seconds."""
        found = float(self.pi @ (np.arange(self.capacity + 1) * (1 - self.p)))
        return found / self._accepted / self.service_rate

    @property
    def pi_full(self) -> float:
        """Probability that the system is full, pi(K)."""
        return float(self.pi[-1])

    @property
    def _accepted(self) -> float:
        return float(self.pi @ (1 - self.p))


def solve_chain(curve: DropCurve, *, load: float, capacity: int, service_rate: float = 1.0) -> Chain:
    """Solve the chain.

    Parameters
    ----------
    curve
        Drop probability against the number in system.
    load
        rho = lambda/mu, above 0.
    capacity
        K in packets, the one in service included; above the curve's ``max_th`` unless the curve is drop-tail's.
    service_rate
        mu in packets per second.

    Raises
    ------
    DomainError
        If a parameter lies outside the model.

    Examples
    --------
    >>> exred = DropCurve.of("exred", min_th=10, max_th=30, max_p=0.1, limit=100)
    >>> chain = solve_chain(exred, load=1.0, capacity=100, service_rate=1000.0)
    >>> round(chain.throughput, 3), round(chain.mean_wait * 1e3, 3)
    (964.676, 14.555)
    """
    rho, mu = positive("load", load), positive("service_rate", service_rate, "packets/s")
    p = drop_probabilities(curve, capacity)
    return Chain(curve.name, rho, len(p) - 1, mu, p, _log_stationary(p, rho))


def drop_probabilities(curve: DropCurve, capacity: int) -> Array:
    """Return p(k) for k = 0 .. K with p(K) = 1, after a check that the curve fits the system."""
    k = check_capacity(curve, capacity)
    p = curve(np.arange(k + 1))
    if not np.all((p >= 0) & (p <= 1)):
        raise DomainError(f"{curve.name}: the curve gives values outside 0 to 1 on 0 to {k} packets")
    if p[0] == 1:
        raise DomainError(f"{curve.name}: the curve drops every packet that finds an empty system, so none is served")
    p[k] = 1.0
    return p


def check_capacity(curve: DropCurve, capacity: int) -> int:
    """Return K; refuse one that does not reach above the curve's upper threshold."""
    k = whole("capacity", capacity, least=1, unit="packets")
    if math.isfinite(curve.max_th) and k <= curve.max_th:
        refuse("capacity", k, f"above max_th = {curve.max_th:g} packets of {curve.name}")
    return k


def _log_stationary(p: Array, load: float) -> Array:
    """Return ln pi(k); products are summed outwards from the most likely state, where the numbers that count are."""
    with np.errstate(divide="ignore"):
        kept = np.log1p(-p[:-1])
    k = np.arange(len(p))
    mode = int(np.argmax(k * math.log(load) + np.append(0.0, np.cumsum(kept))))
    above = np.cumsum(kept[mode:])
    below = -np.cumsum(kept[:mode][::-1])[::-1]
    log = (k - mode) * math.log(load) + np.concatenate([below, [0.0], above])
    return np.asarray(log - math.log(float(np.sum(np.exp(log)))))
