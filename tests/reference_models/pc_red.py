"""PC-RED: a flow that has lost more than agreed is not picked again.

Y. Li, S.-H. Yang, PC-RED for IPv6: Algorithm and Performance Analysis: section 2 (priority list, bit QOSA, choice of
the victim) and equation (7), a_d <- (1-w)^m a_d + w x with m = (t - t_last)/g and x the bytes of the victim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from reference_models.red import EARLY, PS, Draws, Law, Packet, Red, Settings


@dataclass(slots=True)
class Entry:
    """One flow in the priority list; times in picoseconds, `limit` and `a_d` in bytes per interval g.

    `data`: the flow is not one of ACKs. The list knows no difference, but only such flows are reported.
    """

    limit: float
    t_last: int
    a_d: float
    status: bool
    data: bool


@dataclass(frozen=True)
class Protection:
    """The parameters of the priority list and its readings; `limits` by priority level, from 1."""

    limits: tuple[float, ...] = (70.0,)
    g: float = 0.36
    w: float = 0.003
    status_refresh: str = "on-drop"  # or "on-arrival"; "at-pick": the search asks the list
    loss_start: float = 0.5  # a_d of a new flow with priority, as a share of its limit
    search: str = "all"  # or "early": at other drops the arriving packet is the victim
    scan: str = "to-tail"  # or "circular"
    qosa: str = "overwritten"  # or "honoured": the bit with which a packet arrives
    loss_decay: str = "real"  # or "floor", "ceil": m as a whole number


class PcRed(Red):
    """RED with a victim out of the queue and a list of the losses of each flow."""

    def __init__(self, settings: Settings, law: Law, protection: Protection, rate_bps: float, draws: Draws) -> None:
        super().__init__(settings, [law], rate_bps, draws)
        self.protection = protection
        self.entries: dict[int, Entry] = {}
        self.arrivals = {"plus": 0, "minus": 0, "non": 0}
        self.drops = {"plus": 0, "minus": 0, "non": 0}

    def on_arrival(self, now: int, packet: Packet) -> None:
        entry = self.lookup(now, packet)
        if self.protection.status_refresh == "on-arrival":
            entry.status = self.decayed(entry, now) > entry.limit
        has_bit = packet.alert and self.protection.qosa == "honoured"
        packet.alert = has_bit if self.protection.status_refresh == "at-pick" else entry.status or has_bit
        self.arrivals[self.kind(packet)] += entry.data

    def lookup(self, now: int, packet: Packet) -> Entry:
        """The flow's entry, made at its first packet: half the limit to start with, infinite limit without priority."""
        if packet.flow not in self.entries:
            limits = self.protection.limits
            limit = limits[min(packet.cls, len(limits)) - 1] if packet.cls else math.inf
            self.entries[packet.flow] = Entry(
                limit=limit,
                t_last=now,
                a_d=limit * self.protection.loss_start if packet.cls else 0.0,
                status=False,
                data=packet.kind != "ack",
            )
        return self.entries[packet.flow]

    def pick_victim(self, packet: Packet, reason: str) -> Packet:
        """A random packet, or the first without the bit after it; the arriving packet is the last of the queue.

        The last packet of the queue is dropped if the search finds none.
        """
        if self.protection.search == "early" and reason != EARLY:
            return packet
        candidates = [*self.queue, packet]
        n = len(candidates)
        start = self.draws.below(n)
        steps = n if self.protection.scan == "circular" else n - start
        order = [candidates[(start + step) % n] for step in range(steps)]
        return next((other for other in order if not self.is_protected(other)), candidates[-1])

    def is_protected(self, packet: Packet) -> bool:
        """By the bit, and at the pick by the list as it is now; the bit is then that of an earlier queue."""
        at_pick = self.protection.status_refresh == "at-pick"
        return packet.alert or (at_pick and self.entries[packet.flow].status)

    def on_drop(self, now: int, victim: Packet) -> None:
        entry = self.entries[victim.flow]
        self.drops[self.kind(victim)] += entry.data
        entry.a_d = self.decayed(entry, now) + self.protection.w * victim.bytes
        entry.status = entry.a_d > entry.limit
        entry.t_last = now

    def decayed(self, entry: Entry, now: int) -> float:
        m = (now - entry.t_last) * PS / self.protection.g
        if self.protection.loss_decay == "floor":
            m = float(math.floor(m))
        elif self.protection.loss_decay == "ceil":
            m = float(math.ceil(m))
        return entry.a_d * math.pow(1.0 - self.protection.w, m)

    def kind(self, packet: Packet) -> str:
        """High priority and protected, high priority and not, no priority."""
        if packet.cls == 0:
            return "non"
        return "plus" if self.is_protected(packet) else "minus"

    def gauges(self, now: int) -> dict[str, float]:
        reported = [entry for entry in self.entries.values() if entry.data]
        high = [entry for entry in reported if entry.limit < math.inf]
        others = [entry for entry in reported if entry.limit == math.inf]
        values: dict[str, float] = {
            "listed": len(reported),
            "n_p_plus": sum(entry.status for entry in high),
            "n_p_minus": sum(not entry.status for entry in high),
            "a_d_high": fmean(entry.a_d for entry in high) if high else math.nan,
            "a_d_non": fmean(entry.a_d for entry in others) if others else math.nan,
        }
        if len(self.protection.limits) > 1:
            for level, limit in enumerate(self.protection.limits, 1):
                of_level = [entry.a_d for entry in high if entry.limit == limit]
                values[f"a_d_level_{level}"] = fmean(of_level) if of_level else math.nan
        values |= {f"arrivals_{kind}": number for kind, number in self.arrivals.items()}
        return values | {f"drops_{kind}": number for kind, number in self.drops.items()}
