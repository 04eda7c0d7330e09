"""Examples that stand in the text of a docstring, without a heading, become code on the page too."""

from __future__ import annotations

from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Puts fences around them; those under the heading Examples are known to be code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: ANN401
        """Take up an object with its docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    r"""Return a docstring with fences.

    >>> fenced("Add.\n\n>>> 1 + 1\n2\n\nThat is all.").split("\n")
    ['Add.', '', '```pycon', '>>> 1 + 1', '2', '```', '', 'That is all.']
    """
    before, heading, rest = text.partition("\nExamples\n---")
    lines: list[str] = []
    inside = False
    for line in [*before.split("\n"), ""]:
        if not inside and line.startswith(">>>"):
            lines.append("```pycon")
            inside = True
        if inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines[:-1]) + heading + rest
