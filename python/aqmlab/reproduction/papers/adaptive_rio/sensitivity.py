"""How much each reading matters: what becomes of the verdicts, and of the effects behind them."""

from __future__ import annotations

import pandas as pd

from aqmlab.reproduction.papers.adaptive_rio.claims import judge
from aqmlab.reproduction.papers.adaptive_rio.effects import gain, over
from aqmlab.reproduction.papers.adaptive_rio.measure import ACTIVE, IDLE, abscissae, values
from aqmlab.reproduction.papers.adaptive_rio.plan import ADAPTIVE, RED, RIO, Effort, concerns, needs_runs, readings
from aqmlab.reproduction.papers.common import BASE, Finding, Reading, chosen, intervals_table, verdicts_by_reading
from aqmlab.statistics import Interval, interval

CHOSEN = ("chosen", "all of those chosen")
PAPERS_OWN = ("E-a", "E-b", "E-c", "E-d", "E-e", "E-f")


def verdicts_table(runs: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """One row per reading, one column per claim; the first row is the chosen one at the same points and seeds."""
    judged: dict[tuple[str, str], list[Finding]] = {}
    for words, own, basis in _all(runs, effort):
        findings, _ = judge(own, basis=basis)
        judged[words] = [finding for finding in findings if finding.claim in PAPERS_OWN]
    return verdicts_by_reading(judged)


def effects_table(runs: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """One row per reading: the sizes of what the claims are about."""
    rows = []
    for (question, name), own, basis in _all(runs, effort):
        row: dict[str, str | float | Interval] = {"question": question, "reading": name}
        rows.append(row | effects(own, basis))
    return intervals_table(rows)


def effects(runs: pd.DataFrame, basis: str) -> dict[str, str | float | Interval]:
    """Return the effects of one reading, as far as it was run."""
    found: dict[str, str | float | Interval] = {}
    cases = set(runs["case"])
    if "figure2" in cases:
        first, *_, last = abscissae(runs, "figure2")
        for x in (first, last):
            utilization = values(runs, f"utilization_{basis}", case="figure2", discipline=RED, x=x)
            found[f"utilization, max_th {x}"] = interval(utilization)
    if "experiment1" in cases:
        for which, title in ((IDLE, "idle"), (ACTIVE, "active")):
            own, rio = (over(runs, "total", basis, which, name) for name in (ADAPTIVE, RIO))
            found[f"total gain while {title}, Mb/s"] = interval(own - rio)
        own, rio = (over(runs, "assured", basis, ACTIVE, name) for name in (ADAPTIVE, RIO))
        found["assured while active, Mb/s"] = interval(own)
        found["assured, share of RIO's"] = interval(own / rio)
    if "experiment2" in cases:
        first, *_, last = abscissae(runs, "experiment2")
        for off in (first, last):
            found[f"gain of U_BE, off {off} s"] = interval(gain(runs, f"u_be_{basis}", "experiment2", off))
        on = values(runs, f"on_{basis}", case="experiment2", discipline=ADAPTIVE, x=last)
        found[f"assured while on, off {last} s, Mb/s"] = interval(on)
    return found


def _all(runs: pd.DataFrame, effort: Effort) -> list[tuple[tuple[str, str], pd.DataFrame, str]]:
    """Return (question, reading), its runs and its throughput for every reading, the chosen one first."""
    base = few(chosen(runs), effort)
    found = [(CHOSEN, base, "arrived")]
    for reading in readings(effort):
        words = (reading.question, reading.name)
        found.append((words, under(runs, base, reading), reading.options.get("basis", "arrived")))
    return found


def under(runs: pd.DataFrame, base: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the runs of one reading; one without runs of its own has those of the chosen reading."""
    if not needs_runs(reading):
        return base
    own = chosen(runs, reading=reading.label)
    return own[own["case"].isin(concerns(reading))]


def few(base: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """Return the chosen reading's runs at the points and seeds at which the other readings are run."""
    wanted = {"figure2": effort.reading_max_th, "experiment1": (0,), "experiment2": effort.reading_off_s}
    at = pd.Series(False, index=base.index)
    for case, where in wanted.items():
        at |= (base["case"] == case) & base["x"].isin(where)
    return base[at & (base["seed"] <= effort.reading_seeds) & (base["reading"] == BASE)]
