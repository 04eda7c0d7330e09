"""The paper's claims C1a to C3e, each decided by runs. Differences are DDRED - RED, paired by seed."""

from __future__ import annotations

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part, above, below
from aqmlab.reproduction.papers.ddred import reasons
from aqmlab.reproduction.papers.ddred.measure import values
from aqmlab.reproduction.papers.ddred.plan import CASES, FIGURE_LATENCY, FILES, TABLE_LATENCIES
from aqmlab.statistics import Verdict

FAIRER_RED = (1, 2, 5)
"""Latencies in ms below the 10 ms up to which the paper finds RED fairer."""
FAIRER_DDRED = (15, 20, 30, 50, 75, 100)
"""Latencies in ms from 10 to 100 ms, where the paper finds DDRED fairer."""
EQUAL_BETWEEN = (10, 30)
"""Latencies in ms between which DDRED's flows are equal, if they are so near 20 ms."""
NEAR_SHARE = 0.15
"""The share of the bandwidth that PCs2 keeps in the most unfavourable case."""
TURNS = 0.2
"""The lead alternates if neither flow leads in less than this share of the bins."""


def judge(runs: pd.DataFrame, gains: pd.DataFrame | None = None) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading; those whose network was not run are left out.

    Parameters
    ----------
    runs
        What `measure` found.
    gains
        What the transfers of the flower gain, by seed; None leaves claim C2d out.
    """
    parts: list[Part] = []
    have = set(runs["case"])
    if "bus" in have:
        parts += _network_parts(runs, "bus", {"L": ("C1a", above), "d": ("C1b", below), "S": ("C1c", below)})
        parts += _network_parts(runs, "bus", {"T": ("C1d", below)})
    if "flower" in have:
        parts += _network_parts(runs, "flower", {"L": ("C2a", below), "S": ("C2b", below), "d": ("C2b", below)})
        parts += _network_parts(runs, "flower", {"T": ("C2c", below)})
        parts += [] if gains is None else _gain_parts(gains)
    if "pair" in have:
        parts += _fairness_parts(runs) + _equality_parts(runs) + _total_parts(runs) + _turn_parts(runs)

    def extra(claim: str, against: str, verdict: Verdict) -> list[str]:
        return reasons.lines(claim, runs, gains, verdict)

    return common.judge(parts, FILES.claims(), extra=extra), parts


WHAT = {"L": "lost packets", "S": "S, slots", "d": "mean distance S/L of the losses", "T": "T, s"}


def _network_parts(runs: pd.DataFrame, case: str, claims: dict[str, tuple[str, object]]) -> list[Part]:
    parts = []
    for quantity, (claim, judged) in claims.items():
        ddred = values(runs, quantity, case=case, discipline="DDRED")
        red = values(runs, quantity, case=case, discipline="RED")
        make = above if judged is above else below
        parts.append(make(claim, f"{WHAT[quantity]}, DDRED - RED", ddred, red, case=CASES[case], aspect=WHAT[quantity]))
    return parts


def _gain_parts(gains: pd.DataFrame) -> list[Part]:
    better, worse, gained, lost = (gains[name].to_numpy(dtype=float) for name in ("better", "worse", "gained", "lost"))
    case = CASES["flower"]
    return [
        above("C2d", "better transfers less worse ones", better, worse, case=case, aspect="number"),
        above("C2d", "seconds gained less seconds lost", gained, lost, case=case, aspect="time"),
    ]


def _fairness_parts(runs: pd.DataFrame) -> list[Part]:
    parts = []
    for claim, latencies, make in (("C3a", FAIRER_RED, below), ("C3b", FAIRER_DDRED, above)):
        for latency in latencies:
            pair = [values(runs, "fairness", case="pair", latency=latency, discipline=d) for d in ("DDRED", "RED")]
            place = {"latency in ms": latency}
            parts.append(make(claim, "min/max of the throughputs, DDRED - RED", *pair, at=place, aspect="fairness"))
    nearest = {"case": "pair", "latency": FAIRER_RED[0], "discipline": "DDRED"}
    at = {"latency in ms": FAIRER_RED[0]}
    lead = values(runs, "log_ratio", **nearest)
    share = values(runs, "near_share", **nearest)
    parts.append(above("C3a", "log(PCs1 / PCs2) under DDRED", lead, at=at, aspect="PCs1 ahead"))
    aspect = f"PCs2 keeps {NEAR_SHARE:.0%}"
    parts.append(above("C3a", f"share of PCs2 under DDRED, less {NEAR_SHARE}", share, NEAR_SHARE, at=at, aspect=aspect))
    return parts


def _equality_parts(runs: pd.DataFrame) -> list[Part]:
    return [
        make(
            "C3c",
            "log(PCs1 / PCs2) under DDRED",
            values(runs, "log_ratio", case="pair", latency=latency, discipline="DDRED"),
            at={"latency in ms": latency},
        )
        for make, latency in zip((above, below), EQUAL_BETWEEN, strict=True)
    ]


def _total_parts(runs: pd.DataFrame) -> list[Part]:
    return [
        above(
            "C3d",
            "sum of the throughputs, DDRED - RED, KB/s",
            values(runs, "total", case="pair", latency=latency, discipline="DDRED"),
            values(runs, "total", case="pair", latency=latency, discipline="RED"),
            at={"latency in ms": latency},
        )
        for latency in TABLE_LATENCIES
    ]


def _turn_parts(runs: pd.DataFrame) -> list[Part]:
    where = {"case": "pair", "latency": FIGURE_LATENCY}
    share = values(runs, "second_lead", **where, discipline="DDRED")
    changes = [values(runs, "changes", **where, discipline=d) for d in ("DDRED", "RED")]
    at = {"latency in ms": FIGURE_LATENCY}
    what = f"share of the bins led by the flow that leads less often under DDRED, less {TURNS}"
    return [
        above("C3e", what, share, TURNS, at=at, aspect="both lead"),
        above("C3e", "changes of the lead, DDRED - RED", *changes, at=at, aspect="changes"),
    ]
