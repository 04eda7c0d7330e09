"""The report of a comparison: the answer in words, delay against goodput, one matrix, then the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from aqmlab.errors import capitalized, counted, joined
from aqmlab.reporting.chosen import of_comparison
from aqmlab.reporting.provenance import compare_command, figure_command
from aqmlab.reporting.run import EVIDENCE, add_first
from aqmlab.results.quantities import quantity
from aqmlab.results.summary import level_words
from aqmlab.runs.comparison_matrix import legend
from aqmlab.runs.comparison_tables import DIFFERENCE_COLUMNS
from aqmlab.scenario.toml_text import inline

if TYPE_CHECKING:
    from aqmlab.reporting.page import Page
    from aqmlab.runs.comparison import Comparison
    from aqmlab.runs.comparison_matrix import Matrix

SMALL = ("compare-", "spread-")
"""Beginnings of the keys of the figures that are small multiples: one metric each."""


def comparison_title(found: Comparison) -> str:
    """Return a title in words: the compared entries and their traffic."""
    names = joined(found.aqm)
    return f"{names} compared: {found.name}"


def add_comparison(page: Page, found: Comparison, *, alone: bool = False) -> None:
    """Add a comparison: answer, delay against goodput, a matrix, then the evidence.

    Parameters
    ----------
    page
        The page.
    found
        The comparison.
    alone
        Whether the page is of it alone: then its title and lead have said the answer, and its parts are sections.
    """
    begin = page.section if alone else page.heading
    command = compare_command(page, found)
    page.section("At a glance" if alone else comparison_title(found))
    if not alone:
        page.text(found.answer())
    charts = list(of_comparison(found))
    first = add_first(page, charts, command, found.folder)
    for line in found.warnings:
        page.text(f"{capitalized(line)}.", note=True)
    for line in found.settings_lines():
        page.text(f"{line}.", note=True)
    n = len(found.seeds)
    page.table(
        matrix_table(found.matrix()),
        caption=f"Means at link `{found.link}` over {counted(n, 'seed')}, the same for each. "
        f"{legend(found.matrix(), level=found.level, tests=found.tests)}",
    )
    begin(EVIDENCE)
    for start in SMALL:
        entries = [chart for chart in charts if chart.key.startswith(start)]
        page.multiples([(chart, figure_command(page, command, found.folder, chart.key)) for chart in entries])
    for chart in charts:
        if chart is not first and not chart.key.startswith(SMALL):
            page.chart(chart, command=figure_command(page, command, found.folder, chart.key))
    begin("Statistics and settings")
    _statistics(page, found)
    _settings(page, found)


def matrix_table(matrix: Matrix) -> pd.DataFrame:
    """Return means with half-widths and arrows for reading: a row a metric, a column a label."""
    rows = []
    for key in matrix.metrics:
        unit = matrix.unit(key)
        row = {"metric": f"{quantity(key).title}, {unit}" if unit else quantity(key).title}
        for label in matrix.labels:
            cell = matrix.cells.get((label, key))
            if cell is None:
                row[label] = "–"
                continue
            row[label] = f"{cell.estimate} {cell.sign}".strip()
        rows.append(row)
    return pd.DataFrame(rows)


def _statistics(page: Page, found: Comparison) -> None:
    """Add the tables of differences and means, folded."""
    words = level_words(len(found.seeds), found.level, distinct=found.distinct_runs)
    with page.folded(f"Differences against {found.aqm[0]}"):
        columns = [column for column in DIFFERENCE_COLUMNS if column in found.differences]
        page.table(
            found.differences[columns],
            caption=f"Differences against {found.aqm[0]}, {words}; verdicts by Holm's p.",
            digits=3,
        )
        for line in found.pairing_lines():
            page.text(line, note=True)
    with page.folded("Means of every metric"):
        page.table(found.means, caption=f"Means, {words}.")


def _settings(page: Page, found: Comparison) -> None:
    """Add a description of each label: its settings, and the keys that were left out of the queue's table."""
    for label, table in found.settings.items():
        page.text(f"{label}: `{inline(table)}`, the rest as in the scenario.", note=True)
    with page.folded("Differences in the settings"):
        page.text("\n".join(found.notes), note=True)
