"""A paper reproduced: what its folder states as data, what its own code adds, and the page that is made of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from aqmlab.errors import InputError
from aqmlab.figures.chart import Chart
from aqmlab.papers.common import figures, page, tables
from aqmlab.papers.common.cards import card, effort_words
from aqmlab.papers.common.cells import Printed, select
from aqmlab.papers.common.checks import one_of
from aqmlab.papers.common.claim_file import SEED
from aqmlab.papers.common.claims import Finding, Part, findings_table, parts_table, verdicts_by_reading
from aqmlab.papers.common.engine import execute_claims
from aqmlab.papers.common.files import PaperFiles, Reading
from aqmlab.papers.common.finding import find
from aqmlab.papers.common.gaps import GAPS, gaps
from aqmlab.papers.common.page import Built
from aqmlab.papers.common.page_file import PageFile, Text
from aqmlab.papers.common.pairs import table_of_runs
from aqmlab.papers.common.planned import Planned
from aqmlab.papers.common.runs import BASE, Effort, Reader, Runs, Setup, batches, chosen, pick
from aqmlab.reporting.flowchart import FlowChart
from aqmlab.reporting.page import Page

CHOSEN = ("chosen", "all of those chosen")
VERDICTS = "reading-verdicts"
PARTS = "claim-parts"


@dataclass(frozen=True)
class Study:
    """The runs of a reproduction, read.

    Attributes
    ----------
    paper, effort, root
        Which paper, how much of it was run, and where.
    setups
        All scenarios.
    runs
        The table that claims, tables and figures are about: a row per run of every reading.
    """

    paper: Paper
    effort: Any
    root: Path
    setups: Sequence[Setup]
    runs: pd.DataFrame

    @cached_property
    def base(self) -> pd.DataFrame:
        """The runs of the chosen reading."""
        return chosen(self.runs)

    @cached_property
    def printed(self) -> Printed:
        """The printed numbers."""
        return Printed(self.paper.files.claim_file(), self.paper.files.cells())

    @cached_property
    def sources(self) -> Mapping[str, pd.DataFrame]:
        """Other tables of runs, by name."""
        return self.paper.sources(self)

    @cached_property
    def judged(self) -> tuple[list[Finding], list[Part]]:
        """The verdicts under every headline reading, and what they rest on."""
        return self.paper.judge(self.runs)

    @cached_property
    def readings(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Question and name of every reading to its runs, as in `under`."""
        return self.under(self.paper.files.readings(quick=self.effort.quick))

    def under(self, readings: Iterable[Reading]) -> dict[tuple[str, str], pd.DataFrame]:
        """Return question and name of readings to their runs; the chosen one first, at the points of the others."""
        stated = self.paper.page.readings
        points_run = [*self.setups, *self.paper.others(self.effort)]
        ran = {point.reading for point in points_run} - {BASE, *stated.headlines.values()}
        others = self.runs[self.runs["reading"].isin(list(ran))]
        place = [name for name in self.paper.files.claim_file().columns if name != "reading"]
        points = pd.MultiIndex.from_frame(others[[*place, SEED]])

        def few(rows: pd.DataFrame) -> pd.DataFrame:
            some = rows[pd.MultiIndex.from_frame(rows[[*place, SEED]]).isin(points)]
            return select(some, stated.of, f"{self.paper.page.file}: readings: of")

        base = few(self.base)
        found = {CHOSEN: base}
        for reading in readings:
            own = few(chosen(self.runs, reading=reading.label))
            baseline = reading.options.get("baseline")
            if own.empty and baseline is not None:
                own = few(in_place_of(self.base, "RED", baseline))
            if own.empty:
                continue
            if stated.fill:
                known = pd.MultiIndex.from_frame(own[place])
                own = pd.concat([own, base[~pd.MultiIndex.from_frame(base[place]).isin(known)]], ignore_index=True)
            found[reading.question, reading.name] = own
        return found

    def made(self, name: str, readings: Mapping[tuple[str, str], pd.DataFrame] | None = None) -> pd.DataFrame:
        """Return a table of ``page.toml`` in numbers; its rows may be other readings than those of `readings`."""
        source = self.paper.page.tables[name].source
        runs = self.source(source)
        return tables.made(name, self.paper.page, runs, self.readings if readings is None else readings, self.printed)

    def verdicts(self, readings: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
        """Return how the verdicts move with readings."""
        return verdicts_by_reading({key: self.paper.judge_reading(own) for key, own in readings.items()})

    def source(self, name: str) -> pd.DataFrame:
        """Return the runs that a table or figure is about."""
        if not name:
            return self.base
        one_of(name, list(self.sources), f"{self.paper.page.file}: source", "source")
        return self.sources[name]


def in_place_of(runs: pd.DataFrame, name: str, other: str) -> pd.DataFrame:
    """Return the runs with another discipline standing for one."""
    kept = runs[runs["discipline"] != name]
    return kept.assign(discipline=kept["discipline"].replace(other, name))


def _same(study: Study) -> pd.DataFrame:
    return study.runs


def _none(_: Study) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Paper:
    """A paper that is reproduced.

    Attributes
    ----------
    files
        Its folder: ``page.toml`` (`page_file` describes it), ``claims.toml``, ``readings.toml``, ``published.csv`` and
        scenario files.
    setups
        Its scenarios.
    read
        Gives the numbers of one run.
    rows
        Makes of the numbers the table of runs that claims, tables and figures are about, if that is another.
    others
        Further runs, not those of scenarios.
    sources, tables, shown, figures, words
        Parts that ``page.toml`` names and the paper's own code makes: further tables of runs, tables in numbers, tables
        for reading where they are others than those, charts and flow charts, and words in texts. A table that is None
        is left out.
    """

    files: PaperFiles
    setups: Callable[[Any], list[Setup]]
    read: Callable[[Setup, Path], Mapping[str, float]]
    rows: Callable[[Study], pd.DataFrame] = _same
    others: Callable[[Any], Sequence[Runs]] = field(default=lambda _: [])
    sources: Callable[[Study], Mapping[str, pd.DataFrame]] = _none
    tables: Callable[[Study], Mapping[str, pd.DataFrame | None]] = _none
    shown: Callable[[Study], Mapping[str, pd.DataFrame]] = _none
    figures: Callable[[Study], Mapping[str, Chart | FlowChart]] = _none
    words: Callable[[Study], Mapping[str, str]] = _none

    @cached_property
    def page(self) -> PageFile:
        """The contents of its page."""
        return self.files.page()

    def planned(self, effort: Effort, root: Path) -> Planned:
        """Plan the runs and the page."""
        reader = Reader(self.setups(effort), root, self.read)
        return Planned(
            batches=lambda: batches([*self.others(effort), *reader.points], root),
            build=lambda: _Report(self._study(effort, root, reader)).build(),
            finished=reader.finished,
        )

    def _study(self, effort: Effort, root: Path, reader: Reader) -> Study:
        found = Study(self, effort, root, reader.points, reader.table())
        return replace(found, runs=self.complete(self.rows(found)))

    def complete(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the quantities of ``claims.toml`` that are formulas, or columns of another name."""
        file = self.files.claim_file()
        known = table_of_runs(file, rows)
        return rows.assign(**{name: known[name] for name in file.quantities if name not in rows})

    def judge(self, runs: pd.DataFrame, *, experiments: bool = True) -> tuple[list[Finding], list[Part]]:
        """Judge all claims under every headline reading, or under the chosen one without headline readings.

        Parameters
        ----------
        runs
            Runs of all readings.
        experiments
            Whether runs of other readings may answer objections.
        """
        file, cells = self.files.claim_file(), self.files.cells()
        findings: list[Finding] = []
        parts: list[Part] = []
        for name, label in (self.page.readings.headlines or {"": BASE}).items():
            own = execute_claims(
                file, chosen(runs, reading=label), cells=cells, reading=name, experiments=runs if experiments else None
            )
            findings, parts = findings + own[0], parts + own[1]
        order = [claim.id for claim in file.claims]
        return sorted(findings, key=lambda finding: order.index(finding.claim)), parts

    def judge_reading(self, runs: pd.DataFrame) -> list[Finding]:
        """Judge the claims that readings are compared by, on the runs of one of them."""
        only = self.page.readings.claims
        found, _ = execute_claims(self.files.claim_file(), runs, cells=self.files.cells())
        return [finding for finding in found if not only or finding.claim in only]


@dataclass(frozen=True)
class _Report:
    """A page in the making."""

    study: Study

    def build(self) -> Built:
        study, paper, stated = self.study, self.study.paper, self.study.paper.page
        findings, parts = study.judged
        found = self.tables
        view = Page(
            f"{stated.name} reproduced: published beside measured", f"{stated.citation}. {self.filled(stated.lead)}"
        )
        heads = stated.readings.headlines.values() or [BASE]
        finding = find(
            paper.files.claim_file(), study.runs[study.runs["reading"].isin(list(heads))], cells=paper.files.cells()
        )
        run = effort_words(study.effort, study.setups, seeds=self.filled(stated.seeds))
        own = card(stated.name, findings, parts, finding, run=run)
        page.summary(
            view, paper.files, findings, paper=own, effort=study.effort, quick_note=self.filled(stated.quick_note)
        )
        for section in stated.sections:
            view.section(section.title)
            self.show(view, section.show)
        if GAPS in found:
            page.gaps_section(view, paper.files, found[GAPS])
        page.claims_in_detail(view, findings, found[PARTS])
        page.readings_chosen(view, paper.files)
        self.show(view, stated.readings.show)
        example = self.filled(stated.example)
        page.provenance(view, paper.files, study.setups, study.effort, scenarios=stated.scenarios, example=example)
        readings = found[VERDICTS] if stated.readings.table == VERDICTS else found.pop(stated.readings.table)
        return Built(view, found, findings_table(findings), readings, own)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by name."""
        study, paper = self.study, self.study.paper
        found = {name: study.made(name) for name, table in paper.page.tables.items() if table.columns}
        own = paper.tables(study)
        found = {name: table for name, table in {**found, **own}.items() if table is not None}
        found[PARTS] = parts_table(study.judged[1])
        found[VERDICTS] = study.verdicts(study.readings)
        gap = gaps(paper.files, study.base)
        return found | ({GAPS: gap} if len(gap) else {})

    @cached_property
    def shown(self) -> Mapping[str, pd.DataFrame]:
        """Tables for reading that the paper's own code makes."""
        return self.study.paper.shown(self.study)

    @cached_property
    def figures(self) -> Mapping[str, Chart | FlowChart]:
        """The figures of the paper's own code."""
        return self.study.paper.figures(self.study)

    @cached_property
    def words(self) -> dict[str, Any]:
        """Values that texts may name: numbers of the effort, and the paper's own words."""
        effort = {
            name: ", ".join(map(str, value)) if isinstance(value, list) else value
            for name, value in self.study.effort.to_json().items()
        }
        return {**effort, **self.study.paper.words(self.study)}

    def filled(self, text: str) -> str:
        """Return a text with its words."""
        try:
            return text.format(**self.words)
        except (KeyError, IndexError, ValueError) as error:
            allowed = ", ".join(self.words)
            raise InputError(f"{self.study.paper.page.file}: {text[:40]!r}: {error} (allowed: {allowed})") from None

    def show(self, view: Page, items: Iterable[tuple[str, str]]) -> None:
        for kind, name in items:
            getattr(self, f"show_{kind}")(view, name)

    def show_text(self, view: Page, name: str) -> None:
        stated = self.study.paper.page.texts.get(name) or Text(f"{{{name}}}")
        if stated.heading:
            view.heading(stated.heading)
        says = self.filled(stated.says)
        if says:
            view.text(says, note=stated.note)

    def show_table(self, view: Page, name: str) -> None:
        if name not in self.tables and name not in self.shown:
            return
        stated = self.study.paper.page.tables[name]
        if stated.heading:
            view.heading(stated.heading, listed=stated.listed)
        own = self.shown.get(name)
        shown = tables.shown(name, self.study.paper.page, self.tables[name]) if own is None else own
        view.table(shown, caption=self.filled(stated.caption), digits=stated.digits)

    def show_figure(self, view: Page, name: str) -> None:
        study, stated = self.study, self.study.paper.page.figures.get(name)
        own = self.figures.get(name)
        caption = self.filled(stated.caption) if stated else ""
        if isinstance(own, FlowChart):
            view.flowchart(own, caption=caption)
        elif stated is not None and stated.network is not None:
            of: dict[str, Any] = {key: value for key, (value, *_) in stated.network.items()}
            (first, *_) = pick(study.setups, **of)
            view.topology(first.plan, key=name, title=stated.title, caption=caption)
        else:
            again = self.filled(stated.command) if stated and stated.command else ""
            if own is None and stated is not None:
                runs = study.source(stated.source)
                own = figures.drawn(name, study.paper.page, runs, study.printed, study.setups, study.root)
            if own is None:
                raise InputError(f"{study.paper.page.file}: show: {name} is no figure")
            if stated is not None:
                own = figures.dressed(name, own, stated, study.paper.page.colors, caption)
            view.chart(own, command=again or page.command(study.paper.files.key, study.effort))
