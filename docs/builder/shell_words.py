"""Checks what pages say to type, without running it: each `aqmlab` command exists, and has the options it is given."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from builder.code_blocks import blocks
from builder.command_reference import application, commands, options

COMMAND = re.compile(r"^(?:\$ )?(?:sudo )?(?:[A-Z_]+=\S+ )*aqmlab(?: |$)")


def typed(page: str) -> Iterator[tuple[int, str]]:
    r"""Find all lines of a page's code that call `aqmlab`, with their number; a backslash goes on with the next line.

    >>> list(typed("So:\n\n    aqmlab run a.toml \\\n        --seeds 2   # two"))
    [(3, 'aqmlab run a.toml --seeds 2')]
    """
    for block in blocks(page):
        first = block.line + (2 if block.fenced else 1)
        whole, begins = "", 0
        for number, line in enumerate(block.text.split("\n"), first):
            begins, whole = (begins, f"{whole} {line.strip()}") if whole else (number, line.strip())
            if whole.endswith("\\"):
                whole = whole[:-1].strip()
                continue
            if COMMAND.match(whole):
                yield begins, whole.partition(" #")[0].strip()
            whole = ""


def problems(page: str) -> list[str]:
    """Return a line for each command or option that does not exist.

    >>> problems("    aqmlab run x.toml --sedes 3")
    ['line 1: aqmlab run has no --sedes']
    """
    known = dict(commands())
    found = []
    for number, line in typed(page):
        words, wrong = _without_options(_words(line))
        found += [f"line {number}: aqmlab has no {word}" for word in wrong]
        name = next((two for two in (" ".join(words[:2]), *words[:1]) if two in known), "")
        if words and not name and not words[0].startswith("-") and not words[0].isupper():
            found.append(f"line {number}: aqmlab has no command {words[0]}")
        if name:
            own = words[: words.index("--")] if "--" in words else words  # what follows are arguments
            given = {word.partition("=")[0] for word in own if word.startswith("--")}
            found += [f"line {number}: aqmlab {name} has no {word}" for word in sorted(given - options(known[name]))]
    return found


def _without_options(words: list[str]) -> tuple[list[str], list[str]]:
    """Take away the options before the command, such as ``--plugin FILE``; return the rest, and those unknown."""
    known = {word: one for one in application().params for word in one.opts}
    wrong = []
    while words and words[0].startswith("--") and words[0] != "--help":
        option = known.get(words[0])
        wrong += [words[0]] if option is None else []
        words = words[1 if option is None or getattr(option, "is_flag", False) else 2 :]
    return words, wrong


def _words(line: str) -> list[str]:
    """Split a line after `aqmlab`, up to where another command begins."""
    after = line[line.index("aqmlab") + 6 :]
    try:
        words = shlex.split(after)
    except ValueError:
        words = after.split()
    end = next((n for n, word in enumerate(words) if word in ("|", "||", "&&", ";", ">", "&")), len(words))
    return words[:end]
