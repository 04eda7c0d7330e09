"""Tables in Markdown, and where they stand in a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MISSING = "-"
"""Where there is no number."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table.

    >>> print(table(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "".join(
        ("|" + "|".join(line) + "|" if i == 1 else "| " + " | ".join(line) + " |") + "\n"
        for i, line in enumerate(lines)
    )


def count(number: int) -> str:
    """Write a number of packets; 0 is one that is not known."""
    return f"{number:,}" if number else MISSING


def percent(ours: int, theirs: int) -> str:
    """Write by how much ours is above theirs."""
    return f"{100 * (ours / theirs - 1):+.2f} %" if theirs else MISSING


def marks(name: str) -> tuple[str, str]:
    """Return the lines between which a table stands in a page."""
    return f"<!-- {name}: written by make bench -->\n", f"<!-- end of {name} -->\n"


def replaced(page: str, name: str, text: str) -> str:
    """Put a text between its marks.

    Raises
    ------
    ValueError
        If the page has no such marks.
    """
    begin, end = marks(name)
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no lines {begin.strip()!r} and {end.strip()!r}")
    return f"{before}{begin}\n{text}\n{end}{after}"


def write(path: Path, name: str, text: str) -> None:
    """Put a text between its marks in a file."""
    path.write_text(replaced(path.read_text(), name, text))
