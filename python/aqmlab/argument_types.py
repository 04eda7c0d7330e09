"""The public functions check the types of their arguments before they begin, and name one that is wrong.

The annotations, which are text here, define the valid types: ``str | Path | None`` allows a text, a path and None.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar, cast

from aqmlab.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class _Kind:
    """Values of one kind: how they are called, and whether a value is one of them."""

    words: str
    holds: Callable[[Any], bool]


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and "\0" not in str(value) and not isinstance(value, bytes)


def _is_flag(value: object) -> bool:
    return isinstance(value, Integral) or type(value).__name__ in ("bool", "bool_")  # bool_: of NumPy


def _list_of(words: str, holds: Callable[[Any], bool]) -> _Kind:
    """Lists of elements; the elements of an iterator are not looked at, which would use them up."""

    def is_list(value: object) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        return isinstance(value, Iterator) or all(map(holds, value))

    return _Kind(f"a list of {words}", is_list)


def _mapping(words: str, holds: Callable[[Any], bool] = lambda _: True) -> _Kind:
    def is_mapping(value: object) -> bool:
        return isinstance(value, Mapping) and all(isinstance(k, str) and holds(v) for k, v in value.items())

    return _Kind(f"a mapping of texts to {words}", is_mapping)


_WHOLE = _Kind("a whole number", _is_whole)
_TEXT = _Kind("a text", lambda value: isinstance(value, str))
_PATH = _Kind("a path", _is_path)
_TEXTS = _list_of("texts", _TEXT.holds)
_SEEDS = _Kind("a whole number, or a list of them", lambda v: _is_whole(v) or _list_of("", _is_whole).holds(v))
_TABLES = _mapping("mappings", lambda value: isinstance(value, Mapping))
KINDS: dict[str, _Kind] = {
    "str": _TEXT,
    "Path": _PATH,
    "int": _WHOLE,
    "float": _Kind("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool)),
    "bool": _Kind("true or false", _is_flag),
    "bytes": _Kind("bytes", lambda value: isinstance(value, bytes)),
    "Sequence[str]": _TEXTS,
    "list[Output]": _list_of("outputs", lambda _: True),
    "Iterable[str]": _TEXTS,
    "list[int]": _list_of("whole numbers", _is_whole),
    "Seeds": _SEEDS,
    "Until": _Kind("a text or a list of texts", lambda value: _TEXT.holds(value) or _TEXTS.holds(value)),
    "Values": _mapping("values"),
    # Its labels and tables are named by `aqmlab.runs.comparison_settings.entries_of`.
    "Settings": _Kind("a mapping of labels to mappings", lambda value: isinstance(value, Mapping)),
    "Mapping[str, Mapping[str, Value]]": _TABLES,
    "dict[str, Any]": _mapping("values"),
    # `aqmlab.scenario.file.override_pairs` names the pair that is wrong.
    "Overrides": _Kind(
        'a mapping {"KEY": VALUE}, or pairs ("KEY", "VALUE")', lambda value: isinstance(value, Iterable)
    ),
    "Executor": _Kind("an executor", lambda value: hasattr(value, "submit")),
}
"""Kinds of values by the words of an annotation. Any other word is the name of a class."""
OPTIONAL = ("None", "Seeds")
"""Annotations that allow None."""


def named(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that raises an `InputError` that names the first argument of a wrong type."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> T:
        # Arguments that do not fit the signature are a TypeError of Python, with their names.
        for name, value in signature.bind(*arguments, **keywords).arguments.items():
            parameter = signature.parameters[name]
            several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            complaint = "" if several else _complaint(name, value, str(parameter.annotation))
            if complaint:
                raise InputError(complaint)
        return function(*arguments, **keywords)

    return checked


def with_named_methods(kind: type[T]) -> type[T]:
    """Let the public methods of a class check their arguments as `named` functions do; return the class."""
    for name, method in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if inspect.isfunction(method) and not hasattr(method, "__wrapped__"):
            setattr(kind, name, named(method))
        elif isinstance(method, classmethod) and not hasattr(method.__func__, "__wrapped__"):
            setattr(kind, name, classmethod(named(cast("Callable[..., Any]", method.__func__))))
    return kind


def _complaint(name: str, value: object, annotation: str) -> str:
    """Return a description of an argument's error; "" for a valid argument."""
    words = annotation.split(" | ")
    if name in ("self", "cls") or annotation == str(inspect.Parameter.empty) or _is_allowed(value, words):
        return ""
    # A text in place of a path is the path's name.
    kinds = [KINDS[word].words if word in KINDS else f"a {word}" for word in words if word not in OPTIONAL[:1]]
    allowed = [words for words in kinds if words != _TEXT.words or _PATH.words not in kinds]
    return f"{name}: {_shown(value)} is not possible (allowed: {' or '.join(allowed)})"


def _is_allowed(value: object, words: list[str]) -> bool:
    if value is None:
        return any(word in OPTIONAL for word in words)
    if "Path" in words and isinstance(value, str):
        return _PATH.holds(value)
    return any(_holds(word, value) for word in words if word != "None")


def _holds(word: str, value: object) -> bool:
    if word in KINDS:
        return KINDS[word].holds(value)
    return any(one.__name__ == word for one in type(value).__mro__)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
