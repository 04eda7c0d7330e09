"""The one finding of a paper: the sentence of ``[finding]`` in ``claims.toml``, with numbers of the runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from aqmlab.papers.common.claim_file import FINDING, Claim, ClaimFile
from aqmlab.papers.common.engine import overall, parts_of
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.numbers import number_words
from aqmlab.papers.common.pairs import table_of_printed, table_of_runs
from aqmlab.papers.common.run_table import RunTable
from aqmlab.statistics import Verdict


@dataclass(frozen=True)
class PaperFinding:
    """The paper's idea and the one finding, in words.

    Attributes
    ----------
    idea
        The paper's idea in one sentence.
    verdict
        The verdict of the tests behind the finding.
    says
        The finding in one sentence, as the verdict has it.
    shows
        The numbers behind it, with 95 % intervals.
    """

    idea: str
    verdict: Verdict
    says: str
    shows: str


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
    table, paper = RunTable(table_of_runs(file, runs)), RunTable(table_of_printed(file, cells))
    claim = Claim(FINDING, "", "", text.tests)
    parts = [part for test in text.tests for part in parts_of(file, claim, test, "", table)]
    engaged = [part for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    if not engaged:
        return None
    verdict = overall(claim, engaged)
    numbers = {
        name: number_words(file, number, table, paper, place=f"claims.toml: {FINDING}")
        for name, number in text.numbers.items()
    }
    return PaperFinding(text.idea, verdict, text.says[str(verdict)], text.shows.format(**numbers))
