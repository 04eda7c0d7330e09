"""The table of runs, where runs with marks and with other parameters are further columns."""

from __future__ import annotations

import pandas as pd

from aqmlab.papers.common import BASE, Study
from aqmlab.papers.mred.plan import ECN, SETTINGS

PLACE = ["case", "n", "discipline", "seed", "reading"]
MARKED = {"throughput": "ecn_throughput", "loss_trace": "ecn_loss"}
"""Quantities of runs with ECN, and their columns beside the run without."""
SPREADS = {"throughput": "spread_throughput", "loss_trace": "spread_loss", "mean_queue": "spread_queue"}
"""Quantities whose spread over the settings is a column of the run with the printed setting."""


def rows(study: Study) -> pd.DataFrame:
    """Return a row per run with printed parameters, under every reading."""
    return table_of(study.frame)


def table_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with printed parameters; those of the chosen reading also have `MARKED`, headlines `SPREADS`."""
    varied = runs["case"] == SETTINGS
    found, marked = runs[~varied], runs[runs["reading"] == ECN]
    marks = marked[[*PLACE, *MARKED]].rename(columns=MARKED).assign(reading=BASE)
    for columns in (marks, spreads(runs[varied], found)):
        found = found.merge(columns, how="left", on=PLACE)
    return found


def spreads(varied: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return the largest less the smallest value over all settings, by discipline, reading and seed."""
    others = varied.assign(case="sole")
    both = pd.concat([others, printed.merge(others[PLACE].drop_duplicates())])
    groups = both.groupby(PLACE, sort=False)[list(SPREADS)]
    return (groups.max() - groups.min()).rename(columns=SPREADS).reset_index()
