"""Linux: ``tc qdisc ... red`` and ``choke`` (iproute2 tc/tc_red.c, q_red.c and q_choke.c, kernel include/net/red.h).

* Thresholds and limit are whole bytes; CHOKe's are whole packets.
* The weight is W = 2^-Wlog. Wlog is not given: tc takes the least one from 1 on for which
  burst + 1 - min/avpkt <= (1 - (1 - W)^burst) / W. The burst here is one that leads to the Wlog nearest to w_q.
* The probability goes to the kernel as floor(p 2^32), 32 bits, and is there divided by max - min in whole units.
* The table of idle times is made in ticks of 64 ns, and the kernel reads it in microseconds.
* Wlog must leave room: thresholds times 2^Wlog are below 2^32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aqmlab.interop.formatting import number
from aqmlab.interop.settings import Settings, spacing_note, strange_parts
from aqmlab.interop.tc.other_queues import COUNT, SIZE, phrase, present
from aqmlab.interop.tc.quantities import bits_of, number_of
from aqmlab.interop.translation import Fixed, Format, Row, Table, shown
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.parts import Link, packets

MOST_BURST = 1 << 24
"""Packets; no average is so slow."""
FIXED = 2**32
WLOGS = 32
LARGEST_WEIGHT = 0.5
"""2^-Wlog, as Wlog is at least 1."""
LARGE = 10
"""Wlog from which tc warns."""

PROBABILITY = Format(lambda value: f"{min(value, 1 - 1e-9):.9g}", number_of, absolute=1e-9, relative=5e-9)
RATE = Format(lambda value: f"{value / 1e3:.10g}kbit", bits_of, relative=1e-9)
ECN = Row("ecn", "ecn", present("ecn", True, False))
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
        ECN,
        Row("mark_forced", "harddrop", present("harddrop", False, True)),
        Row("nodrop", "nodrop", present("nodrop", True, False)),
        Row("adaptation", "adaptive", present("adaptive", "adaptive-red", "none")),
    ),
    usual={
        "mean_packet": 1000.0,
        "max_p": 0.02,
        "ecn": False,
        "mark_forced": True,
        "nodrop": False,
        "adaptation": "none",
    },
)
"""Sizes are in bytes. The burst stands for w_q (`burst_for`, `wlog_of`)."""
CHOKE = Table(
    "choke",
    (
        Row("limit", "limit", COUNT),
        Row("min_th", "min", COUNT),
        Row("max_th", "max", COUNT),
        Row("mean_packet", "avpkt", SIZE),
        Row("burst", "burst", COUNT),
        Row("max_p", "probability", PROBABILITY),
        Row("rate_bps", "bandwidth", RATE),
        ECN,
    ),
    usual={"mean_packet": 1000.0, "max_p": 0.02, "ecn": False},
)
"""Thresholds and limit are in packets."""
ADAPTIVE = Table(
    "adaptive",
    (),
    (
        Fixed("max_p_low", 0.01, "keeps max_p from 0.01 on"),
        Fixed("max_p_high", 0.5, "keeps max_p up to 0.5"),
        Fixed("ared_beta", 0.9, "multiplies max_p by 0.9 on its way down"),
        Fixed("adapt_interval", 0.5, "adapts every 0.5 s"),
        Fixed("adapt_clock", "timer", "adapts by a timer"),
    ),
)
"""Parameters of the adaptation of max_p that Linux fixes (include/net/red.h, red_adaptative_algo)."""
SHOWN = ("ewma", "Scell_log", "Plog")
"""Words that only ``tc -d qdisc show`` has: Scell_log follows from bandwidth and avpkt, Plog from the probability."""


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


def effective_p(probability: float, delta: int, unit: int = 1) -> float:
    """Return the probability at max that the kernel works with: a whole number of 2^-32 for each byte.

    A probability of 1 does not fit into 32 bits: tc sends 0, and the kernel takes 2^-Plog for each byte, or for each
    packet of `unit` bytes (CHOKe).

    >>> effective_p(0.1, 20000), effective_p(1, 20000)
    (0.09999610483646393, 0.6103469058871269)
    """
    steps = int(probability * FIXED) // delta if probability < 1 else (FIXED - 1) >> (delta * unit).bit_length()
    return max(steps, 1) * delta / FIXED


def written_p(max_p: float, delta: int) -> float:
    """Return the probability to write, so that the kernel makes `max_p` of it where it is one of the kernel's values.

    The kernel rounds down: a probability that was read back must lie a little above its value.

    >>> effective_p(written_p(effective_p(0.1, 20000), 20000), 20000) == effective_p(0.1, 20000)
    True
    """
    steps = max_p * FIXED / max(delta, 1)
    return (steps + 0.25) * delta / FIXED if steps >= 1 and abs(steps - round(steps)) < 1e-6 else max_p


def write_red(own: Settings) -> dict[str, str]:
    """Write settings in words of ``tc qdisc ... red``, or ``choke`` (`is_choke`)."""
    unit = own.mean_packet if is_choke(own) else own.unit_bytes
    scale = 1.0 if is_choke(own) else unit
    minimum, maximum = (round(value * scale) for value in (own.min_th, own.max_th))
    wanted = min(max(1, round(-math.log2(own.w_q))), 31 - maximum.bit_length())
    burst, _ = burst_for(wanted, round(minimum * unit / scale), round(unit))
    values = {
        "limit": own.limit_bytes * scale / own.unit_bytes,
        "min_th": minimum,
        "max_th": maximum,
        "mean_packet": unit,
        "burst": burst,
        "max_p": written_p(own.max_p, maximum - minimum),
        "rate_bps": own.rate_bps,
        "ecn": own.ecn,
        "mark_forced": own.mark_forced or not own.ecn,
        "nodrop": own.nodrop and own.ecn,
        "adaptation": own.adaptation,
    }
    return (CHOKE if is_choke(own) else RED).write(values)


def kind_of(own: Settings) -> str:
    """Return tc's name of the discipline."""
    return (CHOKE if is_choke(own) else RED).kind


