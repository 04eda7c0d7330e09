"""Flows in ns-2's words, and their features that ns-2 lacks.

| ours | ns-2 |
|---|---|
| tahoe, reno, newreno, sack | ``Agent/TCP``, ``/Reno``, ``/Newreno``, ``/Sack1`` |
| ``delayed_ack`` | ``Agent/TCPSink/DelAck`` (``/Sack1/DelAck``) with ``interval_`` |
| ``window``, ``packet_size``, ``header`` | ``window_``, ``packetSize_``, ``tcpip_base_hdr_size_`` |
| ``ack_size`` | ``packetSize_`` of the sink |
| ``initial_window``, ``syn``, ``max_burst`` | ``windowInit_``, ``syn_``, ``maxburst_`` |
| ``limited_transmit``, ``ecn``, ``timestamps`` | ``singledup_``, ``ecn_``, ``timestamps_`` |
| ``min_rto``, ``max_rto``, ``initial_rto``, ``tick`` | ``minrto_``, ``maxrto_``, ``rtxcur_init_``, ``tcpTick_`` |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.escaping import tcl_word
from aqmlab.interop.formatting import flag, number
from aqmlab.interop.model import NS2_PROFILE, Model
from aqmlab.scenario.parts import UDP, Flow, mean_of

SENDERS = {
    "tahoe": "Agent/TCP",
    "reno": "Agent/TCP/Reno",
    "newreno": "Agent/TCP/Newreno",
    "sack": "Agent/TCP/Sack1",
}
SENDER = {
    "window": "window_",
    "packet_size": "packetSize_",
    "header": "tcpip_base_hdr_size_",
    "initial_window": "windowInit_",
    "syn": "syn_",
    "limited_transmit": "singledup_",
    "ecn": "ecn_",
    "timestamps": "timestamps_",
    "min_rto": "minrto_",
    "max_rto": "maxrto_",
    "initial_rto": "rtxcur_init_",
    "tick": "tcpTick_",
    "max_burst": "maxburst_",
}
"""Parameters of a sender, with ns-2's variables."""
DRAWN = ("uniform", "exponential", "pareto", "unit")
"""Distributions that the script's ``draw`` knows, as the core tells them."""
WHOLE = ("ecn", "limited_transmit")
"""Flags that ns-2 has as numbers: the word "true" would be 0."""


def sender(flow: Flow) -> tuple[str, dict[str, str]]:
    """Class and variables of a flow's sender."""
    own = flow.parameters
    return SENDERS[flow.transport], {variable: _value(own[key], key) for key, variable in SENDER.items()}


def receiver(flow: Flow) -> tuple[str, dict[str, str]]:
    """Class and variables of a flow's receiver."""
    own = flow.parameters
    name = "Agent/TCPSink" + ("/Sack1" if flow.transport == "sack" else "")
    settings = {"packetSize_": number(own["ack_size"])}
    if own["delayed_ack"]:
        return f"{name}/DelAck", settings | {"interval_": number(own["delayed_ack"])}
    return name, settings


def flow_line(flow: Flow, kind: str) -> str:
    """Write a flow: a call of ``tcp`` or ``udp`` of the script's procedures."""
    own = flow.parameters
    names = f"{tcl_word(flow.name)} {tcl_word(flow.group)}"
    ends = f"{tcl_word(flow.from_)} {tcl_word(flow.to)}"
    first, last = flow.start_s
    start = number(first) if first == last else f"[draw {{uniform {number(first)} {number(last)}}}]"
    stop = "-1" if flow.stop_s is None else number(flow.stop_s)
    again = " ".join(f"{number(begin)} {number(end)}" for begin, end in flow.again)
    if flow.transport == UDP:
        size = own["packet_size"]
        periods = f"[list {start} {stop}{' ' + again if again else ''}]"
        packet = f"{spread(size)} {number(mean_of(size))}"
        return f"udp {names} {ends} {number(own['rate_bps'])} {packet} {_pattern(own['pattern'])} {periods}"
    size = own["size"]
    if isinstance(size, dict):
        packets = f"[packets {number(own['packet_size'])} {spread(size)}]"
    else:
        packets = "-1" if size is None else number(size)
    return f"tcp {names} {tcl_word(kind)} {ends} {start} {packets} {stop}" + (f" {{{again}}}" if again else "")


def at_reset(flow: Flow) -> str:
    """Return the further command for a sender with a fixed phase or a first ssthresh; "" for others."""
    own = flow.parameters
    phase, ssthresh = own.get("clock_offset"), own.get("initial_ssthresh")
    if flow.transport == UDP or (phase is None and ssthresh is None):
        return ""
    words = ("-1" if value is None else number(value) for value in (phase, ssthresh))
    return f"at_reset {tcl_word(flow.name)} {' '.join(words)}"


def flow_differences(model: Model) -> Iterator[Semantic]:
    """Yield the features of the flows that ns-2 lacks."""
    for group, flows in model.groups.items():
        first, name = flows[0], f"flow.{group}"
        if not all(flow.path for flow in flows):
            text = f"{name}: its ends are drawn in every run; name them with from and to."
            yield Semantic("random ends", text, Kind.INEXPRESSIBLE)
        own = [first.parameters.get("size"), first.parameters.get("packet_size")]
        pattern = first.parameters.get("pattern")
        own += list(pattern.values()) if isinstance(pattern, dict) else []
        for kind in (kind for one in own if isinstance(one, dict) for kind in one if kind not in DRAWN):
            text = f'{name}: the script has no words for the distribution "{kind}".'
            yield Semantic("distribution", text, Kind.INEXPRESSIBLE)
        if first.transport == UDP:
            continue
        if first.transport not in SENDERS or first.parameters.get("profile") != NS2_PROFILE:
            profile = first.parameters.get("profile")
            text = (
                f'{name}: transport "{first.transport}" of profile "{profile}" is not in ns-2 2.35, whose one-way TCPs '
                "are tahoe, reno, newreno and sack."
            )
            yield Semantic("transport profile", text, Kind.INEXPRESSIBLE)
        if any(flow.dscp for flow in flows):
            yield Semantic("code points", f"{name}: packets carry no code points in ns-2.", Kind.LEFT_OUT)


def spread(value: Any) -> str:  # noqa: ANN401 - a number, or a distribution in the form of the core
    """Write a number or a distribution as the script's ``draw`` reads it.

    >>> spread(5), spread({"exponential": 50000, "unit": "B"}), spread({"pareto": {"mean": 1, "shape": 1.5}})
    ('5', '{exponential 50000}', '{pareto 1 1.5}')
    """
    if not isinstance(value, dict):
        return number(value)
    if "uniform" in value:
        low, high = value["uniform"]
        return f"{{uniform {number(low)} {number(high)}}}"
    if "pareto" in value:
        return f"{{pareto {number(value['pareto']['mean'])} {number(value['pareto']['shape'])}}}"
    return f"{{exponential {number(value['exponential'])}}}"


def _pattern(pattern: Any) -> str:  # noqa: ANN401
    if isinstance(pattern, dict):
        return f"[list bursts {spread(pattern['on'])} {spread(pattern['off'])}]"
    return str(pattern)


def _value(value: Any, key: str) -> str:  # noqa: ANN401
    if isinstance(value, bool):
        return str(int(value)) if key in WHOLE else flag(value)
    return number(value)
