"""Linux: ``tc qdisc ... red`` (iproute2 tc/tc_red.c and q_red.c, kernel include/net/red.h).

* Thresholds and limit are whole bytes.
* The weight is W = 2^-Wlog. Wlog is not given: tc takes the least one from 1 on for which
  burst + 1 - min/avpkt <= (1 - (1 - W)^burst) / W. The burst here is one that leads to the Wlog nearest to w_q.
* The probability goes to the kernel as floor(p 2^32), 32 bits, and is there divided by max - min in whole units.
* Wlog must leave room: thresholds times 2^Wlog are below 2^32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aqmlab.interop.formatting import number
from aqmlab.interop.settings import Dialect, Settings, spacing_note, strange_parts
from aqmlab.interop.tc.other_queues import COUNT, SIZE, phrase
from aqmlab.interop.tc.quantities import bits_of, number_of
from aqmlab.interop.translation import Format, Row, Table
from aqmlab.scenario.parts import Link, packets

MOST_BURST = 1 << 24
"""Packets; no average is so slow."""
FIXED = 2**32
LARGE = 10
"""Wlog from which tc warns."""

PROBABILITY = Format(lambda value: f"{min(value, 1 - 1e-9):.9g}", number_of, absolute=1e-9, relative=5e-9)
RATE = Format(lambda value: f"{value / 1e3:.10g}kbit", bits_of, relative=1e-9)
ECN = Format(lambda value: "ecn" if value else "", lambda text: text == "ecn")
RED = Table(
    "red",
    (
        Row("limit", "limit", SIZE),
        Row("min_th", "min", SIZE),
        Row("max_th", "max", SIZE),
        Row("mean_packet", "avpkt", SIZE),
        Row("burst", "burst", COUNT),
        Row("max_p", "probability", PROBABILITY),
        Row("rate_bps", "bandwidth", RATE),
        Row("ecn", "ecn", ECN),
    ),
)
"""Sizes are in bytes. The burst stands for w_q (`burst_for`, `wlog_of`)."""
USUAL = {"mean_packet": 1000.0, "max_p": 0.02, "ecn": False}
"""What tc takes where a word is left out."""


def wlog_of(minimum: int, burst: int, avpkt: int) -> int | None:
    """Return the Wlog that tc computes; None where tc rejects the burst.

    >>> wlog_of(2000, 129, 1000), wlog_of(5000, 20, 1000), wlog_of(5000, 3, 1000)
    (14, 6, None)
    """
    room = burst + 1 - minimum / avpkt
    if room < 1:
        return None
    for wlog in range(1, 32):
        weight = 2.0**-wlog
        if room <= -math.expm1(burst * math.log1p(-weight)) / weight:
            return wlog
    return None


def burst_for(wlog: int, minimum: int, avpkt: int) -> tuple[int, int]:
    """Return the least burst from which tc computes this Wlog, or the nearest that there is; and the Wlog.

    Wlog grows with the burst, until tc rejects it: at a min of one packet that is from a burst of 2 on.
    """
    least = max(1, math.ceil(minimum / avpkt))
    low, high = least, MOST_BURST
    while low < high:
        middle = (low + high) // 2
        if (wlog_of(minimum, middle, avpkt) or 32) >= wlog:
            high = middle
        else:
            low = middle + 1
    candidates = [burst for burst in (low - 1, low, low + 1) if burst >= least]
    made = [(burst, found) for burst in candidates if (found := wlog_of(minimum, burst, avpkt)) is not None]
    if not made:
        raise ValueError("tc rejects every burst")
    return min(made, key=lambda one: (abs(one[1] - wlog), one[0]))


def effective_p(probability: float, delta: int) -> float:
    """Return the probability at max that the kernel works with: a whole number of 2^-32 for each byte.

    >>> effective_p(0.1, 20000)
    0.09999610483646393
    """
    fixed = min(int(probability * FIXED), FIXED - 1)
    return max(fixed // delta, 1) * delta / FIXED


def write_red(own: Settings) -> dict[str, str]:
    """Write settings in words of ``tc qdisc ... red``."""
    minimum, maximum = (round(value * own.unit_bytes) for value in (own.min_th, own.max_th))
    wanted = min(max(1, round(-math.log2(own.w_q))), 31 - maximum.bit_length())
    burst, _ = burst_for(wanted, minimum, round(own.unit_bytes))
    values = {
        "limit": own.limit_bytes,
        "min_th": minimum,
        "max_th": maximum,
        "mean_packet": own.unit_bytes,
        "burst": burst,
        "max_p": own.max_p,
        "rate_bps": own.rate_bps,
        "ecn": own.ecn,
    }
    return RED.write(values)


def read_red(words: Mapping[str, str]) -> dict[str, Any]:
    """Read words of ``tc qdisc ... red``: sizes as ``5000B``, w_q and max_p as the kernel has them.

    Raises
    ------
    ValueError
        If tc would reject the options.
    """
    if "limit" not in words:
        raise ValueError("red needs a limit")
    own = USUAL | RED.read(words)
    limit = own["limit"]
    maximum = own.get("max_th", 3 * own["min_th"] if "min_th" in own else limit // 4)
    minimum = own.get("min_th", maximum // 3)
    if not 0 < minimum < maximum:
        raise ValueError(f"red needs 0 < min < max, not min {minimum:g} and max {maximum:g}")
    mean = own["mean_packet"]
    burst = round(own["burst"]) if "burst" in own else int((2 * minimum + maximum) / (3 * mean))
    wlog = wlog_of(round(minimum), burst, round(mean))
    if wlog is None:
        raise ValueError(f"tc rejects a burst of {burst} packets (allowed: from min / avpkt on)")
    sizes = {"limit": limit, "min_th": minimum, "max_th": maximum, "mean_packet": mean}
    return {
        **{key: f"{number(value)}B" for key, value in sizes.items()},
        "max_p": effective_p(min(own["max_p"], 1 - 2**-32), round(maximum - minimum)),
        "w_q": 2.0**-wlog,
        "ecn": own["ecn"],
        "adaptation": "adaptive-red" if "adaptive" in words else "none",
    }


def unit_notes(own: Settings) -> list[str]:
    """Name how packets become bytes where the scenario leaves it open."""
    notes = []
    if own.other_sizes:
        least, most = own.other_sizes
        notes.append(f"red counts bytes: a packet counts as {most:g} B, the largest of {least:g} to {most:g} B")
    if own.unit_bytes != own.mean_packet:
        notes.append(
            f"avpkt is the traffic's packet of {own.unit_bytes:g} B, and idle time counts in it; the scenario has "
            f"mean_packet = {own.mean_packet:g} B"
        )
    return notes


def red_notes(own: Settings, queue: str, w_q: float) -> list[str]:
    """Name what ``red`` has not of settings, or understands otherwise; `w_q` is the weight that tc makes."""
    notes = [*strange_parts(own, curves=("linear", "gentle")), *unit_notes(own)]
    if own.curve == "gentle":
        notes.append("above max_th everything is dropped: red has no slope from max_th to twice max_th")
    wlog = round(-math.log2(w_q))
    if abs(wlog + math.log2(own.w_q)) > 1:
        notes.append(f"with such thresholds tc has no weight near w_q = {own.w_q:.3g}; a min of 2 packets bears most")
    if wlog >= LARGE:
        notes.append(f"tc warns that the burst seems too large from Wlog {LARGE} on; it is meant")
    return notes + spacing_note(own, "linux", queue)


def dialect(own: Settings, link: Link) -> Dialect:
    """Write settings as a command of tc."""
    words = write_red(own)
    found = read_red(words)
    effective = {
        key: f"{found[key].removesuffix('B')} B = {packets(found[key], own.unit_bytes):.6g} packets of {own.unit_bytes:g} B"
        for key in ("min_th", "max_th", "limit")
    }
    effective["max_p"] = f"{found['max_p']:.9g}"
    effective["w_q"] = f"2^-{-math.log2(found['w_q']):.0f} = {found['w_q']:.6g}"
    below = (
        "queue and limit count bytes; put DEV's own queue below it out of the way (a rate limit above it, below which "
        'red has no idle rule: try at_idle = "none")'
    )
    notes = [*red_notes(own, link.queue, found["w_q"]), below]
    return Dialect("tc", "Linux tc", f"tc qdisc replace dev DEV root red {phrase(words)}", effective, notes)
