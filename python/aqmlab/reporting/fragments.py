"""Pieces of HTML: verdicts as badges, tables, numbers with so many digits, text with code in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from aqmlab.plotting.chart import Chart, Heat


@dataclass(frozen=True)
class ClaimLine:
    """One line of a list of claims: its verdict, whose it is, and where more about it stands."""

    verdict: str
    paper: str
    claim: str
    title: str
    href: str


MARKS = {"holds": "✓", "fails": "✗", "undecided": "?"}


def claim_anchor(claim: str) -> str:
    """Return the anchor of a claim on its paper's page."""
    return f"claim-{claim}"


def badge(verdict: str) -> str:
    """Return a verdict as a coloured word with a sign, so that colour alone carries nothing.

    >>> badge("holds")
    '<span class="badge holds">✓ holds</span>'
    """
    sign = MARKS.get(verdict, "")
    return f'<span class="badge {escape(verdict)}">{sign} {escape(verdict)}</span>'


def table_html(table: pd.DataFrame, *, caption: str, digits: int) -> str:
    """Return a table as HTML: words left, numbers right, verdicts as badges."""
    numeric = {c: pd.api.types.is_numeric_dtype(table[c]) for c in table.columns}
    verdicts = {c: not table.empty and all(value in ("", *MARKS) for value in table[c]) for c in table.columns}
    columns_of_figures = {c: not numeric[c] and all(_is_figure(v) for v in table[c]) for c in table.columns}
    head = "".join(
        f"<th scope=col{'' if numeric[c] or columns_of_figures[c] else ' class=text'}>{escape(str(c))}</th>"
        for c in table.columns
    )
    rows = []
    for record in table.itertuples(index=False):
        cells = []
        for column, value in zip(table.columns, record, strict=True):
            if verdicts[column] and value:
                cells.append(f"<td class=text>{badge(value)}</td>")
            elif numeric[column]:
                cells.append(f"<td>{number(value, digits=digits)}</td>")
            elif columns_of_figures[column]:
                cells.append(f"<td>{escape(str(value))}</td>")
            else:
                text = "" if value is None or value is pd.NA or value != value else str(value)
                wide = " wrap" if len(text) > 48 else ""
                cells.append(f'<td class="text{wide}">{inline(text)}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class=scroll tabindex=0 role=group aria-label="{escape(caption, quote=True)}"><table>'
        f"<caption>{inline(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


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


def plus_minus(mean: float, half: float, *, signed: bool = False) -> str:
    """Write a mean and half the width of its interval, both to the second digit of the latter.

    >>> plus_minus(9.53573, 0.0321), plus_minus(0.00009, 0.0000123, signed=True), plus_minus(5.0, float("nan"))
    ('9.536 ± 0.032', '+0.000090 ± 0.000012', '5')
    """
    if not math.isfinite(half) or half <= 0:
        return number(float(mean))
    places = min(max(1 - math.floor(math.log10(half)), 0), 9)
    return f"{mean:{'+' if signed else ''}.{places}f} ± {half:.{places}f}"


def _is_figure(value: object) -> bool:
    text = str(value).lstrip("+-")
    if text in ("", "–"):
        return True
    return text[:1].isdigit() and ("±" in text or text.replace(".", "", 1).replace("e-", "", 1).isdigit())


def inline(text: str) -> str:
    """Return text as HTML: words between backquotes become code, new lines stay.

    >>> inline("1 < 2 and `x`")
    '1 &lt; 2 and <code>x</code>'
    """
    text = text.strip()
    if "\n" in text:
        return "<br>".join(inline(line) for line in text.splitlines())
    pieces = escape(text).split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
