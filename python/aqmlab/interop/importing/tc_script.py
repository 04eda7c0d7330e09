"""Lines of tc in a text: a shell script, or what ``tc qdisc show`` and ``tc class show`` print.

The shell is not run. Assignments of variables (``RATE=8mbit``, ``export DEV=eth0``) are followed in the order of the
lines, ``$RATE``, ``${RATE}`` and ``${RATE:-8mbit}`` are replaced; branches and loops are read as if each line ran once.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from aqmlab.errors import InputError
from aqmlab.interop.importing.tc_leaf import READ
from aqmlab.interop.tc.grammar import VERBS, Words, words_of

OBJECTS = ("qdisc", "class", "filter")
ASSIGNMENT = re.compile(
    r"\s*(?:(?:export|local|readonly|declare)\s+)?([A-Za-z_]\w*)=((?:\"[^\"]*\"|'[^']*'|[^\s;&|])*)"
)
VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]*))?\})")
ID = re.compile(r"[0-9a-fA-F]*:[0-9a-fA-F]*")
PLACE = ("dev", "handle", "parent", "classid", "refcnt", "ingress_block", "egress_block", "leaf")
BARE = ("root", "ingress", "clsact", "offloaded", "deleted")
LONGEST_LINE, LONGEST_VALUE = 10_000, 1_000
"""Characters of a line, and of a variable."""


@dataclass
class Node:
    """A discipline, class or filter of a line.

    Attributes
    ----------
    line
        Its number in the text.
    is_class
        Whether it is a class.
    kind, dev
        tc's name of the discipline, and the device.
    handle, parent
        ``1:``, or ``1:10`` of a class; of the parent, or ``root``; "" if it is not given.
    words
        Its own words.
    printed
        Whether the line is output of tc, not a command.
    leaf
        Of a class in output: the handle of the discipline below it.
    """

    line: int
    is_class: bool
    kind: str
    dev: str
    handle: str
    parent: str
    words: Words
    printed: bool
    leaf: str = ""


@dataclass
class Script:
    """What lines of tc make, in their order; of disciplines that a later line replaced by others: both."""

    nodes: list[Node] = field(default_factory=list)
    filters: list[tuple[int, list[str]]] = field(default_factory=list)
    replaced: list[tuple[Node, Node]] = field(default_factory=list)

    def add(self, node: Node, verb: str) -> None:
        """Add a node; it takes the place of one that was there, or changes its options."""
        for at, old in enumerate(self.nodes):
            if (old.dev, old.is_class) != (node.dev, node.is_class) or node.printed or verb == "add":
                continue
            same = old.handle == node.handle if node.handle else old.parent == node.parent
            if not same:
                continue
            if old.kind == node.kind in MERGES and (verb == "change" or node.handle):
                node.words = old.words.changed(node.words)
            elif verb == "replace":
                self.replaced.append((old, node))
            node.handle, node.parent = node.handle or old.handle, node.parent or old.parent
            self.nodes[at] = node
            return
        self.nodes.append(node)

    def delete(self, dev: str, handle: str, parent: str) -> None:
        """Remove what a line of ``tc qdisc del`` names; the root with everything below it."""
        if parent == "root":
            self.nodes = [node for node in self.nodes if node.dev != dev]
        else:
            self.nodes = [
                node
                for node in self.nodes
                if node.dev != dev or (node.handle != handle if handle else node.parent != parent)
            ]


MERGES = ("codel", "fq_codel", "pie", "fq_pie", "dualpi2")
"""Disciplines of which ``change`` leaves the options that it does not name."""


def commands_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers; one that is continued has the number of its first line."""
    begun, parts = 0, []
    for number, line in enumerate(text.splitlines(), start=1):
        parts.append(line)
        begun = begun or number
        if line.endswith("\\"):
            parts[-1] = line[:-1]
            continue
        yield begun, " ".join(parts)
        begun, parts = 0, []
    if parts:
        yield begun, " ".join(parts)


