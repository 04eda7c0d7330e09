"""The scenario file of a study: a dumbbell where its network is one, else its links one by one.

A network is a dumbbell if two routers are joined, every other node hangs on one of them, and is the end of one flow.
Then flows that are alike become one ``[[flow]]`` table with a count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aqmlab.errors import one_line, unused
from aqmlab.interop.importing.bottleneck import head
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import rate, time
from aqmlab.interop.importing.study import Study, Transfer, Wire
from aqmlab.scenario.toml_text import Value, entries, inline


def text_of(study: Study, *, name: str, description: str) -> tuple[str, dict[int, str]]:
    """Write the scenario; with, by line of it, the line of the study that made what begins there."""
    lines = head(name, description)
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
        lines += _queue_lines(queue, table)
    flows = shape.flows() if shape is not None else _explicit_flows(study)
    for flow in flows:
        named = next((one for one in study.transfers if _base(one.name) == _base(str(flow["name"]))), None)
        places[len(lines) + 2] = named.place if named else ""
        lines += ["", "[[flow]]", *entries(flow)]
    renamed = {wire.handle: name for wire, name in (shape.names() if shape is not None else [])}
    for number, marker in enumerate(_markers(study, renamed), 1):
        lines += ["", f"[marker.m{number}]", *entries(marker)]
    for change, place in study.changes:
        link = str(change["link"])
        places[len(lines) + 2] = place
        lines += ["", "[[change]]", *entries(change | {"link": renamed.get(link, _link_name(study, link))})]
    return "\n".join(lines) + "\n", places


def _queue_lines(name: str, table: Table) -> list[str]:
    """Write a queue, with a table for each of its classes."""
    classes = table.get("class", ())
    lines = ["", f"[queue.{name}]", *entries({key: value for key, value in table.items() if key != "class"})]
    for one in classes if isinstance(classes, Sequence) else ():
        if isinstance(one, Mapping):
            lines += ["", f"[[queue.{name}.class]]", *entries(one)]
    return lines


def _markers(study: Study, renamed: dict[str, str]) -> list[Table]:
    """Write the policies that measure flows: those of a policy share its meter."""
    groups: dict[tuple[str, int], dict[str, None]] = {}
    count: Counter[tuple[str, int]] = Counter()
    for transfer in study.transfers:
        for mark in study.marks.get(transfer.name, ()):
            groups.setdefault(mark, {})[study.groups[transfer.name]] = None
            count[mark] += 1
    found = []
    for (link, policy), flows in groups.items():
        table: Table = {"link": renamed.get(link, _link_name(study, link)), "flows": list(flows)}
        table |= {"per": "group"} if count[link, policy] > 1 else {}
        found.append(table | (study.policies[link][policy].marker or {}))
    return found


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
        table |= _in_service(study, wire, other)
        table["queue"] = wire.queue
        if other is not None and (other.rate_bps, other.delay_s) == (wire.rate_bps, wire.delay_s):
            done.add(other.handle)
            table["reverse_queue"] = other.queue
        else:
            table["duplex"] = False
        found.append((wire, ["", "[[link]]", *entries(table)]))
    return found


def _in_service(study: Study, *wires: Wire | None) -> Table:
    """Return the reading of ns-2 for links whose rate changes."""
    changed = {change["link"] for change, _ in study.changes if "rate" in change}
    return {"in_service": "as-started"} if any(wire and wire.handle in changed for wire in wires) else {}


def _link_name(study: Study, handle: str) -> str:
    wire = next(wire for wire in study.wires if wire.handle == handle)
    return f"{wire.from_}->{wire.to}"


def _explicit_flows(study: Study) -> list[Table]:
    """Write flows between the same ends that are alike as one table."""

    def key(one: Transfer) -> str:
        return repr((one.from_, one.to, _alike(one.table), study.marks.get(one.name)))

    return [_group(name, own, {"from": own[0].from_, "to": own[0].to}) for name, own in _named(study, key).items()]


def _named(study: Study, key: Callable[[Transfer], str]) -> dict[str, list[Transfer]]:
    """Return the flows that share a key by the name of their table, and record these names in the study."""
    groups: dict[str, list[Transfer]] = {}
    for transfer in study.transfers:
        groups.setdefault(key(transfer), []).append(transfer)
    found: dict[str, list[Transfer]] = {}
    for transfers in groups.values():
        name = unused(_base(transfers[0].name) if len(transfers) > 1 else transfers[0].name, found)
        found[name] = transfers
        study.groups |= {transfer.name: name for transfer in transfers}
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
        return ["", "[dumbbell]", *entries({"bottleneck": self._trunk(), **self._usual()})]

    def names(self) -> list[tuple[Wire, str]]:
        """Names that the scenario's links have."""
        first, second = self.routers
        found = {(first, second): "bottleneck", (second, first): "bottleneck.reverse"}
        return [(wire, found[wire.from_, wire.to]) for wire in self.study.wires if (wire.from_, wire.to) in found]

    def flows(self) -> list[Table]:
        """Write the flows, those that are alike as one table."""
        usual = self._usual()
        found = []
        for name, transfers in _named(self.study, self._key).items():
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
        marks = self.study.marks.get(transfer.name)
        return repr((_base(transfer.name), _alike(transfer.table), marks, self._goes_right(transfer), hosts))

    def _goes_right(self, transfer: Transfer) -> bool:
        return self.to_router[transfer.from_].to == self.routers[0]

    def _hosts(self, transfer: Transfer) -> tuple[str, str]:
        """The left host and the right one."""
        ends = (transfer.from_, transfer.to)
        return ends if self._goes_right(transfer) else (ends[1], ends[0])

    def _host(self, host: str) -> dict[str, Value]:
        up, down = self.to_router[host], self.to_host[host]
        found: dict[str, Value] = {"rate": rate(up.rate_bps), "delay": time(up.delay_s), "queue": down.queue}
        found |= _in_service(self.study, up, down)
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
        } | _in_service(self.study, there, back)


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
    """Return the keys that flows of a group share: all but a fixed start."""
    return {key: value for key, value in table.items() if key != "start" or not isinstance(value, str)}


def _base(name: str) -> str:
    """The name of a group of flows: without a number at the end.

    >>> _base("tcp.12"), _base("tcp3"), _base("voice")
    ('tcp', 'tcp', 'voice')
    """
    return re.sub(r"[.\-_]?\d+$", "", name) or name
