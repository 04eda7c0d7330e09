"""A recorded study, put together: a dumbbell where its network is one, else its links one by one.

A network is a dumbbell if two routers are joined, every other node hangs on one of them, and is the end of one flow.
Then flows that are alike become one ``[[flow]]`` table with a count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.errors import InputError, one_line
from aqmlab.interop.importing.ns2_study import Table, queue_table, tcp_table, tcp_times, udp_table
from aqmlab.interop.importing.quantities import rate, time
from aqmlab.interop.importing.recording import Recording
from aqmlab.interop.model import UDP
from aqmlab.scenario.toml_text import Value, inline

WARMUPS = ("warmup", "warmup_", "warm_up", "warmuptime", "warmup_time")


@dataclass(frozen=True)
class Wire:
    """One direction of a link."""

    handle: str
    from_: str
    to: str
    rate_bps: float
    delay_s: float
    queue: str


@dataclass(frozen=True)
class Transfer:
    """A flow: its name, its ends, and its table without them."""

    name: str
    from_: str
    to: str
    table: Table


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
        What was not read.
    """

    queues: dict[str, Table] = field(default_factory=dict)
    wires: list[Wire] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    changes: list[Table] = field(default_factory=list)
    duration_s: float = 0.0
    warmup_s: float = 0.0
    notes: list[str] = field(default_factory=list)


def study_of(runs: Sequence[Recording], filename: str) -> Study:
    """Put a study together from its runs."""
    middle = runs[1]
    if not middle.links:
        raise InputError(f"{filename}: no link is made (duplex-link, simplex-link)")
    study = Study(duration_s=middle.end)
    study.notes += [f"{what} is not read" for what in middle.skipped]
    if not middle.whole:
        study.notes.append(f"the study does not end by itself; the last event read is at {middle.end:g} s")
    if middle.sent:
        study.notes.append(f"{middle.sent} packets that procedures send one by one are not read")
    nodes = _node_names(middle)
    for handle in middle.links:
        study.wires.append(_wire(middle, handle, nodes, study, filename))
    _flows(runs, nodes, study, filename)
    _changes(middle, study)
    warmups = [middle.numbers[name] for name in WARMUPS if 0 < middle.numbers.get(name, 0.0) < middle.end]
    study.warmup_s = warmups[0] if warmups else 0.0
    if not study.transfers:
        raise InputError(f"{filename}: no flow is read (agents that are connected, with an application that starts)")
    return study


def text_of(study: Study, *, name: str, description: str) -> str:
    """Write the scenario."""
    lines = ["format = 1", f"name = {inline(name)}", f"description = {inline(description)}", ""]
    lines += [f"# Not as in the original: {one_line(note)}." for note in study.notes]
    lines += [""] if study.notes else []
    lines += ["[run]", f"duration = {inline(time(study.duration_s))}"]
    if study.warmup_s:
        lines.append(f"warmup = {inline(time(study.warmup_s))}")
    shape = _Dumbbell.of(study)
    lines += shape.lines() if shape is not None else _links(study)
    for queue, table in study.queues.items():
        lines += ["", f"[queue.{queue}]", *_entries(table)]
    flows = shape.flows() if shape is not None else _explicit_flows(study)
    for flow in flows:
        lines += ["", "[[flow]]", *_entries(flow)]
    renamed = {wire.handle: name for wire, name in (shape.names() if shape is not None else [])}
    for change in study.changes:
        link = str(change["link"])
        lines += ["", "[[change]]", *_entries(change | {"link": renamed.get(link, _link_name(study, link))})]
    return "\n".join(lines) + "\n"


