"""How often the intervals hold the truth: a simulation of the statistics themselves.

Every interval is made by the functions that the package uses. A cell is a population, a number of runs (or the number
that stopping needs), and the share of its intervals that hold what they should.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from zlib import crc32

import numpy as np
from scipy.special import ndtr

from aqmlab.statistics import LEVEL, Interval, compare_means, interval, mean_interval
from aqmlab.statistics.quantiles import quantile_interval
from aqmlab.statistics.sequential import Goal, run_until, spent

BOUNDS = (0.93, 0.97)
SAMPLES = 2500
"""Samples of a cell; the standard error of a share of 95 % is then 0.44 %."""
STOPPED = 4000
"""The same where runs go on until an interval is narrow enough: 0.34 %."""
GOAL = Goal("", 0.02, relative=True)

Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Population:
    """Distribution that runs are drawn from: its name, how to draw, its mean, standard deviation and skewness."""

    name: str
    draw: Draw
    mean: float
    sd: float
    skewness: float


@dataclass(frozen=True)
class Cell:
    """How many of the intervals of a cell hold the truth.

    Attributes
    ----------
    what, population, runs
        Which interval, of what, of how many runs.
    held, samples
        Intervals that hold, and all.
    plain
        How many of the plain intervals, Student's or without the correction for stopping, hold; for comparison.
    methods
        How the intervals were made.
    mean_runs
        Mean number of runs.
    """

    what: str
    population: str
    runs: int
    held: int
    samples: int
    plain: int
    methods: dict[str, int] = field(default_factory=dict)
    mean_runs: float = math.nan

    @property
    def share(self) -> float:
        """Share of the intervals that hold."""
        return self.held / self.samples

    @property
    def shown(self) -> bool:
        """Whether it is 93 to 97 %."""
        return BOUNDS[0] <= self.share <= BOUNDS[1]

    @property
    def method(self) -> str:
        """The methods with their shares, the most frequent first."""
        ordered = sorted(self.methods.items(), key=lambda item: -item[1])
        return ", ".join(f"{name} {100 * n / self.samples:.0f} %" for name, n in ordered)


def _lognormal(s: float) -> Population:
    w = math.exp(s * s)
    return Population(
        f"lognormal, s = {s:g}",
        lambda rng, n: np.exp(s * rng.standard_normal(n)),
        math.exp(s * s / 2),
        math.sqrt((w - 1) * w),
        (w + 2) * math.sqrt(w - 1),
    )


def _autocorrelated(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return means of runs with correlated samples (a = 0.9) over ten times their memory, like runs' mean queues."""
    a, length = 0.9, 100
    noise = rng.standard_normal((n, length))
    state = rng.standard_normal(n) / math.sqrt(1 - a * a)
    total = np.zeros(n)
    for step in range(length):
        state = a * state + noise[:, step]
        total += np.exp(state / 4)
    means: np.ndarray = total / length
    return means


_CORRELATED_SD = 1 / math.sqrt(1 - 0.81) / 4

POPULATIONS = (
    Population("normal", lambda rng, n: rng.standard_normal(n), 0.0, 1.0, 0.0),
    Population("uniform", lambda rng, n: rng.random(n), 0.5, math.sqrt(1 / 12), 0.0),
    Population("Student's t, 5 degrees", lambda rng, n: rng.standard_t(5, n), 0.0, math.sqrt(5 / 3), 0.0),
    Population("means of correlated samples", _autocorrelated, math.exp(_CORRELATED_SD**2 / 2), math.nan, 1.0),
    Population("Poisson, mean 3", lambda rng, n: rng.poisson(3, n).astype(float), 3.0, math.sqrt(3), 1 / math.sqrt(3)),
    Population("gamma, shape 4", lambda rng, n: rng.gamma(4, size=n), 4.0, 2.0, 1.0),
    Population("Poisson, mean 1", lambda rng, n: rng.poisson(1, n).astype(float), 1.0, 1.0, 1.0),
    _lognormal(0.4),
    Population("exponential", lambda rng, n: rng.exponential(size=n), 1.0, 1.0, 2.0),
    _lognormal(1.0),
)
BY_NAME = {one.name: one for one in POPULATIONS}
LIMIT = _lognormal(1.0).name
MOST_SKEWED = 0.5
"""Cells with a greater skewness / sqrt(n) of the population are reported, not judged: such few runs do not show it."""
FEWEST_SKEWED = 10
"""Runs of a skewed population that are judged: fewer have no other interval than Student's."""


def mean_cell(name: str, runs: int) -> Cell:
    """The interval that the package chooses for a mean, and Student's beside it."""
    one = BY_NAME[name]
    rng = _rng("mean", name, runs)
    held = plain = 0
    methods: Counter[str] = Counter()
    for _ in range(SAMPLES):
        x = one.draw(rng, runs)
        found, method = mean_interval(x)
        held += holds(found, one.mean)
        plain += holds(interval(x), one.mean)
        methods[str(method)] += 1
    return Cell("mean", name, runs, held, SAMPLES, plain, dict(methods))


def difference_cell(name: str, correlation: float, runs: int) -> Cell:
    """The interval of a difference by the test that the package chooses; the plain one is Student's of the pairs."""
    rng = _rng("difference", name, correlation, runs)
    held = plain = 0
    methods: Counter[str] = Counter()
    for _ in range(SAMPLES):
        x, y = pairs(rng, name, correlation, runs)
        found = compare_means(x, y)
        held += holds(found.difference.interval, 0.0)
        plain += holds(interval(x - y), 0.0)
        methods[found.test] += 1
    return Cell(f"difference, r = {correlation:g}", name, runs, held, SAMPLES, plain, dict(methods))


