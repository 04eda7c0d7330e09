"""From a checked scenario to what queueing and fluid models need to know of one of its links."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from aqmlab.errors import InputError
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Flow, Link
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass
from aqmlab.theory.scenario.assumption import Assumption, some
from aqmlab.theory.scenario.link_curve import LinkCurve, curve_of, is_modelled
from aqmlab.theory.scenario.link_traffic import Traffic, traffic_over
from aqmlab.theory.scenario.traffic_class import class_met, class_split

Kind = Literal["fluid", "chain", "transfers", "none"]
DEFAULT_PACKET = 1000.0
"""Bytes; taken where no packet crosses the link."""


@dataclass(frozen=True)
class LinkModel:
    """A link of a scenario as models see it.

    Attributes
    ----------
    scenario, link
        Where it is from.
    kind
        Which theory it is for: the fluid model of TCP, the chain of Poisson arrivals, transfers by seed, or none.
    reason
        If none: why.
    traffic
        The traffic over it.
    curve
        The response of its queue, in packets of `packet_bytes`.
    packet_bytes
        Mean size of a data packet with its header.
    capacity
        Packets/s.
    assumptions
        The models' assumptions that the scenario alone decides.
    """

    scenario: Scenario
    link: Link
    kind: Kind
    reason: str
    traffic: Traffic
    curve: LinkCurve
    packet_bytes: float
    capacity: float
    assumptions: tuple[Assumption, ...]

    @property
    def load(self) -> float:
        """Load that does not listen to drops, as a share of the capacity."""
        return sum(load.mean_bps for load in self.traffic.loads) / self.link.rate_bps

    def fluid(self) -> FluidModel:
        """Return the fluid model of the link: Misra's equation, with its assumptions."""
        return self._fluid("misra", delayed=False)

    def refined(self) -> FluidModel:
        """Return a model that rests where TCP with recovery and delayed acknowledgements does, for that alone.

        Each loss costs a round trip of recovery (`aqmlab.theory.fluid.loss_law`, "recovery"). A window that grows by
        one packet in two round trips rests where 1/sqrt(2) of the flows would with prompt acknowledgements.
        """
        return self._fluid("recovery", delayed=True)

    def _fluid(self, loss_law: str, *, delayed: bool) -> FluidModel:
        bottleneck = Bottleneck(
            capacity=self.capacity,
            curve=self.curve.over_waiting,
            w_q=self.curve.w_q,
            limit=self.curve.over_waiting.limit,
            unresponsive=self.load * self.capacity,
        )
        classes = tuple(
            FlowClass(
                c.name,
                c.count / (math.sqrt(2) if delayed and c.delayed_acks else 1),
                c.propagation_s,
                max(c.window, 1.0),
            )
            for c in self.traffic.greedy
        )
        return FluidModel(bottleneck, classes, loss_law)

    @property
    def system_capacity(self) -> int:
        """K of the chain: packets in the system, the one in service among them."""
        return int(self.curve.limit) + (0 if self.curve.in_service_counts else 1)


def model_of(scenario: Scenario, *, link: str | None = None) -> LinkModel:
    """Return the model of a link.

    Parameters
    ----------
    scenario
        A checked scenario.
    link
        The link; default: the one that results are about (`bottleneck_of`).

    Raises
    ------
    InputError
        If there is no such link.
    """
    from aqmlab.theory.scenario.link_assumptions import assumptions_of

    chosen = scenario.link(link) if link is not None else bottleneck_of(scenario)
    traffic = traffic_over(scenario, chosen)
    split = class_split(scenario, chosen, traffic)
    packet = traffic.packet_bytes or DEFAULT_PACKET
    kind, reason = _kind(chosen, traffic)
    curve = curve_of(scenario, chosen, packet_bytes=packet, class_name=class_met(chosen, split))
    return LinkModel(
        scenario=scenario,
        link=chosen,
        kind=kind,
        reason=reason,
        traffic=traffic,
        curve=curve,
        packet_bytes=packet,
        capacity=chosen.rate_bps / (8 * packet),
        assumptions=tuple(assumptions_of(scenario, chosen, traffic, curve, split, kind)),
    )


def bottleneck_of(scenario: Scenario) -> Link:
    """Return the link that an analysis is about by default.

    It is ``bottleneck``; else, of those with a discipline other than drop-tail, the one with most flows for its rate,
    and the first of several.
    """
    if not scenario.links:
        raise InputError(f"{scenario.filename}: has no link")
    named = [link for link in scenario.links if link.name == "bottleneck"]
    managed = [link for link in scenario.links if link.aqm != "drop-tail"]
    crossing = Counter(name for flow in scenario.flows for name in flow.path)
    return max(named or managed or scenario.links, key=lambda link: crossing[link.name] / link.rate_bps)


def by_application(flow: Flow) -> bool:
    """Whether the flow is UDP or media, or its size is that of an application's answers (pages, video)."""
    size = flow.parameters.get("size")
    return not flow.is_tcp or (isinstance(size, dict) and bool({"web", "video"} & set(size)))


def _kind(link: Link, traffic: Traffic) -> tuple[Kind, str]:
    """Return which theory is for this traffic and discipline, and why none is."""
    if not is_modelled(link):
        return "none", f"{link.aqm} has no drop curve; theory knows drop-tail and the relatives of RED"
    if traffic.greedy:
        return "fluid", ""
    if traffic.drawn or traffic.transfers:
        served = [f.group for f in (*traffic.drawn, *traffic.transfers) if by_application(f)]
        if served:
            return "none", f"an application decides what {some(served)} send, so their sizes are not known"
        return "transfers", ""
    if traffic.loads and all(load.poisson for load in traffic.loads):
        return "chain", ""
    if traffic.loads:
        return "none", (
            f"only UDP that is not Poisson crosses {link.name}, at {sum(x.mean_bps for x in traffic.loads) / 1e6:.4g} "
            f"of {link.rate_bps / 1e6:.4g} Mb/s in the mean: what it loses depends on how its packets are spaced"
        )
    return "none", f"no flow crosses {link.name}"
