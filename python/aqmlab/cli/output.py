"""Output of commands: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import Any

from aqmlab.errors import escaped, one_line
from aqmlab.execution.progress import is_quiet
from aqmlab.results.evaluation import Evaluation
from aqmlab.statistics.sequential import Stopping
from aqmlab.storage import folders


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
        print(line)


def stopping_data(stopping: Stopping | None) -> dict[str, Any] | None:
    """Return the same for programs."""
    return None if stopping is None else stopping.data()


def print_evaluation(evaluation: Evaluation | None) -> None:
    """Say which engine evaluated the runs, how fast, in how much memory."""
    for line in evaluation.lines() if evaluation is not None else ():
        print(line)


def evaluation_data(evaluation: Evaluation | None) -> dict[str, Any] | None:
    """Return the same for programs."""
    return None if evaluation is None else evaluation.data()


def print_table(table: Any, *, title: str) -> None:  # noqa: ANN401 - a pandas table, which is loaded late
    """Print a table under its title."""
    if title:
        print(escaped(title))
    print_rows([str(c) for c in table.columns], [[text_of(v) for v in row] for row in table.itertuples(index=False)])


def print_wrapped(text: str) -> None:
    """Print a sentence, wrapped at 80 columns."""
    for line in textwrap.wrap(escaped(text), 80, break_on_hyphens=False):
        print(line)


def print_rows(columns: list[str], rows: list[list[str]]) -> None:
    """Print rows under column heads, numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = all(_is_number(row[index]) for row in rows) and bool(rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console.print(table)


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
    return (
        text in ("", "-") or text.lstrip("+-").replace(".", "", 1).replace("e-", "", 1).replace("e+", "", 1).isdigit()
    )
