"""Drops in a row: how long a run of consecutive dropped packets is, as ExRED prints it and exactly.

As printed (ExRED, eq. 10 and 11), with the sums over the states k = 0 .. K-1:

    (10)  P(N > n) = sum pi(k) p(k)^(n+1) / sum pi(k) p(k)
    (11)  E(N)     = 1 + sum pi(k) p(k)^2/(1 - p(k)) / sum pi(k) p(k)

All n + 1 packets are dropped with the p of one and the same state: departures between arrivals are ignored, against
eq. (3) of the same paper, which counts them. Where a state k < K with p(k) = 1 is visited, as RED's k = max_th always
is, (10) does not fall to 0 and (11) is infinite; without the states with p(k) = 1 ("excl") both are finite but leave
out the drops that come in long runs. Drop-tail drops in no state below K, so for it (10) and (11) have no value.

Exactly: after a drop that found i packets the next arrival finds j with probability

    P(i -> j) = r^(i-j) (1-r),  j > 0;      r^i,  j = 0;      r = mu/(lambda + mu)

With T[i, j] = P(i -> j) p(j) and beta the states in which runs begin, P(N > n) = beta T^n 1 and
E(N) = P_drop/P(a run begins) = beta (I - T)^-1 1. Each product with T is a first-order recursion over the states,
z(j) = r z(j-1) + (1-r) u(j), so nothing larger than a vector is ever built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from aqmlab.theory.domain import whole
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.queueing.chain import Chain


@dataclass(frozen=True)
class Runs:
    """Runs of consecutive drops.

    Attributes
    ----------
    chain
        The chain that they belong to.
    p_run_start
        Probability that an arrival is the first drop of a run.
    mean_run
        Exact mean number of drops in a run, E(N).
    mean_any
        The same seen from any drop: mean number of drops from it to the end of its run, itself included.
    mean_eq11
        Eq. (11) as printed: infinite if a state k < K with p(k) = 1 is visited, None if no state k < K drops.
    mean_eq11_excl
        Eq. (11) without states with p(k) = 1; None if no other state drops.
    notes
        Why a formula has no value, in sentences.
    """

    chain: Chain
    p_run_start: float
    mean_run: float
    mean_any: float
    mean_eq11: float | None
    mean_eq11_excl: float | None
    notes: tuple[str, ...]
    _start: Array
    _any: Array

    def longer(self, n: int) -> float:
        """Return P(N > n) exactly: the share of runs that have more than n drops."""
        return float(self._start @ self._survive(n))

    def longer_any(self, n: int) -> float:
        """Return the probability that a drop is followed by n more at least."""
        return float(self._any @ self._survive(n))

    def longer_eq10(self, n: int) -> float | None:
        """Return eq. (10) as printed; None if no state k < K drops."""
        return _average(self.chain, lambda p: p ** whole("n", n, least=0), self.chain.p[:-1] > 0)

    def longer_eq10_excl(self, n: int) -> float | None:
        """Return eq. (10) without states with p(k) = 1; None if no other state drops."""
        p = self.chain.p[:-1]
        return _average(self.chain, lambda p: p ** whole("n", n, least=0), (p > 0) & (p < 1))

    def _survive(self, n: int) -> Array:
        """Return T^n 1: the probability of n more drops after one that found k packets."""
        alive = np.ones(len(self.chain.p))
        for _ in range(whole("n", n, least=0)):
            alive = _next_arrival(self.chain, self.chain.p * alive)
        return alive


def consecutive_drops(chain: Chain) -> Runs:
    """Find how drops follow each other in a chain.

    Examples
    --------
    >>> from aqmlab.theory.queueing.chain import solve_chain
    >>> from aqmlab.theory.drop_curve import DropCurve
    >>> red = DropCurve.of("red", min_th=10, max_th=30, max_p=0.1, limit=100)
    >>> runs = consecutive_drops(solve_chain(red, load=2.0, capacity=100))
    >>> round(runs.mean_run, 3), runs.mean_eq11, round(runs.longer(1), 3)
    (2.761, inf, 0.594)
    """
    log_drop = _log(chain.p) + chain.log_pi
    any_drop, log_p_drop = _normalized(log_drop)
    start, log_p_start = _normalized(_log(chain.p) + _log_found_after_accepting(chain))
    more = _drops_from_here(chain)
    below = chain.p[:-1]
    mean_eq11 = _average(chain, lambda p: 1 / (1 - p), below > 0)
    mean_excl = _average(chain, lambda p: 1 / (1 - p), (below > 0) & (below < 1))
    return Runs(
        chain,
        math.exp(log_p_start),
        math.exp(log_p_drop - log_p_start),
        float(any_drop @ more),
        mean_eq11,
        mean_excl,
        _notes(chain, mean_eq11, mean_excl),
        start,
        any_drop,
    )


def _notes(chain: Chain, mean_eq11: float | None, mean_excl: float | None) -> tuple[str, ...]:
    name = chain.name
    notes = []
    if mean_eq11 is None:
        notes.append(f"{name} drops in no state below K, so eq. (10) and (11) are 0/0 and have no value.")
    elif math.isinf(mean_eq11):
        state = int(np.argmax(chain.p == 1))
        notes.append(
            f"{name} visits k = {state} < K with p = 1, so eq. (11) is infinite and eq. (10) does not fall to 0."
        )
        if mean_excl is None:
            notes.append(f"{name} drops in no state with p < 1, so eq. (10) and (11) without p = 1 have no value.")
    return tuple(notes)


def _log(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(x))


def _normalized(log_weights: Array) -> tuple[Array, float]:
    """Return weights that sum to 1, and the logarithm of what they summed to."""
    top = float(np.max(log_weights))
    weights = np.exp(log_weights - top)
    total = float(np.sum(weights))
    return np.asarray(weights / total), top + math.log(total)


def _average(chain: Chain, of: Callable[[Array], Array], where: NDArray[np.bool_]) -> float | None:
    """Return the mean of a function of p over the drops in these states k < K; None if there are none."""
    log_pi, p = chain.log_pi[:-1], chain.p[:-1]
    visited = where & np.isfinite(log_pi)
    if not np.any(visited):
        return None
    weights, _ = _normalized(log_pi[visited] + np.log(p[visited]))
    with np.errstate(divide="ignore"):
        return float(weights @ of(p[visited]))


def _kept_between(chain: Chain) -> float:
    """Return r = mu/(lambda + mu): the probability that a departure comes before the next arrival."""
    return 1 / (1 + chain.load)


def _next_arrival(chain: Chain, values: Array) -> Array:
    """Return sum_j P(i -> j) values(j) for every i: the mean of the value that the next arrival finds."""
    r = _kept_between(chain)
    return _array(accumulate(values.tolist(), lambda z, u: r * z + (1 - r) * u))


def _drops_from_here(chain: Chain) -> Array:
    """Return (I - T)^-1 1: mean number of drops from one that found i packets to the end of its run."""
    r = _kept_between(chain)
    p = chain.p.tolist()
    first = p[0] / (1 - p[0])
    later = accumulate(p[1:], lambda z, p: (r * z + (1 - r) * p) / (1 - p + r * p), initial=first)
    return 1 + _array(later)


def _log_found_after_accepting(chain: Chain) -> Array:
    """Return the logarithm of P(an arrival was accepted, and the next one finds j), for every j."""
    r = _kept_between(chain)
    accepted = np.full(len(chain.p), -np.inf)
    accepted[1:] = chain.log_pi[:-1] + _log(1 - chain.p[:-1])
    # c(j) = r c(j+1) + a(j), from the top down
    reached = _array(accumulate(accepted[::-1].tolist(), lambda c, a: _log_sum(math.log(r) + c, a)))[::-1]
    found = reached + math.log1p(-r)
    found[0] = reached[0]
    return found


def _log_sum(a: float, b: float) -> float:
    """Return ln(e^a + e^b)."""
    low, high = min(a, b), max(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def _array(values: Iterable[float]) -> Array:
    return np.array(list(values))
