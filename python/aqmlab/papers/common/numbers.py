"""Numbers in the sentences of ``claims.toml``: the words for ``{name}``, from the runs and the printed numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aqmlab.papers.common.claim_file import ClaimFile, Number, Other, Test, Value, Where
from aqmlab.papers.common.pairs import Pair, pairs_of
from aqmlab.papers.common.quantities import Kind, quantity_interval
from aqmlab.papers.common.run_table import RunTable
from aqmlab.reporting.fragments import bounded

ROUNDING = 1e-9
"""An interval that is narrower than this share of the mean is that of rounding."""
MISSING = "not run"
"""Stands where there are no runs of a number."""


@dataclass(frozen=True)
class NumberWords:
    """A number in a text: one value, or one for each cell.

    Attributes
    ----------
    text
        The mean with its 95 % interval.
    at
        The cells.
    printed
        The printed numbers.
    """

    text: str
    at: str
    printed: str

    def __str__(self) -> str:
        return self.text


def number_words(
    file: ClaimFile,
    number: Number,
    runs: RunTable,
    printed: RunTable,
    *,
    place: str,
    baseline: Where | None = None,
) -> NumberWords:
    """Return the words for one number.

    Parameters
    ----------
    file, number
        The claims, and which number.
    runs, printed
        The tables that `table_of_runs` and `table_of_printed` return.
    place
        The place that errors name.
    baseline
        The runs that a number with ``against`` is compared with.
    """
    test = number.test
    where: Where = (baseline or {}) if number.against else {}
    found = list(pairs_of(file, place, test, test.quantities[0], where, runs))
    known = {name: values for name, values in test.of.items() if (printed[name] != "").any()}
    paper = list(pairs_of(file, place, replace(test, of=known), test.quantities[0], where, printed))
    signed = number.relative or any(pair.b is not None for pair in found)
    words = [_words(test, pair, relative=number.relative, signed=signed) for pair in found]
    at = [", ".join(_place(file, test, pair)) for pair in found]
    form = "+.4g" if signed else ".6g"
    on_paper = [f"{float(np.mean(_difference(pair, relative=number.relative))):{form}}" for pair in paper]
    return NumberWords(listed(words) or MISSING, listed(at), listed(on_paper) or "not printed")


def _words(test: Test, pair: Pair, *, relative: bool, signed: bool) -> str:
    other = test.than.quantity if isinstance(test.than, Other) else ""
    kind = Kind.VALUE if pair.b is None else Kind.PERCENT if relative else Kind.DIFFERENCE
    found = quantity_interval(_difference(pair, relative=relative), test.quantities[0], kind, other)
    ends = (found.low, found.high) if found.half_width > ROUNDING * abs(found.mean) else (found.mean, found.mean)
    return bounded(found.mean, *ends, signed=signed)


def _difference(pair: Pair, *, relative: bool) -> np.ndarray:
    if pair.b is None:
        return pair.a
    difference: np.ndarray = pair.a - pair.b
    return 100 * difference / pair.b if relative else difference


def _place(file: ClaimFile, test: Test, pair: Pair) -> list[str]:
    """Write the values of a cell without the titles of their columns, which the sentence names."""

    def word(name: str, value: Value) -> str:
        column = file.column(name)
        return str(value) if column.title else column.words(value)

    return [word(name, pair.at[name]) for name in test.each if name in pair.at]


def listed(words: list[str]) -> str:
    """Join words with commas and a last "and".

    >>> listed(["4", "10", "20"]), listed(["4"]), listed([])
    ('4, 10 and 20', '4', '')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
