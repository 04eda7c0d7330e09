"""Configurations of routers as a scenario: Cisco IOS (``random-detect``) and Juniper Junos (``drop-profiles``).

| router | scenario |
|---|---|
| Cisco, the same profile for all code points | ``aqm = "red"`` |
| Cisco, several profiles | ``aqm = "wred"`` with a class for each |
| Cisco ``shape average``, ``bandwidth`` | the rate |
| Junos drop profile | ``curve = "points"`` |
| Junos ``shaping-rate``, ``transmit-rate`` | the rate |

How drops are spread is not documented by either: RED has its default. Junos has no word for the weight of the average.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aqmlab.errors import InputError
from aqmlab.interop.cisco import queues as cisco
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import in_words, packets, rate
from aqmlab.interop.importing.bottleneck import BOTTLENECK, Bottleneck, Class
from aqmlab.interop.juniper import queues as juniper
from aqmlab.scenario.toml_text import Value

EXPONENT = "9"
QUEUE_LIMIT = "64"
PACKET = 1500
"""Bytes of a packet where a buffer in time becomes packets."""
READ = (
    r"!.*",
    r"policy-map \S+",
    r"class \S+",
    r"interface \S+.*",
    r"service-policy output \S+",
    r"random-detect(?: (?:prec|precedence|dscp)-based)?",
    r"random-detect ecn",
    r"random-detect exponential-weighting-constant \d+",
    r"random-detect (?:precedence|dscp) .*",
    r"queue-limit \d+(?: packets)?",
    r"shape average \d+",
    r"bandwidth \d+",
    r"(?:end|exit|configure terminal|conf t)?",
)
"""Lines of Cisco IOS that are read, or say nothing of the queue."""


def looks_like_cisco(text: str) -> bool:
    """Whether there is a line of Cisco's RED in a text."""
    return re.search(r"^\s*random-detect\b", text, flags=re.MULTILINE) is not None


def looks_like_juniper(text: str) -> bool:
    """Whether there is a drop profile of Junos in a text."""
    return re.search(r"\bdrop-profiles\b", text) is not None and "class-of-service" in text


def read_cisco(text: str, filename: str) -> Bottleneck:
    """Read a configuration of Cisco IOS with one queue.

    Raises
    ------
    InputError
        If it has no profile, or values that IOS rejects.
    """
    profiles = cisco.profiles_of(text)
    found = Bottleneck()
    if not profiles:
        raise InputError(f"{filename}: random-detect has no profile (random-detect precedence P MIN MAX DENOMINATOR)")
    words = dict(re.findall(r"(exponential-weighting-constant|queue-limit) (\d+)", text))
    for word, value in (("exponential-weighting-constant", EXPONENT), ("queue-limit", QUEUE_LIMIT)):
        if word not in words:
            words[word] = value
            found.notes.append(f"no {word} is given: {value} is assumed")
    distinct: dict[frozenset[tuple[str, str]], list[int]] = {}
    for profile in profiles:
        if not profile.code_points:
            raise InputError(
                f"{filename}:{profile.line}: unknown precedence or code point (allowed: 0 to 7, 0 to 63, afXY)"
            )
        distinct.setdefault(profile.words, []).extend(profile.code_points)
    places = {profile.words: profile.line for profile in profiles}
    tables = {one: _cisco_profile(dict(one) | words, f"{filename}:{places[one]}") for one in distinct}
    first = next(iter(tables.values()))
    own: Table = {key: in_words(key, first[key]) for key in ("limit", "w_q")}
    if "random-detect ecn" in text:
        own["ecn"] = True
    covered = {point for points in distinct.values() for point in points}
    if len(distinct) == 1:
        own |= _thresholds(first)
        if len(covered) < 64:
            found.notes.append(f"{64 - len(covered)} code points have no profile: they get that of the others")
    found.queues[BOTTLENECK] = {"aqm": "red" if len(distinct) == 1 else "wred", **own}
    if len(distinct) > 1:
        _classes(found, distinct, {one: _thresholds(table) for one, table in tables.items()}, covered)
    _cisco_rate(found, text, filename)
    found.notes += list(_cisco_rest(text))
    found.notes.append("how drops are spread is not documented: RED's default is assumed")
    return found


def _cisco_profile(words: dict[str, str], where: str) -> dict[str, float]:
    try:
        own: dict[str, float] = cisco.RED.read(words)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"{where}: the denominator is at least 1, the exponent small") from None
    if not 0 < own["min_th"] <= own["max_th"] or not own["max_p"] <= 1 or not 2.0**-32 <= own["w_q"] <= 1:
        raise InputError(f"{where}: allowed are 0 < minimum <= maximum, a denominator from 1, an exponent up to 32")
    return own | {"limit": max(1.0, own["limit"])}


def _thresholds(own: dict[str, float]) -> Table:
    return {key: in_words(key, own[key]) for key in ("min_th", "max_th", "max_p")}


