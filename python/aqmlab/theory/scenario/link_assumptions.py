"""The models' assumptions about a link and its traffic, and a scenario's departures from them."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.errors import counted
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link
from aqmlab.scenario.registry import parts
from aqmlab.theory.scenario.assumption import Assumption, some
from aqmlab.theory.scenario.link_curve import LinkCurve
from aqmlab.theory.scenario.link_traffic import Load, Routes, Traffic, wire_bytes
from aqmlab.theory.scenario.traffic_class import Split, class_met

VICTIMS = {
    "pc-red": "flows that have lost less than promised are spared, and others pay: the number of drops stays, whose "
    "they are does not",
    "choke": "an arrival that meets a packet of its own flow takes it along: there are drops beside those of the curve",
    "ddred": "the packet that has travelled least is dropped: the number of drops stays, whose they are does not",
}


def assumptions_of(
    scenario: Scenario, link: Link, traffic: Traffic, curve: LinkCurve, split: Sequence[Split], kind: str
) -> list[Assumption]:
    """Return the assumptions that the scenario alone decides, before anything is computed or simulated."""
    if kind == "none":
        return []
    if kind == "transfers":
        return [_unchanged(scenario, link, traffic), _fixed_parameters(link)]
    sizes = _one_size(traffic) if kind == "fluid" else _exponential(traffic.loads)
    found = [_unchanged(scenario, link, traffic), sizes, _fixed_parameters(link)]
    if "averages" in link.parameters:
        found.append(_one_class(link, split))
    elif link.classes:
        how = f"{link.aqm} has a queue for each class"
        found.append(Assumption.broken_by("All packets wait in one queue, first in, first out.", how))
    if traffic.loads:
        found.append(_steady(scenario, traffic.loads))
    if kind == "fluid":
        return [_one_queue(scenario, link, traffic), _greedy(traffic), *found, *_about_tcp(scenario, link, traffic)]
    return [*found, *_about_poisson(link, curve)]


def _one_queue(scenario: Scenario, link: Link, traffic: Traffic) -> Assumption:
    names = {name for c in traffic.greedy for name in c.flows}
    routes = Routes(scenario)
    others = {
        other.name: other
        for flow in scenario.flows
        if flow.name in names
        for other in routes.there(flow)
        if other.name != link.name
    }
    shared = [other.name for other in others.values() if other.rate_bps <= link.rate_bps and _crossed(scenario, other)]
    how = f"{some(shared)} on the way carr{'y' if len(shared) > 1 else 'ies'} no more than this link" if shared else ""
    return Assumption.broken_by("Packets wait and are lost at this link alone.", how)


def _crossed(scenario: Scenario, link: Link) -> bool:
    """Whether more than one flow crosses a link."""
    return sum(link.name in flow.path for flow in scenario.flows) > 1


def _greedy(traffic: Traffic) -> Assumption:
    partly, short = [f.group for f in traffic.partly], [f.group for f in traffic.transfers]
    return Assumption.broken_by(
        "Every TCP flow has data to send all the time.",
        partly and f"{some(partly)}: counted with the share of the measured time in which there is data",
        short and f"{some(short)}: left out: {counted(len(short), 'transfer')} of finite size",
        traffic.drawn
        and f"left out: {counted(len(traffic.drawn), 'flow')} with ends drawn in every run, whose routes are not known",
    )


def _unchanged(scenario: Scenario, link: Link, traffic: Traffic) -> Assumption:
    names = {name for c in traffic.greedy for name in c.flows} | {load.flow.name for load in traffic.loads}
    routes = {name for flow in scenario.flows if flow.name in names for name in flow.path} | {link.name}
    changed = [f"{c['link']} at {c['at_s']:g} s" for c in scenario.changes if c["link"] in routes]
    own = [f"{one.name} by {key}" for one in scenario.links if one.name in routes for key in one.varies_by]
    used = "the means are used" if own else "the first values are used"
    how = f"{some(own + changed)}; {used}" if own or changed else ""
    return Assumption.broken_by("No rate or delay changes.", how)


def _one_size(traffic: Traffic) -> Assumption:
    sizes = {round(c.packet_bytes) for c in traffic.greedy} | {round(wire_bytes(x.flow)) for x in traffic.loads}
    text = ", ".join(f"{size} B" for size in sorted(sizes))
    how = f"they have {text}; their mean of {traffic.packet_bytes:.5g} B is used" if len(sizes) > 1 else ""
    return Assumption.broken_by("All data packets have one size.", how)


def _fixed_parameters(link: Link) -> Assumption:
    adaptation = str(link.parameters.get("adaptation", "none"))
    how = f"{link.aqm} moves them ({adaptation}); those at the start are used" if adaptation != "none" else ""
    return Assumption.broken_by("The queue's parameters stay as they are.", how)


def _one_class(link: Link, split: Sequence[Split]) -> Assumption:
    met = class_met(link, list(split))
    others = [f"{part.flow.group} ({' and '.join(part.classes)})" for part in split if part.classes != (met,)]
    own = next(c for c in link.classes if c["name"] == met)
    text = f"All packets meet the curve of class {met} ({own['min_th']:g} to {own['max_th']:g} packets)."
    averages = link.parameters.get("averages")
    own_alone = averages == "decoupled" or (averages == "coupled" and met != link.classes[-1]["name"])
    return Assumption.broken_by(
        text,
        others and f"not those of {some(others)}",
        f"its average counts the packets of class {met} alone" if others and own_alone else "",
    )


def _steady(scenario: Scenario, loads: Sequence[Load]) -> Assumption:
    moving = [
        f"{load.flow.group} sends {float(load.flow.parameters['rate_bps']) / 1e6:.4g} Mb/s for a part of the time, "
        f"{load.mean_bps / 1e6:.4g} Mb/s in the mean of the measured {scenario.duration_s - scenario.warmup_s:g} s"
        for load in loads
        if not load.steady
    ]
    return Assumption.broken_by("UDP sends at one mean rate all the time.", *moving)


def _victim(name: str) -> str:
    """Return the effect of a victim rule on the flows' shares of the losses; "" where arriving packets are dropped."""
    rule = parts()["victim"].get(name)
    if rule is None or name == "arriving":
        return ""
    return VICTIMS.get(name, f"the victim is {rule.doc}")


