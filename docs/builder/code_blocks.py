"""Code in pages: indented blocks get a language, and marked ones can be found, to be run by the tests.

A block is marked by a comment on a line of its own before it, which neither a repository host nor the site shows:
``<!-- example -->`` (shell, run), ``<!-- output -->`` (output of the commands before it) and
``<!-- file NAME -->`` (written into the folder where the examples run).
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

MARK = re.compile(r"\s*<!-- (example|output|file)(?: (\S+))? -->\s*")
FENCE = re.compile(r"(`{3,}|~{3,})\s*(\w*)")
SHELL = re.compile(
    r"(\$ |#|sudo |[A-Z_]+=\S|\. \.?\w|(aqmlab|apt|cargo|curl|docker|for|git|kill|make|ns|pip|python3?|tc) )"
)


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes
    ----------
    line, end
        Its first line (of a fenced one, the fence) and the one behind its last, counted from 0.
    text
        The code, without its indentation.
    language
        Its language.
    mark, name
        Its mark and the name in that, or "".
    fenced
        Whether it has fences.
    """

    line: int
    end: int
    text: str
    language: str
    mark: str = ""
    name: str = ""
    fenced: bool = False


def blocks(page: str) -> Iterator[Block]:
    r"""Find all blocks of code of a page.

    >>> [(b.language, b.mark, b.text) for b in blocks("Do:\n\n<!-- example -->\n\n    aqmlab list\n\nEnd.")]
    [('sh', 'example', 'aqmlab list')]
    """
    lines = page.split("\n")
    mark, name, at = "", "", 0
    while at < len(lines):
        line = lines[at]
        found: Block | None = None
        if match := MARK.fullmatch(line):
            mark, name = match[1], match[2] or ""
        elif match := FENCE.match(line):
            end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == match[1]), len(lines) - 1)
            found = Block(at, end + 1, "\n".join(lines[at + 1 : end]), match[2], mark, name, True)
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            found = _indented(lines, at, mark, name)
        elif line.strip():
            mark = name = ""
        if found is not None:
            yield found
            at, mark, name = found.end, "", ""
        else:
            at += 1


def language(text: str) -> str:
    r"""Return the language of a block.

    >>> [language(t) for t in (">>> 1", "[run]\nseeds = 2", "aqmlab run x.toml", "import aqmlab", "| 1")]
    ['pycon', 'toml', 'sh', 'python', 'text']
    """
    if text.startswith(">>>"):
        return "pycon"
    try:
        tomllib.loads(text)
        return "toml" if "=" in text or text.startswith("[") else "sh"
    except tomllib.TOMLDecodeError:
        pass
    if SHELL.match(text):
        return "sh"
    try:
        return "python" if ast.parse(text).body else "text"
    except SyntaxError:
        return "text"


def with_languages(page: str) -> str:
    """Return a page whose indented blocks have become fenced ones with their language."""
    lines = page.split("\n")
    for block in reversed(list(blocks(page))):
        if not block.fenced:
            lines[block.line : block.end] = [f"```{block.language}", *block.text.split("\n"), "```"]
    return "\n".join(line for line in lines if not MARK.fullmatch(line))


def _indented(lines: list[str], at: int, mark: str, name: str) -> Block:
    end = at
    for number in range(at, len(lines)):
        if lines[number].startswith("    "):
            end = number + 1
        elif lines[number].strip():
            break
    text = "\n".join(line[4:] for line in lines[at:end])
    return Block(at, end, text, language(text), mark, name)
