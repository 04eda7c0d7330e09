"""Drop probability against the average queue: what was measured, over the curve as computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.errors import InputError, counted
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import link_in, of_seeds, slug
from aqmlab.scenario.file import Scenario
from aqmlab.theory.scenario.model import model_of

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result

BINS = 25
"""Parts into which the averages that arrivals saw are divided."""
FEWEST = 10
"""Arrivals that a part needs for a point."""


def probability_against_average(result: Result, *, link: str | None = None, scenario: Scenario | None = None) -> Chart:
    """Share of arrivals that were dropped or marked against the average they met, over the curve, all seeds together.

    A point is the share of one part of the averages, with its 95 % interval (Wilson 1927), at the mean average of the
    part. Drops and marks are counted at the arrival during which they were decided; those for want of room are left
    out, since no curve speaks of them. Needs ``probe.events``.

    Parameters
    ----------
    result
        The runs, with their event log.
    link
        The link; default: the result's bottleneck.
    scenario
        The scenario that was run; default: read from the result.
    """
    place = link_in(result, link)
    points = hits_by_average(result.events[result.events["link"] == place])
    if points.empty:
        raise InputError(f"{result.name}: no average was seen at link {place}; name it in probe.links")
    plan = scenario or Scenario.from_text(result.scenario_text, filename="scenario.toml")
    curve = model_of(plan, link=place).curve
    series = []
    top = 1.05 * float(points["average"].max())
    if curve.drops_early:
        x, rate = curve.rate.table(top=top, points=401)
        p_b = curve.p_b(x)
        if np.any(np.abs(p_b - rate) > 1e-12):
            series.append(Series("p_b", x, p_b, mode="dotted", color=5))
        series.append(Series("share by the curve", x, rate, color=0))
    at, share, low, high = (points[name].to_numpy() for name in ("average", "share", "low", "high"))
    series.append(Series("measured", at, share, low, high, mode="points", color=1))
    return Chart(
        key=f"probability-{slug(place)}",
        title=f"Drop probability and average at {place}",
        alt=(
            f"Share of arrivals dropped or marked at link {place} against the average they met, "
            f"{counted(len(points), 'point')} over the curve; "
            f"{int(points['hits'].sum())} of {int(points['arrivals'].sum())} arrivals were."
        ),
        x_label="average queue, packets",
        y_label="share of arrivals dropped or marked",
        series=series,
        caption=(
            f"Points: measured, {of_seeds(result)}, with 95 % intervals. Solid: the share in the long run that the "
            "rule which spaces drops makes of p_b (dotted) while the average stands still."
        ),
    )


def hits_by_average(events: pd.DataFrame) -> pd.DataFrame:
    """Return for each part of the averages: mean average, arrivals, how many were hit, their share and its interval."""
    import pandas as pd

    if "average" not in events.columns:
        raise InputError("the event log is of an older version, without averages; run again")
    arrives = events["kind"].eq("+").to_numpy()
    number = np.cumsum(arrives) - 1
    hits = events["kind"].isin(["d", "m"]) & events["reason"].isin(["early", "forced"])
    hit = np.zeros(int(arrives.sum()), dtype=bool)
    hit[number[hits.to_numpy() & (number >= 0)]] = True
    average = events["average"].to_numpy(dtype=float)[arrives]
    seen = np.isfinite(average)
    if not seen.any():
        return pd.DataFrame()
    average, hit = average[seen], hit[seen]
    # Equal widths up to where nearly all are, so that a rare peak does not hide the curve.
    edges = np.append(np.linspace(0, float(np.quantile(average, 0.999)) + 1e-9, BINS + 1), np.inf)
    rows = pd.DataFrame({"part": np.digitize(average, edges), "average": average, "hit": hit})
    found = rows.groupby("part").agg(average=("average", "mean"), arrivals=("hit", "size"), hits=("hit", "sum"))
    found = found[found["arrivals"] >= min(FEWEST, int(found["arrivals"].max()))].reset_index(drop=True)
    found["share"] = found["hits"] / found["arrivals"]
    found["low"], found["high"] = wilson(found["hits"].to_numpy(dtype=float), found["arrivals"].to_numpy(dtype=float))
    return found


def wilson(hits: np.ndarray, trials: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of Wilson's 95 % interval of a share (JASA 22, 1927).

    >>> low, high = wilson(np.array([0.0]), np.array([100.0]))
    >>> round(low.item(), 6), round(high.item(), 4)
    (0.0, 0.037)
    """
    share, z = hits / trials, 1.959963984540054
    middle = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * np.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    # Rounding must not put a bound on the wrong side of a share of 0 or 1.
    return np.minimum(middle - half, share).clip(0), np.maximum(middle + half, share).clip(None, 1)
