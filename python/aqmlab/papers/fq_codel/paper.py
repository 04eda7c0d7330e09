"""Runs, their numbers and the page of RFC 8290, whose claims are in ``claims.py``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from aqmlab.papers import common
from aqmlab.papers.common import READINGS, Paper, PaperFiles, Reading, Section, Setup, Study, table_of
from aqmlab.papers.fq_codel.claims import CLAIMS, HASH, LOADS, PARTS, QUEUES, SIZES, TWO_WAYS, Changes
from aqmlab.results.quantities import ratio
from aqmlab.scenario.file import Scenario

FILES = PaperFiles("fq-codel")
PACKETS = {"call": 200, "video": 1200}  # bytes
TABLES = {  # name: quantities and parts
    "waits": ("call video page delay", "loads changes slow"),
    "utilization": ("used bulk", "ways floods slow"),
    "shares": ("small ledbat", "sizes LEDBAT"),
    "collisions": ("most_1 most_2 most_3 of_1 of_2 of_3", "hash"),
}


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run; `hashes` are the seeds of the 100 floods."""

    seeds: int = 30
    reading_seeds: int = 10
    hashes: int = 200
    QUICK: ClassVar = {"seeds": 3, "reading_seeds": 3, "hashes": 30}


def setups(effort: Effort) -> list[Setup]:
    """List the scenarios: all parts under the chosen readings, and some under every other reading."""
    parts: list[tuple[str, Reading | None, int]] = [(part, None, effort.seeds) for part in PARTS]
    for one in FILES.readings(quick=effort.quick):
        parts += [(part, one, effort.reading_seeds) for part in one.options["parts"]]
    return [
        Setup(
            key={"traffic": name, "discipline": discipline},
            plan=plan(traffic, discipline, reading),
            seeds=effort.hashes if name == HASH else seeds,
            reading=reading.label if reading else common.BASE,
            tables=("links", "flows", "flow_delays", "pages"),
        )
        for part, reading, seeds in parts
        for name, traffic in PARTS[part][0].items()
        for discipline in PARTS[part][1]
    ]


def plan(traffic: Changes, discipline: str, reading: Reading | None) -> Scenario:
    """Return the scenario of one point; a reading may have settings for a discipline."""
    changes, settings = (reading.overrides, reading.options.get(discipline, {})) if reading else ({}, {})
    queue = {**QUEUES[discipline], **settings}
    return FILES.scenario("fq-codel", {**changes, "queue": {"down": queue, "up": queue}, **traffic})


def measure(setup: Setup, folder: Path) -> dict[str, float]:
    """Read the numbers of one run."""
    traffic, flows = str(setup.key["traffic"]), table_of(folder, "flows")
    rates = flows.groupby("group")["goodput_bps"].sum()
    if traffic == HASH:
        return in_queues(flows.loc[flows["group"] == "hashed", "goodput_bps"].to_numpy())
    links = table_of(folder, "links").set_index("link")[["utilization", "mean_delay_s"]].astype(float)
    delays = table_of(folder, "flow_delays").groupby("group")["mean_s"].mean()
    found = {
        "used": links["utilization"][["down", "up"] if traffic in TWO_WAYS else ["down"]].mean(),
        "delay": 1e3 * links["mean_delay_s"]["down"],
        "bulk": rates["bulk"] / 1e6,
        "small" if traffic in SIZES else "ledbat": ratio(rates["other"], rates["bulk"]),
        **{name: 1e3 * delays[name] - path_ms(setup.plan, name) for name in PACKETS},
    }
    if traffic in LOADS:
        pages = table_of(folder, "pages")
        found["page"] = (pages["finish_s"].fillna(setup.plan.duration_s) - pages["start_s"]).mean()
    return found


def path_ms(plan: Scenario, flow: str) -> float:
    """Return the one-way delay of a packet of the call or the video that never waits, before changes of a link."""
    links = [plan.link(name) for name in (f"left.{flow}", "down", f"right.{flow}")]
    return sum(1e3 * (one.delay_s + 8 * PACKETS[flow] / one.rate_bps) for one in links)


def in_queues(rates: np.ndarray) -> dict[str, float]:
    """Judge by the rates of equal floods how many share a queue, which divides its rate by their number.

    For n = 1 to 3: whether no queue has more flows than n, and the share of flows in queues with at most n.

    >>> found = in_queues(np.array([10, 10, 10, 10, 5.2, 4.9]))
    >>> found["most_1"], found["most_2"], round(found["of_1"], 4)
    (0.0, 1.0, 0.6667)
    """
    flows = np.rint(np.median(rates) / rates)
    most = {f"most_{n}": float(flows.max() <= n) for n in (1, 2, 3)}
    return most | {f"of_{n}": float(np.mean(flows <= n)) for n in (1, 2, 3)}


def page(study: Study) -> Iterator[Section]:
    """Make the paper's own sections."""
    titles = {q: one.label for q, one in CLAIMS.words.quantities.items()}
    for name, (quantities, parts) in TABLES.items():
        columns = {titles[q]: q for q in quantities.split()}
        of = {"traffic": [one for part in parts.split() for one in PARTS[part][0]]}
        yield Section(name.capitalize(), [study.table(name, columns, rows=["traffic", "discipline"], of=of)])
    yield Section(READINGS, [study.reading_verdicts()])


PAPER = Paper(
    FILES,
    name="FQ-CoDel",
    citation="Hoeiland-Joergensen et al., RFC 8290: The Flow Queue CoDel Packet Scheduler and AQM Algorithm, 2018",
    claims=CLAIMS,
    effort=Effort,
    setups=setups,
    measure=measure,
    page=page,
    seeds="{seeds} seeds a point ({hashes} with 100 floods)",
    example=f"aqmlab run {FILES.scenario_name('fq-codel')} --seeds {{seeds}}",
    scenarios=("fq-codel",),
    fill=True,
)