def _wire(of: Recording, handle: str, nodes: dict[str, str], study: Study, filename: str) -> Wire:
    own = of.objects[handle]
    kind, settings = of.kind(own["queue"]), of.settings(own["queue"])
    wire = of.settings(own["wire"])
    now = {variable: value for at, link, variable, value in of.changes if link == handle and at == 0}
    bits, delay = now.get("bandwidth_", float(own["rate"])), now.get("delay_", float(own["delay"]))
    del wire
    table, notes = queue_table(kind, settings, bits, filename)
    study.notes += [f"{note} is not read" for note in notes if f"{note} is not read" not in study.notes]
    same = (name for name, known in study.queues.items() if known == table)
    queue = next(same, None) or _fresh("tail" if kind.endswith("DropTail") else "red", study.queues)
    study.queues[queue] = table
    return Wire(handle, nodes[own["from"]], nodes[own["to"]], bits, delay, queue)


def _flows(runs: Sequence[Recording], nodes: dict[str, str], study: Study, filename: str) -> None:
    middle = runs[1]
    names: set[str] = set()
    for place, (sender, sink) in enumerate(middle.connections):
        told = [_told(run, run.connections[place][0]) for run in runs]
        if not told[1]:
            study.notes.append(f"the flow of {_shown(middle, sender)}, which never starts, is not read")
            continue
        ends = [middle.objects[agent].get("node") for agent in (sender, sink)]
        if None in ends:
            raise InputError(f"{filename}: {_shown(middle, sender)} is connected, but not attached to a node")
        if middle.kind(sender).startswith("Agent/UDP"):
            app = next((app for _, app, _, _ in told[1] if middle.kind(app) != "Agent/UDP"), sender)
            table, notes = udp_table(middle, app, sender)
            study.notes += [f"{note} is not read" for note in notes if f"{note} is not read" not in study.notes]
            if not table:
                continue
        else:
            table = tcp_table(middle, sender, sink, filename)
        plain = [[(at, what, argument) for at, _, what, argument in run] for run in told]
        table |= tcp_times(runs, plain, table)
        _again(plain[1], study)
        name = _fresh(_flow_name(middle, sender, table), names)
        names.add(name)
        study.transfers.append(Transfer(name, nodes[str(ends[0])], nodes[str(ends[1])], table))


def _told(run: Recording, agent: str) -> list[tuple[float, str, str, str]]:
    """Return the recorded commands of an agent, or of an application on it, in order of time."""
    return [a for a in run.actions if a[1] == agent or run.objects[a[1]].get("agent") == agent]


def _again(told: Sequence[tuple[float, str, str]], study: Study) -> None:
    starts = sum(what == "start" for _, what, _ in told)
    if starts > 1:
        note = "a flow that starts again after a stop has only its first period"
        study.notes += [note] if note not in study.notes else []


def _changes(of: Recording, study: Study) -> None:
    for at, handle, variable, value in of.changes:
        if at > 0:
            key, text = ("rate", rate(value)) if variable == "bandwidth_" else ("delay", time(value))
            study.changes.append({"at": time(at), "link": handle, key: text})


def _links(study: Study) -> list[str]:
    """Write links one by one, both directions in one table where they are alike but for the queue."""
    lines: list[str] = []
    done: set[str] = set()
    back = {(wire.to, wire.from_): wire for wire in study.wires}
    for wire in study.wires:
        if wire.handle in done:
            continue
        done.add(wire.handle)
        other = back.get((wire.from_, wire.to))
        table: Table = {"from": wire.from_, "to": wire.to, "rate": rate(wire.rate_bps), "delay": time(wire.delay_s)}
        table["queue"] = wire.queue
        if other is not None and (other.rate_bps, other.delay_s) == (wire.rate_bps, wire.delay_s):
            done.add(other.handle)
            table["reverse_queue"] = other.queue
        else:
            table["duplex"] = False
        lines += ["", "[[link]]", *_entries(table)]
    return lines


def _link_name(study: Study, handle: str) -> str:
    wire = next(wire for wire in study.wires if wire.handle == handle)
    return f"{wire.from_}->{wire.to}"


