"""A page as text, and the parts of pages: tables, links, escapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Page:
    """A page that is made when the site is built.

    Attributes
    ----------
    uri
        Its place in the site's sources, such as ``disciplines/red.md``.
    title
        Its name in the navigation.
    text
        Markdown.
    files
        Figures that belong to it: place and content.
    """

    uri: str
    title: str
    text: str
    files: dict[str, bytes] = field(default_factory=dict)


def cell(value: object) -> str:
    r"""Return a value as text of a table's cell.

    >>> cell("a | b\nc"), cell(None), cell(True), cell(0.1)
    ('a \\| b c', '', 'true', '0.1')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split()).replace("|", "\\|")


def code(value: object) -> str:
    """Return a value as code of a table's cell, nothing for nothing.

    >>> code("w_q"), code(None)
    ('`w_q`', '')
    """
    text = cell(value)
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    r"""Escape Markdown's special characters in a plain text.

    >>> plain("max_p * 2 <b> [x]")
    'max\\_p \\* 2 &lt;b> \\[x]'
    """
    return re.sub(r"([_*`\[])", r"\\\1", text).replace("<", "&lt;")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def slug(text: str) -> str:
    """Return a file's name for a title.

    >>> slug("Run and compare"), slug("aqmlab.live")
    ('run-and-compare', 'aqmlab-live')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