def pairs(rng: np.random.Generator, name: str, correlation: float, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples of equal means, the second with 1.5 times the deviation, correlated through normal scores."""
    z, w = rng.standard_normal((2, runs))
    other = correlation * z + math.sqrt(1 - correlation**2) * w
    if name == "normal":
        return z, 1.5 * other
    x, y = (-np.log1p(-ndtr(score)) for score in (z, other))
    return x, 1.5 * y - 0.5


def stopped_cell(name: str, need: int) -> Cell:
    """The interval that ended the runs; `need` is how many a known deviation would need. The plain one is at 95 %."""
    one = BY_NAME[name]
    rng = _rng("stopped", name, need)
    sd = GOAL.target * math.sqrt(need) / 1.96
    most = 10 * need + 100

    def runs() -> np.ndarray:
        return 1 + sd * (one.draw(rng, most) - one.mean) / one.sd

    return _stopped(f"{name}", need, runs, lambda x, level: mean_interval(x, level=level)[0], 1.0, 1.0)


def stopped_difference_cell(correlation: float, need: int) -> Cell:
    """The same for the difference of two disciplines, relative to the mean of the first."""
    rng = _rng("stopped difference", correlation, need)
    sd = GOAL.target * math.sqrt(need) / 1.96 / math.sqrt(1 + 1.5**2 - 3 * correlation)
    most = 10 * need + 100

    def runs() -> np.ndarray:
        x, y = pairs(rng, "normal", correlation, most)
        return 1 + sd * np.vstack([x, y])

    def made(x: np.ndarray, level: float) -> Interval:
        return compare_means(x[0], x[1], level=level).difference.interval

    return _stopped(f"difference of normal runs, r = {correlation:g}", need, runs, made, 0.0, 1.0)


def _stopped(
    population: str,
    need: int,
    draw: Callable[[], np.ndarray],
    made: Callable[[np.ndarray, float], Interval],
    truth: float,
    base: float,
) -> Cell:
    held = plain = 0
    numbers = []
    for _ in range(STOPPED):
        runs = draw()
        for level in (spent(LEVEL), LEVEL):

            def widths(x: np.ndarray, level: float = level) -> dict[str, float]:
                return {GOAL.text: made(x, level).half_width / base}

            def more(seeds: Sequence[int], runs: np.ndarray = runs) -> np.ndarray:
                return runs[..., : seeds[-1]]

            found, stopping = run_until([GOAL], more, widths, most=runs.shape[-1])
            if level == LEVEL:
                plain += holds(made(found, level), truth)
            else:
                held += holds(made(found, level), truth)
                numbers.append(stopping.runs)
    return Cell("stopped", population, need, held, STOPPED, plain, {}, float(np.mean(numbers)))


def median_cell(name: str, runs: int) -> Cell:
    """The interval of a median by order statistics; the plain one has the coverage that the binomial predicts."""
    rng = _rng("median", name, runs)
    truth = {"normal": 0.0, "exponential": math.log(2.0), LIMIT: 1.0}[name]
    held = sum(holds(quantile_interval(BY_NAME[name].draw(rng, runs)), truth) for _ in range(SAMPLES // 3))
    return Cell("median", name, runs, held, SAMPLES // 3, 0)


def holds(found: Interval, truth: float) -> bool:
    """Whether an interval holds the truth."""
    return bool(found.low <= truth <= found.high)


def cells(workers: int) -> dict[str, list[Cell]]:
    """Simulate everything."""
    tasks: dict[str, list[Callable[[], Cell]]] = {
        "means": [partial(mean_cell, one.name, n) for one in POPULATIONS for n in (5, 10, 20, 50, 100)],
        "differences": [
            partial(difference_cell, name, r, n)
            for name in ("normal", "exponential")
            for r in (-0.5, 0.0, 0.3, 0.6, 0.9)
            for n in (5, 10, 20, 50)
        ],
        "stopped": [
            partial(stopped_cell, name, need)
            for name in ("normal", "Poisson, mean 3", "gamma, shape 4", "exponential")
            for need in (10, 30, 100)
        ],
        "stopped differences": [
            partial(stopped_difference_cell, r, need) for r in (0.0, 0.5, 0.9) for need in (10, 30, 100)
        ],
        "medians": [partial(median_cell, name, n) for name in ("normal", "exponential", LIMIT) for n in (10, 20, 50)],
    }
    with ProcessPoolExecutor(workers) as pool:
        started = {key: [pool.submit(task) for task in own] for key, own in tasks.items()}
        return {key: [future.result() for future in own] for key, own in started.items()}


def judged(cells: Iterable[Cell]) -> list[Cell]:
    """The cells that must hold."""
    return [cell for cell in cells if is_judged(BY_NAME[cell.population].skewness, cell.runs)]


def is_judged(skewness: float, runs: int) -> bool:
    """Whether so many runs of a population of this skewness must hold.

    >>> is_judged(0.0, 5), is_judged(1.0, 5), is_judged(2.0, 10), is_judged(2.0, 20)
    (True, False, False, True)
    """
    return abs(skewness) / math.sqrt(runs) <= MOST_SKEWED and (skewness == 0 or runs >= FEWEST_SKEWED)


def _rng(*key: object) -> np.random.Generator:
    return np.random.default_rng(crc32(repr(key).encode()))
