"""Where the transient at the start of a series ends: MSER-5 (White, Cobb and Spratt 2000).

The series is averaged in batches of five samples. Leaving out the first d of the m batches leaves a mean with the
squared standard error sum_(j >= d) (Y_j - mean)^2 / (m - d)^2; the d for which that is least is where the transient
ends: leaving out less keeps its bias, leaving out more throws away steady samples. If it is in the second half, the
series is too short to tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aqmlab.statistics.intervals import Values

BATCH = 5
"""Samples of a batch."""
FEWEST_BATCHES = 10
"""A shorter series is not judged."""


@dataclass(frozen=True)
class Truncation:
    """Truncation of a series by MSER-5.

    Attributes
    ----------
    samples
        Samples to leave out.
    settled
        Whether the remaining samples are at least half of the series; if not, the series is too short to tell.
    """

    samples: int
    settled: bool


def mser5(series: Values) -> Truncation | None:
    """Find the end of the transient; None if the series has fewer than 50 samples.

    >>> mser5([9.0] * 20 + [1.0, 2.0] * 60)
    Truncation(samples=20, settled=True)
    """
    x = np.asarray(series, dtype=float)
    m = len(x) // BATCH
    if m < FEWEST_BATCHES:
        return None
    y = x[: m * BATCH].reshape(m, BATCH).mean(axis=1)
    left = np.arange(m, 0, -1)
    sums = np.cumsum(y[::-1])[::-1]
    off = np.cumsum(((y - y.mean()) ** 2)[::-1])[::-1]
    squares = np.maximum(off - left * (sums / left - y.mean()) ** 2, 0.0)
    errors = squares[: m - BATCH] / left[: m - BATCH] ** 2
    best = int(np.argmin(errors))
    return Truncation(best * BATCH, best <= m // 2)
