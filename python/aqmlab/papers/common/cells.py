"""Contents of a table cell or a point of a figure: a quantity of some runs, seed by seed, or as printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.papers.common.checks import Value
from aqmlab.papers.common.claim_file import SEED, ClaimFile
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.page_file import SEEDS, Numbers, Where
from aqmlab.papers.common.pairs import table_of_printed
from aqmlab.papers.common.quantities import Kind, quantity_interval
from aqmlab.papers.common.run_table import RunTable
from aqmlab.statistics import Interval, student_quantile
from aqmlab.statistics.estimate import mean_difference

Content = str | float | Interval


def content(numbers: Numbers, runs: RunTable, at: Mapping[str, Value], printed: Printed, place: str) -> Content:
    """Return the content of a cell: an interval, a number, or words.

    Parameters
    ----------
    numbers
        The definition of its content.
    runs
        The runs that it is about.
    at
        The row.
    printed
        The printed numbers.
    place
        The place that errors name.
    """
    if numbers.fit:
        return printed.fit(numbers, runs, at, place)
    if numbers.printed:
        found = printed.number(numbers, at)
        return math.nan if found is None else found
    if numbers.quantity == SEEDS:
        return len(np.unique(runs[SEED][_fits(runs, {**_one(at), **numbers.of}, place)]))
    if numbers.p:
        own, other = sides(numbers, runs, at, place)
        return mean_difference(own - other)[0].p
    return mean_of(numbers, runs, at, place)


def mean_of(numbers: Numbers, runs: RunTable, at: Mapping[str, Value], place: str) -> Interval:
    """Return the mean over the runs of a cell's or a point's quantity, with its interval."""
    return quantity_interval(by_seed(numbers, runs, at, place), numbers.quantity, _kind(numbers))


def _kind(numbers: Numbers) -> Kind:
    if numbers.than is None:
        return Kind.VALUE
    return Kind.RATIO if numbers.ratio else Kind.PERCENT if numbers.relative else Kind.DIFFERENCE


def by_seed(numbers: Numbers, runs: RunTable, at: Mapping[str, Value], place: str) -> np.ndarray:
    """Return a quantity of the runs at a place, or what it is more than that of others, by seed."""
    own, other = sides(numbers, runs, at, place)
    if numbers.than is None:
        return own
    found: np.ndarray = own / other if numbers.ratio else 100 * (own / other - 1) if numbers.relative else own - other
    return found


def sides(numbers: Numbers, runs: RunTable, at: Mapping[str, Value], place: str) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides of a difference, paired by seed; the second is empty without `than`."""
    here = {**_one(at), **numbers.of}
    seeds, own = _series(numbers, runs, here, place)
    if numbers.than is None:
        return own, np.zeros(0)
    others, other = _series(numbers, runs, {**here, **numbers.than}, place)
    _, left, right = np.intersect1d(seeds, others, assume_unique=True, return_indices=True)
    return own[left], other[right]


def select(runs: pd.DataFrame, of: Where, place: str) -> pd.DataFrame:
    """Return the runs with these values."""
    return runs[_fits(RunTable(runs), of, place)]


def _fits(runs: RunTable, of: Where, place: str) -> np.ndarray:
    """Return which runs have these values."""
    for name in of:
        if name not in runs:
            raise InputError(f"{place}: {unknown('column', name, [str(column) for column in runs.frame])}")
    return runs.fits(of)


def _series(numbers: Numbers, runs: RunTable, of: Where, place: str) -> tuple[np.ndarray, np.ndarray]:
    """Return seeds, ascending, and the quantity of each."""
    fits = _fits(runs, of, place)
    name = numbers.quantity
    if name not in runs:
        raise InputError(f"{place}: {unknown('quantity', name, [str(column) for column in runs.frame])}")
    found = runs.by_seed(fits, name, numbers.mean_over)
    if found is None:
        raise InputError(f"{place}: several runs of one seed: name more columns in rows, of or mean_over")
    return found.seeds, np.mean(found.values, axis=1) if numbers.mean_over else found.values.reshape(-1)


def _one(at: Mapping[str, Value]) -> dict[str, tuple[Value, ...]]:
    return {name: (value,) for name, value in at.items()}


@dataclass(frozen=True)
class Printed:
    """The printed numbers, by the quantities that ``claims.toml`` declares."""

    file: ClaimFile
    cells: Sequence[Cell]

    def number(self, numbers: Numbers, at: Mapping[str, Value]) -> float | None:
        """Return the printed number (or difference) at a place; None unless exactly one is printed there."""
        found = [value for _, value in self.numbers(numbers, at)]
        return found[0] if len(found) == 1 else None

    def numbers(self, numbers: Numbers, at: Mapping[str, Value]) -> Iterator[tuple[dict[str, Value], float]]:
        """Give every printed number of a place with the columns that tell where it is; with `than` the differences."""
        here = {**_one(at), **numbers.of, **numbers.paper}
        for name in numbers.quantities:
            for key, value in self._of(name, here):
                if numbers.than is None:
                    yield key, value
                    continue
                for _, other in self._of(name, {**here, **_one(key), **numbers.than}):
                    yield key, 100 * (value / other - 1) if numbers.relative else value - other

    @cached_property
    def _rows(self) -> list[dict[str, Value]]:
        """The printed numbers in the form of runs, formulas included."""
        found = table_of_printed(self.file, self.cells).to_dict("records")
        return [{str(key): value for key, value in row.items()} for row in found]

    def _of(self, name: str, here: Where) -> Iterator[tuple[dict[str, Value], float]]:
        for row in self._rows if name in self.file.quantities else ():
            value = float(row[name])
            if not math.isnan(value) and all(row.get(key, "") in ("", *values) for key, values in here.items()):
                yield {column: row[column] for column in self.file.columns if row[column] != ""}, value

    def fit(self, numbers: Numbers, runs: RunTable, at: Mapping[str, Value], place: str) -> float | str:
        """Return how far printed numbers are met: the root mean square of their errors, or how many are in reach.

        An error is measured - printed, measured / printed - 1 ("relative") or ln(measured / printed) ("log"). A printed
        number is in reach if it lies where one further run would with 95 % probability.
        """
        here = {**_one(at), **numbers.of}
        errors, inside = [], 0
        for name in numbers.quantities:
            one = replace(numbers, quantities=(name,))
            for key, printed in self.numbers(one, at):
                own = {column: (at_column,) for column, at_column in key.items() if column not in numbers.paper}
                found = mean_of(replace(one, of={**here, **own}), runs, {}, place)
                if found.n:
                    errors.append(_error(numbers.fit, found.mean, printed))
                    inside += abs(found.mean - printed) <= reach(found)
        if numbers.fit == "in reach":
            return f"{inside} of {len(errors)}"
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else math.nan


def reach(found: Interval) -> float:
    """Return how far from the mean one further run lies with 95 % probability at most."""
    return student_quantile(0.975, found.n - 1) * found.sd * math.sqrt(1 + 1 / found.n) if found.n > 1 else 0.0


def _error(fit: str, measured: float, printed: float) -> float:
    if fit == "log":
        return math.log(measured / printed)
    return measured / printed - 1 if fit == "relative" else measured - printed
