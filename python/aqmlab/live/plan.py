"""Content of a live run: the core's reading of a scenario for one seed, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.errors import Problem, ScenarioError
from aqmlab.runs.arguments import as_scenario
from aqmlab.scenario.file import Overrides, Scenario, blamed, override_pairs
from aqmlab.scenario.registry import compiled
from aqmlab.scenario.toml_text import read_toml

IP_HEADER = {"ipv4": 20, "ipv6": 40}
"""Bytes of the IP header."""
FAMILIES = tuple(IP_HEADER)
TCP_HEADER = 20
TIMESTAMPS = 12
"""Bytes of the time stamps' option, with its padding (RFC 7323)."""
LARGEST_PACKET = 1500
"""Bytes of the longest packet that a TUN carries."""


@dataclass(frozen=True)
class Way:
    """The links from one end to the other, parted by the live link.

    Attributes
    ----------
    links, crosses
        Names of the links in order, and of the live link or the reverse link among them; None without one.
    hops_before, hops_after
        Links before the live one and after it.
    delay_before_ns, delay_after_ns
        Propagation delays before and after it; all of it is before where the way does not cross it.
    delay_ns
        Of the whole way, the link crossed included.
    """

    links: tuple[str, ...]
    crosses: str | None
    hops_before: int
    hops_after: int
    delay_before_ns: int
    delay_after_ns: int
    delay_ns: int

    @property
    def routers(self) -> int:
        """Routers that a packet passes: one between each two links."""
        return self.hops_before + self.hops_after


@dataclass(frozen=True)
class FlowGroup:
    """Flows of one group of the file that go the same way.

    Attributes
    ----------
    number
        Counted from 1; it is in the addresses.
    name, group
        Its name, and that of its ``[[flow]]`` table.
    flows
        Names of its flows.
    forward
        Whether its data go over the live link, and not over the link in the other direction.
    there, back
        Way of the data, and of the answers.
    starts_s, stop_s, again_s, size_bytes
        Start of each flow; when there are no more data; further times of data; payload of each flow, None without end.
    transport, parameters
        As in the scenario; effective values.
    congestion_control, ecn
        Settings of the kernel's connections; None for UDP.
    dscp
        Code point of its data.
    traffic_class
        Class of the source: 1 for a flow of high priority.
    ttl
        Time to live with which both ends send.
    acks_share_label
        Whether answers have the label and the class of the data.
    exec, exec_server
        Commands in place of the generator.
    """

    number: int
    name: str
    group: str
    flows: tuple[str, ...]
    forward: bool
    there: Way
    back: Way
    starts_s: tuple[float, ...]
    stop_s: float | None
    again_s: tuple[tuple[float, float], ...]
    size_bytes: tuple[int | None, ...]
    transport: str
    parameters: dict[str, Any]
    congestion_control: str | None
    ecn: bool
    dscp: int
    traffic_class: int
    ttl: int
    acks_share_label: bool
    exec: str | None
    exec_server: str | None

    @property
    def is_udp(self) -> bool:
        """Whether it sends by UDP."""
        return self.transport == "udp"

    @property
    def speaks_as_kernels_do(self) -> bool:
        """Whether the scenario's TCP is that of kernels (profile ``rfc``), so that its settings can be the kernel's."""
        return "mss" in self.parameters

    def header_bytes(self, family: str) -> int:
        """Bytes of headers of a TCP segment with data."""
        return IP_HEADER[family] + TCP_HEADER + (TIMESTAMPS if self.parameters.get("timestamps", True) else 0)

    def payload_bytes(self, family: str) -> int:
        """Bytes of payload of a full TCP segment: those of the scenario, as far as a packet has room for them."""
        wanted = self.parameters.get("mss", self.parameters.get("packet_size", LARGEST_PACKET))
        return min(int(wanted), LARGEST_PACKET - self.header_bytes(family))

    def segment_bytes(self, family: str) -> int:
        """Bytes of a full TCP segment without the headers of IP and TCP, options included: what TCP announces."""
        return self.payload_bytes(family) + (TIMESTAMPS if self.parameters.get("timestamps", True) else 0)


