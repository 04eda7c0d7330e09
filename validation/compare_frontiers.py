"""What the RED family can do: its frontier in several scenarios, and the place of other disciplines, with two searches.

The page of `make validate`. About half an hour on two cores.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import aqmlab
from aqmlab.errors import joined
from aqmlab.reporting import plots
from aqmlab.rfc7928 import mixes, stability, transports
from aqmlab.rfc7928.case import Effort
from aqmlab.rfc7928.network import QUEUE
from aqmlab.rfc7928.settings import Settings
from aqmlab.scenario.file import Scenario
from aqmlab.tuning.frontier_outcome import Frontier
from aqmlab.tuning.frontier_places import BEHIND, UNDECIDED, Placed
from aqmlab.tuning.goals import shown

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "validation"
TITLE = "What the RED family can do"
SEARCHES = (1, 2)
"""Seeds of the searches: a place that depends on it is undecided."""
TRIALS, FRESH = 200, 20
PAPERS = ("mred", "exred", "pc-red", "ddred")
CONTROLS = ("codel", "pie", "fq-codel", "dualpi2")


@dataclass(frozen=True)
class Case:
    """A scenario: its name for people, its example or section of RFC 7928, and varied conditions."""

    title: str
    example: str = ""
    over: tuple[str, ...] = ()
    section: str = ""

    @property
    def command(self) -> str:
        """The command of one search, or the scenario's place in RFC 7928."""
        if self.section:
            return f"RFC 7928, section {self.section}: the scenario of `aqmlab rfc7928 --quick` with 30 s measured"
        over = "".join(f" --over {text}" for text in self.over)
        return f"    aqmlab frontier example:{self.example} --aqm {','.join((*CONTROLS, *PAPERS))}{over}"

    @property
    def slug(self) -> str:
        """The name of its figure."""
        parts = [
            self.example or f"rfc7928-{self.section.replace(' ', '-')}",
            *(text.partition("=")[0] for text in self.over),
        ]
        return f"frontier-{'-'.join(parts)}"

    def scenario(self) -> Scenario:
        """Load it."""
        if not self.section:
            return Scenario.load(f"example:{self.example}")
        effort = replace(Effort.of(quick=True), measured_s=30.0)
        families = (transports, stability, mixes)
        cases = [case for family in families for case in family.cases(effort, Settings("red", {}))]
        (case,) = [case for case in cases if case.name == self.section]
        return Scenario.from_text(case.text, filename=f"rfc7928 {self.section}")


CASES = (
    Case("Ten NewReno flows, 10 Mb/s", "dumbbell-red"),
    Case("Two to fifty NewReno flows, 10 Mb/s", "dumbbell-red", over=("flows=2:50",)),
    Case("CUBIC and Reno in the RFC profile, 10 Mb/s", "dumbbell-cubic"),
    Case("Twenty TCP flows beside UDP", "udp-mix"),
    Case("Cellular link, two CUBIC flows", "lte"),
    Case("Satellites, two CUBIC flows", "starlink"),
    Case("RFC 7928: one CUBIC flow", section="5.2"),
    Case("RFC 7928: UDP at 0.75 of the link beside one flow", section="5.3 between"),
    Case("RFC 7928: mild congestion", section="8.2.2"),
    Case("RFC 7928: heavy congestion", section="8.2.4"),
    Case("RFC 7928: mild to heavy in turn", section="8.2.5"),
    Case("RFC 7928: 100 and 10 Mb/s in turn", section="8.2.6 20s"),
    Case("RFC 7928: web, CBR, video and bulk", section="7.2 IV"),
)


def report() -> tuple[str, bool]:
    """Return the page, and whether both searches of each case agree on every decided place."""
    with tempfile.TemporaryDirectory() as folder:
        found = [_searches(case, Path(folder), number) for number, case in enumerate(CASES)]
    agree = all(not _contradicts(*pair) for both in found for pair in zip(*(one.others for one in both), strict=True))
    return "\n".join(
        [*_summary(found), *(line for case, both in zip(CASES, found, strict=True) for line in _case(case, both))]
    ), agree


def _searches(case: Case, folder: Path, number: int) -> list[Frontier]:
    found = []
    for seed in SEARCHES:
        print(f"{case.title}: search {seed}", file=sys.stderr, flush=True)
        found.append(
            aqmlab.frontier(
                case.scenario(),
                aqm=(*CONTROLS, *PAPERS),
                over=case.over,
                queue=QUEUE if case.section else None,
                trials=TRIALS,
                fresh=FRESH,
                search_seed=seed,
                out=folder / str(number),
                progress=False,
            )
        )
    return found


def _contradicts(one: Placed, other: Placed) -> bool:
    return one.place != other.place and UNDECIDED not in (one.place, other.place)


def _place(both: Sequence[Placed]) -> str:
    """Return the place in which both searches agree."""
    places = {one.place for one in both}
    return places.pop() if len(places) == 1 else UNDECIDED


def _summary(found: Sequence[Sequence[Frontier]]) -> list[str]:
    names = [one.aqm for one in found[0][0].others]
    rows = [
        [case.title, *(_place(pair) for pair in zip(*(one.others for one in both), strict=True))]
        for case, both in zip(CASES, found, strict=True)
    ]
    return [
        "Written by `validation/compare_frontiers.py` (`make validate` calls it). Each scenario has two searches, on",
        f"other seeds each, of {TRIALS} settings of the RED family, and of a quarter as many near each discipline.",
        f"Places are judged on {FRESH} fresh seeds as [The frontier](../frontier.md) describes; where the two searches",
        "differ, the place is undecided. The goals are the mean queueing delay and the goodput of TCP. Other",
        "disciplines have their defaults and the scenario's buffer; MRED, ExRED, PC-RED and DDRED belong to the",
        "family, so that they can be behind its frontier and never beyond it.",
        "",
        f"| scenario | {' | '.join(names)} |",
        f"|---|{'---|' * len(names)}",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def _case(case: Case, both: Sequence[Frontier]) -> list[str]:
    first = both[0]
    chart = first.chart()
    plots.save_as(chart, REPORT / f"{case.slug}.svg", size="wide")
    heads = [goal.metric.label for goal in first.goals]
    rows = [
        [
            one.name,
            *(shown(goal.metric, value) for goal, value in zip(first.goals, one.goals, strict=True)),
            *_places(pair),
        ]
        for one, pair in zip(first.others, zip(*(one.others for one in both), strict=True), strict=True)
    ]
    members = [
        [
            f"{number} {one.name}",
            *(shown(goal.metric, value) for goal, value in zip(first.goals, one.goals, strict=True)),
        ]
        for number, one in enumerate(first.members, 1)
    ]
    return [
        f"## {case.title}",
        "",
        case.command,
        "",
        f"![{chart.alt}]({case.slug}.svg)",
        "",
        f"| discipline | {' | '.join(heads)} | search 1 | search 2 |",
        "|---|---:|---:|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        f"Members of the frontier of search 1 ({joined([f'{len(one.tried)} settings' for one in both])} tried):",
        "",
        f"| member | {' | '.join(heads)} |",
        "|---|---:|---:|",
        *(f"| {' | '.join(row)} |" for row in members),
        "",
    ]


def _places(pair: Sequence[Placed]) -> list[str]:
    return [f"{one.place} {one.by}" if one.place == BEHIND else one.place for one in pair]
