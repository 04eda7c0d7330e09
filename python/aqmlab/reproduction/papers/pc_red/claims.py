"""The paper's claims A1a to A5d, and our own on the admission limit, each decided by runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part, above, below, between, exact, values
from aqmlab.reproduction.papers.pc_red.measure import LIMIT
from aqmlab.reproduction.papers.pc_red.model_claims import all_above, channels, critical, stable
from aqmlab.reproduction.papers.pc_red.plan import CHANNEL_CASES, FILES
from aqmlab.reproduction.papers.pc_red.reasons import reasons
from aqmlab.theory.control.pc_red import intervals_to_cross

AVERAGES = {"mid": "mid-range", "mean": "mean"}
"""Both readings of the printed average."""
THREE = (2.0, 4.0)
"""What counts as about three times."""
MORE = 1.1
"""What counts as more, as a ratio; the printed ratios are 3.4 and 2.2."""
SAME = (0.9, 1.1)
"""What counts as the same, as a ratio."""
LATE_S = 2700.0
"""Until then a_d is printed to stay below L with the small w."""
DURATION_S = 3000.0
STARVED_KBPS = 1.0
"""Twice the printed mid-range of a starved flow, 0.5 KB/s."""
ANSWER = (50, 100)
"""Intervals within which a_d should reach L, and the weights printed for it."""
ANSWER_WEIGHTS = (0.003, 0.03)


def judge(runs: pd.DataFrame) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading; parts whose runs are not there are left out."""
    there = set(runs["case"])
    parts = [part for needs, make in _PARTS if there.issuperset(needs) for part in make(runs)]
    return common.judge(parts, FILES.claims(), extra=lambda claim, against, _: reasons(runs, claim, against)), parts


def of(runs: pd.DataFrame, case: str, quantity: str) -> np.ndarray:
    """Return one quantity of one case, by seed."""
    return values(runs, quantity, case=case)


def crossing(runs: pd.DataFrame, case: str) -> np.ndarray:
    """When a_d first passes L, in s; the end of the run if it never does."""
    found: np.ndarray = np.nan_to_num(of(runs, case, "crossing_s"), nan=DURATION_S)
    return found


def _times(claim: str, what: str, runs: pd.DataFrame, high: tuple[str, str], low: tuple[str, str]) -> list[Part]:
    """Parts that say that the throughput of one is about three times that of the other, in both averages."""
    parts = []
    for key, title in AVERAGES.items():
        a, b = (of(runs, case, f"{group}_{key}") for case, group in (high, low))
        least, most = THREE
        parts += [
            above(
                claim, f"{what}, less {least:g} times, {title}, KB/s", a, least * b, aspect=f"at least {least:g} times"
            ),
            below(claim, f"{what}, less {most:g} times, {title}, KB/s", a, most * b, aspect=f"at most {most:g} times"),
        ]
    return parts


def _three_times(runs: pd.DataFrame) -> list[Part]:
    return _times("A1a", "throughput under PC-RED and under RED", runs, ("PC-RED", "high"), ("RED", "high"))


def _queue(runs: pd.DataFrame) -> list[Part]:
    same = _ratio(runs, "PC-RED", "average_mean", "RED", "average_mean")
    sd = [of(runs, case, "average_sd") for case in ("PC-RED", "RED")]
    return [
        between("A1b", "mean of the average, PC-RED / RED", same, *SAME),
        above("A1c", "s.d. of the average, PC-RED - RED, packets", *sd),
    ]


def _weights(runs: pd.DataFrame, large: str, small: str, *, against: str, case: str) -> list[Part]:
    return [
        above(
            "A2a",
            f"throughput, {large} less {MORE:g} times {small}, {title}, KB/s",
            of(runs, large, f"high_{key}"),
            MORE * of(runs, small, f"high_{key}"),
            against=against,
            case=case,
            aspect=title,
        )
        for key, title in AVERAGES.items()
    ]


def _small_weight(runs: pd.DataFrame) -> list[Part]:
    alike = _ratio(runs, "w = 3e-5", "high_mean", "unprotected", "high_mean")
    return [
        above("A2b", f"a_d passes L, s after {LATE_S:g} s", crossing(runs, "w = 3e-5"), LATE_S, aspect="below L"),
        between("A2b", "mean throughput / the same with nobody protected", alike, *SAME, aspect="as unprotected"),
    ]


