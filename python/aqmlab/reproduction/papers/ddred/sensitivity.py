"""How much each reading and form matters: what DDRED changes under it, its fit to Table I, the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.common import BASE, Finding, Setup, chosen, intervals_table, pick, verdicts_by_reading
from aqmlab.reproduction.papers.ddred.claims import judge
from aqmlab.reproduction.papers.ddred.measure import change, counted, crossing, gains, values
from aqmlab.reproduction.papers.ddred.plan import DISCIPLINES, TABLE_LATENCIES, Effort, Variant
from aqmlab.reproduction.papers.ddred.published import printed_mean
from aqmlab.reproduction.papers.ddred.sweep import FLOWS, printed, rms_log_ratio
from aqmlab.statistics import Interval

NETWORKS = ("bus", "flower")
CHANGED = ("L", "S", "T")
CHOSEN = ("chosen", "all of those chosen")
Key = tuple[str, str]


def by_variant(runs: pd.DataFrame, variants: Sequence[Variant], effort: Effort) -> dict[Key, pd.DataFrame]:
    """Return the runs of each variant, those of the chosen reading first, on the same seeds as the others."""
    most = {"bus": effort.reading_seeds, "flower": effort.flower_reading_seeds, "pair": effort.reading_seeds}
    few = runs[runs["seed"] <= runs["case"].map(most)]
    base = chosen(few)
    found = {CHOSEN: base}
    for variant in variants:
        own = counted(base[base["case"].isin(NETWORKS)], variant.count) if variant.count else None
        found[variant.question, variant.name] = chosen(few, reading=variant.label) if own is None else own
    return found


def sizes(found: Mapping[Key, pd.DataFrame]) -> pd.DataFrame:
    """Return what DDRED changes under each variant, and how well the printed means and Table I's rows are met."""
    rows = []
    for (question, name), runs in found.items():
        row: dict[str, str | float | Interval] = {"question": question, "reading": name}
        have = set(runs["case"])
        for case in NETWORKS:
            for quantity in CHANGED:
                row[f"{quantity} ({case}), %"] = change(runs, case, quantity) if case in have else _nothing()
            for discipline in DISCIPLINES:
                error = means_error(runs, case, discipline) if case in have else np.nan
                row[f"{case} {discipline}, rms log ratio"] = error
        for discipline in DISCIPLINES:
            row[f"Table I {discipline}, rms log ratio"] = table_error(runs, discipline) if "pair" in have else np.nan
        row["equal at, ms"] = crossing(runs) if "pair" in have else np.nan
        rows.append(row)
    return intervals_table(rows)


def verdicts(
    found: Mapping[Key, pd.DataFrame], setups: Sequence[Setup], variants: Sequence[Variant], root: Path, effort: Effort
) -> pd.DataFrame:
    """Return the verdict on every claim under each variant."""
    labels = {CHOSEN: BASE} | {(v.question, v.name): BASE if v.count else v.label for v in variants}
    judged: dict[Key, list[Finding]] = {}
    for key, runs in found.items():
        pair = [pick(setups, reading=labels[key], case="flower", discipline=d) for d in DISCIPLINES]
        gained = None
        if all(pair):
            table = gains(pair[0][0], pair[1][0], root)
            gained = table[table["seed"] <= effort.flower_reading_seeds]
        judged[key] = judge(runs, gained)[0]
    return verdicts_by_reading(judged)


def means_error(runs: pd.DataFrame, case: str, discipline: str) -> float:
    """Root mean square of log(measured / printed) over the means of L, S and T."""
    means = [float(np.mean(values(runs, quantity, case=case, discipline=discipline))) for quantity in CHANGED]
    return rms_log_ratio(means, [printed_mean(case, quantity, discipline) for quantity in CHANGED])


def table_error(runs: pd.DataFrame, discipline: str) -> float:
    """Root mean square of log(measured / printed) over the eight cells of a row of Table I."""
    means = [
        float(np.mean(values(runs, flow, case="pair", latency=latency, discipline=discipline)))
        for latency in TABLE_LATENCIES
        for flow in FLOWS
    ]
    return rms_log_ratio(means, printed(discipline))


def _nothing() -> Interval:
    return Interval(np.nan, np.nan, 0, np.nan, np.nan)
