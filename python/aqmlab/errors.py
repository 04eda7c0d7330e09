"""Exceptions whose text is the message a user sees.

Each carries the exit code of the command line: 1 failure, 2 bad input, 3 undecided, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

OVERRIDE = "--set"
"""Name that a problem gives as its file if the value came from an override."""
MINUS = "−"
"""The minus sign, U+2212, of numbers on screens and pages; files and arguments have the hyphen."""

LONGEST_LINE = 2000
"""Characters of a line of a message; of a longer one the middle is left out."""
MOST_LINES = 200
"""Lines of a message."""
NEAR = 0.65
"""Least likeness of a name to one that is suggested: twice the common letters over all letters (`difflib`)."""
SHORTEST_BEGINNING = 3
"""Letters of the shortest name that is compared with the beginnings of words."""
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """Return a text of several lines as it may go to a terminal: control characters escaped, nothing cut."""
    return _CONTROL.sub(_escaped, text)


def printable(text: str) -> str:
    r"""Return a message as it may go to a terminal: control characters escaped, long lines and long lists cut.

    A value of a scenario file is part of many messages. Its control characters could move the cursor, change the
    terminal's title or colours, or reverse the order of the text.

    >>> print(printable("a.toml: \x1b[31mred"))
    a.toml: \x1b[31mred
    >>> len(printable("x" * 1_000_000)) < 2100
    True
    """
    lines = text.split("\n", MOST_LINES)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES] = f"... and {lines[MOST_LINES].count(chr(10)) + 1:,} lines more"
    return "\n".join(escaped(_cut(line)) for line in lines)


def to_stderr(line: str) -> None:
    """Print a line of progress to stderr, made `printable`; errors of a closed stderr are ignored."""
    with contextlib.suppress(OSError):
        print(printable(f"aqmlab: {line}"), file=sys.stderr)


def one_line(text: str) -> str:
    r"""Return `printable` text in one line.

    >>> print(one_line("a\nb"))
    a\nb
    """
    return printable(text.replace("\n", "\\n"))


def is_text(text: str) -> bool:
    r"""Whether a text can be written as UTF-8: words of the command line that are not UTF-8 have lone surrogates.

    >>> is_text("queue"), is_text("\udcff")
    (True, False)
    """
    return re.search("[\ud800-\udfff]", text) is None


def shell_word(text: str) -> str:
    r"""Quote a word for a shell, names of files with newlines or bytes that are not UTF-8 included.

    >>> print(shell_word("my results"), shell_word("a\udcff"))
    'my results' $'a\377'
    """
    if is_text(text) and text.isprintable():
        return shlex.quote(text)
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\{byte:03o}" for byte in os.fsencode(text))
    return f"$'{''.join(plain)}'"


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _cut(line: str) -> str:
    half = LONGEST_LINE // 2
    left_out = len(line) - 2 * half
    return line if left_out <= 0 else f"{line[:half]} ...({left_out:,} characters left out)... {line[-half:]}"


def show_warnings_in_one_line() -> None:
    """Print warnings of libraries as one line each, without the line of code that Python adds."""

    def show(message: Warning | str, *_: object) -> None:
        with contextlib.suppress(OSError):
            print(one_line(f"aqmlab: warning: {message}"), file=sys.stderr)

    warnings.showwarning = show  # type: ignore[assignment]


class Error(Exception):
    """Base of every error that aqmlab raises on purpose."""

    exit_code = 1


class BoundsError(Error):
    """No settings keep the bounds that were asked for."""


class UndecidedError(Error):
    """The runs are too few or too noisy for a verdict."""

    exit_code = 3


class InputError(Error):
    """Unusable input: a missing file, an unknown name, a value out of range."""

    exit_code = 2


class ListedError(InputError):
    """Input that is unusable for several reasons, one per line."""

    def __init__(self, head: str, reasons: Sequence[str]) -> None:
        self.lines = [line.replace("\n", "\\n") for line in (head, *reasons)]
        super().__init__("\n  ".join(self.lines))

    def __reduce__(self) -> tuple[type[ListedError], tuple[str, list[str]]]:
        return (type(self), (self.lines[0], self.lines[1:]))


class StorageError(Error):
    """Results cannot be written or read: no permission, a full disk, a damaged file."""


class WorkerError(Error):
    """A worker process ended by itself, for example because memory ran out."""


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C. Finished runs are on disk; the text says how to go on.

    No `Error`, so that ``except Exception`` does not catch it.
    """

    exit_code = 130


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a scenario file.

    Attributes
    ----------
    file, line, column
        Where; lines and columns count from 1. The file of a value that came by an option is the option, such as
        ``--set`` or ``--grid``.
    key
        Dotted path of the key in question, for example ``queue.bottleneck.max_p``.
    message
        Description of the error.
    allowed
        The values or the range allowed, or "".
    suggestion
        The nearest valid word for a typo, or "".
    """

    file: str
    line: int
    column: int
    key: str
    message: str
    allowed: str = ""
    suggestion: str = ""

    def __str__(self) -> str:
        """Return ``file:line:col: key: message (allowed: ...; did you mean ...?)``.

        >>> print(Problem("a.toml", 3, 1, "run.duratio", "unknown key", "duration, seeds", "duration"))
        a.toml:3:1: run.duratio: unknown key (allowed: duration, seeds; did you mean duration?)
        """
        if self.file.startswith("--"):
            parts = [f"{self.file} {self.key}", self.message]
        else:
            parts = [self._place, self.key, self.message]
        text = ": ".join(p.replace("\n", "\\n") for p in parts if p)
        hints = []
        if self.allowed:
            hints.append(f"allowed: {self.allowed}")
        if self.suggestion:
            hints.append(f"did you mean {self.suggestion}?")
        return f"{text} ({'; '.join(hints)})" if hints else text

    @property
    def _place(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def at_override(self, key: str, value: str) -> Problem:
        """Return the problem of a key of the file as one of the override that it conflicts with; both are named.

        >>> print(Problem("a.toml", 3, 1, "run.warmup", "is too long", "below 2 s").at_override("run.duration", "2s"))
        --set run.duration: 2s conflicts with run.warmup (a.toml:3:1): is too long (allowed: below 2 s)
        """
        other = f"{self.key} ({self._place})" if self.key else self._place
        return replace(
            self, file=OVERRIDE, line=1, column=1, key=key, message=f"{value} conflicts with {other}: {self.message}"
        )


class ScenarioError(InputError):
    """A scenario file is not valid. Lists every problem at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(p) for p in problems))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[Problem]]]:
        return (type(self), (self.problems,))

    def of_options(self, options: Mapping[str, str], values: Mapping[str, str]) -> ScenarioError:
        """Return the error with the option that gave a value, by the value's key, in place of ``--set``.

        A problem in the file, which is valid without these values, names all of them.

        >>> print(ScenarioError([Problem("--set", 1, 1, "foo", "unknown key")]).of_options({"foo.bar": "--over"}, {}))
        --over foo: unknown key
        >>> print(ScenarioError([Problem("a.toml", 3, 1, "b", "too long")]).of_options({"c": "--grid"}, {"c": "5"}))
        a.toml:3:1: b: too long, with --grid c=5
        """
        given = " ".join(f"{options[key]} {key}={value}" for key, value in values.items())
        return ScenarioError([_of_option(problem, options, given) for problem in self.problems])


