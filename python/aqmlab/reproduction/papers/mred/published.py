"""The paper's printed numbers."""

from __future__ import annotations

from aqmlab.reproduction.papers.common import Cell
from aqmlab.reproduction.papers.mred.plan import FILES

TABLES = {
    "1": ("sole", "throughput"),
    "2": ("sole", "loss"),
    "3": ("mixed", "throughput"),
    "4": ("mixed", "loss"),
}


def cells() -> tuple[Cell, ...]:
    """Return every printed number; those of the parameter table have no n."""
    return FILES.cells()


def printed(*, case: str, quantity: str, n: int, discipline: str) -> float:
    """Return one number of Tables 1 to 4.

    >>> printed(case="sole", quantity="throughput", n=5, discipline="MRED")
    9.682
    """
    return FILES.printed(case=case, quantity=quantity, n=n, discipline=discipline)


def parameters() -> list[Cell]:
    """Return the parameter table."""
    return [cell for cell in cells() if cell.table == "parameters"]