@dataclass(frozen=True)
class LivePlan:
    """A scenario for one seed, as a live run needs it.

    Attributes
    ----------
    scenario
        The scenario.
    seed
        The seed of everything that is drawn.
    link, reverse_link
        The link whose queue is live, and the one in the other direction.
    rate_bps
        Rate of the live link.
    reverse_aqm
        Discipline of the reverse link; None without one.
    settings
        The table ``[live]``.
    groups
        All flows.
    warnings
        Omissions of a live run, and probable mistakes.
    """

    scenario: Scenario
    seed: int
    link: str
    reverse_link: str | None
    rate_bps: float
    reverse_aqm: str | None
    settings: dict[str, Any]
    groups: tuple[FlowGroup, ...]
    warnings: tuple[Problem, ...] = field(default=())

    @property
    def family(self) -> str:
        """``ipv4`` or ``ipv6``."""
        return str(self.settings["family"])

    @property
    def carries_ttl(self) -> bool:
        """Whether senders write DDRED's TTL_i and TTL_f into their packets."""
        return bool(self.settings["distance"]["rule"] == "option")


def live_plan(scenario: Scenario, *, seed: int) -> LivePlan:
    """Check a scenario for a live run and draw what its run of this seed draws."""

    def located(problems: Iterable[Problem]) -> tuple[Problem, ...]:
        look = partial(_warnings, seed=seed)
        return blamed(problems, scenario.text, scenario.filename, scenario.overrides, look)

    try:
        plan = scenario.core.live_plan(seed)
    except ScenarioError as error:
        raise ScenarioError(located(error.problems)) from None
    for name, aqm in ((plan["link"], plan["aqm"]), (plan["reverse_link"], plan["reverse_aqm"])):
        if name:
            compiled(aqm, f"{scenario.filename}: link {name}")
    ways = ("there", "back")
    return LivePlan(
        scenario=scenario,
        seed=seed,
        link=plan["link"],
        reverse_link=plan["reverse_link"],
        rate_bps=plan["rate_bps"],
        reverse_aqm=plan["reverse_aqm"],
        settings=scenario.live,
        groups=tuple(FlowGroup(**group | {way: Way(**group[way]) for way in ways}) for group in plan["groups"]),
        warnings=located(plan["warnings"]),
    )


def _warnings(core: _core.Scenario, seed: int) -> tuple[Problem, ...]:
    found: tuple[Problem, ...] = core.live_plan(seed)["warnings"]
    return found


def for_family(scenario: str | Path | Scenario, family: str | None, *, overrides: Overrides = ()) -> Scenario:
    """Load a scenario, or take one, with a family of addresses and other overrides.

    Packets keep their length: what IPv6's header is longer than IPv4's, the payload is shorter, in the live run and in
    the simulation of the same file.
    """
    pairs = override_pairs(overrides)
    if family is None:
        return as_scenario(scenario, overrides=pairs)
    chosen = as_scenario(scenario, overrides=(*pairs, ("live.family", family)))
    longer = IP_HEADER[family] - IP_HEADER[_family_before(chosen)]
    if not longer:
        return chosen
    lengths: dict[str, str | int] = {}
    for group, parameters in _rfc_groups(chosen).items():
        for key, change in (("mss", -longer), ("header", longer), ("ack_size", longer)):
            lengths[f"flow.{group}.tcp.{key}"] = f"{int(parameters[key]) + change}B"
    return chosen.with_overrides(lengths)


def _family_before(scenario: Scenario) -> str:
    """Return the family that a scenario had before the last override of it."""
    said = [value for key, value in scenario.overrides if key == "live.family"][:-1]
    return said[-1] if said else str(read_toml(scenario.text).get("live", {}).get("family", FAMILIES[0]))


def _rfc_groups(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Parameters of the groups with TCP as the kernel speaks it, by group."""
    return {flow.group: flow.parameters for flow in scenario.flows if "mss" in flow.parameters}