def _of_option(problem: Problem, options: Mapping[str, str], given: str) -> Problem:
    if not problem.file.startswith("--"):
        return replace(problem, message=f"{problem.message}, with {given}")
    if problem.file != OVERRIDE:
        return problem
    own = [key for key in options if f"{key}.".startswith(f"{problem.key}.") or f"{problem.key}.".startswith(f"{key}.")]
    return replace(problem, file=options[own[-1]]) if own else problem


def listed(names: Sequence[str], most: int = 20) -> str:
    """List names, so many at most.

    >>> listed(["a", "b"]), listed(["a"] * 30)[-18:]
    ('a, b', 'a, ... (30 in all)')
    """
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def capitalized(text: str) -> str:
    """Return a text with a capital first letter, as at the start of a sentence; the others stay.

    >>> capitalized("use RED"), capitalized("")
    ('Use RED', '')
    """
    return f"{text[:1].upper()}{text[1:]}"


def joined(parts: Sequence[str]) -> str:
    """Return parts with commas and a last "and".

    >>> joined(["a"]), joined(["a", "b", "c"]), joined([])
    ('a', 'a, b and c', '')
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def unused(name: str, taken: Container[str], *, between: str = "-") -> str:
    """Return a name that is not taken: itself, or with the first free number from 2 on.

    >>> unused("tcp", ["tcp", "tcp-2"]), unused("udp", [])
    ('tcp-3', 'udp')
    """
    numbered = (f"{name}{between}{number}" for number in count(2))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def minus(text: str) -> str:
    """Return a text whose negative numbers have the minus sign in place of the hyphen; exponents keep theirs.

    >>> minus("-4.3 (-5.1 to -2.2)"), minus("1e-05, 2^-6 and 2026-12-01")
    ('−4.3 (−5.1 to −2.2)', '1e-05, 2^-6 and 2026-12-01')
    """
    return re.sub(r"(?<![\w.^-])-(?=\.?\d)", MINUS, text)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, or with `plural` unless the number is 1; the default adds an "s".

    >>> counted(1, "trial"), counted(0, "fresh seed"), counted(2000, "packet is", "packets are")
    ('1 trial', '0 fresh seeds', '2,000 packets are')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name nearest to a name, the first of equally near ones, or "" if none is near.

    Near is: at least `NEAR` alike by letters, whole or with as many letters from the start of a word of the known name.

    >>> names = ["loss", "mean_queue", "delay_p95_ms"]
    >>> [nearest(name, names) for name in ("Losss", "queue", "dely", "x")]
    ['loss', 'mean_queue', 'delay_p95_ms', '']
    >>> nearest("dumb", ["small", "dumbbell-red"])
    'dumbbell-red'
    """
    likeness = {one: _likeness(_plain(name), _plain(one)) for one in known}
    best = max(likeness, key=lambda one: likeness[one], default="")
    return best if best and likeness[best] >= NEAR else ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def _likeness(name: str, known: str) -> float:
    pieces = {known}
    if len(name) >= SHORTEST_BEGINNING:
        pieces |= {known[word.start() : word.start() + len(name)] for word in re.finditer("[a-z0-9]+", known)}
    return max(difflib.SequenceMatcher(None, piece, name).ratio() for piece in pieces)


