"""Live cases: the papers' scenarios with their main claims (`CASES`), and cells that verdicts turn on (`CELLS`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from aqmlab.live.agreement import group_goodput
from aqmlab.results.result import Result
from aqmlab.statistics import Interval, interval, welch

FAMILIES = ("ipv4", "ipv6")
CONTROLS = ("reno", "cubic")
Overrides = dict[str, str | int | float]
Results = Mapping[str, Result]
"""Results by discipline."""
RUNS, RUNS_OF_LONG, LONG_S = 10, 5, 100.0
"""Live runs of a setting, and of one that lasts longer than `LONG_S`."""
PRINTED: Final = ", spacing as printed"
FEW: Final = "pc-red, 10 %"
MANY: Final = "pc-red, 30 %"
AT_MAX_U: Final = "rio at max_U"


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
        The paper's first, then those it is compared with.
    tcp
        Groups of TCP flows.
    claims
        The paper's claims.
    ipv6
        Overrides with IPv6.
    weight
        How much of a machine a run needs, relative to 10 Mb/s.
    settings
        Overrides of all its runs.
    variants
        Overrides that stand for a discipline that the program does not know by name.
    families, controls
        Families of addresses and kinds of TCP that it is run with; the kind "" stands for a case without TCP.
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
    settings: Overrides = field(default_factory=dict, hash=False)
    variants: Mapping[str, Overrides] = field(default_factory=dict, hash=False)
    families: tuple[str, ...] = FAMILIES
    controls: tuple[str, ...] = CONTROLS

    def overrides(self, discipline: str, family: str, control: str) -> Overrides:
        """Return the overrides of its file."""
        found = self.settings | self.variants.get(discipline, {f"queue.{self.queue}.aqm": discipline})
        found |= {f"flow.{group}.tcp.congestion_control": control for group in self.tcp}
        return found | (self.ipv6 if family == "ipv6" else {})


def lower_loss(one: str, other: str) -> Callable[[Results], Interval]:
    """How much lower the share of lost packets is, in percentage points."""
    return lambda results: _less("loss", results[one], results[other], 100)


def _less(metric: str, own: Result, other: Result, scale: float = 1.0) -> Interval:
    """How much smaller a metric is than another's."""
    one, two = (scale * result.metrics()[metric].to_numpy() for result in (own, other))
    return welch(two, one).interval


def _claims_of_mred(ending: str = "") -> tuple[Claim, ...]:
    mred, red = f"mred{ending}", f"red{ending}"
    return (
        Claim(
            f"B-a{ending}: MRED carries more than RED (kb/s)", lambda of: _less("goodput_mbps", of[red], of[mred], 1e3)
        ),
        Claim(f"B-b{ending}: MRED loses fewer packets than RED (percentage points less)", lower_loss(mred, red)),
        Claim(
            f"B-d{ending}: MRED's average varies less (s.d. in packets)",
            lambda of: _less("sd_average", of[mred], of[red]),
        ),
    )


def _share_of_far(one: str, other: str) -> Callable[[Results], Interval]:
    def share(result: Result) -> np.ndarray:
        goodput = group_goodput(result)
        return np.asarray(goodput["PCs1"] / goodput.sum(axis="columns"))

    return lambda results: welch(share(results[one]), share(results[other])).interval


def _advantage(discipline: str = "pc-red") -> Callable[[Results], Interval]:
    def found(results: Results) -> Interval:
        each = _each_kbyte_s(results[discipline])
        return interval(np.asarray(each["high"] / each["non"] - 1))

    return found


def _each_kbyte_s(result: Result) -> pd.DataFrame:
    """Mean goodput of the flows of each group in KB/s, a row a run."""
    goodput = group_goodput(result)
    counts = result.flows[result.flows["seed"] == result.seeds[0]].groupby("group").size()
    return goodput * 125 / counts[goodput.columns]


def _starved(results: Results) -> Interval:
    return interval(1 - np.asarray(_each_kbyte_s(results[MANY])["non"]))


def _priority_costs(results: Results) -> Interval:
    few, many = (_each_kbyte_s(results[name])["high"].to_numpy() for name in (FEW, MANY))
    return welch(few, many).interval


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


def _assured_at_max_u(results: Results) -> Interval:
    own, other = (period_mbps(results[name], "assured", 110, 200) for name in ("adaptive-rio", AT_MAX_U))
    return welch(own, other + 0.1).interval


