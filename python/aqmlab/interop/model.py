"""A checked scenario, in the form from which scripts for other programs are written.

Nothing is interpreted again: links, effective parameters, flows and changes are those of the core's check. This module
adds only the data that a comparison needs: which links and groups are measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aqmlab.errors import InputError
from aqmlab.results.quantities import bottleneck_of
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import DROP_TAIL, UDP, Flow, Link

NS2_PROFILE = "ns2-2.35"
SECTIONS = {
    "format",
    "name",
    "description",
    "nodes",
    "run",
    "link",
    "queue",
    "flow",
    "change",
    "probe",
    "live",
}
SECTIONS |= {"marker", "dumbbell", "chain", "bus", "flower", "torus", "diffserv"}
FLOW_KEYS = {"name", "count", "transport", "from", "to", "start", "stop", "active", "size", "rate", "pattern"}
FLOW_KEYS |= {"packet_size", "dscp", "priority", "acks_share_label", "left", "right", "host_from", "host_to", "source"}
FLOW_KEYS |= {"tcp", "exec", "exec_server"}
"""Keys of a scenario file that `Model` passes on to other programs."""
DISTRIBUTIONS = {"uniform", "exponential", "pareto"}
"""Distributions of sizes and lengths that other programs can draw from."""


@dataclass(frozen=True)
class Change:
    """A link's new rate (bit/s) or delay (s), or both, at a time (s)."""

    at_s: float
    link: str
    rate_bps: float | None
    delay_s: float | None


@dataclass(frozen=True)
class Model:
    """A checked scenario, with the links whose queues are measured.

    Attributes
    ----------
    scenario
        The scenario; `Scenario.links` and `Scenario.flows` have all effective values.
    measured
        Names of the links whose queue is compared, the one that results are about first.
    """

    scenario: Scenario
    measured: tuple[str, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> Model:
        """Take the links that the scenario probes, else the one that results are about."""
        if not scenario.flows:
            raise InputError(f"{scenario.filename}: there is no [[flow]]: nothing to compare")
        arriving = [flow.group for flow in scenario.flows if flow.arrivals_per_s is not None]
        if arriving:
            allowed = "(allowed: start = { uniform = [...] } with a count)"
            text = f"flow.{arriving[0]}.start: no other simulator has these Poisson arrivals {allowed}"
            raise InputError(f"{scenario.filename}: {text}")
        for flow in scenario.flows:
            for key in ("size", "packet_size"):
                drawn = flow.parameters.get(key)
                if isinstance(drawn, dict) and not DISTRIBUTIONS & set(drawn):
                    text = f"flow.{flow.group}.{key}: other programs cannot draw from {next(iter(drawn))}"
                    raise InputError(
                        f"{scenario.filename}: {text} (allowed: a number, {', '.join(sorted(DISTRIBUTIONS))})"
                    )
        varying = [(link.name, key) for link in scenario.links for key in link.varies_by]
        varying += [(change["link"], change["varies_by"]) for change in scenario.changes if "varies_by" in change]
        if varying:
            listed = ", ".join(dict.fromkeys(f"{key} of {link}" for link, key in varying))
            text = f"other simulators and tc cannot express {listed}"
            raise InputError(f'{scenario.filename}: {text} (allowed: rate = "10Mbps", delay = "10ms")')
        names = [link.name for link in scenario.links]
        main = bottleneck_of(names, [link.aqm for link in scenario.links])
        probed = [str(name) for name in scenario.probe["links"]]
        return cls(scenario, tuple(dict.fromkeys([main, *probed] if main in probed else probed or [main])))

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.scenario.name

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in the core's order."""
        return self.scenario.nodes

    @property
    def links(self) -> tuple[Link, ...]:
        """Each direction of every link, in the core's order."""
        return self.scenario.links

    @property
    def flows(self) -> tuple[Flow, ...]:
        """All flows, in the core's order."""
        return self.scenario.flows

    @property
    def duration_s(self) -> float:
        """End of a run in s."""
        return self.scenario.duration_s

    @property
    def warmup_s(self) -> float:
        """End of the warm-up in s, from which on everything is measured."""
        return self.scenario.warmup_s

    @property
    def measured_s(self) -> float:
        """Measured time in s."""
        return self.duration_s - self.warmup_s

    @property
    def about(self) -> str:
        """The scenario's description, else its name in a sentence."""
        return self.scenario.description or f"The scenario {self.name}."

    @cached_property
    def link_named(self) -> dict[str, Link]:
        """Links by name."""
        return {link.name: link for link in self.links}

    @cached_property
    def groups(self) -> dict[str, tuple[Flow, ...]]:
        """Flows by the name of their ``[[flow]]`` table."""
        found: dict[str, list[Flow]] = {}
        for flow in self.flows:
            found.setdefault(flow.group, []).append(flow)
        return {group: tuple(flows) for group, flows in found.items()}

    @cached_property
    def queues(self) -> dict[str, Link]:
        """For every ``[queue.NAME]`` that is in use, a link that has it."""
        return {link.queue: link for link in self.links}

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Changes of links, in the order of time."""
        made = [
            Change(float(c["at_s"]), str(c["link"]), _number(c["rate_bps"]), _number(c["delay_s"]))
            for c in self.scenario.changes
        ]
        return tuple(sorted(made, key=lambda change: change.at_s))

    @cached_property
    def deterministic(self) -> bool:
        """Whether a run has no random numbers: drop-tail, fixed starts and sizes, known clocks, constant rates."""
        return all(link.aqm == DROP_TAIL for link in self.links) and all(map(_certain, self.flows))

    @cached_property
    def strange(self) -> list[str]:
        """Return sections, and keys of flows, that are not written for any program."""
        table = self.scenario.tables
        found = [f"[{key}]" for key in table if key not in SECTIONS]
        found += ["change.state"] * any("state" in change for change in self.scenario.changes)
        for flow in table.get("flow", ()):
            found += [f"flow.{flow['name']}.{key}" for key in flow if key not in FLOW_KEYS]
        return found


def _certain(flow: Flow) -> bool:
    own: dict[str, Any] = flow.parameters
    if not flow.path or flow.start_s[0] != flow.start_s[1]:
        return False
    if flow.transport == UDP:
        return own["pattern"] == "constant" and not isinstance(own["packet_size"], dict)
    return not isinstance(own.get("size"), dict) and ("clock_offset" not in own or own["clock_offset"] is not None)


def _number(value: Any) -> float | None:  # noqa: ANN401 - an entry of JSON
    return None if value is None else float(value)
