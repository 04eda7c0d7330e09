"""The chain that ExRED's analysis leaves out: number in system and RED's average, so that the weight w_q enters.

ExRED's equations (9) to (15) put the number in system q in the place of the average. Here the average x is a second
coordinate. Arrivals are Poisson with rate lambda, service is exponential with rate mu, and an arrival that finds q
(ExRED eq. 7 and 8; Floyd and Jacobson 1993, section 4)

    q > 0:   x <- (1 - w_q) x + w_q q
    q = 0:   x <- (1 - w_q)^(mu t) x      t: time since the system emptied, or since a later arrival that was dropped

is dropped with probability p(x), always if q = K. The simulated queue does the same with ``dialect = "floyd93"``,
``spacing = "none"`` and ``in_service_counts = true``. While the system is empty t is exponential with rate lambda, so
(q, x) is a Markov chain in continuous time:

    (q, x) -> (q - 1, x)     rate mu
    (q, x) -> (q, x')        rate lambda p(x')
    (q, x) -> (q + 1, x')    rate lambda (1 - p(x'))

The decision is made on the exact x'; then x' is put on a grid (`average_grid`). The decay over an idle period is
integrated by Gauss and Laguerre's rule. The balance equations, with about ten entries a state, are solved directly
(`averaged_balance`). Arrivals see the stationary law (PASTA), so that

    P_drop = E p(x'),   D = E[q (1 - p(x'))]/(mu (1 - P_drop)),   E(N) = P_drop/P(a run of drops begins)

where the start of a run is an accepted arrival, departures, and an arrival that is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from aqmlab.theory.domain import positive, reject, weight, whole
from aqmlab.theory.drop_curve import Array, DropCurve
from aqmlab.theory.queueing.averaged_balance import MOST_NUMBERS, Arrivals, Model, Solution
from aqmlab.theory.queueing.chain import drop_probabilities

FIRST_NODES = 41
"""Nodes of the first, coarse grid."""
LONG_MEMORY = 0.1
"""Weight from which on an average forgets so quickly that two nodes share a value instead of four."""
RESOLVED = 4.0
"""Spacings that a standard deviation of the average must have."""
FINEST = 1e-6
"""Spacing in packets below which an average is a constant."""
MOST_LOAD = 100.0
"""From load 1000 on, the few packets that are accepted are lost in rounding."""
RARE = "Drops are rarer than rounding errors; their probability is given as 0."


@dataclass(frozen=True)
class AveragedChain:
    """The stationary chain of number in system and average.

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
    w_q
        Weight of the average.
    averages
        The grid of averages in packets.
    law
        law[q, i]: probability of q in system and the average at averages[i]. States above its last row have a share
        below 1e-9. At w_q below 0.1 the weights of the grid make a few entries negative, by 1e-5 in sum.
    p
        p[q, i]: probability that an arrival that finds this state is dropped.
    residual
        Largest rate, in units of mu, by which the balance of a state is missed.
    notes
        Remarks on the numbers, in sentences.
    """

    name: str
    load: float
    capacity: int
    service_rate: float
    w_q: float
    averages: Array
    law: Array
    p: Array
    residual: float
    notes: tuple[str, ...]
    _arrivals: Arrivals = field(repr=False)

    @property
    def states(self) -> int:
        """Number of states."""
        return self.law.size

    @property
    def pi(self) -> Array:
        """Probability of k in system, k = 0 .. K."""
        levels = self.law.sum(axis=1)
        return np.asarray(np.append(levels, np.zeros(self.capacity + 1 - len(levels))))

    @property
    def p_drop(self) -> float:
        """Probability that an arrival is dropped; 0 if drops are too rare to be resolved."""
        return 0.0 if RARE in self.notes else float(np.sum(self.law * self.p))

    @property
    def throughput(self) -> float:
        """Packets carried per second, lambda (1 - P_drop)."""
        return self.load * self.service_rate * float(np.sum(self.law * (1 - self.p)))

    @property
    def mean_number(self) -> float:
        """Mean number in system in packets."""
        return float(self.pi @ np.arange(self.capacity + 1))

    @property
    def mean_wait(self) -> float:
        """Mean wait of an accepted packet before its service, in seconds."""
        accepted = self.law * (1 - self.p)
        found = float(np.sum(accepted * np.arange(len(self.law))[:, None]))
        return found / float(np.sum(accepted)) / self.service_rate

    @property
    def mean_average(self) -> float:
        """Mean of the average at arrivals, in packets."""
        return float(self.law.sum(axis=0) @ self.averages)

    @property
    def sd_average(self) -> float:
        """Standard deviation of the average at arrivals, in packets."""
        variance = float(self.law.sum(axis=0) @ (self.averages - self.mean_average) ** 2)
        return float(np.sqrt(max(variance, 0.0)))

    @property
    def mean_run(self) -> float | None:
        """Mean number of drops in a row E(N); None if drops are too rare to be resolved."""
        return None if RARE in self.notes else self.p_drop / float(np.sum(self._run_starts()))

    def longer(self, n: int) -> float | None:
        """Return P(N > n), the share of runs that have more than n drops; None if drops are too rare."""
        if RARE in self.notes:
            return None
        alive = starts = self._run_starts()
        for _ in range(whole("n", n, least=0)):
            alive = self._arrivals.dropped_after(alive)
        return float(np.sum(alive) / np.sum(starts))

    def _run_starts(self) -> Array:
        """Return the law of the state after the first drop of a run, times the probability that a run begins."""
        return self._arrivals.dropped_after(self._arrivals.after_accepting(self.law))


def solve_averaged_chain(
    curve: DropCurve, *, load: float, capacity: int, w_q: float, service_rate: float = 1.0, step: float | None = None
) -> AveragedChain:
    """Solve the chain.

    Parameters
    ----------
    curve
        Drop probability against the average.
    load
        rho = lambda/mu, above 0, at most 100.
    capacity
        K in packets, the one in service included; above the curve's ``max_th`` unless the curve is drop-tail's.
    w_q
        Weight of the average, above 0, at most 1.
    service_rate
        mu in packets per second.
    step
        Widest spacing of the grid of averages in packets; by default K/200, or less if the average varies so little
        that it would not be resolved. Without effect at w_q = 1, where averages are whole numbers.

    Raises
    ------
    DomainError
        If a parameter lies outside the model, or the grid would have too many states.

    Examples
    --------
    >>> red = DropCurve.of("red", min_th=10, max_th=30, max_p=0.1, limit=100)
    >>> chain = solve_averaged_chain(red, load=1.2, capacity=100, w_q=0.02, service_rate=1000.0)
    >>> round(chain.p_drop, 4), round(chain.mean_run, 2), round(chain.mean_wait * 1e3, 2)
    (0.1684, 2.73, 23.56)
    """
    rho, w, mu = positive("load", load), weight("w_q", w_q), positive("service_rate", service_rate, "packets/s")
    if rho > MOST_LOAD:
        reject("load", rho, f"at most {MOST_LOAD:g}; beyond, solve_chain takes any load")
    k = len(drop_probabilities(curve, capacity)) - 1
    widest = k / 200 if step is None else positive("step", step, "packets")
    model = Model(curve, rho, k, w)
    if w == 1 and (k + 1) ** 3 > MOST_NUMBERS:
        reject("w_q", w, f"below 1 with K = {k}; at 1 solve_chain is exact and takes any K")
    solution = model.solve(np.arange(k + 1.0), k, cubic=False) if w == 1 else _refined(model, widest, step is not None)
    return AveragedChain(
        curve.name,
        rho,
        k,
        mu,
        w,
        solution.averages,
        solution.law,
        solution.arrivals.p,
        solution.residual,
        () if solution.drops_resolved() else (RARE,),
        solution.arrivals,
    )


def _refined(model: Model, step: float, given: bool) -> Solution:
    """Solve on a coarse grid to see which averages occur, and then on finer ones until they are resolved."""
    k = model.capacity
    low, high, top = model.solve(np.linspace(0.0, k, FIRST_NODES), k, cubic=False).ends()
    while True:
        found = model.solve(model.grid(low, high, step), top, cubic=model.w_q < LONG_MEMORY)
        mean, spread, spacing = found.average()
        if given or spread >= RESOLVED * spacing or spacing <= FINEST:
            return found
        reach = max(10 * spread, 8 * spacing)
        low, high, step = max(low, mean - reach), min(high, mean + reach), spacing / 4
