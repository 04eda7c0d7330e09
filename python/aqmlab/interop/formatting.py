"""Shared parts of scripts for all programs: numbers, comments, names of files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from aqmlab.interop.differences import Semantic
from aqmlab.interop.escaping import line_comment
from aqmlab.interop.model import Model
from aqmlab.scenario.parts import safe

WIDTH = 118
"""Of comments."""


def number(value: float) -> str:
    """Write a number so that it is read back as it is.

    >>> number(10), number(0.002), number(1e7)
    ('10', '0.002', '10000000')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def flag(value: object) -> str:
    """Write a flag."""
    return "true" if value else "false"


def comment(text: str, mark: str, *, item: str = "") -> list[str]:
    """Write text as lines of comment, which begin with ``#`` or ``//``.

    >>> comment("What differs.", "#", item="- ")
    ['# - What differs.']
    """
    further = " " * len(item)
    return textwrap.wrap(
        line_comment(text),
        WIDTH,
        initial_indent=f"{mark} {item}",
        subsequent_indent=f"{mark} {further}",
        break_on_hyphens=False,
    )


def told(found: Iterable[Semantic], title: str, mark: str) -> Iterator[str]:
    """Write as comment what differs between a program and the scenario."""
    for place, one in enumerate(found):
        if place == 0:
            yield mark
            yield f"{mark} Where {title} and the scenario differ:"
        yield from comment(one.sentence, mark, item="- ")


def refused(
    model: Model, title: str, found: Iterable[Semantic], mark: str, *end: str, cannot: str = "express all of it"
) -> str:
    """Write the text in place of a script where a program cannot run the scenario; the last lines end it."""
    about = f"{mark} The scenario {line_comment(model.name)} is not written for {title}: it cannot {cannot}."
    return "\n".join([about, *(f"{mark} {line_comment(one.sentence)}" for one in found), *end]) + "\n"


def file_name(model: Model, suffix: str) -> str:
    """Name of a script's file.

    A scenario's name may have any characters; one without letters and digits becomes ``scenario``.
    """
    plain = safe(model.name).strip(".-")
    return (plain or "scenario") + suffix
