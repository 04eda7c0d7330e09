"""Checks of a paper's TOML files: every error is one line with the file, the place in it, and the allowed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab.errors import InputError, unknown

Value = str | int | float


def known(entry: Mapping[str, Any], allowed: Sequence[str], place: str, kind: str) -> None:
    """Check that a table has no other keys."""
    for key in entry:
        one_of(key, allowed, place, kind)


def one_of(value: Value, allowed: Sequence[Value], place: str, kind: str) -> None:
    """Check that a value is among those allowed."""
    if value not in allowed:
        raise InputError(f"{place}: {unknown(kind, str(value), [str(one) for one in allowed])}")


def required(entry: Mapping[str, Any], keys: Sequence[str], place: str) -> None:
    """Check that a table has some keys."""
    for key in keys:
        if key not in entry:
            raise InputError(f"{place}: the key {key} is missing")


def listed(entry: Any) -> Sequence[Any]:  # noqa: ANN401 - TOML
    """Return a list as it is, and one value as a list of it."""
    return entry if isinstance(entry, list | tuple) else [entry]
