"""A recorded study, put together: a dumbbell where its network is one, else its links one by one.

A network is a dumbbell if two routers are joined, every other node hangs on one of them, and is the end of one flow.
Then flows that are alike become one ``[[flow]]`` table with a count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.errors import InputError, one_line
from aqmlab.interop.importing.ns2_study import (
    VARIANTS,
    Named,
    Table,
    fair_bucket,
    queue_table,
    spread_of,
    tcp_table,
    tcp_times,
    times_of,
    udp_periods,
    udp_table,
)
from aqmlab.interop.importing.quantities import rate, time
from aqmlab.interop.importing.recording import QUANTILES, Action, Recording
from aqmlab.interop.model import UDP
from aqmlab.interop.ns2.quantities import seconds
from aqmlab.scenario.toml_text import Value, inline

WARMUPS = ("warmup", "warmup_", "warm_up", "warmuptime", "warmup_time")


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
        What was left out although nothing changes, or assumed.
    named
        What is not as in the study.
    used
        Handles of the objects that the scenario has.
    numbers
        Numbers of the nodes in ns-2.
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

    @property
    def differences(self) -> list[str]:
        """What is not as in the study, in the order of its lines."""

        def order(entry: tuple[str, str]) -> tuple[str, int]:
            file, _, line = entry[0].rpartition(":")
            return file, int(line) if line.isdigit() else 0

        return [f"{place}: {what}" if place else what for place, what in sorted(self.named.found, key=order)]


def study_of(runs: Sequence[Recording], filename: str) -> Study:
    """Put a study together from its runs: one for each quantile, one with mixed quantiles, one with another state."""
    low, middle, high, mixed, other = runs
    study = _study_of(middle, filename)
    studies = [study if run is middle else _study_of(run, filename) for run in (low, middle, high, mixed)]
    _starts(studies, middle, study)
    if not _is_same(study, other, filename):
        where = middle.state_places[0] if middle.state_places else ""
        study.named.add(where, "what the study does depends on a variable of the simulation that it reads")
    for place, what in middle.skipped:
        study.named.add(place, f"{what} is not carried over")
    for place, kind, variable, value in dict.fromkeys(middle.unread(study.used)):
        study.named.add(place, f"{kind} set {variable} {value} is not carried over")
    _paths(study)
    _fair_queues(study)
    if not study.transfers:
        raise InputError(f"{filename}: no flow is read (agents that are connected, with an application that starts)")
    return study


def _study_of(run: Recording, filename: str) -> Study:
    """Put one run together."""
    if not run.links:
        raise InputError(f"{filename}: no link is made (duplex-link, simplex-link)")
    study = Study(duration_s=run.end)
    if not run.whole:
        study.named.add("", f"the study does not end by itself: the last event read is at {run.end:g} s")
    nodes = _node_names(run)
    study.numbers = {name: int(run.objects[handle]["id"]) for handle, name in nodes.items()}
    for handle in run.links:
        study.wires.append(_wire(run, handle, nodes, study))
    _flows(run, nodes, study)
    _changes(run, study)
    warmups = [run.numbers[name] for name in WARMUPS if 0 < run.numbers.get(name, 0.0) < run.end]
    study.warmup_s = warmups[0] if warmups else 0.0
    return study


def _is_same(study: Study, other: Recording, filename: str) -> bool:
    """Return whether a study does the same when it reads another state of the simulation."""
    try:
        found = _study_of(other, filename)
    except InputError:
        return False
    own = (study.queues, study.wires, study.changes, study.duration_s, [one.place for one in study.transfers])
    return own == (found.queues, found.wires, found.changes, found.duration_s, [one.place for one in found.transfers])


def _starts(studies: Sequence[Study], middle: Recording, study: Study) -> None:
    """Make distributions of starts that are drawn, and name what else is drawn."""
    if not middle.draws:
        return
    where = middle.draw_places[0] if middle.draw_places else ""

    def fixed(one: Study) -> object:
        flows = [(t.from_, t.to, {**t.table, "start": ""}) for t in one.transfers]
        return (one.queues, one.wires, one.changes, one.duration_s, flows)

    if any(fixed(one) != fixed(study) for one in studies):
        lines = ", ".join(place.rpartition(":")[2] for place in middle.draw_places)
        study.named.add(
            where, f"numbers that are drawn (lines {lines}) set more than uniform starts: medians are taken"
        )
        return
    spread = 0
    for place, transfer in enumerate(study.transfers):
        starts = [str(one.transfers[place].table.get("start", "0s")) for one in studies]
        at = [seconds(text) for text in starts]
        found = spread_of(at[:3], QUANTILES)
        single = any(abs(at[3] - end) < 1e-9 for end in (at[0], at[2]))
        spread += at[0] != at[2]
        if found is None or not single:
            study.named.add(where, f"the start of {transfer.name} is drawn, and not uniform: the median is taken")
        elif at[0] != at[2]:
            transfer.table["start"] = found
    if spread > middle.draws:
        study.named.add(where, "several flows share a drawn start: here each draws its own")


def _fair_queues(study: Study) -> None:
    """Name flows that share a queue of SFQ or DRR in ns-2, or may share one here (either has its own map)."""
    for name, table in study.queues.items():
        if table.get("aqm") not in ("sfq", "drr"):
            continue
        aqm, buckets = str(table["aqm"]), int(str(table["buckets"]))
        ends = [(study.numbers[one.from_], study.numbers[one.to]) for one in study.transfers]
        found = [fair_bucket(aqm, buckets, source, sink) for source, sink in ends]
        if len(set(found)) < len(found) or len(found) > buckets:
            place = next(wire.place for wire in study.wires if wire.queue == name)
            study.named.add(place, f"which flows share a queue of {aqm}, which ns-2 decides by addresses")


def _paths(study: Study) -> None:
    """Name flows for which several ways are the shortest, as ns-2 takes the one that its own order gives."""
    out: dict[str, list[str]] = {}
    for wire in study.wires:
        out.setdefault(wire.from_, []).append(wire.to)
    ways = {node: _ways(node, out) for node in {t.from_ for t in study.transfers} | {t.to for t in study.transfers}}
    for transfer in study.transfers:
        if max(ways[transfer.from_].get(transfer.to, 1), ways[transfer.to].get(transfer.from_, 1)) > 1:
            study.named.add(
                transfer.place, f"the flow {transfer.name} has several shortest ways: ns-2 may take another"
            )


def _ways(first: str, out: Mapping[str, list[str]]) -> dict[str, int]:
    """Return how many shortest ways lead from a node to each other one."""
    ways, far, level = {first: 1}, {first: 0}, [first]
    while level:
        following: dict[str, None] = {}
        for node in level:
            for end in out.get(node, []):
                if far.setdefault(end, far[node] + 1) == far[node] + 1:
                    ways[end] = ways.get(end, 0) + ways[node]
                    following[end] = None
        level = list(following)
    return ways


def text_of(study: Study, *, name: str, description: str) -> tuple[str, dict[int, str]]:
    """Write the scenario; with, by line of it, the line of the study that made what begins there."""
    lines = ["format = 1", f"name = {inline(name)}", f"description = {inline(description)}", ""]
    remarks = study.differences + study.notes
    lines += [f"# Not as in the original: {one_line(note)}." for note in remarks]
    lines += [""] if remarks else []
    lines += ["[run]", f"duration = {inline(time(study.duration_s))}"]
    if study.warmup_s:
        lines.append(f"warmup = {inline(time(study.warmup_s))}")
    shape = _Dumbbell.of(study)
    places: dict[int, str] = {}
    if shape is not None:
        lines += shape.lines()
    else:
        for wire, own in _links(study):
            places[len(lines) + 2] = wire.place
            lines += own
    for queue, table in study.queues.items():
        places[len(lines) + 2] = next((wire.place for wire in study.wires if wire.queue == queue), "")
        lines += ["", f"[queue.{queue}]", *_entries(table)]
    flows = shape.flows() if shape is not None else _explicit_flows(study)
    for flow in flows:
        named = next((one for one in study.transfers if _base(one.name) == _base(str(flow["name"]))), None)
        places[len(lines) + 2] = named.place if named else ""
        lines += ["", "[[flow]]", *_entries(flow)]
    renamed = {wire.handle: name for wire, name in (shape.names() if shape is not None else [])}
    for change, place in study.changes:
        link = str(change["link"])
        places[len(lines) + 2] = place
        lines += ["", "[[change]]", *_entries(change | {"link": renamed.get(link, _link_name(study, link))})]
    return "\n".join(lines) + "\n", places


def _wire(of: Recording, handle: str, nodes: dict[str, str], study: Study) -> Wire:
    own = of.objects[handle]
    kind, place = of.kind(own["queue"]), of.place(handle)
    now = {one.variable: one.value for one in of.changes if one.link == handle and one.at == 0}
    bits, delay = now.get("bandwidth_", float(own["rate"])), now.get("delay_", float(own["delay"]))
    of.settings(own["wire"]).without_effect("bandwidth_", "delay_")
    study.used |= {str(own["queue"]), str(own["wire"])}
    table = queue_table(kind, of.settings(own["queue"]), bits, place, study.named)
    same = (name for name, known in study.queues.items() if known == table)
    word = {"Queue/DropTail": "tail"}.get(kind, kind.removeprefix("Queue/").lower())
    queue = next(same, None) or _fresh(word, study.queues)
    study.queues[queue] = table
    return Wire(handle, nodes[own["from"]], nodes[own["to"]], bits, delay, queue, place)


IS_FILE = ("Application/FTP", "Source/FTP", "Application")
"""Applications that send what they are asked for at once."""
IGNORES = ("Agent/Null", "Agent/LossMonitor", "Agent/UDP")
"""Agents that do nothing with packets of UDP."""


def _flows(run: Recording, nodes: dict[str, str], study: Study) -> None:
    names: set[str] = set()
    pairs = list(run.connections)
    known = {sender for sender, _ in pairs}
    # Both ends of a connection of UDP may send.
    pairs += [(sink, sender) for sender, sink in pairs if sink not in known and run.kind(sink).startswith("Agent/UDP")]
    for agent in run.agents:
        told = _told(run, agent)
        if told and agent not in {one for pair in pairs for one in pair}:
            study.named.add(told[0].place, f"{run.kind(agent)} that is not connected")
    answers = Counter(sink for sender, sink in pairs if _told(run, sender))
    for sender, sink in pairs:
        told = _told(run, sender)
        if told and answers[sink] > 1 and run.kind(sink).startswith("Agent/TCP"):
            study.named.add(run.place(sink), f"{run.kind(sink)} of several senders, which answers the last one")
        if not told:
            if run.kind(sender) in VARIANTS:
                study.notes.append(f"the flow of {_shown(run, sender)}, which never starts, is left out")
            continue
        ends = [run.objects[agent].get("node") for agent in (sender, sink)]
        if None in ends:
            raise InputError(f"{run.place(sender)}: {_shown(run, sender)} is connected, but not attached to a node")
        if ends[0] == ends[1]:
            study.notes.append(f"the flow of {_shown(run, sender)}, whose ends share a node, passes no link")
            continue
        for table, handle in _tables(run, sender, sink, told, study):
            if "start" not in table and "active" not in table:
                continue
            label = _variable(run, handle) if handle != sender and len(_apps(told)) > 1 else ""
            name = _fresh(re.sub(r"[^A-Za-z0-9_-]", "-", label) or _flow_name(run, sender, table), names)
            names.add(name)
            study.transfers.append(Transfer(name, nodes[str(ends[0])], nodes[str(ends[1])], table, run.place(sender)))


def _apps(told: Sequence[Action]) -> list[str]:
    return list(dict.fromkeys(action.handle for action in told))


def _tables(run: Recording, sender: str, sink: str, told: Sequence[Action], study: Study) -> list[tuple[Table, str]]:
    """Return the flows of a connection, and the application or agent that each belongs to."""
    if run.kind(sender).startswith(("Agent/UDP", "Agent/CBR")):
        if run.kind(sink) not in IGNORES:
            study.named.add(run.place(sink), f"{run.kind(sink)} that gets packets of UDP: what it does is left out")
        found = []
        for app in _apps(told):
            own = [action for action in told if action.handle == app]
            if app == sender:
                sent = [action for action in own if action.what in ("send", "start", "produce")]
                for action in sent:
                    study.named.add(action.place, "packets that procedures send one by one are left out")
                continue
            own += [action for action in told if action.handle == sender and action.what == "detach"]
            periods = udp_periods(sorted(own, key=lambda action: action.at), study.named)
            table = udp_table(run, app, sender, periods, study.named)
            study.used |= {sender, sink, app} if table else set()
            found.append((table | times_of(periods, run.end) if table else {}, app))
        return found
    kept = []
    for app in _apps(told):
        if app == sender or run.kind(app) in IS_FILE:
            kept += [action for action in told if action.handle == app]
        else:
            study.named.add(run.place(app), f"{run.kind(app)} over TCP: its packets are left out")
    if not any(action.what != "detach" for action in kept):
        return []
    study.used |= {sender, sink, *_apps(kept)}
    table = tcp_table(run, sender, sink, study.named)
    if any(action.what == "detach" for action in _told(run, sink)):
        study.named.add(run.place(sink), f"detach-agent of {run.kind(sink)}: here it goes on")
    return [(table | tcp_times(run, sorted(kept, key=lambda action: action.at), sender, study.named), sender)]


def _told(run: Recording, agent: str) -> list[Action]:
    """Return the recorded commands of an agent, or of an application on it, in order of time."""
    return [a for a in run.actions if a.handle == agent or run.objects[a.handle].get("agent") == agent]


def _changes(of: Recording, study: Study) -> None:
    for change in of.changes:
        if change.at > 0 and change.link in of.links:
            is_rate = change.variable == "bandwidth_"
            key, text = ("rate", rate(change.value)) if is_rate else ("delay", time(change.value))
            study.changes.append(({"at": time(change.at), "link": change.link, key: text}, change.place))


def _links(study: Study) -> list[tuple[Wire, list[str]]]:
    """Write links one by one, both directions in one table where they are alike but for the queue."""
    found: list[tuple[Wire, list[str]]] = []
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
        found.append((wire, ["", "[[link]]", *_entries(table)]))
    return found


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
