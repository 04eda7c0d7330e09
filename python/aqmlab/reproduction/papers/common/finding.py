"""The one finding of a paper: the sentence of ``[finding]`` in ``claims.toml``, with numbers of the runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aqmlab.reporting.fragments import plus_minus
from aqmlab.reproduction.papers.common.claim_file import FINDING, Claim, ClaimFile, FindingText, Test, Value
from aqmlab.reproduction.papers.common.engine import Pair, overall, pairs_of, parts_of, table_of_printed, table_of_runs
from aqmlab.reproduction.papers.common.files import Cell
from aqmlab.statistics import Verdict, interval

MISSING = "not run"
"""Stands where there are no runs of a number."""


@dataclass(frozen=True)
class PaperFinding:
    """The paper's idea and the one finding, in words.

    Attributes
    ----------
    idea
        The paper's idea in one sentence.
    verdict
        What the tests behind the finding say.
    says
        The finding in one sentence, as the verdict has it.
    shows
        The numbers behind it, with 95 % intervals.
    """

    idea: str
    verdict: Verdict
    says: str
    shows: str


@dataclass(frozen=True)
class _Number:
    """A number in the template: one value, or one for each cell.

    Attributes
    ----------
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


def find(file: ClaimFile, runs: pd.DataFrame, *, cells: Iterable[Cell] = ()) -> PaperFinding | None:
    """Fill in the finding from the runs; None if the file declares none, or no test of it has runs.

    Parameters
    ----------
    file
        The claims and the finding.
    runs
        A row per run, as in `execute_claims`; of all readings that the finding is about.
    cells
        The printed numbers.
    """
    text = file.finding
    if text is None:
        return None
    table, paper = table_of_runs(file, runs), table_of_printed(file, cells)
    claim = Claim(FINDING, "", "", text.tests)
    parts = [part for test in text.tests for part in parts_of(file, claim, test, "", table)]
    engaged = [part for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    if not engaged:
        return None
    verdict = overall(claim, engaged)
    numbers = {name: _number(file, claim, text, name, table, paper) for name in text.numbers}
    return PaperFinding(text.idea, verdict, text.says[str(verdict)], text.shows.format(**numbers))


def _number(
    file: ClaimFile, claim: Claim, text: FindingText, name: str, runs: pd.DataFrame, printed: pd.DataFrame
) -> _Number:
    test, relative = text.numbers[name], name in text.relative
    found = list(pairs_of(file, claim, test, test.quantities[0], {}, runs))
    known = {name: where for name, where in test.of.items() if (printed[name] != "").any()}
    paper = list(pairs_of(file, claim, replace(test, of=known), test.quantities[0], {}, printed))
    signed = relative or any(pair.b is not None for pair in found)
    words = [_words(pair, relative=relative, signed=signed) for pair in found]
    at = [", ".join(_place(file, test, pair)) for pair in found]
    form = "+.3g" if signed else ".4g"
    on_paper = [f"{float(np.mean(_difference(pair, relative=relative))):{form}}" for pair in paper]
    return _Number(listed(words) or MISSING, listed(at), listed(on_paper) or "not printed")


def _words(pair: Pair, *, relative: bool, signed: bool) -> str:
    found = interval(_difference(pair, relative=relative))
    return plus_minus(found.mean, found.half_width, signed=signed)


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
