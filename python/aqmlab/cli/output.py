"""Output of commands: tables for people, JSON for programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.errors import MINUS, escaped, minus, one_line
from aqmlab.results import folders
from aqmlab.runs.progress import is_quiet

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.evaluation import Evaluation
    from aqmlab.statistics.sequential import Stopping

WIDTH = 80
"""Columns of the answer of a command."""
GAP = 2
"""Width of the space between two columns."""
MOST_LINES = 24
"""Lines beyond which a table goes on only with ``--details``."""


def say(line: object) -> None:
    """Print a line on stdout; newlines and control characters, which names of files may have, become escapes."""
    print(escaped(str(line).replace("\n", "\\n")))


def print_json(data: object) -> None:
    """Print data as JSON."""
    sys.stdout.write(folders.to_json(data))


def warn(text: str) -> None:
    """Print a warning on stderr, unless the command has the option ``-q``."""
    if not is_quiet():
        print(one_line(f"aqmlab: warning: {text}"), file=sys.stderr)


def print_stopping(stopping: Stopping | None) -> None:
    """Say how it ended, if it ran until intervals are narrow enough."""
    if stopping is None:
        return
    for line in stopping.lines():
        print_wrapped(line)


def stopping_data(stopping: Stopping | None) -> dict[str, Any] | None:
    """Return the same for programs."""
    return None if stopping is None else stopping.data()


def print_evaluation(evaluation: Evaluation | None, *, details: bool = False) -> None:
    """Print the number of runs and their time; with details the event engine, the speed and the memory too."""
    if evaluation is not None:
        for line in evaluation.lines() if details else [evaluation.short_line()]:
            print_wrapped(line)


def evaluation_data(evaluation: Evaluation | None) -> dict[str, Any] | None:
    """Return the same for programs."""
    return None if evaluation is None else evaluation.data()


def print_screen(
    answer: str,
    title: str,
    lines: Iterable[str],
    legend: str = "",
    notes: Iterable[str] = (),
    commands: Iterable[str] = (),
) -> None:
    """Print the answer of a command: a sentence, a table under its title, the meaning of its signs, and notes.

    Parameters
    ----------
    answer
        The answer in words, wrapped at 80 columns.
    title, lines
        The table: lines of `aqmlab.runs.comparison_matrix.lines_of`, or of `table_lines`.
    legend
        The meaning of signs, and the option that prints the rest.
    notes
        Further sentences.
    commands
        Lines for a shell below the answer; they stay whole, however long.
    """
    print_wrapped(answer)
    for line in commands:
        print(f"    {escaped(line)}")
    print()
    print_wrapped(title)
    for line in lines:
        print(escaped(line))
    print_wrapped(legend)
    print()
    for note in notes:
        print_wrapped(note)


def print_wrapped(text: str, *, indent: str = "") -> None:
    """Print a sentence, wrapped at 80 columns; words that are longer, such as paths, stay whole."""
    for line in textwrap.wrap(
        escaped(text),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    ):
        print(line)


def print_table(
    table: pd.DataFrame,
    *,
    title: str,
    labels: int = 1,
    to_right: bool = False,
) -> None:
    """Print a table under its title; further blocks of a table that is too wide repeat so many columns.

    ``to_right``: columns after these stand to the right, even if they are not numbers alone.
    """
    print_wrapped(title)
    _print_lines(lines_of(table, labels, to_right=to_right))


def print_rows(columns: list[str], rows: list[list[str]], labels: int = 1, *, to_right: bool = False) -> None:
    """Print rows under column heads, and an empty line; see `table_lines`."""
    _print_lines(table_lines(columns, rows, labels, to_right=to_right))


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
    print()


def lines_of(
    table: pd.DataFrame, labels: int = 1, *, to_right: bool = False, width: int | None = None
) -> Iterator[str]:
    """Yield the lines of a table; see `table_lines`."""
    rows = [[text_of(value) for value in row] for row in table.itertuples(index=False)]
    return table_lines([str(column) for column in table.columns], rows, labels, to_right=to_right, width=width)


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    labels: int = 1,
    *,
    to_right: bool = False,
    width: int | None = None,
) -> Iterator[str]:
    """Yield rows under column heads, numbers to the right, and with `to_right` all columns after the labels.

    A table that is too wide wraps its text at spaces; if that is not enough, its columns go on in further blocks, each
    of which repeats the first column, or the first `labels`. No cell is shortened.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = [[minus(cell) if _is_figure(cell) else cell for cell in row] for row in rows]
    cells = [[one_line(cell) for cell in row] for row in (columns, *rows)]
    least = [_least_width([row[index] for row in cells]) for index in range(len(columns))]
    most = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    width = width or _width()
    for number, block in enumerate(_blocks(least, width, GAP, labels)):
        widths = _shrunk([least[i] for i in block], [most[i] for i in block], width - GAP * (len(block) - 1))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        for index, room in zip(block, widths, strict=True):
            numeric = (all(_is_number(row[index]) for row in rows) and bool(rows)) or (to_right and index >= labels)
            table.add_column(Text(cells[0][index]), justify="right" if numeric else "left", width=room)
        for row in cells[1:]:
            table.add_row(*(Text(row[index]) for index in block))
        # One word that is wider than the screen goes on beyond its edge.
        room = max(width, sum(widths) + GAP * (len(block) - 1))
        console = Console(width=room, highlight=False, force_terminal=False)
        with console.capture() as printed:
            console.print(table)
        if number:
            yield ""
        yield from (line.rstrip() for line in printed.get().splitlines())


