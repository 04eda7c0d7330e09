"""A self-contained HTML page: sections of text, tables and interactive charts, all in one file that works offline."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from aqmlab.errors import counted, shell_word, unused
from aqmlab.reporting import charts, flowchart, payload, plots, rendering, topology
from aqmlab.reporting.fragments import (
    ClaimLine,
    HeatTable,
    KeyFigure,
    MatrixClaim,
    PaperCard,
    chart_numbers,
    table_cells,
)
from aqmlab.reporting.layout import arrange
from aqmlab.reporting.rendering import block
from aqmlab.results.folders import guarded, make_folder, write_file
from aqmlab.runs.portions import Work
from aqmlab.runs.scheduler import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from aqmlab.figures.chart import Chart
    from aqmlab.reporting.flowchart import FlowChart
    from aqmlab.scenario.file import Scenario


MOST_ROWS = 300
"""Rows of a table that a page shows."""
LONGEST_TEXT = 100_000
"""Characters of a scenario that a page shows."""


@dataclass
class _Section:
    key: str
    title: str
    folded: bool = False
    holds: str = ""
    blocks: list[Markup] = field(default_factory=list)


@dataclass(frozen=True)
class _Picture(Work[list[Path]]):
    """A figure to draw into files of this name: a function that paints on an axis of so many inches."""

    stem: Path
    paint: Callable[[Axes], None]
    size_in: tuple[float, float]

    def compute(self, progress: Callable[[float], None]) -> list[Path]:
        return plots.save_figure(self.paint, self.stem, size_in=self.size_in)


@dataclass
class Page:
    """A report in the making.

    Attributes
    ----------
    title, lead
        Heading, and the sentence below it.
    notice
        A notice for the reader, above everything else; "" for no notice.
    folder
        Where it will be written: the commands on it are for a terminal in that folder. None: for one in the folder
        above that of the results.
    contents
        Anchor and title of everything that an overview lists: charts, drawings and the headings marked so.
    """

    title: str
    lead: str
    notice: str = ""
    folder: Path | None = None
    _sections: list[_Section] = field(default_factory=list)
    _charts: dict[str, Any] = field(default_factory=dict)
    _numbers: dict[str, str] = field(default_factory=dict)
    _figures: list[tuple[str, Callable[[Axes], None], tuple[float, float]]] = field(default_factory=list)
    contents: list[tuple[str, str]] = field(default_factory=list)
    _frames: bool = False

    def path_to(self, place: Path | None) -> str:
        """Return the path of a file or folder for a command on the page, quoted for the shell."""
        if place is None:
            return "."
        if self.folder is None:
            return shell_word(place.name)
        return shell_word(os.path.relpath(place, self.folder))

    def section(self, title: str, *, folded: bool = False, holds: str = "") -> None:
        """Begin a section; a folded one shows only its title and a summary of its contents until it is opened."""
        key = "".join(c if c.isalnum() else "-" for c in title.lower()).strip("-")
        self._sections.append(_Section(f"{key}-{len(self._sections)}", title, folded, holds))

    @contextmanager
    def folded(self, title: str, *, anchor: str = "") -> Iterator[None]:
        """Fold the content that is added within the context under a title; links to the anchor open it."""
        if not self._sections:
            self.section("Summary")
        blocks = self._sections[-1].blocks
        start = len(blocks)
        yield
        blocks[start:] = [block("fold", title=title, inner=Markup("").join(blocks[start:]), anchor=anchor)]

    def heading(self, text: str, *, listed: bool = False, anchor: str = "") -> None:
        """Add a heading inside a section; `listed` puts it into the contents, for one of a paper's tables."""
        self._add(block("heading", text=text, anchor=self._anchor(text) if listed else anchor))

    def links(self, entries: Sequence[tuple[str, str]], *, title: str = "") -> None:
        """Add a list of links: text and address, folded under a title if one is given."""
        self._add(block("links", entries=entries, title=title))

    def claims(self, lines: Sequence[ClaimLine]) -> None:
        """Add a list of claims as a table, each with its verdict and a link to its details."""
        self._add(block("claims", lines=lines))

    def cards(self, cards: Sequence[PaperCard]) -> None:
        """Add papers, each as a card: idea, finding, verdicts by form, and claims that fail or were not engaged."""
        self._add(block("cards", cards=cards))

    def trial(self, card: PaperCard, figure: KeyFigure | None) -> None:
        """Add a paper's idea with its picture, the finding, the verdicts by form, and its key figure."""
        self._add(block("trial", card=card, figure=figure))

    def matrix(self, groups: Sequence[tuple[str, Sequence[MatrixClaim]]], forms: Sequence[str]) -> None:
        """Add claims under headings as a table: a row for each verdict, a column for each form."""
        self._add(block("matrix", groups=groups, forms=forms))

    def text(self, text: str, *, note: bool = False) -> None:
        """Add a paragraph. Words between backquotes become code."""
        self._add(block("text", text=text, note=note))

    def code(self, text: str, *, fold: str = "", copied: bool = False) -> None:
        """Add text as it stands, folded under a heading if one is given, and with a button that copies it."""
        if len(text) > LONGEST_TEXT:
            more = counted(len(text) - LONGEST_TEXT, "character")
            text = f"{text[:LONGEST_TEXT]}\n... and {more} more, in the file beside."
        self._add(block("code", text=text, fold=fold, copied=copied))

    def table(self, table: pd.DataFrame, *, caption: str, digits: int = 5) -> None:
        """Add a table, or the first rows of a long one. Verdicts are shown as badges."""
        shown = table.iloc[:MOST_ROWS]
        if len(table) > MOST_ROWS:
            caption += f" The first {MOST_ROWS} of {len(table):,} rows."
        self._add(block("table", table=table_cells(shown, digits=digits), caption=caption))

    def chart(self, chart: Chart, *, command: str = "") -> None:
        """Add an interactive chart, with its numbers as a table and the command that makes it again, both folded."""
        self._add(self._chart(chart, command, "tall" if chart.panels else ""))

    def multiples(self, entries: Sequence[tuple[Chart, str]]) -> None:
        """Add small charts side by side, as many in a row as fit, each with its command ("" for none)."""
        self._add(block("multiples", figures=[self._chart(chart, command, "small") for chart, command in entries]))

    def live(self, name: str, address: str, *, title: str) -> None:
        """Add a page that lies beside this one, in a frame; `address` follows its name."""
        self._frames = True
        self._add(block("live", page=name, address=address, title=title))

    def heat_table(self, table: HeatTable, *, caption: str) -> None:
        """Add a table of which each cell has a colour that says which way and how far its value is from 0."""
        self._add(block("heat_table", table=table, caption=caption))

    def _chart(self, chart: Chart, command: str, size: str) -> Markup:
        """Keep a chart for the page's script and for pictures; return its figure."""
        chart = replace(chart, key=self._fresh(chart.key))
        key = f"chart-{len(self._charts)}"
        self._charts[key] = payload.compact(charts.figure(chart))
        self._figures.append((chart.key, partial(plots.SCREEN.paint, chart=chart), plots.SCREEN.size_in))
        cells = table_cells(chart_numbers(chart), digits=payload.DIGITS)
        self._numbers[key] = str(block("table", table=cells, caption=chart.title))
        return block("chart", chart=chart, key=key, anchor=self._anchor(chart.title), command=command, size=size)

    def topology(self, scenario: Scenario, *, key: str = "topology", title: str = "", caption: str = "") -> None:
        """Add the drawing of a scenario's network."""
        laid = arrange(scenario)
        paint = partial(topology.topology, scenario=scenario, drawing=laid)
        self.drawing(key, paint, (8.4, 3.8), title=title, alt=topology.describe(scenario, laid), caption=caption)

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
        """Add a picture that is painted on an axis; `alt` describes it for users of screen readers."""
        svg = plots.inline_svg(paint, size_in)
        anchor = self._anchor(title) if title else ""
        self._add(block("drawing", svg=svg, title=title, alt=alt, caption=caption, anchor=anchor))
        self._figures.append((self._fresh(key), paint, size_in))

    def html(self) -> str:
        """Return the whole page as HTML."""
        stored = {}
        if self._charts:
            stored = {"charts": payload.packed_json(self._charts), "numbers": payload.packed_json(self._numbers)}
            stored["library"] = payload.packed_library()
        return rendering.page(
            title=self.title,
            lead=self.lead,
            notice=self.notice,
            sections=self._sections,
            stored={key: Markup(text) for key, text in stored.items()},
            commands_here=self.folder is not None,
            frames=self._frames,
            style=rendering.resource("style.css"),
            scripts=[rendering.resource("script.js")],
            inserted=[payload.library()] if stored else [],
        )

    def write(
        self,
        folder: Path,
        *,
        pictures: bool = True,
        name: str = "report.html",
        progress: bool = False,
        workers: Workers | None = None,
    ) -> Path:
        """Write the page under a name and, beside it, the figures as PNG and SVG in ``figures/``.

        The figures are drawn by `workers`, or else here one after the other.
        """
        path = folder / name
        make_folder(folder)
        guarded(folder, lambda: write_file(path, self.html().encode(errors="backslashreplace")))
        if pictures:
            figures = folder / "figures"
            drawn = [
                _Picture(figures / plots.file_stem(key), paint, size_in, place=figures, cost=0.2, in_python=True)
                for key, paint, size_in in self._figures
            ]
            with Workers(1, progress=progress) as here:
                (workers or here).execute(drawn, title="figures")
        return path

    def _fresh(self, key: str) -> str:
        """Return a key that no figure of the page has."""
        return unused(key, {name for name, _, _ in self._figures})

    def _anchor(self, title: str) -> str:
        """Put a title into the contents and return the id of its element."""
        anchor = f"item-{len(self.contents)}"
        self.contents.append((anchor, title))
        return anchor

    def _add(self, rendered: Markup) -> None:
        if not self._sections:
            self.section("Summary")
        self._sections[-1].blocks.append(rendered)
