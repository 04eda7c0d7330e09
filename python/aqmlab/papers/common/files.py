"""Files of a paper's folder: scenario files, readings, printed numbers."""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from unicodedata import category

from aqmlab.errors import OVERRIDE, InputError, Problem, ScenarioError, counted, unknown
from aqmlab.papers.scenarios import PREFIX
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.toml_text import Value, read_toml

CELL = ("table", "quantity", "unit", "printed", "value", "note")
"""Columns of ``published.csv``, of which the last may be missing; the others select the measured number."""

PARTS = ("reading", "used", "explained")
"""Lists of tables in ``readings.toml``."""
QUESTION = ("key", "question", "chosen", "why")
"""Texts of a ``[[reading]]``."""
OTHER = ("name", "set", "quick")
"""Keys of a ``[[reading.other]]``; any further ones are options for the paper's own functions."""
MARK = ("of", "why")
"""Keys of ``[[used]]`` and ``[[explained]]``."""


@dataclass(frozen=True)
class Cell:
    """One printed number.

    Attributes
    ----------
    table
        Where it is printed: ``1``, ``II``, ``text``.
    quantity, unit
        The quantity and its unit.
    printed, value
        The text on paper, and its number (NaN if the text is not a number).
    note
        A remark on anything odd about it.
    key
        The other columns of ``published.csv``, such as ``{"n": 5, "discipline": "RED"}``.
    """

    table: str
    quantity: str
    unit: str
    printed: str
    value: float
    note: str
    key: dict[str, str | int | float]
    place: str = field(default="", compare=False)
    """File and line."""

    @property
    def columns(self) -> dict[str, str | int | float]:
        """All columns that identify it."""
        return {"table": self.table, "quantity": self.quantity, "unit": self.unit, **self.key}

    def matches(self, where: Mapping[str, Any]) -> bool:
        """Whether its columns have these values."""
        return all(self.columns.get(name) == value for name, value in where.items())

    def is_among(self, where: Mapping[str, Any]) -> bool:
        """Whether its columns have these values, or one of each list of values."""
        own = self.columns
        return all(own.get(name) in (some if isinstance(some, list) else [some]) for name, some in where.items())


@dataclass(frozen=True)
class Reading:
    """One other answer to one thing the paper leaves open.

    Attributes
    ----------
    key, question
        The open question, and its key.
    chosen, why
        The answer taken, and the reason.
    name
        This other answer.
    overrides
        Its overrides of the paper's scenarios; empty if it needs no runs of its own.
    quick
        Whether the quick version tries it too.
    options
        Further keys of its table in ``readings.toml``.
    place
        File and line of its question.
    """

    key: str
    question: str
    chosen: str
    why: str
    name: str
    overrides: dict[str, Value] = field(default_factory=dict)
    quick: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    place: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """Name of the reading in tables."""
        return f"{self.question}: {self.name}"

    @property
    def needs_runs(self) -> bool:
        """Whether it changes the scenarios."""
        return bool(self.overrides)


