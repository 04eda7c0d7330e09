"""A scenario as a program for ns-3 3.37.

The head says how to compile and run it, and names all differences; then comes what no scenario changes (`FRAME`);
then the scenario, a statement a link and a flow, in the names of the scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources

from aqmlab.interop.differences import Semantic
from aqmlab.interop.escaping import c_identifier, c_string
from aqmlab.interop.formatting import comment, flag, number, told
from aqmlab.interop.model import Change, Model
from aqmlab.interop.ns3.build import command
from aqmlab.interop.ns3.flows import IP_AND_UDP, packet_bytes, size_bytes, tcp_of
from aqmlab.interop.ns3.formatting import attributes, distribution, rate, seconds, wrapped
from aqmlab.interop.ns3.queues import Disc, disc_of
from aqmlab.scenario.parts import UDP, Flow, Link, mean_of

FRAME = ("measuring", "network", "windows", "cubic", "tcp", "udp")
"""Parts that are the same for every scenario; one without CUBIC has no `cubic`."""
FRAMING = 2
"""Bytes that a point-to-point device adds to every packet."""
INDENT = "    "


def program(model: Model, differences: Sequence[Semantic], name: str) -> str:
    """Write the program; `name` is its file's."""
    home = resources.files("aqmlab.interop.ns3")
    parts = [part for part in FRAME if part != "cubic" or _has_cubic(model)]
    frame = "".join(home.joinpath(f"{part}.cc").read_text(encoding="utf-8") for part in parts)
    body = [*_start(model), *_defaults(model), *_network(model), *_flows(model), *_changes(model)]
    lines = [*_head(model, differences, name), frame, "int", "main(int argc, char* argv[])", "{"]
    return "\n".join([*lines, *(INDENT + line if line else "" for line in body), "}"]) + "\n"


def _head(model: Model, differences: Sequence[Semantic], name: str) -> Iterator[str]:
    yield from comment(model.about, "//")
    yield "//"
    words = command(name)
    yield f"//     {' '.join(words[: len(words) // 2])} \\"
    yield f"//         {' '.join(words[len(words) // 2 :])}"
    yield f"//     ./{name.removesuffix('.cc')} --seed=1"
    yield "//"
    yield from comment(
        "For ns-3 3.37, written by aqmlab. Prints quantity, place and value of each group of flows and each link, "
        "measured from the end of the warm-up to the end of the run.",
        "//",
    )
    yield from told(differences, "ns-3", "//")
    yield ""


def _start(model: Model) -> Iterator[str]:
    yield "uint64_t seed = 1;"
    yield "bool hidden = false;"
    yield "CommandLine line(__FILE__);"
    yield 'line.AddValue("seed", "number of the run: its random numbers", seed);'
    yield 'line.AddValue("hidden", "leave a packet in the device, below the queue disc", hidden);'
    yield 'line.AddValue("growthAtExit", "let windows grow by what ends a recovery", g_growthAtExit);'
    yield 'line.AddValue("beyondThreshold", "let slow start of CUBIC end above its threshold", g_beyondThreshold);'
    yield 'line.AddValue("markTwice", "let PRR count what begins a reduction for a mark twice", g_markTwice);'
    if _has_cubic(model):
        yield 'line.AddValue("keepsCount", "let CUBIC use up what it counted at the plateau", g_keepsCount);'
    yield "line.Parse(argc, argv);"
    yield "RngSeedManager::SetRun(seed);"
    yield f"g_from = {number(model.warmup_s)};"
    yield f"g_end = {number(model.duration_s)};"


def _has_cubic(model: Model) -> bool:
    return any(flow.parameters.get("congestion_control") == "cubic" for flow in model.flows)


def _defaults(model: Model) -> Iterator[str]:
    known = {pair for flow in model.flows if flow.is_tcp for pair in tcp_of(flow).defaults}
    for name, value in sorted(known):
        yield f"Config::SetDefault({c_string(name)}, StringValue({c_string(value)}));"


def _network(model: Model) -> Iterator[str]:
    discs: dict[Disc, str] = {}
    for link in model.links:
        if (disc := disc_of(link)) not in discs:
            same = sum(name.startswith(f"queue {link.queue}") for name in discs.values())
            discs[disc] = f"queue {link.queue}" + (f" {same + 1}" if same else "")
    names: dict[Disc, str] = {}
    for disc, name in discs.items():
        names[disc] = c_identifier(name, taken=names.values())
    yield ""
    yield "// Queues: type and attributes."
    for disc, name in names.items():
        yield f"const DiscKind {name} = {{"
        yield f"{INDENT}{c_string(disc.kind)},"
        first, *further = attributes(dict(disc.attributes), indent=INDENT).splitlines()
        lines = [f"{INDENT}{{{first.strip()}", *(f" {line}" for line in further)]
        yield from [*lines[:-1], f"{lines[-1]}}}}};"]
    yield ""
    yield "// Links: name and name of the other direction, from, to, delay; rate and queue of both directions."
    yield "Network network(hidden);"
    wide = _packets(model)
    for link, other in _pairs(model):
        words = [c_string(link.name), c_string(other.name), c_string(link.from_), c_string(link.to)]
        words.append(c_string(seconds((link.delay_s + other.delay_s) / 2)))
        words += [f"{c_string(_rate(one, wide))}, {names[disc_of(one)]}" for one in (link, other)]
        yield from _call("network.Join", words)
    yield ""
    yield "// What is measured."
    for name in model.measured:
        yield f"network.Measure({c_string(name)});"


