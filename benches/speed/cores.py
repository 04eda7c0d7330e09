"""One run on two cores: the engines windows and parallel in turn, whole processes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from speed.cases import Case
from speed.growth import Tell, flow_overrides
from speed.pairs import MIB
from speed.process import SCENARIOS, ProcessError, Run, measure, ours
from speed.table import table

HEADER = (
    "case",
    "packet-hops",
    "s, windows",
    "s, parallel",
    "gain (range of the pairs)",
    "peak MiB, windows",
    "peak MiB, parallel",
)
FLOW_COUNTS = (10_000, 100_000)
FLOWS_S = 3
"""Seconds that FLOWS lasts here."""
Pairs = Sequence[tuple[Run, Run]]


def row(name: str, pairs: Pairs) -> list[str]:
    """Return the row of a case, from its runs with windows and those in parallel right after them."""
    gains = [one.process_s / two.process_s for one, two in pairs]
    gain = f"{median(gains):.2f} ({min(gains):.2f} to {max(gains):.2f})"
    seconds = [f"{median(pair[engine].process_s for pair in pairs):.2f}" for engine in (0, 1)]
    peaks = [f"{median(pair[engine].peak_kib for pair in pairs) / MIB:.1f}" for engine in (0, 1)]
    return [name, f"{pairs[0][0].packet_hops:,}", *seconds, gain, *peaks]


def in_turn(name: str, overrides: Sequence[str], pairs: int) -> Pairs:
    """Run a scenario with either engine, `pairs` times."""
    scenario = SCENARIOS / f"{name}.toml"
    one, two = (ours(scenario, overrides, engine=engine) for engine in ("windows", "parallel"))
    found = [(measure(one), measure(two)) for _ in range(pairs)]
    if len({run.packet_hops for pair in found for run in pair}) > 1:
        raise ProcessError(f"{name}: runs of one seed differ in their packet-hops")
    return found


def report(cases: Sequence[Case], pairs: int, tell: Tell) -> str:
    """Compare the cases; a table in Markdown."""
    todo: list[tuple[str, str, list[str]]] = [
        (case.name.upper(), case.name, []) for case in cases if case.name != "flows"
    ]
    for flows in FLOW_COUNTS if len(todo) < len(cases) else ():
        label = f"FLOWS with {flows:,} flows, {FLOWS_S} s"
        todo.append((label, "flows", [*flow_overrides(flows), f"run.duration={FLOWS_S}s"]))
    rows = []
    for label, name, overrides in todo:
        rows.append(row(label, in_turn(name, overrides, pairs)))
        tell(" | ".join(rows[-1]))
    return f"Medians of {pairs} pairs, whole processes.\n\n" + table(HEADER, rows)