def _classes(
    found: Bottleneck,
    distinct: dict[frozenset[tuple[str, str]], list[int]],
    tables: dict[frozenset[tuple[str, str]], Table],
    covered: set[int],
) -> None:
    """Add a class for each profile; the one of code point 0 is that of all code points without one."""
    default = next((one for one, points in distinct.items() if 0 in points), next(reversed(distinct)))
    made = []
    # The class that is worth most, with the highest thresholds, comes first.
    worth = sorted(distinct, key=lambda one: [-float(dict(one)[word]) for word in ("minimum", "maximum")])
    for number, one in enumerate(worth, start=1):
        points = distinct[one]
        own = None if one is default else tuple(sorted(set(points)))
        made.append(Class(f"profile-{number}", own, None, "", tables[one]))
    found.classes[BOTTLENECK] = made
    if len(covered) < 64:
        found.notes.append(f"{64 - len(covered)} code points have no profile: they get that of code point 0")


def _cisco_rate(found: Bottleneck, text: str, filename: str) -> None:
    shaped = re.search(r"^\s*shape average (\d{1,15})", text, flags=re.MULTILINE)
    link = re.search(r"^interface .*(?:\n\s+.*)*?\n\s+bandwidth (\d{1,12})\s*$", text, flags=re.MULTILINE)
    bits = float(shaped[1]) if shaped else 1000 * float(link[1]) if link else None
    if bits is None:
        found.notes.append(f"no rate is given (shape average): {rate(found.rate_bps)} is assumed")
    elif bits <= 0:
        raise InputError(f"{filename}: a rate is above 0")
    else:
        found.rate_bps = bits
    found.notes.append("the link's delay is not in the configuration: 20 ms are assumed")


def _cisco_rest(text: str) -> Iterator[str]:
    """Name the lines that are not read, from the first of the queue on."""
    for number, line in enumerate(text.splitlines(), start=1):
        words = " ".join(line.split())
        if not any(re.fullmatch(pattern, words) for pattern in READ):
            yield f"line {number}: {words}"


def read_juniper(text: str, filename: str) -> Bottleneck:
    """Read a configuration of Junos with one drop profile.

    Raises
    ------
    InputError
        If there is another number of profiles, or their values do not fit together.
    """
    try:
        own = juniper.read_red(text)
        bits, notes = _juniper_rate(text)
    except ValueError as error:
        raise InputError(f"{filename}: {error}") from None
    found = Bottleneck(notes=notes)
    if bits is not None:
        found.rate_bps = bits
    else:
        found.notes.append(f"no rate is given (shaping-rate): {rate(found.rate_bps)} is assumed")
    limit_s = own.get("limit")
    if limit_s is None:
        limit_s = 0.1
        found.notes.append("no buffer-size temporal is given: 100 ms are assumed")
    limit = max(1, round(limit_s * found.rate_bps / 8 / PACKET))
    found.queues[BOTTLENECK] = {
        "aqm": "red",
        "limit": packets(limit),
        "curve": "points",
        "points": _points(own["profile"], limit, smooth=own["interpolate"]),
        "mean_packet": f"{PACKET}B",
    }
    found.notes.append(f"the buffer of {limit_s * 1e3:g} ms is {limit} packets of {PACKET} B")
    found.notes.append(
        "the weight of the average and how drops are spread are the hardware's: RED's defaults are assumed"
    )
    found.notes.append("the link's delay is not in the configuration: 20 ms are assumed")
    return found


def _points(profile: list[tuple[int, int]], limit: int, *, smooth: bool) -> list[Value]:
    """Return points of the average in packets and the probability; steps where the profile is not interpolated."""
    pairs = [(level * limit / 100, share / 100) for level, share in profile]
    if smooth:
        pairs = [*([(0.0, 0.0)] if pairs[0][0] > 0 else []), *pairs, *([(limit, 1.0)] if pairs[-1][0] < limit else [])]
    else:
        steps: list[tuple[float, float]] = [(0.0, 0.0)]
        for level, share in pairs:
            steps += [(level, steps[-1][1]), (level, share)]
        pairs = steps
    made: list[Value] = []
    for level, share in pairs:
        made.append([float(f"{level:.12g}"), float(f"{share:.12g}")])
    return made


def _juniper_rate(text: str) -> tuple[float | None, list[str]]:
    """Return the rate of a shaper or scheduler, and the statements that are not read."""
    bits, notes = None, []
    for path in juniper.statements(text):
        words = " ".join(path)
        value = re.fullmatch(r"(\d{1,15})([kmg]?)", path[-1])
        if path[-2:-1] in (("shaping-rate",), ("transmit-rate",)) and value:
            found = float(value[1]) * {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}[value[2]]
            if found <= 0:
                raise ValueError("a rate is above 0")
            bits = min(found, bits or found)
        elif not re.search(
            r"drop-profiles \S+ |buffer-size temporal \d+$|drop-profile-map .* drop-profile \S+$", words
        ):
            notes.append(words)
    return bits, notes
