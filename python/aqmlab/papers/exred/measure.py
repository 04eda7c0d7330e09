"""Measurements of each run under TCP: a row per scheme, number of TCP flows, reading and seed."""

from __future__ import annotations

from pathlib import Path

from aqmlab.papers.common import Setup
from aqmlab.papers.common.figures import table_of
from aqmlab.results import folders
from aqmlab.results.quantities import run_quantities

LINK = "bottleneck"
WANTED = ("utilization", "loss", "mean_delay_ms", "delay_p99_ms", "jain")


def measure_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run: numbers of the bottleneck, and time-outs per flow and minute; with another RTT the delay alone."""
    tables = {name: table_of(folder, name) for name in ("links", "delay_histogram", "flows")}
    numbers = run_quantities(tables, LINK)
    if "rtt" in setup.key:
        loss = numbers["loss"]
        again_ms = float(setup.key["rtt"]) * loss / (1 - loss)
        return {"delivered_ms": numbers["mean_delay_ms"] + again_ms, "again_ms": again_ms}
    summary = folders.read_summary(folder)["summary"]
    minutes = (summary["duration_s"] - summary["warmup_s"]) / 60
    return {key: numbers[key] for key in WANTED} | {"timeouts": numbers["timeouts"] / len(tables["flows"]) / minutes}
