"""Tables I to V, published beside measured: a row for each number; and the parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aqmlab.papers.common import Cell, Setup, intervals_table, measured, quantity_interval, values
from aqmlab.papers.pc_red.plan import FILES
from aqmlab.statistics import Interval

Cells = Mapping[str, str | float | Interval]

PER_S = "a_d / g"
"""a_d in the unit that the paper prints, bytes/s."""
INTERVAL_S = 0.36
"""g of the chosen reading."""
QUEUE = {"queue": "average_mean", "fluctuation": "average_sd"}
"""The paper's column to the measured quantity."""
RATE_OF_LOSS = {"a_d": "{}_a_d", "a_d fluctuation": "{}_a_d_sd"}
THROUGHPUT = {"min": "{}_min", "max": "{}_max", "average": "{}_mid"}
BESIDE = {"average, read as the mean": "{}_mean", "class mean": "{}_class"}
"""Quantities that are not printed, or printed under another name."""
CROSSING = "a_d first above L"


@dataclass(frozen=True)
class Row:
    """A row of one of the paper's tables.

    Attributes
    ----------
    published
        Its name in ``published.csv``.
    case, group
        Where it is measured: the case, and the class of the observed flow.
    label
        Its name in the reproduction.
    """

    published: str
    case: str
    group: str
    label: str


@dataclass(frozen=True)
class Table:
    """One of the paper's tables: its caption in our words, its rows, and its columns (see `QUEUE` and so on)."""

    title: str
    rows: tuple[Row, ...]
    columns: Mapping[str, str]


def _shares(prefix: str) -> tuple[Row, ...]:
    return tuple(
        Row(f"{share} {group.title()}", f"{prefix}{share}", group, f"r_p = {share}, {group.title()}")
        for share in ("10 %", "30 %")
        for group in ("high", "non")
    )


TABLES = {
    "I": Table(
        "RED and PC-RED (Experiment 1)",
        (Row("RED", "RED", "high", "RED"), Row("PC-RED", "PC-RED", "high", "PC-RED, w = 3e-3")),
        QUEUE | THROUGHPUT,
    ),
    "II": Table(
        "two weights in Network 1 (Experiment 2)",
        (
            Row("w = 5e-3", "w = 5e-3", "high", "w = 5e-3"),
            Row("w = 3e-5", "w = 3e-5", "high", "w = 3e-5 (as in the text)"),
            Row("w = 3e-5", "w = 3e-3", "high", "w = 3e-3 (as in the table)"),
        ),
        RATE_OF_LOSS | THROUGHPUT,
    ),
    "III": Table(
        "two weights in Network 2 (Experiment 2)",
        (
            Row("w = 5e-3", "mesh, w = 5e-3", "high", "w = 5e-3"),
            Row("w = 3e-3", "mesh, w = 3e-3", "high", "w = 3e-3 (as printed)"),
            Row("w = 3e-3", "mesh, w = 3e-5", "high", "w = 3e-5 (as in Table II's text)"),
        ),
        THROUGHPUT,
    ),
    "IV": Table("two shares of priority in Network 1 (Experiment 3)", _shares(""), RATE_OF_LOSS | THROUGHPUT),
    "V": Table("two shares of priority in Network 2 (Experiment 3)", _shares("mesh, "), THROUGHPUT),
}


def beside(runs: pd.DataFrame, number: str) -> pd.DataFrame:
    """One of the paper's tables beside what was measured, a row per cell; the average in both readings.

    Returns
    -------
    DataFrame
        row, quantity, unit, printed (as on paper), measured with low and high, ratio (measured / printed), seeds.
    """
    rows: list[Cells] = []
    for row in TABLES[number].rows:
        for quantity, key in TABLES[number].columns.items():
            rows.append(_cell(runs, row, quantity, _printed(number, row, quantity), key))
            if quantity == "a_d":
                rows.append(_per_second(runs, row, key))
            if quantity == "a_d" and row.published == "w = 3e-5":
                rows.append(_crossing(runs, row, _printed(number, row, quantity)))
        for quantity, key in BESIDE.items():
            paper = _printed(number, row, "average") if quantity.startswith("average") else None
            rows.append(_cell(runs, row, quantity, paper, key))
    return intervals_table(rows)


