"""Your own disciplines, curves and victim rules, in Python.

They run inside the simulator beside all others and are slow: hundred thousand packets a second at best. For trying an
idea out; one that stays is a file of Rust (see docs/extending.md).

>>> import aqmlab
>>> from aqmlab import plugins
>>> @plugins.curve("cubic-red", doc="RED with a cubic curve.")
... def cubic(average, red):
...     x = (average - red.min_th) / (red.max_th - red.min_th)
...     return 0.0 if x < 0 else red.max_p * x**3 if x < 1 else 1.0
>>> "cubic-red" in [discipline.name for discipline in aqmlab.disciplines()]
True

A plug-in is a module that does so. It is loaded because its file stands in the environment variable
``AQMLAB_PLUGINS`` (or after ``aqmlab --plugin``), or because an installed package names it as an entry point of the
group ``aqmlab.plugins``.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, TypeVar

from aqmlab import _core
from aqmlab._core import Packet, Queue
from aqmlab.errors import InputError, in_code_of

__all__ = [
    "PLUGINS",
    "Discipline",
    "Packet",
    "Queue",
    "Red",
    "Value",
    "curve",
    "discipline",
    "flag",
    "load_plugins",
    "number",
    "packets",
    "seconds",
    "size",
    "victim",
]

PLUGINS = "AQMLAB_PLUGINS"
"""Environment variable with files or modules to load, separated like a path; processes that are started inherit it."""

Decision = str
"""``"accept"``, ``"mark"``, ``"drop"``, or ``"drop:forced"`` and ``"drop:overflow"`` with another reason."""


@dataclass(frozen=True)
class Value:
    """A parameter of a discipline, written as a class attribute; in an instance it is the number itself.

    Attributes
    ----------
    default
        In `unit`.
    unit
        "packets", "bytes", "s" or "1"; "flag" for 0 and 1.
    low, high
        Smallest and largest value allowed, if there is one.
    doc
        Its description.
    """

    default: float
    unit: Literal["packets", "bytes", "s", "1", "flag"]
    low: float | None = None
    high: float | None = None
    doc: str = ""


def packets(default: float, doc: str = "", *, low: float = 0.0, high: float | None = None) -> Any:  # noqa: ANN401
    """Return a queue length in packets; a scenario file may give it in bytes (of 1000 a packet)."""
    return Value(default, "packets", low, high, doc)


def size(default: float, doc: str = "", *, low: float = 0.0, high: float | None = None) -> Any:  # noqa: ANN401
    """Return a number of bytes."""
    return Value(default, "bytes", low, high, doc)


def seconds(default: float, doc: str = "", *, low: float = 0.0, high: float | None = None) -> Any:  # noqa: ANN401
    """Return a time in seconds."""
    return Value(default, "s", low, high, doc)


def number(default: float, doc: str = "", *, low: float | None = None, high: float | None = None) -> Any:  # noqa: ANN401
    """Return a number without a unit."""
    return Value(default, "1", low, high, doc)


def flag(default: bool, doc: str = "") -> Any:  # noqa: ANN401
    """Return a yes or no."""
    return Value(float(default), "flag", doc=doc)


class Discipline:
    """A queue discipline in Python: a subclass says what becomes of packets; they are kept for it.

    Parameters are class attributes made by `packets`, `size`, `seconds`, `number` and `flag`; ``limit``, the size of
    the buffer, is always there. ``self.average`` (packets) and ``self.p_b`` (0 to 1) are what results show of it.
    """

    average: float = 0.0
    p_b: float = 0.0
    every: float | None = None
    """Seconds between two calls of `on_timer`; None: never."""
    gauges: Sequence[str] = ()
    """Names of further attributes, numbers, that results show where ``probe.discipline_interval`` is set."""

    def start(self) -> None:
        """Make the discipline ready; parameters are known."""

    def enqueue(self, now: float, packet: Packet, queue: Queue) -> Decision:
        """Return the decision on `packet`, which arrives at `now` (s) and finds `queue`.

        ``"accept"``, ``"mark"`` or ``"drop"``. A packet accepted while the buffer is full is dropped. ``queue.drop(i)``
        and ``queue.mark(i)`` do so to the packet at place i; ``queue.uniform()`` and ``queue.below(n)`` are random
        numbers of the run's seed.
        """
        return "accept"

    def dequeue(self, now: float, queue: Queue) -> int | None:
        """Return the place of the packet to send; 0, and None, are the head. Packets may be dropped before."""
        return 0

    def on_timer(self, now: float, queue: Queue) -> None:
        """Do the work that is due every `every` seconds."""


@dataclass(frozen=True)
class Red:
    """The numbers of RED that a curve goes by; lengths in packets."""

    min_th: float
    max_th: float
    max_p: float
    limit: float


C = TypeVar("C", bound=type[Discipline])
F = TypeVar("F", bound=Callable[..., Any])


def discipline(name: str, *, title: str = "", source: str = "") -> Callable[[C], C]:
    """Make a subclass of `Discipline` known as `name`. Its docstring's first line says the idea.

    Raises
    ------
    InputError
        If the name is taken or no name, or a parameter is not right.
    """

    def register(cls: C) -> C:
        values = {key: value for base in reversed(cls.__mro__) for key, value in vars(base).items()}
        rows = [
            (key, value.unit, value.default, value.low, value.high, value.doc)
            for key, value in values.items()
            if isinstance(value, Value)
        ]

        def make(pairs: list[tuple[str, float]]) -> Discipline:
            made = cls()
            for key, number in pairs:
                setattr(made, key, number)
            made.start()
            return made

        idea = _first_line(cls.__doc__ if cls.__doc__ != Discipline.__doc__ else None)
        _register(name, title, source, idea, cls, "discipline", make, rows, cls.every, list(cls.gauges))
        return cls

    return register


def curve(name: str, *, title: str = "", source: str = "", doc: str = "") -> Callable[[F], F]:
    """Make RED with another curve known as `name`: a function of the average in packets and of `Red`'s numbers.

    It gives p_b in [0, 1] and does not fall. It is asked at 4097 averages from 0 to the limit when a scenario is read;
    straight lines join them, so a run costs what RED costs, and theory takes it like any other curve.
    """

    def register(function: F) -> F:
        @functools.wraps(function)
        def at(average: float, *numbers: float) -> float:
            return float(function(average, Red(*numbers)))

        _register(name, title, source, doc or _first_line(function.__doc__), function, "curve", at)
        return function

    return register


def victim(name: str, *, title: str = "", source: str = "", doc: str = "") -> Callable[[F], F]:
    """Make RED with another victim rule known as `name`: a function of the packets and a random number in [0, 1).

    The packets are a list of `Packet`: those in the queue, then the arriving one. The function returns the place of the
    victim, or None for the arriving one.
    """

    def register(function: F) -> F:
        _register(name, title, source, doc or _first_line(function.__doc__), function, "victim", function)
        return function

    return register


def _register(
    name: str,
    title: str,
    source: str,
    doc: str,
    written: Any,  # noqa: ANN401
    idea: str,
    target: Callable[..., Any],
    parameters: Sequence[tuple[str, str, float, float | None, float | None, str]] = (),
    every: float | None = None,
    gauges: Sequence[str] = (),
) -> None:
    try:
        _core.register(
            name, title or name, source, doc, _digest(written), idea, target, list(parameters), every, list(gauges)
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    global _registered
    _registered += 1


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _digest(written: Any) -> str:  # noqa: ANN401
    """Tell versions of an idea from each other: the digest of the file it stands in, or of its own text."""
    try:
        text = Path(inspect.getsourcefile(written) or "").read_text()
    except (OSError, TypeError):
        try:
            text = inspect.getsource(written)
        except (OSError, TypeError):
            text = repr(getattr(written, "__code__", written))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


_registered = 0
_loading = threading.RLock()
_loaded: set[str] = set()


def generation() -> int:
    """Return how many disciplines, curves and victim rules were registered; values read before may be out of date."""
    return _registered


def load_plugins() -> None:
    """Load what ``AQMLAB_PLUGINS`` and installed packages name, each once. Called wherever names are looked up.

    Raises
    ------
    InputError
        If one of the environment variable cannot be loaded; in a line with file, line and error.
    """
    with _loading:
        for name in _named(os.environ.get(PLUGINS, "")):
            if name not in _loaded:
                _loaded.add(name)
                _load(name)
        if "" not in _loaded:
            _loaded.add("")
            for point in entry_points(group="aqmlab.plugins"):
                with in_code_of(f"plug-in {point.name}"):
                    point.load()


def _named(text: str) -> Iterable[str]:
    return [part for part in text.split(os.pathsep) if part]


def _load(name: str) -> None:
    path = Path(name)
    if path.suffix != ".py":
        with in_code_of(f"plug-in {name}"):
            importlib.import_module(name)
        return
    if not path.is_file():
        raise InputError(f"{name}: unknown plug-in (allowed: a Python file, or the name of a module)")
    module = f"aqmlab_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(module, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{name}: is not a Python file")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    with in_code_of(f"plug-in {name}"):
        spec.loader.exec_module(loaded)
