"""Quality of service in a configuration of Cisco IOS, IOS XE, IOS XR or NX-OS, line by line.

Policy maps with the queueing of each of their classes, class maps, and interfaces with the policies at their output.
Lines that say something of a queue and cannot be read are errors; other lines of these sections are kept as `rest`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from aqmlab.errors import InputError
from aqmlab.interop.cisco.queues import PRECEDENCES, UNITS, Profile, code_points, profile_of

DECIDES = ("random-detect", "queue-limit", "bandwidth", "priority", "shape", "service-policy", "fair-queue")
"""First words of lines that make another queue if they are left out."""
HARMLESS = re.compile(
    r"(?:!.*|end|exit|end-policy-map|end-class-map|configure terminal|conf t|description .*|no shutdown)?"
)
UNDONE = re.compile(
    r"no (?:policy-map|class|class-map|random-detect|queue-limit|bandwidth|priority|shape|service-policy)\b.*"
)
"""Lines that take back what another says of a queue; routers print none of them, but ``no fair-queue``."""
QUEUEING = r"service-policy |priority-|custom-queue|hold-queue|tx-ring|.*queue|traffic-shape|rate-limit|mls qos"
"""Lines of an interface that change its queue, and are not read."""
RATE = re.compile(r"(\d{1,15}) ?(bps|kbps|mbps|gbps|k|m|g)?")
FACTORS = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9, "k": 1e3, "m": 1e6, "g": 1e9}
UNIT = "|".join(UNITS)
NEXUS = re.compile(
    rf"random-detect minimum-threshold (\d+) ({UNIT}) maximum-threshold (\d+) ({UNIT}) drop-probability (\d+)"
    r"(?: weight (\d+))?(?: (ecn))?"
)
CLASSLESS = re.compile(rf"random-detect (?:default )?(\d+) ({UNIT}) (\d+) ({UNIT})")


@dataclass
class Queue:
    """The queueing of a class, or of an interface without classes; numbers with the unit that a line gives them.

    Attributes
    ----------
    name, line
        Of the class.
    detects
        Line of ``random-detect``; 0 without it.
    profiles
        By code point; `nexus` has the one of NX-OS and IOS XR, for all code points, with the probability.
    bandwidth
        Share of the class: a number of ``kbit``, ``percent``, ``remaining percent`` or ``remaining ratio``.
    priority
        Level of strict priority, 1 the first; 0 without it. `guarantee` has the number behind the word.
    shape
        Rate in bit/s, or of ``percent``.
    child
        The policy map below the class, and its line.
    group
        Number of ``set qos-group``.
    rest
        Lines that are not read.
    """

    name: str
    line: int
    detects: int = 0
    ecn: bool = False
    exponent: str | None = None
    profiles: list[Profile] = field(default_factory=list)
    nexus: Profile | None = None
    limit: tuple[float, str] | None = None
    bandwidth: tuple[float, str, int] | None = None
    priority: int = 0
    guarantee: str = ""
    shape: tuple[float, str, int] | None = None
    child: tuple[str, int] | None = None
    group: int | None = None
    rest: list[tuple[int, str]] = field(default_factory=list)

    @property
    def is_default(self) -> bool:
        """Whether it has the packets of no other class; NX-OS names it by its queue, as in c-out-8q-q-default."""
        return self.name in ("", "class-default") or self.name.endswith("q-default")

    @property
    def has_queue(self) -> bool:
        """Whether a line makes a queue or share of its own."""
        return bool(self.detects or self.limit or self.bandwidth or self.priority or self.shape or self.child)


@dataclass
class ClassMap:
    """Which packets a class has: code points or groups of NX-OS; `rest` are other rules."""

    name: str
    line: int
    match_all: bool
    points: list[set[int]] = field(default_factory=list)
    groups: set[int] = field(default_factory=set)
    rest: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class Policy:
    """A policy map: its classes in their order."""

    name: str
    line: int
    classes: list[Queue] = field(default_factory=list)


@dataclass
class Interface:
    """An interface: its bandwidth in kbit/s, the policy at its output with the line, and queueing without a policy."""

    name: str
    line: int
    own: Queue
    kbit: float | None = None
    output: tuple[str, int] | None = None


@dataclass
class Configuration:
    """All of them by name, and queueing that stands outside any section."""

    policies: dict[str, Policy] = field(default_factory=dict)
    class_maps: dict[str, ClassMap] = field(default_factory=dict)
    interfaces: list[Interface] = field(default_factory=list)
    loose: Queue = field(default_factory=lambda: Queue("", 0))
    outside: list[int] = field(default_factory=list)


def read_configuration(text: str, filename: str) -> Configuration:
    """Read the sections of a configuration.

    Raises
    ------
    InputError
        With the line that says something of a queue and cannot be read.
    """
    reader = _Reader(filename)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.read(number, line)
    return reader.found


class _Reader:
    """Reads lines in their order; `_section` is the policy, class map or interface that is open, `_class` its class."""

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self.found = Configuration()
        self._section: Policy | ClassMap | Interface | None = None
        self._class: Queue | None = None
        self._is_indented = False

    def read(self, number: int, line: str) -> None:
        """Read a line."""
        words = " ".join(line.split())
        if HARMLESS.fullmatch(words):
            return
        if UNDONE.fullmatch(words):
            raise InputError(
                f"{self._filename}:{number}: {words}: is not read; remove it and the line that it takes back"
            )
        if self._open(number, words):
            self._is_indented = False
            return
        if line[:1].strip() and self._is_indented:
            self._section = None
        self._is_indented = not line[:1].strip()
        where = f"{self._filename}:{number}"
        section = self._section
        if isinstance(section, ClassMap):
            _match(section, number, words, where)
        elif isinstance(section, Policy):
            if opened := re.fullmatch(r"class (?:type \S+ )?(\S+)", words):
                self._class = next((one for one in section.classes if one.name == opened[1]), None)
                if self._class is None:
                    self._class = Queue(opened[1], number)
                    section.classes.append(self._class)
            elif self._class is not None:
                _action(self._class, number, words, where)
            else:
                self.found.outside.append(number)
        elif isinstance(section, Interface):
            self._interface(section, number, words, where)
        elif words.split()[0] in DECIDES:
            _action(self.found.loose, number, words, where)
        else:
            self.found.outside.append(number)

    def _open(self, number: int, words: str) -> bool:
        """Begin a section."""
        found = self.found
        if opened := re.fullmatch(r"policy-map (?:type \S+ )?(\S+)", words):
            self._section = found.policies.setdefault(opened[1], Policy(opened[1], number))
            self._class = None
        elif opened := re.fullmatch(r"class-map (?:type \S+ )?(?:(match-any|match-all) )?(\S+)", words):
            made = ClassMap(opened[2], number, opened[1] != "match-any")
            self._section = found.class_maps.setdefault(opened[2], made)
        elif (opened := re.fullmatch(r"interface (\S.*)", words)) or words == "system qos":
            name = opened[1] if opened else words
            self._section = Interface(name, number, Queue("", number))
            found.interfaces.append(self._section)
        else:
            return False
        return True

    def _interface(self, section: Interface, number: int, words: str, where: str) -> None:
        if given := re.fullmatch(r"bandwidth (\d{1,12})", words):
            section.kbit = float(given[1])
        elif attached := re.fullmatch(r"service-policy (?:type queuing )?output (\S+)", words):
            section.output = (attached[1], number)
        elif words.split()[0] in ("random-detect", "fair-queue", "shape"):
            _action(section.own, number, words, where)
        elif re.match(QUEUEING, words):
            section.own.rest.append((number, words))
        else:
            self.found.outside.append(number)


def _match(section: ClassMap, number: int, words: str, where: str) -> None:
    if given := re.fullmatch(r"match (?:ip )?(dscp|precedence) (\S.*)", words):
        points: set[int] = set()
        for name in given[2].replace(",", " ").split():
            if not (found := _points(given[1], name.lower())):
                raise InputError(f'{where}: unknown precedence or code point "{name}" (allowed: 0 to 7, 0 to 63, afXY)')
            points.update(found)
        section.points.append(points)
    elif given := re.fullmatch(r"match qos-group (\d{1,4})", words):
        section.groups.add(int(given[1]))
    elif words == "match any":
        section.points.append(set(range(64)))
    else:
        section.rest.append((number, words))


def _points(kind: str, name: str) -> tuple[int, ...]:
    """Return code points by a name, number or range.

    >>> _points("dscp", "10-12"), _points("precedence", "critical")[:2]
    ((10, 11, 12), (40, 41))
    """
    if given := re.fullmatch(r"(\d{1,2})-(\d{1,2})", name):
        return tuple(p for n in range(int(given[1]), int(given[2]) + 1) for p in code_points(kind, str(n)))
    return code_points(kind, name)


def _action(queue: Queue, number: int, words: str, where: str) -> None:
    """Read a line of a class."""
    first = words.split()[0]
    reader = ACTIONS.get(first)
    if reader is None:
        if given := re.fullmatch(r"set qos-group (\d{1,4})", words):
            queue.group = int(given[1])
        else:
            queue.rest.append((number, words))
    elif not reader(queue, number, words):
        raise InputError(f"{where}: {words}: is not read (allowed: {ALLOWED[first]})")
    if first == "random-detect":
        for profile in queue.profiles[-1:]:
            if not profile.code_points:
                raise InputError(f"{where}: unknown precedence or code point (allowed: 0 to 7, 0 to 63, afXY)")


def _random_detect(queue: Queue, number: int, words: str) -> bool:
    queue.detects = queue.detects or number
    if re.fullmatch(r"random-detect(?: (?:prec|precedence|dscp)-based)?", words):
        return True
    if words == "random-detect ecn":
        queue.ecn = True
    elif given := re.fullmatch(r"random-detect exponential-weighting-constant (\d{1,9})", words):
        queue.exponent = given[1]
    elif profile := profile_of(number, words):
        queue.profiles.append(profile)
    elif given := NEXUS.fullmatch(words):
        probability = 100 / int(given[5]) if int(given[5]) else float("inf")
        queue.exponent = given[6] or queue.exponent
        queue.ecn = queue.ecn or bool(given[7])
        queue.nexus = _for_all(number, given[1], given[2], given[3], given[4], f"{probability:.17g}")
        return queue.nexus is not None
    elif given := CLASSLESS.fullmatch(words):
        queue.nexus = _for_all(number, given[1], given[2], given[3], given[4], "1")
        return queue.nexus is not None
    else:
        return False
    return True


def _for_all(number: int, low: str, unit: str, high: str, other: str, denominator: str) -> Profile | None:
    """Return the profile of all code points; None for two units."""
    words = frozenset({("minimum", low), ("maximum", high), ("denominator", denominator)})
    every = tuple(point for one in PRECEDENCES for point in code_points("precedence", str(one)))
    return Profile(number, every, words, unit) if unit == other else None


def _queue_limit(queue: Queue, number: int, words: str) -> bool:
    if given := re.fullmatch(rf"queue-limit (\d{{1,12}})(?: ({UNIT}))?", words):
        queue.limit = (float(given[1]), given[2] or "packets")
    return given is not None


def _bandwidth(queue: Queue, number: int, words: str) -> bool:
    if given := re.fullmatch(r"bandwidth (remaining )?(percent|ratio) (\d{1,6})", words):
        if given[2] == "ratio" and not given[1]:
            return False
        queue.bandwidth = (float(given[3]), f"{given[1] or ''}{given[2]}", number)
        return True
    given = re.fullmatch(r"bandwidth (.*)", words)
    rate = RATE.fullmatch(given[1]) if given else None
    if rate:
        queue.bandwidth = (float(rate[1]) * FACTORS[rate[2] or "kbps"] / 1e3, "kbit", number)
    return rate is not None


def _priority(queue: Queue, number: int, words: str) -> bool:
    given = re.fullmatch(r"priority(?: level (\d))?((?: percent)? \d{1,12}(?: (?:[kmg]?bps))?(?: \d+)?)?", words)
    if given:
        queue.priority = int(given[1] or 1)
        queue.guarantee = (given[2] or "").strip()
    return given is not None


def _shape(queue: Queue, number: int, words: str) -> bool:
    if given := re.fullmatch(r"shape average percent (\d{1,3})(?: .*)?", words):
        queue.shape = (float(given[1]), "percent", number)
        return True
    given = re.fullmatch(rf"shape (?:average )?({RATE.pattern})( \d+(?: \d+)?)?", words)
    if given:
        queue.shape = (float(given[2]) * FACTORS[given[3] or "bps"], "bit", number)
        if given[4]:
            queue.rest.append((number, f"{words} (bursts)"))
    return given is not None


def _service_policy(queue: Queue, number: int, words: str) -> bool:
    if given := re.fullmatch(r"service-policy (?:type queuing )?(\S+)", words):
        queue.child = (given[1], number)
    return given is not None


def _fair_queue(queue: Queue, number: int, words: str) -> bool:
    queue.rest.append((number, words))
    return True


ACTIONS = {
    "random-detect": _random_detect,
    "queue-limit": _queue_limit,
    "bandwidth": _bandwidth,
    "priority": _priority,
    "shape": _shape,
    "service-policy": _service_policy,
    "fair-queue": _fair_queue,
}
ALLOWED = {
    "random-detect": "random-detect [dscp-based], ecn, exponential-weighting-constant N, precedence|dscp P MIN MAX "
    "[DENOMINATOR], minimum-threshold N kbytes maximum-threshold N kbytes drop-probability P weight N",
    "queue-limit": f"queue-limit N [{UNIT}]",
    "bandwidth": "bandwidth KBPS, percent N, remaining percent N, remaining ratio N",
    "priority": "priority [level N] [KBPS], percent N",
    "shape": "shape average BPS, percent N",
    "service-policy": "service-policy NAME",
}
