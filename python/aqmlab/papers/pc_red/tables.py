"""Tables I to V, published beside measured: a row for each number; and the parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aqmlab.papers import common
from aqmlab.papers.common import Cell, Setup, Table, intervals_table, intervals_text, measured, values
from aqmlab.papers.pc_red.plan import FILES
from aqmlab.statistics import Interval

INTERVAL_S = 0.36
"""g of the chosen reading."""
KEYS = {
    "queue": "average_mean", "fluctuation": "average_sd", "a_d": "{}_a_d", "a_d fluctuation": "{}_a_d_sd",
    "min": "{}_min", "max": "{}_max", "average": "{}_mid",
}  # fmt: skip
"""The paper's column to the measured quantity."""
UNITS = {"queue": "packets", "fluctuation": "packets", "a_d": "bytes in g", "a_d fluctuation": "bytes in g"}
"""Units of columns; KB/s for all others."""
BESIDE = {"average, read as the mean": "{}_mean", "class mean": "{}_class"}
"""Quantities that are not printed, or printed under another name."""
CROSSING = "a_d first above L"


@dataclass(frozen=True)
class Row:
    """A row of one of the paper's tables: its name there, where it is measured (case and class), and its label."""

    published: str
    case: str
    group: str
    label: str

    def printed(self, number: str) -> dict[str, Cell]:
        """Return column to printed number."""
        return {c.quantity: c for c in FILES.cells() if (c.table, c.key["row"]) == (number, self.published)}


def _shares(prefix: str) -> list[Row]:
    return [
        Row(f"{share} {group.title()}", f"{prefix}{share}", group, f"r_p = {share}, {group.title()}")
        for share in ("10 %", "30 %")
        for group in ("high", "non")
    ]


TABLES: Mapping[str, tuple[str, list[Row]]] = {
    "I": (
        "RED and PC-RED (Experiment 1)",
        [Row("RED", "RED", "high", "RED"), Row("PC-RED", "PC-RED", "high", "PC-RED, w = 3e-3")],
    ),
    "II": (
        "two weights in Network 1 (Experiment 2)",
        [
            Row("w = 5e-3", "w = 5e-3", "high", "w = 5e-3"),
            Row("w = 3e-5", "w = 3e-5", "high", "w = 3e-5 (as in the text)"),
            Row("w = 3e-5", "w = 3e-3", "high", "w = 3e-3 (as in the table)"),
        ],
    ),
    "III": (
        "two weights in Network 2 (Experiment 2)",
        [
            Row("w = 5e-3", "mesh, w = 5e-3", "high", "w = 5e-3"),
            Row("w = 3e-3", "mesh, w = 3e-3", "high", "w = 3e-3 (as printed)"),
            Row("w = 3e-3", "mesh, w = 3e-5", "high", "w = 3e-5 (as in Table II's text)"),
        ],
    ),
    "IV": ("two shares of priority in Network 1 (Experiment 3)", _shares("")),
    "V": ("two shares of priority in Network 2 (Experiment 3)", _shares("mesh, ")),
}
"""Each of the paper's tables: its caption in our words, and its rows."""


def beside(runs: pd.DataFrame, number: str) -> Table:
    """One of the paper's tables beside the measured values, a row per cell; the average in both readings.

    Its columns are row, quantity, unit, printed (as on paper), measured with low and high, ratio (measured / printed),
    and seeds.
    """
    title, rows = TABLES[number]
    numbers = intervals_table([cells for row in rows for cells in _cells(runs, number, row)])
    ratios = ["" if ratio != ratio else f"{ratio:.2f}" for ratio in numbers["ratio"]]
    return Table(
        f"table-{number}",
        numbers,
        intervals_text(numbers).assign(ratio=ratios),
        heading=f"Table {number}: {title}",
        caption=f"Table {number}; ratio is measured / printed.",
    )


def _cells(runs: pd.DataFrame, number: str, row: Row) -> Iterator[dict[str, str | float | Interval]]:
    def cells(
        quantity: str, found: Interval, printed: Cell | None = None, *, text: str = "", unit: str = "KB/s"
    ) -> dict[str, str | float | Interval]:
        known = printed is not None and printed.value > 0
        return {
            "row": row.label,
            "quantity": quantity,
            "unit": unit,
            "printed": printed.printed if printed else text,
            "measured": found,
            "ratio": found.mean / printed.value if printed and known else math.nan,
            "seeds": found.n,
        }

    paper = row.printed(number)
    for quantity, cell in paper.items():
        key = KEYS[quantity].format(row.group)
        yield cells(quantity, measured(runs, key, case=row.case), cell, unit=UNITS.get(quantity, "KB/s"))
        if quantity == "a_d":
            per_s = common.quantity_interval(values(runs, key, case=row.case) / INTERVAL_S, key)
            yield cells("a_d / g", per_s, unit="bytes/s")  # as the paper heads its column
        if quantity == "a_d" and row.published == "w = 3e-5":
            times = values(runs, "crossing_s", case=row.case)
            never = f"(never: {np.count_nonzero(np.isnan(times))} of {len(times)})"
            reached = common.quantity_interval(times[~np.isnan(times)], "crossing_s")
            yield cells(f"{CROSSING} {never}", reached, text=cell.printed, unit="s")
    for quantity, key in BESIDE.items():
        printed = paper["average"] if quantity.startswith("average") else None
        yield cells(quantity, measured(runs, key.format(row.group), case=row.case), printed)


def typical_factor(runs: pd.DataFrame) -> float:
    """Return the factor by which Tables I, II and IV are missed: exp of the root mean square of ln(measured / printed).

    Minima, which are near 0, are left out.
    """
    logs = []
    for cell in FILES.cells():
        if cell.table in ("I", "II", "IV") and cell.quantity != "min" and cell.value > 0:
            key = KEYS[cell.quantity].format(cell.key["group"])
            found = float(np.mean(values(runs, key, case=cell.key["case"])))
            logs += [math.log(found / cell.value)] if found > 0 else []
    return math.exp(math.sqrt(float(np.mean(np.square(logs)))))


def parameters(setups: Mapping[str, Setup]) -> pd.DataFrame:
    """Printed parameters beside the effective ones; `setups` by the name of the network."""
    cells = [cell for cell in FILES.cells() if cell.table == "parameters"]
    networks = [str(cell.key["row"]) for cell in cells]
    found = common.parameters(cells, lambda cell: _effective(cell, setups[str(cell.key["row"])]))
    found.insert(0, "network", networks)
    return found.assign(printed=[cell.printed for cell in cells])


def _effective(cell: Cell, setup: Setup) -> object:
    plan = setup.plan
    link = plan.link("bottleneck" if setup.key["network"] == "network1" else "r1->r2")
    other = {
        "flows": len(plan.flows),
        "capacity": link.rate_bps / 8 / 500,
        "delay": link.delay_s * 1e3,
        "duration": plan.duration_s,
        "routers": len({one.from_ for one in plan.links if one.aqm != "drop-tail"}),
    }
    return other[cell.quantity] if cell.quantity in other else link.parameters[cell.quantity]
