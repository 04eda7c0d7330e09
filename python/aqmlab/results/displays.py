"""Display of objects in a notebook and at a prompt: mixins for their classes. `aqmlab.notebook` makes the HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import fields
from pathlib import Path
from typing import Any

import aqmlab

LONGEST_VALUE, LONGEST = 60, 240
"""Characters of a field's value, and of all fields, in one line."""


class OneLine:
    """A dataclass (with ``repr=False``) whose `repr` is one line: short fields by value, others by their size."""

    def __repr__(self) -> str:
        parts: list[str] = []
        for field in fields(self):  # type: ignore[arg-type]
            text = _text_of(getattr(self, field.name)) if field.repr else ""
            if text:
                parts.append(f"{field.name}={text}")
        while sum(map(len, parts)) > LONGEST:
            parts[-2:] = ["..."]
        return f"{type(self).__name__}({', '.join(parts)})"


class Shown(OneLine):
    """An object that a notebook shows as a page of HTML with a figure."""

    def _repr_html_(self) -> str:
        # By its public name, which is imported now: it draws, and is in a layer above the objects it shows.
        text: str = aqmlab.notebook.html(self)
        return text


def _text_of(value: Any) -> str:  # noqa: ANN401 - of any field
    """Return a value as text, a long one as its size; "" for None and empty containers.

    >>> _text_of(0.5), _text_of(["red", "codel"]), _text_of(list(range(100))), _text_of([]), _text_of(Path("a"))
    ('0.5', "['red', 'codel']", '<100 entries>', '', "'a'")
    """
    if value is None or (isinstance(value, Sized) and len(value) == 0):
        return ""
    text = repr(str(value)) if isinstance(value, Path) else repr(value)
    simple = isinstance(value, str | int | float | bool | Path | list | tuple)
    if simple and len(text) <= LONGEST_VALUE and "\n" not in text:
        return text
    if isinstance(value, str | Path):
        return f"{text[: LONGEST_VALUE - 3]}..."
    names = f" of {', '.join(map(str, value))}" if isinstance(value, Mapping) else ""
    if names and len(names) <= LONGEST_VALUE:
        return f"<{len(value)} entries{names}>"
    return f"<{len(value)} entries>" if isinstance(value, Sized) else f"<{type(value).__name__}>"
