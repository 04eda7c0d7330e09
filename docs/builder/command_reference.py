"""The reference of the command line, out of the application itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from aqmlab.cli import app
from aqmlab.cli.manual import walk
from builder.page import Page, cell, code, plain, table

# typer keeps the types of its commands to itself.
Command = Any
INTRODUCTION = """\
# The command line

`aqmlab --help` lists the commands, `aqmlab COMMAND --help` the options of one; this page says the same. Results go to
stdout, messages and progress to stderr. The exit code is 0 where everything was done, 1 after a failure, 2 for bad
input, which is reported in one line, 3 where an `--assert` is undecided, and 130 after Ctrl-C."""


def pages() -> list[Page]:
    """Make the page."""
    parts = [INTRODUCTION, "## Before any command", _options(application())]
    for words, command in commands():
        parts += [f"## {words}", _help(command), _examples(command), _options(command)]
    return [Page("reference/commands.md", "Command line", "\n\n".join(parts))]


def commands() -> Iterator[tuple[str, Command]]:
    """Go through all commands, such as ``results ls``."""
    yield from walk(application())


def application() -> Command:
    """Return the command that contains all others; it has options of its own, which go before a command."""
    return typer.main.get_command(app)


def options(command: Command) -> set[str]:
    """Return the words of a command that begin with a dash."""
    words = {word for one in command.params for word in [*one.opts, *one.secondary_opts] if word.startswith("-")}
    return words | {"--help"}


def _options(command: Command) -> str:
    rows = [_row(one) for one in command.params if not getattr(one, "hidden", False)]
    return table(["word", "value", "default", "what"], rows) if rows else ""


def _row(one: Any) -> list[str]:  # noqa: ANN401
    argument = one.param_type_name == "argument"
    name = code(one.metavar or one.name.upper()) if argument else " ".join(code(word) for word in one.opts)
    flag = getattr(one, "is_flag", False)
    value = "" if argument or flag else code(one.metavar or "VALUE")
    many = " May be given often." if one.multiple and "often" not in (one.help or "") else ""
    default = one.default
    shown = "" if flag or default in (None, (), []) or callable(default) else code(default)
    needed = "needed" if one.required else shown
    return [name, value, needed, plain(cell(one.help)) + many]


def _examples(command: Command) -> str:
    return "\n".join(f"    {line}" for line in (command.epilog or "").splitlines())


def _help(command: Command) -> str:
    return plain(" ".join((command.help or "").split()))
