"""A paper reproduced: its runs, its claims, and the page that is made of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Unpack

import pandas as pd

from aqmlab.errors import InputError
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers.common import figures, page, tables
from aqmlab.papers.common.cards import card, effort_words
from aqmlab.papers.common.cells import Cells, Content, Printed, numbers_of, select
from aqmlab.papers.common.claim_functions import Claims
from aqmlab.papers.common.claims import Finding, Part, findings_table, parts_table, seeds_run, verdicts_by_reading
from aqmlab.papers.common.contents import Block, Figure, Network, Section, Table
from aqmlab.papers.common.engine import execute_claims, find
from aqmlab.papers.common.expressions import Numbers, Runs, Tables, one_of
from aqmlab.papers.common.files import PaperFiles, Reading
from aqmlab.papers.common.gaps import GAPS, gaps
from aqmlab.papers.common.key_figure import Key, key_figure
from aqmlab.papers.common.page import Built
from aqmlab.papers.common.planned import Planned
from aqmlab.papers.common.run_table import RunTable, table_of_printed, table_of_runs
from aqmlab.papers.common.runs import BASE, Effort, Point, Reader, Setup, batches, chosen, pick
from aqmlab.papers.common.vocabulary import SEED, Choice, Value, Where
from aqmlab.reporting.intervals import intervals_table
from aqmlab.reporting.page import Page

CHOSEN = ("chosen", "all of those chosen")
VERDICTS = "reading-verdicts"
PARTS = "claim-parts"
CLAIMS_TABLE = "claims"
READINGS_TABLE = "readings"
"""The table of readings that ``readings.csv`` holds; without it `VERDICTS`."""
LEAD = (
    "{seeds} seeds a point; every mean with its 95 % interval (Student's, or Hall's if the runs are skewed), every "
    "comparison paired by seed."
)
Readings = Mapping[tuple[str, str], pd.DataFrame]


@dataclass(frozen=True)
class Study:
    """The runs of a reproduction, read; the functions of a paper's page make tables and figures of it.

    Attributes
    ----------
    paper, effort, root
        Which paper, how much of it was run, and where.
    setups
        All scenarios.
    frame
        The table that claims, tables and figures are about: a row per run of every reading.
    """

    paper: Paper
    effort: Any
    root: Path
    setups: Sequence[Setup]
    frame: pd.DataFrame

    @cached_property
    def base(self) -> pd.DataFrame:
        """The runs of the chosen reading."""
        return chosen(self.frame)

    @cached_property
    def runs(self) -> Runs:
        """The runs of the chosen reading, for numbers in texts, tables and figures."""
        words = self.paper.claims.words
        paper = RunTable(table_of_printed(words, self.paper.files.cells()))
        return Runs(words, Tables(RunTable(self.base), paper, self.frame), declared=False)

    @cached_property
    def judged(self) -> tuple[list[Finding], list[Part]]:
        """The verdicts under every headline reading, with their evidence."""
        return self.paper.judge(self.frame)

    @cached_property
    def readings(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Question and name of every reading to its runs, as in `under`."""
        return self.under(self.paper.files.readings(quick=self.effort.quick))

    def under(self, readings: Iterable[Reading]) -> dict[tuple[str, str], pd.DataFrame]:
        """Return question and name of readings to their runs; the chosen one first, at the points of the others."""
        paper = self.paper
        points_run = [*self.setups, *paper.others(self.effort)]
        ran = {point.reading for point in points_run} - {BASE, *paper.headlines.values()}
        others = self.frame[self.frame["reading"].isin(list(ran))]
        place = [name for name in paper.claims.words.columns if name != "reading"]
        points = pd.MultiIndex.from_frame(others[[*place, SEED]])
        of = paper.claims.words.where(paper.compared_on, declared=False)

        def few(rows: pd.DataFrame) -> pd.DataFrame:
            return select(rows[pd.MultiIndex.from_frame(rows[[*place, SEED]]).isin(points)], of, "compared_on")

        base = few(self.base)
        found = {CHOSEN: base}
        for reading in readings:
            own = few(chosen(self.frame, reading=reading.label))
            baseline = reading.options.get("baseline")
            if own.empty and baseline is not None:
                own = few(in_place_of(self.base, "RED", baseline))
            if own.empty:
                continue
            if paper.fill:
                known = pd.MultiIndex.from_frame(own[place])
                own = pd.concat([own, base[~pd.MultiIndex.from_frame(base[place]).isin(known)]], ignore_index=True)
            found[reading.question, reading.name] = own
        return found

    def verdicts(self, readings: Readings) -> pd.DataFrame:
        """Return how the verdicts move with readings."""
        return verdicts_by_reading({key: self.paper.judge_reading(own) for key, own in readings.items()})

    def reading_verdicts(self, **look: Unpack[tables.Look]) -> Table:
        """Return the table of how the verdicts move with every reading; the default caption has the number of seeds."""
        found = self.verdicts(self.readings)
        seeds = self.effort.reading_seeds
        look.setdefault(
            "caption", f"How the verdicts move with each reading, {seeds} seeds each, also of the chosen one."
        )
        return Table(VERDICTS, found, **look)

    def cells(self) -> Cells:
        """Return the evaluation of contents."""
        return Cells(self.runs, self.paper.files.cells())

    def table(
        self,
        name: str,
        columns: Mapping[str, Content],
        *,
        rows: Sequence[str] | Mapping[str, str],
        of: Mapping[str, Choice] | None = None,
        runs: pd.DataFrame | None = None,
        beside: bool = False,
        exact: bool = False,
        labelled: bool = False,
        **look: Unpack[tables.Look],
    ) -> Table:
        """Return a table with a row for each combination of some columns that was run.

        Parameters
        ----------
        name
            The name of its file.
        columns
            Title to content.
        rows
            The columns of the runs whose values make the rows, or these with their titles.
        of
            Which runs, and the order of the rows.
        runs
            Other runs than those of the chosen reading.
        beside
            Whether each column, which is then a quantity, is set beside the printed numbers.
        exact
            Whether its numbers are calculated, and so have no intervals.
        labelled
            Whether its file too has the words of values in the columns of the rows, as the page does.
        look
            Heading, caption and so on.
        """
        frame, place = self.base if runs is None else runs, f"table {name}"
        titles = rows if isinstance(rows, Mapping) else {column: column for column in rows}
        where = self.runs.where(of or {})
        places = tables.places_of(list(titles), where, frame, place)
        shared = {key: values for key, values in where.items() if key not in titles}
        every, cells = RunTable(frame), self.cells()
        lines: list[tables.Cellwise] = []
        for at in places:
            here = {**one_of(at), **shared}
            found = tables.row_of(columns, cells, every, here, place, exact=exact)
            words: dict[str, str | float] = {
                title: self.label(key, at[key]) if labelled else at[key] for key, title in titles.items()
            }
            if beside:
                paper = {title: cells.printed(content, here) for title, content in columns.items()}
                lines.append(
                    tables.beside_row(words, {k: (tables.measured_in(one), paper[k]) for k, one in found.items()})
                )
            else:
                lines.append({**words, **found})
        numbers = pd.DataFrame(lines) if beside else intervals_table(lines)
        named = {
            title: [self.label(key, value) for value in numbers[title]]
            for key, title in titles.items()
            if key in self.paper.words_of and not labelled
        }
        if beside:
            shown = tables.beside_text(numbers, list(columns), keys=list(titles.values())).assign(**named)
        else:
            shown = tables.for_reading(numbers.assign(**named), columns)
        return Table(name, numbers, shown, **look)

    def by_reading(
        self,
        name: str,
        columns: Mapping[str, Content],
        *,
        of: Mapping[str, Choice] | None = None,
        readings: Readings | None = None,
        **look: Unpack[tables.Look],
    ) -> Table:
        """Return a table with a row for each reading; arguments as for `table`."""
        where, rows = self.runs.where(of or {}), []
        for (question, reading), own in (self.readings if readings is None else readings).items():
            some = select(own, where, f"table {name}")
            if len(some):
                found = tables.row_of(columns, self.cells(), RunTable(some), where, f"table {name}")
                rows.append({"question": question, "reading": reading, **found})
        numbers = intervals_table(rows)
        return Table(name, numbers, tables.for_reading(numbers, columns), **look)

    def chart(
        self,
        name: str,
        title: str,
        lines: figures.Lines,
        *,
        x: str,
        of: Mapping[str, Choice] | None = None,
        runs: pd.DataFrame | None = None,
        alt: str = "",
        caption: str = "",
        command: str = "",
        **look: Unpack[figures.Look],
    ) -> Figure:
        """Return a figure of quantities against a column of the runs.

        Parameters
        ----------
        name, title
            The name of its file, and its title.
        lines
            Name to content.
        x
            The column of the abscissa.
        of
            Which runs.
        runs
            Other runs than those of the chosen reading.
        alt, caption, command
            Description (``{lines}`` stands for the points), caption, and the command that makes it again.
        look
            Labels, ranges and so on.
        """
        frame, cells, where = self.base if runs is None else runs, self.cells(), self.runs.where(of or {})
        series, words, levels = [], [], []
        for index, (line_title, line) in enumerate(figures.lines_of(lines).items()):
            if x == SEED and isinstance(line.content, Printed):
                number = cells.printed(line.content, {key: own for key, own in where.items() if key != x})
                levels.append((math.nan if number is None else number, line_title))
                continue
            place = f"figure {name}: line {line_title}"
            (at, y, *bounds), said = figures.against(
                x, line, where, frame, cells, self.paper.words_of.get(x, {}), place
            )
            low, high = bounds or (None, None)
            series.append(Series(line_title, at, y, low, high, line.mode, self._color(line, where, index)))
            words.append(f"{line_title} {said}")
        return self._drawn(name, title, series, words, {"levels": levels, **look}, alt, caption, command)

    def over_time(
        self,
        name: str,
        title: str,
        lines: figures.Lines,
        *,
        samples: str,
        of: Mapping[str, Choice] | None = None,
        link: str = "",
        seed: int | Literal["all"] = 1,
        time_range: tuple[float, float] | None = None,
        alt: str = "",
        caption: str = "",
        command: str = "",
        **look: Unpack[figures.Look],
    ) -> Figure:
        """Return a figure of samples against time, of one run or the mean of all; other arguments as for `chart`.

        Parameters
        ----------
        samples, link
            The table of samples, and the link whose samples they are ("" for all).
        seed
            The run.
        time_range
            The seconds that are drawn.
        """
        series, words = [], []
        for index, (line_title, line) in enumerate(figures.lines_of(lines).items()):
            numbers = line.content if isinstance(line.content, Numbers) else None
            where = {**self.runs.where(of or {}), **(numbers.of if numbers else {})}
            one: dict[str, Any] = {key: values[0] for key, values in where.items() if isinstance(values, tuple)}
            found = pick(self.setups, **one)
            if len(found) != 1:
                raise InputError(f"figure {name}: line {line_title}: {len(found)} scenarios have {one}; it takes one")
            (at, y), said = figures.against_time(
                line, found[0], self.root, table=samples, link=link, seed=0 if seed == "all" else seed,
                time_range=time_range,
            )  # fmt: skip
            series.append(Series(line_title, at, y, mode=line.mode, color=self._color(line, where, index)))
            words.append(f"{line_title} {said}")
        return self._drawn(name, title, series, words, {**look}, alt, caption, command)

    def figure(self, chart: Chart, *, caption: str = "", command: str = "", **look: Unpack[figures.Named]) -> Figure:
        """Return a chart of the paper's own code with another title and so on, and in the paper's colours."""
        colors = self.paper.colors
        series = [replace(one, color=colors.get(one.name, one.color)) for one in chart.series]
        return Figure(replace(chart, series=series, caption=caption or chart.caption, **look), command=command)

    def network(self, name: str, title: str, *, caption: str = "", **where: str | float) -> Network:
        """Return the drawing of the network of the first scenario with these values."""
        of: dict[str, Any] = {**where}
        return Network(name, pick(self.setups, **of)[0].plan, title, caption)

    def label(self, column: str, value: Value) -> Value:
        """Return the words for a value of a column."""
        return self.paper.words_of.get(column, {}).get(value, value)

    def _color(self, line: figures.Line, where: Where, index: int) -> int:
        numbers = numbers_of(line.content, self.runs)
        return figures.color_of(line, {**where, **(numbers.of if numbers else {})}, self.paper.colors, index)

    def _drawn(
        self,
        name: str,
        title: str,
        series: list[Series],
        words: Sequence[str],
        look: Any,  # noqa: ANN401 - fields of a chart
        alt: str,
        caption: str,
        command: str,
    ) -> Figure:
        y, x = look.get("y_label", ""), look.get("x_label", "")
        said = (alt or f"{y} against {x}: {{lines}}.").replace("{lines}", "; ".join(words))
        chart = Chart(name, title, said, x, y, series, caption=caption)
        return Figure(replace(chart, **look), command=command)


