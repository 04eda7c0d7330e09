"""Columns and quantities of a paper's table of runs: their names in sentences, and the values that they may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.errors import InputError, unknown

Value = str | int | float
SEED = "seed"


@dataclass(frozen=True)
class Range:
    """Values from `low` to `high`, both included."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        """Whether a value is in the range."""
        return isinstance(value, int | float) and self.low <= value <= self.high


Choice = Value | Sequence[Value] | Range
"""One value of a column, several, or a range."""
Where = Mapping[str, tuple[Value, ...] | Range]


@dataclass(frozen=True)
class Column:
    """A column that identifies runs.

    Attributes
    ----------
    title
        Its name before a value in sentences, as in "n = 5"; "" shows the value alone.
    values
        The values that it may have, in order, or each with its words; None allows any.
    """

    title: str = ""
    values: Mapping[Any, str] | Sequence[Value] | None = None

    @property
    def labels(self) -> Mapping[Any, str]:
        """The words for values that have some."""
        return self.values if isinstance(self.values, Mapping) else {}

    def words(self, value: Value) -> str:
        """Write one value.

        >>> Column("n").words(5), Column(values={"sole": "TCP alone"}).words("sole")
        ('n = 5', 'TCP alone')
        """
        text = self.labels.get(value, str(value))
        return f"{self.title} = {text}" if self.title else text

    def place(self, value: Value) -> int:
        """Return the position of a value in the declared order; undeclared values come last."""
        declared = list(self.values or ())
        return declared.index(value) if value in declared else len(declared)


@dataclass(frozen=True)
class Quantity:
    """A number of each run.

    Attributes
    ----------
    title, unit
        Its words.
    column
        Its column in the table of runs; "" for its own name.
    formula
        In place of a column: an expression of other quantities and columns, as `pandas.DataFrame.eval` takes it.
    printed
        Its ``quantity`` in ``published.csv``, or several columns of that file with their values.
    """

    title: str
    unit: str = ""
    column: str = ""
    formula: str = ""
    printed: Mapping[str, Value] | str = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Title and unit, for tables.

        >>> Quantity("wait", "ms").label, Quantity("loss").label
        ('wait, ms', 'loss')
        """
        return ", ".join(filter(None, (self.title, self.unit)))

    @property
    def on_paper(self) -> Mapping[str, Value]:
        """The columns of ``published.csv`` that select its printed numbers; empty if none are printed."""
        if isinstance(self.printed, str):
            return {"quantity": self.printed} if self.printed else {}
        return self.printed


class Vocabulary:
    """The columns and quantities of a paper; `compared` is the column of the compared disciplines.

    Raises
    ------
    InputError
        If a quantity has both a column and a formula.
    """

    def __init__(
        self, columns: Mapping[str, Column], quantities: Mapping[str, Quantity], *, compared: str = "discipline"
    ) -> None:
        for name, quantity in quantities.items():
            if quantity.column and quantity.formula:
                raise InputError(f"quantity {name}: either column or formula, not both")
        self.columns, self.compared = columns, compared
        self.quantities = {
            name: one if one.column or one.formula else replace(one, column=name) for name, one in quantities.items()
        }

    def column(self, name: str) -> Column:
        """Return a declared column, or that of seeds."""
        if name == SEED:
            return Column(SEED)
        return self.columns[self.known(name, "column")]

    def quantity(self, name: str) -> Quantity:
        """Return a declared quantity."""
        return self.quantities[self.known(name, "quantity")]

    def known(self, name: str, kind: str) -> str:
        """Return the name of a declared column or quantity.

        Raises
        ------
        InputError
            If it is not declared.
        """
        declared = self.columns if kind == "column" else self.quantities
        if name not in declared:
            raise InputError(unknown(kind, name, list(declared)))
        return name

    def where(self, chosen: Mapping[str, Choice], *, declared: bool = True) -> Where:
        """Return columns with tuples of values; with `declared`, both must be declared."""
        found: dict[str, tuple[Value, ...] | Range] = {}
        for name, choice in chosen.items():
            found[name] = values = choice if isinstance(choice, Range) else values_of(choice)
            if not declared:
                continue
            allowed = self.columns[self.known(name, "column")].values
            for value in values if allowed is not None and isinstance(values, tuple) else ():
                if value not in (allowed or ()):
                    raise InputError(unknown(name, str(value), [str(one) for one in allowed or ()]))
        return found


def values_of(choice: Value | Sequence[Value]) -> tuple[Value, ...]:
    """Return one value or several as a tuple."""
    return (choice,) if isinstance(choice, str | int | float) else tuple(choice)
