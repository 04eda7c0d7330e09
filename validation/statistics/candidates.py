"""Candidates for the interval of a mean, each for many samples at once.

A method gets a `Samples` and returns the lower and the upper ends. Bootstraps use the same draws for all samples, as
counts of each value in a resample, so that the means and variances of all resamples are matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from aqmlab.statistics import LEVEL, student_quantile
from aqmlab.statistics.estimate import FEWEST, SKEWED
from aqmlab.statistics.skewed import MOST

RESAMPLES = 999
CALIBRATION = 299
"""Resamples of a sample, and of each of these, of the calibrated percentile interval."""
CALIBRATED = 400
"""Samples of which that interval is made: it takes as long as all others together."""
SEED = 20170131
TAIL = 0.5 - LEVEL / 2

Ends = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Samples:
    """Samples of runs, one a row, and the bounds of the quantity."""

    x: np.ndarray
    bounds: tuple[float, float]

    @property
    def n(self) -> int:
        """Runs of a sample."""
        return int(self.x.shape[1])

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of each sample."""
        found: np.ndarray = self.x.mean(axis=1)
        return found

    @cached_property
    def sd(self) -> np.ndarray:
        """Standard deviation of each sample."""
        found: np.ndarray = self.x.std(axis=1, ddof=1)
        return found

    @cached_property
    def error(self) -> np.ndarray:
        """Standard error of each mean."""
        return self.sd / math.sqrt(self.n)

    @cached_property
    def scores(self) -> np.ndarray:
        """Distances from the mean in standard deviations; 0 where a sample does not vary."""
        found: np.ndarray = (self.x - self.mean[:, None]) / np.where(self.sd > 0, self.sd, 1.0)[:, None]
        return found

    @cached_property
    def skewness(self) -> np.ndarray:
        """Third central moment / sd^3, both with divisor n."""
        off = self.x - self.mean[:, None]
        second = (off**2).mean(axis=1)
        third: np.ndarray = (off**3).mean(axis=1)
        return np.where(second > 0, third / np.where(second > 0, second, 1.0) ** 1.5, 0.0)

    @cached_property
    def skewed(self) -> np.ndarray:
        """Whether a sample is too skewed for Student's interval (`aqmlab.statistics.estimate.too_skewed`)."""
        corrected = np.abs(self.skewness) * math.sqrt(self.n * (self.n - 1)) / (self.n - 2)
        found: np.ndarray = corrected / math.sqrt(self.n) > SKEWED
        return found

    @cached_property
    def means(self) -> np.ndarray:
        """Means of resamples as distances from the sample's mean in its standard deviations: sample by resample."""
        found: np.ndarray = self.scores @ _counts(self.n).T / self.n
        return found

    @cached_property
    def deviations(self) -> np.ndarray:
        """Standard deviations of resamples, in those of the sample."""
        squares = self.scores**2 @ _counts(self.n).T - self.n * self.means**2
        found: np.ndarray = np.sqrt(np.maximum(squares, 0.0) / (self.n - 1))
        return found


@cache
def _indices(n: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, n, (RESAMPLES, n))


@cache
def _counts(n: int, resamples: int = RESAMPLES) -> np.ndarray:
    """How often each resample has each run."""
    found = np.zeros((resamples, n))
    np.add.at(found, (np.arange(resamples)[:, None], _indices(n)[:resamples]), 1.0)
    return found


def student(s: Samples) -> Ends:
    """Student's interval."""
    half = student_quantile(0.5 + LEVEL / 2, s.n - 1) * s.error
    return s.mean - half, s.mean + half


def hall(s: Samples, most: float = math.inf) -> Ends:
    """Hall's interval; `most` limits skewness / sqrt(n)."""
    limit = most * math.sqrt(s.n)
    g = np.clip(s.skewness, -limit, limit)
    t = student_quantile(0.5 + LEVEL / 2, s.n - 1) / math.sqrt(s.n)

    def inverse(at: float) -> np.ndarray:
        small = np.abs(g) < 1e-6
        safe = np.where(small, 1.0, g)
        return np.where(small, at, 3 / safe * (np.cbrt(1 + safe * (at - safe / (6 * s.n))) - 1))

    return s.mean - s.sd * inverse(t), s.mean - s.sd * inverse(-t)


def johnson(s: Samples) -> Ends:
    """Johnson's modified t (1978): Student's interval, moved by skewness."""
    low, high = student(s)
    shift = s.skewness * s.sd / (6 * s.n)
    return low + shift, high + shift


def transformed(s: Samples) -> Ends:
    """Student's interval on the logarithm of the mean, or its logit between two bounds, by the delta method."""
    least, most = s.bounds
    if math.isinf(least):
        return student(s)
    t = student_quantile(0.5 + LEVEL / 2, s.n - 1)
    with np.errstate(all="ignore"):
        if math.isinf(most):
            factor = np.exp(t * s.error / (s.mean - least))
            ends = [least + (s.mean - least) / factor, least + (s.mean - least) * factor]
        else:
            share = (s.mean - least) / (most - least)
            half = t * s.error / (most - least) / (share * (1 - share))
            ends = [least + (most - least) * expit(logit(share) + sign * half) for sign in (-1, 1)]
    low, high = (np.where(np.isfinite(end), end, s.mean) for end in ends)
    return low, high


