"""Contents of a table cell or a point of a figure: numbers of some runs, or printed ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.papers.common.expressions import Numbers, Runs, one_of
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.pairs import Pair
from aqmlab.papers.common.run_table import RunTable, table_of_printed
from aqmlab.papers.common.vocabulary import SEED, Choice, Value, Where
from aqmlab.statistics import Interval, prediction_factor
from aqmlab.statistics.estimate import mean_difference


@dataclass(frozen=True)
class P:
    """The p value of a difference."""

    numbers: Numbers


@dataclass(frozen=True)
class Printed:
    """The paper's number (or difference) in place of the measured one.

    Attributes
    ----------
    numbers
        Which number.
    paper
        The columns in which the printed number's place differs from that of `numbers`.
    """

    numbers: Numbers
    paper: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(frozen=True)
class Fit:
    """How far printed numbers are met.

    Attributes
    ----------
    how
        The root mean square of the errors: measured - printed (``difference``), measured / printed - 1 (``relative``)
        or ln(measured / printed) (``log``); or how many are ``in reach``: where one further run would lie with 95 %
        probability.
    numbers
        Which numbers.
    paper
        As for `Printed`.
    """

    how: Literal["difference", "relative", "log", "in reach"]
    numbers: Sequence[Numbers]
    paper: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(frozen=True)
class Count:
    """The number of seeds of some runs."""

    of: Mapping[str, Choice] = field(default_factory=dict)


SEEDS = Count()
"""The number of seeds of a table's row."""
Content = str | Numbers | P | Printed | Fit | Count | Callable[[pd.DataFrame], float]
"""A quantity by its name, one of the above, or a function of a row's runs."""


def select(runs: pd.DataFrame, of: Where, place: str) -> pd.DataFrame:
    """Return the runs with these values."""
    return runs[_fits(RunTable(runs), of, place)]


def _fits(runs: RunTable, of: Where, place: str) -> np.ndarray:
    for name in of:
        if name not in runs:
            raise InputError(f"{place}: {unknown('column', name, [str(column) for column in runs.frame])}")
    return runs.fits(of)


def numbers_of(content: Content, runs: Runs) -> Numbers | None:
    """Return the numbers that a content is about; None for several, or for a count of seeds."""
    if isinstance(content, str):
        return runs.of(content)
    if isinstance(content, P | Printed):
        return content.numbers
    return content if isinstance(content, Numbers) else None


def pair_at(numbers: Numbers, runs: RunTable, at: Where, place: str) -> Pair | None:
    """Return both sides of numbers at a place; None without runs."""
    here = replace(numbers, of={**at, **numbers.of}, per=())
    return next(iter(here.pairs(runs, place=place)), None)


def mean_at(numbers: Numbers, runs: RunTable, at: Where, place: str) -> Interval:
    """Return the mean over the runs at a place, with its interval."""
    return numbers.interval(pair_at(numbers, runs, at, place))


@dataclass(frozen=True)
class Cells:
    """Evaluates contents.

    Attributes
    ----------
    runs
        The table of runs as expressions see it.
    cells
        The printed numbers.
    """

    runs: Runs
    cells: Sequence[Cell]

    def value(self, content: Content, table: RunTable, at: Where, place: str) -> str | float | Interval:
        """Return an interval, a number, or words; `at` selects the row's runs, and errors name `place`."""
        if isinstance(content, Fit):
            return self.fit(content, table, at, place)
        if isinstance(content, Count):
            return len(np.unique(table[SEED][_fits(table, {**at, **self.runs.where(content.of)}, place)]))
        if isinstance(content, Printed):
            found = self.printed(content, at)
            return math.nan if found is None else found
        if isinstance(content, P):
            pair = pair_at(content.numbers, table, at, place)
            return mean_difference(np.zeros(0) if pair is None else content.numbers.difference(pair))[0].p
        if callable(content):
            return content(select(table.frame, at, place))
        return mean_at(self.runs.of(content) if isinstance(content, str) else content, table, at, place)

    def printed(self, content: Content, at: Where) -> float | None:
        """Return the printed number of a content at a place; None unless exactly one is printed there."""
        numbers, paper = numbers_of(content, self.runs), content.paper if isinstance(content, Printed) else {}
        found = [] if numbers is None else [value for _, value in self.all_printed(numbers, at, paper)]
        return found[0] if len(found) == 1 else None

    def all_printed(
        self, numbers: Numbers, at: Where, paper: Mapping[str, Choice]
    ) -> Iterator[tuple[dict[str, Value], float]]:
        """Give every printed number of a place with the columns that tell where it is; or the differences."""
        here = {**at, **numbers.of, **self.runs.where(paper)}
        for key, value in self._printed(numbers.quantity, here):
            if numbers.than is None:
                yield key, value
                continue
            for _, other in self._printed(numbers.quantity, {**here, **one_of(key), **numbers.than}):
                pair = Pair(key, np.array([value]), np.array([other]))
                yield key, float(numbers.difference(pair)[0])

    @cached_property
    def _rows(self) -> list[dict[str, Value]]:
        """The printed numbers in the form of runs, formulas included."""
        found = table_of_printed(self.runs.words, self.cells).to_dict("records")
        return [{str(key): value for key, value in row.items()} for row in found]

    def _printed(self, name: str, here: Where) -> Iterator[tuple[dict[str, Value], float]]:
        for row in self._rows if name in self.runs.words.quantities else ():
            value = float(row[name])
            if not math.isnan(value) and all(_met(row.get(key, ""), values) for key, values in here.items()):
                yield {column: row[column] for column in self.runs.words.columns if row[column] != ""}, value

    def fit(self, content: Fit, table: RunTable, at: Where, place: str) -> float | str:
        """Return how far printed numbers are met."""
        errors, inside = [], 0
        for numbers in content.numbers:
            here = {**at, **numbers.of}
            for key, printed in self.all_printed(numbers, at, content.paper):
                own = one_of({column: value for column, value in key.items() if column not in content.paper})
                found = mean_at(replace(numbers, of={**here, **own}), table, {}, place)
                if found.n:
                    errors.append(_error(content.how, found.mean, printed))
                    inside += abs(found.mean - printed) <= reach(found)
        if content.how == "in reach":
            return f"{inside} of {len(errors)}"
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else math.nan


def _met(value: Value, values: object) -> bool:
    """Whether a printed number's column has one of some values, or none."""
    return value == "" or value in values  # type: ignore[operator]


def reach(found: Interval) -> float:
    """Return how far from the mean one further run lies with 95 % probability at most."""
    return prediction_factor(found.n) * found.sd if found.n > 1 else 0.0


def _error(how: str, measured: float, printed: float) -> float:
    if how == "log":
        return math.log(measured / printed)
    return measured / printed - 1 if how == "relative" else measured - printed
