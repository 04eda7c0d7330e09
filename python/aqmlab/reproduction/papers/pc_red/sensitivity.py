"""How much each reading matters: the numbers of Network 1 and the verdicts under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from aqmlab.reproduction.papers.common import Finding, chosen, intervals_table, values, verdicts_by_reading
from aqmlab.reproduction.papers.pc_red.claims import judge
from aqmlab.reproduction.papers.pc_red.measure import BIN_S, OTHER_BINS_S, SHORT_S, with_bins
from aqmlab.reproduction.papers.pc_red.plan import CASES, FILES, Effort, readings
from aqmlab.reproduction.papers.pc_red.tables import typical_factor
from aqmlab.statistics import Interval, interval

CHOSEN = ("chosen", "all of those chosen")
CLAIMED = [name for name, case in CASES.items() if case.claimed]

NUMBERS = {
    "RED: average": ("RED", "average_mean"),
    "RED: s.d.": ("RED", "average_sd"),
    "PC-RED: average": ("PC-RED", "average_mean"),
    "PC-RED: s.d.": ("PC-RED", "average_sd"),
    "PC-RED: mid-range, KB/s": ("PC-RED", "high_mid"),
    "w = 3e-5: mid-range, KB/s": ("w = 3e-5", "high_mid"),
    "10 %: a_d High": ("10 %", "high_a_d"),
    "10 %: a_d Non": ("10 %", "non_a_d"),
    "30 %: a_d High": ("30 %", "high_a_d"),
    "30 %: a_d Non": ("30 %", "non_a_d"),
    "10 %: High, KB/s": ("10 %", "high_mid"),
    "10 %: Non, KB/s": ("10 %", "non_mid"),
    "30 %: High, KB/s": ("30 %", "high_mid"),
    "30 %: Non, KB/s": ("30 %", "non_mid"),
}
"""Column to case and quantity; the throughputs are mid-ranges of the observed flow."""

MESH_NUMBERS = {
    "10 %: High": ("mesh, 10 %", "high_class"),
    "10 %: Non": ("mesh, 10 %", "non_class"),
    "30 %: High": ("mesh, 30 %", "high_class"),
    "30 %: Non": ("mesh, 30 %", "non_class"),
    "w = 5e-3: the observed flow": ("mesh, w = 5e-3", "high_mean"),
    "w = 3e-3: the observed flow": ("mesh, w = 3e-3", "high_mean"),
}
"""Column to case and quantity: means in KB/s."""


def under_readings(runs: pd.DataFrame, effort: Effort) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Give question, reading and the runs of Network 1 under it; the chosen one first, on as few seeds as the others.

    A case that a reading leaves as it is has the runs of the chosen one.
    """
    few = runs[(runs["seed"] <= effort.reading_seeds) & runs["case"].isin(CLAIMED)]
    base = chosen(few)
    yield CHOSEN, base
    for reading in readings(effort):
        own = chosen(few, reading=reading.label)
        if own.empty:
            continue
        rest = base[~base["case"].isin(set(own["case"]))]
        yield (reading.question, reading.name), pd.concat([own, rest], ignore_index=True)


def readings_table(runs: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """One row per reading: by what factor it misses Tables I, II and IV, and the numbers of `NUMBERS`."""
    rows: list[Mapping[str, str | float | Interval]] = []
    for (question, reading), own in under_readings(runs, effort):
        row: dict[str, str | float | Interval] = {"question": question, "reading": reading}
        row["typical factor to the printed"] = round(typical_factor(own), 3)
        row |= {title: interval(values(own, key, case=case)) for title, (case, key) in NUMBERS.items()}
        rows.append(row | {"seeds": effort.reading_seeds})
    return intervals_table(rows)


UNMOVED = ("A4", "A5a", "A5c", "A5d", "O1")
"""Claims that are calculated, or rest on runs that no reading changes."""


def verdicts(runs: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """How the verdicts on the claims about Network 1 move."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for key, own in under_readings(runs, effort):
        findings, _ = judge(own)
        found[key] = [finding for finding in findings if finding.claim not in UNMOVED]
    return verdicts_by_reading(found)


def verdicts_by_bins(base: pd.DataFrame) -> pd.DataFrame:
    """Return how the verdicts move with the width of the bins, on all runs of the chosen reading."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for reading in FILES.readings():
        if width := reading.options.get("bins_s"):
            found[reading.question, reading.chosen] = judge(base)[0]
            found[reading.question, reading.name] = judge(with_bins(base, width))[0]
    return verdicts_by_reading({key: [f for f in own if f.claim not in UNMOVED] for key, own in found.items()})


def mesh(runs: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """What the readings of Network 2 make of it; empty if none was tried."""
    few = runs[(runs["seed"] <= effort.reading_seeds) & (runs["network"] == "network2")]
    tried = {CHOSEN: chosen(few)}
    tried |= {(r.question, r.name): chosen(few, reading=r.label) for r in readings(effort)}
    rows: list[Mapping[str, str | float | Interval]] = []
    for (question, reading), own in tried.items():
        if own.empty:
            continue
        row: dict[str, str | float | Interval] = {"question": question, "reading": reading}
        row |= {title: interval(values(own, key, case=case)) for title, (case, key) in MESH_NUMBERS.items()}
        rows.append(row | {"seeds": min(effort.reading_seeds, effort.mesh_seeds)})
    return intervals_table(rows if len(rows) > 1 else [])


def measurement(runs: pd.DataFrame) -> pd.DataFrame:
    """Readings of how the paper measured, which need no runs: averages, bins, and what counts as fluctuation."""
    averages = {f"mid-range of {BIN_S:g} s bins (chosen)": "{}_mid", "mean": "{}_mean", "mean of the class": "{}_class"}
    averages |= {f"mid-range of {width:g} s bins": f"{{}}_mid_{width:g}s" for width in OTHER_BINS_S}
    averages |= {"with duplicates": "{}_arrived_mid", f"first {SHORT_S:g} s only": "{}_mid_short"}
    losses = {"after 100 s (chosen)": "{}_a_d", "second half of the run": "{}_a_d_late", "class mean": "{}_a_d_class"}
    spreads = {
        "s.d. after 100 s (chosen)": "{}_a_d_sd",
        "half-range after 100 s": "{}_a_d_half_range",
        "s.d. in the second half": "{}_a_d_late_sd",
    }
    rows: list[Mapping[str, str | float | Interval]] = []
    for quantity, ways, cases in (
        ("average throughput, KB/s", averages, _OBSERVED),
        ("a_d, bytes in g", losses, _OBSERVED[2:]),
        ("fluctuation of a_d, bytes in g", spreads, _OBSERVED[2:]),
    ):
        for way, key in ways.items():
            row: dict[str, str | float | Interval] = {"quantity": quantity, "reading": way}
            for title, case, group in _OBSERVED:
                there = (title, case, group) in cases
                row[title] = interval(values(runs, key.format(group), case=case)) if there else interval([])
            rows.append(row)
    return intervals_table(rows)


_OBSERVED = (
    ("RED", "RED", "high"),
    ("PC-RED", "PC-RED", "high"),
    ("w = 5e-3", "w = 5e-3", "high"),
    ("10 % High", "10 %", "high"),
    ("10 % Non", "10 %", "non"),
    ("30 % High", "30 %", "high"),
    ("30 % Non", "30 %", "non"),
)
"""Column, case and class."""
