"""The queue M/M/1/K in closed form: drop-tail under Poisson arrivals and exponential service.

Source: ExRED, eq. (2) to (6). With rho = lambda/mu, L = ln rho and room for K packets, the one in service included:

    (2)  P_drop     = (1 - rho) rho^K / (1 - rho^(K+1))
    (3)  P(N > n)   = (rho/(1 + rho))^n
    (4)  E(N)       = 1 + rho
    (5)  D          = E(Q)/((1 - P_drop) lambda) - 1/mu
    (6)  E(Q)       = rho/(1 - rho) - (K+1) rho^(K+1)/(1 - rho^(K+1)),   K/2 at rho = 1

N is the number of drops in a row: after a drop the system is full, and the next event is an arrival with probability
rho/(1 + rho). The printed forms are 0/0 at rho = 1 and lose their digits beside it. Here powers go through ``expm1``,
a load above 1 is mirrored (free places in a queue with load rho are taken places in one with load 1/rho), and close
to 1 the mean number is K/2 and a difference of two small terms, see `_mean_number`. The wait (5) is that of an accepted
packet; it finds a truncated geometric number of packets, so it is the mean number of M/M/1/(K-1) over mu, without the
subtraction of (5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from aqmlab.theory.domain import positive, whole
from aqmlab.theory.drop_curve import Array

_CLOSE = 1.0
"""Below this value of (K+1) |ln rho| the mean number is taken from a series."""
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


@dataclass(frozen=True)
class MM1K:
    """Drop-tail under Poisson arrivals and exponential service.

    Attributes
    ----------
    load
        rho = lambda/mu, above 0.
    capacity
        K in packets, the one in service included.
    service_rate
        mu in packets per second.

    Examples
    --------
    >>> queue = MM1K(load=1.0, capacity=100, service_rate=1000.0)
    >>> queue.p_drop == 1 / 101, queue.mean_number, round(queue.mean_wait, 6)
    (True, 50.0, 0.0495)
    """

    load: float
    capacity: int
    service_rate: float = 1.0

    def __post_init__(self) -> None:
        positive("load", self.load)
        whole("capacity", self.capacity, least=1, unit="packets")
        positive("service_rate", self.service_rate, "packets/s")

    @property
    def p_drop(self) -> float:
        """Probability that an arrival is dropped, eq. (2)."""
        return _full(self.load, self.capacity)

    @property
    def throughput(self) -> float:
        """Packets carried per second: lambda (1 - P_drop) = mu (1 - pi(0))."""
        if self.load > 1:
            return self.service_rate * (1 - _full(self.load, self.capacity, empty=True))
        return self.load * self.service_rate * (1 - self.p_drop)

    @property
    def mean_number(self) -> float:
        """Mean number in system E(Q), eq. (6), in packets."""
        return _mean_number(self.load, self.capacity)

    @property
    def mean_wait(self) -> float:
        """Mean wait of an accepted packet before its service, eq. (5), in seconds."""
        return _mean_number(self.load, self.capacity - 1) / self.service_rate

    @property
    def mean_run(self) -> float:
        """Mean number of drops in a row E(N), eq. (4)."""
        return 1 + self.load

    def longer(self, n: int) -> float:
        """Return P(N > n), eq. (3): the share of runs of drops that are longer than n."""
        return float((self.load / (1 + self.load)) ** whole("n", n, least=0))

    @property
    def pi(self) -> Array:
        """Probability of k in system, k = 0 .. K."""
        k = np.arange(self.capacity + 1)
        if self.load > 1:
            k = self.capacity - k
        return np.asarray(np.exp(-abs(math.log(self.load)) * k) * _full(_mirror(self.load), self.capacity, empty=True))


def _mirror(load: float) -> float:
    return 1 / load if load > 1 else load


def _full(load: float, k: int, *, empty: bool = False) -> float:
    """Return pi(K), or pi(0), of M/M/1/K."""
    log = math.log(load)
    if log == 0:
        return 1 / (k + 1)
    below = (log < 0) != empty
    power = math.exp(-k * abs(log)) if below else 1.0
    if below and log < 0:
        power = load**k
    # (1 - x)/(1 - x^(K+1)) with x the load or, above 1, its inverse
    return power * math.expm1(-abs(log)) / math.expm1(-(k + 1) * abs(log))


def _mean_number(load: float, k: int) -> float:
    """Return E(Q) of M/M/1/K.

    With n = K + 1 and x = -ln rho, (6) is 1/(e^x - 1) - n/(e^(nx) - 1). By 1/(e^x - 1) = 1/x - 1/2 + g(x), where
    g(x) = x/12 - x^3/720 + ..., it is K/2 + g(x) - n g(nx): the poles cancel on paper instead of in the computer.
    """
    if k == 0:
        return 0.0
    n, x = k + 1, abs(math.log(load))
    if n * x < _CLOSE:
        gap = _remainder(x) - n * _remainder(n * x)
        return k / 2 + (gap if load < 1 else -gap)
    less = n * math.exp(-n * x) / math.expm1(-n * x) - math.exp(-x) / math.expm1(-x)
    return less if load < 1 else k - less


def _remainder(x: float) -> float:
    """Return g(x) = 1/(e^x - 1) - 1/x + 1/2 for x up to 1, by Bernoulli's numbers B_2j: sum B_2j x^(2j-1)/(2j)!."""
    return math.fsum(b * x ** (2 * j - 1) / math.factorial(2 * j) for j, b in enumerate(_BERNOULLI, start=1))
