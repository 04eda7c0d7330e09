"""Contents of a paper's page, which its own functions supply: sections of text, tables, figures and networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from aqmlab.figures.chart import Chart
from aqmlab.reporting.flowchart import FlowChart
from aqmlab.reporting.intervals import intervals_text
from aqmlab.scenario.file import Scenario

READINGS, PROVENANCE = "Readings", "Provenance"
"""Titles of sections whose contents follow those of the shared sections of the same title."""


@dataclass(frozen=True)
class Text:
    """A paragraph, or with `note` a remark in small type; an empty one is left out."""

    says: str
    heading: str = ""
    note: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name, numbers
        The name of its file, and its numbers; None for a table that is not kept.
    shown
        The table for reading, if it is not the numbers with each mean and its interval in one cell.
    kept_only
        Whether it is a file alone, and not on the page.
    heading, listed, caption, digits
        The heading above it and whether the overview lists it, the sentence with it, and the digits of its numbers.
    """

    name: str
    numbers: pd.DataFrame | None
    shown: pd.DataFrame | None = None
    kept_only: bool = False
    heading: str = ""
    listed: bool = True
    caption: str = ""
    digits: int = 5

    @property
    def for_reading(self) -> pd.DataFrame | None:
        """The table on the page; None if it is not there."""
        if self.kept_only or self.numbers is None:
            return None if self.kept_only else self.shown
        return intervals_text(self.numbers) if self.shown is None else self.shown


@dataclass(frozen=True)
class Figure:
    """A chart or a flow chart, and the command that makes it again ("" for that of the whole report)."""

    chart: Chart | FlowChart
    caption: str = ""
    command: str = ""


@dataclass(frozen=True)
class Network:
    """The drawing of a scenario's network."""

    name: str
    plan: Scenario
    title: str
    caption: str = ""


@dataclass(frozen=True)
class Code:
    """A text as it stands, folded under a heading."""

    text: str
    fold: str


Block = Text | Table | Figure | Network | Code


@dataclass(frozen=True)
class Section:
    """A section of the page."""

    title: str
    blocks: Sequence[Block]
