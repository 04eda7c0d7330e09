"""The certificate of a live run: how well the link kept time, whether its counters add up, and whether the run counts.

A live run shares its machine with others, and what delays the link's thread delays packets as a queue would. So each
run carries what can be known of that, and is *valid* only within the limits here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.errors import counted

FULL_PACKET_BITS = 1500 * 8

LATENESS_SHARE = 0.25
"""Most of the time that a full packet takes on the link by which 99 % of the departures may be late..."""
LATENESS_LEAST_US, LATENESS_MOST_US = 50.0, 2000.0
"""...but at least, and at most, so much."""
RATE_WITHIN = 0.005
"""Most by which the rate achieved while packets waited may differ from the one configured, relative."""
BUSY_LEAST_S = 1.0
"""With less time than this in which packets waited, the rate is not judged."""
STALLED_SHARE = 1e-4
"""Most departures that may be more than 10 ms late, as a share."""
LATE_START_US = 10e3
"""Most by which the link may begin after the flows: until then packets pass without a queue."""
TUN_DROPPED_SHARE = 1e-4
"""Most packets that may be lost in the TUN devices, before the discipline saw them, as a share of all."""
STEAL_SHARE = 0.05
"""Most of the machine's time that a hypervisor may have given to others."""
CUTTING = ("tso", "ufo", "lro")
"""Offloads by which a device is given packets longer than its MTU, or joins some; the kernel cuts them before else."""
NOT_EMPTY_SHARE = 0.2
"""Least share of the time in which the queue holds a packet: else the bottleneck may have been elsewhere."""


@dataclass(frozen=True)
class Certificate:
    """How a live run went.

    Attributes
    ----------
    measured
        Measurements of the link process, as it reported them.
    breaches
        Each limit that was broken, in a line with its number.
    notes
        Remarks that break no limit.
    """

    measured: dict[str, Any]
    breaches: list[str]
    notes: list[str] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        """Whether the run counts."""
        return not self.breaches

    def data(self) -> dict[str, Any]:
        """Return it as JSON: the verdict, its reasons, the numbers and the limits."""
        return {
            "valid": self.valid,
            "breaches": self.breaches,
            "notes": self.notes,
            "measured": self.measured,
            "limits": {
                "lateness_p99_us": lateness_limit_us(_rate(self.measured)),
                "rate_within": RATE_WITHIN,
                "stalled_share": STALLED_SHARE,
                "late_start_us": LATE_START_US,
                "tun_dropped_share": TUN_DROPPED_SHARE,
                "cpu_steal_share": STEAL_SHARE,
                "queue_not_empty_share": NOT_EMPTY_SHARE,
            },
        }

    def line(self) -> str:
        """Say it in a line.

        >>> Certificate({"lateness_us": {"p99": 21.0}}, []).line()
        'certificate: valid (lateness p99 21 us)'
        >>> rate = {"varies": True, "configured_bps": 2e6, "achieved_bps": 2.002e6, "busy_s": 9.5}
        >>> Certificate({"lateness_us": {"p99": 21.0}, "rate": rate, "lost": 37, "copied": 2}, []).line()
        'certificate: valid (lateness p99 21 us, +0.10 % of the varying rate, 37 lost, 2 copied)'
        """
        parts = []
        if (late := self.measured.get("lateness_us", {}).get("p99")) is not None:
            parts.append(f"lateness p99 {late:.0f} us")
        if (self.measured.get("rate") or {}).get("varies") and (off := _rate_off(self.measured)) is not None:
            parts.append(f"{100 * off:+.2f} % of the varying rate")
        parts += [f"{n} {name}" for name in ("lost", "copied") if (n := int(self.measured.get(name) or 0))]
        note = f" ({', '.join(parts)})" if parts else ""
        return f"certificate: valid{note}" if self.valid else f"certificate: INVALID{note}: {'; '.join(self.breaches)}"

    @classmethod
    def of(cls, measured: Mapping[str, Any], *, troubles: list[str], unshaped: bool = False) -> Certificate:
        """Return the certificate of a link process's measurements; `troubles` are further errors, a line each."""
        judged = [*_time(measured), *([] if unshaped else _rate_breaches(measured)), *_books(measured), *troubles]
        return cls(dict(measured), judged, _notes(measured))


