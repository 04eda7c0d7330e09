"""Text of a scenario in generated files: one function for each language and place.

A scenario's names, descriptions and file names may hold any character. Whatever is written into a program, a script or
a page passes one of these functions, so that it stays text there: it cannot end a comment or a string, or start a
command. Control characters, bidirectional controls and line breaks become visible escapes (`aqmlab.errors.printable`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from aqmlab.errors import printable, unused

INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories of characters that no generated file holds as they are."""


def one_line(text: str) -> str:
    r"""Return text in one line of visible characters.

    >>> print(one_line("a\nb" + chr(0x202E)))
    a\nb\u202e
    """
    shown = printable(text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", " "))
    return "".join(c if unicodedata.category(c) not in INVISIBLE else _code(c) for c in shown)


def _code(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point < 1 << 16 else f"\\U{point:08x}"


def c_comment(text: str) -> str:
    """Return text for a block comment of C or C++: it neither ends it, nor begins another, nor is a trigraph.

    >>> c_comment("a */ b /* c ??/"), c_comment("*/*")
    ('a * / b / * c ? ?/ ', '* / * ')
    """
    found = one_line(text).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
    # The template may have a star or a slash next to the text.
    before, after = " " * found.startswith("/"), " " * found.endswith(("*", "/", "?"))
    return f"{before}{found}{after}"


def c_string(text: str) -> str:
    r"""Return text as a string literal of C or C++, with its quotes, in UTF-8.

    >>> print(c_string('a "b"\n'))
    "a \"b\"\012"
    """
    encoded = text.encode("utf-8", "surrogateescape")
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else _in_string(byte) for byte in encoded)
    return f'"{"".join(plain)}"'


def _in_string(byte: int) -> str:
    return f"\\{chr(byte)}" if chr(byte) in '"\\' else f"\\{byte:03o}"


def c_identifier(text: str, *, taken: Collection[str] = ()) -> str:
    """Return a name of C or C++ in camel case, which begins with the first word of the text and differs from others.

    Parameters
    ----------
    text
        A word that is no keyword of C++, then any text.
    taken
        Names that exist already.

    >>> c_identifier("queue left-in"), c_identifier("queue LEFT in", taken=["queueLeftIn"])
    ('queueLeftIn', 'queueLEFTIn')
    >>> c_identifier("queue Left in", taken=["queueLeftIn"]), c_identifier("queue */")
    ('queueLeftIn2', 'queue')
    """
    words = "".join(c if c.isalnum() and c.isascii() else " " for c in text).split()
    name = words[0].lower() + "".join(word[:1].upper() + word[1:] for word in words[1:])
    return unused(name, taken, between="")


def line_comment(text: str) -> str:
    r"""Return text for the rest of a line after ``#`` or ``//``: shell, make, Tcl, TOML, C++, configurations.

    A backslash at the end would continue the comment or, in make, an included line; braces count in Tcl's procedures;
    make expands nothing in comments.

    >>> print(line_comment("ends with \\"), line_comment("{ [exec rm] ??/"))
    ends with / ( [exec rm] ? ?/
    """
    found = one_line(text).replace("??", "? ?").replace("{", "(").replace("}", ")")
    return found.rstrip().replace("\\", "/")


def tcl_word(text: str) -> str:
    r"""Return text as one word of Tcl, or one element of a list.

    >>> print(tcl_word("r1->r2"), tcl_word("a b"), tcl_word("[exec x]"))
    r1->r2 "a b" "\[exec x\]"
    """
    if text and not set(text) & set(" \t\n\r;[]{}\"$\\#'") and text == one_line(text):
        return text
    special = {c: f"\\{c}" for c in '[]{}"$\\;'}
    return '"' + "".join(special.get(c) or (c if one_line(c) == c else f"\\u{ord(c) & 0xFFFF:04x}") for c in text) + '"'


def markdown_code(text: str) -> str:
    """Return text for inline code of Markdown, between backticks that the template has.

    >>> markdown_code("a`b")
    "a'b"
    """
    return one_line(text).replace("`", "'") or " "
