"""All engines on every scenario of every paper's reproduction: the same tables to the byte.

Every scenario of the full reproductions, all other readings of the papers among them, is run with seed 1 by events, by
windows, and by windows on two threads, as long as it is run for the papers. All tables of the core are compared, those
that the papers do not need included, and the summaries.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.papers.registry import PAPERS
from aqmlab.papers.reproduction import paper_of
from aqmlab.results import parquet
from aqmlab.runs.jobs import Job, Simulation

SEEDS = 1
SHOWN = 10
"""So many differences are shown in full."""
TITLE = "All engines on every reproduction"

Table = Mapping[str, Any]


def values(table: Table, name: str) -> list[Any]:
    """A column of a table of the core."""
    found: list[Any] = parquet.values(table[name]).tolist()
    return found


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Where two runs of the core differ first; "" if they are the same to the byte."""
    if one["summary"] != other["summary"]:
        return f"summary: {one['summary']} != {other['summary']}"
    if list(one["tables"]) != list(other["tables"]):
        return f"tables: {list(one['tables'])} != {list(other['tables'])}"
    for name, table in one["tables"].items():
        against = other["tables"][name]
        if table != against:
            return f"{name}: {_first_row(table, against)}"
    return ""


def _first_row(table: Table, against: Table) -> str:
    """The first row in which two tables differ."""
    rows, others = (list(zip(*(values(t, name) for name in t), strict=True)) for t in (table, against))
    for number, (row, other) in enumerate(zip(rows, others, strict=False)):
        if repr(row) != repr(other):
            return f"{tuple(table)} row {number}: {row} != {other}"
    return f"{len(rows)} rows and {len(others)}, or other columns"


def run_in_parallel(scenario: _core.Scenario, seed: int) -> Any:
    """Return the core's result with windows on two threads; `None` where the stations cannot be divided."""
    try:
        return scenario.run(seed, engine="parallel")
    except InputError as error:
        if "cannot be evaluated in parallel" not in str(error):
            raise
        return None


@dataclass(frozen=True)
class Compared:
    """One run of a paper in all engines."""

    paper: str
    scenario: str
    engine: str
    """The engine that evaluates it by default."""
    why_events: str
    packet_hops: int
    is_divided: bool
    """It was run on two threads too."""
    differs: str


def compared(paper: str, job: Job) -> Compared:
    """Run it in all engines."""
    source = job.source
    assert isinstance(source, Simulation)
    core, seed = source.scenario.core, job.key.seed
    events, auto = core.run(seed, engine="events"), core.run(seed)
    parallel = run_in_parallel(core, seed)
    plan = source.summary["scenario"]
    return Compared(
        paper,
        f"{plan['name']}-{plan['hash'][:8]}, seed {job.key.seed}",
        auto["engine"],
        auto["why_events"] or "",
        int(auto["summary"]["packet_hops"]),
        parallel is not None,
        difference(events, auto) or (difference(events, parallel) if parallel else ""),
    )


def jobs(*, quick: bool = False, papers: Sequence[str] = tuple(PAPERS)) -> list[tuple[str, Job]]:
    """Every run of a scenario that the reproductions need, with its paper; each scenario once."""
    found = []
    for paper in papers:
        own = paper_of(paper)
        batches = own.planned(own.effort.of(quick=quick, seeds=SEEDS), Path()).batches()
        # Jobs without a scenario, such as a queue alone under Poisson arrivals, have no engine.
        found += [(paper, job) for batch in batches for job in batch.jobs if isinstance(job.source, Simulation)]
    return found


def report(found: Sequence[Compared]) -> tuple[str, bool]:
    """The page, and whether all are equal."""
    names = ("paper", "scenarios", "packet-hops", "in windows", "on two threads", "by events", "equal")
    lines = [f"| {' | '.join(names)} |", "|---|---:|---:|---:|---:|---:|---|"]
    for paper in dict.fromkeys(one.paper for one in found):
        own = [one for one in found if one.paper == paper]
        windows = sum(one.engine == "windows" for one in own)
        hops, differ = sum(one.packet_hops for one in own), sum(bool(one.differs) for one in own)
        divided = sum(one.is_divided for one in own)
        lines.append(
            f"| {paper} | {len(own):,} | {hops:,} | {windows:,} | {divided:,} | {len(own) - windows:,} "
            f"| {f'**{differ} differ**' if differ else 'all'} |"
        )
    reasons = Counter(one.why_events for one in found if one.why_events)
    why = "\n".join(f"* {reason}: {count:,} scenarios" for reason, count in reasons.most_common())
    bad = [one for one in found if one.differs]
    text = f"""Every scenario of the full reproductions of the papers, all other readings among them, {len(found):,}
runs of seed {SEEDS} and {sum(one.packet_hops for one in found):,} packet-hops: once by the queue of events, once by
the engine that it has by default, and once by windows on two threads where its stations can be divided. *Equal* are
runs whose summaries and tables, those of the probes included, are the same to the byte.

{chr(10).join(lines)}

What was evaluated by events both times, and why:

{why or "Nothing: all scenarios have windows."}
"""
    if bad:
        text += "\nDifferences:\n\n" + "\n".join(f"* {one.paper}, {one.scenario}: {one.differs}" for one in bad[:SHOWN])
    return text, not bad


def compare_all(workers: int | None = None) -> tuple[str, bool]:
    """Run everything and report."""
    todo = sorted(jobs(), key=lambda one: -one[1].cost)
    with ThreadPoolExecutor(workers or os.cpu_count()) as executor:
        found = list(executor.map(lambda one: compared(*one), todo))
    order = list(PAPERS)
    return report(sorted(found, key=lambda one: order.index(one.paper)))
