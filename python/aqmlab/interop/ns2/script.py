"""A scenario as a script for ns-2 2.35.

The head says how to run it and names all differences; then come procedures (`procedures.tcl`), which no scenario
changes; then the scenario, a line a link and a flow, in the names of the scenario.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import Generic, TypeVar

from aqmlab.interop.differences import Semantic
from aqmlab.interop.escaping import tcl_word
from aqmlab.interop.formatting import WIDTH, comment, number, told
from aqmlab.interop.model import Model
from aqmlab.interop.ns2.flows import at_reset, flow_line, receiver, sender
from aqmlab.interop.ns2.queues import Ns2Queue, ns2_queue
from aqmlab.scenario.parts import UDP, Flow, Link
from aqmlab.scenario.routes import ShortestPaths, nodes_of

Item = TypeVar("Item")
Value = TypeVar("Value")
MOST_NODES = 300
"""With more nodes ns-2 takes long to find all routes, and the script has those that are needed."""


def script(model: Model, differences: Sequence[Semantic], name: str) -> str:
    """Write the script; `name` is its file's."""
    parts = [
        *_head(model, differences, name),
        *_procedures(),
        "",
        f"set duration {number(model.duration_s)}",
        f"set warmup {number(model.warmup_s)}",
        *_network(model),
        *_measured(model),
        *_flows(model),
        *_changes(model),
        "",
        "$ns run",
    ]
    return "\n".join(parts) + "\n"


def _head(model: Model, differences: Sequence[Semantic], name: str) -> Iterator[str]:
    yield from comment(model.about, "#")
    yield "#"
    yield f"#     ns {name} [SEED]"
    yield "#"
    yield from comment(
        "For ns-2 2.35, written by aqmlab. Prints quantity, place and value of each group of flows and each link, "
        "measured from the end of the warm-up to the end of the run.",
        "#",
    )
    yield from told(differences, "ns-2", "#")
    yield ""
    yield "set seed [expr {$argc > 0 ? [lindex $argv 0] : 1}]"


def _procedures() -> Iterator[str]:
    yield resources.files("aqmlab.interop.ns2").joinpath("procedures.tcl").read_text(encoding="utf-8").rstrip()


def _network(model: Model) -> Iterator[str]:
    kinds = _Kinds[Link, Ns2Queue]((link, link.queue, ns2_queue(link)) for link in model.links)
    yield ""
    yield "# Queues: class, limit_, variables."
    for name, own in kinds.named.items():
        settings = " ".join(f"{variable} {value}" for variable, value in own.settings.items())
        yield f"set queue({_index(name)}) {{{own.discipline} {own.limit} {{"
        yield from textwrap.wrap(settings, WIDTH - 4, initial_indent="    ", subsequent_indent="    ")
        yield "}}"
    yield ""
    yield "# Links: name, from, to, bit/s, s, queue."
    routes, by_hand = _routes(model)
    if by_hand:
        yield "$ns rtproto Manual"
    for link in model.links:
        ends = f"{tcl_word(link.from_)} {tcl_word(link.to)}"
        rate, delay = number(link.rate_bps), number(link.delay_s)
        yield f"link {tcl_word(link.name)} {ends} {rate} {delay} {tcl_word(kinds.name(link))}"
    if by_hand:
        yield ""
        yield "# Ways of flows and of their answers."
        yield from routes


def _routes(model: Model) -> tuple[list[str], bool]:
    """Write the ways of all flows, and whether ns-2 needs them."""
    known = ShortestPaths(model.links)
    pairs = {
        pair: None
        for flow in model.flows
        if flow.path
        for pair in [(flow.from_, flow.to), (flow.to, flow.from_)]
        if pair == (flow.from_, flow.to) or flow.is_tcp
    }
    by_hand = len(model.nodes) > MOST_NODES or not all(known.only(*pair) for pair in pairs)
    if not by_hand:
        return [], False
    paths = (nodes_of(known.path(*pair)) for pair in pairs)
    return [f"route {{{' '.join(map(tcl_word, nodes))}}}" for nodes in paths if nodes], True


def _measured(model: Model) -> Iterator[str]:
    yield ""
    yield "# The queues that are measured."
    yield f"measure {{{' '.join(tcl_word(name) for name in model.measured)}}}"


def _flows(model: Model) -> Iterator[str]:
    tcp = [flow for flow in model.flows if flow.is_tcp]
    kinds = _Kinds[Flow, str]((flow, flow.group, _ends_of_tcp(flow)) for flow in tcp)
    if tcp:
        yield ""
        yield "# Senders and receivers: class, variables."
        for name, text in kinds.named.items():
            yield text.replace("KIND", _index(name))
    yield ""
    yield "# Flows. tcp: name, group, kind, from, to, start, packets (-1: no end), stop (-1: never)."
    yield "#        udp: name, group, from, to, bit/s, bytes, their mean, pattern, begin and end of each period."
    for flow in model.flows:
        yield flow_line(flow, "" if flow.transport == UDP else kinds.name(flow))
        if line := at_reset(flow):
            yield line


def _ends_of_tcp(flow: Flow) -> str:
    lines: list[str] = []
    for what, make in (("sender", sender), ("receiver", receiver)):
        name, settings = make(flow)
        text = " ".join(f"{variable} {value}" for variable, value in settings.items())
        wrapped = textwrap.wrap(text, WIDTH - 4, initial_indent="    ", subsequent_indent="    ")
        lines += [f"set {what}(KIND) {{{name} {{", *wrapped, "}}"]
    return "\n".join(lines)


def _changes(model: Model) -> Iterator[str]:
    if not model.changes:
        return
    yield ""
    yield "# Changes of links: time, link, bit/s, s (-1: as before)."
    for change in model.changes:
        values = ("-1" if value is None else number(value) for value in (change.rate_bps, change.delay_s))
        yield f"change {number(change.at_s)} {tcl_word(change.link)} {' '.join(values)}"


def _index(name: str) -> str:
    """Write a name as the index of an array."""
    return "".join(c if c.isalnum() or c in "-_.>" else "_" for c in name)


class _Kinds(Generic[Item, Value]):
    """Items with a value each, so named that those with the same name have the same value.

    The first value of a name has the name itself, others have it with a number.
    """

    def __init__(self, items: Iterable[tuple[Item, str, Value]]) -> None:
        self.named: dict[str, Value] = {}
        self._names: dict[int, str] = {}
        seen: dict[tuple[str, str], str] = {}
        counts: dict[str, int] = {}
        for item, wanted, value in items:
            key = (wanted, repr(value))
            if key not in seen:
                counts[wanted] = counts.get(wanted, 0) + 1
                seen[key] = _index(wanted) + (f".{counts[wanted]}" if counts[wanted] > 1 else "")
                self.named[seen[key]] = value
            self._names[id(item)] = seen[key]

    def name(self, item: Item) -> str:
        """Return the name that an item got."""
        return self._names[id(item)]
