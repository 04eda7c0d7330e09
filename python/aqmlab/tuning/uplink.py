"""Tuning without a scenario file: an uplink by its rate, its round trips, and its uses."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from aqmlab.errors import InputError, unknown
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import controllers
from aqmlab.tuning.ranges import number_of, written

PACKET = 1500
FLOWS = "flows=1:8"
"""Downloads at a time that the settings must hold for."""
USES = {
    "downloads": """\
[[flow]]
name = "downloads"
count = 4
transport = "tcp"
from = "{side}"
start = {{ uniform = ["0s", "{spread}"] }}
tcp = {{ profile = "rfc", congestion_control = "{tcp}"{ecn} }}
""",
    "calls": """\
[[flow]]
name = "calls"
count = 2
from = "{side}"
voip = {{ codec = "g711" }}
""",
    "web": """\
[[flow]]
name = "web"
transport = "tcp"
from = "{side}"
start = {{ every = "2s" }}
count = {pages}
tcp = {{ profile = "rfc", congestion_control = "{tcp}"{ecn} }}
web = {{ objects = 30, size = "15KB", think = "0s" }}
""",
}
"""Uses of a link, as flows; downloads stand first, since the range is of theirs."""
SCENARIO = """\
format = 1
name = "uplink-{rate}"
description = "An uplink of {rate}, for {uses}. Its round trip is {middle}; aqmlab tune varied it from {low} to {high}."

[run]
duration = "{duration}"
warmup = "{warmup}"

[dumbbell]
{links}
left = {{ rate = "{access}", delay = "{side_delay}" }}
right = {{ rate = "{access}", delay = "{side_delay}" }}

[queue.bottleneck]
aqm = "drop-tail"
limit = "{limit}p"

"""


SYMMETRIC = 'bottleneck = {{ rate = "{rate}", delay = "{delay}", queue = "bottleneck" }}'
ASYMMETRIC = """\
up = {{ rate = "{rate}", delay = "{delay}", queue = "bottleneck" }}
down = {{ rate = "{down}", delay = "{delay}", queue = "down" }}"""
DOWN_QUEUE = """\
[live]
link = "up"

[queue.down]
aqm = "drop-tail"
limit = "{limit}p"

"""
LEAST_USED = {"web": 0.5, "calls": 0.75, "downloads": 0.95}
"""Least utilization at every point, by the first use that the uplink has.