def is_choke(own: Settings) -> bool:
    """Return whether settings are those of ``choke``."""
    return own.victim == "choke"


def read_red(words: Mapping[str, str]) -> dict[str, Any]:
    """Read words of ``tc qdisc ... red``: sizes as ``5000B``, w_q and max_p as the kernel has them.

    A max_p that adapts begins as tc has it.

    Raises
    ------
    ValueError
        If tc would reject the options.
    """
    own, wlog = _read(RED, words)
    delta = round(own["max_th"] - own["min_th"])
    sizes = {key: f"{number(own[key])}B" for key in ("limit", "min_th", "max_th", "mean_packet")}
    return {
        **sizes,
        "max_p": own["max_p"] if own["adaptation"] == "adaptive-red" else effective_p(own["max_p"], delta),
        "w_q": 2.0**-wlog,
        **{key: own[key] for key in ("ecn", "mark_forced", "nodrop", "adaptation")},
    }


def read_choke(words: Mapping[str, str]) -> dict[str, Any]:
    """Read words of ``tc qdisc ... choke``: sizes in packets, mean_packet as ``1000B``.

    Raises
    ------
    ValueError
        If tc would reject the options.
    """
    own, wlog = _read(CHOKE, words)
    if own["max_th"] > own["limit"]:
        raise ValueError(f"choke needs max <= limit, not max {own['max_th']:g} and limit {own['limit']:g}")
    return {
        **{key: own[key] for key in ("limit", "min_th", "max_th")},
        "mean_packet": f"{number(own['mean_packet'])}B",
        "max_p": effective_p(own["max_p"], round(own["max_th"] - own["min_th"]), round(own["mean_packet"])),
        "w_q": 2.0**-wlog,
        "ecn": own["ecn"],
    }


