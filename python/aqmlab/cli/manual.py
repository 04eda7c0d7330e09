r"""The manual page, written in roff out of the commands themselves.

>>> roff_text("a\\b-c")
'a\\eb\\-c'
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

# typer keeps the types of its commands to itself.
Command = Any

END = """\
.SH ENVIRONMENT
.TP
.B AQMLAB_PLUGINS
Files with your own disciplines, as after \\-\\-plugin, separated by colons.
.TP
.B AQMLAB_TRACEBACK
If it is set, an internal error shows where it happened.
.SH EXIT STATUS
0 if everything was done, 1 after a failure, 2 for bad input, 130 after Ctrl\\-C.
"""


def walk(group: Command, path: str = "") -> Iterator[tuple[str, Command]]:
    """Go through all commands below a group with their names, such as ``results ls``."""
    for name in group.list_commands(None):
        words = f"{path} {name}".strip()
        yield words, group.commands[name]
        if getattr(group.commands[name], "commands", None):
            yield from walk(group.commands[name], words)


def manual(application: Command, version: str) -> str:
    """Write the manual page of the whole application as roff."""
    summary = roff_text((application.help or "").rstrip("."))
    head = f'.TH AQMLAB 1 "" "aqmlab {version}"\n.SH NAME\naqmlab \\- {summary}\n'
    usage = ".SH SYNOPSIS\n.B aqmlab\n[OPTIONS] COMMAND [ARGS]...\n.SH OPTIONS\n"
    commands = "".join(_section(words, command) for words, command in walk(application))
    return f"{head}{usage}{_options(application)}.SH COMMANDS\n{commands}{END}"


def show(page: str) -> None:
    """Show a manual page with ``man`` on a terminal; without one, or without ``man``, print it as roff."""
    if sys.stdout.isatty() and shutil.which("man"):
        subprocess.run(["man", "--local-file", "-"], input=page, text=True, check=False)
    else:
        sys.stdout.write(page)


def roff_text(text: str) -> str:
    """Write a text so that roff prints it as it is."""
    safe = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def _section(words: str, command: Command) -> str:
    arguments = " ".join(_name(one) for one in command.params if one.param_type_name == "argument")
    usage = roff_text(" ".join(filter(None, ["aqmlab", words, "[OPTIONS]", arguments])))
    examples = "".join(f"{roff_text(line)}\n" for line in (command.epilog or "").splitlines())
    shown = f".PP\nExamples:\n.nf\n{examples}.fi\n" if examples else ""
    return f".SS {roff_text(words)}\n{usage}\n.PP\n{roff_text(command.help or '')}\n{_options(command)}{shown}"


def _options(command: Command) -> str:
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    return "".join(f".TP\n.B {roff_text(_name(one))}\n{roff_text(one.help or '')}\n" for one in shown)


def _name(one: Any) -> str:  # noqa: ANN401
    if one.param_type_name == "argument":
        return str(one.metavar or one.name.upper())
    words = ", ".join([*one.opts, *one.secondary_opts])
    return words if getattr(one, "is_flag", False) else f"{words} {one.metavar or 'VALUE'}"