def _best_effort_when_idle(results: Results) -> Interval:
    own, other = (period_mbps(results[name], "best-effort", 10, 100) for name in ("adaptive-rio", "rio"))
    return welch(own, other).interval


def _assured_when_active(results: Results) -> Interval:
    own, other = (period_mbps(results[name], "assured", 110, 200) for name in ("adaptive-rio", "rio"))
    return welch(own, 0.95 * other).interval


def _form_of_ddred(form: str, own: str, other: str, settings: Overrides, file: str = "live") -> Case:
    claim = Claim(f"the flow from afar gets a greater share than under {other}", _share_of_far(own, other))
    return Case(
        f"ddred-{form}", f"DDRED, {form}, 60 s at 10 Mb/s", f"paper:ddred/{file}.toml", "router", (own, other),
        ("PCs1", "PCs2"), (claim,), settings=settings, families=("ipv4",), controls=("reno",),
    )  # fmt: skip


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
        controls=("",),
    ),
    Case(
        "ddred", "DDRED, 60 s at 10 Mb/s", "paper:ddred/live.toml", "router", ("ddred", "gentle-red"), ("PCs1", "PCs2"),
        (Claim("the flow from afar gets a greater share than under RED", _share_of_far("ddred", "gentle-red")),),
    ),
    Case(
        "pc-red", "PC-RED, 300 s at 500 kb/s", "paper:pc-red/live.toml", "bottleneck", ("pc-red",), ("high", "non"),
        (Claim("a flow of high priority gets more than another (as a share of the other's)", _advantage()),),
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
CELLS = (
    Case(
        "mred-40", "MRED beside 40 flows, 60 s at 10 Mb/s", "paper:mred/live.toml", "bottleneck",
        ("mred", "red", f"mred{PRINTED}", f"red{PRINTED}"), ("tcp",), _claims_of_mred() + _claims_of_mred(PRINTED),
        settings={"flow.tcp.count": 40},
        variants={
            f"{name}{PRINTED}": {"queue.bottleneck.aqm": name, "queue.bottleneck.spacing": "ns2-nowait"}
            for name in ("mred", "red")
        },
        families=("ipv4",), controls=("reno",),
    ),
    _form_of_ddred("red", "ddred", "gentle-red", {}),
    _form_of_ddred("tail", "ddred-tail", "drop-tail", {}, "live-tail"),
    _form_of_ddred(
        "ecn", "ddred", "gentle-red",
        {"queue.router.ecn": "true", **{f"flow.{name}.tcp.ecn": "classic" for name in ("PCs1", "PCs2")}},
    ),
    _form_of_ddred(
        "fraction", "ddred", "gentle-red",
        {"queue.router.distance": "fraction", "live.distance": "option"},
    ),
    Case(
        "pc-red-30", "PC-RED with 10 and 30 % of the flows of high priority, 300 s at 500 kb/s",
        "paper:pc-red/live.toml", "bottleneck", (MANY, FEW), ("high", "non"),
        (
            Claim("A3a: with 30 % a flow of high priority gets more (as a share of another's)", _advantage(MANY)),
            Claim("A3c: with 30 % a flow without priority has below 1 KB/s (KB/s below)", _starved),
            Claim("A3c: with 30 % a flow of high priority gets less than with 10 % (KB/s less)", _priority_costs),
        ),
        weight=0.6,
        variants={
            name: {"queue.bottleneck.aqm": "pc-red", "flow.high.count": high, "flow.non.count": 20 - high}
            for name, high in ((FEW, 2), (MANY, 6))
        },
        families=("ipv4",), controls=("reno",),
    ),
    Case(
        "rio-at-max-u", "RIO with thresholds fixed at max_U, 200 s, assured flow off and on",
        "paper:adaptive-rio/live.toml", "core", ("adaptive-rio", AT_MAX_U), ("assured", "best-effort"),
        (Claim("thresholds at max_U cost the assured flow 0.1 Mb/s or more (Mb/s above)", _assured_at_max_u),),
        variants={
            AT_MAX_U: {
                "queue.core.aqm": "rio",
                "queue.core.class.out.min_th": "20p",
                "queue.core.class.out.max_th": "60p",
            }
        },
        families=("ipv4",), controls=("reno",),
    ),
)  # fmt: skip