def _explicit_flows(study: Study) -> list[Table]:
    """Write flows between the same ends that are alike as one table."""
    groups: dict[str, list[Transfer]] = {}
    for transfer in study.transfers:
        groups.setdefault(repr((transfer.from_, transfer.to, _alike(transfer.table))), []).append(transfer)
    names: set[str] = set()
    found = []
    for transfers in groups.values():
        name = _fresh(_base(transfers[0].name) if len(transfers) > 1 else transfers[0].name, names)
        names.add(name)
        ends: Table = {"from": transfers[0].from_, "to": transfers[0].to}
        found.append(_group(name, transfers, ends))
    return found


@dataclass(frozen=True)
class _Dumbbell:
    """Two routers, and the hosts of every flow."""

    study: Study
    routers: tuple[str, str]
    to_router: dict[str, Wire]
    to_host: dict[str, Wire]

    @classmethod
    def of(cls, study: Study) -> _Dumbbell | None:
        """Find it, if the network is one."""
        neighbours: dict[str, set[str]] = {}
        for wire in study.wires:
            neighbours.setdefault(wire.from_, set()).add(wire.to)
            neighbours.setdefault(wire.to, set()).add(wire.from_)
        routers = [node for node, others in neighbours.items() if len(others) > 1]
        ends = Counter(node for transfer in study.transfers for node in (transfer.from_, transfer.to))
        joined = {(wire.from_, wire.to): wire for wire in study.wires}
        if len(routers) != 2 or len(joined) < len(study.wires) or max(ends.values()) > 1:
            return None
        first, second = routers
        hosts = set(neighbours) - set(routers)
        both_ways = all((wire.to, wire.from_) in joined for wire in study.wires)
        if (first, second) not in joined or not both_ways or hosts != set(ends):
            return None
        forward = sum(next(iter(neighbours[transfer.from_])) == first for transfer in study.transfers)
        if 2 * forward < len(study.transfers):
            first, second = second, first
        of = {host: next(iter(neighbours[host])) for host in hosts}
        if any(of[transfer.from_] == of[transfer.to] for transfer in study.transfers):
            return None
        there, back = joined[first, second], joined[second, first]
        up = {host: joined[host, of[host]] for host in hosts}
        down = {host: joined[of[host], host] for host in hosts}
        alike = [(there, back), *((up[host], down[host]) for host in hosts)]
        if any((a.rate_bps, a.delay_s) != (b.rate_bps, b.delay_s) for a, b in alike):
            return None
        return cls(study, (first, second), up, down)

    def lines(self) -> list[str]:
        """Write the network."""
        return ["", "[dumbbell]", *_entries({"bottleneck": self._trunk(), **self._usual()})]

    def names(self) -> list[tuple[Wire, str]]:
        """Names that the scenario's links have."""
        first, second = self.routers
        found = {(first, second): "bottleneck", (second, first): "bottleneck.reverse"}
        return [(wire, found[wire.from_, wire.to]) for wire in self.study.wires if (wire.from_, wire.to) in found]

    def flows(self) -> list[Table]:
        """Write the flows, those that are alike as one table."""
        usual = self._usual()
        groups: dict[str, list[Transfer]] = {}
        for transfer in self.study.transfers:
            groups.setdefault(self._key(transfer), []).append(transfer)
        names: set[str] = set()
        found = []
        for transfers in groups.values():
            name = _fresh(_base(transfers[0].name) if len(transfers) > 1 else transfers[0].name, names)
            names.add(name)
            further: Table = {}
            if not self._goes_right(transfers[0]):
                further |= {"from": "right", "to": "left"}
            for place, side in enumerate(("left", "right")):
                own = [self._host(self._hosts(transfer)[place]) for transfer in transfers]
                delays = [str(host["delay"]) for host in own]
                table: Table = {key: value for key, value in own[0].items() if value != usual[side].get(key)}
                table.pop("delay", None)
                if set(delays) != {usual[side]["delay"]}:
                    table["delay"] = delays[0] if len(set(delays)) == 1 else delays
                if table:
                    further[side] = table
            found.append(_group(name, transfers, further))
        return found

    def _key(self, transfer: Transfer) -> str:
        hosts = [{k: v for k, v in self._host(host).items() if k != "delay"} for host in self._hosts(transfer)]
        return repr((_base(transfer.name), _alike(transfer.table), self._goes_right(transfer), hosts))

    def _goes_right(self, transfer: Transfer) -> bool:
        return self.to_router[transfer.from_].to == self.routers[0]

    def _hosts(self, transfer: Transfer) -> tuple[str, str]:
        """The left host and the right one."""
        ends = (transfer.from_, transfer.to)
        return ends if self._goes_right(transfer) else (ends[1], ends[0])

    def _host(self, host: str) -> dict[str, Value]:
        up, down = self.to_router[host], self.to_host[host]
        found: dict[str, Value] = {"rate": rate(up.rate_bps), "delay": time(up.delay_s), "queue": down.queue}
        return found if up.queue == down.queue else found | {"uplink_queue": up.queue}

    def _usual(self) -> dict[str, dict[str, Value]]:
        """For either side, the link that most hosts have."""
        found = {}
        for place, side in enumerate(("left", "right")):
            hosts = [self._host(self._hosts(transfer)[place]) for transfer in self.study.transfers]
            found[side] = Counter(map(repr, hosts)).most_common(1)[0][0]
            found[side] = next(host for host in hosts if repr(host) == found[side])  # type: ignore[assignment]
        return found  # type: ignore[return-value]

    def _trunk(self) -> Table:
        first, second = self.routers
        joined = {(wire.from_, wire.to): wire for wire in self.study.wires}
        there, back = joined[first, second], joined[second, first]
        return {
            "rate": rate(there.rate_bps),
            "delay": time(there.delay_s),
            "queue": there.queue,
            "reverse_queue": back.queue,
        }


