"""What is read off each run: a row per scheme, load (or number of TCP flows), reading and seed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from aqmlab import store
from aqmlab.metrics import delay_metrics, flow_metrics, link_metrics, ratio
from aqmlab.papers import common
from aqmlab.papers.common import Computation, Setup, answer

LINK = "bottleneck"
LONGEST = 20
"""Longest run of drops that Figure 6 shows."""


def loop_numbers(found: dict[str, Any]) -> dict[str, float]:
    """Numbers of one run of the open loop, from its answer.

    Throughput is in packets per second, the wait in ms; ``longer_n`` is P(N > n), the share of runs of drops that
    are longer than n; NaN without a drop.

    >>> found = {"p_drop": 0.1, "throughput": 900.0, "mean_wait_s": 0.01, "mean_run": 1.5, "drops": 6, "arrivals": 60,
    ...          "runs_longer_than": [4, 2] + [0] * 30}
    >>> numbers = loop_numbers(found)
    >>> numbers["longer_1"], numbers["longer_2"], numbers["wait_ms"]
    (0.5, 0.0, 10.0)
    """
    runs = found["runs_longer_than"]
    numbers = {
        "drops": float(found["drops"]),
        "p_drop": found["p_drop"],
        "throughput": found["throughput"],
        "wait_ms": found["mean_wait_s"] * 1e3,
        "mean_run": math.nan if found["mean_run"] is None else found["mean_run"],
        "pairs": ratio(runs[1], found["arrivals"]),
    }
    return numbers | {f"longer_{n}": ratio(runs[n], runs[0]) for n in range(LONGEST + 1)}


def tcp_numbers(folder: Path) -> dict[str, float]:
    """Numbers of one run under TCP: of the bottleneck, and time-outs per flow and minute."""
    links, flows = store.read_table(folder, "links"), store.read_table(folder, "flows")
    delays = store.read_table(folder, "delay_histogram")
    if links is None or flows is None or delays is None:
        raise FileNotFoundError(folder)
    link = links.filter(pc.equal(links["link"], LINK)).to_pylist()[0]
    rows = flows.to_pylist()
    own_delays = delays.filter(pc.equal(delays["link"], LINK)).to_pylist()
    numbers = link_metrics(link) | delay_metrics(own_delays) | flow_metrics(rows)
    summary = store.read_summary(folder)["summary"]
    minutes = (summary["duration_s"] - summary["warmup_s"]) / 60
    wanted = ("utilization", "loss", "mean_delay_ms", "delay_p99_ms", "jain")
    found = {key: numbers[key] for key in wanted}
    return found | {"timeouts": numbers["timeouts"] / len(rows) / minutes}


def measure_loops(points: list[Computation], root: Path) -> pd.DataFrame:
    """Read all runs of the open loop."""
    return common.measure(points, root, lambda _, folder: loop_numbers(answer(folder)))


def measure_tcp(points: list[Setup], root: Path) -> pd.DataFrame:
    """Read all runs under TCP."""
    return common.measure(points, root, lambda _, folder: tcp_numbers(folder))
