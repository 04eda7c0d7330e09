"""One scenario of the suite for one discipline: its text, and the measurements to make in its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.rfc7928 import network
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.traffic import Group

FORWARD, BACK = "bottleneck", "bottleneck.reverse"
SAMPLE_S = 10 * network.RTT_S
"""Goodput is sampled this often: K x minRTT with K = 10 and the 100 ms of category I."""


@dataclass(frozen=True)
class Effort:
    """How much to run.

    Attributes
    ----------
    seeds
        Runs of each scenario.
    few_seeds
        Runs of each setting where a whole range is compared.
    measured_s
        Measured time of scenarios that do not change.
    cycles
        Rounds of the phases of sections 8.2.5 and 8.2.6.
    rtts_ms
        Round trips of category II in section 6.2.
    factors
        Factors by which settings are compared and parameters are turned.
    quick
        Whether this is the quick form.
    """

    seeds: int = 20
    few_seeds: int = 5
    measured_s: float = 240.0
    cycles: int = 4
    rtts_ms: tuple[float, ...] = (5, 10, 20, 50, 100, 200, 350, 560)
    factors: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    quick: bool = False

    @classmethod
    def of(cls, *, quick: bool, seeds: int | None = None) -> Effort:
        """Return the quick form or the full one."""
        if not quick:
            return cls(seeds or cls.seeds, min(seeds or cls.few_seeds, cls.few_seeds))
        few = seeds or 5
        return cls(few, min(few, 3), 60.0, 2, (5, 20, 100, 560), (0.5, 2.0), quick=True)


@dataclass(frozen=True)
class Phase:
    """Stretches of time that belong together, and the rate of the bottleneck in them."""

    name: str
    spans: tuple[tuple[float, float], ...]
    rate_bps: float = network.CAPACITY_BPS


@dataclass(frozen=True)
class Case:
    """One scenario for one discipline.

    Attributes
    ----------
    section, key
        The RFC's section, and a word or the point of a range that distinguishes it from others of the section.
    title
        Description of the run, for headings: the same for all disciplines.
    settings
        The discipline.
    text
        The scenario.
    groups
        Its flows.
    begin_s, end_s
        The measured time; the RFC's time 0 of section 8 is `begin_s`.
    rates_bps
        Links that are observed, with their rates.
    buffer
        Packets that fit into the queue with the discipline.
    routes
        Links that the data of a group cross, of those observed; default: the bottleneck in the group's direction.
    phases
        Phases, in order, if there are any.
    seeds
        Runs.
    needs
        Feature that the scenario needs and not every version has; "" without such a need.
    watch_windows
        Whether the run says when all flows had reached congestion avoidance.
    point
        Where it is on the range that the section goes through, if it does.
    overrides
        Settings of the caller, over the text.
    """

    section: str
    key: str
    title: str
    settings: Settings
    text: str = field(repr=False)
    groups: tuple[Group, ...]
    begin_s: float
    end_s: float
    rates_bps: Mapping[str, float]
    buffer: int
    seeds: int
    routes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phases: tuple[Phase, ...] = ()
    needs: str = ""
    watch_windows: bool = False
    point: float | None = None
    overrides: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Return section and key."""
        return f"{self.section} {self.key}".strip()

    def route(self, group: Group) -> tuple[str, ...]:
        """Return the observed links that a group's data cross."""
        return self.routes.get(group.name, (FORWARD if group.forward else BACK,))

    def crossed(self) -> list[str]:
        """Return the observed links that data cross."""
        crossed = {link for group in self.groups for link in self.route(group)}
        return [link for link in self.rates_bps if link in crossed]

    def what(self) -> dict[str, Any]:
        """Return the measurements to make, as plain data."""
        return {
            "begin_s": self.begin_s,
            "end_s": self.end_s,
            "rates_bps": dict(self.rates_bps),
            "groups": {
                group.name: {
                    "route": list(self.route(group)),
                    "forward": group.forward,
                    "rtt_s": group.rtt_s,
                    "greedy": group.greedy,
                }
                for group in self.groups
            },
            "phases": [[phase.name, [list(span) for span in phase.spans], phase.rate_bps] for phase in self.phases],
            "watch_windows": self.watch_windows,
        }


def on_dumbbell(
    section: str,
    key: str,
    title: str,
    settings: Settings,
    groups: Sequence[Group],
    *,
    seeds: int,
    begin_s: float = 20.0,
    measured_s: float,
    buffer: int | None = None,
    capacity_bps: float = network.CAPACITY_BPS,
    reverse_bps: float | None = None,
    both: bool = False,
    ecn: bool = False,
    phases: tuple[Phase, ...] = (),
    extra: str = "",
    needs: str = "",
    watch_windows: bool = False,
    point: float | None = None,
) -> Case:
    """Put groups of flows on the dumbbell of figure 1; see `Case` and `network.dumbbell` for the parameters.

    The buffer, if none is given, is the bandwidth-delay product at 100 ms. Further text is `extra`.
    """
    size = network.bdp_packets(capacity_bps, network.RTT_S) if buffer is None else buffer
    queue = settings.queue(buffer=size, ecn=ecn)
    links = (FORWARD, BACK)
    parts = [
        network.head(f"{section}-{key}".strip("-"), warmup_s=begin_s, duration_s=measured_s),
        network.dumbbell(queue, buffer=size, capacity_bps=capacity_bps, reverse_bps=reverse_bps, both=both),
        *(group.text for group in groups),
        *([extra] if extra else []),
        network.probe(links=links, sample_s=SAMPLE_S, windows=watch_windows),
    ]
    return Case(
        section=section,
        key=key,
        title=title,
        settings=settings,
        text="\n\n".join(parts) + "\n",
        groups=tuple(groups),
        begin_s=begin_s,
        end_s=begin_s + measured_s,
        rates_bps={FORWARD: capacity_bps, BACK: reverse_bps or capacity_bps},
        buffer=size,
        seeds=seeds,
        phases=phases,
        needs=needs,
        watch_windows=watch_windows,
        point=point,
        overrides=settings.overrides(),
    )
