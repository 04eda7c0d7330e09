"""Is the warm-up long enough? What MSER-5 finds in the sampled queue of a result, beside the scenario's warm-up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.errors import counted
from aqmlab.statistics.intervals import Interval, interval
from aqmlab.statistics.pairs import difference_from_zero
from aqmlab.statistics.warmup import mser5

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result

CERTAIN = 0.01
"""Level at which the queue before a transient's end must differ from that after it to be reported."""


@dataclass(frozen=True)
class Settling:
    """Where the transient of the queue at a link ends.

    Attributes
    ----------
    link
        The link whose samples were looked at.
    ends_s
        Where the transient ends by MSER-5, on the mean over the runs, in s; where it looked last if not `settled`.
    settled
        Whether at least half of the series is left after it.
    warmup_s, duration_s
        Of the scenario, in s.
    excess
        Mean queue from the scenario's warm-up to `ends_s` less that of the rest, in packets, over the runs.
    p
        Two-sided p value of "there is no such excess"; NaN for a single run.
    """

    link: str
    ends_s: float
    settled: bool
    warmup_s: float
    duration_s: float
    excess: Interval
    p: float

    @property
    def warmup_is_short(self) -> bool:
        """Whether the scenario's warm-up ends before the transient does, and it is not chance."""
        return self.ends_s > self.warmup_s and not self.p >= CERTAIN

    def lines(self) -> list[str]:
        """Print a warning if it is."""
        if not self.warmup_is_short:
            return []
        runs = counted(self.excess.n, "run")
        more = "longer" if self.excess.mean > 0 else "shorter"
        found = f"before that the mean queue is {abs(self.excess.mean):.3g} packets {more}, {runs}"
        if not self.settled:
            return [
                f"Warm-up: by MSER-5 the queue at {self.link} does not settle within {self.duration_s:g} s ({found}): "
                "run longer, or do not read the means as those of a steady state."
            ]
        return [
            f"Warm-up: {self.warmup_s:g} s is too short: by MSER-5 the queue at {self.link} settles after "
            f"{self.ends_s:g} s ({found})."
        ]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "link": self.link,
            "ends_s": self.ends_s,
            "settled": self.settled,
            "warmup_s": self.warmup_s,
            "short": self.warmup_is_short,
            "excess_packets": self.excess.mean,
            "p": self.p,
        }


def settling(result: Result, *, link: str | None = None) -> Settling | None:
    """Find where the queue settles; None without ``probe.queue_interval`` or with fewer than 50 samples a run.

    Parameters
    ----------
    result
        Finished runs.
    link
        The link in question; default: the result's bottleneck.
    """
    name = result.bottleneck if link is None else link
    if "queue_samples" not in result.tables:
        return None
    table = result.queue_samples
    series = _series(table[table["link"] == name])
    if not series.size:
        return None
    times, queues = series[0], series[1:]
    found = mser5(queues.mean(axis=0))
    if found is None:
        return None
    summary = result.summaries[0]["summary"]
    warmup = float(summary["warmup_s"])
    cut = found.samples if found.settled else len(times) // 2
    first = int(np.searchsorted(times, warmup))
    excess = queues[:, first:cut].mean(axis=1) - queues[:, cut:].mean(axis=1) if cut > first else np.zeros(1)
    test = difference_from_zero(interval(excess))
    return Settling(
        link=name,
        ends_s=float(times[found.samples]),
        settled=found.settled,
        warmup_s=warmup,
        duration_s=float(summary["duration_s"]),
        excess=test.interval,
        p=test.p if cut > first else math.nan,
    )


def _series(rows: pd.DataFrame) -> np.ndarray:
    """Return the times of the samples, and below them the queue of each run in packets; empty without samples."""
    runs = [own for _, own in rows.groupby("seed")]
    if not runs:
        return np.zeros((0, 0))
    length = min(len(own) for own in runs)
    times = runs[0]["t_s"].to_numpy(dtype=float)[:length]
    queues = [own["queue_packets"].to_numpy(dtype=float)[:length] for own in runs]
    return np.vstack([times, *queues])