def lateness_limit_us(rate_bps: float) -> float:
    """Return how late 99 % of the departures may be at most.

    >>> lateness_limit_us(1e8), lateness_limit_us(1e7), lateness_limit_us(5e5)
    (50.0, 300.0, 2000.0)
    """
    if not rate_bps > 0:
        return LATENESS_MOST_US
    share = LATENESS_SHARE * FULL_PACKET_BITS / rate_bps * 1e6
    return min(max(share, LATENESS_LEAST_US), LATENESS_MOST_US)


def _time(measured: Mapping[str, Any]) -> list[str]:
    late = measured.get("lateness_us") or {}
    found = []
    limit, p99 = lateness_limit_us(_rate(measured)), late.get("p99")
    if p99 is not None and p99 > limit:
        found.append(f"1 % of the packets left more than {p99:.0f} us late (limit {limit:.0f} us)")
    departures, stalls = int(late.get("n") or 0), int(measured.get("stalls") or 0)
    if stalls > max(STALLED_SHARE * departures, 0):
        found.append(
            f"{stalls} of {counted(departures, 'packet')} left more than 10 ms late (limit {STALLED_SHARE:.2%})"
        )
    if (late_start := measured.get("late_start_us") or 0.0) > LATE_START_US:
        found.append(f"the link began {late_start / 1e3:.0f} ms after the flows (limit {LATE_START_US / 1e3:.0f} ms)")
    steal = measured.get("cpu_steal_share")
    if steal is not None and steal > STEAL_SHARE:
        found.append(f"{steal:.1%} of the processor's time went to others on the host (limit {STEAL_SHARE:.0%})")
    return found


def _rate_breaches(measured: Mapping[str, Any]) -> list[str]:
    found = []
    if (off := _rate_off(measured)) is not None and abs(off) > RATE_WITHIN:
        found.append(f"the link carried {off:+.2%} of its rate while packets waited (limit {RATE_WITHIN:.1%})")
    share = measured.get("queue_not_empty_share")
    if share is not None and share < NOT_EMPTY_SHARE:
        found.append(f"the queue held packets in {share:.0%} of the time only (limit {NOT_EMPTY_SHARE:.0%})")
    return found


def _rate_off(measured: Mapping[str, Any]) -> float | None:
    """Return the relative difference of the rate achieved while packets waited; None if they waited too seldom.

    The configured rate is the mean of the link's rates over the same services, so it holds for rates that vary.
    """
    rate = measured.get("rate") or {}
    configured, achieved = rate.get("configured_bps"), rate.get("achieved_bps")
    enough = (rate.get("busy_s") or 0.0) >= BUSY_LEAST_S
    return achieved / configured - 1 if configured and achieved and enough else None


def _books(measured: Mapping[str, Any]) -> list[str]:
    found = []
    entered = int(measured.get("in") or 0)
    dropped = sum(int(n or 0) for n in (measured.get("tun_dropped") or {}).values())
    if dropped > TUN_DROPPED_SHARE * max(entered, 1):
        found.append(
            f"{counted(dropped, 'packet was', 'packets were')} lost in the TUN devices "
            f"(limit {TUN_DROPPED_SHARE:.2%} of {entered})"
        )
    on = {name for names in (measured.get("offload") or {}).values() for name in names or ()}
    offloads = sorted(on.intersection(CUTTING))
    if offloads:
        found.append(f"the devices split or join packets ({', '.join(offloads)})")
    if "in" in measured:
        left = ("out", "dropped", "lost", "malformed", "queued")
        missing = entered + int(measured.get("copied") or 0) - sum(_total(measured.get(name)) for name in left)
        if missing:
            found.append(
                f"{counted(missing, 'packet is', 'packets are')} not accounted for "
                f"(in, copied less out, dropped, lost, queued)"
            )
    return found


def _notes(measured: Mapping[str, Any]) -> list[str]:
    found = []
    if replaced := int(measured.get("flows_replaced") or 0):
        found.append(f"{counted(replaced, 'flow')} gave place to others, and all are counted together as other flows")
    if not (measured.get("kept_awake") or {}).get("processors"):
        found.append("the processors were let sleep, from which they may wake late (--keep-awake)")
    if measured.get("scheduler") == "other":
        found.append("the link's thread had no real-time priority (SCHED_FIFO), so other programs delay it")
    return found


def _rate(measured: Mapping[str, Any]) -> float:
    return float((measured.get("rate") or {}).get("configured_bps") or math.nan)


def _total(value: Any) -> int:  # noqa: ANN401 - a number, or numbers by reason
    return sum(int(n) for n in value.values()) if isinstance(value, Mapping) else int(value or 0)
