"""Gaps to printed numbers, largest first: which were used to choose readings, and which no one has explained.

``readings.toml`` marks sets of printed numbers, by columns of ``published.csv``; a value may be a list::

    [[used]]                       # looked at when readings were chosen; all others are held out
    of = { discipline = "RED" }
    why = "Table 1 chose the flavour of TCP"
    [[explained]]
    of = { table = ["III", "V"] }
    why = "the links of Network 2 are not printed"
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.papers.common.cells import reach
from aqmlab.papers.common.files import Cell, PaperFiles
from aqmlab.papers.common.quantities import quantity_interval
from aqmlab.papers.common.run_table import table_of_runs
from aqmlab.papers.common.vocabulary import SEED, Value, Vocabulary
from aqmlab.reporting.fragments import mean_text

GAPS = "gaps"
"""The name of the table."""
COLUMNS = ("cell", "printed", "measured", "factor", "held out", "explained")
UNEXPLAINED = "not explained"
IN_REACH = "within the scatter of one run"
_NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?)(?:[eE]([-+\N{MINUS SIGN}]?\d+))?")
NAMED = 3
"""So many unexplained gaps are named in words."""


def gaps(words: Vocabulary, files: PaperFiles, runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per printed number of which there are runs, the largest gap first.

    Parameters
    ----------
    words, files
        The paper's quantities and its files.
    runs
        A row per run of the chosen reading, as in `execute_claims`.

    Returns
    -------
    DataFrame
        ``cell``; ``printed`` and ``measured`` (with 95 % interval); ``factor``, the larger of measured / printed and
        printed / measured, where a value below half a unit of the last printed digit counts as that; ``held out``,
        "yes" if no reading was chosen by it; ``explained``: why, or that the printed number lies where one further
        run would with 95 % probability, or that it is not explained.
    """
    data, table = files.toml("readings.toml"), table_of_runs(words, runs)
    rows = [row for cell in files.cells() if (row := _row(words, table, cell, data)) is not None]
    found = pd.DataFrame(rows, columns=COLUMNS)
    return found.sort_values("factor", ascending=False, kind="stable").reset_index(drop=True)


def largest_unexplained(table: pd.DataFrame) -> pd.DataFrame:
    """Return the largest gaps without an explanation."""
    return table[table["explained"] == UNEXPLAINED].head(NAMED)


def gaps_words(table: pd.DataFrame) -> str:
    """Say how many printed numbers are met, and name the largest gaps that are not explained."""
    if table.empty:
        return "The paper prints no number that the runs measure."
    held = table[table["held out"] == "yes"]
    counts = [_count(table, "printed numbers"), _count(held, "held out of the choice of readings")]
    named = [
        f"{row.cell} ({row.printed} printed, {row.measured} measured)"
        for row in largest_unexplained(table).itertuples()
    ]
    last = f" Largest gaps that are not explained: {'; '.join(named)}." if named else " No gap is left unexplained."
    return f"{counts[0]}; {counts[1]}.{last}"


def _count(table: pd.DataFrame, what: str) -> str:
    inside = int((table["explained"] == IN_REACH).sum())
    return f"{len(table)} {what}, {inside} of them {IN_REACH}"


def _row(words: Vocabulary, runs: pd.DataFrame, cell: Cell, data: Mapping[str, Any]) -> dict[str, object] | None:
    own = cell.columns
    for name, quantity in words.quantities.items():
        if not quantity.on_paper or math.isnan(cell.value) or not cell.matches(quantity.on_paper):
            continue
        fits = np.ones(len(runs), dtype=bool)
        for column in words.columns:
            if own.get(column, "") != "":
                fits &= (runs[column] == own[column]).to_numpy()
        values = runs[fits].sort_values(SEED)[name].dropna().to_numpy(dtype=float)
        if len(values) > 1:
            return _gap(words, cell, own, name, values, data)
    return None


def _gap(
    words: Vocabulary, cell: Cell, own: Mapping[str, Value], name: str, values: np.ndarray, data: Mapping[str, Any]
) -> dict[str, object]:
    found = quantity_interval(values, name)
    least = _half_digit(cell.printed, cell.value)
    measured, printed = max(abs(found.mean), least), max(abs(cell.value), least)
    inside = abs(found.mean - cell.value) <= max(reach(found), least)
    reasons = [str(entry["why"]) for entry in data.get("explained", ()) if cell.is_among(entry["of"])]
    quantity = words.quantities[name]
    where = [column.words(own[c]) for c, column in words.columns.items() if own.get(c, "") != ""]
    unit = f", {quantity.unit}" if quantity.unit not in ("", "1") else ""
    return {
        "cell": f"{_table(cell.table)}: {quantity.title}{unit}; {', '.join(where)}",
        "printed": cell.printed,
        "measured": mean_text(found),
        "factor": max(measured / printed, printed / measured),
        "held out": "" if any(cell.is_among(entry["of"]) for entry in data.get("used", ())) else "yes",
        "explained": IN_REACH if inside else reasons[0] if reasons else UNEXPLAINED,
    }


def _table(name: str) -> str:
    return name.capitalize() if name == "text" else f"Table {name}"


def _half_digit(printed: str, value: float) -> float:
    """Return half a unit of the last digit of a printed number, in the unit of its value.

    >>> _half_digit("11.5", 11.5), _half_digit("0", 0), _half_digit("3196 s", 3196), _half_digit("-0.05", -0.05)
    (0.05, 0.5, 0.5, 0.005)
    >>> _half_digit("5e-2", 0.05), _half_digit("~1,200 ms", 1.2), _half_digit("ten", 10)
    (0.005, 0.0005, 0.5)
    """
    found = _NUMBER.search(printed)
    if found is None:
        return 0.5
    digits, power = found[1].replace(",", ""), int((found[2] or "0").replace("\N{MINUS SIGN}", "-"))
    number = float(digits) * 10.0**power
    half = 0.5 * 10.0 ** (power - len(digits.partition(".")[2]))
    return half * abs(value / number) if number else half


def used_words(data: Mapping[str, Any]) -> list[str]:
    """Return why printed numbers were used, one line for each entry of ``[[used]]``."""
    return [str(entry["why"]) for entry in data.get("used", ())]
