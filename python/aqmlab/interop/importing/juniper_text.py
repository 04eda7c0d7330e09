"""Class of service in a configuration of Juniper Junos: schedulers, their maps, classifiers and interfaces.

Statements that no rule reads are kept with their lines. Code points have a forwarding class by a classifier, else by
Junos's default one (Class of Service user guide, "Default DSCP and DSCP IPv6 classifiers").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from aqmlab.interop.cisco.queues import NAMES
from aqmlab.interop.juniper.queues import Profile, Statement, profiles_of, statements, temporal

BEST_EFFORT = "best-effort"
USUAL = {"expedited-forwarding": {46}, "assured-forwarding": {10, 12, 14}, "network-control": {48, 56}}
"""Junos's own classifier; all other code points have best effort."""
ALIASES = {**NAMES, "be": 0, "nc1": 48, "nc2": 56}
FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
PRIORITIES = ("strict-high", "high", "medium-high", "medium-low", "low")


@dataclass
class Scheduler:
    """A scheduler: its share and buffer as number and unit, its priority, and drop profiles with their lines.

    `is_exact` says that it may not send more than its share.

    Units are ``bit`` (1/s), ``percent``, ``remainder``; of the buffer also ``s``.
    """

    name: str
    line: int
    share: tuple[float, str] | None = None
    buffer: tuple[float, str] | None = None
    is_exact: bool = False
    priority: str = "low"
    shaped_bps: float | None = None
    profiles: list[tuple[int, str, str, str]] = field(default_factory=list)
    ecn: bool = False


@dataclass
class Port:
    """An interface, a unit of it, or a traffic control profile: its scheduler map, rate and classifier, with lines."""

    name: str
    line: int
    scheduler_map: tuple[str, int] | None = None
    shaped_bps: float | None = None
    control: tuple[str, int] | None = None
    classifier: tuple[str, int] | None = None


@dataclass
class Service:
    """All these parts by name, and the unread rest: statements with their lines, and lines of other sections."""

    profiles: dict[str, Profile] = field(default_factory=dict)
    schedulers: dict[str, Scheduler] = field(default_factory=dict)
    maps: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    classifiers: dict[str, dict[int, str]] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)
    controls: dict[str, Port] = field(default_factory=dict)
    queue_zero: str = BEST_EFFORT
    rest: list[tuple[int, str]] = field(default_factory=list)
    outside: int = 0


class LineError(ValueError):
    """A statement that cannot be read, with its line."""

    def __init__(self, line: int, text: str) -> None:
        self.line = line
        super().__init__(text)


def read_service(text: str) -> Service:
    """Read the statements of a configuration.

    Raises
    ------
    LineError
        With the line that cannot be read.
    """
    try:
        found = statements(text)
    except ValueError as error:
        line, _, what = str(error).removeprefix("line ").partition(": ")
        raise LineError(int(line), what) from None
    service = Service(profiles=profiles_of(found))
    for one in found:
        try:
            _read(service, one)
        except ValueError as error:
            raise LineError(one.line, str(error)) from None
    return service


def _read(service: Service, one: Statement) -> None:
    path = one.path
    if path[0] in ("deactivate", "delete"):
        raise ValueError(f"{path[0]} is not read (allowed: the configuration as `show` prints it)")
    if "inactive:" in path:
        service.rest.append((one.line, " ".join(path)))
    elif path[0] != "class-of-service":
        service.outside += 1
    elif len(path) < 4 or not SECTIONS.get(path[1], _unread)(service, one):
        service.rest.append((one.line, " ".join(path[1:])))


def _unread(service: Service, one: Statement) -> bool:
    return False


def _drop_profile(service: Service, one: Statement) -> bool:
    return "fill-level" in one.path or "drop-probability" in one.path


def _scheduler(service: Service, one: Statement) -> bool:
    own = service.schedulers.setdefault(one.path[2], Scheduler(one.path[2], one.line))
    word, rest = one.path[3], one.path[4:]
    if word == "transmit-rate" and rest and rest[0] not in ("exact", "rate-limit"):
        length = 2 if rest[0] == "percent" else 1
        own.share = _amount(word, rest[:length])
        own.is_exact = rest[length:] in (("exact",), ("rate-limit",))
        return len(rest) == length or (own.is_exact and own.share[1] == "bit")
    if word == "buffer-size" and rest:
        is_time = rest[0] == "temporal"
        own.buffer = (temporal(" ".join(rest[1:])), "s") if is_time else _amount(word, rest[:2])
        return own.buffer[1] != "bit" or _no_bytes()
    if word == "shaping-rate" and rest:
        own.shaped_bps = rate_of(rest[0] if rest[0] != "rate" else rest[-1])
        return len(rest) == 1 or rest[0] == "rate"
    if word == "priority" and rest:
        if rest[0] not in PRIORITIES:
            raise ValueError(f'priority "{rest[0]}" (allowed: {", ".join(PRIORITIES)})')
        own.priority = rest[0]
        return True
    if word == "drop-profile-map":
        words = dict(zip(rest[::2], rest[1::2], strict=False))
        if "drop-profile" not in words:
            raise ValueError("drop-profile-map without a drop-profile")
        own.profiles.append(
            (one.line, words.get("loss-priority", "any"), words.get("protocol", "any"), words["drop-profile"])
        )
        return True
    if word == "explicit-congestion-notification":
        own.ecn = True
        return True
    return False


