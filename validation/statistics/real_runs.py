"""The same on runs of the simulator: the runs of many seeds of a short scenario are the population.

Samples are drawn from its seeds with replacement, so the mean over all seeds is the truth, and two disciplines get the
same seeds. All quantities of `aqmlab.results.quantities` are looked at that vary at all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pandas as pd

from aqmlab import compare
from aqmlab.runs.comparison import Comparison
from aqmlab.statistics import compare_means, interval, mean_interval
from aqmlab.statistics.estimate import skewness
from aqmlab.statistics.pairing import pairing
from hold_truth import Cell, holds

SEEDS = 500
SAMPLES = 800
"""Samples of a cell; the standard error of a share of 95 % is then 0.8 %."""
RUNS = (10, 20, 50)


@dataclass(frozen=True)
class Source:
    """A short scenario, and two disciplines for it."""

    name: str
    file: str
    queue: str
    link: str | None
    disciplines: tuple[str, str]
    overrides: dict[str, str]


SOURCES = (
    Source(
        "greedy TCP (`examples/dumbbell-red.toml`, 12 s)",
        "examples/dumbbell-red.toml",
        "bottleneck",
        None,
        ("red", "exred"),
        {"run.duration": "12s", "run.warmup": "3s"},
    ),
    Source(
        "finite transfers (`examples/bus.toml`)",
        "examples/bus.toml",
        "router",
        "r3->r4",
        ("gentle-red", "ddred"),
        {},
    ),
    Source(
        "open loop (`paper:exred/open-loop.toml`, 10 s)",
        "paper:exred/open-loop.toml",
        "bottleneck",
        None,
        ("red", "exred"),
        {"run.duration": "10s", "run.warmup": "1s"},
    ),
)


def comparison_of(source: Source, workers: int, seeds: int = SEEDS) -> Comparison:
    """Run the population."""
    return compare(
        source.file,
        aqm=source.disciplines,
        queue=source.queue,
        link=source.link,
        seeds=seeds,
        overrides=source.overrides,
        workers=workers,
        progress=False,
    )


def population_of(source: Source, workers: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Quantities of both disciplines, a row per seed."""
    found = comparison_of(source, workers)
    first, second = (found.results[name].metrics(link=found.link) for name in source.disciplines)
    return first, second


@dataclass(frozen=True)
class Real:
    """A quantity of a population: skewness under the first discipline and of the differences, and cells of coverage."""

    metric: str
    skewness: float
    skewness_of_differences: float
    correlation: float
    means: list[Cell]
    differences: list[Cell]


def cells_of(first: pd.DataFrame, second: pd.DataFrame) -> list[Real]:
    """Return the coverage of the intervals, for every quantity that varies under both disciplines."""
    found = []
    for key in first.columns.drop("seed"):
        if key not in second.columns:
            continue
        x, y = first[key].to_numpy(dtype=float), second[key].to_numpy(dtype=float)
        if np.isnan(x).any() or np.isnan(y).any() or min(np.ptp(x), np.ptp(y)) == 0 or (x == y).all():
            continue
        rng = np.random.default_rng(crc32(str(key).encode()))
        cells = [_cells(rng, str(key), x, y, n) for n in RUNS]
        means, differences = ([pair[i] for pair in cells] for i in (0, 1))
        found.append(Real(str(key), skewness(x), skewness(y - x), pairing(x, y).correlation, means, differences))
    return found


def _cells(rng: np.random.Generator, metric: str, x: np.ndarray, y: np.ndarray, runs: int) -> tuple[Cell, Cell]:
    truth, apart = float(np.mean(x)), float(np.mean(y) - np.mean(x))
    held = [0, 0]
    plain = [0, 0]
    methods: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for _ in range(SAMPLES):
        drawn = rng.integers(0, len(x), runs)
        one, method = mean_interval(x[drawn])
        two = compare_means(y[drawn], x[drawn])
        held[0] += holds(one, truth)
        held[1] += holds(two.difference.interval, apart)
        plain[0] += holds(interval(x[drawn]), truth)
        plain[1] += holds(interval(y[drawn] - x[drawn]), apart)
        methods[0][str(method)] += 1
        methods[1][two.test] += 1
    mean, difference = (
        Cell(what, metric, runs, held[i], SAMPLES, plain[i], dict(methods[i]))
        for i, what in enumerate(("mean", "difference"))
    )
    return mean, difference
