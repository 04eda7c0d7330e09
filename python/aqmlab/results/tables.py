"""The tables that a run may record, with their columns, as `tables.toml` describes them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from aqmlab.scenario.toml_text import read_toml


@dataclass(frozen=True)
class Column:
    """A column of a table: its unit (``-`` for a number without one, "" for text) and its meaning."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class TableInfo:
    """A table of a run.

    Attributes
    ----------
    name, what
        Its name, and what it is.
    rows
        What there is a row for.
    when
        The key that asks for it; "" if it needs none.
    columns
        Its columns, without ``seed``, which all tables have.
    """

    name: str
    what: str
    rows: str
    when: str
    columns: tuple[Column, ...]


def _read() -> dict[str, TableInfo]:
    text = resources.files("aqmlab.results").joinpath("tables.toml").read_text(encoding="utf-8")
    found = {}
    for name, entry in read_toml(text).items():
        columns = tuple(Column(key, *value) for key, value in entry.items() if isinstance(value, list))
        found[name] = TableInfo(name, entry["what"], entry["rows"], entry.get("when", ""), columns)
    return found


DESCRIBED = _read()
"""Every table by its name."""
TABLES = tuple(DESCRIBED)
"""Names of all tables, in their order."""
OPTIONAL = {name: table.when for name, table in DESCRIBED.items() if name not in ("links", "flows")}
"""Tables that a run may lack, and the key that asks for them; without a key they are there unless they are empty."""
