"""Errors of the public functions name the argument that has a wrong type.

A call that succeeds is not looked at. Where one ends with a `TypeError` or `AttributeError`, its arguments are compared
with what arguments of their names may be, and the first that cannot be is named.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

from aqmlab.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")

WHOLE = ("a whole number", (Integral,))
NUMBER = ("a number", (Real,))
TEXT = ("a text", (str,))
PATH = ("a path", (str, os.PathLike))
TEXTS = ("a list of texts", (Iterable,))
MAPPING = ("a mapping", (Mapping,))
ALLOWED: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("workers", "max_runs", "trials", "fresh", "sobol"), WHOLE),
    **dict.fromkeys(("margin", "quantile"), NUMBER),
    **dict.fromkeys(("engine", "queue", "minimize", "maximize", "form"), TEXT),
    **dict.fromkeys(("path", "folder", "out", "report"), PATH),
    **dict.fromkeys(("aqm", "programs", "keep", "over", "vary", "sections", "until"), TEXTS),
    **dict.fromkeys(("grid", "settings", "against_settings"), MAPPING),
    "scenario": ("a path or a Scenario", (str, os.PathLike, object)),
    "seeds": ("a whole number, or a list of them", (Integral, Iterable)),
    "paper": TEXT,
}
"""By name of the argument: what is allowed, and its types. None, where it is a default, is always allowed."""


def named(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose errors about the type of an argument name the argument."""

    @functools.wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> T:
        try:
            return function(*arguments, **keywords)
        except (TypeError, AttributeError) as error:
            complaint = _complaint(function, arguments, keywords)
            if complaint is None:
                raise
            raise InputError(complaint) from error

    return checked


def _complaint(
    function: Callable[..., object], arguments: tuple[object, ...], keywords: Mapping[str, object]
) -> str | None:
    """Return what is wrong with the first argument of a wrong type; None if there is none."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*arguments, **keywords).arguments
    except TypeError:
        return None
    for name, value in given.items():
        default = signature.parameters[name].default
        if value is None and default is None:
            continue
        what, types = _allowed(name)
        if types and not (isinstance(value, types) and _is_right(name, value)):
            return f"{name}: {_shown(value)} is not possible (allowed: {what})"
    return None


def _allowed(name: str) -> tuple[str, tuple[type, ...]]:
    return ALLOWED.get(name, ("", ()))


def _is_right(name: str, value: object) -> bool:
    """Whether the elements of a list, and what is neither path nor scenario, are of the right type."""
    if name == "scenario":
        return isinstance(value, (str, os.PathLike)) or type(value).__name__ == "Scenario"
    if name == "seeds":
        return not isinstance(value, str) and (
            isinstance(value, Integral) or all(isinstance(one, Integral) for one in value)  # type: ignore[attr-defined]
        )
    if ALLOWED[name] == TEXTS:
        return isinstance(value, str) or all(isinstance(one, str) for one in value)  # type: ignore[attr-defined]
    return not isinstance(value, bool)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
