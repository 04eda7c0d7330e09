"""Measurements of each run under TCP: a row per scheme, number of TCP flows, reading and seed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aqmlab.papers.common import Setup
from aqmlab.papers.common.recorded import columns_of, row_of, series, table_of
from aqmlab.results import folders
from aqmlab.results.quantities import ratio, run_quantities

LINK = "bottleneck"
WANTED = ("utilization", "loss", "mean_delay_ms", "delay_p99_ms", "jain", "forced_share", "overflow")
WINDOWS = "cwnd_samples"
"""The table of congestion windows."""


def measure_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run: numbers of the bottleneck, and time-outs per flow and minute.

    Of a run with another RTT the delay alone, of one without TCP the share of forced drops.
    """
    drops = drops_of(row_of(folder, "links", link=LINK))
    if "load" in setup.key:
        return {"forced_share": drops["forced_share"]}
    tables = {name: table_of(folder, name) for name in ("links", "delay_histogram", "flows")}
    numbers = run_quantities(tables, LINK) | drops
    if "rtt" in setup.key:
        loss = numbers["loss"]
        again_ms = float(setup.key["rtt"]) * loss / (1 - loss)
        return {"delivered_ms": numbers["mean_delay_ms"] + again_ms, "again_ms": again_ms}
    summary = folders.read_summary(folder)["summary"]
    minutes = (summary["duration_s"] - summary["warmup_s"]) / 60
    found = {key: numbers[key] for key in WANTED}
    found["timeouts"] = numbers["timeouts"] / len(tables["flows"]) / minutes
    if WINDOWS in (setup.tables or ()):
        found["synchrony"] = synchrony(columns_of(folder, WINDOWS), begin_s=summary["warmup_s"])
    return found


def drops_of(link: Mapping[str, Any]) -> dict[str, float]:
    """Share of the drops made since the average was at k_h or above, and share of the packets lost to a full buffer.

    >>> drops_of({"arrivals": 100, "drops": 8, "drops_forced": 6, "drops_overflow": 1})
    {'forced_share': 0.75, 'overflow': 0.01}
    """
    return {
        "forced_share": ratio(link["drops_forced"], link["drops"]),
        "overflow": ratio(link["drops_overflow"], link["arrivals"]),
    }


def synchrony(samples: pa.Table, *, begin_s: float) -> float:
    """Return the mean correlation of two flows' congestion windows: 1 if all move together, 0 if independent.

    Pairs are weighted by their standard deviations s: the sum of all covariances over that of all s_i s_j.

    >>> times = [1.0, 2.0, 3.0, 4.0]
    >>> windows = {"a": [1, 2, 3, 4], "b": [2, 4, 6, 8], "c": [1, -1, -1, 1]}
    >>> def of(*flows: str) -> float:
    ...     rows = [{"t_s": t, "flow": f, "cwnd": w} for f in flows for t, w in zip(times, windows[f], strict=True)]
    ...     return round(synchrony(pa.Table.from_pylist(rows), begin_s=1.0), 9)
    >>> of("a", "b"), of("a", "c")
    (1.0, 0.0)
    """
    rows = series(samples, "flow", "cwnd")
    settled = rows.pop("t_s") >= begin_s
    windows = np.array(list(rows.values()))[:, settled]
    deviations = windows.std(axis=1)
    own = float((deviations**2).sum())
    return ratio(float(windows.sum(axis=0).var()) - own, float(deviations.sum()) ** 2 - own)
