"""A tuning without a scenario file: an uplink by its rate, its round trips, and what it is used for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from aqmlab.errors import InputError, unknown
from aqmlab.scenario.file import Scenario
from aqmlab.tuning.ranges import number_of, written

PACKET = 1500
QUEUE = "bottleneck"
FLOWS = "flows=1:8"
"""Downloads at a time that the settings must hold for."""
USES = {
    "downloads": """\
[[flow]]
name = "downloads"
count = 4
transport = "tcp"
start = { uniform = ["0s", "1s"] }
tcp = { profile = "rfc", congestion_control = "cubic" }
""",
    "calls": """\
[[flow]]
name = "calls"
count = 2
voip = { codec = "g711" }
""",
    "web": """\
[[flow]]
name = "web"
transport = "tcp"
start = { every = "2s" }
count = 10
tcp = { profile = "rfc", congestion_control = "cubic" }
web = { objects = 30, size = "15KB", think = "0s" }
""",
}
"""What a link may be used for, as flows; downloads stand first, since the range is of theirs."""
SCENARIO = """\
format = 1
name = "uplink-{rate}"
description = "An uplink of {rate} with round trips from {low} to {high}, for {uses}."

[run]
duration = "20s"
warmup = "5s"

[dumbbell]
bottleneck = {{ rate = "{rate}", delay = "1ms", queue = "bottleneck" }}
left = {{ rate = "10Gbps", delay = "1ms" }}
right = {{ rate = "10Gbps", delay = "1ms" }}

[queue.bottleneck]
aqm = "drop-tail"
limit = "{limit}p"

"""


@dataclass(frozen=True)
class Uplink:
    """What `aqmlab.tune` needs to know of an uplink.

    Attributes
    ----------
    scenario
        A dumbbell with its traffic and a drop-tail queue.
    minimize, keep, over
        As of `aqmlab.tune`: where somebody waits, the delay's 99 % quantile counts, otherwise that of 95 %.
    """

    scenario: Scenario
    minimize: str
    keep: tuple[str, ...]
    over: tuple[str, ...]


def uplink(rate: str, rtt: str, uses: str = "downloads") -> Uplink:
    """Describe an uplink.

    Parameters
    ----------
    rate
        Its rate: ``50Mbps``.
    rtt
        Round trips without queueing: ``20ms:100ms``.
    uses
        ``downloads``, ``calls``, ``web``, with commas or "and" between them. Downloads are greedy CUBIC flows, 1 to 8
        at a time; without them no queue builds up, so they are always there.

    Raises
    ------
    InputError
        With one line that names what is allowed.

    >>> uplink("50Mbps", "20ms:100ms", "calls and downloads").keep
    ('utilization>=0.9',)
    """
    speed, unit = number_of(rate, f'--uplink "{rate}"')
    if unit == "bps" and speed <= 0:
        raise InputError(f'--uplink "{rate}": must be above 0, for example 50Mbps')
    if unit != "bps":
        raise InputError(f'--uplink "{rate}": a rate has a unit, for example 50Mbps')
    ends = rtt.split(":")
    if len(ends) != 2:
        raise InputError(f'--rtt "{rtt}": write it as LOW:HIGH, for example 20ms:100ms')
    (low, kind), (high, other) = (number_of(end, f'--rtt "{rtt}"') for end in ends)
    if (kind, other) != ("s", "s") or not 0 < low < high:
        raise InputError(f'--rtt "{rtt}": two times, the shorter first, for example 20ms:100ms')
    wanted = _uses(uses)
    limit = max(100, math.ceil(2 * speed * high / (8 * PACKET)))
    words = {"rate": written(speed, "bps"), "low": written(low, "s"), "high": written(high, "s")}
    head = SCENARIO.format(**words, uses=" and ".join(wanted), limit=limit)
    flows = "\n".join(USES[use] for use in wanted)
    waits = len(wanted) > 1
    return Uplink(
        Scenario.from_text(head + flows, filename=f"uplink-{words['rate']}"),
        minimize="delay_p99_ms" if waits else "delay_p95_ms",
        keep=("utilization>=0.9" if waits else "utilization>=0.95",),
        over=(FLOWS, f"rtt={words['low']}:{words['high']}"),
    )


def _uses(text: str) -> list[str]:
    words = text.replace(",", " ").replace(" and ", " ").split()
    for word in words:
        if word not in USES:
            raise InputError(f"--for: {unknown('use', word, list(USES))}")
    return [use for use in USES if use == "downloads" or use in words]
