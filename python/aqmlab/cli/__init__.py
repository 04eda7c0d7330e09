"""The command line. Every command calls a Python function of the same scope, which does the work."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from aqmlab import extensions
from aqmlab.cli import (  # noqa: F401 - these put their commands into the application
    analyses,
    files,
    frontier,
    laboratory,
    results,
    runs,
    sweeps,
    tuning,
)
from aqmlab.cli.application import ADD_ONS, app, command_words
from aqmlab.cli.output import warn
from aqmlab.cli.values import parse_overrides, parse_seeds
from aqmlab.errors import Error, Interrupted, ListedError, ScenarioError, one_line, printable, show_warnings_in_one_line
from aqmlab.results import folders
from aqmlab.signals import exit_code

__all__ = ["app", "entry", "main", "parse_overrides", "parse_seeds"]

for _name in extensions.names(ADD_ONS):
    try:
        extensions.load(ADD_ONS, _name)
    except Error as _error:
        warn(str(_error))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 done, 1 failure, 2 bad input, 3 undecided, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).
    """
    _show_any_text()
    command_words.set(sys.argv[1:] if arguments is None else list(arguments))
    try:
        words = None if arguments is None else list(arguments)
        code = _commands()(args=words, prog_name="aqmlab", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", exit_code())
    except ScenarioError as error:
        print(printable(str(error)), file=sys.stderr)
        return error.exit_code
    except ListedError as error:
        return _fail(error.lines[0], error.exit_code, more=error.lines[1:])
    except Error as error:
        return _fail(str(error), exit_code() if error.exit_code == Interrupted.exit_code else error.exit_code)
    except TyperException as error:
        return _usage(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(folders.explain(Path(error.filename or "stdout"), error), 1)
    except MemoryError:
        return _fail("out of memory", 1)
    except Exception as error:
        if os.environ.get("AQMLAB_TRACEBACK"):
            raise
        return _fail(f"internal error: {type(error).__name__}: {error} (AQMLAB_TRACEBACK=1 shows where)", 1)
    if code == Interrupted.exit_code:  # which typer made of Ctrl-C
        return _fail("interrupted", exit_code())
    return int(code or 0)


@cache
def _commands() -> Any:  # noqa: ANN401 - typer keeps its types to itself
    """Return the application's commands, which typer would make again in each call."""
    return get_command(app)


def entry() -> None:
    """Start from the shell."""
    _open_standard_files()
    show_warnings_in_one_line()
    code = main()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or _fail(folders.explain(Path("stdout"), error), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _open_standard_files() -> None:
    """Open ``/dev/null`` in place of standard files that are closed, as after ``>&-``.

    Without this the next file that is opened, a table of results for example, is standard output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            found = os.open(os.devnull, os.O_RDWR)
            if found != number:
                os.dup2(found, number)
                os.close(found)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _show_any_text() -> None:
    """Write characters that the encoding of a terminal or a pipe lacks as escapes; an error would lose the results.

    On Windows a pipe has the code page of the country, without arrows and signs of the tables: it gets UTF-8.
    """
    encoding = "utf-8" if sys.platform == "win32" else None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _usage(error: TyperException) -> int:
    """Show what was wrong with the words of the command in one line, or the help if there were none."""
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        print(printable(message or "aqmlab --help shows the commands"), file=sys.stderr)
        return 2
    return _fail(message.replace("\n", " "), int(getattr(error, "exit_code", 2)))


def _fail(message: str, code: int, *, more: Sequence[str] = ()) -> int:
    lines = [one_line(f"aqmlab: {message}"), *(one_line(f"  {line}") for line in more)]
    with contextlib.suppress(OSError):  # of a terminal that was closed
        print("\n".join(lines), file=sys.stderr)
    return code
