"""PC-RED's priority list kept again in Python, from the log of a run's events: the list's own numbers, checked.

Nothing is taken from the simulator but which packet came, left and was dropped when. a_d follows equation (7),
status = a_d > L, and a packet bears its flow's status of when it came.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from aqmlab.papers.common.recorded import selected
from aqmlab.theory.control.pc_red import step

if TYPE_CHECKING:
    from aqmlab.scenario.file import Scenario

PS = 1e12
"""Picoseconds in a second."""
EVENTS = ("t_ps", "kind", "flow", "seq", "bytes")
"""Columns of the log of a run's events that the list needs."""
PLUS, MINUS, NON = range(3)
"""Kinds of packets: of a flow above its limit, of a high-priority flow up to it, without priority."""


@dataclass(frozen=True)
class Rules:
    """Parameters of the scenario that the list needs.

    Attributes
    ----------
    high
        Number of high-priority flows; they come first.
    limit
        L in bytes in an interval.
    interval
        g in s.
    weight
        w.
    """

    high: int
    limit: float
    interval: float
    weight: float

    @classmethod
    def of(cls, plan: Scenario) -> Rules:
        """Return the rules of Network 1's queue."""
        own = plan.link("bottleneck").parameters
        high = sum(flow.name.split(".")[0] == "high" for flow in plan.flows)
        return cls(high, float(own["loss_limit"]), float(own["loss_interval"]), float(own["loss_weight"]))


@dataclass(frozen=True)
class Replay:
    """A run's drops, as the list saw each: arrays with a row per drop.

    Attributes
    ----------
    t_s
        When.
    kind
        Of the victim: `PLUS`, `MINUS` or `NON`.
    listed
        Flows of each kind just before: columns N_p+, N_p-, N_n.
    queue
        Packets from which the victim was taken, the arriving one included.
    queued
        Of these, packets of each kind.
    tail
        Protected packets in a row at the tail.
    behind
        For each kind, by how many picks the victim would have been of this kind; the row's sum is `queue`.
    gauges
        The list's numbers at the times asked for: a name to a row of values.
    """

    t_s: np.ndarray
    kind: np.ndarray
    listed: np.ndarray
    queue: np.ndarray
    queued: np.ndarray
    tail: np.ndarray
    behind: np.ndarray
    gauges: dict[str, np.ndarray]


@dataclass
class _List:
    """The priority list: a_d and the time of the last drop of each flow."""

    rules: Rules
    a_d: dict[int, float] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    protected: dict[int, bool] = field(default_factory=dict)
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])

    def lookup(self, flow: int, now: int) -> int:
        """Enter a flow that is new, and return the kind of a packet of it."""
        if flow not in self.a_d:
            has_priority = flow < self.rules.high
            self.a_d[flow] = self.rules.limit / 2 if has_priority else 0.0
            self.last[flow], self.protected[flow] = now, False
            self.counts[MINUS if has_priority else NON] += 1
        return self.kind(flow)

    def kind(self, flow: int) -> int:
        if flow >= self.rules.high:
            return NON
        return PLUS if self.protected[flow] else MINUS

    def drop(self, flow: int, size: int, now: int) -> None:
        rules = self.rules
        intervals = (now - self.last[flow]) / (rules.interval * PS)
        self.a_d[flow] = step(self.a_d[flow], w=rules.weight, intervals=intervals, dropped=size)
        self.last[flow] = now
        if flow < rules.high:
            self.counts[self.kind(flow)] -= 1
            self.protected[flow] = self.a_d[flow] > rules.limit
            self.counts[self.kind(flow)] += 1


