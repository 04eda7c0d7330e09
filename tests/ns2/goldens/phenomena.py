"""Phenomena in a trace: the congestion phenomena a case is there for, and simultaneous events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby

from goldens.events import Row
from goldens.model import Case, Event, Link, Tcp

Key = tuple[Decimal, str]
"""The trigger of a station: (the time at which it was scheduled, the station that scheduled it)."""

Ends = tuple[str, str]
"""A link: the nodes it leads from and to."""

TIMER = "timer"


@dataclass
class Simultaneity:
    """Events of one instant at one link, seen from ns-2's rule "first scheduled, first served"."""

    ties: int = 0
    """Instants at the bottleneck with more than one trigger."""
    arrival_with_service_end: int = 0
    """Of these, a packet's arrival together with the end of another's transmission."""
    arrivals_together: int = 0
    """Of these, two packets arriving over different links."""
    with_timer: int = 0
    """Instants at any link at which a sender's or receiver's timer met another trigger."""
    double: list[str] = field(default_factory=list)
    """Instants at any link with two triggers of one cause time from different stations: undecided."""
    violations: list[str] = field(default_factory=list)
    """Instants whose order contradicts the rule (none is expected)."""


def simultaneity(case: Case, trace: Sequence[Event]) -> Simultaneity:
    """Reconstructs what triggered each event of each link and looks at instants with several triggers."""
    scan = _Scan({(link.source, link.target): link for link in case.links})
    for event in trace:
        scan.see(event)
    result = Simultaneity()
    bottleneck = (case.bottleneck.source, case.bottleneck.target)
    for (ends, t), triggers in scan.triggers.items():
        if len(triggers) < 2:
            continue
        _judge(result, ends, t, triggers)
        if ends == bottleneck:
            own = "->".join(ends)
            stations = {station for _, station in triggers}
            result.ties += 1
            result.arrival_with_service_end += own in stations and len(stations) > 1
            result.arrivals_together += len(stations - {own}) > 1
    return result


def _judge(result: Simultaneity, ends: Ends, t: Decimal, triggers: list[Key]) -> None:
    where = f"{'->'.join(ends)} at {t} s"
    known = [key for key in triggers if key[1] != TIMER]
    if len(known) < len(triggers):
        result.with_timer += 1
    if len({cause for cause, _ in known}) < len(known):
        result.double.append(where)
    if [cause for cause, _ in known] != sorted(cause for cause, _ in known):
        result.violations.append(where)


@dataclass
class _Scan:
    """State of the reconstruction: the last received packets, and the transmissions of every link."""

    links: dict[Ends, Link]
    triggers: dict[tuple[Ends, Decimal], list[Key]] = field(default_factory=dict)
    received: dict[str, tuple[Decimal, Key]] = field(default_factory=dict)
    sent: dict[int, Decimal] = field(default_factory=dict)
    busy_until: dict[Ends, tuple[Decimal, Decimal]] = field(default_factory=dict)
    waiting: dict[Ends, list[Decimal]] = field(default_factory=dict)
    """When each packet waiting at a link came."""

    def see(self, event: Event) -> None:
        """Takes the next line of the trace."""
        ends = (event.source, event.target)
        if event.kind == "r":
            self.received[event.target] = (event.t, (self.sent[event.uid], "->".join(ends)))
        elif event.kind == "+":
            at, key = self.received.get(event.source, (None, None))
            self._trigger(ends, event.t, key if key is not None and at == event.t else (event.t, TIMER))
            self.waiting.setdefault(ends, []).append(event.t)
        elif event.kind == "d":
            self.waiting[ends].pop()
        elif event.kind == "-":
            end, start = self.busy_until.get(ends, (None, None))
            if end == event.t and start is not None:
                self._service_end(ends, event.t, (start, "->".join(ends)))
            self.waiting[ends].pop(0)
            self.sent[event.uid] = event.t
            transmission = Decimal(event.bytes * 8) / self.links[ends].rate
            self.busy_until[ends] = (event.t + transmission, event.t)

    def _trigger(self, ends: Ends, t: Decimal, key: Key) -> None:
        seen = self.triggers.setdefault((ends, t), [])
        if not seen or seen[-1] != key:
            seen.append(key)

    def _service_end(self, ends: Ends, t: Decimal, key: Key) -> None:
        """Notes the end of a transmission. If the only packet waiting has just come, the trace looks the same
        whether it came before or after; then the order is taken to be the rule's."""
        self._trigger(ends, t, key)
        seen = self.triggers[ends, t]
        unseen_order = self.waiting[ends] == [t] and len(seen) == 2
        if unseen_order and seen[0][1] != TIMER and seen[0][0] > key[0]:
            seen.reverse()


def multiple_losses(case: Case, table: Sequence[Row]) -> int:
    """How often a flow lost a packet while another of its losses had not been retransmitted yet."""
    tcp = {index for index, flow in enumerate(case.flows) if isinstance(flow, Tcp)}
    missing: dict[int, set[int]] = {index: set() for index in tcp}
    episodes = 0
    counted: set[int] = set()
    for row in table:
        if row.flow not in tcp:
            continue
        lost = missing[row.flow]
        if row.kind == "+":
            lost.discard(row.seq)
            if not lost:
                counted.discard(row.flow)
        elif row.kind == "d":
            lost.add(row.seq)
            if len(lost) > 1 and row.flow not in counted:
                episodes += 1
                counted.add(row.flow)
    return episodes


def drop_rule_broken(case: Case, table: Sequence[Row]) -> str | None:
    """Checks ns-2's rule: dropped exactly when waiting + 1 >= limit, the packet in service not counted."""
    waiting = 0
    for index, row in enumerate(table):
        if row.kind == "-":
            waiting -= 1
        elif row.kind == "+":
            dropped = index + 1 < len(table) and table[index + 1].kind == "d" and table[index + 1][2:] == row[2:]
            if dropped != (waiting + 1 >= case.bottleneck.limit):
                limit = case.bottleneck.limit
                return f"event {index}: dropped = {dropped} with {waiting} waiting, limit {limit}"
            waiting += not dropped
    return None


def decisive_instants(case: Case, table: Sequence[Row]) -> int:
    """Instants at which it depends on the order with a service end whether a packet finds the queue full."""
    waiting = decisive = 0
    for _, group in groupby(table, key=lambda row: row.t_ps):
        kinds = [row.kind for row in group]
        full = waiting + 1 >= case.bottleneck.limit
        decisive += full and "+" in kinds and "-" in kinds
        waiting += kinds.count("+") - kinds.count("-") - kinds.count("d")
    return decisive


def delayed_acks(case: Case, trace: Sequence[Event]) -> int:
    """Data packets that arrived at delaying receivers minus the ACKs these sent."""
    hosts = {
        flow.target: index
        for index, flow in enumerate(case.flows)
        if isinstance(flow, Tcp) and flow.delayed_ack is not None
    }
    data = sum(e.kind == "r" and not e.is_ack and hosts.get(e.target) == e.flow for e in trace)
    acks = sum(e.kind == "+" and e.is_ack and hosts.get(e.source) == e.flow for e in trace)
    return data - acks


def off_grid(trace: Sequence[Event], grid: Decimal) -> Event | None:
    """The first event whose time is no multiple of `grid`."""
    return next((e for e in trace if e.t % grid), None)
