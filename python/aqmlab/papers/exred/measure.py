"""Measurements of each run under TCP: a row per scheme, number of TCP flows, reading and seed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab.papers.common import Setup
from aqmlab.papers.common.figures import table_of
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
    tables = {name: table_of(folder, name) for name in ("links", "delay_histogram", "flows")}
    drops = drops_of(tables["links"])
    if "load" in setup.key:
        return {"forced_share": drops["forced_share"]}
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
        found["synchrony"] = synchrony(table_of(folder, WINDOWS), begin_s=summary["warmup_s"])
    return found


def drops_of(links: pd.DataFrame) -> dict[str, float]:
    """Share of the drops made since the average was at k_h or above, and share of the packets lost to a full buffer.

    >>> row = {"link": LINK, "arrivals": 100, "drops": 8, "drops_forced": 6, "drops_overflow": 1}
    >>> drops_of(pd.DataFrame([row]))
    {'forced_share': 0.75, 'overflow': 0.01}
    """
    (row,) = links[links["link"] == LINK].to_dict("records")
    return {
        "forced_share": ratio(row["drops_forced"], row["drops"]),
        "overflow": ratio(row["drops_overflow"], row["arrivals"]),
    }


def synchrony(samples: pd.DataFrame, *, begin_s: float) -> float:
    """Return the mean correlation of two flows' congestion windows: 1 if all move together, 0 if independent.

    Pairs are weighted by their standard deviations s: the sum of all covariances over that of all s_i s_j.

    >>> times = [1.0, 2.0, 3.0, 4.0]
    >>> windows = {"a": [1, 2, 3, 4], "b": [2, 4, 6, 8], "c": [1, -1, -1, 1]}
    >>> def of(*flows: str) -> float:
    ...     rows = [{"t_s": t, "flow": f, "cwnd": w} for f in flows for t, w in zip(times, windows[f], strict=True)]
    ...     return round(synchrony(pd.DataFrame(rows), begin_s=1.0), 9)
    >>> of("a", "b"), of("a", "c")
    (1.0, 0.0)
    """
    later = samples[samples["t_s"] >= begin_s]
    windows = later.pivot_table(index="t_s", columns="flow", values="cwnd").dropna()
    deviations = windows.std(ddof=0)
    own = float((deviations**2).sum())
    return ratio(float(windows.sum(axis=1).var(ddof=0)) - own, float(deviations.sum()) ** 2 - own)