def _read(table: Table, words: Mapping[str, str]) -> tuple[dict[str, Any], int]:
    """Read words of a table with what tc makes of those that are left out, and Wlog."""
    if "limit" not in words:
        raise ValueError(f"{table.kind} needs a limit")
    own = {**table.usual, **table.read(words)}
    own.setdefault("max_th", 3 * own["min_th"] if "min_th" in own and table is RED else own["limit"] // 4)
    own.setdefault("min_th", own["max_th"] // 3)
    minimum, maximum, mean = own["min_th"], own["max_th"], own["mean_packet"]
    if not 0 < minimum < maximum:
        raise ValueError(f"{table.kind} needs 0 < min < max, not min {minimum:g} and max {maximum:g}")
    if not mean >= 1:
        raise ValueError(f"{table.kind} needs an avpkt of at least 1 byte, not {mean:g}")
    if "ewma" in words:
        wlog = number_of(words["ewma"])
        if not (wlog.is_integer() and 1 <= wlog < WLOGS):
            raise ValueError(f'"ewma {words["ewma"]}" is not a whole number from 1 to {WLOGS - 1}')
        return own, int(wlog)
    packet = mean if table is RED else 1.0
    burst = round(own["burst"]) if "burst" in own else int((2 * minimum + maximum) / (3 * packet))
    found = wlog_of(round(minimum * mean / packet), burst, round(mean))
    if found is None:
        raise ValueError(f"tc rejects a burst of {burst} packets (allowed: from min / avpkt on)")
    return own, found


def assumptions(words: Mapping[str, str], *, printed: bool) -> list[str]:
    """Return assumptions for words that a line of ``red`` or ``choke`` lacks; `printed`: tc's output, not a command."""
    notes = []
    if printed and "ewma" not in words and "burst" not in words:
        notes.append("w_q is not shown (tc -d qdisc show prints it as ewma): that of tc's default burst is assumed")
    if "avpkt" not in words:
        notes.append("avpkt is not given: 1000 B is assumed")
    if "probability" not in words:
        notes.append("probability is not given: tc's default of 0.02 is assumed")
    return notes


def _with_arriving(own: Settings) -> Settings:
    """Return settings whose victim is not named as missing where tc has it."""
    return replace(own, victim="arriving") if is_choke(own) else own


def unit_notes(own: Settings) -> list[str]:
    """Name how packets become bytes where the scenario leaves it open."""
    notes: list[str] = []
    if is_choke(own):
        return notes
    if own.other_sizes:
        least, most = own.other_sizes
        notes.append(f"red counts bytes: a packet counts as {most:g} B, the largest of {least:g} to {most:g} B")
    if own.unit_bytes != own.mean_packet:
        notes.append(
            f"avpkt is the traffic's packet of {own.unit_bytes:g} B, and idle time counts in it; the scenario has "
            f"mean_packet = {own.mean_packet:g} B"
        )
    return notes


def red_notes(own: Settings, link: Link, w_q: float) -> list[str]:
    """Return the settings that ``red`` lacks or implements differently; `w_q` is the weight that tc makes."""
    notes = strange_parts(_with_arriving(own), curves=("linear", "gentle"), adaptations=("none", "adaptive-red"))
    notes += unit_notes(own)
    if own.curve == "gentle":
        notes.append("above max_th everything is dropped: red has no slope from max_th to twice max_th")
    if own.adaptation == "adaptive-red":
        for fixed, value in ADAPTIVE.departures(link.parameters):
            notes.append(f"{fixed.key} is {shown(value)} in the scenario; red {fixed.meaning}")
    wlog = round(-math.log2(w_q))
    if own.w_q > LARGEST_WEIGHT * math.sqrt(2):
        notes.append(f"tc's largest weight is {LARGEST_WEIGHT:g}: w_q = {own.w_q:.3g} becomes {w_q:.3g}")
    elif abs(wlog + math.log2(own.w_q)) > 1:
        notes.append(f"with such thresholds tc has no weight near w_q = {own.w_q:.3g}; a min of 2 packets bears most")
    if wlog >= LARGE:
        notes.append(f"tc warns that the burst seems too large from Wlog {LARGE} on; it is meant")
    return notes + spacing_note(own, "linux", link.queue)


def dialect(own: Settings, link: Link) -> Dialect:
    """Write settings as a command of tc."""
    words = write_red(own)
    found = read_choke(words) if is_choke(own) else read_red(words)
    unit = own.unit_bytes
    values = {}
    for key in ("min_th", "max_th", "limit"):
        count = f"{packets(found[key], unit):.6g} packets"
        size = "" if is_choke(own) else f"{found[key].removesuffix('B')} B = "
        values[key] = f"{size}{count} of {unit:g} B" if size else count
    values["max_p"] = f"{found['max_p']:.9g}"
    values["w_q"] = f"2^-{-math.log2(found['w_q']):.0f} = {found['w_q']:.6g}"
    counts = "packets" if is_choke(own) else "bytes"
    below = (
        f"queue and limit count {counts}; put DEV's own queue below it out of the way (a rate limit above it, below "
        'which red has no idle rule: try at_idle = "none")'
    )
    notes = [*red_notes(own, link, found["w_q"]), below]
    return Dialect("tc", "Linux tc", f"tc qdisc replace dev DEV root {kind_of(own)} {phrase(words)}", values, notes)
