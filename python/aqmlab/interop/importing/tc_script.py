"""Lines of tc in a text: a shell script, a batch file, or what ``tc qdisc show`` and ``tc class show`` print.

The shell is not run. Assignments of variables (``RATE=8mbit``, ``export DEV=eth0``) are followed in the order of the
lines, ``$RATE``, ``${RATE}``, ``${RATE:-8mbit}`` and ``$((RATE * 9 / 10))`` are replaced. A line in a branch or
function is read as if it ran once, and named; one in a loop, or with a value that the text does not have, is an error.
"""

from __future__ import annotations

import ast
import itertools
import operator
import re
import shlex
from collections.abc import Callable, Iterator

from aqmlab.errors import InputError
from aqmlab.interop.importing.tc_leaf import READ
from aqmlab.interop.importing.tc_nodes import Filter, Node, Script, handle_of, major
from aqmlab.interop.tc.grammar import VERBS, Words, words_of

OBJECTS = ("qdisc", "class", "filter")
DELETES = ("del", "delete")
ASSIGNMENT = re.compile(
    r"[\s;]*(?:(?:export|local|readonly|declare)\s+)?([A-Za-z_]\w*)=((?:\"[^\"]*\"|'[^']*'|[^\s;&|])*)"
)
VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]{0,200}))?\})")
ARITHMETIC = re.compile(r"\$(?:\(\(((?:[^$`]|\$[A-Za-z{]){1,100}?)\)\)|\[((?:[^$`\]]|\$[A-Za-z{]){1,100})\])")
COMMAND = re.compile(r"\b(?:qdisc|class)\s+(?:add|replace|change)\s")
BEFORE = re.compile(r"(?:^|[\s/;&|\"'(`])tc\s|\$")
"""Text before a command: tc, or a variable with it."""
SHOWN = re.compile(r"\b(?:qdisc|class)\s+(?:show|list|ls)\s+dev\s+(\S+)")
SHELL = re.compile(r"[\"'\\#;&|]")
"""Characters that make a line more than words between blanks."""
ID = re.compile(r"[0-9a-fA-F]*:[0-9a-fA-F]*")
PLACE = ("dev", "handle", "parent", "classid", "refcnt", "ingress_block", "egress_block", "leaf")
BARE = ("root", "ingress", "clsact", "offloaded", "deleted")
STAB = ("mtu", "mpu", "overhead", "tsize", "linklayer")
OPENS = {
    **{"if": "branch", "case": "branch", "for": "loop", "while": "loop", "until": "loop", "select": "loop"},
    **{"function": "function", "{": "function"},
}
CLOSES = ("fi", "esac", "done", "}")
SIZE_TABLE = re.compile(r"\s+(?:linklayer|overhead)\s")
"""A line of ``tc -d qdisc show`` below that of a discipline."""
SORTS = re.compile(
    r"-j\s+(?:CLASSIFY|MARK|CONNMARK|DSCP|TOS|IMQ)\b|--set-(?:x?mark|class|dscp|tos)|\bmeta\s+(?:mark|priority)\s+set"
)
"""Lines of iptables and nft that sort packets."""
LONGEST_LINE, LONGEST_VALUE = 10_000, 1_000
"""Characters of a line, and of a variable."""
MOST = 10**15
"""Largest number of an arithmetic expression."""


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


def is_command(line: str) -> bool:
    """Return whether a line has a command of tc, or is one of a batch file, that makes a discipline or class.

    >>> [is_command(line) for line in ("sudo tc qdisc add dev eth0", "qdisc add dev eth0", "echo qdisc add dev eth0")]
    [True, True, False]
    """
    found = COMMAND.search(line)
    before = line[: found.start()] if found else ""
    return found is not None and (not before.strip() or BEFORE.search(before) is not None)


def read_script(text: str, filename: str) -> Script:
    """Read the lines of tc of a text.

    Raises
    ------
    InputError
        With the line that cannot be read.
    """
    reader = _Shell(filename)
    for number, line in commands_of(text):
        reader.read(number, line)
    return reader.finish()


