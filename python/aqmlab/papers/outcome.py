"""Results of reproductions: a paper with its tables and claims, and several papers together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from aqmlab.reporting.fragments import PaperCard
from aqmlab.results.displays import OneLine
from aqmlab.results.evaluation import Evaluation


@dataclass(frozen=True, repr=False)
class Reproduction(OneLine):
    """A paper reproduced.

    Attributes
    ----------
    paper, name, citation
        Its key, for example ``mred``; its name, for example ``MRED``; and what it is.
    tables
        The paper's tables, published beside measured.
    claims
        A row per claim, baseline and reading: the verdicts of both forms (``literal``, ``strict``: "holds", "fails",
        "no effect", "undecided", "not engaged", or "" if it has no such form), and what was found.
    readings
        How much each reading matters.
    folder
        The runs.
    report
        The HTML page.
    contents
        Anchor and title of every table and figure on the page.
    seeds
        Requested seeds, which most points have.
    seeds_run
        The fewest and the most seeds that a comparison of the claims rests on.
    card
        The paper in ten seconds: idea, finding, verdicts by form, what fails and what was not engaged.
    notice
        That verdicts are preliminary, and the command for the full run; "" for a full run.
    evaluation
        How the runs of the call that made this were evaluated, those of other papers in the same call among them.
    """

    paper: str
    name: str
    citation: str
    tables: dict[str, pd.DataFrame]
    claims: pd.DataFrame
    readings: pd.DataFrame
    folder: Path
    report: Path
    contents: list[tuple[str, str]] = field(default_factory=list)
    seeds: int = 0
    seeds_run: tuple[int, int] = (0, 0)
    card: PaperCard | None = None
    notice: str = ""
    evaluation: Evaluation | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, repr=False)
class Overview(OneLine):
    """Several papers reproduced, each with its page, and one page over all.

    Attributes
    ----------
    papers
        The reproductions, in the order of `aqmlab.papers.registry.PAPERS`.
    claims
        The claims of all, with the column ``paper``.
    report
        The HTML page over all.
    evaluation
        How the runs of the call that made this were evaluated.
    """

    papers: list[Reproduction]
    claims: pd.DataFrame
    report: Path
    evaluation: Evaluation | None = field(default=None, compare=False, repr=False)
