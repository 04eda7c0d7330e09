"""RED in the words of Cisco IOS, and back (Quality of Service command reference, ``random-detect``).

Thresholds are whole packets, 1 to 4096; the probability at the maximum is 1/denominator, 1 to 65536; the weight is
2^-n, n from 1 to 16. Above the maximum everything is dropped.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from aqmlab.interop.settings import Settings, effective, strange_parts
from aqmlab.interop.translation import Format, Row, Table
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.parts import Link

MOST_PACKETS = 4096
MOST_DENOMINATOR = 65536
MOST_EXPONENT = 16
PRECEDENCES = range(8)


def clamped(value: float, most: int) -> str:
    """Write the nearest whole number from 1 to `most`.

    >>> clamped(0.2, 16), clamped(9.4, 16), clamped(99, 16)
    ('1', '9', '16')
    """
    return str(min(max(1, round(value)), most))


PACKETS = Format(lambda value: clamped(value, MOST_PACKETS), float, absolute=0.5)
"""Of values from 1 to 4096."""
LIMIT = Format(lambda value: f"{value:.0f}", float, absolute=0.5)
PROBABILITY = Format(
    lambda value: clamped(1 / max(value, 1e-9), MOST_DENOMINATOR), lambda text: 1 / float(text), relative=0.5
)
"""1/denominator, of values from 1/65536; the error is greatest at 2/3, which becomes 1/2 or 1."""
WEIGHT = Format(
    lambda value: clamped(-math.log2(value), MOST_EXPONENT), lambda text: 2.0 ** -int(text), relative=0.4143
)
"""2^-exponent, of values from 2^-16.5 to 2^-0.5."""
RED = Table(
    "random-detect",
    (
        Row("min_th", "minimum", PACKETS),
        Row("max_th", "maximum", PACKETS),
        Row("max_p", "denominator", PROBABILITY),
        Row("w_q", "exponential-weighting-constant", WEIGHT),
        Row("limit", "queue-limit", LIMIT),
    ),
)


def write_red(own: Settings) -> str:
    """Write settings as a policy map; the maximum is above the minimum."""
    low = min(max(1, round(own.min_th)), MOST_PACKETS - 1)
    values = {"min_th": low, "max_th": max(low + 1, own.max_th), "max_p": own.max_p, "w_q": own.w_q}
    words = RED.write(values | {"limit": own.limit_bytes / own.unit_bytes})
    profile = f"{words['minimum']} {words['maximum']} {words['denominator']}"
    lines = [
        "policy-map TUNED",
        " class class-default",
        "  random-detect",
        *(["  random-detect ecn"] if own.ecn else []),
        f"  random-detect exponential-weighting-constant {words['exponential-weighting-constant']}",
        *(f"  random-detect precedence {precedence} {profile}" for precedence in PRECEDENCES),
        f"  queue-limit {words['queue-limit']} packets",
    ]
    return "\n".join(lines)


def read_red(text: str) -> dict[str, Any]:
    """Read a policy map with one profile for all precedences."""
    words = dict(re.findall(r"(exponential-weighting-constant|queue-limit) (\d+)", text))
    profiles = {profile.words for profile in profiles_of(text)}
    if len(profiles) != 1:
        raise ValueError(f"{len(profiles)} profiles (allowed: one for all precedences)")
    return RED.read(words | dict(profiles.pop())) | {"ecn": "random-detect ecn" in text}


@dataclass(frozen=True)
class Profile:
    """A line of ``random-detect precedence`` or ``random-detect dscp``.

    Attributes
    ----------
    line
        Its number in the text.
    code_points
        To which it applies; none for a name that is not known.
    words
        Minimum, maximum and denominator, by the table's words.
    unit
        Of minimum and maximum, one of `UNITS`.
    """

    line: int
    code_points: tuple[int, ...]
    words: frozenset[tuple[str, str]]
    unit: str = "packets"


UNITS = ("packets", "bytes", "kbytes", "mbytes", "ms", "us")
UNIT = rf"(?: ({'|'.join(UNITS)}))?"
PROFILE = re.compile(rf"\s*random-detect (precedence|dscp) (\S+) (\d+){UNIT} (\d+){UNIT}(?: (\d+))?\s*$")
NAMES = {"default": 0, "ef": 46, "rsvp": -1, **{f"cs{n}": 8 * n for n in range(8)}}
NAMES |= {f"af{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)}
"""Code points by their names."""
PRECEDENCE_NAMES = ("routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network")
DENOMINATOR = "10"
"""Of the probability, where a line has none."""


def profiles_of(text: str) -> list[Profile]:
    """Read the profiles of a text, in the order of their lines."""
    found = (profile_of(number, line) for number, line in enumerate(text.splitlines(), start=1))
    return [one for one in found if one is not None]


def profile_of(number: int, line: str) -> Profile | None:
    """Read a profile from a line; None for another line, or two units in it."""
    match = PROFILE.match(line)
    if match is None or (match[4] or "packets") != (match[6] or match[4] or "packets"):
        return None
    values = (match[3], match[5], match[7] or DENOMINATOR)
    words = frozenset(zip(("minimum", "maximum", "denominator"), values, strict=True))
    return Profile(number, code_points(match[1], match[2].lower()), words, match[4] or match[6] or "packets")


def code_points(kind: str, name: str) -> tuple[int, ...]:
    """Return the code points of a precedence, or of a code point by name or number.

    >>> code_points("precedence", "1"), code_points("dscp", "af21")
    ((8, 9, 10, 11, 12, 13, 14, 15), (18,))
    """
    names = dict(zip(PRECEDENCE_NAMES, range(8), strict=True)) if kind == "precedence" else NAMES
    number = int(name) if re.fullmatch(r"[0-9]{1,3}", name) else names.get(name, -1)
    most = 7 if kind == "precedence" else 63
    if number < 0 or number > most:
        return ()
    return tuple(range(8 * number, 8 * number + 8)) if kind == "precedence" else (number,)


def dialect(own: Settings, link: Link) -> Dialect:
    """Write settings for Cisco IOS."""
    text = write_red(own)
    found = read_red(text)
    values = effective(found) | {
        "max_p": f"1/{1 / found['max_p']:.0f} = {found['max_p']:.6g}",
        "w_q": f"2^-{-math.log2(found['w_q']):.0f} = {found['w_q']:.6g}",
    }
    notes = strange_parts(own, curves=("linear", "gentle"))
    if own.curve == "gentle":
        notes.append("above max_th everything is dropped: there is no slope from max_th to twice max_th")
    if found["w_q"] < own.w_q / math.sqrt(2) - 1e-9:
        notes.append(f"w_q is 2^-n with n from 1 on: {own.w_q:g} becomes {found['w_q']:g}")
    elif found["w_q"] > own.w_q * math.sqrt(2) + 1e-9:
        notes.append(f"w_q is 2^-n with n up to {MOST_EXPONENT}: {own.w_q:g} becomes {found['w_q']:g}")
    if own.max_p > 0.67 and found["max_p"] != own.max_p:
        notes.append(f"max_p is the inverse of a whole number: {own.max_p:g} becomes {found['max_p']:g}")
    notes.append("how drops are spread is not documented; ranges of values differ between platforms")
    return Dialect("cisco", "Cisco IOS", text, values, notes)
