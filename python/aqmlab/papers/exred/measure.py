"""Measurements of each run: a row per scheme, load (or number of TCP flows), reading and seed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from aqmlab.papers import common
from aqmlab.papers.common import Computation, Setup
from aqmlab.papers.common.open_loop import loop_numbers
from aqmlab.results import folders
from aqmlab.results.metrics import delay_metrics, flow_metrics, link_metrics

LINK = "bottleneck"


def tcp_numbers(folder: Path) -> dict[str, float]:
    """Numbers of one run under TCP: of the bottleneck, and time-outs per flow and minute."""
    links, flows = folders.read_table(folder, "links"), folders.read_table(folder, "flows")
    delays = folders.read_table(folder, "delay_histogram")
    if links is None or flows is None or delays is None:
        raise FileNotFoundError(folder)
    link = links.filter(pc.equal(links["link"], LINK)).to_pylist()[0]
    own_delays = delays.filter(pc.equal(delays["link"], LINK)).to_pylist()
    numbers = link_metrics(link) | delay_metrics(own_delays) | flow_metrics(flows.to_pandas())
    summary = folders.read_summary(folder)["summary"]
    minutes = (summary["duration_s"] - summary["warmup_s"]) / 60
    wanted = ("utilization", "loss", "mean_delay_ms", "delay_p99_ms", "jain")
    found = {key: numbers[key] for key in wanted}
    return found | {"timeouts": numbers["timeouts"] / flows.num_rows / minutes}


def measure_loops(points: list[Computation], root: Path) -> pd.DataFrame:
    """Read all runs of the open loop."""
    return common.measure(points, root, lambda _, found: loop_numbers(found))


def measure_tcp(points: list[Setup], root: Path) -> pd.DataFrame:
    """Read all runs under TCP."""
    return common.measure(points, root, lambda _, folder: tcp_numbers(folder))
