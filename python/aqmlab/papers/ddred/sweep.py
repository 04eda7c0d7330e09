"""The search for Table I's DDRED row: many readings at once, each scored against the eight printed cells.

A reading's error is the root mean square of log(measured / printed) over a row's eight cells. Whether the printed row,
which is one run, could have come from it is asked by the prediction interval of one further run: in each cell alone
(95 %), and for the row as a whole with Bonferroni's correction for its eight cells.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.papers.common import Computation, answers_of
from aqmlab.papers.ddred.plan import DISCIPLINES, FILES, TABLE_LATENCIES, Effort
from aqmlab.results.parquet import to_arrow
from aqmlab.scenario.toml_text import Value
from aqmlab.statistics import prediction_factor

ONLY_DDRED = "DDRED."
"""Keys of an axis that begin so belong to the queue under DDRED only."""
FLOWS = ("PCs1", "PCs2")
SECONDS_A_ROW = 0.08
"""About how long one row of Table I takes, in seconds of one core."""
LEVEL = 0.95


@dataclass(frozen=True)
class Choice:
    """One reading of everything: axis to value."""

    values: Mapping[str, str]
    quick: bool

    def overrides(self, discipline: str) -> dict[str, Value]:
        """Return its overrides of ``pair.toml`` under one discipline."""
        found: dict[str, Value] = {}
        for axis, value in self.values.items():
            for key, setting in axes()[axis][value].items():
                if not key.startswith(ONLY_DDRED):
                    found[key] = setting
                elif discipline == "DDRED":
                    found[f"queue.router.{key.removeprefix(ONLY_DDRED)}"] = setting
        return found


def axes() -> dict[str, dict[str, dict[str, Value]]]:
    """Return axis to value to overrides; the first value of each is the chosen reading."""
    found: dict[str, dict[str, dict[str, Value]]] = FILES.toml("sweep.toml")["axis"]
    return found


@cache
def choices() -> tuple[Choice, ...]:
    """Return all readings of all grids, each once."""
    first = {name: next(iter(values)) for name, values in axes().items()}
    found: dict[tuple[str, ...], Choice] = {}
    for grid in FILES.toml("sweep.toml")["grid"]:
        crossed = [[(name, value) for value in grid[name]] for name in axes() if name in grid]
        for combination in itertools.product(*crossed):
            one = Choice(first | dict(combination), grid.get("quick", False))
            key = tuple(one.values.values())
            if key not in found or one.quick:
                found[key] = one
    return tuple(found.values())


def points(effort: Effort) -> list[Computation]:
    """List the runs of the search."""
    return [
        Computation(
            key=one.values,
            name="DDRED table I",
            function=row_of_table,
            arguments={"overrides": {d: one.overrides(d) for d in DISCIPLINES}},
            seeds=effort.sweep_seeds,
            cost=SECONDS_A_ROW,
        )
        for one in choices()
        if one.quick or not effort.quick
    ]


def row_of_table(*, overrides: Mapping[str, Mapping[str, Value]], seed: int) -> dict[str, Any]:
    """Run one seed of Table I: discipline to its eight cells, PCs1 and PCs2 at each latency, in KB/s."""
    return {discipline: _cells(discipline, own, seed) for discipline, own in overrides.items()}


def _cells(discipline: str, overrides: Mapping[str, Value], seed: int) -> list[float]:
    cells = []
    for latency in TABLE_LATENCIES:
        base: dict[str, Value] = {
            "queue.router.aqm": DISCIPLINES[discipline],
            "link.PCs1-R1.delay": f"{latency}ms",
        }
        plan = FILES.scenario("pair", base | dict(overrides))
        output = plan.core.run(seed)
        flows = to_arrow(output["tables"]["flows"], seed=seed).to_pandas().set_index("flow")
        cells += [float(flows.loc[name, "arrived_bytes"]) / plan.duration_s / 1000 for name in FLOWS]
    return cells


def printed(discipline: str) -> np.ndarray:
    """Return the eight printed cells of a row of Table I, in the order of `row_of_table`."""
    places = itertools.product(TABLE_LATENCIES, FLOWS)
    return np.array([FILES.printed(table="I", quantity=q, latency=at, discipline=discipline) for at, q in places])


def results(effort: Effort, root: Path) -> pd.DataFrame:
    """One row per reading, the closest to the printed DDRED row first."""
    answers, rows = answers_of(root), []
    for point in points(effort):
        runs = point.read(root, answers)
        row: dict[str, Any] = dict(point.key)
        for discipline in DISCIPLINES:
            row |= score(np.array([run[discipline] for run in runs]), discipline)
        rows.append(row)
    table = pd.DataFrame(rows)
    table["both error"] = np.sqrt((table["RED error"] ** 2 + table["DDRED error"] ** 2) / 2)
    return table.sort_values("DDRED error", ignore_index=True)


def words(search: pd.DataFrame, effort: Effort) -> str:
    """Say how close the readings come to Table I."""
    best = search.iloc[0]
    inside = int(search["DDRED row inside"].sum())
    return (
        f"{len(search)} readings of what Table I leaves open, {effort.sweep_seeds} seeds each. The closest has an "
        f"error (root mean square of log(measured / printed) over the eight cells) of {best['DDRED error']:.3f} in the "
        f"DDRED row and {best['RED error']:.3f} in the RED row. The printed DDRED row, which is one run, lies inside "
        f"the 95 % prediction interval of one further run under {inside} of them (Bonferroni over the eight cells); "
        f"at most {int(search['DDRED cells inside'].max())} of its cells do so each by itself."
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return results for reading: the axes that differ, the errors, and each row's cells in one column."""
    varied = [name for name in axes() if table[name].nunique() > 1]
    found = table[varied].copy()
    for discipline in DISCIPLINES:
        cells = [[f"{discipline} {latency} ms {name}" for name in FLOWS] for latency in TABLE_LATENCIES]
        pairs = [[f"{row[far]:.0f}/{row[near]:.0f}" for far, near in cells] for _, row in table.iterrows()]
        found[f"{discipline}, KB/s at {'/'.join(map(str, TABLE_LATENCIES))} ms"] = [", ".join(pair) for pair in pairs]
        for what in ("error", "cells inside", "row inside"):
            found[f"{discipline} {what}"] = table[f"{discipline} {what}"]
    return found


def score(runs: np.ndarray, discipline: str) -> dict[str, Any]:
    """Set runs (seeds by cells) beside the printed row: means, error, and prediction intervals."""
    paper = printed(discipline)
    mean = runs.mean(axis=0)
    found: dict[str, Any] = {f"{discipline} error": float(np.sqrt(np.mean(np.log(mean / paper) ** 2)))}
    found[f"{discipline} cells inside"] = int(inside(runs, paper, LEVEL).sum())
    found[f"{discipline} row inside"] = bool(inside(runs, paper, 1 - (1 - LEVEL) / len(paper)).all())
    names = [f"{discipline} {latency} ms {name}" for latency in TABLE_LATENCIES for name in FLOWS]
    return found | {name: float(value) for name, value in zip(names, mean, strict=True)}


def inside(runs: np.ndarray, paper: np.ndarray, level: float) -> np.ndarray:
    """Whether each printed cell lies in the prediction interval of one further run (Student)."""
    half = prediction_factor(len(runs), level=level) * runs.std(axis=0, ddof=1)
    found: np.ndarray = np.abs(paper - runs.mean(axis=0)) <= half
    return found
