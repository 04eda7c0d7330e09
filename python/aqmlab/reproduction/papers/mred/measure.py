"""What is read off each run, in one table: a row per case, n, discipline, reading and seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Setup, pick
from aqmlab.reproduction.papers.mred.plan import FIGURE_N
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

LOSSES = {
    "loss_trace": "as printed: drops / all enqueue events of the network",
    "loss_data": "drops / packets arriving at the bottleneck",
    "loss_both": "drops / packets arriving at the bottleneck, data and ACKs of both directions",
}
"""The three definitions of loss."""


def measure(setups: list[Setup], root: Path) -> pd.DataFrame:
    """Read all runs of a reproduction."""
    return common.measure(
        setups, root, lambda setup, folder: measure_run(folder, samples="queue_samples" in setup.tables)
    )


def measure_run(folder: Path, *, samples: bool) -> dict[str, float]:
    """Read one run."""
    summary = folders.read_summary(folder)["summary"]
    table = folders.read_table(folder, "links")
    if table is None:
        raise FileNotFoundError(folder)
    links = {row["link"]: row for row in table.filter(pc.is_in(table["link"], pa.array([LINK, REVERSE]))).to_pylist()}
    trace = (pc.sum(table["drops"]).as_py(), summary["enqueue_events"])
    values = loss_of(links[LINK], links[REVERSE], trace=trace)
    values["throughput"] = links[LINK]["throughput_bps"] / 1e6
    values["mean_queue"] = links[LINK]["mean_queue"]
    return values | (average_of(folder) if samples else {})


def loss_of(forward: dict[str, Any], reverse: dict[str, Any], *, trace: tuple[float, float]) -> dict[str, float]:
    """Loss in its three definitions, see `LOSSES`; `trace` is the drops and enqueue events of the whole network.

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
    time, average = samples_of(folder)
    _, queue = samples_of(folder, "queue_packets")
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


def samples_of(folder: Path, column: str = "average") -> tuple[np.ndarray, np.ndarray]:
    """Times in s and RED's average (or another column) in packets, as sampled at the bottleneck."""
    table = folders.read_table(folder, "queue_samples")
    if table is None:
        raise FileNotFoundError(folder)
    here = np.array(table.column("link").to_pylist()) == LINK
    return table.column("t_s").to_numpy()[here], table.column(column).to_numpy()[here]


def figure_setups(setups: list[Setup], case: str) -> list[Setup]:
    """Return the scenarios of Figure 6 (sole) or 7 (mixed)."""
    return pick(setups, case=case, n=FIGURE_N)


def values(runs: pd.DataFrame, *, case: str, n: int, discipline: str, key: str) -> np.ndarray:
    """Return one quantity of one scenario, by seed."""
    return common.values(runs, key, case=case, n=n, discipline=discipline)
