"""The paper's printed numbers."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache

from aqmlab.papers.mred.plan import resource

TABLES = {
    "1": ("sole", "throughput"),
    "2": ("sole", "loss"),
    "3": ("mixed", "throughput"),
    "4": ("mixed", "loss"),
}


@dataclass(frozen=True)
class Cell:
    """One printed number. `printed` is the text on paper, `value` what it says."""

    table: str
    case: str
    quantity: str
    unit: str
    n: int
    discipline: str
    printed: str
    value: float
    note: str


@cache
def cells() -> tuple[Cell, ...]:
    """Return every printed number of the tables; the parameter table has n = 0."""
    rows = csv.DictReader(io.StringIO(resource("published.csv")))
    return tuple(
        Cell(
            table=row["table"],
            case=row["case"],
            quantity=row["quantity"],
            unit=row["unit"],
            n=int(row["n"] or 0),
            discipline=row["discipline"],
            printed=row["printed"],
            value=float(row["value"]),
            note=row["note"],
        )
        for row in rows
    )


def printed(*, case: str, quantity: str, n: int, discipline: str) -> float:
    """Return one number of Tables 1 to 4.

    >>> printed(case="sole", quantity="throughput", n=5, discipline="MRED")
    9.682
    """
    for cell in cells():
        if (cell.case, cell.quantity, cell.n, cell.discipline) == (case, quantity, n, discipline):
            return cell.value
    raise KeyError((case, quantity, n, discipline))


def parameters() -> list[Cell]:
    """Return the parameter table."""
    return [cell for cell in cells() if cell.table == "parameters"]
