"""Numbers of an independent implementation, and the curves they belong to."""

from __future__ import annotations

import csv
import lzma
import math
from functools import cache
from pathlib import Path

import numpy as np

from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.chain import Chain, solve_chain
from aqmlab.theory.queueing.runs import Runs, consecutive_drops

DATA = Path(__file__).resolve().parents[2] / "data"
CAPACITY = 100
SERVICE_RATE = 1000.0
SERIES = ("taildrop", "red", "gentle_red", "mred", "exred")
LOADS = (0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0)


def rows(section: str) -> list[dict[str, str]]:
    """Return the rows of a section."""
    for path in (DATA / "oracle" / f"{section}.csv", DATA / "analysis" / f"{section}.csv"):
        if path.exists():
            return list(csv.DictReader(path.read_text().splitlines()))
    with lzma.open(DATA / "analysis" / f"{section}.csv.xz", "rt") as file:
        return list(csv.DictReader(file))


@cache
def curve(series: str, *, max_p: float = 0.1, k_l: float = 10, k_h: float = 30, limit: float = CAPACITY) -> DropCurve:
    """Return a curve by the oracle's name."""
    if series == "taildrop":
        return DropCurve.none(limit=limit)
    return DropCurve.of(series.replace("_", "-"), min_th=k_l, max_th=k_h, max_p=max_p, limit=limit)


@cache
def chain(series: str, load: float) -> Chain:
    """Return the chain of a curve at the papers' parameters."""
    return solve_chain(curve(series), load=load, capacity=CAPACITY, service_rate=SERVICE_RATE)


@cache
def runs(series: str, load: float) -> Runs:
    """Return its runs of drops."""
    return consecutive_drops(chain(series, load))


def no_drops(k_l: float = 10, k_h: float = 30) -> DropCurve:
    """Return RED with max_p = 0: no drop below k_h, always above."""
    return DropCurve("RED, max_p = 0", lambda x: (x >= k_h).astype(float), k_l, k_h, (k_l, k_h))


def certain_drops(k_l: float = 10, k_h: float = 30) -> DropCurve:
    """Return RED with max_p = 1: a ramp without a jump."""
    return DropCurve("RED, max_p = 1", lambda x: np.clip((x - k_l) / (k_h - k_l), 0, 1), k_l, k_h, (k_l, k_h))


def same(found: float | None, expected: float, relative: float = 1e-9) -> bool:
    """Whether a number is the oracle's; ``nan`` there means that there is no value."""
    if found is None:
        return math.isnan(expected)
    return found == expected or abs(found - expected) <= relative * abs(expected)