def _no_bytes() -> bool:
    raise ValueError("buffer-size needs percent, remainder or temporal")


def _amount(word: str, rest: tuple[str, ...]) -> tuple[float, str]:
    """Read a share: ``percent N``, ``remainder``, or a rate.

    >>> _amount("transmit-rate", ("percent", "40")), _amount("transmit-rate", ("20m",))
    ((40.0, 'percent'), (20000000.0, 'bit'))
    """
    if rest[0] == "percent":
        if len(rest) < 2 or not re.fullmatch(r"\d{1,3}", rest[1]) or not 0 < int(rest[1]) <= 100:
            raise ValueError(f"{word} percent needs a number from 1 to 100")
        return float(rest[1]), "percent"
    return (0.0, "remainder") if rest[0] == "remainder" else (rate_of(rest[0]), "bit")


def rate_of(text: str) -> float:
    """Read a rate in bit/s.

    >>> rate_of("20m"), rate_of("64k")
    (20000000.0, 64000.0)
    """
    found = re.fullmatch(r"(\d{1,15})([kmg]?)", text)
    if found is None or int(found[1]) == 0:
        raise ValueError(f'"{text}": a rate is above 0 (for example 20m)')
    return int(found[1]) * FACTORS[found[2]]


def _scheduler_map(service: Service, one: Statement) -> bool:
    words = dict(zip(one.path[3::2], one.path[4::2], strict=False))
    if set(words) != {"forwarding-class", "scheduler"}:
        return False
    service.maps.setdefault(one.path[2], {})[words["forwarding-class"]] = (words["scheduler"], one.line)
    return True


def _classifier(service: Service, one: Statement) -> bool:
    if one.path[2] not in ("dscp", "inet-precedence") or len(one.path) < 6:
        return False
    own = service.classifiers.setdefault(one.path[3], {})
    if one.path[4] == "import":
        service.imports[one.path[3]] = one.path[5]
        return one.path[5] == "default"
    words = dict(zip(one.path[4::2], one.path[5::2], strict=False))
    if not {"forwarding-class", "code-points"} <= set(words):
        return False
    for name in words["code-points"].split():
        for point in _points(name, is_precedence=one.path[2] == "inet-precedence"):
            own[point] = words["forwarding-class"]
    return True


def _points(name: str, *, is_precedence: bool) -> tuple[int, ...]:
    if re.fullmatch(r"[01]{3}" if is_precedence else r"[01]{6}", name):
        number = int(name, 2)
        return tuple(range(8 * number, 8 * number + 8)) if is_precedence else (number,)
    if ALIASES.get(name, -1) < 0:
        raise ValueError(f'unknown code point "{name}" (allowed: six bits, ef, afXY, csN, be, nc1, nc2)')
    return (ALIASES[name],)


def _port(service: Service, one: Statement) -> bool:
    """Read an interface; a unit of it counts as the interface."""
    return _port_of(service.ports, one, one.path[3:] if one.path[3] != "unit" else one.path[5:])


def _control(service: Service, one: Statement) -> bool:
    return _port_of(service.controls, one, one.path[3:])


def _port_of(into: dict[str, Port], one: Statement, words: tuple[str, ...]) -> bool:
    own = into.setdefault(one.path[2], Port(one.path[2], one.line))
    if len(words) < 2:
        return False
    word, value = words[0], words[-1] if words[1] == "rate" else words[1]
    if word == "scheduler-map":
        own.scheduler_map = own.scheduler_map or (value, one.line)
    elif word == "shaping-rate":
        own.shaped_bps = min(rate_of(value), own.shaped_bps or rate_of(value))
    elif word == "output-traffic-control-profile":
        own.control = own.control or (value, one.line)
    elif word == "classifiers" and words[1] in ("dscp", "inet-precedence") and len(words) == 3:
        own.classifier = own.classifier or (words[2], one.line)
    else:
        return False
    return True


def _forwarding_class(service: Service, one: Statement) -> bool:
    words = one.path[2:]
    if words[0] == "queue" and len(words) == 3 and words[1] == "0":
        service.queue_zero = words[2]
    elif words[0] == "class" and words[2:4] == ("queue-num", "0"):
        service.queue_zero = words[1]
    return words[0] in ("queue", "class")


SECTIONS: dict[str, Callable[[Service, Statement], bool]] = {
    "drop-profiles": _drop_profile,
    "schedulers": _scheduler,
    "scheduler-maps": _scheduler_map,
    "classifiers": _classifier,
    "interfaces": _port,
    "traffic-control-profiles": _control,
    "forwarding-classes": _forwarding_class,
}
