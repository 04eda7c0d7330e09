"""A recorded study, put together: its links, queues and flows, and what of them is not as in the study."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from aqmlab.errors import InputError, one_line, unused
from aqmlab.interop.importing.diffserv import Commands, queue_tables
from aqmlab.interop.importing.ns2_study import (
    TWO_WAY,
    VARIANTS,
    Table,
    fair_bucket,
    payload_of,
    queue_table,
    spread_of,
    tcp_table,
    tcp_times,
    times_of,
    udp_periods,
    udp_table,
)
from aqmlab.interop.importing.over_tcp import Way, is_read, supply
from aqmlab.interop.importing.quantities import rate, time
from aqmlab.interop.importing.recording import QUANTILES, Action, Recording
from aqmlab.interop.importing.study import Study, Transfer, Wire
from aqmlab.interop.ns2.quantities import seconds
from aqmlab.scenario.parts import UDP

WARMUPS = ("warmup", "warmup_", "warm_up", "warmuptime", "warmup_time")


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
    study.notes += study.named.notes
    if not study.transfers:
        raise InputError(_no_flow(study, middle, filename))
    return study


def _no_flow(study: Study, run: Recording, filename: str) -> str:
    """Return why a study has no flow: its first differences, otherwise the missing part."""
    reasons = study.differences[:3]
    if reasons:
        return f"{filename}: no flow is read: " + "; ".join(one_line(one) for one in reasons)
    agents = [run.kind(one) for one in run.agents if not run.kind(one).startswith(("Agent/Null", "Agent/TCPSink"))]
    if not agents:
        return f"{filename}: no flow is read: the study has no agent that sends"
    if not run.connections:
        return f"{filename}: no flow is read: no agents are connected ({', '.join(dict.fromkeys(agents))})"
    kinds = ", ".join(dict.fromkeys(agents))
    return f"{filename}: no flow is read: no application is attached to an agent and starts ({kinds})"


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
    _marks(study)
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


def _wire(of: Recording, handle: str, nodes: dict[str, str], study: Study) -> Wire:
    own, place = of.objects[handle], of.place(handle)
    now = {one.variable: one.value for one in of.changes if one.link == handle and one.at == 0}
    bits, delay = now.get("bandwidth_", float(own["rate"])), now.get("delay_", float(own["delay"]))
    of.settings(own["wire"]).without_effect("bandwidth_", "delay_")
    study.used |= {str(own["queue"]), str(own["wire"])}
    queue = _queue(of, handle, bits, study)
    return Wire(handle, nodes[own["from"]], nodes[own["to"]], bits, delay, queue, place)


def _queue(of: Recording, link: str, bits: float, study: Study) -> str:
    """Add the tables of a link's queue, and return its name."""
    handle, place = str(of.objects[link]["queue"]), of.place(link)
    kind, own = of.kind(handle), of.settings(handle)
    word = {"Queue/DropTail": "tail"}.get(kind, kind.removeprefix("Queue/").lower().replace("/", "-"))
    name = unused(word, study.queues)
    if kind.startswith("Queue/dsRED"):
        told = Commands.of(of.objects[handle].get("diffserv", []))
        tables = dict(queue_tables(told, own, place, name, study.named))
        if told.policies:
            study.policies[link] = told.policies
    else:
        tables = {name: queue_table(kind, own, bits, place, study.named)}
    same = (known for known, table in study.queues.items() if table == tables[name])
    if len(tables) == 1 and (queue := next(same, None)):
        return queue
    study.queues |= tables
    return name


