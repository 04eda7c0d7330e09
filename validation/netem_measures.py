"""Measures of numbered packets, and how one run is compared with many simulated ones.

A measure is one number or several of a run. Simulated runs with other seeds give its distribution; the kernel's run is
tested as one more draw from it: Student's t of one number, Hotelling's T-squared of several. No packet is taken to be
independent of another, only runs are. Measures are means over tens of thousands of packets, so nearly normal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from netem_runs import Arrivals

CELL_S = 1e-4
"""Width of a cell of the histogram of delays in s; cell k is around k times it."""
CELLS = 1000
LENGTHS = (1, 2, 3, 5, 8, 12)
"""Lengths of runs of losses at which their distribution is compared."""
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""Of the simulated delays: where the two distributions are compared."""
SHOWN = (0.01, 0.5, 0.99)
ENOUGH = 10
"""Least number of packets, or runs of losses, expected on either side of a value where distributions are compared: with
fewer the shares are not nearly normal."""
NEGLIGIBLE = 1e-3
"""Distance of two distributions of one value each that single late packets make."""

MOST_CONDITION = 1e6
"""Largest condition number of a correlation matrix that is inverted."""

Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Summary:
    """Everything that is compared of a run.

    Attributes
    ----------
    sent, arrived, copies
        Numbers of packets: sent, arrived at least once, arrived twice.
    reordered
        Arrivals of a packet behind one with a larger number (RFC 4737).
    autocorrelation
        Of the delays of consecutive packets that both arrived; NaN if all delays are equal.
    runs
        Number of runs of losses of each length, from 1.
    delays
        Numbers of arrivals in the cells of the histogram, `CELL_S` each.
    """

    sent: int
    arrived: int
    copies: int
    reordered: int
    autocorrelation: float
    runs: list[int]
    delays: list[int]

    @classmethod
    def of(cls, found: Arrivals, overhead_s: float = 0.0) -> Summary:
        """Summarize a run; `overhead_s` is taken off each delay."""
        numbers, delays_s = found.numbers, found.delays_s - overhead_s
        first_s = np.full(found.sent, np.nan)
        first_s[numbers[::-1]] = delays_s[::-1]
        lost = np.isnan(first_s)
        ends = np.flatnonzero(np.diff(np.concatenate(([0], lost, [0]))))
        cells = np.clip(np.rint(delays_s / CELL_S).astype(np.int64), 0, CELLS - 1)
        return cls(
            sent=found.sent,
            arrived=int((~lost).sum()),
            copies=len(numbers) - int((~lost).sum()),
            reordered=int((numbers < np.maximum.accumulate(numbers)).sum()),
            autocorrelation=autocorrelation(first_s),
            runs=np.bincount(ends[1::2] - ends[::2])[1:].tolist(),
            delays=np.trim_zeros(np.bincount(cells, minlength=CELLS), "b").tolist(),
        )

    def data(self) -> dict[str, Any]:
        """Return it as plain data; a number without a value is None."""
        return {key: None if value != value else value for key, value in asdict(self).items()}


def autocorrelation(delays_s: Vector) -> float:
    """Return the correlation of consecutive delays in s; NaN marks a packet without one.

    >>> round(autocorrelation(np.array([1.0, 2.0, 1.0, 2.0, np.nan, 2.0, 1.0])), 3)
    -1.0
    """
    before, after = delays_s[:-1], delays_s[1:]
    both = ~(np.isnan(before) | np.isnan(after))
    before, after = before[both], after[both]
    # Constant delays differ by rounding and by the machine's instructions.
    if not len(before) or min(np.ptp(before), np.ptp(after)) < CELL_S:
        return float("nan")
    return float(np.corrcoef(before, after)[0, 1])


def distribution(one: Summary) -> Vector:
    """Return the share of arrivals up to the end of each cell."""
    counts = np.zeros(CELLS)
    counts[: len(one.delays)] = one.delays
    return np.cumsum(counts) / max(1, sum(one.delays))


def quantile_s(shares: Vector, q: float) -> float:
    """Return a quantile of a distribution in s, to the cell."""
    return float(np.searchsorted(shares, q)) * CELL_S


def run_shares(one: Summary) -> Vector:
    """Return the share of runs of losses up to each of `LENGTHS`."""
    runs = np.cumsum(one.runs) / max(1, sum(one.runs)) if one.runs else np.ones(1)
    return np.array([runs[min(length, len(runs)) - 1] for length in LENGTHS])


def mean_run(one: Summary) -> float:
    """Return the mean length of a run of losses in packets."""
    return float(np.dot(one.runs, np.arange(1, len(one.runs) + 1)) / max(1, sum(one.runs)))


@dataclass(frozen=True)
class Comparison:
    """A measure of the kernel's run compared with the simulated runs.

    Attributes
    ----------
    measure
        Its name.
    kernel, simulator
        Values as text.
    difference
        Kernel minus simulator, with the 95 % interval of a single run's difference; or a distance.
    p
        The chance that a simulated run is as far from the mean of the others.
    """

    measure: str
    kernel: str
    simulator: str
    difference: str
    p: float