def _shares(runs: pd.DataFrame) -> list[Part]:
    parts = _times("A3a", "throughput of High and of Non", runs, ("10 %", "high"), ("10 %", "non"))
    few, many = (of(runs, case, "high_a_d") for case in ("10 %", "30 %"))
    parts += [
        between(
            "A3b", "a_d of High with 10 %, bytes", few, *(bound * LIMIT for bound in SAME), aspect="held at L with 10 %"
        ),
        above("A3b", f"a_d of High with 30 % less L = {LIMIT:g}, bytes", many, LIMIT, aspect="above L with 30 %"),
        above("A3b", "a_d of High, 30 % less 10 %, bytes", many, few, aspect="higher with 30 %"),
        below(
            "A3c",
            f"mid-range of Non less {STARVED_KBPS:g} KB/s",
            of(runs, "30 %", "non_mid"),
            STARVED_KBPS,
            aspect="Non starved",
        ),
        *(
            above(
                "A3c",
                f"s.d. of a_d of Non {when}, 30 % less 10 %, bytes",
                of(runs, "30 %", f"non_a_d{key}_sd"),
                of(runs, "10 %", f"non_a_d{key}_sd"),
                aspect=f"a_d of Non swings more, {when}",
            )
            for key, when in (("", "after 100 s"), ("_late", "second half"))
        ),
    ]
    return parts + [
        below(
            "A3c",
            f"throughput of High, 30 % less 10 %, {title}, KB/s",
            of(runs, "30 %", f"high_{key}"),
            of(runs, "10 %", f"high_{key}"),
            aspect="High lower",
        )
        for key, title in AVERAGES.items()
    ]


def _mesh(runs: pd.DataFrame) -> list[Part]:
    parts = []
    for share in ("10 %", "30 %"):
        mesh = f"mesh, {share}"
        high, non = of(runs, mesh, "high_class"), of(runs, mesh, "non_class")
        parts.append(
            above(
                "A3d", f"class means, High - Non with {share}, KB/s", high, non, aspect=f"High above Non with {share}"
            )
        )
        if share in set(runs["case"]):
            single = _ratio(runs, share, "high_class", share, "non_class")[: len(high)]
            parts.append(
                below(
                    "A3d",
                    f"High / Non with {share}, Network 2 less Network 1",
                    high / non,
                    single,
                    aspect=f"smaller gap with {share}",
                )
            )
    return parts + [
        below(
            "A3d",
            f"{title}, 30 % less 10 %, KB/s",
            of(runs, "mesh, 30 %", f"{key}_class"),
            of(runs, "mesh, 10 %", f"{key}_class"),
            aspect=f"{title} lower with 30 %",
        )
        for key, title in (("high", "High"), ("non", "Non"))
    ]


def _range_of_w(_: pd.DataFrame) -> list[Part]:
    parts = []
    for w in ANSWER_WEIGHTS:
        n = intervals_to_cross(w)
        parts.append(
            exact(
                "A4", f"intervals until a_d is above L, w = {w:g}", n, ANSWER[0] <= n <= ANSWER[1], at={"w": f"{w:g}"}
            )
        )
    return parts


def _limit(runs: pd.DataFrame) -> list[Part]:
    held = of(runs, "refuse", "high_a_d")
    as_non = _ratio(runs, "refuse", "late_class", "refuse", "non_class")
    high, non = ([of(runs, case, f"{group}_class") for case in ("refuse", "no limit")] for group in ("high", "non"))
    what = "with the limit less without, KB/s"
    return [
        between("O1", "a_d of High with the limit, bytes", held, *(bound * LIMIT for bound in SAME), aspect="a_d at L"),
        between("O1", "throughput of the refused flows / of Non", as_non, *SAME, aspect="refused flows are as Non"),
        above("O1", f"throughput of Non, {what}", *non, aspect="Non gains"),
        above("O2", f"throughput of High, {what}", *high),
    ]


def _ratio(runs: pd.DataFrame, case: str, quantity: str, other: str, below: str) -> np.ndarray:
    found: np.ndarray = of(runs, case, quantity) / of(runs, other, below)
    return found


_EXP2: Sequence[tuple[str, str, str, str]] = (
    ("w = 5e-3", "w = 3e-3", "w = 3e-3 (tables)", "Network 1"),
    ("w = 5e-3", "w = 3e-5", "w = 3e-5 (text)", "Network 1"),
    ("mesh, w = 5e-3", "mesh, w = 3e-3", "w = 3e-3 (tables)", "Network 2"),
    ("mesh, w = 5e-3", "mesh, w = 3e-5", "w = 3e-5 (text)", "Network 2"),
)

_PARTS: list[tuple[tuple[str, ...], Callable[[pd.DataFrame], list[Part]]]] = [
    (("PC-RED", "RED"), _three_times),
    (("PC-RED", "RED"), _queue),
    *(
        ((large, small), partial(_weights, large=large, small=small, against=against, case=network))
        for large, small, against, network in _EXP2
    ),
    (("w = 3e-5", "unprotected"), _small_weight),
    (("10 %", "30 %"), _shares),
    (("mesh, 10 %", "mesh, 30 %"), _mesh),
    (("refuse", "no limit"), _limit),
    ((), _range_of_w),
    ((), critical),
    (("30 %",), all_above),
    (CHANNEL_CASES, channels),
    ((), stable),
]
"""What each part needs, and what makes it."""
