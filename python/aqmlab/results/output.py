"""One finished run in memory: its summary with its origin, its tables, and the metrics read off them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from aqmlab import _core
from aqmlab.results import folders
from aqmlab.results.evaluation import Evaluated
from aqmlab.results.quantities import run_quantities
from aqmlab.results.tables import TABLES
from aqmlab.scenario.file import Scenario


@dataclass(frozen=True)
class Output:
    """A finished run.

    Attributes
    ----------
    summary
        What ``summary.json`` holds: named numbers and provenance. Of a reduced run: the answer of the reducer.
    tables
        The tables, unless they are on disk.
    evaluated
        How the run was evaluated; None if it was read from disk, or if no scenario was simulated.
    """

    summary: dict[str, Any]
    tables: dict[str, pa.Table]
    evaluated: Evaluated | None = None


def provenance(plan: Scenario) -> dict[str, Any]:
    """Say what a result comes from: version, scenario and the reading (effective parameters) of every queue."""
    return {
        "format": 1,
        "version": _core.version(),
        "scenario": {"name": plan.name, "hash": plan.hash},
        "readings": plan.queues,
    }


def output_in_folder(folder: Path) -> Output:
    """Read a run from its own folder."""
    tables = {name: folders.read_table(folder, name) for name in TABLES}
    found = {name: table for name, table in tables.items() if table is not None}
    return Output(summary=folders.read_summary(folder), tables=found)


def metrics_of(tables: Mapping[str, pa.Table], link: str | None = None) -> dict[str, float]:
    """Return the metrics of a run from its tables.

    Parameters
    ----------
    link
        The link in question; default: the run's bottleneck.
    """
    columns = {name: dict(zip(one.column_names, one.columns, strict=True)) for name, one in tables.items()}
    return run_quantities(columns, link)
