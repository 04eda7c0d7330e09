"""Contents of a page as plain data: claims, the cells of tables, numbers with a given number of digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from markupsafe import Markup

from aqmlab.errors import MINUS, minus
from aqmlab.reporting.rendering import MARKS
from aqmlab.statistics.text import interval_text

if TYPE_CHECKING:
    from aqmlab.figures.chart import Chart, Heat
    from aqmlab.statistics import Interval

WIDEST_CELL = 48
"""Characters of a text that stays on one line in its cell."""


@dataclass(frozen=True)
class ClaimLine:
    """One line of a list of claims: the verdict of each form ("" for none), whose it is, and where its details are."""

    literal: str
    strict: str
    paper: str
    claim: str
    title: str
    href: str


@dataclass(frozen=True)
class Tally:
    """How many verdicts of each kind one form of the claims has: verdict, number, and the word after the number."""

    form: str
    counts: list[tuple[str, int, str]]


@dataclass(frozen=True)
class ClaimMention:
    """A claim on a card: its id and title, the subject of the verdict ("strict form, as printed"), its details."""

    claim: str
    title: str
    about: str
    href: str


@dataclass(frozen=True)
class PaperCard:
    """A paper in ten seconds.

    Attributes
    ----------
    name, href
        Its name and its page; "" on this page itself.
    idea
        The paper's proposal, in one sentence.
    finding, shows
        The one finding, and the numbers behind it; "" without a finding.
    tallies
        The verdicts by form.
    groups
        Headings ("Fails", "Not engaged"), each with its claims.
    run
        How much was run.
    picture, picture_alt
        The idea as an SVG, and its description in words; "" without a picture.
    """

    name: str
    href: str
    idea: str
    finding: str
    shows: str
    tallies: list[Tally]
    groups: list[tuple[str, list[ClaimMention]]]
    run: str
    picture: str = ""
    picture_alt: str = ""


@dataclass(frozen=True)
class ClaimCell:
    """The verdict on one form of a claim: its small plot, and the number that decides it ("" if said already)."""

    verdict: str
    picture: Markup
    says: str


@dataclass(frozen=True)
class MatrixClaim:
    """A claim in the matrix.

    Attributes
    ----------
    claim, title, href
        Its id, its title, and where its details are.
    rows
        Subject of a verdict ("" for the whole claim), and its cell in each form; None for a missing form.
    """

    claim: str
    title: str
    href: str
    rows: list[tuple[str, list[ClaimCell | None]]]


@dataclass(frozen=True)
class KeyFigure:
    """A paper's key figure: title, the pictures beside each other with a word for each, and a sentence."""

    title: str
    pictures: list[tuple[str, Markup, str]]
    caption: str


@dataclass(frozen=True)
class HeatTable:
    """A table of differences as colours.

    Attributes
    ----------
    columns
        The subject of each column.
    rows
        Label of each row, and its cells: text, and a value from -1 to 1 that is the colour (below 0: better, above 0:
        worse; 0: neither or undecided); None for a cell without a value.
    """

    columns: list[str]
    rows: list[tuple[str, list[tuple[str, float] | None]]]

    @staticmethod
    def shade(value: float) -> str:
        """Return the class of the style sheet for a value.

        >>> [HeatTable.shade(value) for value in (-1.0, -0.3, 0.0, 0.05, 0.9)]
        ['better-3', 'better-1', 'even', 'worse-1', 'worse-3']
        """
        if value == 0:
            return "even"
        return f"{'better' if value < 0 else 'worse'}-{min(3, 1 + int(3 * abs(value)))}"


def claim_anchor(claim: str) -> str:
    """Return the anchor of a claim on its paper's page."""
    return f"claim-{claim}"


@dataclass(frozen=True)
class TableCells:
    """A table as its template takes it.

    Attributes
    ----------
    columns
        Name of each column, and whether it holds text, which stands left.
    rows
        The cells of each row: kind and value. The kind is ``verdict``, ``number`` or a class of the style sheet.
    """

    columns: list[tuple[str, bool]]
    rows: list[list[tuple[str, str]]]


