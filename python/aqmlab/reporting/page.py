"""A self-contained HTML page: sections of text, tables and interactive charts, all in one file that works offline."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from importlib import resources
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from aqmlab import charts, drawing, flowchart, plots
from aqmlab.layout import arrange
from aqmlab.reporting.fragments import ClaimLine, badge, chart_numbers, inline, table_html
from aqmlab.store import guarded, write_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from aqmlab.chart import Chart
    from aqmlab.flowchart import FlowChart
    from aqmlab.scenario import Scenario


MOST_ROWS = 300
"""Rows of a table that a page shows."""
LONGEST_TEXT = 100_000
"""Characters of a scenario that a page shows."""
KEYS = (
    "<p class=keys id=keys>Charts have keys too, once Tab has reached them: arrows move, + and &minus; zoom, Home "
    "shows all, 1 to 9 hide a line of the legend or show it. Below each chart are its numbers as a table.</p>"
)


@dataclass
class Page:
    """A report in the making.

    Attributes
    ----------
    title, lead
        Heading, and the sentence below it.
    contents
        Anchor and title of everything that an overview lists: charts, drawings and the headings marked so.
    """

    title: str
    lead: str
    _sections: list[tuple[str, str, list[str]]] = field(default_factory=list)
    _charts: dict[str, Any] = field(default_factory=dict)
    _figures: list[Chart] = field(default_factory=list)
    _drawings: list[tuple[str, Callable[[Axes], None], tuple[float, float]]] = field(default_factory=list)
    contents: list[tuple[str, str]] = field(default_factory=list)

    def section(self, title: str) -> None:
        """Begin a section."""
        key = "".join(c if c.isalnum() else "-" for c in title.lower()).strip("-")
        self._sections.append((f"{key}-{len(self._sections)}", title, []))

    def heading(self, text: str, *, listed: bool = False, anchor: str = "") -> None:
        """Add a heading inside a section; `listed` puts it into the contents, for one of a paper's tables."""
        target = self._anchor(text) if listed else f' id="{escape(anchor)}"' if anchor else ""
        self._add(f"<h3{target}>{escape(text)}</h3>")

    def links(self, entries: Sequence[tuple[str, str]], *, title: str = "") -> None:
        """Add a list of links: text and address, folded under a title if one is given."""
        items = "".join(f'<li><a href="{escape(href, quote=True)}">{inline(text)}</a></li>' for text, href in entries)
        block = f"<ul class=links>{items}</ul>"
        self._add(f"<details open><summary>{escape(title)}</summary>{block}</details>" if title else block)

    def claims(self, lines: Sequence[ClaimLine]) -> None:
        """Add a list of claims as a table, each with its verdict and a link to where it is told in full."""
        rows = "".join(
            f"<tr><td class=text>{badge(line.verdict)}</td><td class=text>{escape(line.paper)}</td>"
            f'<td class=text>{escape(line.claim)}</td><td class="text wrap">'
            f'<a href="{escape(line.href, quote=True)}">{inline(line.title)}</a></td></tr>'
            for line in lines
        )
        head = "".join(
            f"<th scope=col class=text>{word}</th>" for word in ("verdict", "paper", "claim", "what it says")
        )
        self._add(
            "<div class=scroll tabindex=0 role=group aria-label=Claims><table>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def text(self, text: str, *, note: bool = False) -> None:
        """Add a paragraph. Words between backquotes become code."""
        self._add(f"<p{' class=note' if note else ''}>{inline(text)}</p>")

    def code(self, text: str, *, fold: str = "") -> None:
        """Add text as it stands, folded under a heading if one is given."""
        if len(text) > LONGEST_TEXT:
            text = f"{text[:LONGEST_TEXT]}\n... and {len(text) - LONGEST_TEXT:,} characters more, in the file beside."
        block = f"<pre tabindex=0><code>{escape(text)}</code></pre>"
        self._add(f"<details><summary>{escape(fold)}</summary>{block}</details>" if fold else block)

    def verdicts(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """Add a list of claims: verdict, claim, what was found."""
        items = (
            f"<li>{badge(verdict)}<h3>{inline(claim)}</h3><p>{inline(found)}</p></li>"
            for verdict, claim, found in entries
        )
        self._add(f"<ul class=claims>{''.join(items)}</ul>")

    def table(self, table: pd.DataFrame, *, caption: str, digits: int = 5) -> None:
        """Add a table, or the first rows of a long one. Verdicts are shown as badges."""
        shown = table.iloc[:MOST_ROWS]
        if len(table) > MOST_ROWS:
            caption += f" The first {MOST_ROWS} of {len(table):,} rows."
        self._add(table_html(shown, caption=caption, digits=digits))

    def chart(self, chart: Chart, *, command: str = "") -> None:
        """Add an interactive chart, with the command that makes it again and its numbers as a table."""
        chart = replace(chart, key=self._fresh(chart.key))
        key = f"chart-{len(self._charts)}"
        plot = json.loads(charts.figure(chart).to_json())
        self._charts[key] = {"data": plot["data"], "layout": plot["layout"]}
        self._figures.append(chart)
        caption = f"<figcaption>{inline(chart.caption)}</figcaption>" if chart.caption else ""
        again = f"<p class=note>Make it again: <code>{escape(command)}</code></p>" if command else ""
        numbers = table_html(chart_numbers(chart), caption=chart.title, digits=6)
        self._add(
            f"<figure{self._anchor(chart.title)}><h3>{escape(chart.title)}</h3>"
            f"<div class=chart id={key} role=group tabindex=0 aria-describedby=keys "
            f'aria-label="{escape(chart.alt, quote=True)}"></div>{caption}{again}'
            f"<details><summary>Numbers</summary>{numbers}</details></figure>"
        )

    def topology(self, scenario: Scenario, *, key: str = "topology", title: str = "", caption: str = "") -> None:
        """Add the drawing of a scenario's network."""
        laid = arrange(scenario)
        paint = partial(drawing.topology, scenario=scenario, drawing=laid)
        self.drawing(key, paint, (8.4, 3.8), title=title, alt=drawing.describe(scenario, laid), caption=caption)

    def flowchart(self, chart: FlowChart, *, caption: str = "") -> None:
        """Add an algorithm's flow chart."""
        paint = partial(flowchart.draw, chart=chart)
        self.drawing(chart.key, paint, chart.size_in, title=chart.title, alt=chart.alt, caption=caption)

    def drawing(
        self,
        key: str,
        paint: Callable[[Axes], None],
        size_in: tuple[float, float],
        *,
        title: str,
        alt: str,
        caption: str,
    ) -> None:
        """Add a picture that is painted on an axis; `alt` says what it shows to those who cannot see it."""
        with mpl.rc_context(plots.STYLE):
            figure = Figure(figsize=size_in, layout="constrained")
            paint(figure.add_subplot())
            svg = plots.svg_text(figure)
        svg = svg[svg.index("<svg") :]
        head = f"<h3>{escape(title)}</h3>" if title else ""
        shown = f"<figcaption>{inline(caption)}</figcaption>" if caption else ""
        self._add(
            f"<figure class=drawing{self._anchor(title) if title else ''}>{head}"
            f'<div role=img aria-label="{escape(alt, quote=True)}">{svg}</div>{shown}</figure>'
        )
        self._drawings.append((self._fresh(key), paint, size_in))

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
            f"<header class=top><div><h1>{escape(self.title)}</h1><p>{inline(self.lead)}</p>"
            f"{KEYS if self._charts else ''}</div>"
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
            for key, paint, size_in in self._drawings:
                plots.save_figure(paint, folder / "figures" / plots.file_stem(key), size_in=size_in)
        return path

    def _fresh(self, key: str) -> str:
        """Return a key that no figure of the page has: the same one, or with a number behind it."""
        taken = {chart.key for chart in self._figures} | {name for name, _, _ in self._drawings}
        numbered = (key if n == 1 else f"{key}-{n}" for n in count(1))
        return next(name for name in numbered if name not in taken)

    def _anchor(self, title: str) -> str:
        """Put a title into the contents and return the attribute that makes its element the target of a link."""
        anchor = f"item-{len(self.contents)}"
        self.contents.append((anchor, title))
        return f" id={anchor}"

    def _add(self, block: str) -> None:
        if not self._sections:
            self.section("Summary")
        self._sections[-1][2].append(block)


def _resource(name: str) -> str:
    with io.StringIO(resources.files("aqmlab.reporting").joinpath(name).read_text(encoding="utf-8")) as text:
        return text.getvalue()