The bound protects a single download from settings that empty the queue at its cost. Downloads alone: 95 %. With calls:
75 %, the share that one flow that halves its window (Reno) gets from a link without any queue; a discipline below it
cuts the window again before the flow has recovered. More cannot be asked: CoDel's defaults keep a queue of 5 ms, and
one CUBIC flow over 100 ms then fills 87 % of 50 Mb/s in the 20 s after its slow start, and 90 % later. With web pages:
50 %, since under every discipline the burst of each page takes the link from the download (docs/tuning.md).
"""
ROUND_TRIPS, WARMUP_ROUND_TRIPS = 200, 40
"""Longest round trips that a run measures, and that it warms up before."""
LEAST_S, LEAST_WARMUP_S = 15.0, 5.0
LEAST_LIMIT, LIMIT_PRODUCTS = 100, 2
"""Packets that drop-tail holds: at least, and in products of rate and longest round trip."""
PACKET_BUDGET = 1_000_000
"""Full packets that the uplink may carry in a run; a run that would need more is shortened."""
EXAMPLES = "for example 50Mbps, 20mbit or 100/20Mbps (down/up)"
_PREFIX = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_UNIT = r"([kmg]?)(bit|bps|bit/s|b/s)"
_RATE = re.compile(rf"(?:([0-9.]+)\s*(?:{_UNIT})?\s*/\s*)?([0-9.]+)\s*{_UNIT}", re.IGNORECASE)


@dataclass(frozen=True)
class Uplink:
    """Arguments of `aqmlab.tune` for an uplink.

    Attributes
    ----------
    scenario
        A dumbbell with its traffic and a drop-tail queue.
    minimize, maximize, keep, over
        As of `aqmlab.tune`. With calls the score of their worse direction counts, with web pages their load time,
        otherwise the delay's 95 % quantile.
    unharmed
        Quantities that the answer must not make decisively worse than the discipline's defaults do.
    down_bps
        Rate downwards in bit/s; the uplink is loaded and tuned.
    notes
        Deviations from the length that runs should have.
    """

    scenario: Scenario
    minimize: str | None
    maximize: str | None
    keep: tuple[str, ...]
    over: tuple[str, ...]
    unharmed: tuple[str, ...]
    down_bps: float
    notes: tuple[str, ...]

    def felt(self, minimize: str | None, maximize: str | None) -> bool:
        """Whether a goal is that of the uses, so that `unharmed` goes with it."""
        return (minimize, maximize) == (self.minimize, self.maximize)


def uplink(rate: str, rtt: str, uses: str = "downloads", tcp: str = "cubic") -> Uplink:
    """Describe an uplink.

    Parameters
    ----------
    rate
        Its rate: ``50Mbps`` or ``20mbit``; ``100/20Mbps`` has 100 Mb/s down and 20 Mb/s up.
    rtt
        Round trips without queueing: ``20ms:100ms``, or one, ``40ms``.
    uses
        ``downloads``, ``calls``, ``web``, with commas or "and" between them. Downloads are greedy TCP flows, 1 to 8 at
        a time; without them no queue builds up, so they are always there.
    tcp
        Congestion control of downloads and web pages; ``dctcp`` and ``prague`` negotiate ECN.

    Raises
    ------
    InputError
        With one line that names the valid values.

    >>> uplink("50Mbps", "20ms:100ms", "calls and downloads").keep
    ('utilization>=0.75',)
    """
    down, up = rates_of(rate)
    low, high = _round_trips(rtt)
    wanted = _uses(uses)
    controls = controllers()
    if tcp not in controls:
        raise InputError(f"--tcp: {unknown('congestion control', tcp, list(controls))}")
    ecn = controls[tcp].ecn[0]
    duration, warmup, notes = _length(up, high)
    delay, middle = min(1e-3, low / 8), (low + high) / 2
    words = {
        "rate": written(up, "bps"),
        "down": written(down, "bps"),
        "low": written(low, "s"),
        "high": written(high, "s"),
        "middle": written(middle, "s"),
        "delay": written(delay, "s"),
        "side_delay": written((middle / 2 - delay) / 2, "s"),
        "side": "right" if down != up else "left",
        "duration": f"{duration:.4g}s",
        "warmup": f"{warmup:.4g}s",
        "access": written(max(1e10, 10 * max(up, down)), "bps"),
        "spread": f"{min(1.0, warmup / 2):.4g}s",
        "tcp": tcp,
        "ecn": "" if ecn == "off" else f', ecn = "{ecn}"',
        "pages": max(1, math.floor(0.8 * duration / 2)),
    }
    links = (ASYMMETRIC if down != up else SYMMETRIC).format(**words)
    head = SCENARIO.format(**words, links=links, uses=" and ".join(wanted), limit=_limit(up, high))
    if down != up:
        head += DOWN_QUEUE.format(limit=_limit(down, high))
    flows = "\n".join(USES[use].format(**words) for use in wanted)
    felt = len(wanted) > 1
    return Uplink(
        Scenario.from_text(head + flows, filename=f"uplink-{words['rate']}"),
        minimize=None if "calls" in wanted else "page_load_s" if felt else "delay_p95_ms",
        maximize="mos_worse" if "calls" in wanted else None,
        keep=(f"utilization>={next(least for use, least in LEAST_USED.items() if use in wanted)}",),
        over=(FLOWS, f"rtt={words['low']}:{words['high']}") if low < high else (FLOWS,),
        unharmed=_unharmed(wanted),
        down_bps=down,
        notes=notes,
    )


def rates_of(text: str) -> tuple[float, float]:
    """Read the rates down and up, in bit/s; one rate is that of both.

    >>> rates_of("20mbit"), rates_of("100/20Mbps"), rates_of("1Gbit/s / 50 Mbit/s")
    ((20000000.0, 20000000.0), (100000000.0, 20000000.0), (1000000000.0, 50000000.0))
    """
    match = _RATE.fullmatch(text.strip())
    if match is None or re.search(r"B(?:ps|/s)", text):
        raise InputError(f'--uplink "{text}": a rate has a unit, {EXAMPLES}')
    first, first_prefix, _, second, prefix, _ = match.groups()
    try:
        up = float(second) * _PREFIX[prefix.lower()]
        other = prefix if first_prefix is None else first_prefix
        down = up if first is None else float(first) * _PREFIX[other.lower()]
    except ValueError:
        raise InputError(f'--uplink "{text}": is not a rate, {EXAMPLES}') from None
    if not min(up, down) > 0:
        raise InputError(f'--uplink "{text}": must be above 0, {EXAMPLES}')
    return down, up


def _round_trips(rtt: str) -> tuple[float, float]:
    ends = rtt.split(":")
    if len(ends) > 2:
        raise InputError(f'--rtt "{rtt}": write it as 40ms or as LOW:HIGH, for example 20ms:100ms')
    (low, kind), (high, other) = (number_of(end, f'--rtt "{rtt}"') for end in (ends[0], ends[-1]))
    if (kind, other) != ("s", "s") or not 0 < low <= high:
        raise InputError(f'--rtt "{rtt}": two times, the shorter first, for example 20ms:100ms')
    return low, high


def _length(rate: float, rtt: float) -> tuple[float, float, tuple[str, ...]]:
    """Return the duration and warm-up of a run in s for the longest round trip, and a note if it is shortened."""
    warmup = max(LEAST_WARMUP_S, WARMUP_ROUND_TRIPS * rtt)
    duration = warmup + max(LEAST_S, ROUND_TRIPS * rtt)
    affordable = PACKET_BUDGET * 8 * PACKET / rate
    if duration <= affordable:
        return duration, warmup, ()
    note = (
        f"a run of {duration:.3g} s would carry {duration * rate / (8 * PACKET):,.0f} packets: shortened to "
        f"{affordable:.3g} s ({PACKET_BUDGET:,} packets, {affordable / rtt:,.0f} of the longest round trips)"
    )
    return affordable, affordable / 4, (note,)


def _limit(rate: float, rtt: float) -> int:
    return max(LEAST_LIMIT, math.ceil(LIMIT_PRODUCTS * rate * rtt / (8 * PACKET)))


def _unharmed(wanted: list[str]) -> tuple[str, ...]:
    if "web" not in wanted:
        return ()
    return ("page_load_s", "pages_unfinished") if "calls" in wanted else ("pages_unfinished",)


def _uses(text: str) -> list[str]:
    words = text.replace(",", " ").replace(" and ", " ").split()
    for word in words:
        if word not in USES:
            raise InputError(f"--for: {unknown('use', word, list(USES))}")
    return [use for use in USES if use == "downloads" or use in words]