def _marks(study: Study) -> None:
    """Find which policies mark each flow, and name what of them is not as in the study."""
    for transfer in study.transfers:
        source, sink = study.numbers[transfer.from_], study.numbers[transfer.to]
        marks = []
        for wire in study.path(transfer.from_, transfer.to):
            policies = study.policies.get(wire.handle)
            if policies is None:
                continue
            own = next((n for n, one in enumerate(policies) if one.is_for(source, sink)), None)
            if own is None or policies[own].marker is None:
                study.named.add(wire.place, f"no policy of Queue/dsRED/edge for {transfer.name}: it is not marked")
            elif policies[own].marker:
                marks.append((wire.handle, own))
            else:
                transfer.table["dscp"] = policies[own].dscp
        study.marks[transfer.name] = tuple(marks)
        back = study.path(transfer.to, transfer.from_) if transfer.table.get("transport") != UDP else []
        if any("class" in study.queues[wire.queue] for wire in back):
            study.named.add(
                transfer.place,
                f"acknowledgements of {transfer.name} pass Queue/dsRED: here they have no code point of their own",
            )


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
            if run.kind(sender) not in (*VARIANTS, *TWO_WAY, *IGNORES):
                raise InputError(f"{run.place(sender)}: {run.kind(sender)} is not read")
            raise InputError(f"{run.place(sender)}: {_shown(run, sender)} is connected, but not attached to a node")
        if ends[0] == ends[1]:
            study.notes.append(f"the flow of {_shown(run, sender)}, whose ends share a node, passes no link")
            continue
        for table, handle in _tables(run, sender, sink, told, study):
            if "start" not in table and "active" not in table:
                continue
            label = _variable(run, handle) if handle != sender and len(_apps(told)) > 1 else ""
            name = unused(re.sub(r"[^A-Za-z0-9_-]", "-", label) or _flow_name(run, sender, table), names)
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
    files = [app for app in _apps(told) if app == sender or run.kind(app) in IS_FILE]
    others = [app for app in _apps(told) if app not in files and is_read(run.kind(app))]
    for app in _apps(told):
        if app not in (*files, *others):
            study.named.add(run.place(app), f"{run.kind(app)} over TCP: its packets are left out")
    if others and (files or len(others) > 1):
        study.named.add(run.place(others[0]), "several applications over one TCP: only one of them is read")
    read = files or others[:1]
    kept = sorted((action for action in told if action.handle in read), key=lambda action: action.at)
    if not any(action.what != "detach" for action in kept):
        return []
    study.used |= {sender, sink, *read}
    table = tcp_table(run, sender, sink, study.named)
    if any(action.what == "detach" for action in _told(run, sink)):
        study.named.add(run.place(sink), f"detach-agent of {run.kind(sink)}: here it goes on")
    if files:
        return [(table | tcp_times(run, kept, sender, study.named), sender)]
    supplied = supply(run, read[0], payload_of(run, sender), _way(run, sender, sink, study), study.named)
    periods = udp_periods(kept, study.named)
    times = times_of(periods, run.end)
    if supplied and "active" in times:
        study.named.add(run.place(read[0]), f"{run.kind(read[0])} over TCP stops and starts: here it goes on")
        times = {"start": time(periods[0][0])}
    return [(table | times | supplied, sender)]


def _way(run: Recording, sender: str, sink: str, study: Study) -> Way:
    """Return what an empty network gives to a connection."""
    names = {number: name for name, number in study.numbers.items()}
    first, last = (names[int(run.objects[str(run.objects[one]["node"])]["id"])] for one in (sender, sink))
    there, back = study.path(first, last), study.path(last, first)
    packet = 8 * (payload_of(run, sender) + 40)
    round_trip = sum(wire.delay_s + packet / wire.rate_bps for wire in there) + sum(wire.delay_s for wire in back)
    return Way(packet, min((wire.rate_bps for wire in there), default=math.inf), round_trip)


def _told(run: Recording, agent: str) -> list[Action]:
    """Return the recorded commands of an agent, or of an application on it, in order of time."""
    return [a for a in run.actions if a.handle == agent or run.objects[a.handle].get("agent") == agent]


def _changes(of: Recording, study: Study) -> None:
    for change in of.changes:
        if change.at > 0 and change.link in of.links:
            is_rate = change.variable == "bandwidth_"
            key, text = ("rate", rate(change.value)) if is_rate else ("delay", time(change.value))
            study.changes.append(({"at": time(change.at), "link": change.link, key: text}, change.place))


def _node_names(of: Recording) -> dict[str, str]:
    nodes = [handle for handle, own in of.objects.items() if own["class"] == "Node"]
    nodes.sort(key=lambda handle: int(handle.removeprefix("_o")))
    found: dict[str, str] = {}
    for handle in nodes:
        taken = set(found.values())
        found[handle] = unused(_variable(of, handle) or f"n{len(found)}", taken)
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