def _about_tcp(scenario: Scenario, link: Link, traffic: Traffic) -> list[Assumption]:
    names = {name for c in traffic.greedy for name in c.flows}
    flows = [flow for flow in scenario.flows if flow.name in names]
    victim = _victim(str(link.parameters.get("victim", "")))
    found = [Assumption.broken_by("Every flow loses the same share of its packets.", victim)]
    delayed = [flow.group for flow in flows if flow.parameters.get("delayed_ack")]
    found.append(
        Assumption.broken_by(
            "Every packet is acknowledged at once, so a window grows by one packet a round trip.",
            delayed
            and f"{some(delayed)}: delayed acknowledgements let windows grow about half as fast, which makes "
            "the drop probability lower",
        )
    )
    if link.parameters.get("ecn"):
        found.append(_marks(link, [flow.group for flow in flows if not flow.parameters.get("ecn")]))
    reverse = Routes(scenario).reverse(link)
    back = [f.group for f in scenario.flows if reverse and reverse.name in f.path and f.is_tcp]
    how = f"so do those of {some(back)}, which take room and a share of the drops" if back else ""
    return [*found, Assumption.broken_by("No acknowledgements cross the link.", how)]


def _marks(link: Link, deaf: list[str]) -> Assumption:
    largest = float(link.parameters.get("mark_up_to", 1.0))
    return Assumption.broken_by(
        "A mark (ECN) does to a flow what a drop does, and what is marked still needs room.",
        deaf and f"{some(deaf)} do not know ECN and are dropped instead",
        f"above p_b = {largest:g} packets are dropped, not marked" if largest < 1 else "",
    )


def _exponential(loads: Sequence[Load]) -> Assumption:
    fixed = [load.flow.group for load in loads if not isinstance(load.flow.parameters["packet_size"], dict)]
    other = [load.flow.group for load in loads if load.flow.group not in fixed and not load.exponential]
    means = {round(wire_bytes(load.flow), 6) for load in loads}
    return Assumption.broken_by(
        "Service is exponential: packets have exponential lengths with one mean.",
        fixed
        and f"those of {some(fixed)} have a fixed length: with regular service (M/D/1) queues are shorter, by up to a "
        "half, and fewer packets are dropped than the chain says",
        other and f"those of {some(other)} have another distribution",
        f"the means of the flows differ ({some([f'{mean:g} B' for mean in sorted(means)])})" if len(means) > 1 else "",
    )


def _about_poisson(link: Link, curve: LinkCurve) -> list[Assumption]:
    return [
        Assumption.broken_by(
            "The curve sees the present queue (one-dimensional chain).",
            f"it sees an average with w_q = {curve.w_q:g}, as `chain, with average` has it" if curve.w_q < 1 else "",
        ),
        Assumption.broken_by(
            "Queue and average count the packet in service.",
            ""
            if curve.in_service_counts or not curve.drops_early
            else "here they do not: the chains' curve is moved by one packet, which is right while the link is busy",
        ),
        Assumption.broken_by(
            "What is full is counted in packets.",
            "the limit is in bytes" if isinstance(link.parameters.get("limit"), str) else "",
        ),
        Assumption.broken_by(
            "Packets are dropped independently of each other.",
            f"spacing {curve.spacing} spreads drops; the chains use the mean rate" if curve.spacing != "none" else "",
        ),
    ]
