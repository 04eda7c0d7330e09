"""RED in the words of Juniper Junos, and back (Class of Service user guide, ``drop-profiles``).

A profile has pairs of a fill level and a drop probability, both in whole percent; with ``interpolate`` straight lines
between them, from (0, 0) to (100, 100). So any curve can be drawn; the weight of the average is the hardware's.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aqmlab.interop.settings import Settings, shares_at, strange_parts
from aqmlab.interop.translation import Format, Row, Table
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.parts import Link

INTERIOR = 8
"""Points of a curved part of a drop profile."""
TEMPORAL = re.compile(r"(\d{1,12})(k?)")


def temporal(text: str) -> float:
    """Read a buffer in time, in s; k are thousands of microseconds.

    >>> temporal("50000"), temporal("50k")
    (0.05, 0.05)
    """
    found = TEMPORAL.fullmatch(text)
    if found is None:
        raise ValueError(f'buffer-size temporal: "{text}" is not a number of microseconds (for example 50000, 50k)')
    return int(found[1]) / (1e3 if found[2] else 1e6)


MICROSECONDS = Format(lambda value: f"{value * 1e6:.0f}", temporal, absolute=0.51e-6)
RED = Table("drop-profile", (Row("limit", "buffer-size temporal", MICROSECONDS),))
"""min_th, max_th, max_p and the curve are the pairs of `profile`, in whole percent."""


def write_red(own: Settings) -> str:
    """Write settings as a drop profile and a scheduler."""
    levels, shares = (" ".join(map(str, column)) for column in zip(*profile(own), strict=True))
    words = RED.write({"limit": own.limit_bytes * 8 / own.rate_bps})
    lines = [
        "class-of-service {",
        "    drop-profiles {",
        "        tuned {",
        "            interpolate {",
        f"                fill-level [ {levels} ];",
        f"                drop-probability [ {shares} ];",
        "            }",
        "        }",
        "    }",
        "    schedulers {",
        "        tuned {",
        f"            buffer-size temporal {words['buffer-size temporal']};",
        "            drop-profile-map loss-priority any protocol any drop-profile tuned;",
        "        }",
        "    }",
        "}",
    ]
    return "\n".join(lines)


def read_red(text: str) -> dict[str, Any]:
    """Read a drop profile: the limit in s of the rate, pairs of level and probability in percent.

    Raises
    ------
    ValueError
        If there is not one profile, or levels and probabilities do not fit together.
    """
    found = statements(text)
    profiles = profiles_of(found)
    if len(profiles) != 1:
        raise ValueError(f"{len(profiles)} drop profiles (allowed: one)")
    profile = next(iter(profiles.values()))
    words = {" ".join(one.path[-3:-1]): one.path[-1] for one in found if one.path[-3:-1] == ("buffer-size", "temporal")}
    return RED.read(words) | {"profile": profile.pairs(), "interpolate": profile.smooth}


@dataclass(frozen=True)
class Statement:
    """A statement with the words above it, and its line."""

    line: int
    path: tuple[str, ...]


@dataclass
class Profile:
    """A drop profile: fill levels and drop probabilities in percent, and whether lines join them."""

    name: str
    line: int
    levels: list[int] = field(default_factory=list)
    shares: list[int] = field(default_factory=list)
    smooth: bool = False

    def pairs(self) -> list[tuple[int, int]]:
        """Return the levels with their probabilities.

        Raises
        ------
        ValueError
            If they do not fit together.
        """
        levels, shares = self.levels, self.shares
        if not levels or len(levels) != len(shares) or max(levels + shares) > 100 or levels != sorted(levels):
            raise ValueError("fill-level and drop-probability need as many values, in percent, levels rising")
        return list(zip(levels, shares, strict=True))


def profiles_of(found: list[Statement]) -> dict[str, Profile]:
    """Return the drop profiles of statements by their names."""
    made: dict[str, Profile] = {}
    for one in found:
        if one.path[:2] != ("class-of-service", "drop-profiles") or len(one.path) < 4:
            continue
        profile = made.setdefault(one.path[2], Profile(one.path[2], one.line))
        profile.smooth = profile.smooth or "interpolate" in one.path
        for word, value in itertools.pairwise(one.path[3:]):
            if word in ("fill-level", "drop-probability"):
                column = profile.levels if word == "fill-level" else profile.shares
                column += [int(each) for each in value.split() if each.isdigit()]
    return made


def statements(text: str) -> list[Statement]:
    """Return the statements of a configuration with the words above them; lists in brackets are one word.

    Both forms are read: braces, and lines of ``set``.

    >>> [one.path for one in statements("a { b { c [ 1 2 ]; } }")], statements("set a b c 5")
    ([('a', 'b', 'c', '1 2')], [Statement(line=1, path=('a', 'b', 'c', '5'))])

    Raises
    ------
    ValueError
        With the line of a brace that does not fit.
    """
    plain = re.sub(r"/\*.*?\*/|#[^\n]*", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    plain = re.sub(
        r"\[([^\]\[{};]*)\]", lambda match: f"[{'_'.join(match[1].split())}]" + "\n" * match[1].count("\n"), plain
    )
    found: list[Statement] = []
    above: list[tuple[str, ...]] = []
    words: list[str] = []
    line = begun = 1
    for word in re.findall(r"[{};\n]|[^\s{};]+", plain):
        line += word == "\n"
        if word == "\n" and not (words[:1] in (["set"], ["deactivate"], ["delete"]) and not above):
            continue
        if word == "{":
            above.append(tuple(words))
        elif word in (";", "\n"):
            if words:
                path = tuple(one for several in above for one in several) + tuple(words)
                found.append(Statement(begun, path[1:] if path[0] == "set" else path))
        elif word == "}":
            if not above:
                raise ValueError(f"line {line}: braces do not fit together")
            above.pop()
        else:
            begun = begun if words else line
            words.append(word[1:-1].replace("_", " ") if word[0] == "[" and word[-1] == "]" else word)
            continue
        words = []
    if above:
        raise ValueError(f"line {line}: braces do not fit together")
    if words:
        found.append(Statement(begun, tuple(words[1:] if words[0] == "set" else words)))
    return found


def dialect(own: Settings, link: Link) -> Dialect:
    """Write settings for Juniper Junos."""
    text = write_red(own)
    found = read_red(text)
    pairs = found["profile"]
    begins = max((level for level, share in pairs if share == 0), default=0)
    full = next((level for level, share in pairs if share == 100), 100)
    effective = {
        "min_th": f"{begins} % = {begins * own.limit / 100:.6g} packets",
        "everything dropped from": f"{full} % = {full * own.limit / 100:.6g} packets",
        "limit": f"{found['limit'] * 1e6:.0f} us of the rate",
        "largest error of p_b": f"{largest_error(own, pairs):.3g}",
        "w_q": "the hardware's",
    }
    notes = ["the weight of the average cannot be set; it may be another, or the queue itself may be looked at"]
    notes += strange_parts(own, curves=(own.curve,))
    notes.append("how drops are spread is not documented")
    return Dialect("juniper", "Juniper Junos", text, effective, notes)


def profile(own: Settings) -> list[tuple[int, int]]:
    """Return pairs of a fill level and a drop probability, in whole percent, both rising."""
    knots = [own.min_th, own.max_th, 2 * own.max_th, own.limit]
    straight = own.curve in ("linear", "gentle")
    marks = {0, 100}
    for begin, end in itertools.pairwise(knots):
        marks |= {round(100 * x / own.limit) for x in np.linspace(begin, end, 2 if straight else INTERIOR)}
    jumps = {round(100 * x / own.limit) for x in own.probability.jumps}
    levels = sorted(mark for mark in marks | jumps | {jump - 1 for jump in jumps} if 0 <= mark <= 100)
    found: list[tuple[int, int]] = []
    for level in levels:
        share = round(100 * float(shares_at(own, np.array([level * own.limit / 100]))[0]))
        found.append((level, max(share, found[-1][1] if found else 0)))
    first = max((i for i, pair in enumerate(found) if pair[1] == 0), default=0)
    last = next(i for i, pair in enumerate(found) if pair[1] == 100)
    return _without_straight(found[first : last + 1] if found[first][0] == 0 else [(0, 0), *found[first : last + 1]])


def _without_straight(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out pairs that lie on the line between their neighbours."""
    kept = pairs[:1]
    for here, after in itertools.pairwise(pairs[1:]):
        before = kept[-1]
        if (here[1] - before[1]) * (after[0] - here[0]) != (after[1] - here[1]) * (here[0] - before[0]):
            kept.append(here)
    return [*kept, *pairs[-1:]] if len(pairs) > 1 else kept


def largest_error(own: Settings, pairs: list[tuple[int, int]]) -> float:
    """Return the largest difference of p_b between the profile and the curve, a percent away from its jumps."""
    levels = np.linspace(0, 99.5, 1991)
    wanted = shares_at(own, levels * own.limit / 100)
    drawn = np.interp(levels, [level for level, _ in pairs], [share / 100 for _, share in pairs])
    away = np.ones(len(levels), dtype=bool)
    for jump in own.probability.jumps:
        away &= np.abs(levels - 100 * jump / own.limit) > 1.5
    return float(np.max(np.abs(wanted - drawn)[away], initial=0.0))
