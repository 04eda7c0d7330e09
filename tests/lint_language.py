"""Finds words in prose that only this project uses, and names the plain one: `python tests/lint_language.py [PATH...]`.

It also counts clauses where a noun belongs ("what is allowed" for "valid settings"), of which the whole repository has
at most `MOST_CLAUSES`; `--clauses [PATH...]` lists them.

Prose is the text of Markdown pages without code, comments, docstrings and messages. String literals without a blank are
keys, not prose. A line that must keep such a word, for example in a quotation, carries the marker ``language: keep``.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
KEEP = "language: keep"

PATTERNS = {
    r"told(?! apart)|telling": 'name who reports: "the command prints", "is reported"',
    r"tells? (?:of|what|how|why|which|that|the rest|more)": '"reports", "describes" or "explains"',
    r"nobody(?:'s)?": 'say who or what: "no process", "no index entry"',
    r"anew": '"again" or "from scratch"',
    r"lent": '"injected" or "passed in"',
    r"(?:disciplines?|queues?|what is|stands?) beside (?:red|these parts)|no red|beside/": '"non-RED disciplines"',
    r"written elsewhere|foreign": '"plug-in" or "external"',
    r"refus(?:al|als|e(?!:)|es|ing)|(?<!connection\s)refused": '"error"; "is rejected with a message"',
    r"one's own": '"your own" or "custom"',
    r"who(?:m)?ever": 'name the actor: "a process that", "the user who"',
    r"(?:is|are|be|was|were) said|sa(?:y|ys|id) so": '"is reported"; "prints a message"',
    r"la(?:id|y|ys) (?:\w+ ){0,3}over": '"overrides" (values) or "is plotted over" (figures)',
    r"books?(?: of)?": '"counters" or "statistics"',
    r"heard": '"received", "output" or "known"',
    r"crews?": '"executor"',
    r"twins?": '"Python equivalent" or "reference model"',
    r"a file a thing": '"one topic a file"',
}
"""Regular expressions, matched as whole words in any case, with what to write in their place."""

CLAUSE = re.compile(
    r"^\W*(?:What|Who|Those|That which)\b|\b(?:what is|what a|what the|who|is none|has not)\b", re.MULTILINE
)
"""A clause in place of a noun. A question or a quotation may keep it."""
MOST_CLAUSES = 150

_OWN = (Path(__file__).resolve(), ROOT / "tests/python/test_lint_language.py")
"""The lint and its tests, which name the words."""
_ALL = {re.compile(rf"(?<![\w-])(?:{p})(?![\w-])".replace(" ", r"\s+"), re.I): hint for p, hint in PATTERNS.items()}
_RUST = re.compile(r'//[/!]?(.*)|"((?:[^"\\\n]|\\.)*)"')


class Found(NamedTuple):
    """A word at its place."""

    line: int
    word: str
    hint: str


def find(name: str, text: str) -> list[Found]:
    """Return the words to replace in a file's prose, in the order of lines.

    >>> page = "Errors are told.\\n\\n    told = 1\\n\\n`told` is code, and\\nquoted: told <!-- language: keep -->"
    >>> find("a.md", page)
    [Found(line=1, word='told', hint='name who reports: "the command prints", "is reported"')]
    >>> [found.word for found in find("a.py", '# Nobody knows\\ntold = "anew"  # a key\\nprint(f"{told} anew")')]
    ['Nobody', 'anew']
    """
    lines = text.split("\n")
    found = [
        Found(first + prose.count("\n", 0, match.start()), " ".join(match[0].split()), hint)
        for first, prose in _prose(name, text)
        for pattern, hint in _ALL.items()
        for match in pattern.finditer(prose)
    ]
    return sorted({one for one in found if KEEP not in lines[one.line - 1]})


def clauses(name: str, text: str) -> list[int]:
    """Return the lines of a file's prose that have a clause in place of a noun.

    >>> clauses("a.md", "What is allowed.\\nAsk who came.\\n\\nIt is valid.")
    [1, 2]
    """
    found = {
        first + prose.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip()))
        for first, prose in _prose(name, text)
        for match in CLAUSE.finditer(prose)
    }
    return sorted(found)


def _prose(name: str, text: str) -> Iterable[tuple[int, str]]:
    if name.endswith(".py"):
        return _python(text)
    if name.endswith(".rs"):
        return _rust(text)
    return [(1, _without_code(text))]


def _python(text: str) -> Iterator[tuple[int, str]]:
    prose = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in prose and " " in token.string.strip("\"'"):
            yield token.start[0], re.sub(r"``?[^`\n]+``?|\{[^{}\n]*\}", "", token.string)


def _rust(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        for match in _RUST.finditer(line):
            if " " in (match[1] or match[2] or ""):
                yield number, re.sub(r"`[^`]+`", "", match[0])


def _without_code(text: str) -> str:
    """Return a page with its code blanked out, so that lines keep their numbers."""
    text = re.sub(r"(?ms)^(```|~~~).*?^\1", lambda match: "\n" * match[0].count("\n"), text)
    text = re.sub(r"(?m)^ {4}(?![*-]|\d+\.).*$", "", text)
    return re.sub(r"\]\([^)\s]*\)|`[^`\n]*`", "]", text)


GENERATED = {"target", "site", "results", "dist", "vendor"}


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Find the files to check below some paths; hidden and generated folders are left out."""
    for path in paths:
        if path.is_file():
            yield path.absolute()
        for folder, folders, names in os.walk(path.absolute()):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in GENERATED)
            found = (Path(folder, name) for name in sorted(names) if name.endswith((".md", ".py", ".rs")))
            yield from (one for one in found if one not in _OWN)


def main(arguments: list[str]) -> int:
    """Check the given paths, or all that are revised; print a line for each word and return 1 if there are any."""
    lists = arguments[:1] == ["--clauses"]
    given = [Path(one) for one in arguments[lists:]]
    wrong = count = 0
    for path in files(given or [ROOT]):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        for found in () if lists else find(name, text):
            print(f'{name}:{found.line}: "{found.word}": {found.hint}')
            wrong += 1
        lines = clauses(name, text)
        count += len(lines)
        for line in lines if lists else ():
            print(f"{name}:{line}: {text.splitlines()[line - 1].strip()}")
    if lists:
        print(f"{count} clauses in place of a noun")
        return 0
    if count > MOST_CLAUSES:
        print(f"{count} clauses in place of a noun (allowed: {MOST_CLAUSES}; --clauses PATH lists them)")
        wrong += 1
    if wrong:
        print(f"{wrong} words to replace (a quotation keeps one with the marker `{KEEP}` in its line)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
