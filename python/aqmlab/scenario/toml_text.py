"""TOML text as Python values, and Python values as TOML text for overrides such as ``queue.bottleneck.max_th = 45``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from aqmlab import _core
from aqmlab.errors import InputError, one_line

ALLOWED = "text, a number, true or false, a list, or a table"
Value: TypeAlias = str | bool | int | float | Sequence["Value"] | Mapping[str, "Value"]
"""Types of an override's value: text, a number, true or false, a list, or a table."""


def read_toml(text: str, *, filename: str = "<text>") -> dict[str, Any]:
    r"""Read a TOML text with the parser, the limits and the messages of scenario files.

    Parameters
    ----------
    filename
        Name of the text in messages.

    Raises
    ------
    ScenarioError
        If it is not TOML; with line and column.

    >>> read_toml("b = 1\na.c = [0.5]")
    {'b': 1, 'a': {'c': [0.5]}}
    """
    return _core.document(text, one_line(filename))


def inline(value: Value) -> str:
    """Write a value as TOML, on one line.

    >>> inline({"aqm": "red", "max_p": 0.1, "ecn": False, "seeds": [1, 2]})
    '{ aqm = "red", max_p = 0.1, ecn = false, seeds = [1, 2] }'
    """
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return "{ " + ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return "[" + ", ".join(inline(v) for v in value) + "]"
    raise InputError(f"{value!r}: a {type(value).__name__} is not a value of a scenario (allowed: {ALLOWED})")


def entries(table: Mapping[str, Value]) -> list[str]:
    """Write the entries of a table whose keys are bare, a line each.

    >>> entries({"aqm": "red", "max_p": 0.1})
    ['aqm = "red"', 'max_p = 0.1']
    """
    return [f"{key} = {inline(value)}" for key, value in table.items()]


def plain(value: Value) -> Value:
    """Return numbers and arrays of NumPy as those of Python; other values as they are."""
    convert = getattr(value, "tolist", None)
    return value if convert is None else convert()


def override(value: Value) -> str:
    """Write a value as the right side of ``--set key=value``: text stays as it is.

    >>> override("45p"), override(0.5), override({"uniform": ["0s", "1s"]})
    ('45p', '0.5', '{ uniform = ["0s", "1s"] }')
    """
    return value if isinstance(value, str) else inline(value)


def _key(key: str) -> str:
    bare = key != "" and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if bare else _quoted(key)


def _quoted(text: str) -> str:
    # JSON leaves DEL as it is; TOML does not allow that.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
