"""A study of ns-2 in the scenario's terms: links, queues, flows, changes, and differences from the study."""

from __future__ import annotations

from dataclasses import dataclass, field

from aqmlab.interop.importing.diffserv import Policy
from aqmlab.interop.importing.ns2_study import Named, Table


@dataclass(frozen=True)
class Wire:
    """One direction of a link; `place` is the line of the study that makes it."""

    handle: str
    from_: str
    to: str
    rate_bps: float
    delay_s: float
    queue: str
    place: str = ""


@dataclass(frozen=True)
class Transfer:
    """A flow: its name, its ends, its table without them, and the line of the study that makes its sender."""

    name: str
    from_: str
    to: str
    table: Table
    place: str = ""


@dataclass
class Study:
    """A study in the scenario's terms.

    Attributes
    ----------
    queues
        ``[queue.NAME]`` tables.
    wires, transfers, changes
        Links, flows and changes.
    duration_s, warmup_s
        How long it runs, and from when on it is measured.
    notes
        Assumptions, and omissions without effect.
    named
        Differences from the study.
    used
        Handles of the objects that the scenario has.
    numbers
        Numbers of the nodes in ns-2.
    policies
        By the handle of a link whose queue marks packets: its policies.
    marks
        By the name of a transfer: handles of the links that mark it, each with the number of its policy.
    groups
        By the name of a transfer: the ``[[flow]]`` table that it is in, once that is written.
    """

    queues: dict[str, Table] = field(default_factory=dict)
    wires: list[Wire] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    changes: list[tuple[Table, str]] = field(default_factory=list)
    duration_s: float = 0.0
    warmup_s: float = 0.0
    notes: list[str] = field(default_factory=list)
    named: Named = field(default_factory=Named)
    used: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    policies: dict[str, list[Policy]] = field(default_factory=dict)
    marks: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)

    @property
    def differences(self) -> list[str]:
        """Differences from the study, in the order of its lines."""

        def order(entry: tuple[str, str]) -> tuple[str, int]:
            file, _, line = entry[0].rpartition(":")
            return file, int(line) if line.isdigit() else 0

        return [f"{place}: {what}" if place else what for place, what in sorted(self.named.found, key=order)]

    def path(self, first: str, last: str) -> list[Wire]:
        """Return the links of a shortest way between two nodes; none if there is no way."""
        out: dict[str, list[Wire]] = {}
        for wire in self.wires:
            out.setdefault(wire.from_, []).append(wire)
        back: dict[str, Wire] = {}
        level = [first]
        while level and last not in back:
            following = [wire for node in level for wire in out.get(node, []) if wire.to != first]
            level = []
            for wire in following:
                if wire.to not in back:
                    back[wire.to] = wire
                    level.append(wire.to)
        found: list[Wire] = []
        while last in back and last != first:
            found.insert(0, back[last])
            last = back[last].from_
        return found
