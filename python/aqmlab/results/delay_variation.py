"""One-way delays of flows, and how they vary.

Packet delay variation (PDV; A. Morton and B. Claise, RFC 5481, section 4.2) is a packet's one-way delay less the least
one of the flow. Both come from the histogram of a run with ``probe.flow_delay``, whose bins are less than 1 % wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from aqmlab import _core

if TYPE_CHECKING:
    from aqmlab.results.result import Result

SHARES = (0.5, 0.95, 0.99)


def delay_variation(result: Result, *, shares: Sequence[float] = SHARES) -> pd.DataFrame:
    """Delays of every flow.

    Parameters
    ----------
    result
        Runs with ``probe.flow_delay``.
    shares
        Quantiles to give.

    Returns
    -------
    pandas.DataFrame
        The table ``flow_delays`` with two columns more for each quantile: ``delay_p95_s`` and ``pdv_p95_s`` for 0.95.
    """
    found = result.flow_delays.copy()
    bins = dict(tuple(result.flow_delay_histogram.groupby(["seed", "flow"])))
    for share in shares:
        name = f"p{100 * share:g}_s"
        quantiles = [
            _quantile(bins.get((seed, flow)), share, least)
            for seed, flow, least in zip(found["seed"], found["flow"], found["min_s"], strict=True)
        ]
        found[f"delay_{name}"] = quantiles
        found[f"pdv_{name}"] = found[f"delay_{name}"] - found["min_s"]
    return found


def _quantile(bins: pd.DataFrame | None, share: float, least: float) -> float:
    if bins is None:
        return float("nan")
    low, high, counts = (bins[key].to_numpy(dtype=float) for key in ("low_s", "high_s", "count"))
    return max(_core.histogram_quantile(low, high, counts, share), least)
