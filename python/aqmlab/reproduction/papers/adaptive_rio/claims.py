"""The claims of ``claims.toml`` executed."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.adaptive_rio.measure import FIRST, MORE_FLOWS, PERIODS_S, SECOND
from aqmlab.reproduction.papers.adaptive_rio.plan import FILES, FURTHER, PRINTED_FLOWS, Effort, readings
from aqmlab.reproduction.papers.common import Finding, Part, chosen

NUMBERS = ("utilization", "u_be", "on")
"""Numbers of a whole run, each with both meanings of throughput."""
KINDS = ("assured", "best_effort", "total")
"""Throughputs of each period of the first experiment."""
WHOLE = {
    "c_share": "c_share",
    "over_share": "over_share",
    "threshold": "max_th",
    "mean_delay": "mean_delay_ms",
    "drops_assured": "drops_assured",
    "drops_in": "drops_in",
}
"""Numbers of a whole run of the first experiment, and their columns."""


def judge(
    runs: pd.DataFrame,
    *,
    basis: str = "arrived",
    further: Mapping[str, pd.DataFrame] | None = None,
    experiments: pd.DataFrame | None = None,
) -> tuple[list[Finding], list[Part]]:
    """Judge all claims of which there are runs, on the runs of one reading.

    Parameters
    ----------
    runs
        Runs of one reading.
    basis
        What counts as throughput, see `BASES`.
    further
        Runs of other readings that the strict forms are about too, by the name in `FURTHER`.
    experiments
        The rows of all readings, for the answers to objections.
    """
    rows = claim_rows(runs, basis=basis, further=further)
    return common.execute_claims(FILES.claim_file(), rows, experiments=experiments)


def experiment_rows(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all readings, those with another throughput among them."""
    tables = [claim_rows(own).assign(reading=label) for label, own in runs.groupby("reading", sort=False)]
    for reading in FILES.readings():
        if basis := reading.options.get("basis"):
            tables.append(claim_rows(chosen(runs), basis=basis).assign(reading=reading.label))
    return pd.concat(tables, ignore_index=True)


def claim_rows(
    runs: pd.DataFrame, *, basis: str = "arrived", further: Mapping[str, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """Return the table that ``claims.toml`` is about; the arguments are those of `judge`."""
    tables = [by_period(runs, basis)]
    for name, others in (further or {}).items():
        own = by_period(others, basis)
        tables.append(own.assign(case=[f"{case}, {name}" for case in own["case"]]))
    table = pd.concat(tables, ignore_index=True)
    return table[table["case"].isin(FILES.claim_file().columns["case"].values or ())]


def further_runs(runs: pd.DataFrame, effort: Effort) -> dict[str, pd.DataFrame]:
    """Return the runs of the readings in `FURTHER`."""
    found = {FURTHER[r.name]: chosen(runs, reading=r.label) for r in readings(effort) if r.name in FURTHER}
    return {name: own for name, own in found.items() if len(own)}


def by_period(runs: pd.DataFrame, basis: str) -> pd.DataFrame:
    """Return one meaning of throughput, with a row per period for runs of the first experiment."""
    key = runs[["case", "discipline", "seed"]].assign(
        max_th=runs["x"].where(runs["case"] == "figure2", 0),
        off=runs["x"].where(runs["case"].isin(list(SECOND)), 0),
        flows=runs["x"].where(runs["case"] == MORE_FLOWS, PRINTED_FLOWS),
    )
    whole = key.assign(period="", **{name: _column(runs, f"{name}_{basis}") for name in NUMBERS})
    first = runs["case"].isin(FIRST)
    inside = {name: _column(runs, column)[first] for name, column in WHOLE.items()}
    parts = [whole[~first], key[first].assign(period="whole run", **inside)]
    for index, (begin, end) in enumerate(PERIODS_S):
        numbers = {kind: _column(runs, f"{kind}_{index}_{basis}")[first] for kind in KINDS}
        parts.append(key[first].assign(period=f"{begin}-{end} s", **numbers))
    return pd.concat(parts, ignore_index=True).reindex(columns=[*whole, *KINDS, *WHOLE])


def _column(runs: pd.DataFrame, name: str) -> pd.Series:
    return runs[name] if name in runs else pd.Series(float("nan"), index=runs.index)
