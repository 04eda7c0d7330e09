"""Files of a paper's folder: scenario files, claims, readings, printed numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from aqmlab.papers.common.claim_file import ClaimFile
from aqmlab.papers.common.claim_prose import claim_text
from aqmlab.papers.common.claim_reader import read_claims
from aqmlab.papers.common.page_file import PageFile, read_page
from aqmlab.papers.scenarios import PREFIX
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.toml_text import Value, read_toml


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


@dataclass(frozen=True)
class ClaimText:
    """A claim of the paper (or, with `own`, of ours) in words: what it says, and how runs decide it."""

    id: str
    title: str
    says: str
    test: str
    own: bool = False


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
    """

    key: str
    question: str
    chosen: str
    why: str
    name: str
    overrides: dict[str, Value] = field(default_factory=dict)
    quick: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

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
    """The data files of a paper's package.

    Attributes
    ----------
    key
        The paper's name on the command line, for example ``pc-red``; its package is
        ``aqmlab.papers.pc_red``.
    """

    key: str

    def text(self, name: str) -> str:
        """Return a file as text."""
        package = resources.files(f"aqmlab.papers.{self.key.replace('-', '_')}")
        return package.joinpath(name).read_text(encoding="utf-8")

    def toml(self, name: str) -> dict[str, Any]:
        """Return a TOML file as data."""
        return _toml(self, name)

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a CSV file."""
        return list(csv.DictReader(io.StringIO(self.text(name))))

    def scenario(self, name: str, overrides: Overrides = ()) -> Scenario:
        """Return the scenario ``<name>.toml`` with overrides; messages name it ``paper:<key>/<name>.toml``."""
        return Scenario.from_text(self.text(f"{name}.toml"), filename=self.scenario_name(name), overrides=overrides)

    def scenario_name(self, name: str) -> str:
        """Return the name of a scenario of this paper on the command line."""
        return f"{PREFIX}{self.key}/{name}.toml"

    def claim_file(self) -> ClaimFile:
        """Return the claims of ``claims.toml`` as data that can be executed."""
        return read_claims(self.toml("claims.toml"), file=f"{self.key}/claims.toml")

    def page(self) -> PageFile:
        """Return the contents of ``page.toml``."""
        return read_page(self.toml("page.toml"), file=f"{self.key}/page.toml")

    def claims(self) -> list[ClaimText]:
        """Return the claims of ``claims.toml`` in words, in order; the sentences on tests are made from the data."""
        data = self.toml("claims.toml")
        if "column" not in data:  # claims whose tests are still in Python
            return [ClaimText(**entry) for entry in data["claim"]]
        file = self.claim_file()
        return [ClaimText(c.id, c.title, c.says, claim_text(file, c), c.own) for c in file.claims]

    def readings(self, *, quick: bool = False) -> list[Reading]:
        """Return the other readings of ``readings.toml``, in order; with `quick` only those marked so."""
        found = []
        for entry in self.toml("readings.toml")["reading"]:
            for other in entry.get("other", ()):
                options = {key: value for key, value in other.items() if key not in ("name", "set", "quick")}
                words = (entry["key"], entry["question"], entry["chosen"], entry["why"], other["name"])
                found.append(Reading(*words, other.get("set", {}), other.get("quick", False), options))
        return [reading for reading in found if reading.quick or not quick]

    def choices(self) -> list[dict[str, str]]:
        """Return every open question of ``readings.toml`` with what was chosen and why."""
        return [
            {"question": entry["question"], "chosen": entry["chosen"], "why": entry["why"]}
            for entry in self.toml("readings.toml")["reading"]
        ]

    def cells(self) -> tuple[Cell, ...]:
        """Return every printed number of ``published.csv``."""
        return _cells(self)

    def printed(self, **where: str | float) -> float:
        """Return one printed number; `where` names columns of ``published.csv``.

        >>> PaperFiles("mred").printed(table="1", n=5, discipline="MRED")
        9.682
        """
        found = [cell for cell in self.cells() if _fits(cell, where)]
        if len(found) != 1:
            raise KeyError(where)
        return found[0].value


def _fits(cell: Cell, where: Mapping[str, str | float]) -> bool:
    own = {"table": cell.table, "quantity": cell.quantity, "unit": cell.unit, **cell.key}
    return all(own.get(column) == value for column, value in where.items())


@cache
def _toml(files: PaperFiles, name: str) -> dict[str, Any]:
    return read_toml(files.text(name), filename=name)


@cache
def _cells(files: PaperFiles) -> tuple[Cell, ...]:
    fixed = ("table", "quantity", "unit", "printed", "value", "note")
    return tuple(
        Cell(
            table=row["table"],
            quantity=row["quantity"],
            unit=row["unit"],
            printed=row["printed"],
            value=float(row["value"] or "nan"),
            note=row.get("note") or "",
            key={column: _number_or_text(text) for column, text in row.items() if column not in fixed},
        )
        for row in files.rows("published.csv")
    )


def _number_or_text(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
