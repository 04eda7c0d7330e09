"""Linux: ``tc qdisc ... red`` (iproute2 tc/tc_red.c and q_red.c, kernel include/net/red.h).

* Thresholds and limit are whole bytes.
* The weight is W = 2^-Wlog. Wlog is not given: tc takes the least one from 1 on for which
  burst + 1 - min/avpkt <= (1 - (1 - W)^burst) / W. The burst here is one that leads to the Wlog nearest to w_q.
* The probability goes to the kernel as floor(p 2^32), 32 bits, and is there divided by max - min in whole units.
* Wlog must leave room: thresholds times 2^Wlog are below 2^32.
"""

from __future__ import annotations

import math

from aqmlab.interop.dialects.settings import Dialect, Settings, spacing_note, strange_parts

MOST_BURST = 1 << 24
"""Packets; no average is so slow."""
FIXED = 2**32
LARGE = 10
"""Wlog from which tc warns."""


def wlog_of(minimum: int, burst: int, avpkt: int) -> int | None:
    """Return the Wlog that tc computes; None where it refuses.

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

    Wlog grows with the burst, until tc refuses: at a min of one packet that is from a burst of 2 on.
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
        raise ValueError("tc refuses every burst")
    return min(made, key=lambda one: (abs(one[1] - wlog), one[0]))


def effective_p(probability: float, delta: int) -> float:
    """Return the probability at max that the kernel works with: a whole number of 2^-32 for each byte.

    >>> effective_p(0.1, 20000)
    0.09999610483646393
    """
    fixed = min(int(probability * FIXED), FIXED - 1)
    return max(fixed // delta, 1) * delta / FIXED


def tc(own: Settings, queue: str) -> Dialect:
    """Write settings for tc."""
    avpkt = round(own.mean_packet)
    minimum, maximum, limit = (round(value * own.mean_packet) for value in (own.min_th, own.max_th, own.limit))
    most = 31 - maximum.bit_length()
    wanted = min(max(1, round(-math.log2(own.w_q))), most)
    burst, wlog = burst_for(wanted, minimum, avpkt)
    probability = min(own.max_p, 1 - 1e-9)
    text = (
        f"tc qdisc replace dev DEV root red limit {limit} min {minimum} max {maximum} avpkt {avpkt} burst {burst} "
        f"probability {probability:.9g} bandwidth {own.rate_bps / 1e3:.10g}kbit{' ecn' if own.ecn else ''}"
    )
    got = effective_p(probability, maximum - minimum)
    effective = {
        "min_th": f"{minimum} B = {minimum / own.mean_packet:.6g} packets",
        "max_th": f"{maximum} B = {maximum / own.mean_packet:.6g} packets",
        "limit": f"{limit} B = {limit / own.mean_packet:.6g} packets",
        "max_p": f"{got:.9g}",
        "w_q": f"2^-{wlog} = {2.0**-wlog:.6g}",
    }
    notes = strange_parts(own, curves=("linear", "gentle"))
    if own.curve == "gentle":
        notes.append("above max_th everything is dropped: red has no slope from max_th to twice max_th")
    if abs(wlog + math.log2(own.w_q)) > 1:
        notes.append(f"with such thresholds tc has no weight near w_q = {own.w_q:.3g}; a min of 2 packets bears most")
    if wlog >= LARGE:
        notes.append(f"tc warns that the burst seems too large from Wlog {LARGE} on; it is meant")
    notes += spacing_note(own, "linux", queue)
    notes.append(
        "queue and limit count bytes; put DEV's own queue below it out of the way (a rate limit above it, below which "
        'red has no idle rule: try at_idle = "none")'
    )
    return Dialect("tc", "Linux tc", text, effective, notes)
