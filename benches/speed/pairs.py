"""aqmlab and ns-2 in turn: whole processes, one at a time, and the medians of their time and memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from speed.cases import PROBES_OFF, Case
from speed.process import LimitError, Limits, ProcessError, Run, measure, ours, theirs
from speed.table import MISSING, count, percent, table

HEADER = (
    "case",
    "engine",
    "packet-hops",
    "ns-2's",
    "difference",
    "M packet-hops/s",
    "ns-2's",
    "ns a hop",
    "ratio (range of the pairs)",
    "ratio without set-up",
    "peak MiB",
    "ns-2's",
)
MIB = 1024


@dataclass(frozen=True)
class Comparison:
    """One case, with one setting of the probes.

    Attributes
    ----------
    name
        The case.
    hops, ns2_hops
        Packet-hops of both; those of ns-2 are 0 where it did not get through.
    pairs
        Our run and ns-2's right after it, or none.
    """

    name: str
    hops: int
    ns2_hops: int
    pairs: Sequence[tuple[Run, Run | None]]

    def rate(self, of: Callable[[Run], float]) -> float:
        """Packet-hops a second of ours."""
        return median(self.hops / of(run) for run, _ in self.pairs)

    def ns2_rate(self, of: Callable[[Run], float]) -> float:
        """Packet-hops a second of ns-2, which must have got through."""
        return median(self.ns2_hops / of(run) for _, run in self.pairs if run is not None)

    def ratios(self, of: Callable[[Run], float]) -> list[float]:
        """Ours over ns-2's packet-hops a second, for every pair."""
        return [(self.hops / of(run)) / (self.ns2_hops / of(other)) for run, other in self.pairs if other is not None]

    def row(self) -> list[str]:
        """Its row of the table."""
        whole, alone = self.ratios(process_s), self.ratios(run_s)
        others = [other.peak_kib for _, other in self.pairs if other is not None]
        rates = [f"{self.rate(process_s) / 1e6:.1f}", MISSING, f"{1e9 / self.rate(process_s):.1f}"]
        ratios = [MISSING, MISSING]
        peaks = [f"{median(run.peak_kib for run, _ in self.pairs) / MIB:.1f}", MISSING]
        if others:
            rates[1] = f"{self.ns2_rate(process_s) / 1e6:.2f}"
            ratios = [f"{median(whole):.1f} ({min(whole):.1f} to {max(whole):.1f})", f"{median(alone):.1f}"]
            peaks[1] = f"{median(others) / MIB:.1f}"
        counts = [count(self.hops), count(self.ns2_hops), percent(self.hops, self.ns2_hops)]
        return [self.name.upper(), self.pairs[0][0].engine, *counts, *rates, *ratios, *peaks]


def process_s(run: Run) -> float:
    """From start to exit."""
    return run.process_s


def run_s(run: Run) -> float:
    """Without set-up."""
    return run.run_s


def compare(case: Case, pairs: int, limits: Limits, folder: Path) -> tuple[Comparison, Comparison, str]:
    """Run a case with the default probes, ns-2, and ours with the probes off in turn, `pairs` times.

    Before that each runs once, and ns-2 once more to count its packets; if its first run reaches the limits, it is
    left out.

    Returns
    -------
    tuple
        The comparison with the default probes, that with the probes off, and why ns-2 was left out (else empty).
    """
    default, off = ours(case.scenario), ours(case.scenario, PROBES_OFF)
    other, ns2_hops, why = theirs(case.script, *case.ns2(folder)) if case.script else [], 0, ""
    if not other:
        why = f"{case.name.upper()}: there is no script for ns-2."
    else:
        try:
            measure(other, limits)
            ns2_hops = measure([*other, "count=1"]).packet_hops
        except LimitError as stopped:
            why = f"{case.name.upper()}: ns-2 did not get through; {stopped}."
    hops = measure(default).packet_hops
    with_probes, without = [], []
    for _ in range(pairs):
        run = measure(default)
        peer = measure(other) if ns2_hops else None
        with_probes.append((run, peer))
        without.append((measure(off), peer))
    if {run.packet_hops for run, _ in with_probes + without} != {hops}:
        raise ProcessError(f"{case.name}: our runs of one seed differ in their packet-hops")
    return (
        Comparison(case.name, hops, ns2_hops, with_probes),
        Comparison(case.name, hops, ns2_hops, without),
        why,
    )


def report(cases: Sequence[Case], pairs: int, limits: Limits, tell: Callable[[str], None]) -> str:
    """Compare the cases; two tables in Markdown."""
    found = []
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="speed-") as folder:
            found.append(compare(case, pairs, limits, Path(folder)))
        tell(" | ".join(found[-1][0].row()))
    text = f"Medians of {pairs} pairs. Default probes:\n\n"
    text += table(HEADER, [default.row() for default, _, _ in found])
    text += "\nProbes off:\n\n" + table(HEADER, [off.row() for _, off, _ in found])
    notes = [why for _, _, why in found if why]
    return text + ("\n" + "\n".join(notes) + "\n" if notes else "")


def same_hops(cases: Sequence[Case], tell: Callable[[str], None]) -> str:
    """Count the packet-hops of both with plain RED on either side, for cases that otherwise have another discipline."""
    rows = []
    for case in cases:
        if not case.plain:
            continue
        hops = measure(ours(case.scenario, case.plain)).packet_hops
        with tempfile.TemporaryDirectory(prefix="speed-") as folder:
            other = measure([*theirs(case.script, *case.ns2(Path(folder))), "count=1"]).packet_hops
        rows.append([case.name.upper(), count(hops), count(other), percent(hops, other)])
        tell(" | ".join(rows[-1]))
    return table(("case, RED in both", "packet-hops", "ns-2's", "difference"), rows)