def _width() -> int:
    """Return the width of tables: of the terminal, else of ``COLUMNS``, else 160."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() and int(asked) > 0 else 160


def _least_width(cells: list[str]) -> int:
    """Return the width below which a column would break a word or an estimate such as ``9.99 ± 0.11``."""
    return max((len(word) for cell in cells for word in ([cell] if _is_estimate(cell) else cell.split())), default=1)


def _blocks(least: list[int], room: int, gap: int, labels: int = 1) -> list[list[int]]:
    """Divide columns, given their least widths, into blocks that have room; the first columns begin each.

    >>> _blocks([5, 4, 4, 4], 40, 2), _blocks([5, 4, 4, 4], 18, 2)
    ([[0, 1, 2, 3]], [[0, 1, 2], [0, 3]])
    >>> _blocks([5, 4, 4, 4], 18, 2, labels=2)
    [[0, 1, 2], [0, 1, 3]]
    """
    first = list(range(min(labels, len(least))))
    blocks = [[*first]]
    for index in range(len(first), len(least)):
        if sum(least[i] + gap for i in blocks[-1]) + least[index] > room and len(blocks[-1]) > len(first):
            blocks.append([*first])
        blocks[-1].append(index)
    return blocks


def _shrunk(least: list[int], most: list[int], room: int) -> list[int]:
    """Return widths between the least and the most that have room together, where that is possible.

    >>> _shrunk([3, 5, 5], [3, 20, 12], 28), _shrunk([9], [12], 5)
    ([3, 13, 12], [9])
    """
    widths = list(most)
    while sum(widths) > room and widths != least:
        widest = max((index for index in range(len(widths)) if widths[index] > least[index]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def text_of(value: object) -> str:
    """Write a cell of a table."""
    if isinstance(value, float):
        return "-" if value != value else f"{value:.5g}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value)
    return "" if value is None else str(value)


def _is_number(text: str) -> bool:
    digits = text.lstrip(f"+-{MINUS}").replace(".", "", 1).replace("e-", "", 1).replace("e+", "", 1)
    return text in ("", "-") or digits.isdigit()


def _is_estimate(text: str) -> bool:
    return "±" in text


def _is_figure(text: str) -> bool:
    return _is_number(text) or _is_estimate(text) or re.search(r"\(\S+ to \S+\)|\(\S+ %", text) is not None
