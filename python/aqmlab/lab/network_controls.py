"""Controls of the network and its traffic: rate, round trip, flows.

Networks are described in many forms (a dumbbell, a chain, link by link), so which key of the file decides the rate or
the delay of a link is found by trying: a key is taken if a change of it changes the checked scenario as it should.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from aqmlab.errors import ScenarioError
from aqmlab.lab.control import Control, rounded
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Flow, Link
from aqmlab.scenario.registry import transports

GROUP = "Network"
FORMS = ("dumbbell", "chain", "bus", "flower", "torus", "diffserv")
MOST_GROUPS = 4
"""So many groups of flows have controls."""
MOST_FLOWS = 2000
HIGHEST_MBPS = 10_000.0
TRIAL_S = 0.01
LEAST_DELAY_S = 1e-4
CONGESTION_CONTROL = "congestion_control"


def network_controls(plan: Scenario, link: str) -> Iterator[Control]:
    """Return the controls of a link's rate and delay and of the flows."""
    places = list(_places(plan, plan.link(link)))
    yield from _rate(plan, link, places)
    yield from _round_trip(plan, link, places)
    yield from _flows(plan)


def _places(plan: Scenario, link: Link) -> Iterator[str]:
    """Return the tables of the file that may describe this link."""
    data = plan.tables
    for form in FORMS:
        yield from (f"{form}.{name}" for name, table in data.get(form, {}).items() if _is_link(table))
    names = {link.name, link.name.removesuffix(".reverse"), f"{link.from_}->{link.to}", f"{link.to}->{link.from_}"}
    for table in data.get("link", []):
        name = table.get("name") or f"{table['from']}->{table['to']}"
        if name in names:
            yield f'link."{name}"' if "." in name else f"link.{name}"


def _is_link(table: object) -> bool:
    return isinstance(table, dict) and "rate" in table and "delay" in table


def _tried(plan: Scenario, key: str, value: str) -> Scenario | None:
    """Return the scenario with one more override, or None if it is not valid so."""
    try:
        return plan.with_overrides({key: value})
    except ScenarioError:
        return None


def _rate(plan: Scenario, link: str, places: Sequence[str]) -> Iterator[Control]:
    now = plan.link(link).rate_bps
    for place in places:
        other = _tried(plan, f"{place}.rate", f"{now * 2:.10g}bps")
        if other is None or other.link(link).rate_bps != now * 2:
            continue
        mbps = now / 1e6
        yield Control(
            key="rate",
            label="Rate",
            group=GROUP,
            kind="number",
            value=mbps,
            targets=(f"{place}.rate",),
            low=rounded(min(0.5, mbps / 10)),
            high=rounded(max(200.0, mbps * 10)),
            least=0.01,
            most=max(HIGHEST_MBPS, mbps),
            log=True,
            unit="Mbit/s",
            suffix="Mbps",
            doc=f"of link {link}",
        )
        return


def _round_trip(plan: Scenario, link: str, places: Sequence[str]) -> Iterator[Control]:
    """The round trip without queueing, if its way is known, else the delay of the link alone."""
    flow = next((flow for flow in plan.flows if link in flow.path), None)
    delay_s = plan.link(link).delay_s
    for place in places:
        other = _tried(plan, f"{place}.delay", f"{1e3 * (delay_s + TRIAL_S):.10g}ms")
        if other is None or other.link(link).delay_s == delay_s:
            continue
        before, after = round_trip_s(plan, flow), round_trip_s(other, flow)
        if before is None or after is None:
            yield _delay("delay", "Delay of the link", place, delay_s, times=1.0, rest_s=0.0)
        else:
            times = round((after - before) / TRIAL_S, 6)
            yield _delay("rtt", "Round trip", place, before, times=times, rest_s=before - times * delay_s)
        return


def _delay(key: str, label: str, place: str, value_s: float, *, times: float, rest_s: float) -> Control:
    """Return the control of ``value = rest + times * delay``, in ms."""
    least = 1e3 * (rest_s + times * LEAST_DELAY_S)
    return Control(
        key=key,
        label=label,
        group=GROUP,
        kind="number",
        value=rounded(1e3 * value_s, 8),
        targets=(f"{place}.delay",),
        low=rounded(least),
        high=rounded(max(500.0, 4e3 * value_s)),
        least=rounded(least),
        most=10_000.0,
        log=True,
        unit="ms",
        suffix="ms",
        slope=1 / times,
        offset=-1e3 * rest_s / times,
        doc="propagation there and back, without queues" if key == "rtt" else "propagation, one way",
    )


def round_trip_s(plan: Scenario, flow: Flow | None) -> float | None:
    """Return the propagation delay of a flow's way there and back, or None where the way back is not known."""
    if flow is None:
        return None
    named = {link.name: link for link in plan.links}
    back = {(link.to, link.from_): link for link in plan.links}
    there = [named[name] for name in flow.path]
    returning = [back.get((link.from_, link.to)) for link in there]
    if None in returning:
        return None
    return sum(link.delay_s for link in there) + sum(link.delay_s for link in returning if link is not None)


def _flows(plan: Scenario) -> Iterator[Control]:
    groups: list[dict[str, Any]] = plan.tables.get("flow", [])
    variants = tuple(transport.name for transport in transports().values() if transport.profile == "ns2-2.35")
    first = {flow.group: flow for flow in reversed(plan.flows)}
    several = len(groups) > 1
    for table in groups[:MOST_GROUPS]:
        name, count = table["name"], int(table.get("count", 1))
        key = f"flow.{name}.count"
        if count <= MOST_FLOWS and _tried(plan, key, str(count + 1)) is not None:
            yield Control(
                key=key,
                label=f"Flows {name}" if several else "Flows",
                group=GROUP,
                kind="number",
                value=float(count),
                targets=(key,),
                low=1.0,
                high=float(min(max(200, 4 * count), MOST_FLOWS)),
                least=1.0,
                most=float(MOST_FLOWS),
                log=True,
                step=1.0,
                doc=f"how many of [[flow]] {name}",
            )
        label = f"TCP of {name}" if several else "TCP"
        if first[name].transport in variants:
            key = f"flow.{name}.transport"
            yield Control(key, label, GROUP, "choice", first[name].transport, (key,), choices=variants)
        if first[name].parameters.get("profile") == "rfc":
            key = f"flow.{name}.tcp.{CONGESTION_CONTROL}"
            value = first[name].parameters[CONGESTION_CONTROL]
            yield Control(key, label, GROUP, "choice", value, (key,), choices=_congestion_controls())


def _congestion_controls() -> tuple[str, ...]:
    return next(p.choices for p in transports()["tcp"].parameters if p.key == CONGESTION_CONTROL)
