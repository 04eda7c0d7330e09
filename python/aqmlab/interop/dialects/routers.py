"""Routers: Cisco's WRED and Juniper's drop profiles.

Cisco IOS (Quality of Service command reference, ``random-detect``): thresholds are whole packets, 1 to 4096; the
probability at the maximum is 1/denominator, 1 to 65536; the weight is 2^-n, n from 1 to 16. Above the maximum
everything is dropped.

Juniper Junos (Class of Service user guide, ``drop-profiles``): pairs of a fill level and a drop probability, both in
whole percent; with ``interpolate`` straight lines between them, from (0, 0) to (100, 100). So any curve can be drawn;
the weight of the average is the hardware's.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from aqmlab.interop.dialects.settings import Dialect, Settings, shares_at, strange_parts

MOST_PACKETS = 4096
MOST_DENOMINATOR = 65536
INTERIOR = 8
"""Points of a curved part of a drop profile."""


def cisco(own: Settings, queue: str) -> Dialect:
    """Write settings for Cisco IOS."""
    low = min(max(1, round(own.min_th)), MOST_PACKETS - 1)
    high = min(max(low + 1, round(own.max_th)), MOST_PACKETS)
    denominator = min(max(1, round(1 / max(own.max_p, 1e-9))), MOST_DENOMINATOR)
    exponent = min(max(1, round(-math.log2(own.w_q))), 16)
    lines = [
        "policy-map TUNED",
        " class class-default",
        "  random-detect",
        f"  random-detect exponential-weighting-constant {exponent}",
        *(f"  random-detect precedence {precedence} {low} {high} {denominator}" for precedence in range(8)),
        f"  queue-limit {own.limit:.0f} packets",
    ]
    if own.ecn:
        lines.insert(3, "  random-detect ecn")
    effective = {
        "min_th": f"{low} packets",
        "max_th": f"{high} packets",
        "limit": f"{own.limit:.0f} packets",
        "max_p": f"1/{denominator} = {1 / denominator:.6g}",
        "w_q": f"2^-{exponent} = {2.0**-exponent:.6g}",
    }
    notes = strange_parts(own, curves=("linear", "gentle"))
    if own.curve == "gentle":
        notes.append("above max_th everything is dropped: there is no slope from max_th to twice max_th")
    if own.max_p > 0.67:
        notes.append(f"max_p is the inverse of a whole number: {own.max_p:g} becomes {1 / denominator:g}")
    notes.append("how drops are spread is not documented; ranges of values differ between platforms")
    return Dialect("cisco", "Cisco IOS", "\n".join(lines), effective, notes)


def juniper(own: Settings, queue: str) -> Dialect:
    """Write settings for Juniper Junos."""
    pairs = profile(own)
    levels, shares = (" ".join(str(pair[i]) for pair in pairs) for i in (0, 1))
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
        f"            buffer-size temporal {own.limit * own.mean_packet * 8 / own.rate_bps * 1e6:.0f};",
        "            drop-profile-map loss-priority any protocol any drop-profile tuned;",
        "        }",
        "    }",
        "}",
    ]
    begins = max((level for level, share in pairs if share == 0), default=0)
    full = next((level for level, share in pairs if share == 100), 100)
    effective = {
        "min_th": f"{begins} % = {begins * own.limit / 100:.6g} packets",
        "everything dropped from": f"{full} % = {full * own.limit / 100:.6g} packets",
        "limit": f"{own.limit * own.mean_packet * 8 / own.rate_bps * 1e6:.0f} us of the rate",
        "largest error of p_b": f"{largest_error(own, pairs):.3g}",
        "w_q": "the hardware's",
    }
    notes = ["the weight of the average cannot be set; it may be another, or the queue itself may be looked at"]
    notes += strange_parts(own, curves=(own.curve,))
    notes.append("how drops are spread is not documented")
    return Dialect("juniper", "Juniper Junos", "\n".join(lines), effective, notes)


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