def typical_factor(runs: pd.DataFrame, numbers: Iterable[str] = ("I", "II", "IV")) -> float:
    """Return the factor between measured and printed: exp of the root mean square of ln(measured / printed).

    Minima, which are near 0, and cells without a printed number are left out; Table II's second row is that of
    the text.
    """
    logs = []
    for number in numbers:
        for row in TABLES[number].rows:
            if (row.published, row.case) == ("w = 3e-5", "w = 3e-3"):
                continue
            for quantity, key in TABLES[number].columns.items():
                if quantity == "min":
                    continue
                cell = _printed(number, row, quantity)
                measured = float(np.mean(values(runs, key.format(row.group), case=row.case)))
                if cell.value > 0 and measured > 0:
                    logs.append(math.log(measured / cell.value))
    return math.exp(math.sqrt(float(np.mean(np.square(logs)))))


def parameters(setups: Mapping[str, Setup]) -> pd.DataFrame:
    """Printed parameters beside the effective ones; `setups` by the name of the network."""
    rows = []
    for cell in FILES.cells():
        if cell.table == "parameters":
            network = str(cell.key["row"])
            found = _effective(cell, setups[network])
            rows.append(
                {
                    "network": network,
                    "parameter": cell.quantity,
                    "unit": cell.unit,
                    "printed": cell.printed,
                    "in the scenario": found,
                    "same": "yes" if math.isclose(found, cell.value, rel_tol=1e-9) else "no",
                    "note": cell.note,
                }
            )
    return pd.DataFrame(rows)


def _effective(cell: Cell, setup: Setup) -> float:
    plan = setup.plan
    link = plan.link("bottleneck" if setup.key["network"] == "network1" else "r1->r2")
    routers = {link.from_ for link in plan.links if link.aqm != "drop-tail"}
    other = {
        "flows": float(len(plan.flows)),
        "capacity": link.rate_bps / 8 / 500,
        "delay": link.delay_s * 1e3,
        "duration": plan.duration_s,
        "routers": float(len(routers)),
    }
    if cell.quantity in other:
        return other[cell.quantity]
    return float(str(link.parameters[cell.quantity]).rstrip("pB "))


def _cell(runs: pd.DataFrame, row: Row, quantity: str, paper: Cell | None, key: str) -> Cells:
    found = measured(runs, key.format(row.group), case=row.case)
    known = paper is not None and paper.value > 0
    return {
        "row": row.label,
        "quantity": quantity,
        "unit": _unit(quantity),
        "printed": paper.printed if paper else "",
        "measured": found,
        "ratio": found.mean / paper.value if paper and known else math.nan,
        "seeds": found.n,
    }


def _per_second(runs: pd.DataFrame, row: Row, key: str) -> Cells:
    quantity = key.format(row.group)
    found = quantity_interval(values(runs, quantity, case=row.case) / INTERVAL_S, quantity)
    cells = {"row": row.label, "quantity": PER_S, "unit": "bytes/s", "printed": ""}
    return {**cells, "measured": found, "ratio": math.nan, "seeds": found.n}


def _crossing(runs: pd.DataFrame, row: Row, paper: Cell) -> Cells:
    times = values(runs, "crossing_s", case=row.case)
    reached = times[~np.isnan(times)]
    found = quantity_interval(reached, "crossing_s")
    never = f"(never: {len(times) - len(reached)} of {len(times)})"
    return {
        "row": row.label,
        "quantity": f"{CROSSING} {never}",
        "unit": "s",
        "printed": paper.printed,
        "measured": found,
        "ratio": math.nan,
        "seeds": found.n,
    }


def _printed(number: str, row: Row, quantity: str) -> Cell:
    (found,) = (
        cell
        for cell in FILES.cells()
        if (cell.table, cell.key["row"], cell.quantity) == (number, row.published, quantity)
    )
    return found


def _unit(quantity: str) -> str:
    if quantity in QUEUE:
        return "packets"
    return "bytes in g" if quantity in RATE_OF_LOSS else "KB/s"
