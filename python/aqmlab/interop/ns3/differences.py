"""Features of a scenario that ns-3 3.37 lacks or implements differently."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.interop.differences import Kind, Semantic, in_service, unwritten
from aqmlab.interop.model import NS2_PROFILE, Model
from aqmlab.interop.ns3.flows import CONTROLS, HEADERS, NS2_VARIANTS, PAUSING_BUFFER, TIMESTAMPS, header_bytes, tcp_of
from aqmlab.interop.ns3.queues import queue_differences
from aqmlab.scenario.parts import UDP, Flow
from aqmlab.scenario.routes import ShortestPaths

GROWTH = "growth at the end of recovery"
"""The one difference that moves results most; the program has a switch for it."""


def differences(model: Model) -> list[Semantic]:
    """Name all of them, each once."""
    found = [*_queues(model), *_network(model), *_flows(model), *_changes(model)]
    return list(dict.fromkeys(found))


def _queues(model: Model) -> Iterator[Semantic]:
    for link in model.queues.values():
        yield from queue_differences(link)


def _network(model: Model) -> Iterator[Semantic]:
    text = (
        "A device of ns-3 takes one packet more than it sends, which no queue disc sees. The program stops the device "
        "while it sends, so that all waiting packets are in the queue disc; --hidden=true leaves the device as it is."
    )
    yield Semantic("hidden device queue", text, Kind.DIFFERS)
    text = (
        "A point-to-point device adds 2 bytes to every packet. Its rate is raised so that a full packet of the "
        "first flow "
        "over the link takes the scenario's time."
    )
    yield Semantic("framing", text, Kind.DIFFERS)
    if any(link.token_bucket or link.framing for link in model.links):
        text = "A link of the program has a constant rate, without token bucket and overhead of the wire."
        yield Semantic("shapers", text, Kind.INEXPRESSIBLE)
    if model.scenario.markers:
        yield Semantic("markers", "The program has no DiffServ markers.", Kind.INEXPRESSIBLE)
    yield from unwritten(model, "ns-3")
    ends = {(link.from_, link.to): link for link in model.links}
    if len(ends) < len(model.links):
        yield Semantic("parallel links", "The program joins two nodes once.", Kind.INEXPRESSIBLE)
    pairs = [(link, ends.get((link.to, link.from_))) for link in model.links]
    if any(other is None for _, other in pairs):
        yield Semantic("links of one direction", "A channel of ns-3 has two directions.", Kind.INEXPRESSIBLE)
    if any(other is not None and other.delay_s != link.delay_s for link, other in pairs):
        text = "A channel of ns-3 has one delay; both directions get half of their sum."
        yield Semantic("delays of two directions", text, Kind.DIFFERS)
    routes = ShortestPaths(model.links)
    ways = {(flow.from_, flow.to) for flow in model.flows if flow.path}
    if not all(routes.only(*way) and routes.only(*reversed(way)) for way in ways):
        text = "There are several shortest paths; ns-3 may choose another."
        yield Semantic("routes", text, Kind.DIFFERS)


def _flows(model: Model) -> Iterator[Semantic]:
    for group, flows in model.groups.items():
        first, name = flows[0], f"flow.{group}"
        if not all(flow.path for flow in flows):
            text = f"{name}: its ends are drawn in every run; name them with from and to."
            yield Semantic("random ends", text, Kind.INEXPRESSIBLE)
        if any(flow.dscp for flow in flows):
            yield Semantic("code points", f"{name}: the program's packets carry no code points.", Kind.LEFT_OUT)
        if first.transport == UDP:
            continue
        if not first.is_tcp:
            yield Semantic("transport", f'{name}: ns-3 has no "{first.transport}".', Kind.INEXPRESSIBLE)
            continue
        yield from _packets(first, name)
        if first.stop_s is not None or first.again:
            text = (
                f"{name}: what is in the send buffer (the window, at most {PAUSING_BUFFER >> 10} KiB) when the flow "
                "stops is still sent."
            )
            yield Semantic("end of data", text, Kind.DIFFERS)
        yield from _of_ns2(first, name) if first.parameters["profile"] == NS2_PROFILE else _of_rfc(first, name)
    known = {tcp_of(flow).defaults for flow in model.flows if _written(flow)}
    if len({own for own in known if own}) > 1:
        text = "Flows differ in hystart, fast_convergence or pacing, which ns-3 has once for all."
        yield Semantic("settings of all flows", text, Kind.INEXPRESSIBLE)


def _written(flow: Flow) -> bool:
    if flow.parameters.get("profile") != NS2_PROFILE and flow.parameters.get("congestion_control") not in CONTROLS:
        return False
    return flow.is_tcp and flow.transport != "tahoe"


def _packets(flow: Flow, name: str) -> Iterator[Semantic]:
    own = flow.parameters
    acks = HEADERS + (TIMESTAMPS if own["timestamps"] else 0)
    if own["ack_size"] != acks:
        text = f"{name}: ns-3's acknowledgements have {acks} bytes (and SACK blocks), not {own['ack_size']}."
        yield Semantic("length of acknowledgements", text, Kind.DIFFERS)
    if own["header"] != header_bytes(flow) and own["profile"] != NS2_PROFILE:
        text = (
            f"{name}: ns-3's headers have {header_bytes(flow)} bytes; segments are so long that packets are the same."
        )
        yield Semantic("headers", text, Kind.DIFFERS)


def _of_rfc(flow: Flow, name: str) -> Iterator[Semantic]:
    own = flow.parameters
    if own["congestion_control"] not in CONTROLS:
        text = (
            f'{name}: congestion_control "{own["congestion_control"]}" is not written (there: {", ".join(CONTROLS)}).'
        )
        yield Semantic("congestion control", text, Kind.INEXPRESSIBLE)
        return
    text = (
        f"{name}: ns-3 lets the window grow by all that the acknowledgement ending a recovery acknowledges, so "
        "that Reno "
        "goes on with a segment more than half; --growthAtExit=false does without."
    )
    yield Semantic(GROWTH, text, Kind.DIFFERS)
    text = f"{name}: ns-3's windows grow when they are not full, too, and are never validated (RFC 7661)."
    yield Semantic("windows not full", text, Kind.DIFFERS)
    rules = {
        "loss detection": (
            own["rack"] or "loss_detection" in own,
            "ns-3 counts (RFC 6675), without RACK, tail loss probes and QUIC (rack = false)",
        ),
        "undo": (
            own["undo"] or own["frto"],
            "ns-3 does not undo spurious reductions (undo = false, frto = false)",
        ),
        "acknowledgement ratio": (own["ack_ratio"] != 2, 'ns-3 answers every second segment (ack_ratio = "2p")'),
        "quick acknowledgements": (own["quick_acks"], 'ns-3 delays from the start on (quick_acks = "0p")'),
        "sack compression": (
            own["sack"],
            "ns-3 acknowledges data out of order at once (sack_compression as short as can be)",
        ),
        "reduction bound": (
            own["prr"],
            "ns-3's PRR lets as much be sent as has arrived until a repair is acknowledged (prr = false goes without)",
        ),
        "whole segments": (not own["whole_segments"], "ns-3 counts whole segments (whole_segments = true)"),
        "restart after a pause": (own["idle_restart"] and flow.again, "ns-3 does not restart (idle_restart = false)"),
    }
    if own["congestion_control"] == "cubic":
        text = (
            f"{name}: in slow start the window of ns-3.37's CUBIC grows by all that an acknowledgement "
            "acknowledges, beyond the threshold: behind a time-out by the whole window at once; "
            "--beyondThreshold=false stops at the threshold."
        )
        yield Semantic("slow start beyond the threshold", text, Kind.DIFFERS)
        rules["Reno-friendly region"] = (own["tcp_friendly"], "ns-3.37's CUBIC has none (tcp_friendly = false)")
        rules["HyStart++"] = (own["hystart"] == "rfc9406", 'ns-3 has HyStart of 2011 (hystart = "linux")')
    for what, (differs, text) in rules.items():
        if differs:
            yield Semantic(what, f"{name}: {text}.", Kind.DIFFERS)


def _of_ns2(flow: Flow, name: str) -> Iterator[Semantic]:
    if flow.transport not in NS2_VARIANTS:
        yield Semantic("transport", f'{name}: ns-3 has no "{flow.transport}".', Kind.INEXPRESSIBLE)
        return
    text = (
        f"{name}: flows of the profile ns2-2.35 count packets, have no handshake and clocks that tick; ns-3's nearest "
        f"({tcp_of(flow).control.removeprefix('ns3::')}) counts bytes and shakes hands. "
        "Agreement is not to be expected beyond some percent."
    )
    yield Semantic("transport profile", text, Kind.DIFFERS)
    if flow.transport == "reno":
        text = f"{name}: ns-3 has no Reno that leaves recovery at a partial acknowledgement; NewReno stands for it."
        yield Semantic("reno", text, Kind.DIFFERS)


def _changes(model: Model) -> Iterator[Semantic]:
    yield from in_service(model, "ns-3")
    if any(model.link_named[change.link].aqm != "drop-tail" and change.rate_bps for change in model.changes):
        text = "ns-3's RED keeps the packet time of the first rate for idle times when the link's rate changes."
        yield Semantic("rate of the idle rule", text, Kind.DIFFERS)
    if any(change.delay_s is not None for change in model.changes):
        text = "A channel of ns-3 has one delay: a change is one of both directions, and packets may overtake others."
        yield Semantic("change of a delay", text, Kind.DIFFERS)
