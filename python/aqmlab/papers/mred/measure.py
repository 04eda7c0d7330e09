"""Measurements of each run, in one table: a row per case, n, discipline, reading and seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.papers.common import Setup
from aqmlab.papers.common.recorded import columns_of, selected
from aqmlab.results import folders
from aqmlab.results.quantities import ratio

LINK = "bottleneck"
REVERSE = "bottleneck.reverse"
SETTLED_S = 5.0
"""Statistics of the average leave out the first 5 s."""
MAX_TH = 30.0
"""The upper threshold in packets."""
OF_LINKS = ("link", "arrivals", "drops", "drops_overflow", "throughput_bps", "mean_queue", "mean_delay_s")
BURST_S = (3.0, 10.0)
"""The seconds of the fast UDP flow."""


def measure_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run."""
    rows = columns_of(folder, "links", OF_LINKS)
    bottleneck = rows.filter(pc.is_in(rows["link"], pa.array([LINK, REVERSE])))
    links = {row["link"]: row for row in bottleneck.to_pylist()}
    trace = (pc.sum(rows["drops"]).as_py(), folders.read_summary(folder)["summary"]["enqueue_events"])
    values = loss_of(links[LINK], links[REVERSE], trace=trace)
    values["throughput"] = links[LINK]["throughput_bps"] / 1e6
    values["overflow"] = ratio(links[LINK]["drops_overflow"], links[LINK]["arrivals"])
    values["mean_queue"] = links[LINK]["mean_queue"]
    values["delay_ms"] = links[LINK]["mean_delay_s"] * 1e3
    if "flows" in (setup.tables or ()):
        values |= shares_of(folder, setup.plan.duration_s)
    return values | (average_of(folder) if "queue_samples" in (setup.tables or ()) else {})


def loss_of(forward: dict[str, Any], reverse: dict[str, Any], *, trace: tuple[float, float]) -> dict[str, float]:
    """Loss in three definitions: of the whole network, as printed; of the data; of data and ACKs of both directions.

    `trace` is the drops and enqueue events of the whole network.

    >>> found = loss_of({"arrivals": 100, "drops": 4}, {"arrivals": 60, "drops": 0}, trace=(4, 480))
    >>> found["loss_data"], found["loss_both"], round(found["loss_trace"], 5)
    (0.04, 0.025, 0.00833)
    """
    return {
        "loss_trace": ratio(*trace),
        "loss_data": ratio(forward["drops"], forward["arrivals"]),
        "loss_both": ratio(forward["drops"] + reverse["drops"], forward["arrivals"] + reverse["arrivals"]),
    }


def shares_of(folder: Path, duration_s: float) -> dict[str, float]:
    """Goodput of all TCP flows in Mb/s, and Jain's index of it."""
    rows = columns_of(folder, "flows", ("group", "goodput_bytes"))
    goodput = selected(rows, group="tcp")["goodput_bytes"].to_numpy().astype(float)
    return {"goodput": goodput.sum() * 8e-6 / duration_s, "jain": jain(goodput)}


def jain(shares: np.ndarray) -> float:
    """Return Jain's index of fairness: (sum x)^2 / (n sum x^2).

    >>> jain(np.array([1.0, 1.0, 0.0, 0.0]))
    0.5
    """
    return float(shares.sum() ** 2 / (len(shares) * np.square(shares).sum()))


def average_of(folder: Path) -> dict[str, float]:
    """RED's average after 5 s, from 3 to 10 s and from 10 s on; time at or above max_th and with an empty queue."""
    rows = columns_of(folder, "queue_samples", ("link", "t_s", "average", "queue_packets"))
    rows = selected(rows, link=LINK)
    time, average, queue = (rows[name].to_numpy() for name in ("t_s", "average", "queue_packets"))
    settled = average[time >= SETTLED_S]
    rest = average[time >= BURST_S[1]]
    burst = average[(time >= BURST_S[0]) & (time < BURST_S[1])]
    return {
        "average_mean": float(np.mean(settled)),
        "average_sd": float(np.std(settled)),
        "relative_sd": float(np.std(settled) / np.mean(settled)),
        "burst_mean": float(np.mean(burst)),
        "burst_sd": float(np.std(burst)),
        "rest_mean": float(np.mean(rest)),
        "rest_sd": float(np.std(rest)),
        "burst_above_s": float(np.mean(burst >= MAX_TH)) * (BURST_S[1] - BURST_S[0]),
        "above_share": float(np.mean(settled >= MAX_TH)),
        "empty_share": float(np.mean(queue[time >= SETTLED_S] == 0)),
    }
