"""Contents of a paper's ``page.toml``: its tables, its figures, and the sections of its page in order.

::

    name = "MRED"                              # also citation, lead, quick_note, example and scenarios
    [labels.case]                              # words for the values of a column
    sole = "TCP alone"
    [colors]                                   # value to colour, in all figures
    RED = 0

    [table.stability]
    heading = "..."                            # also caption and digits
    rows = ["case", "n"]                       # a row for each combination that was run; a table gives them titles;
    of = { case = ["sole"] }                   # "readings": a row for each reading. `of` chooses runs, and their order
    [table.stability.columns]                  # title to quantity
    seeds = "seeds"
    "{discipline}, mean" = { quantity = "average_mean", over = { discipline = ["RED", "MRED"] } }
    "MRED - RED" = { quantity = "average_mean", of = { discipline = "MRED" }, than = { discipline = "RED" } }

    [figure.figure-3]
    title = "Figure 3: throughput"             # also caption, alt, x_label, y_label, x_range, y_range, levels, ...
    x = "n"                                    # a column of the runs
    [figure.figure-3.lines]                    # name to quantity, as in a table
    "{discipline}, printed" = { quantity = "throughput", printed = true, over = { discipline = ["RED"] } }

    [figure.figure-6]                          # against time: one run, or the mean of all with seeds = "all"
    samples = "queue_samples"
    [figure.figure-6.lines]
    "{discipline}" = { quantity = "average", over = { discipline = ["RED"] } }

    [text]
    why = "..."                                # {name} is a number of the effort, or made by the paper's own `words`
    [[section]]
    title = "Tables 1 to 4"
    show = ["table:stability", "figure:figure-3", "text:why"]

Names of columns are those of the table of runs; ``seeds`` counts the runs. A column may have ``mean_over`` (columns),
``relative`` (per cent), ``ratio``, ``p``, ``printed``, or ``fit`` (see `Numbers`). ``source`` takes other runs, which
the paper's own code names. A table, figure or text without rows, lines and words is made by that code.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from aqmlab.errors import InputError
from aqmlab.figures.chart import Mode
from aqmlab.papers.common.checks import Value, known, listed, one_of, required

Where = Mapping[str, tuple[Value, ...]]
READINGS = "readings"
"""As the rows of a table: a row for each reading."""
SEEDS = "seeds"
"""The quantity that counts runs."""
FITS = ("difference", "relative", "log", "in reach")
KINDS = ("table", "figure", "text")
MODES = ("line", "dashed", "dotted", "points", "bar")


@dataclass(frozen=True)
class Numbers:
    """A quantity of some runs: a column of a table, or a line of a figure.

    Attributes
    ----------
    quantities
        Columns of the table of runs; several for a `fit` only.
    of
        Which runs.
    than
        The runs that are taken off, in what they differ from `of`.
    relative, ratio
        The difference in per cent of the other side; their ratio.
    mean_over
        Columns over which the mean is taken, seed by seed.
    p
        The p value of the difference in place of it.
    printed
        The paper's number in place of the measured one.
    paper
        Where the paper has its number, in what this differs from `of`.
    fit
        How far the printed numbers are met, in place of a quantity: one of `FITS`.
    mode, color
        Of a line.
    scale
        Factor on the abscissa of a line, or on its samples against time.
    samples
        The table of samples, if another than the figure's.
    smooth
        Samples over which a line against time is averaged.
    """

    quantities: tuple[str, ...]
    of: Where = field(default_factory=dict)
    than: Where | None = None
    relative: bool = False
    ratio: bool = False
    mean_over: tuple[str, ...] = ()
    p: bool = False
    printed: bool = False
    paper: Where = field(default_factory=dict)
    fit: str = ""
    mode: Mode = "line"
    color: int | None = None
    scale: float = 1.0
    samples: str = ""
    smooth: int = 1

    @property
    def quantity(self) -> str:
        """The only quantity."""
        return self.quantities[0]

    @property
    def signed(self) -> bool:
        """Whether it is a difference that is shown with its sign."""
        return self.than is not None and not (self.ratio or self.p or self.fit)


@dataclass(frozen=True)
class Table:
    """A table; without columns it is made by the paper's own code.

    Attributes
    ----------
    rows
        Column of the runs to its title; None for a row for each reading.
    source
        The runs that it is about, by their name in the paper's own code; "" for the table of runs.
    exact
        Whether its numbers are calculated, and so have no intervals.
    columns
        Title to content.
    beside
        Whether each column is set beside the printed numbers.
    labelled
        Whether files too have the words of `labels` in the columns of the rows, as the page does.
    """

    rows: Mapping[str, str] | None = field(default_factory=dict)
    source: str = ""
    exact: bool = False
    of: Where = field(default_factory=dict)
    columns: Mapping[str, Numbers] = field(default_factory=dict)
    beside: bool = False
    labelled: bool = False
    heading: str = ""
    listed: bool = True
    caption: str = ""
    digits: int = 5


@dataclass(frozen=True)
class Figure:
    """A figure; without lines and network it is made by the paper's own code.

    Attributes
    ----------
    source
        As in `Table`.
    x
        The column of the runs along the abscissa.
    lines
        Name to content.
    samples
        In place of `x`: the table of samples against time.
    link
        The link whose samples they are; "" for all.
    seeds
        The seed that is drawn against time; 0 for the mean of all.
    network
        In place of lines: the network of these runs.
    time_range
        The seconds of the samples that are drawn.
    command
        The command that makes it again, if it is not that of the whole report.
    """

    title: str = ""
    source: str = ""
    x: str = ""
    of: Where = field(default_factory=dict)
    lines: Mapping[str, Numbers] = field(default_factory=dict)
    samples: str = ""
    link: str = ""
    seeds: int = 0
    network: Where | None = None
    time_range: tuple[float, float] | None = None
    alt: str = ""
    caption: str = ""
    command: str = ""
    x_label: str = ""
    y_label: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    x_log: bool = False
    y_log: bool = False
    panels: bool = False
    levels: Sequence[tuple[float, str]] = ()
    shades: Sequence[tuple[float, float, str]] = ()


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    says: str
    heading: str = ""
    note: bool = False


@dataclass(frozen=True)
class Section:
    """A section: its title, and kind and name of what it shows."""

    title: str
    show: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Verdicts:
    """The page's section on readings.

    Attributes
    ----------
    show
        The items shown after the list of readings.
    table
        The table that ``readings.csv`` holds.
    of
        The runs on which claims are judged under every reading.
    claims
        The claims that are judged there; all if empty.
    fill
        Whether points that a reading does not run come from the chosen reading.
    headlines
        Name to label of the readings under which all claims are judged; empty for the chosen one alone.
    """

    show: tuple[tuple[str, str], ...] = ()
    table: str = "reading-verdicts"
    of: Where = field(default_factory=dict)
    claims: tuple[str, ...] = ()
    fill: bool = False
    headlines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PageFile:
    """Everything that a ``page.toml`` states; `file` is what errors call it."""

    file: str
    name: str
    citation: str
    lead: str
    quick_note: str
    example: str
    scenarios: tuple[str, ...]
    seeds: str
    labels: Mapping[str, Mapping[Value, str]]
    colors: Mapping[str, int]
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure]
    texts: Mapping[str, Text]
    sections: tuple[Section, ...]
    readings: Verdicts

    def label(self, column: str, value: Value) -> str:
        """Return the words for a value of a column."""
        return self.labels.get(column, {}).get(value, str(value))


_KEYS = (
    "name", "citation", "lead", "quick_note", "example", "scenarios", "seeds", "labels", "colors", "table", "figure",
    "text", "section", "readings",
)  # fmt: skip
_NEEDED = ("name", "citation", "lead", "quick_note", "example", "scenarios")
_NUMBERS = tuple(f.name for f in fields(Numbers) if f.name != "quantities")


def read_page(data: Mapping[str, Any], *, file: str) -> PageFile:
    """Check the data of a ``page.toml`` and return it.

    Raises
    ------
    InputError
        One line with the file, the table, figure or section, the key and the allowed values.
    """
    known(data, _KEYS, file, "key")
    required(data, _NEEDED, file)
    reader = _Reader(file, data.get("labels", {}))
    tables = {name: reader.table(entry, f"{file}: table {name}") for name, entry in data.get("table", {}).items()}
    figures = {name: reader.figure(entry, f"{file}: figure {name}") for name, entry in data.get("figure", {}).items()}
    texts = {name: reader.text(entry, f"{file}: text {name}") for name, entry in data.get("text", {}).items()}
    sections = []
    for entry in data.get("section", ()):
        place = f"{file}: section {entry.get('title', '?')}"
        known(entry, ("title", "show"), place, "key")
        required(entry, ("title", "show"), place)
        sections.append(Section(entry["title"], reader.shown(entry["show"], place)))
    return PageFile(
        file=file,
        **{key: data[key] for key in _NEEDED[:-1]},
        scenarios=tuple(data["scenarios"]),
        seeds=data.get("seeds", ""),
        labels=reader.labels,
        colors=data.get("colors", {}),
        tables=tables,
        figures=figures,
        texts=texts,
        sections=tuple(sections),
        readings=reader.readings(data.get("readings", {}), f"{file}: readings"),
    )


@dataclass(frozen=True)
class _Reader:
    file: str
    labels: Mapping[str, Mapping[Value, str]]

    def table(self, entry: Mapping[str, Any], place: str) -> Table:
        known(entry, (*(f.name for f in fields(Table)), "over"), place, "key")
        if ("rows" in entry) != ("columns" in entry):
            raise InputError(f"{place}: rows and columns go together")
        found = {key: value for key, value in entry.items() if key != "over"}
        if "rows" in entry:
            rows = entry["rows"]
            if rows == READINGS:
                found["rows"] = None
            elif isinstance(rows, str):
                raise InputError(
                    f'{place}: rows = "{rows}": a list of columns, a table of their titles, or "{READINGS}"'
                )
            else:
                found["rows"] = dict(rows) if isinstance(rows, Mapping) else {name: name for name in rows}
            of = {name: value for name, value in entry.get("of", {}).items() if name not in (found["rows"] or ())}
            found["columns"] = self.numbers(entry["columns"], f"{place}: column", of, entry.get("over", {}))
        return Table(**{**found, "of": where(entry.get("of", {}))})

    def figure(self, entry: Mapping[str, Any], place: str) -> Figure:
        known(entry, [f.name for f in fields(Figure)], place, "key")
        if "lines" in entry and ("x" in entry) == ("samples" in entry):
            raise InputError(f"{place}: lines need either x or samples")
        found: dict[str, Any] = dict(entry)
        found["seeds"] = 0 if entry.get("seeds") == "all" else entry.get("seeds", 1)
        for key in ("levels", "shades"):
            found[key] = [tuple(one) for one in entry.get(key, ())]
        for key in ("x_range", "y_range", "time_range"):
            if key in entry:
                found[key] = tuple(entry[key])
        if "network" in entry:
            found["network"] = where(entry["network"])
        found["of"] = where(entry.get("of", {}))
        of = {name: value for name, value in entry.get("of", {}).items() if name != entry.get("x")}
        found["lines"] = self.numbers(entry.get("lines", {}), f"{place}: line", of, {})
        return Figure(**found)

    def text(self, entry: str | Mapping[str, Any], place: str) -> Text:
        if isinstance(entry, str):
            return Text(entry)
        known(entry, [f.name for f in fields(Text)], place, "key")
        required(entry, ("says",), place)
        return Text(**entry)

    def readings(self, entry: Mapping[str, Any], place: str) -> Verdicts:
        known(entry, [f.name for f in fields(Verdicts)], place, "key")
        found = {**entry, "of": where(entry.get("of", {})), "claims": tuple(entry.get("claims", ()))}
        return Verdicts(**{**found, "show": self.shown(entry.get("show", ()), place)})

    def shown(self, entries: Sequence[str], place: str) -> tuple[tuple[str, str], ...]:
        found = []
        for entry in entries:
            kind, _, name = entry.partition(":")
            one_of(kind, KINDS, f"{place}: show: {entry}", "kind")
            found.append((kind, name))
        return tuple(found)

    def numbers(
        self, entries: Mapping[str, Any], place: str, of: Mapping[str, Any], over: Mapping[str, Any]
    ) -> dict[str, Numbers]:
        """Read columns or lines; one with `over` is one for each combination of these values."""
        found = {}
        for outer in _combinations(over):
            for title, entry in entries.items():
                own: dict[str, Any] = {"quantity": entry} if isinstance(entry, str) else entry
                at = f"{place} {title}"
                known(own, ("quantity", "over", *_NUMBERS), at, "key")
                required(own, ("quantity",), at)
                for key, allowed in (("fit", FITS), ("mode", MODES)):
                    if key in own:
                        one_of(own[key], allowed, at, key)
                if "than" not in own and any(own.get(key) for key in ("relative", "ratio", "p")):
                    raise InputError(f"{at}: relative, ratio and p need than")
                rest: dict[str, Any] = {
                    key: own[key] for key in own if key not in ("quantity", "over", "of", "than", "paper", "mean_over")
                }
                for inner in _combinations(own.get("over", {})):
                    values = {**outer, **inner}
                    words = {name: self.labels.get(name, {}).get(value, value) for name, value in values.items()}
                    found[_filled(title, words, at)] = Numbers(
                        tuple(listed(own["quantity"])),
                        where({**of, **own.get("of", {}), **values}),
                        where(own["than"]) if "than" in own else None,
                        paper=where(own.get("paper", {})),
                        mean_over=tuple(own.get("mean_over", ())),
                        **rest,
                    )
        return found


def where(entry: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    """Return columns with the values that they may have."""
    return {name: tuple(listed(value)) for name, value in entry.items()}


def _combinations(over: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    return [dict(zip(over, values, strict=True)) for values in itertools.product(*over.values())]


def _filled(title: str, words: Mapping[str, Value], place: str) -> str:
    try:
        return title.format(**words)
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(f"{place}: {{{error.args[0]}}} is none of the columns in over") from None
