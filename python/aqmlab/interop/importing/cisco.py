"""Configurations of Cisco IOS, IOS XE, IOS XR and NX-OS as a link's queue.

| router | scenario |
|---|---|
| ``random-detect``, the same profile for all code points | ``aqm = "red"`` |
| several profiles | ``aqm = "wred"`` with a class for each |
| classes of a policy map with ``bandwidth`` | ``aqm = "wfq"`` with a class for each, the bandwidth as the weight |
| classes with ``priority`` | ``aqm = "priority"``, the others behind them |
| thresholds in bytes, kbytes, mbytes, ms or us | bytes, of times at the link's rate |
| ``shape average``, ``bandwidth`` of the interface | the rate |

How drops are spread is not documented: RED has its default.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from aqmlab.errors import InputError, counted
from aqmlab.interop.cisco.queues import Profile
from aqmlab.interop.importing.bottleneck import BOTTLENECK, Bottleneck, Class
from aqmlab.interop.importing.cisco_policy import Chosen, choose, code_points_of, weights_of
from aqmlab.interop.importing.cisco_text import Configuration, Queue, read_configuration
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import as_label, packets, rate, size

EXPONENT = "9"
QUEUE_LIMIT = 64.0
BYTES = {"bytes": 1.0, "kbytes": 1000.0, "mbytes": 1e6}
SECONDS = {"ms": 1e-3, "us": 1e-6}
Key: TypeAlias = tuple[frozenset[tuple[str, str]], str]
"""Words and unit of a profile."""
EVERY = frozenset(range(64))


def looks_like_cisco(text: str) -> bool:
    """Whether there is a line of Cisco's queueing in a text."""
    return re.search(r"^\s*(?:random-detect\b|policy-map |service-policy )", text, flags=re.MULTILINE) is not None


def read_cisco(text: str, filename: str) -> Bottleneck:
    """Read a configuration with one link's queue.

    Raises
    ------
    InputError
        With the line that cannot be read, or that leaves open which queue the link has.
    """
    found = read_configuration(text, filename)
    return _Writer(found, choose(found, filename), filename).write()


