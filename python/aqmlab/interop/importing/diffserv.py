"""ns-2's DiffServ module: a study's commands to ``Queue/dsRED``, as queues with classes and markers of a scenario.

A queue has physical queues, and each of them virtual ones, a drop precedence each: code points choose them (the PHB
table). Here a physical queue is RED in the dialect ``dsred`` with a class for each precedence, and several are the
children of a scheduler. An edge queue marks packets before it: a policy for each pair of nodes, a scenario's marker.
Source: diffserv/dsred.cc, dsredq.cc and dsPolicy.cc of ns-2 2.35.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from aqmlab.errors import InputError
from aqmlab.interop.importing.quantities import packets, rate, size, time
from aqmlab.interop.importing.recording import Settings
from aqmlab.interop.ns2.quantities import bits
from aqmlab.interop.translation import is_true
from aqmlab.scenario.toml_text import Value

Table = dict[str, Value]
MODES = {"RIO-C": "coupled", "RIO-D": "decoupled", "WRED": "shared"}
METERS = {
    "TokenBucket": ("token-bucket", ("cir", "cbs")),
    "TSW2CM": ("tsw2cm", ("cir", "window")),
    "TSW3CM": ("tsw3cm", ("cir", "pir")),
    "srTCM": ("srtcm", ("cir", "cbs", "ebs")),
    "trTCM": ("trtcm", ("cir", "cbs", "pir", "pbs")),
}
"""By ns-2's name of a policy: the kind of marker, and the names of the policy's arguments."""
WORDS: dict[str, Callable[[str], str]] = {
    **{name: lambda text: rate(bits(text)) for name in ("cir", "pir")},
    **{name: lambda text: size(float(text)) for name in ("cbs", "ebs", "pbs")},
    "window": lambda text: time(float(text)),
}
TWO_COLOURS = ("TokenBucket", "TSW2CM")
NO_METER = ("Null", "Dumb")
ANY_HOST = -1
SCHEDULERS = {"RR": "wfq", "WRR": "wfq", "WIRR": "wfq", "PRI": "priority"}


class Names(Protocol):
    """Something that takes differences."""

    def add(self, place: str, what: str) -> None:
        """Name a difference at a line of the study."""


@dataclass(frozen=True)
class Policy:
    """A line of an edge queue's policy table.

    Attributes
    ----------
    source, sink
        Numbers of nodes; `ANY_HOST` for all.
    dscp
        The code point of packets, or of those within the profile.
    marker
        How they are measured; empty if they are not, None if ns-2 has no policer for the policy.
    """

    source: int
    sink: int
    dscp: int
    marker: Table | None

    def is_for(self, source: int, sink: int) -> bool:
        """Return whether it is for packets between two nodes."""
        return self.source in (source, ANY_HOST) and self.sink in (sink, ANY_HOST)


@dataclass
class Commands:
    """A study's commands to a dsRED queue.

    Attributes
    ----------
    phb
        By code point: physical queue and precedence.
    thresholds
        By physical queue and precedence: min_th, max_th, max_p, w_q.
    modes, weights
        By physical queue; the mode "" is that of all.
    rates
        Whether physical queues have a greatest rate.
    mean_packet
        Bytes, 0 if the study gives none.
    scheduler
        ns-2's word.
    policies
        In their order.
    """

    phb: dict[int, tuple[int, int]] = field(default_factory=dict)
    thresholds: dict[tuple[int, int], tuple[int, int, float, float]] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)
    weights: dict[int, float] = field(default_factory=dict)
    rates: bool = False
    mean_packet: float = 0.0
    scheduler: str = "RR"
    policies: list[Policy] = field(default_factory=list)

    @classmethod
    def of(cls, told: Sequence[Sequence[str]]) -> Commands:
        """Read the commands of a queue; each is its line of the study, then its words.

        Raises
        ------
        InputError
            For a policy or mode that is not read.
        """
        found = cls()
        policers: dict[tuple[str, int], list[int]] = {}
        for _, word, *own in told:
            if word == "addPolicerEntry":
                policers.setdefault((own[0], int(own[1])), [int(one) for one in own[2:]])
        for place, word, *own in told:
            try:
                found._take(word, own, policers)
            except (ValueError, IndexError):
                raise InputError(f'{place}: "{" ".join((word, *own))}" of Queue/dsRED is not complete') from None
            except KeyError as unknown:
                raise InputError(f"{place}: {word} {unknown.args[0]} of Queue/dsRED is not read") from None
        return found

    def _take(self, word: str, own: Sequence[str], policers: dict[tuple[str, int], list[int]]) -> None:
        if word == "addPHBEntry":
            self.phb.setdefault(int(own[0]), (int(own[1]), int(own[2])))
        elif word == "configQ":
            low, high, most = (float(text) for text in own[2:5])
            weight = float(own[5]) if len(own) > 5 else 0.002
            self.thresholds[int(own[0]), int(own[1])] = (int(low), int(high), most, weight)
        elif word == "meanPktSize":
            self.mean_packet = float(own[0])
        elif word == "setMREDMode":
            self.modes[own[1] if len(own) > 1 else ""] = own[0]
        elif word == "setSchedularMode":
            self.scheduler = {one: one for one in SCHEDULERS}[own[0]]
        elif word == "addQueueWeights":
            self.weights[int(own[0])] = float(own[1])
        elif word == "addQueueRate":
            self.rates = True
        elif word == "addPolicyEntry":
            self.policies.append(_policy(own, policers))

    def mode(self, queue: int) -> str:
        """Return the mode of a physical queue."""
        return self.modes.get(str(queue), self.modes.get("", "RIO-C"))


def _policy(own: Sequence[str], policers: dict[tuple[str, int], list[int]]) -> Policy:
    source, sink, kind, dscp = int(own[0]), int(own[1]), own[2], int(own[3])
    if kind in NO_METER:
        return Policy(source, sink, dscp, {})
    meter, names = METERS[kind]
    if (kind, dscp) not in policers:
        return Policy(source, sink, dscp, None)
    colours = [dscp, *policers[kind, dscp]]
    marker: Table = {"kind": meter, **{name: WORDS[name](text) for name, text in zip(names, own[4:], strict=False)}}
    if [name for name in names if name != "window" and name not in marker]:
        raise IndexError
    words = ("green", "red") if kind in TWO_COLOURS else ("green", "yellow", "red")
    return Policy(source, sink, dscp, marker | dict(zip(words, colours, strict=True)))


def queue_tables(told: Commands, own: Settings, place: str, name: str, named: Names) -> Iterator[tuple[str, Table]]:
    """Yield ``[queue.NAME]`` tables of a dsRED queue by name, its own last.

    Raises
    ------
    InputError
        If it has no queue at all, or one of a kind that scenarios lack.
    """
    own.without_effect("numQueues_")
    used = sorted({queue for queue, _ in told.phb.values()})
    if not used:
        raise InputError(f"{place}: this dsRED queue has no code points (addPHBEntry)")
    limit = packets(float(own["limit_"]))
    tables = {queue: _physical(told, queue, limit, place, named) for queue in used}
    if is_true(own["ecn_"]):
        named.add(place, "ecn_ of Queue/dsRED: packets are dropped")
    if len(used) == 1:
        yield name, tables[used[0]]
        return
    aqm = SCHEDULERS[told.scheduler]
    if aqm == "wfq":
        named.add(place, f"{told.scheduler} of Queue/dsRED takes turns by packets: here by bytes (wfq)")
    if told.rates:
        named.add(place, "addQueueRate of Queue/dsRED: its queues have no greatest rate")
    classes: list[Value] = []
    for queue, table in tables.items():
        yield f"{name}-{queue}", table
        one: Table = {"name": f"queue{queue}", "dscp": _points(told, queue), "queue": f"{name}-{queue}"}
        if aqm == "wfq":
            one["weight"] = told.weights.get(queue, 1.0) if told.scheduler != "RR" else 1.0
        classes.append(one)
    one["default"] = True
    yield name, {"aqm": aqm, "class": classes}


def _points(told: Commands, queue: int, precedence: int | None = None) -> list[Value]:
    """Return the code points of a physical queue, or of one of its precedences."""
    return [point for point, (q, p) in told.phb.items() if q == queue and precedence in (None, p)]


def _physical(told: Commands, queue: int, limit: str, place: str, named: Names) -> Table:
    """Return the table of a physical queue."""
    precedences = sorted({precedence for q, precedence in told.phb.values() if q == queue})
    missing = [one for one in precedences if (queue, one) not in told.thresholds]
    if missing:
        raise InputError(
            f"{place}: queue {queue} of Queue/dsRED has no thresholds of precedence {missing[0]} (configQ)"
        )
    own = {one: told.thresholds[queue, one] for one in precedences}
    mode = told.mode(queue)
    if mode == "DROP":
        if len(own) > 1:
            raise InputError(f"{place}: DROP with several precedences of Queue/dsRED is not read")
        return {"limit": packets(min(own[precedences[0]][0], float(limit.removesuffix("p"))))}
    if mode not in MODES:
        raise InputError(f"{place}: setMREDMode {mode} of Queue/dsRED is not read (allowed: {', '.join(MODES)}, DROP)")
    if len({weight for *_, weight in own.values()}) > 1:
        named.add(place, "precedences of Queue/dsRED with weights of their own: all have that of the first")
    if not told.mean_packet:
        named.add(place, "no meanPktSize of Queue/dsRED, which ns-2 then leaves to chance: 1000 B")
    table: Table = {"aqm": "red", "dialect": "dsred", "averages": MODES[mode], "limit": limit}
    table |= {"mean_packet": size(told.mean_packet or 1000.0), "w_q": own[precedences[0]][3]}
    classes: list[Value] = []
    for precedence, (low, high, most, _) in own.items():
        if low >= high:
            named.add(place, f"thresholds {low} and {high} of Queue/dsRED: the upper one is a millionth greater")
        upper = packets(max(high, low * (1 + 1e-6)))
        one: Table = {"name": f"p{precedence}", "dscp": _points(told, queue, precedence)}
        one |= {"min_th": packets(low), "max_th": upper, "max_p": most}
        classes.append(one)
    one["default"] = True
    return table | {"class": classes}
