"""Finds impossible intervals in the tables that `aqmlab reproduce` writes.

The bounds of a mean follow from the titles of files and columns here, not from the package's own table of bounds.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pandas as pd

DIFFERENCE = re.compile(r" - |\bless\b|difference|\bgain\b|lead|change, %")
"""Titles and files of differences, which may be negative."""
SHARE = re.compile(
    r"utilization|\bloss\b|Jain|P_drop|U_BE|min/max|drops / arrivals|C_p\+|r_p at|share of (the|high|protected)"
)
"""Titles of quantities between 0 and 1."""
SHARE_FILES = ("mred/table-2", "mred/table-4", "mred/loss-both", "mred/loss-data", "mred/differences-loss")
SHARE_FILES += ("exred/by-load-drops", "pc-red/drop-probabilities", "pc-red/model-channels")
RUNS_OF_DROPS = re.compile(r"drops-in-a-row|E\(N\)")
"""A run of drops has at least one."""
ROUNDING = 1e-5
"""Bytes counted at a receiver may exceed what its link carries in the same time by a packet."""
COLUMNS = ["file", "title", "mean", "low", "high", "least", "greatest"]


def intervals_of(folder: Path) -> pd.DataFrame:
    """Return all intervals in the tables of a paper, with the bounds of each mean."""
    rows = []
    for path in sorted(folder.glob("*.csv")):
        table = pd.read_csv(path)
        for column in table.columns:
            if column.endswith(" low"):
                title = column.removesuffix(" low")
                means = table["difference" if path.stem == "claim-parts" else title]
                limits = possible(f"{folder.name}/{path.stem}", title)
                ends = zip(means, table[column], table[f"{title} high"], strict=True)
                rows += [(path.name, title, mean, low, high, *limits) for mean, low, high in ends]
    return pd.DataFrame(rows, columns=COLUMNS)


def possible(file: str, title: str) -> tuple[float, float]:
    """Return the least and the greatest mean of a column."""
    share = file in SHARE_FILES or bool(SHARE.search(title))
    if file.endswith("/claim-parts"):
        return -math.inf, math.inf
    if title.endswith("%"):
        return -100.0, math.inf
    if "difference" in file or DIFFERENCE.search(title):
        return (-1.0, 1.0) if share else (-math.inf, math.inf)
    if share:
        return 0.0, 1.0
    return (1.0 if RUNS_OF_DROPS.search(f"{file} {title}") else 0.0), math.inf


def impossible(found: pd.DataFrame) -> pd.DataFrame:
    """Return the intervals without their mean, beyond the bounds of the mean, or with one end.

    An interval with one end at its mean was clipped to wrong bounds, unless the mean is at a bound.
    """
    whole = found["low"].notna() & found["high"].notna()
    ordered = (found["low"] <= found["mean"]) & (found["mean"] <= found["high"])
    inside = (found["least"] <= found["low"]) & (found["high"] <= found["greatest"] + ROUNDING)
    at_mean = (found["low"] == found["mean"]) ^ (found["high"] == found["mean"])
    at_bound = (found["mean"] <= found["least"]) | (found["mean"] >= found["greatest"])
    none = found["low"].isna() & found["high"].isna()
    return found[~(none | (whole & ordered & inside & (~at_mean | at_bound)))]


def assert_possible(folder: Path) -> None:
    """Check all intervals of a paper's tables."""
    found = intervals_of(folder)
    assert len(found) > 50
    assert impossible(found).empty, impossible(found).to_string()