def _group(name: str, transfers: Sequence[Transfer], further: Table) -> Table:
    own = dict(transfers[0].table)
    found: Table = {"name": name}
    if len(transfers) > 1:
        found["count"] = len(transfers)
        starts = [transfer.table.get("start", "0s") for transfer in transfers]
        if any(start != starts[0] for start in starts):
            own["start"] = starts
    return found | own | further


def _alike(table: Table) -> Table:
    """What flows of a group share: all but a fixed start."""
    return {key: value for key, value in table.items() if key != "start" or not isinstance(value, str)}


def _node_names(of: Recording) -> dict[str, str]:
    nodes = [handle for handle, own in of.objects.items() if own["class"] == "Node"]
    nodes.sort(key=lambda handle: int(handle.removeprefix("_o")))
    found: dict[str, str] = {}
    for handle in nodes:
        taken = set(found.values())
        found[handle] = _fresh(_variable(of, handle) or f"n{len(found)}", taken)
    return found


def _flow_name(of: Recording, sender: str, table: Table) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]", "-", _variable(of, sender))
    return name or (UDP if table["transport"] == UDP else "tcp")


def _variable(of: Recording, handle: str) -> str:
    """The name that a study has for an object, as far as it can be one here; "" if it has none."""
    index, array = of.names.get(handle, ("", ""))
    name = f"{array}{index}" if array and not index[:1].isalpha() else index
    return re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip("-.")


def _shown(of: Recording, handle: str) -> str:
    return _variable(of, handle) or of.kind(handle)


def _base(name: str) -> str:
    """The name of a group of flows: without a number at the end.

    >>> _base("tcp.12"), _base("tcp3"), _base("voice")
    ('tcp', 'tcp', 'voice')
    """
    return re.sub(r"[.\-_]?\d+$", "", name) or name


def _fresh(name: str, taken: Any) -> str:  # noqa: ANN401 - any object with these members
    numbered = (f"{name}-{n}" for n in range(2, 1_000_000))
    return name if name not in taken else next(new for new in numbered if new not in taken)


def _entries(table: Table) -> list[str]:
    return [f"{key} = {inline(value)}" for key, value in table.items()]