def studentized(s: Samples, floor: float = 1e-9) -> Ends:
    """Studentized bootstrap; resamples have at least a share `floor` of the sample's standard deviation."""
    return _by_t(s, s.means, np.maximum(s.deviations, floor))


def smoothed(s: Samples, width: float = 0.3) -> Ends:
    """Studentized bootstrap with normal noise of `width` standard deviations on each value that is drawn."""
    noise = np.random.default_rng(SEED + 1).standard_normal((RESAMPLES, s.n))
    per_run = np.zeros((RESAMPLES, s.n))
    np.add.at(per_run, (np.arange(RESAMPLES)[:, None], _indices(s.n)), noise)
    means = s.means + width * noise.mean(axis=1)
    squares = s.scores**2 @ _counts(s.n).T + 2 * width * s.scores @ per_run.T + ((width * noise) ** 2).sum(axis=1)
    return _by_t(s, means, np.sqrt(np.maximum(squares - s.n * means**2, 0.0) / (s.n - 1)))


def _by_t(s: Samples, means: np.ndarray, deviations: np.ndarray) -> Ends:
    t = means / deviations * math.sqrt(s.n)
    low, high = np.quantile(t, [TAIL, 1 - TAIL], axis=1, method="closest_observation")
    return s.mean - high * s.error, s.mean - low * s.error


def bca(s: Samples) -> Ends:
    """Bias-corrected and accelerated percentile interval (Efron 1987)."""
    below = (s.means < 0).mean(axis=1) + (s.means == 0).mean(axis=1) / 2
    bias = ndtri(np.clip(below, 1 / RESAMPLES, 1 - 1 / RESAMPLES))
    cubes = (s.scores**2).sum(axis=1)
    acceleration = (s.scores**3).sum(axis=1) / (6 * np.where(cubes > 0, cubes, 1.0) ** 1.5)
    ordered = np.sort(s.means, axis=1)
    ends = []
    for share in (TAIL, 1 - TAIL):
        z = bias + ndtri(share)
        at = ndtr(bias + z / (1 - acceleration * z)) * (RESAMPLES + 1)
        place = np.clip(at.astype(int) - 1, 0, RESAMPLES - 1)
        ends.append(s.mean + s.sd * ordered[np.arange(len(s.x)), place])
    return ends[0], ends[1]


def expanded(s: Samples) -> Ends:
    """Percentile interval at a level that corrects for few runs (Hesterberg 2015)."""
    t = student_quantile(0.5 + LEVEL / 2, s.n - 1)
    tail = float(ndtr(-math.sqrt(s.n / (s.n - 1)) * t))
    low, high = np.quantile(s.means, [tail, 1 - tail], axis=1)
    return s.mean + s.sd * low, s.mean + s.sd * high


def calibrated(s: Samples) -> Ends:
    """Percentile interval at levels that the double bootstrap gives (Hall 1986)."""
    counts, indices = _counts(s.n, CALIBRATION), _indices(s.n)[:CALIBRATION]
    low, high = np.empty(len(s.x)), np.empty(len(s.x))
    for row, scores in enumerate(s.scores):
        means = np.sort(scores @ counts.T / s.n)
        inner = scores[indices] @ counts.T / s.n
        levels = np.quantile((inner < 0).mean(axis=1) + (inner == 0).mean(axis=1) / 2, [TAIL, 1 - TAIL])
        low[row], high[row] = np.quantile(means, levels)
    return s.mean + s.sd * low, s.mean + s.sd * high


def where_skewed(method: Callable[[Samples], Ends], fewest: int = FEWEST) -> Callable[[Samples], Ends]:
    """Return a method that is widened to hold Student's interval, and is that where a sample is not skewed."""

    def chosen(s: Samples) -> Ends:
        plain, own = student(s), method(s)
        use = s.skewed & np.isfinite(own[0]) & np.isfinite(own[1]) & (s.n >= fewest)
        return np.where(use, np.minimum(own[0], plain[0]), plain[0]), np.where(
            use, np.maximum(own[1], plain[1]), plain[1]
        )

    return chosen


USED = "Hall's, limited (used)"
CANDIDATES: dict[str, Callable[[Samples], Ends]] = {
    USED: where_skewed(lambda s: hall(s, MOST)),
    "Student": student,
    "Student, log or logit": transformed,
    "Johnson": johnson,
    "Hall's alone": hall,
    "studentized bootstrap (before)": where_skewed(studentized, fewest=10),
    "studentized bootstrap, floor 0.3": where_skewed(lambda s: studentized(s, 0.3)),
    "studentized bootstrap, floor 0.5": where_skewed(lambda s: studentized(s, 0.5)),
    "studentized bootstrap, smoothed": smoothed,
    "BCa": bca,
    "percentile, expanded": expanded,
    "percentile, calibrated": calibrated,
}
"""Methods by name; those in `where_skewed` are used for skewed samples only, and hold Student's interval."""
