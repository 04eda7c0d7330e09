"""Figures of the entry page: theory over the simulation of ``examples/dumbbell-red.toml``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import aqmlab
from aqmlab.figures.chart import Chart

EXAMPLE = Path(__file__).parents[2] / "examples" / "dumbbell-red.toml"


@cache
def charts() -> dict[str, Chart]:
    """Return the charts of the analysis by key."""
    found = aqmlab.analyze(EXAMPLE, seeds=2, progress=False)
    return {chart.key: chart for chart in found.charts}


def curve() -> Chart:
    """Return the curve with the operating point and the simulation on it."""
    return replace(charts()["curve"], key="analyze-curve")


def queue_in_time() -> Chart:
    """Return queue and average of the fluid over those of a run."""
    return replace(charts()["queue-in-time"], key="analyze-queue-in-time")


FIGURES: dict[str, Callable[[], Chart]] = {"analyze-curve": curve, "analyze-queue-in-time": queue_in_time}
