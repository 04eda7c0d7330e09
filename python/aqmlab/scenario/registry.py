"""Disciplines and their parameters, as the core knows them: nothing is written down twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeVar

from aqmlab import _core
from aqmlab.errors import InputError, unknown
from aqmlab.scenario.plugins import generation, load_plugins

T = TypeVar("T", "Parameter", "Discipline", "Part", "Transport", "Controller")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a discipline.

    Attributes
    ----------
    key
        Its name in a scenario file.
    symbol
        The paper's symbol.
    unit
        Its unit, "1" for a pure number.
    default
        Its value if the scenario gives none.
    low, high
        Bounds of the range; None for no bound.
    choices
        Allowed words.
    parts
        The parts of RED that alone have it; empty where every queue has it.
    allowed
        The allowed range or words as text.
    doc, source
        Its description, and the source of the description.
    """

    key: str
    symbol: str
    unit: str
    default: Any
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    parts: tuple[str, ...]
    allowed: str
    doc: str
    source: str


@dataclass(frozen=True)
class Discipline:
    """A queue discipline: a named choice of parts with its parameters."""

    name: str
    title: str
    paper: str
    doc: str
    parameters: tuple[Parameter, ...]
    foreign: bool = False
    """Whether it is written in Python (see `aqmlab.scenario.plugins`)."""
    one_queue: bool = False
    """Whether all packets wait in one queue, whose parameter ``limit`` is never exceeded."""

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """The parameters without those of victims and adaptations that the discipline does not have."""
        kinds = ("victim", "adaptation")
        others = {name for kind in kinds for name in parts()[kind]} - {
            p.default for p in self.parameters if p.key in kinds
        }
        return tuple(p for p in self.parameters if not p.parts or set(p.parts) - others)

    def parameter(self, key: str) -> Parameter | None:
        """Return the parameter with this key, or None."""
        return next((p for p in self.parameters if p.key == key), None)


@dataclass(frozen=True)
class Part:
    """A curve, spacing rule, victim rule or adaptation of RED.

    Attributes
    ----------
    name, doc
        The word in a scenario file, and a description.
    parameters
        The keys of the parameters that only queues with this part have.
    needs
        Parameters without which there is no such part, with values that will do.
    """

    name: str
    doc: str
    parameters: tuple[str, ...]
    needs: dict[str, Any]


@dataclass(frozen=True)
class Transport:
    """How a flow sends: a word for its ``transport``, with the options of its ``tcp`` table.

    Attributes
    ----------
    name, title
        The word, and its meaning.
    profile
        The set of semantics of TCP that it belongs to; None for UDP.
    parameters
        The options.
    """

    name: str
    title: str
    profile: str | None
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Controller:
    """A congestion controller of the profile ``rfc``.

    Attributes
    ----------
    name
        The word for ``congestion_control``.
    doc, source
        The signals it responds to, and its source.
    parameters
        The keys of the options that only this controller has.
    ecn
        The words for ``ecn`` that it works with; the first is its default.
    """

    name: str
    doc: str
    source: str
    parameters: tuple[str, ...]
    ecn: tuple[str, ...]


def disciplines() -> list[Discipline]:
    """List all queue disciplines with their parameters, units, defaults and ranges.

    >>> red = discipline("red")
    >>> red.parameter("min_th").unit
    'packets'
    """
    return list(_by_name().values())


def discipline(name: str) -> Discipline:
    """Return one discipline by its name."""
    known = _by_name()
    if name in known:
        return known[name]
    if name in controllers():
        raise InputError(f'"{name}" is a congestion control, not a discipline: see aqmlab list tcp')
    raise InputError(unknown("discipline", name, list(known)))


def transports() -> dict[str, Transport]:
    """Return all transports by their names.

    >>> transports()["tcp"].profile
    'rfc'
    """
    return {entry["name"]: _made(Transport, entry) for entry in registry()["transports"]}


def controllers() -> dict[str, Controller]:
    """Return the congestion controllers of the profile ``rfc`` by their names.

    >>> controllers()["dctcp"].ecn
    ('dctcp', 'accurate')
    """
    return {entry["name"]: _made(Controller, entry) for entry in registry()["controllers"]}


def parts() -> dict[str, dict[str, Part]]:
    """Return the parts that RED can be built from: by their kind, which is a key of a queue, and by their names.

    >>> list(parts()["victim"])[:2]
    ['arriving', 'pc-red']
    """
    return {
        kind: {entry["name"]: _made(Part, entry) for entry in entries} for kind, entries in registry()["parts"].items()
    }


def _by_name() -> dict[str, Discipline]:
    load_plugins()
    return _disciplines(generation())


@lru_cache(maxsize=1)
def _disciplines(known: int) -> dict[str, Discipline]:
    return {entry["name"]: _made(Discipline, entry) for entry in _read(known)["disciplines"]}


def registry() -> dict[str, Any]:
    """Return the whole registry of the core: disciplines, parts, dialects, transports, controllers."""
    load_plugins()
    return _read(generation())


@lru_cache(maxsize=1)
def _read(_generation: int) -> dict[str, Any]:
    return _core.registry()


def schema() -> dict[str, Any]:
    """Return the JSON schema of the scenario file, for editors."""
    load_plugins()
    return _core.schema()


def _made(kind: type[T], entry: Mapping[str, Any]) -> T:
    """Make an object of the registry's entry, which has the fields of the object's class."""
    found = dict(entry)
    if kind is Parameter:
        found |= {"low": entry["min"], "high": entry["max"], "symbol": entry["symbol"] or entry["key"]}
    elif kind in (Discipline, Transport):
        found["parameters"] = tuple(_made(Parameter, parameter) for parameter in entry["parameters"])
    return kind(**{field.name: found[field.name] for field in fields(kind)})


def compiled(name: str, where: str) -> str:
    """Return the name of a discipline that can run live; one that is written in Python is too slow for that.

    Raises
    ------
    InputError
        If it is written in Python; `where` begins the message.
    """
    if discipline(name).foreign:
        raise InputError(f"{where}: {name} is written in Python; live links take what is compiled")
    return name