@dataclass(frozen=True)
class PaperFiles:
    """The data files of a paper.

    Attributes
    ----------
    key
        The paper's name on the command line, for example ``pc-red``.
    folder
        Its folder; None for the package ``aqmlab.papers.pc_red``.
    """

    key: str
    folder: Path | None = None

    @classmethod
    def beside(cls, module: str) -> PaperFiles:
        """Return the files beside a module, whose folder's name is the key."""
        folder = Path(module).resolve().parent
        return cls(folder.name, folder)

    @property
    def name(self) -> str:
        """The paper's name on the command line: its key, or its folder."""
        return self.key if self.folder is None else str(self.folder)

    def text(self, name: str) -> str:
        """Return a file as text."""
        if self.folder is not None:
            return _text(self.folder / name)
        package = resources.files(f"aqmlab.papers.{self.key.replace('-', '_')}")
        return package.joinpath(name).read_text(encoding="utf-8")

    def has(self, name: str) -> bool:
        """Return whether the paper has a file."""
        if self.folder is not None:
            return (self.folder / name).is_file()
        return resources.files(f"aqmlab.papers.{self.key.replace('-', '_')}").joinpath(name).is_file()

    def place(self, name: str) -> str:
        """Return a file's name for messages."""
        return name if self.folder is None else str(self.folder / name)

    def toml(self, name: str) -> dict[str, Any]:
        """Return a TOML file as data."""
        return _toml(self, name)

    def rows(self, name: str, columns: Sequence[str] = ()) -> list[dict[str, str]]:
        """Return the rows of a CSV file.

        Raises
        ------
        InputError
            If a column is missing or given twice, or a row has more or fewer cells than there are columns.
        """
        return [row for _, row in self.numbered_rows(name, columns)]

    def numbered_rows(self, name: str, columns: Sequence[str] = ()) -> list[tuple[int, dict[str, str]]]:
        """Return the rows of a CSV file as `rows` does, each with the number of the line on which it begins."""
        reader, place = csv.reader(io.StringIO(self.text(name)), strict=True), self.place(name)
        head = next(reader, [])
        for column in columns:
            if column not in head:
                raise InputError(f"{place}:1: has no column {column} (needed: {', '.join(columns)})")
        if len(set(head)) < len(head):
            raise InputError(f"{place}:1: a column is given twice: {', '.join(head)}")
        rows, line = [], reader.line_num + 1
        try:
            for cells in reader:
                if cells and len(cells) != len(head):
                    counts = f"{counted(len(cells), 'cell')}, and there are {counted(len(head), 'column')}"
                    raise InputError(f"{place}:{line}: has {counts}: {', '.join(head)}")
                for column, cell in zip(head, cells, strict=False):
                    if any(category(c) == "Cc" and c not in "\t\r\n" for c in cell):
                        raise InputError(f"{place}:{line}: {column}: {cell!r} has a control character (allowed: text)")
                if cells:
                    rows.append((line, dict(zip(head, cells, strict=True))))
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{place}:{line}: is no row of CSV ({error}); is a quote closed?") from None
        return rows

    def scenario(self, name: str, overrides: Overrides = ()) -> Scenario:
        """Return the scenario ``<name>.toml`` with overrides.

        Raises
        ------
        ScenarioError
            If it is not valid; an override of a reading is named by its place in ``readings.toml``.
        """
        filename = self.scenario_name(name)
        try:
            return Scenario.from_text(self.text(f"{name}.toml"), filename=filename, overrides=overrides)
        except ScenarioError as error:
            given = dict(overrides)
            sets = [one for one in self.readings() if one.needs_runs and _within(one.overrides, given)]
            raise ScenarioError([_with_source(one, sets, filename) for one in error.problems]) from None

    def scenario_name(self, name: str) -> str:
        """Return the name of a scenario of this paper on the command line, such as ``paper:mred/sole.toml``."""
        if self.folder is not None:
            return str(self.folder / f"{name}.toml")
        return f"{PREFIX}{self.key}/{name}.toml"

    def questions(self) -> list[dict[str, Any]]:
        """Return every ``[[reading]]`` of ``readings.toml``, checked."""
        return _questions(self)

    def readings(self, *, quick: bool = False) -> list[Reading]:
        """Return the other readings of ``readings.toml``, in order; with `quick` only those marked so."""
        found, name = [], "readings.toml"
        for number, entry in enumerate(self.questions(), 1):
            place = _entry_place(self, name, "reading", number)
            for other in entry.get("other", ()):
                options = {key: value for key, value in other.items() if key not in OTHER}
                words = (entry["key"], entry["question"], entry["chosen"], entry["why"], other["name"])
                found.append(Reading(*words, other.get("set", {}), other.get("quick", False), options, place))
        return [reading for reading in found if reading.quick or not quick]

    def choices(self) -> list[dict[str, str]]:
        """Return every open question of ``readings.toml`` with what was chosen and why."""
        return [
            {"question": entry["question"], "chosen": entry["chosen"], "why": entry["why"]}
            for entry in self.questions()
        ]

    def cells(self) -> tuple[Cell, ...]:
        """Return every printed number of ``published.csv``."""
        return _cells(self)

    def printed(self, **where: str | float) -> float:
        """Return one printed number; `where` names columns of ``published.csv``.

        >>> PaperFiles("mred").printed(table="1", n=5, discipline="MRED")
        9.682
        """
        found = [cell for cell in self.cells() if cell.matches(where)]
        if len(found) != 1:
            raise KeyError(where)
        return found[0].value


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


@cache
def _toml(files: PaperFiles, name: str) -> dict[str, Any]:
    return read_toml(files.text(name), filename=files.place(name))


def _entry_place(files: PaperFiles, name: str, key: str, number: int) -> str:
    """Return the file and the line of one of the tables ``[[key]]``, without the line if it is not found."""
    lines = enumerate(files.text(name).splitlines(), 1)
    heads = [line for line, text in lines if "".join(text.partition("#")[0].split()) == f"[[{key}]]"]
    place = files.place(name)
    return f"{place}:{heads[number - 1]}" if len(heads) == len(files.toml(name)[key]) else place


def _within(some: Mapping[str, Value], given: Mapping[str, object]) -> bool:
    return all(key in given and given[key] == value for key, value in some.items())


def _with_source(problem: Problem, readings: Sequence[Reading], filename: str) -> Problem:
    """Return a problem with the readings that set its key, or with which the file is not valid.

    The file of an override that no reading sets is the scenario's.
    """
    path = f"{problem.key}."
    of_key = [
        one for one in readings if any(path.startswith(f"{k}.") or f"{k}.".startswith(path) for k in one.overrides)
    ]
    named = " or ".join(f"{one.place}: {one.label}: set" for one in of_key or readings)
    if problem.file == OVERRIDE:
        return replace(problem, file=named if of_key else f"{filename}: override", line=0)
    return replace(problem, message=f"{problem.message}, with {named}") if named else problem


