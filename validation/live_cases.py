"""The cases of the page on live runs: the papers' scenarios, families, kinds of TCP, and each paper's main claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from aqmlab.live.agreement import group_goodput
from aqmlab.results.result import Result
from aqmlab.statistics import Interval, interval, welch

FAMILIES = ("ipv4", "ipv6")
CONTROLS = ("reno", "cubic")
Overrides = dict[str, str | int | float]
Results = Mapping[str, Result]
"""Results by discipline."""


@dataclass(frozen=True)
class Claim:
    """A paper's main claim as a number that is above 0 where it holds, with its interval."""

    says: str
    found: Callable[[Results], Interval]


@dataclass(frozen=True)
class Case:
    """A scenario that is run live and simulated.

    Attributes
    ----------
    key, title
        Its name, and a description.
    file
        The scenario.
    queue
        The queue whose discipline is exchanged.
    disciplines
        The paper's first, then the one it is compared with, if it is.
    tcp
        Groups of TCP flows.
    claims
        The paper's claim.
    ipv6
        Overrides with IPv6.
    weight
        How much of a machine a run needs, relative to 10 Mb/s.
    """

    key: str
    title: str
    file: str
    queue: str
    disciplines: tuple[str, ...]
    tcp: tuple[str, ...]
    claims: tuple[Claim, ...]
    ipv6: Overrides = field(default_factory=dict, hash=False)
    weight: float = 1.0

    @property
    def controls(self) -> tuple[str, ...]:
        """Kinds of TCP that it is run with; one that stands for none without TCP."""
        return CONTROLS if self.tcp else ("",)

    def overrides(self, discipline: str, family: str, control: str) -> Overrides:
        """Return the overrides of its file."""
        found: Overrides = {f"queue.{self.queue}.aqm": discipline}
        found |= {f"flow.{group}.tcp.congestion_control": control for group in self.tcp}
        return found | (self.ipv6 if family == "ipv6" else {})


def lower_loss(one: str, other: str) -> Callable[[Results], Interval]:
    """How much lower the share of lost packets is, in percentage points."""

    def found(results: Results) -> Interval:
        own, others = (100 * results[name].metrics()["loss"].to_numpy() for name in (one, other))
        return welch(others, own).interval

    return found


def _share_of_far(one: str, other: str) -> Callable[[Results], Interval]:
    def share(result: Result) -> np.ndarray:
        goodput = group_goodput(result)
        return np.asarray(goodput["PCs1"] / goodput.sum(axis="columns"))

    return lambda results: welch(share(results[one]), share(results[other])).interval


def _advantage(results: Results) -> Interval:
    result = results["pc-red"]
    goodput = group_goodput(result)
    counts = result.flows[result.flows["seed"] == result.seeds[0]].groupby("group").size()
    each = goodput / counts[goodput.columns]
    return interval(np.asarray(each["high"] / each["non"] - 1))


def period_mbps(result: Result, group: str, begin_s: float, end_s: float) -> np.ndarray:
    """Goodput of a group between two times in Mb/s, a number a run."""
    names = set(result.flows.loc[result.flows["group"] == group, "flow"])
    found = []
    for seed in result.seeds:
        samples = result.flow_samples
        own = samples[(samples["seed"] == seed) & samples["flow"].isin(names)]
        total = own.assign(step=own["t_s"].round(1)).groupby("step")["delivered_bytes"].sum()
        inside = total[(total.index >= begin_s) & (total.index <= end_s)]
        found.append((inside.iloc[-1] - inside.iloc[0]) * 8 / (inside.index[-1] - inside.index[0]) / 1e6)
    return np.array(found)


def _best_effort_when_idle(results: Results) -> Interval:
    own, other = (period_mbps(results[name], "best-effort", 10, 100) for name in ("adaptive-rio", "rio"))
    return welch(own, other).interval


def _assured_when_active(results: Results) -> Interval:
    own, other = (period_mbps(results[name], "assured", 110, 200) for name in ("adaptive-rio", "rio"))
    return welch(own, 0.95 * other).interval


CASES = (
    Case(
        "mred", "MRED, 60 s at 10 Mb/s", "paper:mred/live.toml", "bottleneck", ("mred", "red"), ("tcp",),
        (Claim("MRED loses fewer packets than RED (percentage points less)", lower_loss("mred", "red")),),
    ),
    Case(
        "exred", "ExRED, 60 s at 10 Mb/s", "paper:exred/live.toml", "bottleneck", ("exred", "red"), ("tcp",),
        (Claim("ExRED loses fewer packets than RED (percentage points less)", lower_loss("exred", "red")),),
    ),
    Case(
        "exred-poisson", "ExRED, Poisson UDP of exponential sizes, 60 s", "paper:exred/live-poisson.toml",
        "bottleneck", ("exred", "red"), (),
        (Claim("ExRED loses fewer packets than RED (percentage points less)", lower_loss("exred", "red")),),
    ),
    Case(
        "ddred", "DDRED, 60 s at 10 Mb/s", "paper:ddred/live.toml", "router", ("ddred", "gentle-red"), ("PCs1", "PCs2"),
        (Claim("the flow from afar gets a greater share than under RED", _share_of_far("ddred", "gentle-red")),),
    ),
    Case(
        "pc-red", "PC-RED, 300 s at 500 kb/s", "paper:pc-red/live.toml", "bottleneck", ("pc-red",), ("high", "non"),
        (Claim("a flow of high priority gets more than another (as a share of the other's)", _advantage),),
        {"live.flow_label": "ipv6-label"}, 0.6,
    ),
    Case(
        "adaptive-rio", "Adaptive-RIO, 200 s, assured flow off and on", "paper:adaptive-rio/live.toml", "core",
        ("adaptive-rio", "rio"), ("assured", "best-effort"),
        (
            Claim("best effort gets more than under RIO while the assured flow is idle (Mb/s)", _best_effort_when_idle),
            Claim("the assured flow keeps 95 % of what RIO gives it (Mb/s above)", _assured_when_active),
        ),
    ),
)  # fmt: skip
