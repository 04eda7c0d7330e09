"""A self-contained HTML page: sections of text, tables and interactive charts, all in one file that works offline."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from aqmlab import charts, drawing, plots
from aqmlab.store import guarded, write_file

if TYPE_CHECKING:
    from aqmlab.chart import Chart
    from aqmlab.scenario import Scenario

MARKS = {"holds": "✓", "fails": "✗", "undecided": "?"}


@dataclass
class Page:
    """A report in the making.

    Attributes
    ----------
    title, lead
        Heading, and the sentence below it.
    """

    title: str
    lead: str
    _sections: list[tuple[str, str, list[str]]] = field(default_factory=list)
    _charts: dict[str, Any] = field(default_factory=dict)
    _figures: list[Chart] = field(default_factory=list)
    _drawings: list[tuple[str, Scenario]] = field(default_factory=list)

    def section(self, title: str) -> None:
        """Begin a section."""
        key = "".join(c if c.isalnum() else "-" for c in title.lower()).strip("-")
        self._sections.append((f"{key}-{len(self._sections)}", title, []))

    def heading(self, text: str) -> None:
        """Add a heading inside a section."""
        self._add(f"<h3>{escape(text)}</h3>")

    def text(self, text: str, *, note: bool = False) -> None:
        """Add a paragraph. Words between backquotes become code."""
        self._add(f"<p{' class=note' if note else ''}>{_inline(text)}</p>")

    def code(self, text: str, *, fold: str = "") -> None:
        """Add text as it stands, folded under a heading if one is given."""
        block = f"<pre><code>{escape(text)}</code></pre>"
        self._add(f"<details><summary>{escape(fold)}</summary>{block}</details>" if fold else block)

    def verdicts(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """Add a list of claims: verdict, claim, what was found."""
        items = (
            f"<li>{badge(verdict)}<h3>{_inline(claim)}</h3><p>{_inline(found)}</p></li>"
            for verdict, claim, found in entries
        )
        self._add(f"<ul class=claims>{''.join(items)}</ul>")

    def table(self, table: pd.DataFrame, *, caption: str, digits: int = 5) -> None:
        """Add a table. The column ``verdict`` is shown as a badge."""
        self._add(table_html(table, caption=caption, digits=digits))

    def chart(self, chart: Chart, *, command: str = "") -> None:
        """Add an interactive chart, with the command that makes it again and its numbers as a table."""
        key = f"chart-{len(self._charts)}"
        plot = json.loads(charts.figure(chart).to_json())
        self._charts[key] = {"data": plot["data"], "layout": plot["layout"]}
        self._figures.append(chart)
        caption = f"<figcaption>{_inline(chart.caption)}</figcaption>" if chart.caption else ""
        again = f"<p class=note>Make it again: <code>{escape(command)}</code></p>" if command else ""
        numbers = table_html(chart_numbers(chart), caption=chart.title, digits=6)
        self._add(
            f"<figure><h3>{escape(chart.title)}</h3>"
            f'<div class=chart id={key} role=img aria-label="{escape(chart.alt, quote=True)}"></div>{caption}{again}'
            f"<details><summary>Numbers</summary>{numbers}</details></figure>"
        )

    def topology(self, scenario: Scenario, *, key: str = "topology", caption: str = "") -> None:
        """Add the drawing of a scenario's network."""
        with mpl.rc_context(plots.STYLE):
            figure = Figure(figsize=(8.4, 3.8), layout="constrained")
            drawing.topology(figure.add_subplot(), scenario)
            svg = plots.svg_text(figure)
        svg = svg[svg.index("<svg") :]
        alt = escape(drawing.describe(scenario), quote=True)
        shown = f"<figcaption>{_inline(caption)}</figcaption>" if caption else ""
        self._add(f'<figure class=drawing><div role=img aria-label="{alt}">{svg}</div>{shown}</figure>')
        self._drawings.append((key, scenario))

    def html(self) -> str:
        """Return the whole page as HTML."""
        from plotly.offline import get_plotlyjs

        style = _resource("style.css")
        script = _resource("script.js")
        links = "".join(f'<li><a href="#{key}">{escape(title)}</a></li>' for key, title, _ in self._sections)
        body = "".join(
            f'<section class=card id="{key}" aria-labelledby="{key}-h"><h2 id="{key}-h">{escape(title)}</h2>'
            f"{''.join(blocks)}</section>"
            for key, title, blocks in self._sections
        )
        data = json.dumps(self._charts, separators=(",", ":"), sort_keys=True).replace("</", "<\\/")
        return (
            "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
            '<meta name=viewport content="width=device-width, initial-scale=1">'
            f'<link rel=icon href="data:,"><title>{escape(self.title)}</title><style>{style}</style></head><body>'
            "<a class=skip href=#main>Skip to the content</a>"
            f"<header class=top><div><h1>{escape(self.title)}</h1><p>{_inline(self.lead)}</p></div>"
            "<button class=theme type=button hidden>Dark page</button></header>"
            f'<div class=frame><nav aria-label="Sections"><ul>{links}</ul></nav><main id=main>{body}</main></div>'
            "<footer>Made by aqmlab. This page holds all it needs and works offline.</footer>"
            f"<script>{get_plotlyjs()}</script>"
            f'<script type="application/json" id=charts>{data}</script><script>{script}</script></body></html>\n'
        )

    def write(self, folder: Path, *, pictures: bool = True) -> Path:
        """Write ``report.html`` and, beside it, the figures as PNG and SVG in ``figures/``."""
        path = folder / "report.html"
        guarded(folder, lambda: folder.mkdir(parents=True, exist_ok=True))
        guarded(folder, lambda: write_file(path, self.html().encode()))
        if pictures:
            for chart in self._figures:
                plots.save(chart, folder / "figures")
            for key, scenario in self._drawings:
                paint = partial(drawing.topology, scenario=scenario)
                plots.save_figure(paint, folder / "figures" / key, size_in=(8.4, 3.8))
        return path

    def _add(self, block: str) -> None:
        if not self._sections:
            self.section("Summary")
        self._sections[-1][2].append(block)


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
    columns_of_figures = {c: not numeric[c] and all(_is_figure(v) for v in table[c]) for c in table.columns}
    head = "".join(
        f"<th scope=col{'' if numeric[c] or columns_of_figures[c] else ' class=text'}>{escape(str(c))}</th>"
        for c in table.columns
    )
    rows = []
    for record in table.itertuples(index=False):
        cells = []
        for column, value in zip(table.columns, record, strict=True):
            if column == "verdict" and isinstance(value, str) and value:
                cells.append(f"<td class=text>{badge(value)}</td>")
            elif numeric[column]:
                cells.append(f"<td>{number(value, digits=digits)}</td>")
            elif columns_of_figures[column]:
                cells.append(f"<td>{escape(str(value))}</td>")
            else:
                text = "" if value is None or value is pd.NA or value != value else str(value)
                wide = " wrap" if len(text) > 48 else ""
                cells.append(f'<td class="text{wide}">{_inline(text)}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="{escape(caption, quote=True)}"><table>'
        f"<caption>{_inline(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
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
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


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
    return text[:1].isdigit() and ("±" in text or text.replace(".", "", 1).replace("e-", "", 1).isdigit())


def _inline(text: str) -> str:
    text = text.strip()
    if "\n" in text:
        return "<br>".join(_inline(line) for line in text.splitlines())
    pieces = escape(text).split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))


def _resource(name: str) -> str:
    with io.StringIO(resources.files("aqmlab.reporting").joinpath(name).read_text(encoding="utf-8")) as text:
        return text.getvalue()