@cache
def _questions(files: PaperFiles) -> list[dict[str, Any]]:
    name = "readings.toml"
    data, place = files.toml(name), files.place(name)
    for key, value in data.items():
        if key not in PARTS:
            raise InputError(f"{place}: {unknown('key', key, list(PARTS))}")
        if not isinstance(value, list):
            raise InputError(f"{place}: {key}: is a list of tables [[{key}]]")
    for key in PARTS[1:]:
        for number, entry in enumerate(data.get(key, ()), 1):
            where = f"{_entry_place(files, name, key, number)}: [[{key}]] {number}"
            _check_texts(entry, MARK[1:], where)
            _check_keys(entry, MARK, where)
            if not isinstance(entry.get("of"), dict):
                raise InputError(f"{where}: has no table of, which selects printed numbers by their columns")
            _check_selection(files, entry["of"], f"{where}: of")
    found: list[dict[str, Any]] = data.get("reading", [])
    keys = set[str]()
    for number, entry in enumerate(found, 1):
        where = f"{_entry_place(files, name, 'reading', number)}: [[reading]] {number}"
        _check_texts(entry, QUESTION, where)
        _check_keys(entry, (*QUESTION, "other"), where)
        if entry["key"] in keys:
            raise InputError(f"{where}: key {entry['key']} is given twice")
        keys.add(entry["key"])
        others = entry.get("other", [])
        if not isinstance(others, list):
            raise InputError(f"{where}: other: is a list of tables [[reading.other]]")
        names = set()
        for other in others:
            _check_texts(other, ("name",), f"{where}: [[reading.other]]")
            if other["name"] in names:
                raise InputError(f"{where}: name {other['name']} is given twice")
            names.add(other["name"])
            if not isinstance(other.get("set", {}), dict):
                raise InputError(f"{where}: {other['name']}: set: is not a table (allowed: keys with values)")
            if not isinstance(other.get("quick", False), bool):
                raise InputError(f"{where}: {other['name']}: quick: is not true or false")
            options = [key for key in other if key not in OTHER]
            for key in options:
                if difflib.get_close_matches(key, OTHER, cutoff=0.7):
                    raise InputError(f"{where}: {other['name']}: {unknown('key', key, list(OTHER))}")
            if not options and not other.get("set"):
                raise InputError(f"{where}: {other['name']}: sets nothing (needed: set, with keys and values)")
    return found


def _check_keys(table: Mapping[str, object], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{where}: {unknown('key', key, list(keys))}")


def _check_selection(files: PaperFiles, of: Mapping[str, Value], where: str) -> None:
    """Raise if a selection of printed numbers has an unknown column or value, or selects none."""
    cells = files.cells()
    columns = list(dict.fromkeys(column for cell in cells for column in cell.columns))
    for column, wanted in of.items():
        if column not in columns:
            raise InputError(f"{where}: {unknown('column of published.csv', column, columns)}")
        known = list(dict.fromkeys(cell.columns[column] for cell in cells))
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if value not in known:
                raise InputError(f"{where}: {unknown(column, str(value), [str(own) for own in known])}")
    if not any(cell.is_among(of) for cell in cells):
        raise InputError(f"{where}: selects no number of published.csv")


def _check_texts(table: object, keys: Sequence[str], where: str) -> None:
    for key in keys:
        if not isinstance(table, dict) or not isinstance(table.get(key), str):
            raise InputError(f"{where}: has no text {key} (needed: {', '.join(keys)})")


@cache
def _cells(files: PaperFiles) -> tuple[Cell, ...]:
    rows = files.numbered_rows("published.csv", CELL[:-1])
    for line, row in rows:
        place = f"{files.place('published.csv')}:{line}"
        _check_value(row["printed"], _number(row["value"] or "nan", place=f"{place}: value"), place=place)
    return tuple(
        Cell(
            table=row["table"],
            quantity=row["quantity"],
            unit=row["unit"],
            printed=row["printed"],
            value=_number(row["value"] or "nan", place=f"{files.place('published.csv')}:{line}: value"),
            note=row.get("note", ""),
            key={column: _number_or_text(text) for column, text in row.items() if column not in CELL},
            place=f"{files.place('published.csv')}:{line}",
        )
        for line, row in rows
    )


def _number(text: str, *, place: str) -> float:
    try:
        number = float(text.replace("_", "x"))
    except ValueError:
        raise InputError(f'{place}: "{text}" is not a number') from None
    if math.isinf(number):
        raise InputError(f"{place}: is infinite (allowed: a finite number, or an empty cell)")
    return number


def _check_value(printed: str, value: float, *, place: str) -> None:
    """Raise if the printed number differs from the value."""
    try:
        number = float(printed)
    except ValueError:
        return
    if not (math.isnan(value) or math.isclose(number, value, rel_tol=1e-9)):
        raise InputError(f"{place}: printed is {printed} and value {value:g}; write words if the units differ")


def _number_or_text(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
