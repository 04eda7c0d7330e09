"""Coverage and width of the candidates for a mean's interval, for populations that real runs have.

A method is right where 93 to 97 % of its intervals hold the mean, and its median width is at most 1.5 times that of the
narrowest candidate that holds at least 93 %. All candidates are clipped to the quantity's bounds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np
from scipy.special import ndtr

from aqmlab.statistics.estimate import skewness
from candidates import CALIBRATED, CANDIDATES, USED, Samples, calibrated
from hold_truth import BOUNDS, is_judged

SAMPLES = 4000
"""Samples of a cell; the standard error of a share of 95 % is 0.34 %."""
RUNS = (5, 10, 20, 50)
RIGHT, ABOVE, WRONG, NONE = "right", "above 97 %", "wrong", "none is right"
WIDEST = 1.5
"""Median width, relative to the narrowest candidate that holds the mean often enough."""
UNBOUNDED = (-math.inf, math.inf)
POSITIVE = (0.0, math.inf)
SHARE = (0.0, 1.0)

HEAVY = ("difference, t with 3 degrees", "difference of two lognormals")
"""Symmetric populations whose tails are so heavy that the skewness of a sample says nothing."""

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


@dataclass(frozen=True)
class Population:
    """Distribution that runs are drawn from.

    Attributes
    ----------
    name, draw, mean, bounds
        Its name, how to draw, its mean, and the bounds of the quantity.
    rare
        Share of the runs that have the rare value without which a sample does not show the mean; 0 for no rare value.
    """

    name: str
    draw: Draw
    mean: float
    bounds: tuple[float, float] = UNBOUNDED
    rare: float = 0.0

    @cached_property
    def skewness(self) -> float:
        """Skewness, of a million runs; 0 below a hundredth."""
        found = skewness(self.draw(np.random.default_rng(1), (1, 1_000_000)).ravel())
        return found if abs(found) > 0.01 and math.isfinite(self.mean) and self.name not in HEAVY else 0.0

    def why_hard(self, runs: int) -> str:
        """Say why so few runs may not show the mean."""
        missing = (1 - self.rare) ** runs if self.rare else 0.0
        if missing > 1 - BOUNDS[0]:
            return f"{100 * missing:.0f} % of the samples lack the value that {100 * self.rare:.0f} % of the runs have"
        return f"skewness/√n is {abs(self.skewness) / math.sqrt(runs):.1f}"


def _mixed(share: float, usual: Draw, rare: Draw) -> Draw:
    return lambda rng, size: np.where(rng.random(size) < share, rare(rng, size), usual(rng, size))


def _normal(mean: float, sd: float) -> Draw:
    return lambda rng, size: mean + sd * rng.standard_normal(size)


def _lognormal(s: float) -> Population:
    return Population(
        f"lognormal, s = {s:g}",
        lambda rng, size: np.exp(s * rng.standard_normal(size)),
        math.exp(s * s / 2),
        POSITIVE,
    )


def _at_bound(mean: float, sd: float) -> Population:
    """Normal, but at most 1."""
    d = (1 - mean) / sd
    below = sd * (d * float(ndtr(d)) + math.exp(-d * d / 2) / math.sqrt(2 * math.pi))
    return Population(
        f"utilization, {100 * (1 - float(ndtr(d))):.0f} % of runs at 1",
        lambda rng, size: np.minimum(1.0, mean + sd * rng.standard_normal(size)),
        1 - below,
        SHARE,
    )


def _pairs(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Differences of exponential runs, r = 0.9, the second with 1.5 times the deviation."""
    z, w = rng.standard_normal((2, *size))
    one, other = (-np.log(ndtr(-score)) for score in (z, 0.9 * z + math.sqrt(0.19) * w))
    found: np.ndarray = one - 1.5 * other + 0.5
    return found