def table_cells(table: pd.DataFrame, *, digits: int) -> TableCells:
    """Return the cells of a table, numbers with so many significant digits."""
    numeric = {c: pd.api.types.is_numeric_dtype(table[c]) for c in table.columns}
    verdicts = {c: not table.empty and all(value in ("", *MARKS) for value in table[c]) for c in table.columns}
    columns_of_figures = {c: not numeric[c] and all(_is_figure(v) for v in table[c]) for c in table.columns}
    rows = []
    for record in table.itertuples(index=False):
        cells = []
        for column, value in zip(table.columns, record, strict=True):
            if verdicts[column] and value:
                cells.append(("verdict", str(value)))
            elif numeric[column]:
                cells.append(("number", minus(number(value, digits=digits))))
            elif columns_of_figures[column]:
                cells.append(("number", minus(str(value))))
            else:
                text = "" if value is None or value is pd.NA or value != value else str(value)
                cells.append(("text wrap" if len(text) > WIDEST_CELL else "text", text))
        rows.append(cells)
    return TableCells([(str(c), not (numeric[c] or columns_of_figures[c])) for c in table.columns], rows)


def number(value: object, *, digits: int = 5) -> str:
    """Write a number with so many significant digits; nothing for one that is missing.

    >>> number(9.53573, digits=4), number(3), number(float("nan")), number(0.000012345, digits=3)
    ('9.536', '3', '–', '1.23e-05')
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(value)
    found = float(value) if isinstance(value, float | np.floating) else math.nan
    return f"{found:.{digits}g}" if math.isfinite(found) else "–"


def chart_numbers(chart: Chart, *, most: int = 400) -> pd.DataFrame:
    """Return the points of a chart as a table, thinned if there are many."""
    parts = []
    for series in chart.series:
        y = np.asarray(series.y, dtype=float)
        x = list(series.x) if len(series.x) else list(range(1, len(y) + 1))
        part = pd.DataFrame({"series": series.name, chart.x_label or "x": x, chart.y_label: y})
        if series.low is not None and series.high is not None:
            part["low"], part["high"] = (
                np.asarray(series.low, dtype=float),
                np.asarray(series.high, dtype=float),
            )
        parts.append(part.iloc[:: max(1, -(-len(part) * len(chart.series) // most))])
    if chart.heat is not None:
        parts.append(_heat_numbers(chart, chart.heat, most=most))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _heat_numbers(chart: Chart, heat: Heat, *, most: int) -> pd.DataFrame:
    """Every n-th value in both directions, so that there are not too many."""
    every = next(n for n in range(1, heat.values.size + 1) if heat.values[::n, ::n].size <= most)
    y, x = np.meshgrid(np.asarray(heat.y)[::every], np.asarray(heat.x)[::every], indexing="ij")
    return pd.DataFrame(
        {
            "series": "colours",
            chart.x_label or "x": x.ravel(),
            chart.y_label: y.ravel(),
            heat.label: heat.values[::every, ::every].ravel(),
        }
    )


def bounded(mean: float, low: float, high: float, *, signed: bool = False) -> str:
    """Write a mean with the bounds of its interval: as half its width, or both where that would misstate it.

    >>> bounded(4.33, 4.17, 4.49), bounded(4.33, 3.84, 4.49), bounded(5.0, float("nan"), float("nan"))
    ('4.33 ± 0.16', '4.33 (3.84 to 4.49)', '5')
    >>> bounded(9.53573, 9.50363, 9.56783), bounded(0.00009, 0.0000777, 0.0001023, signed=True)
    ('9.536 ± 0.032', '+0.000090 ± 0.000012')
    """
    if not high - low > 0:
        return number(float(mean))
    return interval_text(mean, low, high, significant=2, signed=signed)


def mean_text(found: Interval, scale: float = 1.0, *, signed: bool = False) -> str:
    """Write the mean of an interval in another unit, `scale` to one, as `bounded`."""
    found = found.times(scale)
    return bounded(found.mean, found.low, found.high, signed=signed)


def _is_figure(value: object) -> bool:
    text = str(value).lstrip(f"+-{MINUS}")
    if text in ("", "–"):
        return True
    return text[:1].isdigit() and ("±" in text or text.replace(".", "", 1).replace("e-", "", 1).isdigit())