class _Shell:
    """Reads lines of a shell script in their order."""

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._script = Script(filename)
        self._variables: dict[str, str] = {}
        self._constructs: list[str] = []
        self._is_conditional = False
        self._shown_dev = ""
        self._printed: Node | None = None
        self._classes: list[Node] = []
        self._once: list[int] = []
        self._sorting: list[int] = []
        self._ended = 0
        self._after_end: list[int] = []

    def read(self, number: int, line: str) -> None:
        """Read a line: its assignments, then its commands."""
        where = f"{self._filename}:{number}"
        if len(line) > LONGEST_LINE:
            raise InputError(f"{where}: a line of {len(line)} characters is too long ({LONGEST_LINE})")
        rest = _computed(line, self._variables)
        while assigned := ASSIGNMENT.match(rest):
            name, value = assigned[1], _computed(_expanded(assigned[2].strip("\"'"), self._variables), self._variables)
            if len(value) > LONGEST_VALUE:
                raise InputError(f"{where}: {name} has more than {LONGEST_VALUE} characters")
            if "$(" in value or "`" in value:
                self._variables.pop(name, None)
                break
            self._variables[name] = value
            rest = rest[assigned.end() :]
        if shown := SHOWN.search(rest):
            self._shown_dev = _expanded(shown[1], self._variables)
        if SORTS.search(rest) and not rest.lstrip().startswith("#"):
            self._sorting.append(number)
        if self._printed is not None and SIZE_TABLE.match(line):
            words = line.split()
            self._printed.stab.update(
                {word: value for word, value in zip(words[::2], words[1::2], strict=False) if word in STAB}
            )
            return
        commands = _split(_expanded(rest, self._variables))
        if commands is None:
            if is_command(line):
                raise InputError(f"{where}: a quotation of this line has no end")
            return
        self._is_conditional = commands[0][:1] in (["["], ["[["], ["test"])
        for words in commands:
            self._construct(words)
            if not self._ended:
                self._command(words, where, number)
            elif any(word in OBJECTS for word in words):
                self._after_end.append(number)
        if commands[0][:1] in (["exit"], ["return"]) and not self._constructs:
            self._ended = self._ended or number

    def finish(self) -> Script:
        """Return what was read; classes of output get the device of their discipline."""
        script = self._script
        for node in self._classes:
            node.dev = node.dev or self._device_of(node)
            script.add(node, "add")
        if self._once:
            lines = ", ".join(map(str, self._once))
            script.notes.append((0, f"branches and functions are not run: each of the lines {lines} is read once"))
        if self._sorting:
            lines = ", ".join(map(str, self._sorting))
            script.notes.append((0, f"iptables or nft sort packets in the lines {lines}, which are not read"))
        if self._after_end:
            lines = ", ".join(map(str, self._after_end))
            script.notes.append((0, f"the script ends in line {self._ended}: the lines {lines} are not read"))
        return script

    def _device_of(self, node: Node) -> str:
        """Return the device of a class, which output of ``tc class show`` does not name."""
        root = f"{major(node.handle)}:"
        found = [device.name for device in self._script.devices.values() if root in device.handles]
        if len(found) > 1:
            raise InputError(
                f"{self._filename}:{node.line}: class {node.handle} may be of {' or '.join(found)}; "
                f"leave the lines of one device (tc qdisc show dev {found[0]}; tc class show dev {found[0]})"
            )
        return found[0] if found else ""

    def _construct(self, words: list[str]) -> None:
        """Follow the beginning and end of branches, loops and functions."""
        if not words:
            return
        first = words[0]
        if first in OPENS and (first != "function" or "{" in words):
            self._constructs.append(OPENS[first])
        elif (first.endswith("()") or words[1:2] == ["()"]) and "{" in words:
            self._constructs.append("function")
        elif first in CLOSES and self._constructs:
            self._constructs.pop()

    def _command(self, words: list[str], where: str, number: int) -> None:
        place = next((at for at, word in enumerate(words) if word in OBJECTS), None)
        if place is None:
            return
        thing, before, rest = words[place], words[:place], words[place + 1 :]
        verb = rest[0] if rest else ""
        printed = not before and verb not in VERBS + DELETES
        if printed and (thing == "filter" or len(rest) < 2 or not ID.fullmatch(rest[1])):
            return
        if before and not any(re.fullmatch(r"(?:.*/)?tc|\$.*", word) for word in before):
            return
        if printed:
            self._node(rest, thing == "class", "", where, number)
            return
        if verb in DELETES:
            self._delete(thing, rest[1:], before, number)
        elif verb in VERBS:
            self._made(thing, verb, rest[1:], before, where, number)

    def _made(self, thing: str, verb: str, words: list[str], before: list[str], where: str, number: int) -> None:
        """Read a command that adds or changes something."""
        if "loop" in self._constructs and thing == "filter":
            self._script.notes.append((number, f"filter {' '.join(words)} in a loop is not read"))
            return
        if "loop" in self._constructs:
            raise InputError(f"{where}: tc {thing} {verb} in a loop is not read (write the lines that its turns make)")
        if (self._constructs or self._is_conditional) and number not in self._once[-1:]:
            self._once.append(number)
        words = _in_namespace(words, before)
        if thing == "filter":
            place = dict(itertools.pairwise(words))
            parent = "root" if "root" in words else handle_of(place.get("parent", "root"))
            one = Filter(number, parent, tuple(words))
            self._script.device(place.get("dev", "")).filters.setdefault(major(parent), []).append(one)
            return
        self._node(words, thing == "class", verb, where, number)

    def _delete(self, thing: str, words: list[str], before: list[str], number: int) -> None:
        words = _in_namespace(words, before)
        place, _, _, _ = _place(words, f"{self._filename}:{number}", printed=False)
        dev, parent = place.get("dev", ""), handle_of(place.get("parent", ""))
        if self._constructs:
            if dev in self._script.devices:
                self._script.notes.append((number, f"tc {thing} del in a branch, loop or function is not followed"))
        elif thing != "filter":
            handle = handle_of(place.get("classid" if thing == "class" else "handle", ""))
            self._script.delete(dev, handle, parent, is_class=thing == "class")
        elif dev in self._script.devices:
            filters = self._script.devices[dev].filters
            if set(words) - {"dev", dev, "parent", place.get("parent"), "root"}:
                self._script.notes.append((number, f"filter del {' '.join(words)}: the filter is kept"))
            else:
                filters.pop(major(parent), None)

    def _node(self, words: list[str], is_class: bool, verb: str, where: str, number: int) -> None:
        printed = not verb
        place, stab, kind, own = _place(words, where, printed=printed)
        if not kind:
            return
        values = [value for word, value in place.items() if word != "dev"]
        missing = next((word for word in (*values, *stab.values(), kind, *own) if "$" in word or "`" in word), None)
        if missing is not None:
            raise InputError(f"{where}: the value of {missing} is not in the file")
        node = Node(
            line=number,
            is_class=is_class,
            kind=kind,
            dev=place.get("dev", self._shown_dev if printed else ""),
            handle=handle_of(place.get("classid" if is_class and not printed else "handle", "")),
            parent=handle_of(place.get("parent", "")),
            words=words_of(kind, own, where, is_class=is_class) if kind in READ else Words(),
            printed=printed,
            leaf=handle_of(place.get("leaf", "")),
            stab=stab,
        )
        for first, second in node.words.twice if not printed else ():
            self._script.notes.append((number, f"{kind} {first}, {second}: given twice; the last is read"))
        self._printed = node if printed and not is_class else None
        if not (is_class and printed):
            self._script.add(node, verb)
        elif kind in ("htb", "hfsc"):  # the classes that others print are their bands and flows
            self._classes.append(node)


