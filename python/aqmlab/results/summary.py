"""Every quantity of finished runs with its interval, in one table."""

from __future__ import annotations

import pandas as pd

from aqmlab.results.quantities import NO_LIMITS, Limits, interval_of, quantity
from aqmlab.statistics.estimate import Method
from aqmlab.statistics.quantiles import quantile_interval


def summary_table(
    metrics: pd.DataFrame, *, level: float, quantile: float | None = None, limits: Limits = NO_LIMITS
) -> pd.DataFrame:
    """Make the table of means (or of a quantile over the runs); quantities that no run gave are left out.

    Parameters
    ----------
    metrics
        A row per seed: ``seed``, then a column per quantity.
    level
        Confidence of the intervals.
    quantile
        The quantile to give in place of the mean; None for the mean.
    limits
        Limits of quantities at the link.
    """
    middle = "mean" if quantile is None else "quantile"
    rows = []
    for key in metrics.columns[1:]:
        values = metrics[key].to_numpy()
        if quantile is None:
            found, method = interval_of(key, values, level=level, limits=limits)
        else:
            found, method = quantile_interval(values, quantile, level=level), Method.ORDER
        if found.n:
            numbers = {middle: found.mean, "sd": found.sd, "n": found.n, "low": found.low, "high": found.high}
            rows.append({"metric": key, "unit": quantity(key).unit, **numbers, "method": str(method)})
    return pd.DataFrame(rows, columns=["metric", "unit", middle, "sd", "n", "low", "high", "method"])


ONE_RUN = (
    "one distinct run: nothing in this scenario is random, so all seeds give the same numbers (add start = { uniform = "
    '["0s", "1s"] } to a flow)'
)
"""Warning about seeds that change nothing."""


def nothing_varies(metrics: pd.DataFrame) -> bool:
    """Whether every quantity is the same in all runs."""
    return all(metrics[key].nunique(dropna=False) == 1 for key in metrics.columns[1:])


def level_words(runs: int, level: float, *, distinct: int) -> str:
    """Return the level of the intervals of a table as words; one run, and runs that are all equal, have none.

    Parameters
    ----------
    runs
        Number of runs.
    level
        Level of the intervals.
    distinct
        Number of distinct runs.

    >>> level_words(10, 0.95, distinct=10)
    '95 % intervals'
    >>> level_words(1, 0.95, distinct=1), level_words(4, 0.95, distinct=1)
    ('one run has no interval', 'equal runs have no interval')
    """
    if distinct > 1:
        return f"{100 * level:.4g} % intervals"
    return "equal runs have no interval" if runs > 1 else "one run has no interval"
