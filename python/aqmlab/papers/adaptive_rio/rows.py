"""The table of runs that claims, tables and figures are about: a row per run, or per period of the first experiment."""

from __future__ import annotations

import pandas as pd

from aqmlab.papers.adaptive_rio.measure import BUFFERED, CIR_MBPS, LITTLE, MORE_FLOWS, OF_EXPERIMENT_1, PERIODS, SECOND
from aqmlab.papers.adaptive_rio.plan import BUFFER, DSRED, FILES, FURTHER, PRINTED_FLOWS
from aqmlab.papers.common import BASE, chosen
from aqmlab.papers.common.paper import Study

NUMBERS = ("utilization", "u_be", "on")
"""Numbers of a whole run, each with both meanings of throughput."""
SOME = ("loss_in", "loss_out", "sd_average", "peak_rate", "peak_queue")
"""Numbers of some cases."""
KINDS = ("assured", "best_effort", "total")
"""Throughputs of each period of the first experiment."""
RENAMED = {"max_th": "threshold", "mean_delay_ms": "mean_delay"}
"""Columns of runs, and what claims call them."""


def rows(study: Study) -> pd.DataFrame:
    """Return the runs of all readings, those with another throughput among them.

    Readings that strict forms also test are cases of their own under the chosen reading.
    """
    runs = study.frame
    tables = [by_period(own).assign(reading=label) for label, own in runs.groupby("reading", sort=False)]
    for reading in FILES.readings():
        if basis := reading.options.get("basis"):
            tables.append(by_period(chosen(runs), basis).assign(reading=reading.label))
        if reading.name in FURTHER and len(own := by_period(chosen(runs, reading=reading.label))):
            tables.append(further(own, FURTHER[reading.name]).assign(reading=BASE))
    return pd.concat(tables, ignore_index=True)


def further(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return rows of another reading as cases of their own."""
    return rows.assign(case=[f"{case}, {name}" for case in rows["case"]])


def by_period(runs: pd.DataFrame, basis: str = "arrived") -> pd.DataFrame:
    """Return runs with one meaning of throughput, and a row per period for those of the first experiment."""
    x, case = runs["x"], runs["case"]
    second = case.isin(list(SECOND))
    names = {"experiment1": "first", **{name: "" for name in case if name != "experiment1"}}
    key = runs[["case", "discipline", "seed", "x"]].assign(
        max_th=x.where(case == "figure2", 0),
        min_th=(x // 3).where(case == "figure2", x.where(case == "min_th alone", 0)),
        off=x.where(second, 0),
        rate=x.where(case == LITTLE, round(1000 * CIR_MBPS)),
        flows=x.where(case.isin((MORE_FLOWS, BUFFERED)), PRINTED_FLOWS),
        buffer=_column(runs, "buffer").fillna(BUFFER).astype(int),
        dialect=_column(runs, "dialect").astype(object).fillna(DSRED),
        experiment=[
            f"second, off time {at} s" if of == "experiment2" else names[of] for of, at in zip(case, x, strict=True)
        ],
    )
    first = case.isin(OF_EXPERIMENT_1)
    numbers = {name: _column(runs, f"{name}_{basis}") for name in NUMBERS}
    others = runs.rename(columns=RENAMED).drop(
        columns=[*key[["case", "discipline", "seed", "x", "buffer", "dialect"]], "reading"], errors="ignore"
    )
    numbers |= {name: _column(runs, name) for name in SOME}
    whole = pd.concat([key.assign(period=""), others.assign(**numbers)], axis=1)
    whole.loc[first, "period"] = "whole run"
    tables = [whole]
    for index, period in enumerate(PERIODS):
        throughputs = {kind: _column(runs, f"{kind}_{index}_{basis}")[first] for kind in KINDS}
        tables.append(key[first].assign(period=period, **throughputs))
    return pd.concat(tables, ignore_index=True)


def _column(runs: pd.DataFrame, name: str) -> pd.Series:
    return runs[name] if name in runs else pd.Series(float("nan"), index=runs.index)