def read_script(text: str, filename: str) -> Script:
    """Read the lines of tc of a text.

    Raises
    ------
    InputError
        With the line that cannot be read.
    """
    found = Script()
    variables: dict[str, str] = {}
    for number, line in commands_of(text):
        if len(line) > LONGEST_LINE:
            raise InputError(f"{filename}:{number}: a line of {len(line)} characters is too long ({LONGEST_LINE})")
        rest = line
        while assigned := ASSIGNMENT.match(rest):
            variables[assigned[1]] = _expanded(assigned[2].strip("\"'"), variables)
            if len(variables[assigned[1]]) > LONGEST_VALUE:
                raise InputError(f"{filename}:{number}: {assigned[1]} has more than {LONGEST_VALUE} characters")
            rest = rest[assigned.end() :]
        for words in _split(_expanded(rest, variables)):
            _read_command(words, found, f"{filename}:{number}", number)
    for node in found.nodes:
        if node.is_class and not node.dev:
            node.dev = _device_of(node, found)
    return found


def _device_of(node: Node, script: Script) -> str:
    """Return the device of a class, which output of ``tc class show`` does not name."""
    root = f"{node.handle.partition(':')[0]}:"
    return next((one.dev for one in script.nodes if not one.is_class and one.handle == root), "")


def _expanded(text: str, variables: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[2], match[3] if match[3] is not None else match[0])

    return VARIABLE.sub(value, text)[: LONGEST_LINE + 1] if "$" in text else text


def _split(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line; a line that is no shell has none."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set(";&|"):
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield words


def _read_command(words: list[str], into: Script, where: str, number: int) -> None:
    place = next((at for at, word in enumerate(words) if word in OBJECTS), None)
    if place is None:
        return
    thing, before, rest = words[place], words[:place], words[place + 1 :]
    printed = not before
    if printed and (len(rest) < 2 or not ID.fullmatch(rest[1])):
        return
    if not printed and not any(re.fullmatch(r"(?:.*/)?tc|\$.*", word) for word in before):
        return
    verb = "" if printed else rest[0] if rest else ""
    rest = rest if printed else rest[1:]
    if thing == "filter":
        if verb in VERBS:
            into.filters.append((number, rest))
        return
    if verb in ("del", "delete"):
        place_of, _, _ = _place(rest, False)
        into.delete(place_of.get("dev", ""), _id(place_of.get("handle", "")), _id(place_of.get("parent", "")))
    if not printed and verb not in VERBS:
        return
    node = _node(rest, thing == "class", printed, where, number)
    if node is not None:
        into.add(node, verb)


def _place(words: list[str], printed: bool) -> tuple[dict[str, str], str, list[str]]:
    """Split a line into where it is, the discipline, and what follows."""
    place: dict[str, str] = {}
    kind, at = "", 0
    if printed:
        kind, place["handle"], at = words[0], words[1], 2
    while at < len(words):
        word = words[at]
        if word in BARE:
            if word == "root":
                place["parent"] = "root"
            elif word in ("ingress", "clsact"):
                kind, place["parent"] = kind or word, word
            at += 1
        elif word in PLACE and at + 1 < len(words):
            place[word] = words[at + 1]
            at += 2
        elif printed or kind:
            break
        else:
            kind, at = word, at + 1
            break
    return place, kind, words[at:]


def _node(words: list[str], is_class: bool, printed: bool, where: str, number: int) -> Node | None:
    place, kind, own = _place(words, printed)
    if not kind:
        return None
    handle = place.get("classid" if is_class and not printed else "handle", "")
    return Node(
        line=number,
        is_class=is_class,
        kind=kind,
        dev=place.get("dev", ""),
        handle=_id(handle),
        parent=_id(place.get("parent", "")),
        words=words_of(kind, own, where, is_class=is_class) if kind in READ else Words(),
        printed=printed,
        leaf=_id(place.get("leaf", "")),
    )


def _id(text: str) -> str:
    """Return a handle as tc prints it.

    >>> _id("1:"), _id("1:0A"), _id("0001:0"), _id("root"), _id("1")
    ('1:', '1:a', '1:', 'root', '1:')
    """
    if not text or not re.fullmatch(r"[0-9a-fA-F]*:?[0-9a-fA-F]*", text):
        return text
    major, _, minor = text.lower().partition(":")
    return f"{major.lstrip('0')}:{minor.lstrip('0')}"
