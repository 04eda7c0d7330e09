"""Measurements of each run under TCP: a row per scheme, number of TCP flows, reading and seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from aqmlab.papers.common import Setup
from aqmlab.papers.common.figures import table_of
from aqmlab.results import folders
from aqmlab.results.metrics import delay_metrics, flow_metrics, link_metrics

LINK = "bottleneck"
WANTED = ("utilization", "loss", "mean_delay_ms", "delay_p99_ms", "jain")


def measure_run(_: Setup, folder: Path) -> dict[str, float]:
    """Read one run: numbers of the bottleneck, and time-outs per flow and minute."""
    links, delays, flows = (table_of(folder, name) for name in ("links", "delay_histogram", "flows"))
    numbers = link_metrics(_of_link(links)[0]) | delay_metrics(_of_link(delays)) | flow_metrics(flows)
    summary = folders.read_summary(folder)["summary"]
    minutes = (summary["duration_s"] - summary["warmup_s"]) / 60
    return {key: numbers[key] for key in WANTED} | {"timeouts": numbers["timeouts"] / len(flows) / minutes}


def _of_link(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table[table["link"] == LINK].to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