SCALARS: dict[str, Callable[[Summary], float]] = {
    "loss rate": lambda one: 1 - one.arrived / one.sent,
    "share of copies": lambda one: one.copies / one.sent,
    "share of reordered packets": lambda one: one.reordered / one.sent,
    "autocorrelation of delays": lambda one: one.autocorrelation,
}


def compared(kernel: Summary, simulated: Sequence[Summary]) -> list[Comparison]:
    """Compare all measures that vary, or that differ; one that is the same number in all runs is left out."""
    found = [_scalar(name, of(kernel), [of(one) for one in simulated]) for name, of in SCALARS.items()]
    found += [_runs(kernel, simulated), _delays(kernel, simulated)]
    return [one for one in found if one is not None]


def _scalar(name: str, kernel: float, simulated: Sequence[float]) -> Comparison | None:
    values = np.array(simulated)
    if np.isnan(kernel) and np.isnan(values).all():
        return None
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if spread == 0 and kernel == mean:
        return None
    if spread == 0 or np.isnan(kernel) or np.isnan(mean):
        return Comparison(name, _number(name, kernel), _number(name, mean), "", 0.0)
    width = float(stats.t.ppf(0.975, len(values) - 1)) * spread * (1 + 1 / len(values)) ** 0.5
    difference = f"{_number(name, kernel - mean, sign=True)} ± {_number(name, width)}"
    p = p_of(np.array([kernel]), values[:, None])
    return Comparison(name, _number(name, kernel), _number(name, mean), difference, p)


def _runs(kernel: Summary, simulated: Sequence[Summary]) -> Comparison | None:
    shares, others = run_shares(kernel), np.array([run_shares(one) for one in simulated])
    number = float(np.mean([sum(one.runs) for one in simulated]))
    chosen = _compared_at(others.mean(axis=0), number)
    if not chosen.any():
        return None
    distance = np.abs(shares - others.mean(axis=0)).max()
    mean = float(np.mean([mean_run(one) for one in simulated]))
    p = p_of(shares[chosen], others[:, chosen])
    difference = f"distance {distance:.2%}"
    return Comparison("lengths of loss runs", f"mean {mean_run(kernel):.3f}", f"mean {mean:.3f}", difference, p)


def _delays(kernel: Summary, simulated: Sequence[Summary]) -> Comparison | None:
    shares, others = distribution(kernel), np.array([distribution(one) for one in simulated])
    pooled = others.mean(axis=0)
    distance = float(np.abs(shares - pooled).max())
    cells = np.unique([int(np.searchsorted(pooled, q)) for q in QUANTILES])
    cells = cells[_compared_at(pooled[cells], sum(simulated[0].delays))]
    if not len(cells) and distance < NEGLIGIBLE:
        return None
    usual = np.quantile(np.abs(others - pooled).max(axis=1), 0.95)
    difference = f"KS {distance:.2%}, 95 % below {usual:.2%}"
    p = p_of(shares[cells], others[:, cells]) if len(cells) else 0.0
    return Comparison("delays (1, 50, 99 %)", _quantiles(shares), _quantiles(pooled), difference, p)


def _quantiles(shares: Vector) -> str:
    return "/".join(f"{1e3 * quantile_s(shares, q):.1f}" for q in SHOWN) + " ms"


def _compared_at(shares: Vector, number: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the values of a distribution with enough expected samples on either side."""
    return (number * shares >= ENOUGH) & (number * (1 - shares) >= ENOUGH)


def p_of(one: Vector, others: Vector) -> float:
    """Return the p value of a run as one more draw from the distribution of others (a row each): Hotelling's T-squared.

    >>> others = np.random.default_rng(1).normal(size=(200, 2))
    >>> p_of(np.array([0.1, -0.2]), others) > 0.5, p_of(np.array([5.0, 0.0]), others) < 1e-4
    (True, True)
    """
    kept = _independent(others)
    away = (one - others.mean(axis=0))[kept]
    covariance = np.atleast_2d(np.cov(others[:, kept], rowvar=False))
    n, d = len(others), len(kept)
    squared = float(away @ np.linalg.solve(covariance, away)) / (1 + 1 / n)
    return float(stats.f.sf(squared * (n - d) / (d * (n - 1)), d, n - d))


def _independent(others: Vector) -> list[int]:
    """Return the columns that are not nearly a linear function of those before them."""
    kept: list[int] = []
    for at in range(others.shape[1]):
        if np.linalg.cond(np.atleast_2d(np.corrcoef(others[:, [*kept, at]], rowvar=False))) < MOST_CONDITION:
            kept.append(at)
    return kept


def _number(name: str, value: float, *, sign: bool = False) -> str:
    plus = "+" if sign else ""
    return f"{value:{plus}.4f}" if name.startswith("autocorrelation") else f"{value:{plus}.3%}"


def summary_of(data: Mapping[str, Any]) -> Summary:
    """Return a summary of `Summary.data`."""
    known: dict[str, Any] = {key: float("nan") if value is None else value for key, value in data.items()}
    return Summary(**known)