class _Writer:
    """Makes a bottleneck of the policy that was chosen."""

    def __init__(self, configuration: Configuration, chosen: Chosen, filename: str) -> None:
        self._configuration, self._chosen, self._filename = configuration, chosen, filename
        self.found = Bottleneck()

    def write(self) -> Bottleneck:
        """Return the bottleneck with its notes."""
        found, chosen = self.found, self._chosen
        if chosen.rate_bps is not None:
            if chosen.rate_bps <= 0:
                raise self._error(chosen.rate_line, "a rate is above 0")
            found.rate_bps = chosen.rate_bps
        classes = [one for one in chosen.classes if one.has_queue]
        if len(classes) == 1 and classes[0].is_default:
            self._queue(classes[0], BOTTLENECK, EVERY)
        else:
            self._scheduler(classes)
        for one in chosen.classes:
            if not one.has_queue:
                found.note(f"class {one.name} has no queue of its own: its packets are in class-default", one.line)
            for number, text in one.rest:
                found.note(text, number)
        for number, text in chosen.notes:
            found.note(text, number)
        if self._configuration.outside:
            lines = _ranges(self._configuration.outside)
            found.note(f"lines {lines} are not read: they are not of a class, class map or queue of an interface")
        found.sort_notes()
        if chosen.rate_bps is None:
            found.note(f"no rate is given (shape average): {rate(found.rate_bps)} is assumed")
        found.note("the link's delay is not in the configuration: 20 ms are assumed")
        if any(one.detects for one in classes):
            found.note("how drops are spread is not documented: RED's default is assumed")
        return found

    def _error(self, line: int, text: str) -> InputError:
        return InputError(f"{self._filename}:{line}: {text}" if line else f"{self._filename}: {text}")

    def _scheduler(self, classes: list[Queue]) -> None:
        """Make classes of a scheduler; class-default is the one of all packets that no other has."""
        default = next((one for one in classes if one.is_default), None)
        others = [one for one in classes if one is not default]
        if default is None:
            default = Queue("class-default", 0)
            self.found.note(f"class-default is not configured: drop-tail of {QUEUE_LIMIT:g} packets is assumed")
        weights = weights_of(others, default, self._chosen, self._filename)
        strict: list[tuple[int, Class]] = []
        shared: list[Class] = []
        taken: set[int] = set()
        for number, one in enumerate([*others, default], start=1):
            points: tuple[int, ...] | None = None
            if one is not default:
                all_points, notes = code_points_of(self._configuration, one, self._filename)
                points = tuple(sorted(all_points - taken))
                taken |= all_points
                for line, text in notes:
                    self.found.note(text, line)
                if not points:
                    self.found.note(f"class {one.name}: earlier classes have all its code points", one.line)
                    continue
            queue = f"{BOTTLENECK}-{number}"
            self._queue(one, queue, EVERY - taken if points is None else frozenset(points))
            name = as_label(one.name)
            if one.priority:
                strict.append((one.priority, Class(name, points, None, queue)))
                if one.guarantee:
                    self.found.note(f"class {one.name}: strict priority without its limit ({one.guarantee})", one.line)
            else:
                shared.append(Class(name, points, weights[one.name], queue))
            if one.shape and one.shape[2] != self._chosen.rate_line:
                self.found.note(f"class {one.name}: may take the whole link, without its own shape", one.shape[2])
        self.found.schedule_ranked(strict, shared)

    def _queue(self, one: Queue, name: str, points: frozenset[int]) -> None:
        """Make the queue of a class with these code points: RED or WRED, else drop-tail."""
        self.found.lines[name] = one.detects or one.line
        limit = one.limit
        if limit is None and one.nexus is None:
            limit = (QUEUE_LIMIT, "packets")
            self.found.note(f"no queue-limit is given{_of(one)}: {QUEUE_LIMIT:g} is assumed", one.line)
        profiles = [one.nexus] if one.nexus is not None else one.profiles
        if not one.detects:
            assert limit is not None
            self.found.queues[name] = {"aqm": "drop-tail", "limit": self._size(max(1.0, limit[0]), limit[1], one)}
            return
        if not profiles:
            allowed = "random-detect precedence P MIN MAX DENOMINATOR"
            text = f"random-detect has no profile, and a platform's defaults are not known ({allowed})"
            raise self._error(one.detects, text)
        exponent = one.exponent or EXPONENT
        if one.exponent is None:
            self.found.note(f"no exponential-weighting-constant is given{_of(one)}: {EXPONENT} is assumed", one.detects)
        distinct: dict[Key, list[Profile]] = {}
        for profile in profiles:
            distinct.setdefault((profile.words, profile.unit), []).append(profile)
        tables = {key: self._profile(several[0], exponent, one) for key, several in distinct.items()}
        own: Table = {"w_q": 2.0 ** -int(exponent)}
        if limit is None:
            most = max(several[0] for several in (_numbers(profile)[1:2] for profile in profiles))
            limit = (2 * most, profiles[0].unit)
            self.found.note(f"no queue-limit is given{_of(one)}: twice the maximum threshold is assumed", one.detects)
        own["limit"] = self._size(max(1.0, limit[0]), limit[1], one)
        if any(profile.unit != "packets" for profile in profiles):
            own["mode"] = "bytes"
        if len({profile.unit == "packets" for profile in profiles}) > 1:
            raise self._error(one.detects, "profiles in packets and in other units do not go together")
        if one.ecn:
            own["ecn"] = True
        covered = {point for profile in profiles for point in profile.code_points}
        if missing := len(points - covered):
            which = "the others" if len(distinct) == 1 else "code point 0" if 0 in covered else "the last line"
            self.found.note(
                f"{counted(missing, 'code point')}{_of(one)} without a profile: that of {which} is used",
                one.detects,
            )
        if len(distinct) == 1:
            self.found.queues[name] = {"aqm": "red", **own, **next(iter(tables.values()))}
            return
        self.found.queues[name] = {"aqm": "wred", **own}
        grouped = {key: [p for each in several for p in each.code_points] for key, several in distinct.items()}
        self.found.classes[name] = _precedences(grouped, tables)

    def _profile(self, profile: Profile, exponent: str, one: Queue) -> Table:
        """Return thresholds and probability of a profile.

        Raises
        ------
        InputError
            For values that IOS rejects.
        """
        where = profile.line
        low, high, denominator = _numbers(profile)
        if denominator < 1:
            raise self._error(where, "the denominator is at least 1, the exponent small")
        if not 0 < low <= high or not 0 <= int(exponent) <= 32:
            raise self._error(where, "allowed are 0 < minimum <= maximum, a denominator from 1, an exponent up to 32")
        return {
            "min_th": self._size(low, profile.unit, one),
            "max_th": self._size(high, profile.unit, one),
            "max_p": float(f"{1 / denominator:.12g}"),
        }

    def _size(self, value: float, unit: str, one: Queue) -> str:
        """Write a size; of a time that of the link's rate."""
        if unit == "packets":
            return packets(value)
        if unit in BYTES:
            text = f"{unit}{_of(one)} are read as {BYTES[unit]:.0f} B each"
            if BYTES[unit] > 1 and f"line {one.line}: {text}" not in self.found.notes:
                self.found.note(text, one.line)
            return size(max(1.0, round(value * BYTES[unit])))
        found = max(1.0, round(value * SECONDS[unit] * self.found.rate_bps / 8))
        self.found.note(f"{value:g} {unit}{_of(one)} are {found:g} B at {rate(self.found.rate_bps)}", one.line)
        return size(found)


def _precedences(distinct: dict[Key, list[int]], tables: dict[Key, Table]) -> list[Class]:
    """Return a class for each profile; the one of code point 0 is that of all code points without one."""
    default = next((key for key, points in distinct.items() if 0 in points), next(reversed(distinct)))

    def worth(key: Key) -> list[float]:
        return [-float(dict(key[0])[word]) for word in ("minimum", "maximum")]

    made = []
    # The class that is worth most, with the highest thresholds, comes first.
    for number, key in enumerate(sorted(distinct, key=worth), start=1):
        own = None if key is default else tuple(sorted(set(distinct[key])))
        made.append(Class(f"profile-{number}", own, None, "", tables[key]))
    return made


def _of(one: Queue) -> str:
    return "" if one.is_default else f" for class {one.name}"


def _numbers(profile: Profile) -> list[float]:
    own = dict(profile.words)
    return [float(own[word]) for word in ("minimum", "maximum", "denominator")]


def _ranges(lines: list[int]) -> str:
    """Write line numbers with ranges.

    >>> _ranges([1, 2, 3, 7])
    '1-3, 7'
    """
    found: list[list[int]] = []
    for line in lines:
        if found and found[-1][1] == line - 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in found)
