"""The map at the beginning of the report: each discipline in each scenario, against drop-tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from aqmlab.reporting.fragments import HeatTable

FULL = {"delay": 75.0, "goodput": -15.0}
"""Differences in % that have the strongest colour; below 0: more is better."""
UNDECIDED = "undecided"


def heat_table(against: pd.DataFrame, quantity: str, disciplines: Sequence[str]) -> HeatTable:
    """Return differences to drop-tail, a row a scenario, a column a discipline.

    Parameters
    ----------
    against
        The table of `aqmlab.rfc7928.tables.against_baseline`.
    quantity
        ``delay`` or ``goodput``.
    disciplines
        The columns.
    """
    rows = []
    for (section, scenario), part in against.groupby(["section", "scenario"], sort=False):
        found = {str(record["discipline"]): _cell(record, quantity) for record in part.to_dict("records")}
        rows.append((f"{section} {scenario}", [found.get(name) for name in disciplines]))
    return HeatTable(list(disciplines), rows)


def words(against: pd.DataFrame, disciplines: Sequence[str]) -> str:
    """Say in how many scenarios each discipline has less delay than drop-tail, less goodput and more goodput."""
    names = [name for name in disciplines if (against["discipline"] == name).any()]
    own = {name: against[against["discipline"] == name] for name in names}
    parts = []
    for quantity, way in (("delay", "less"), ("goodput", "less"), ("goodput", "more")):
        counts = [f"{name} in {int((own[name][f'{quantity} is'] == way).sum())}" for name in names]
        parts.append(f"{way} {quantity}: {', '.join(counts)}")
    return f"Against drop-tail in up to {max(len(part) for part in own.values())} scenarios, {'; '.join(parts)}."


def _cell(record: Mapping[Any, Any], quantity: str) -> tuple[str, float]:
    percent = float(record[f"{quantity}, %"])
    if record[f"{quantity} is"] == UNDECIDED or percent != percent:
        return f"{percent:+.1f} % ?", 0.0
    return f"{percent:+.1f} %", max(-1.0, min(1.0, percent / FULL[quantity]))
