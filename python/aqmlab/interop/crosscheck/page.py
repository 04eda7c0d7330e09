"""Measurements of several programs side by side: as rows for a terminal, and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from aqmlab.errors import counted
from aqmlab.interop.crosscheck.agreement import MARGINS, mean_of
from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.reporting.fragments import mean_text
from aqmlab.reporting.page import Page

if TYPE_CHECKING:
    from aqmlab.interop.crosscheck.outcome import CrossCheck, Side

SHOWN = {
    Measure.GOODPUT: ("goodput, Mb/s", 1e-6),
    Measure.UTILIZATION: ("utilization", 1.0),
    Measure.LOSS: ("loss, %", 100.0),
    Measure.MARKS: ("marks, %", 100.0),
    Measure.MEAN_QUEUE: ("mean queue, packets", 1.0),
    Measure.MEAN_BACKLOG: ("mean backlog, packets", 1.0),
    Measure.MEAN_DELAY: ("mean queueing delay, ms", 1e3),
}
"""Measures with their unit for people, and the factor to it."""


def side_by_side(found: CrossCheck) -> pd.DataFrame:
    """Return a row for each measure and place: ours, then each program with its verdict."""
    there = dict.fromkeys(key for run in found.measured.values() for key in run)
    keys = sorted(there, key=lambda key: list(Measure).index(key[0]))
    rows = []
    for measure, place in keys:
        title, factor = SHOWN[measure]
        own = mean_of(measure, [run[measure, place] for run in found.measured.values() if (measure, place) in run])
        here = [(side.name, line) for side in found.sides for line in side.lines]
        lines = {name: line for name, line in here if (line.measure, line.place) == (measure, place)}
        if measure is Measure.MARKS and not own.mean and not any(line.theirs.mean for line in lines.values()):
            continue
        row = {"measure": title, "at": place, "aqmlab": mean_text(own, factor)}
        for side in found.sides:
            if side.lines:
                line = lines.get(side.name)
                row[side.title] = "" if line is None else mean_text(line.theirs, factor)
                row[f"{side.title}: verdict"] = "" if line is None else line.words
        rows.append(row)
    return pd.DataFrame(rows)


def headline(side: Side) -> str:
    """Return a line: the version, the number of runs, and the verdicts of a program."""
    name = f"{side.title} {side.version}" if side.version else side.title
    if side.why_not:
        return f"{name}: not run, {side.why_not}"
    counts: dict[str, int] = {}
    for line in side.lines:
        counts[str(line.agreement)] = counts.get(str(line.agreement), 0) + 1
    return f"{name}: " + ", ".join(f"{n} {word}" for word, n in counts.items())


def margins(factor: float) -> str:
    """Return the sentences that define "equal" and "differs"."""
    return (
        "Equal: the 90 % interval of the difference (Welch; two one-sided tests at 5 %) lies within "
        f"{margin_words(factor)}. Differs: it lies wholly outside."
    )


def margin_words(factor: float) -> str:
    """Return the margins of all measures."""
    said = []
    for measure, (share, least) in MARGINS.items():
        title, unit = SHOWN[measure]
        name, _, of = title.partition(", ")
        said.append(f"{name} {100 * share * factor:g} % or {least * unit * factor:g}{f' {of}' if of else ''}")
    return "; ".join(said)


RNG = (
    "In scripts of your own: ns-2's first draw from a generator follows a small seed (0.00034 times the seed), so that "
    "runs with seeds 1, 2, 3, ... begin nearly alike. The script here takes substreams of one seed."
)


def page_of(found: CrossCheck) -> Page:
    """Make the page."""
    n = len(found.seeds)
    scenario = found.model.scenario
    lead = scenario.description or f"The scenario `{found.name}`."
    page = Page(f"{found.name}: in other programs", f"{lead} {counted(n, 'run')} a program.")
    page.section("Side by side")
    for side in found.sides:
        page.text(f"{headline(side)}.")
    page.table(side_by_side(found), caption="Means with their 95 % intervals; differences are theirs minus ours.")
    page.text(margins(found.margin), note=True)
    if found.model.deterministic:
        page.text("Nothing in the scenario is left to chance: one run a program, compared number by number.", note=True)
    elif any(side.name == "ns2" for side in found.sides):
        page.text(RNG, note=True)
    page.section("Different semantics")
    for side in found.sides:
        page.heading(side.title)
        if side.differences:
            rows = [(one.name, str(one.kind), one.text) for one in side.differences]
            table = pd.DataFrame(rows, columns=["what", "kind", "difference"])
            page.table(table, caption=f"Known differences of {side.title}.")
        else:
            page.text("No difference is known: it has the same rules for all of this scenario.")
    page.section("Scripts")
    page.text("They run unmodified; their heads say how.")
    for side in found.sides:
        for name in side.files:
            text = (side.folder / name).read_text(encoding="utf-8")
            page.code(text, fold=f"{side.title}: {name}")
    page.section("The scenario")
    page.topology(scenario)
    page.code(scenario.normalized, fold="Scenario file, overrides applied")
    return page
