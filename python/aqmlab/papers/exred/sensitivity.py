"""How the verdicts and the numbers behind them move from reading to reading."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from aqmlab.papers.common import (
    Finding,
    chosen,
    difference,
    intervals_table,
    measured,
    verdicts_by_reading,
)
from aqmlab.papers.exred.claims import judge
from aqmlab.papers.exred.plan import EXRED, READING_LOADS, RED, Effort, in_open_loop, readings, under_tcp
from aqmlab.statistics import Interval

CHOSEN = ("chosen", "all of those chosen")


def verdicts(loops: pd.DataFrame, tcp: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """Return the verdicts under every reading; the first row is the chosen one on the same loads and seeds."""
    judged: dict[tuple[str, str], Iterable[Finding]] = {}
    for name, own_loops, own_tcp in _by_reading(loops, tcp, effort):
        judged[name] = judge(own_loops, own_tcp)[0]
    return verdicts_by_reading(judged)


def numbers(loops: pd.DataFrame, tcp: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """Return some numbers of the open loop under every reading."""
    rows: list[dict[str, str | float | Interval]] = []
    for (question, name), own, _ in _by_reading(loops, tcp, effort):
        if own is None:
            continue
        row: dict[str, str | float | Interval] = {"question": question, "reading": name}
        for scheme in (RED, EXRED):
            row[f"P_drop at load 1, {scheme}"] = measured(own, "p_drop", scheme=scheme, load=1.0)
        gain = difference(own, "throughput", {"scheme": EXRED, "load": 1.05}, {"scheme": RED, "load": 1.05})
        row["throughput at 1.05, ExRED - RED"] = gain
        for scheme in (RED, EXRED):
            row[f"E(N) at 1.2, {scheme}"] = measured(own, "mean_run", scheme=scheme, load=1.2)
        for scheme in (RED, EXRED):
            row[f"wait at 1.2, {scheme}, ms"] = measured(own, "wait_ms", scheme=scheme, load=1.2)
        rows.append(row)
    return intervals_table(rows)


def _by_reading(
    loops: pd.DataFrame, tcp: pd.DataFrame, effort: Effort
) -> list[tuple[tuple[str, str], pd.DataFrame | None, pd.DataFrame | None]]:
    few_loops = loops[loops["load"].isin(READING_LOADS) & (loops["seed"] <= effort.reading_seeds)]
    few_tcp = tcp[tcp["seed"] <= effort.reading_seeds]
    found: list[tuple[tuple[str, str], pd.DataFrame | None, pd.DataFrame | None]]
    found = [(CHOSEN, chosen(few_loops), chosen(few_tcp))]
    for reading in readings(effort):
        name = (reading.question, reading.name)
        own_loops = chosen(loops, reading=reading.label) if in_open_loop(reading) else None
        own_tcp = chosen(tcp, reading=reading.label) if under_tcp(reading) else None
        found.append((name, own_loops, own_tcp))
    return found