def _put(settings: dict[str, str], word: str, value: str, where: str) -> None:
    """Take in a word with its value; a second one is an error at a place that is given."""
    if where and word in settings:
        raise InputError(f"{where}: {word} {settings[word]}, {word} {value}: given twice (allowed: once)")
    settings[word] = value


def _in_namespace(words: list[str], before: list[str]) -> list[str]:
    """Put the network namespace of a command before the name of its device."""
    names = [two for one, two in itertools.pairwise(before) if one in ("exec", "-n", "-netns")]
    if not names or "dev" not in words[:-1]:
        return words
    at = words.index("dev") + 1
    return [*words[:at], f"{names[0]}/{words[at]}", *words[at + 1 :]]


def _expanded(text: str, variables: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[2], match[3] if match[3] is not None else match[0])

    return VARIABLE.sub(value, text)[: LONGEST_LINE + 1] if "$" in text else text


def _computed(text: str, variables: dict[str, str]) -> str:
    """Replace arithmetic expressions of whole numbers and variables; others stay.

    >>> _computed("rate $((95 * UP / 100))kbit", {"UP": "1000"}), _computed("$((X + 1))", {})
    ('rate 950kbit', '$((X + 1))')
    """

    def value(match: re.Match[str]) -> str:
        plain = re.sub(
            r"\$?\{?\b([A-Za-z_]\w*)\b\}?", lambda name: variables.get(name[1], name[0]), match[1] or match[2]
        )
        try:
            return str(_evaluated(ast.parse(plain.strip(), mode="eval").body))
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            return match[0]

    return ARITHMETIC.sub(value, text) if "$((" in text or "$[" in text else text


OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


def _evaluated(tree: ast.expr) -> int:
    """Evaluate whole numbers with the operators of the shell; all are positive.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return tree.value
    if isinstance(tree, ast.BinOp) and type(tree.op) in OPERATORS:
        found = OPERATORS[type(tree.op)](_evaluated(tree.left), _evaluated(tree.right))
        if 0 <= found <= MOST:
            return found
    raise ValueError("is not a sum or product of whole numbers")


def _split(line: str) -> list[list[str]] | None:
    """Return the words of each command of a line; None for a line that is no shell."""
    if not SHELL.search(line):
        return [line.split()]
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    try:
        for word in lexer:
            if set(word) <= set(";&|"):
                found.append([])
            else:
                found[-1].append(word)
    except ValueError:
        return None
    return found


def _place(words: list[str], where: str, *, printed: bool) -> tuple[dict[str, str], dict[str, str], str, list[str]]:
    """Split a line into where it is, its size table, the discipline, and what follows.

    Raises
    ------
    InputError
        If a command gives a word twice, which tc rejects.
    """
    place: dict[str, str] = {}
    stab: dict[str, str] = {}
    kind, at = "", 0
    once = where if not printed else ""
    if printed:
        kind, place["handle"], at = words[0], words[1], 2
    while at < len(words):
        word = words[at]
        if word in BARE:
            if word == "root":
                _put(place, "parent", word, once)
            elif word in ("ingress", "clsact"):
                kind, place["parent"] = kind or word, word
            at += 1
        elif word in PLACE and at + 1 < len(words):
            _put(place, word, words[at + 1], once)
            at += 2
        elif word in ("est", "estimator") and not kind:
            at += 3
        elif word == "stab" and not kind:
            at += 1
            while at + 1 < len(words) and words[at] in STAB:
                _put(stab, words[at], words[at + 1], where)
                at += 2
        elif printed or kind:
            break
        else:
            kind, at = word, at + 1
            break
    return place, stab, kind, words[at:]
