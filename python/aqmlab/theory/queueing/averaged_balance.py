"""Balance of the chain of number in system and average: its matrices, and their solution.

The states (q, x) have about ten entries each. The balance is solved by a sparse factorization, whose cost grows with
the number of states and with how far an arrival moves the average on the grid; an iteration would need as many steps as
the average and the queue have memory, times the digits wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import Array, DropCurve
from aqmlab.theory.queueing.average_grid import Places, nodes, shares

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_NUMBERS = 60_000_000
"""Levels times the square of the averages, at most: up to here a solution takes seconds and below 1 GB."""
IDLE_NODES = 32
"""Nodes of the rule that integrates the decay over an idle period."""
SHARE_LEFT_OUT = 1e-9
"""Part of the law, and of the drops, that may lie beyond the ends of the grid."""
RESTART = 1e-13
"""Rate of new beginnings in the inverse iteration, where the service rate is 1."""
TOO_RARE = 1e-12
"""Probability of a drop that is lost in rounding."""


@dataclass(frozen=True)
class Arrivals:
    """Effect of an arrival on a law of (q, x): sparse matrices from the state that it finds to the one it leaves."""

    load: float
    p: Array
    drop: csr_array
    accept: csr_array

    def residual(self, law: Array) -> float:
        """Return by how much the balance of a state is missed at most."""
        flow = self.load * (self._step(law, self.accept) + self._step(law, self.drop) - law)
        flow[:-1] += law[1:]
        flow[1:] -= law[1:]
        return float(np.max(np.abs(flow)))

    def dropped_after(self, law: Array) -> Array:
        """Return the law after departures and an arrival that is dropped."""
        return self._step(self._departures(law), self.drop)

    def after_accepting(self, law: Array) -> Array:
        """Return the law after an arrival that is accepted."""
        return self._step(law, self.accept)

    def _step(self, law: Array, matrix: csr_array) -> Array:
        return np.asarray(law.ravel() @ matrix).reshape(law.shape)

    def _departures(self, law: Array) -> Array:
        """Return the law at the next arrival: from i it finds j with probability r^(i-j) (1-r), or r^i for j = 0."""
        r = 1 / (1 + self.load)
        found = np.zeros_like(law)
        passing = np.zeros(law.shape[1])
        for q in range(len(law) - 1, 0, -1):
            passing = r * passing + law[q]
            found[q] = (1 - r) * passing
        found[0] = r * passing + law[0]
        return found


@dataclass(frozen=True)
class Solution:
    """A law on a grid, as in `aqmlab.theory.AveragedChain`."""

    averages: Array
    law: Array
    arrivals: Arrivals
    residual: float

    def drops_resolved(self) -> bool:
        """Whether the drops stand out from rounding and from the negative entries of the law."""
        drops = self.law * self.arrivals.p
        total, negative = float(np.sum(drops)), -float(np.sum(self.law[self.law < 0]))
        return total > max(TOO_RARE, 1e-6 * negative) and float(np.sum(np.abs(drops))) < 1.1 * total

    def ends(self) -> tuple[float, float, int]:
        """Return the averages and the number in system beyond which almost nothing lies."""
        mass = np.abs(self.law)
        low, high, top = len(self.averages) - 1, 0, 0
        for weights in (mass, mass * self.arrivals.p):
            total = float(np.sum(weights))
            if total > TOO_RARE:
                averages, levels = weights.sum(axis=0) / total, weights.sum(axis=1) / total
                low = min(low, int(np.argmax(np.cumsum(averages) > SHARE_LEFT_OUT)))
                high = max(high, _last(averages))
                top = max(top, _last(levels))
        beyond = min(high + 1, len(self.averages) - 1)
        start = float(self.averages[max(low - 1, 0)])
        # A law that comes near 0 is sharp there, and the grid then begins at 0, where it is fine.
        return start if 4 * start > self.averages[beyond] else 0.0, float(self.averages[beyond]), top

    def average(self) -> tuple[float, float, float]:
        """Return mean and standard deviation of the average, and the spacing of the grid at the mean."""
        law = self.law.sum(axis=0)
        mean = float(law @ self.averages)
        cell = min(max(int(np.searchsorted(self.averages, mean)), 1), len(self.averages) - 1)
        spacing = float(self.averages[cell] - self.averages[cell - 1])
        return mean, max(float(law @ (self.averages - mean) ** 2), 0.0) ** 0.5, spacing


@dataclass(frozen=True)
class Model:
    """The model to solve: a curve, rho, K and the weight of the average."""

    curve: DropCurve
    load: float
    capacity: int
    w_q: float

    def grid(self, low: float, high: float, step: float) -> Array:
        """Return a grid that is fine where this curve needs it."""
        return nodes(low, high, step=step, w_q=self.w_q, jumps=self.curve.jumps)

    def solve(self, grid: Array, top: int, *, cubic: bool) -> Solution:
        """Solve the balance of all states with at most `top` in system."""
        from threadpoolctl import threadpool_limits

        arrivals = self._arrivals(grid, top, cubic=cubic)
        # The last bit must not depend on the number of threads.
        with threadpool_limits(1, user_api="blas"):
            law = _stationary(arrivals)
        return Solution(grid, law, arrivals, arrivals.residual(law))

    def _arrivals(self, grid: Array, top: int, *, cubic: bool) -> Arrivals:
        """Build the matrices of arrivals, and the probability of a drop in every state."""
        width = len(grid)
        size = (top + 1) * width
        if size * width > MOST_NUMBERS:
            allowed = f"levels * averages^2 up to {MOST_NUMBERS}; a wider step has fewer averages"
            raise DomainError(f"{top + 1} levels and {width} averages are too many states (allowed: {allowed})")
        found = np.arange(1, top + 1)
        busy = (1 - self.w_q) * grid + self.w_q * found[:, None]
        p_busy = self.curve(busy)
        if top == self.capacity:
            p_busy[-1] = 1.0
        idle, chance = self._after_idle(grid)
        p_idle = self.curve(idle)
        p = np.vstack([p_idle @ chance, p_busy])

        at_busy, share_busy = shares(busy, grid, cubic=cubic)
        at_idle, share_idle = shares(idle, grid, cubic=cubic)
        own, column = found[:, None] * width, np.arange(width)
        next_up = np.minimum(found + 1, top)[:, None] * width

        def matrix(keep_busy: Array, levels: Places, keep_idle: Array, level: int) -> csr_array:
            return _matrix(
                size,
                (np.broadcast_to(own + column, at_busy.shape), levels + at_busy, keep_busy * share_busy),
                (np.broadcast_to(column[:, None], at_idle.shape), level + at_idle, keep_idle * chance * share_idle),
            )

        drop = matrix(p_busy, own, p_idle, 0)
        accept = matrix(1 - p_busy, next_up, 1 - p_idle, min(1, top) * width)
        return Arrivals(self.load, p, drop, accept)

    def _after_idle(self, grid: Array) -> tuple[Array, Array]:
        """Return the averages after an idle period for every node of the grid, and their probabilities."""
        if self.w_q == 1:
            return np.zeros((len(grid), 1)), np.ones(1)
        times, chance = np.polynomial.laguerre.laggauss(IDLE_NODES)
        decay = np.exp(np.log1p(-self.w_q) / self.load * times)
        return grid[:, None] * decay, np.asarray(chance / chance.sum())


def _last(shares_of: Array) -> int:
    """Return the last index beyond which no more than SHARE_LEFT_OUT lies."""
    beyond = np.cumsum(shares_of[::-1])[::-1]
    return int(np.flatnonzero(beyond > SHARE_LEFT_OUT)[-1])


def _stationary(arrivals: Arrivals) -> Array:
    """Return the stationary law by inverse iteration: the law of the chain that is begun again at a small rate.

    The law obeys law Q = 0 with the rates Q. With e for the rate RESTART, begun (e - Q)^-1 is, up to a factor, the law
    of the chain that is begun again by the law `begun` at rate e: nearer to the stationary one by the factor of e over
    the rate at which the chain forgets. Twice is enough for all digits.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    levels, width = arrivals.p.shape
    size = levels * width
    here = sparse.eye_array(size, format="csr")
    served = sparse.eye_array(size, k=-width, format="csr")
    busy = sparse.diags_array(np.repeat([0.0, 1.0], [width, size - width]), format="csr")
    rates = arrivals.load * (arrivals.drop + arrivals.accept - here) + served - busy
    factors = splu((rates - RESTART * here).T.tocsc())
    law = np.full(size, 1 / size)
    for _ in range(2):
        law = factors.solve(law)
        law /= law.sum()
    return law.reshape(levels, width)


def _matrix(size: int, *entries: tuple[Places, Places, Array]) -> csr_array:
    """Return a sparse matrix from rows, columns and values; values at the same place are added."""
    from scipy import sparse

    rows, columns, values = (np.concatenate([part[i].ravel() for part in entries]) for i in range(3))
    kept = values != 0
    return sparse.csr_array((values[kept], (rows[kept], columns[kept])), shape=(size, size))