def unknown(kind: str, name: str, known: list[str], *, see: str = "", most: int = 20) -> str:
    """Return the message for an unknown name, with the known names and the nearest of them.

    Parameters
    ----------
    kind
        The kind of name, such as ``discipline``.
    name
        The unknown name.
    known
        All known names.
    see
        The command that lists them, named in place of a long list; "" for the list.
    most
        Names that are listed at most.

    >>> unknown("discipline", "rde", ["drop-tail", "red"])
    'unknown discipline "rde" (allowed: drop-tail, red; did you mean red?)'
    >>> unknown("metric", "losss", ["loss", "marks"], see="aqmlab list quantities")
    'unknown metric "losss" (did you mean loss? All: aqmlab list quantities)'
    >>> unknown("metric", "dely", ["loss", "delay_p95_ms"], see="aqmlab list quantities")
    'unknown metric "dely" (did you mean delay_p95_ms? All: aqmlab list quantities)'
    """
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else ""
    if see:
        return f'unknown {kind} "{name}" ({" ".join(filter(None, [hint, f"All: {see}"]))})'
    return f'unknown {kind} "{name}" (allowed: {"; ".join(filter(None, [listed(known, most), hint]))})'


@contextlib.contextmanager
def in_code_of(owner: str) -> Iterator[None]:
    """Report an exception in a user's Python as bad input, in one line with its place; errors of aqmlab name the owner.

    Parameters
    ----------
    owner
        The name of the code for the message, such as ``plug-in mine.py``.

    Raises
    ------
    InputError
        For every exception but an interruption, and for `sys.exit`.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{owner}: {error}") from None
    except Error:
        raise
    except (Exception, SystemExit) as error:
        if os.environ.get("AQMLAB_TRACEBACK"):
            raise
        installed = (sys.prefix, str(Path(__file__).parent), "<")
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(installed)]
        where = f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
        if isinstance(error, SyntaxError) and error.filename:
            where, error = f"{error.filename}:{error.lineno}: ", SyntaxError(error.msg)
        hint = "" if where else " (AQMLAB_TRACEBACK=1 shows where)"
        raise InputError(f"{owner}: {where}{type(error).__name__}: {error}{hint}") from None
