"""What is read off each run, in one table: a row per case, n, discipline, reading and seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.reproduction.papers.common import Setup
from aqmlab.reproduction.papers.common.figures import samples
from aqmlab.results.metrics import ratio
from aqmlab.storage import folders

LINK = "bottleneck"
REVERSE = "bottleneck.reverse"
SETTLED_S = 5.0
"""Statistics of the average leave out the first 5 s."""
MAX_TH = 30.0
"""The upper threshold in packets."""
BURST_S = (3.0, 10.0)
"""The seconds of the fast UDP flow."""


def measure_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run."""
    table = folders.read_table(folder, "links")
    if table is None:
        raise FileNotFoundError(folder)
    links = {row["link"]: row for row in table.filter(pc.is_in(table["link"], pa.array([LINK, REVERSE]))).to_pylist()}
    trace = (pc.sum(table["drops"]).as_py(), folders.read_summary(folder)["summary"]["enqueue_events"])
    values = loss_of(links[LINK], links[REVERSE], trace=trace)
    values["throughput"] = links[LINK]["throughput_bps"] / 1e6
    values["mean_queue"] = links[LINK]["mean_queue"]
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


def average_of(folder: Path) -> dict[str, float]:
    """RED's average over time, after 5 s and from 3 to 10 s; time at or above max_th and with an empty queue."""
    time, average = samples(folder, "queue_samples", "average", LINK)
    _, queue = samples(folder, "queue_samples", "queue_packets", LINK)
    settled = average[time >= SETTLED_S]
    burst = average[(time >= BURST_S[0]) & (time < BURST_S[1])]
    return {
        "average_mean": float(np.mean(settled)),
        "average_sd": float(np.std(settled)),
        "burst_mean": float(np.mean(burst)),
        "burst_sd": float(np.std(burst)),
        "above_share": float(np.mean(settled >= MAX_TH)),
        "empty_share": float(np.mean(queue[time >= SETTLED_S] == 0)),
    }