def in_place_of(runs: pd.DataFrame, name: str, other: str) -> pd.DataFrame:
    """Return the runs with another discipline standing for one."""
    kept = runs[runs["discipline"] != name]
    return kept.assign(discipline=kept["discipline"].replace(other, name))


def _same(study: Study) -> pd.DataFrame:
    return study.frame


@dataclass(frozen=True)
class Paper:
    """A paper that is reproduced.

    Attributes
    ----------
    files, name, citation
        Its folder, its short name, and its authors with its title.
    claims
        Its claims.
    effort
        How much to run: the paper's own `Effort`.
    setups, measure
        List its scenarios, and give the numbers of one run.
    page
        Makes the sections of its page.
    rows
        Makes of the numbers the table of runs that claims, tables and figures are about, if that is another.
    others
        Further runs, not those of scenarios.
    key
        Its key figure; None for all printed numbers against the measured ones.
    lead, quick_note, seeds, example
        Sentence on the statistics, on the quick version, on the seeds ("" for the same at all points), and the command
        for one point; ``{name}`` is a number of the effort.
    scenarios
        The names of its scenario files.
    labels
        Column to the words of its values on the page, if they are others than in claims.
    colors
        Value to its colour in all figures.
    headlines
        Name to label of the readings under which all claims are judged; empty for the chosen one alone.
    compared_on, compared, fill
        Readings are compared on these runs, by these claims (all if empty); whether points that a reading does not run
        come from the chosen reading.
    """

    files: PaperFiles
    name: str
    citation: str
    claims: Claims
    effort: type[Effort]
    setups: Callable[[Any], list[Setup]]
    measure: Callable[[Setup, Path], Mapping[str, float]]
    page: Callable[[Study], Iterable[Section]]
    rows: Callable[[Study], pd.DataFrame] = _same
    others: Callable[[Any], Sequence[Point]] = field(default=lambda _: [])
    key: Key | None = None
    lead: str = LEAD
    quick_note: str = ""
    seeds: str = ""
    example: str = ""
    scenarios: Sequence[str] = ()
    labels: Mapping[str, Mapping[Value, str]] = field(default_factory=dict)
    colors: Mapping[str, int] = field(default_factory=dict)
    headlines: Mapping[str, str] = field(default_factory=dict)
    compared_on: Mapping[str, Choice] = field(default_factory=dict)
    compared: Sequence[str] = ()
    fill: bool = False

    @cached_property
    def words_of(self) -> Mapping[str, Mapping[Value, str]]:
        """Column to the words of its values on the page."""
        return {name: one.labels for name, one in self.claims.words.columns.items() if one.labels} | dict(self.labels)

    def planned(self, effort: Effort, root: Path) -> Planned:
        """Plan the runs and the page."""
        reader = Reader(self.setups(effort), root, self.measure)
        return Planned(
            batches=lambda: batches([*self.others(effort), *reader.points], root),
            build=lambda: self._build(self._study(effort, root, reader)),
            finished=reader.finished,
        )

    def _study(self, effort: Effort, root: Path, reader: Reader) -> Study:
        found = Study(self, effort, root, reader.points, reader.table())
        return replace(found, frame=self.complete(self.rows(found)))

    def complete(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the quantities that are formulas, or columns of another name."""
        known = table_of_runs(self.claims.words, rows)
        return rows.assign(**{name: known[name] for name in self.claims.words.quantities if name not in rows})

    def judge(self, runs: pd.DataFrame, *, experiments: bool = True) -> tuple[list[Finding], list[Part]]:
        """Judge all claims under every headline reading, or under the chosen one without headline readings.

        Parameters
        ----------
        runs
            Runs of all readings.
        experiments
            Whether runs of other readings may answer objections.
        """
        findings: list[Finding] = []
        parts: list[Part] = []
        for name, label in (self.headlines or {"": BASE}).items():
            found, rests_on = execute_claims(
                self.claims,
                chosen(runs, reading=label),
                cells=self.files.cells(),
                reading=name,
                experiments=runs if experiments else None,
                readings=[BASE, *(one.label for one in self.files.readings())] if experiments else None,
            )
            findings, parts = findings + found, parts + rests_on
        order = [claim.id for claim in self.claims]
        return sorted(findings, key=lambda finding: order.index(finding.claim)), parts

    def judge_reading(self, runs: pd.DataFrame) -> list[Finding]:
        """Judge the claims that readings are compared by, on the runs of one of them."""
        found, _ = execute_claims(self.claims, runs, cells=self.files.cells())
        return [finding for finding in found if not self.compared or finding.claim in self.compared]

    def _build(self, study: Study) -> Built:
        effort, numbers = study.effort, study.effort.to_json()
        findings, parts = study.judged
        if not findings:
            raise InputError(f"{self.files.name}: no claim can be judged: measure returned no number for its runs")

        def filled(text: str) -> str:
            return text.format(**numbers)

        heads = list(self.headlines.values()) or [BASE]
        finding = find(self.claims, study.frame[study.frame["reading"].isin(heads)], cells=self.files.cells())
        seeds = seeds_run(parts)
        run = effort_words(effort, study.setups, seeds=filled(self.seeds))
        own = card(self.name, findings, parts, finding, run=run)
        sections = list(self.page(study))
        blocks = [block for section in sections for block in section.blocks]
        _check_names(self.files.place("paper.py"), blocks)
        found = {one.name: one.numbers for one in blocks if isinstance(one, Table) and one.numbers is not None}
        found[PARTS] = parts_table(parts)
        gap = found[GAPS] = gaps(self.claims.words, self.files, study.base)
        measured = gap if len(gap) else None
        view = Page(f"{self.name} reproduced: published beside measured", f"{self.citation}.")
        page.fill(
            view,
            self.files,
            card=own,
            findings=findings,
            parts=parts,
            figure=key_figure(self.key, sections, measured),
            lead=filled(self.lead),
            sections=sections,
            gaps=measured,
            effort=effort,
            seeds=seeds,
            setups=study.setups,
            quick_note=filled(self.quick_note),
            example=filled(self.example),
            scenarios=self.scenarios,
        )
        if VERDICTS not in found:
            found[VERDICTS] = study.verdicts(study.readings)
        readings = found.pop(READINGS_TABLE) if READINGS_TABLE in found else found[VERDICTS]
        return Built(view, found, findings_table(findings), readings, own, seeds)


def _check_names(place: str, blocks: Iterable[Block]) -> None:
    """Raise if two tables have one name, or two figures: the file of one would replace that of the other.

    A table with the numbers of a chart may have the chart's name.
    """
    tables, figures = {PARTS, GAPS, CLAIMS_TABLE}, set[str]()
    for block in blocks:
        if isinstance(block, Table):
            name, kind, seen = block.name if block.numbers is not None else "", "table", tables
        elif isinstance(block, Network | Figure):
            name, kind, seen = block.name if isinstance(block, Network) else block.chart.key, "figure", figures
        else:
            continue
        if name in seen:
            raise InputError(f'{place}: page: a second {kind} has the name "{name}" (allowed: a name once)')
        seen.update({name} - {""})