def _pairs(model: Model) -> Iterator[tuple[Link, Link]]:
    """Return both directions of each link, in the core's order."""
    known = {(link.from_, link.to): link for link in model.links}
    done: set[str] = set()
    for link in model.links:
        other = known.get((link.to, link.from_), link)
        if link.name not in done:
            done |= {link.name, other.name}
            yield link, other


def _packets(model: Model) -> dict[str, int]:
    """Bytes of a full packet of the first flow over each link."""
    found: dict[str, int] = {}
    for flow in model.flows:
        for name in flow.path:
            found.setdefault(name, packet_bytes(flow))
    return found


def _rate(link: Link, packets: dict[str, int]) -> str:
    size = packets.get(link.name)
    return rate(link.rate_bps * (size + FRAMING) / size if size else link.rate_bps)


def _flows(model: Model) -> Iterator[str]:
    yield ""
    yield "// Flows. TCP: group, packet over payload, congestion control, recovery, attributes of the sockets;"
    yield "// from, to, bytes (0: without end), periods in which there is data."
    yield "// UDP: group, packet over payload, headers, packet, seconds from packet to packet, Poisson, on, off;"
    yield "// from, to, periods."
    yield "const double never = std::numeric_limits<double>::infinity();"
    yield "Traffic traffic;"
    kinds: dict[str, str] = {}
    for flow in model.flows:
        text = _udp(flow) if flow.transport == UDP else _tcp(flow)
        if text not in kinds:
            name = f"flow {flow.group}" + (f" {len(kinds)}" if len(kinds) else "")
            kinds[text] = c_identifier(name, taken=kinds.values())
            yield f"const {'UdpKind' if flow.transport == UDP else 'TcpKind'} {kinds[text]} = {text};"
        words = [kinds[text], f"network.At({c_string(flow.from_)})", f"network.At({c_string(flow.to)})"]
        if flow.is_tcp:
            size = size_bytes(flow)
            words.append(f"Drawn({c_string(distribution(size))})" if isinstance(size, dict) else number(size))
        yield from _call("traffic.Start", [*words, _periods(flow)])
    yield ""


def _tcp(flow: Flow) -> str:
    kind = tcp_of(flow)
    words = [c_string(flow.group), f"{kind.packet}.0 / {kind.segment}", c_string(kind.control), c_string(kind.recovery)]
    first, *further = attributes(dict(kind.attributes), indent=2 * INDENT).splitlines()
    lines = [f"{{{', '.join(words)},", f"{2 * INDENT}{{{first.strip()}", *(f" {line}" for line in further)]
    return "\n".join(lines) + "}}"


def _udp(flow: Flow) -> str:
    own = flow.parameters
    size = mean_of(own["packet_size"])
    pattern = own["pattern"] if isinstance(own["pattern"], dict) else {}
    words = [
        c_string(flow.group),
        f"{float(size)} / {float(size - IP_AND_UDP)}",
        str(IP_AND_UDP),
        c_string(distribution(own["packet_size"])),
        number(size * 8 / float(own["rate_bps"])),
        flag(own["pattern"] == "poisson"),
        *(c_string(distribution(pattern[key]) if pattern else "") for key in ("on", "off")),
    ]
    return f"{{\n{wrapped(words, indent=2 * INDENT)}}}"


def _periods(flow: Flow) -> str:
    first, last = flow.start_s
    start = number(first) if first == last else f"Drawn({c_string(distribution({'uniform': [first, last]}))})"
    periods = [(start, flow.stop_s), *((number(begin), end) for begin, end in flow.again)]
    return f"{{{', '.join(f'{{{begin}, {_end(end)}}}' for begin, end in periods)}}}"


def _end(end: float | None) -> str:
    return "never" if end is None or end == float("inf") else number(end)


def _changes(model: Model) -> Iterator[str]:
    if model.changes:
        yield "// Changes of links: time, link, attribute, value."
    for change in model.changes:
        for attribute, value in _changed(model, change):
            yield f'network.Change({number(change.at_s)}, {c_string(change.link)}, "{attribute}", {c_string(value)});'
    yield "RunAndTell(network);"
    yield "return 0;"


def _changed(model: Model, change: Change) -> Iterator[tuple[str, str]]:
    if change.rate_bps is not None:
        size = _packets(model).get(change.link)
        yield "DataRate", rate(change.rate_bps * (size + FRAMING) / size if size else change.rate_bps)
    if change.delay_s is not None:
        yield "Delay", seconds(change.delay_s)


def _call(function: str, words: Sequence[str]) -> Iterator[str]:
    """Write a call, in several lines if it is long."""
    first, *further = wrapped(words, indent=INDENT).splitlines()
    yield f"{function}({first.strip()}{'' if further else ');'}"
    for number_of, line in enumerate(further, start=1):
        yield line + (");" if number_of == len(further) else "")
