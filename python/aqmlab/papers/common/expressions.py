"""The expressions in which a paper's claims, sentences, tables and figures speak of its runs.

`Runs.of` selects a quantity of some runs and `Runs.gain` a difference, as `Numbers`. A comparison of numbers is a
`Test`, which `engine` executes and `prose` writes as a sentence. In a text, numbers stand for themselves: the mean over
the runs with its 95 % interval, one for each cell.

>>> runs = Runs(Vocabulary({"n": Column("n"), "discipline": Column()}, {"loss": Quantity("loss")}))
>>> test = runs.gain("loss", "MRED", over="RED").drop(n=30).mean_over("n") < 0
>>> test.compare, test.numbers.over, f"{test.numbers}"
('below', ('n',), 'not run')
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, joined, unknown
from aqmlab.papers.common.claims import COUNTED, LITERAL, STRICT
from aqmlab.papers.common.pairs import Pair, Selection, Steps, pairs_of
from aqmlab.papers.common.quantities import Kind, bounds_of, quantity_interval
from aqmlab.papers.common.run_table import RunTable, table_of_runs
from aqmlab.papers.common.vocabulary import Choice, Column, Quantity, Value, Vocabulary, Where
from aqmlab.reporting.fragments import bounded
from aqmlab.statistics import Interval, Verdict

__all__ = ["Column", "Numbers", "Quantity", "Runs", "Test", "Vocabulary", "literal", "strict"]

Comparison = Literal["above", "below", "equal", "between", "grows", "falls"]
ROUNDING = 1e-9
"""An interval that is narrower than this share of the mean is that of rounding."""
MISSING = "not run"
"""Stands in texts where there are no runs of a number."""
NOT_PRINTED = "not printed"


class UnknownReadingError(InputError):
    """The label of no reading of the paper."""


@dataclass(frozen=True)
class Tables:
    """The runs and printed numbers from which texts take their numbers.

    Attributes
    ----------
    runs, printed
        The runs of one reading, and the printed numbers.
    others
        The runs of all readings, with the column ``reading``; None without others.
    readings
        Labels of the readings that may be named although none of their runs is there; None allows any.
    """

    runs: RunTable
    printed: RunTable
    others: pd.DataFrame | None = None
    readings: Sequence[str] | None = None
    _known: dict[str, RunTable] = field(default_factory=dict)

    def under(self, words: Vocabulary, reading: str) -> RunTable:
        """Return the runs of one reading by its label; "" for the one that was judged."""
        if not reading:
            return self.runs
        if reading not in self._known:
            none, others = self.runs.frame.iloc[:0], self.others
            if self.readings is not None:
                there = () if others is None else map(str, others["reading"].unique())
                known = list(dict.fromkeys([*self.readings, *there]))
                if reading not in known:
                    raise UnknownReadingError(f"under: {unknown('reading', reading, known)}")
            own = none if others is None else table_of_runs(words, others[others["reading"] == reading])
            self._known[reading] = RunTable(own)
        return self._known[reading]


@dataclass(frozen=True)
class Runs:
    """The table of runs as a function of a paper sees it.

    Attributes
    ----------
    words
        Its columns and quantities.
    tables
        The numbers; None where only sentences are made.
    declared
        Whether all columns must be declared, as those of claims.
    verdicts
        The verdict on each form of the claim that a text belongs to.
    used
        The numbers that a text has used.
    """

    words: Vocabulary
    tables: Tables | None = None
    declared: bool = True
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    used: list[Numbers] = field(default_factory=list)

    def of(self, quantity: str, compared: str = "", /, **where: Choice) -> Numbers:
        """Return a quantity of some runs.

        Parameters
        ----------
        quantity
            A declared quantity.
        compared
            A compared discipline; "" for all.
        where
            Values of further columns.

        Raises
        ------
        InputError
            If a column or value is not declared.
        """
        if self.declared:
            self.words.quantity(quantity)
        chosen = {self.words.compared: compared, **where} if compared else where
        return Numbers(quantity=quantity, of=self.where(chosen), runs=self)

    def gain(self, quantity: str, compared: str, /, *, over: str, **where: Choice) -> Numbers:
        """Return the difference of a quantity between two of the compared disciplines, paired by seed."""
        return self.of(quantity, compared, **where).less(over)

    def where(self, chosen: Mapping[str, Choice]) -> Where:
        """Return checked columns and values."""
        return self.words.where(chosen, declared=self.declared)

    @property
    def literal(self) -> str:
        """The verdict on the literal form as a verb, such as "holds" or "is undecided"."""
        return self._said(LITERAL)

    @property
    def strict(self) -> str:
        """The verdict on the strict form as a verb."""
        return self._said(STRICT)

    def _said(self, form: str) -> str:
        return COUNTED[self.verdicts[form]][0] if form in self.verdicts else "was not judged"


@dataclass(frozen=True, kw_only=True)
class Numbers(Selection):
    """A quantity of some runs, or its difference from (or ratio to) that of others, seed by seed.

    Attributes
    ----------
    runs
        The table that it is about.
    kind
        A difference, a ratio or a change in per cent, if there is another side.
    reading
        The label of another reading whose runs are meant.
    """

    runs: Runs = field(compare=False, repr=False)
    kind: Kind = Kind.DIFFERENCE
    reading: str = ""

    def less(self, compared: str = "", /, *, quantity: str = "", **where: Choice) -> Numbers:
        """Return the difference from other runs; the arguments are the columns in which they differ."""
        chosen = {self.runs.words.compared: compared, **where} if compared else where
        return replace(self, than=self.runs.where(chosen), other=quantity)

    def at(self, **where: Choice) -> Numbers:
        """Include only these values of columns, on both sides."""
        return replace(self, limits={**self.limits, **self.runs.where(where)})

    def drop(self, **where: Choice) -> Numbers:
        """Leave out these values of columns, on both sides."""
        return replace(self, without={**self.without, **self.runs.where(where)})

    def each(self, *columns: str) -> Numbers:
        """Make a cell for each combination of the values of these columns; ``seed`` may be one, in exact tests."""
        return replace(self, per=self._declared(columns))

    def mean_over(self, *columns: str) -> Numbers:
        """Take the mean over the values of these columns, seed by seed."""
        return replace(self, over=self._declared(columns))

    def _declared(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        if self.runs.declared:
            for name in columns:
                self.runs.words.column(name)
        return columns

    def percent(self) -> Numbers:
        """Return the difference in per cent of the other side."""
        return self._as(Kind.PERCENT)

    def ratio(self) -> Numbers:
        """Return the ratio to the other side."""
        return self._as(Kind.RATIO)

    def under(self, reading: str) -> Numbers:
        """Take the runs of another reading, by its label."""
        return replace(self, reading=reading)

    def _as(self, kind: Kind) -> Numbers:
        if self.than is None:
            raise InputError(f"{self.quantity}: a ratio or a change in per cent needs other runs: less(...)")
        return replace(self, kind=kind)

    # Comparisons

    def __gt__(self, other: float | Numbers | Scaled) -> Test:
        """Claim that it is above a number, or above other numbers of the same cells."""
        return self.above(other)

    def __lt__(self, other: float | Numbers | Scaled) -> Test:
        """Claim that it is below a number, or below other numbers of the same cells."""
        return self.below(other)

    def __rmul__(self, factor: float) -> Scaled:
        """Return it as the multiplied other side of a comparison."""
        return Scaled(factor, self)

    def above(self, other: float | Numbers | Scaled, *, margin: float = 0.0) -> Test:
        """Claim that it is above something; with `margin`, not below it by as much."""
        if self.than is not None and isinstance(other, int | float):
            return Test(self, "above", margin=margin - other)
        return self._against(other, "above", margin=margin)

    def below(self, other: float | Numbers | Scaled, *, margin: float = 0.0) -> Test:
        """Claim that it is below something; with `margin`, not above it by as much."""
        if self.than is not None and isinstance(other, int | float):
            return Test(self, "below", margin=margin + other)
        return self._against(other, "below", margin=margin)

    def equals(self, other: float | Numbers, *, within: float) -> Test:
        """Claim that it differs from something by less than `within`."""
        if within <= 0:
            raise InputError(f"{self.quantity}: equals needs a difference within that is above 0")
        if self.than is not None and other == 0:
            return Test(self, "equal", within=within)
        return self._against(other, "equal", within=within)

    def between(self, low: float, high: float, *, times: Numbers | None = None) -> Test:
        """Claim that it lies between two numbers, or between two multiples of other numbers."""
        if times is None:
            return Test(self, "between", bound=(float(low), float(high)))
        return replace(self._against(times, "between"), factor=(float(low), float(high)))

    def grows(self, along: str, *, steps: Steps = "each") -> Test:
        """Claim that it grows with a column, from each value to the next, or from the lowest to the highest."""
        return Test(self, "grows", along=self.runs.words.known(along, "column"), steps=steps)

    def falls(self, along: str, *, steps: Steps = "each") -> Test:
        """Claim that it falls with a column."""
        return replace(self.grows(along, steps=steps), compare="falls")

    def _against(
        self, other: float | Numbers | Scaled, compare: Comparison, *, margin: float = 0.0, within: float = 0.0
    ) -> Test:
        factor: tuple[float, ...] = ()
        if isinstance(other, Scaled):
            factor, other = (float(other.factor),), other.numbers
        if not isinstance(other, Numbers):
            return Test(self, compare, bound=(float(other),), margin=margin, within=within)
        return Test(self._compared(other), compare, factor=factor, margin=margin, within=within)

    def _compared(self, other: Numbers) -> Numbers:
        """Return the difference from other numbers."""
        missing = [name for name in self.of if name not in other.of]
        if missing or self.than is not None or other.than is not None:
            raise InputError(f"{self.quantity}: the other side must select values of {', '.join(missing) or 'runs'}")
        than = {name: values for name, values in other.of.items() if self.of.get(name) != values}
        return replace(self, than=than, other=other.quantity if other.quantity != self.quantity else "")

    # Values

    def pairs(self, table: RunTable, *, place: str = "", along: str = "", steps: Steps = "each") -> list[Pair]:
        """Return both sides of every cell; see `pairs_of`."""
        return list(pairs_of(self.runs.words, self, table, place=place, along=along, steps=steps))

    def difference(self, pair: Pair) -> np.ndarray:
        """Return the difference (or ratio, or change in per cent) by seed."""
        if pair.b is None:
            return pair.a
        if self.kind is Kind.RATIO:
            return np.asarray(pair.a / pair.b)
        return np.asarray(100 * (pair.a / pair.b - 1) if self.kind is Kind.PERCENT else pair.a - pair.b)

    def interval(self, pair: Pair | None) -> Interval:
        """Return the mean over the seeds with its 95 % interval; of no number without a pair."""
        kind = Kind.VALUE if self.than is None else self.kind
        return quantity_interval([] if pair is None else self.difference(pair), self.quantity, kind, self.other)

    @property
    def intervals(self) -> list[Interval]:
        """The mean of every cell with its interval."""
        return [self.interval(pair) for pair in self._pairs()]

    @property
    def only(self) -> Interval:
        """The mean of its only cell with its interval; of no number without runs."""
        return next(iter(self.intervals), self.interval(None))

    @property
    def mean(self) -> float:
        """The mean of its only cell; NaN without runs."""
        return self.only.mean

    def __str__(self) -> str:
        """Write the mean of every cell with its interval: ``4 ± 1, 5 ± 2 and 6 ± 1``."""
        words = []
        for one in self.intervals:
            scattered = one.half_width > ROUNDING * abs(one.mean)
            low, high = (one.low, one.high) if scattered else (one.mean, one.mean)
            words.append(bounded(one.mean, low, high, signed=self.signed))
        return joined(words) or MISSING

    @property
    def cells(self) -> str:
        """The cells in words: "5 and 10", where the sentence names the column, or "TCP alone at n = 5 and ..."."""
        return joined([" at ".join(self._place(pair)) for pair in self._pairs()])

    @property
    def printed(self) -> list[float]:
        """The printed number of every cell of which there is one."""
        tables = self._tables()
        if tables is None:
            return []
        table = tables.printed
        known = {name: values for name, values in self.of.items() if name in table and (table[name] != "").any()}
        return [float(np.mean(self.difference(pair))) for pair in replace(self, of=known).pairs(table)]

    @property
    def on_paper(self) -> str:
        """The printed numbers in words."""
        form = "+.4g" if self.signed else ".6g"
        return joined([f"{one:{form}}" for one in self.printed]) or NOT_PRINTED

    @property
    def signed(self) -> bool:
        """Whether it is a difference or a correlation, which are shown with their sign."""
        if self.than is None:
            return -math.inf < bounds_of(self.quantity)[0] < 0
        return self.kind is not Kind.RATIO

    def _tables(self) -> Tables | None:
        if not any(one is self for one in self.runs.used):
            self.runs.used.append(self)
        return self.runs.tables

    def _pairs(self) -> list[Pair]:
        tables = self._tables()
        return [] if tables is None else self.pairs(tables.under(self.runs.words, self.reading), place=self.quantity)

    def _place(self, pair: Pair) -> list[str]:
        columns = {name: self.runs.words.column(name) for name in self.per if name in pair.at}
        bare = len(columns) == 1
        return [str(pair.at[name]) if bare and one.title else one.words(pair.at[name]) for name, one in columns.items()]


@dataclass(frozen=True)
class Scaled:
    """Numbers multiplied by a factor, as the other side of a comparison."""

    factor: float
    numbers: Numbers


@dataclass(frozen=True)
class Mechanism:
    """The condition under which the mechanism of a claim acted: some run of a cell (or the total) meets a test."""

    test: Test
    total: bool = False


@dataclass(frozen=True)
class Test:
    """A comparison of numbers that runs decide, cell by cell.

    Attributes
    ----------
    numbers, compare
        The compared numbers, and how.
    bound
        The numbers that they are compared with; empty if with other runs.
    factor
        The other side is multiplied by it; for ``between`` two of them.
    margin
        ``above`` and ``below`` tolerate a difference of less than this on the other side.
    within
        The largest difference that counts as none.
    along, steps
        The column with which numbers grow or fall, and the compared values of it.
    no_effect
        A difference of less than this in either direction counts as no effect; 0: half of the printed one.
    by_chance
        Whether runs scatter; not for calculated numbers, and not for a cell that is a single run.
    mechanism
        The condition under which a cell is engaged.
    form, name, why
        Form of the claim, the question that is answered, and the reason for a number in the test.
    """

    numbers: Numbers
    compare: Comparison
    bound: tuple[float, ...] = ()
    factor: tuple[float, ...] = ()
    margin: float = 0.0
    within: float = 0.0
    along: str = ""
    steps: Steps = "each"
    no_effect: float = 0.0
    by_chance: bool = True
    mechanism: Mechanism | None = None
    form: str = LITERAL
    name: str = ""
    why: str = ""

    __test__ = False  # not a test of pytest's

    def __post_init__(self) -> None:
        """Check that it is about numbers or differences.

        Raises
        ------
        InputError
            If it is about a ratio or a change in per cent, or asks whether a difference lies between two numbers.
        """
        numbers = self.numbers
        if numbers.than is not None and numbers.kind is not Kind.DIFFERENCE:
            raise InputError(
                f"{numbers.quantity}: no test of ratio() or percent(); compare with a multiple: a < 1.1 * b"
            )
        if numbers.than is not None and self.compare == "between" and self.bound:
            raise InputError(
                f"{numbers.quantity}: between(low, high) is not about a difference; use equals(0, within=d)"
            )

    def exact(self) -> Test:
        """Decide it by the numbers alone: they are calculated, or each cell is one run."""
        return replace(self, by_chance=False)

    def no_effect_below(self, margin: float) -> Test:
        """Count a difference of less than `margin` as no effect, where the claim is undecided otherwise."""
        return replace(self, no_effect=margin)

    def where(self, condition: Test, *, total: bool = False) -> Test:
        """Count only cells in which some run meets a condition; with `total`, the sum over the runs."""
        return replace(self, mechanism=Mechanism(condition, total))

    def __bool__(self) -> bool:
        """Raise an error: a test has no truth value, so that chained comparisons are mistakes.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a comparison of numbers is a test, which runs decide later; yield it")


def literal(test: Test, *, name: str = "", why: str = "") -> Test:
    """Return a test of a claim's literal form; `name` is the question it answers, `why` the reason for a number."""
    return replace(test, form=LITERAL, name=name, why=why)


def strict(test: Test, *, name: str = "", why: str = "") -> Test:
    """Return a test of a claim's strict form."""
    return replace(test, form=STRICT, name=name, why=why)


def one_of(at: Mapping[str, Value]) -> Where:
    """Return a place as a selection of columns."""
    return {name: (value,) for name, value in at.items()}