def replay(events: pa.Table, rules: Rules, *, at: np.ndarray) -> Replay:
    """Go through a log of events of one link and keep the list, with its numbers at some times (s), rising."""
    known = _List(rules)
    queue: list[tuple[int, int, int]] = []
    drops: list[tuple[float, int, tuple[int, ...], int, tuple[int, ...], int, tuple[int, ...]]] = []
    arrivals, dropped = [0, 0, 0], [0, 0, 0]
    times = iter([*np.rint(at * PS).astype(np.int64).tolist(), 2**62])
    next_time = next(times)
    rows: list[dict[str, float]] = []
    for t, kind, flow, seq, size in zip(*(events[column].to_pylist() for column in EVENTS), strict=True):
        while next_time <= t:
            rows.append(_gauges(known, arrivals, dropped))
            next_time = next(times)
        if kind == "+":
            status = known.lookup(flow, t)
            arrivals[status] += 1
            queue.append((flow, seq, status))
        elif kind == "-":
            queue.pop(_place(queue, flow, seq))
        else:
            place = _place(queue, flow, seq)
            victim = queue[place][2]
            tail, behind, queued = _picks([status for _, _, status in queue])
            drops.append((t / PS, victim, tuple(known.counts), len(queue), queued, tail, behind))
            dropped[victim] += 1
            queue.pop(place)
            known.drop(flow, size, t)
    while len(rows) < len(at):
        rows.append(_gauges(known, arrivals, dropped))
    t_s, kinds, listed, lengths, contents, tails, behind_of = (np.array(c) for c in zip(*drops, strict=True))
    gauges = {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}
    return Replay(t_s, kinds, listed, lengths, contents, tails, behind_of, gauges)


def crossing(drops: pa.Table, rules: Rules, *, start: float, since: float) -> float:
    """Return when a_d of the first flow, entered at `since` with a_d = `start`, passes L, in s; infinity if never.

    >>> drops = pa.table({"t_ps": [1e12, 2e12, 3e12], "flow": [0, 0, 0], "bytes": [500, 500, 500]})
    >>> rules = Rules(high=1, limit=70.0, interval=1.0, weight=0.1)
    >>> [crossing(drops, rules, start=start, since=0.0) for start in (35.0, 0.0)]
    [1.0, 2.0]
    """
    a_d, last = start, since
    own = selected(drops, flow=0)
    for t_ps, size in zip(own["t_ps"].to_pylist(), own["bytes"].to_pylist(), strict=True):
        if t_ps < since * PS:
            continue
        now = t_ps / PS
        a_d = step(a_d, w=rules.weight, intervals=(now - last) / rules.interval, dropped=size)
        last = now
        if a_d > rules.limit:
            return float(now)
    return math.inf


def _place(queue: list[tuple[int, int, int]], flow: int, seq: int) -> int:
    """Return where a packet waits: a departing one is the first, a victim may be any."""
    if queue[0][0] == flow and queue[0][1] == seq:
        return 0
    return next(i for i, (own, number, _) in enumerate(queue) if own == flow and number == seq)


def _picks(statuses: list[int]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return protected packets at the tail, picks that end at each kind, and packets of each kind.

    >>> _picks([MINUS, PLUS, PLUS, NON, PLUS])
    (1, (1, 1, 3), (3, 1, 1))
    """
    behind, queued, run = [0, 0, 0], [0, 0, 0], 0
    for status in statuses:
        queued[status] += 1
        run += 1
        if status != PLUS:
            behind[status] += run
            run = 0
    behind[PLUS] = run
    return run, tuple(behind), tuple(queued)


def _gauges(known: _List, arrivals: list[int], dropped: list[int]) -> dict[str, float]:
    """Return what PC-RED's list shows of itself, under the names of the simulator."""
    found = {"n_p_plus": float(known.counts[PLUS]), "n_p_minus": float(known.counts[MINUS])}
    for kind, name in enumerate(("plus", "minus", "non")):
        found |= {f"arrivals_{name}": float(arrivals[kind]), f"drops_{name}": float(dropped[kind])}
    for name, own in (
        ("high", [f for f in known.a_d if f < known.rules.high]),
        ("non", [f for f in known.a_d if f >= known.rules.high]),
    ):
        found[f"a_d_{name}"] = float(np.mean([known.a_d[f] for f in own])) if own else np.nan
        found[f"a_d_first_{name}"] = known.a_d[min(own)] if own else np.nan
    return found