def _two(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    one, other = np.exp(rng.standard_normal((2, *size)))
    found: np.ndarray = one - other
    return found


POPULATIONS = (
    Population("normal", _normal(0.0, 1.0), 0.0),
    Population("exponential", lambda rng, size: rng.exponential(size=size), 1.0, POSITIVE),
    _lognormal(0.4),
    _lognormal(1.0),
    Population(
        "MOS, one outlier of ten",
        _mixed(0.1, _normal(4.3987, 0.005), _normal(3.7156, 0.1)),
        0.9 * 4.3987 + 0.1 * 3.7156,
        (1.0, 4.5),
        rare=0.1,
    ),
    _at_bound(0.99, 0.03),
    _at_bound(1.02, 0.03),
    Population("Jain's index near 1", lambda rng, size: 1 - 0.02 * rng.exponential(size=size), 0.98, SHARE),
    Population(
        "loss, half of the runs at 0",
        _mixed(0.5, lambda rng, size: np.zeros(size), lambda rng, size: rng.beta(1, 30, size)),
        0.5 / 31,
        SHARE,
        rare=0.5,
    ),
    Population(
        "count, 60 % of the runs at 0",
        _mixed(0.4, lambda rng, size: np.zeros(size), lambda rng, size: 1.0 + rng.poisson(1.3, size)),
        0.4 * 2.3,
        POSITIVE,
        rare=0.4,
    ),
    Population(
        "count, 30 % of the runs at 0",
        _mixed(0.7, lambda rng, size: np.zeros(size), lambda rng, size: 1.0 + rng.poisson(3, size)),
        0.7 * 4,
        POSITIVE,
        rare=0.7,
    ),
    Population("two modes, half each", _mixed(0.5, _normal(10, 1), _normal(20, 1)), 15.0, POSITIVE, rare=0.5),
    Population("two modes, a quarter", _mixed(0.25, _normal(10, 1), _normal(20, 1)), 12.5, POSITIVE, rare=0.25),
    Population("difference, t with 3 degrees", lambda rng, size: rng.standard_t(3, size), 0.0),
    Population("difference of two lognormals", _two, 0.0),
    Population("difference of exponential pairs", _pairs, 0.0),
)


@dataclass(frozen=True)
class Cell:
    """A population of `POPULATIONS` and a number of runs: each candidate's coverage, and its median width."""

    index: int
    runs: int
    shares: dict[str, float]
    widths: dict[str, float]

    @property
    def population(self) -> Population:
        """Distribution that the samples are drawn from."""
        return POPULATIONS[self.index]

    @property
    def best(self) -> float:
        """Median width of the narrowest candidate that holds often enough; NaN if none does."""
        return min((self.widths[name] for name, share in self.shares.items() if share >= BOUNDS[0]), default=math.nan)

    def relative(self, name: str) -> float:
        """Median width of a candidate over the best; NaN if none holds often enough."""
        return self.widths[name] / self.best

    def verdict(self, name: str) -> str:
        """Judge a candidate: `RIGHT`, `ABOVE` (within the allowed width), `WRONG`, or `NONE` if none is right."""
        if math.isnan(self.best):
            return NONE
        share = self.shares[name]
        if share < BOUNDS[0] or self.relative(name) > WIDEST:
            return WRONG
        return RIGHT if share <= BOUNDS[1] else ABOVE

    @property
    def narrowest(self) -> str:
        """The narrowest candidate that holds often enough; "" if none does."""
        return next((name for name, width in self.widths.items() if width == self.best and self._holds(name)), "")

    def _holds(self, name: str) -> bool:
        return self.shares[name] >= BOUNDS[0]


def cell_of(index: int, runs: int) -> Cell:
    """Simulate a cell of a population of `POPULATIONS`."""
    population = POPULATIONS[index]
    rng = np.random.default_rng(crc32(f"{population.name} {runs}".encode()))
    samples = Samples(population.draw(rng, (SAMPLES, runs)), population.bounds)
    shares, widths = {}, {}
    for name, method in CANDIDATES.items():
        own = Samples(samples.x[:CALIBRATED], samples.bounds) if method is calibrated else samples
        low, high = (np.clip(end, *population.bounds) for end in method(own))
        held = (low <= population.mean) & (population.mean <= high)
        shares[name], widths[name] = float(held.mean()), float(np.median(high - low))
    return Cell(index, runs, shares, widths)


def cells(workers: int) -> list[Cell]:
    """Simulate all cells."""
    with ProcessPoolExecutor(workers) as pool:
        started = [pool.submit(cell_of, index, runs) for index in range(len(POPULATIONS)) for runs in RUNS]
        return [one.result() for one in started]


def is_right(found: Sequence[Cell]) -> bool:
    """Whether the method that is used holds at least 93 % in every cell that is judged (`hold_truth.is_judged`)."""
    judged = [one for one in found if is_judged(one.population.skewness, one.runs) and not math.isnan(one.best)]
    return all(one.shares[USED] >= BOUNDS[0] for one in judged)


def section(found: Sequence[Cell]) -> str:
    """Return the section of the page."""
    return "\n".join(_lines(found))


def _lines(found: Sequence[Cell]) -> Iterator[str]:
    low, high = (f"{100 * bound:g}" for bound in BOUNDS)
    yield f"""## Which method

{len(POPULATIONS)} populations that real runs have, {SAMPLES:,} samples each, and {len(CANDIDATES)} candidates, all
clipped to the bounds of the quantity. A candidate is **right** in a cell if {low} to {high} % of its intervals hold the
mean and its median width is at most {WIDEST:g} times that of the narrowest candidate that holds {low} % there. Nothing
is judged in cells in which no candidate holds {low} %. The calibrated percentile interval has {CALIBRATED} samples.

| candidate | right | above {high} % | below {low} % or too wide | least coverage, % | widest, relative |
|---|---|---|---|---|---|"""
    reachable = [one for one in found if not math.isnan(one.best)]
    for name in CANDIDATES:
        count = Counter(one.verdict(name) for one in reachable)
        least = 100 * min(one.shares[name] for one in reachable)
        widest = max(one.relative(name) for one in reachable)
        yield f"| {name} | {count[RIGHT]} | {count[ABOVE]} | {count[WRONG]} | {least:.1f} | {widest:.2f} |"
    yield ""
    yield f"""{len(reachable)} of {len(found)} cells can be reached. Several candidates are about equally right, and
coverage does not decide between them. Hall's interval is used because it is explicit (no resample can divide by nearly
nothing), corrects differences as it corrects means, and needs no bounds. The logarithm or logit of the mean is narrower
near a bound, but corrects neither differences nor quantities whose bounds are not known. A variance floor needs
resamples, and a share that nothing determines.

### The method that is used, judged

Width: median, relative to the narrowest candidate that holds {low} %.

| population | n | holds, % | width | verdict | narrowest that holds {low} %, or why none does |
|---|---|---|---|---|---|"""
    for one in found:
        verdict = one.verdict(USED)
        mark = f"**{verdict}**" if verdict == WRONG else verdict
        width = "" if verdict == NONE else f"{one.relative(USED):.2f}"
        yield f"| {one.population.name} | {one.runs} | {100 * one.shares[USED]:.1f} | {width} | {mark} | {_why(one)} |"
    for runs in RUNS:
        yield ""
        yield f"### All candidates, n = {runs}\n"
        yield "Coverage in %, and in brackets the median width relative to Student's.\n"
        yield f"| population | {' | '.join(CANDIDATES)} |"
        yield "|---|" + "---|" * len(CANDIDATES)
        for one in (one for one in found if one.runs == runs):
            cells_of_row = (f"{100 * one.shares[name]:.1f} ({_width(one, name)})" for name in CANDIDATES)
            yield f"| {one.population.name} | {' | '.join(cells_of_row)} |"


def _why(one: Cell) -> str:
    if math.isnan(one.best):
        return one.population.why_hard(one.runs)
    hard = f"; {one.population.why_hard(one.runs)}" if one.shares[USED] < BOUNDS[0] else ""
    wider = f", {1 / one.relative(USED):.0f} times as wide" if one.relative(USED) < 0.5 else ""
    return f"{one.narrowest} ({100 * one.shares[one.narrowest]:.1f} %{wider}){hard}"


def _width(one: Cell, name: str) -> str:
    width = one.widths[name] / one.widths["Student"]
    return f"{width:.2f}" if width < 100 else "> 100"
