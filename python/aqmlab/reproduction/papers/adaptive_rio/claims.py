"""The paper's claims E-a to E-f and our own questions E-g and E-h, each decided by runs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.adaptive_rio.effects import gain, over
from aqmlab.reproduction.papers.adaptive_rio.measure import ACTIVE, CIR_MBPS, PERIODS_S, abscissae, values
from aqmlab.reproduction.papers.adaptive_rio.phrases import SIZES
from aqmlab.reproduction.papers.adaptive_rio.plan import ADAPTIVE, AT_C, AT_C_INIT, AT_MAX_U, FILES, RED, RIO
from aqmlab.reproduction.papers.common import Finding, Part, above, between
from aqmlab.statistics import Verdict

SHARE = 0.95
"""A guarantee is kept if this share of what was promised (or of what RIO gives) arrives."""
EQUAL_MBPS = 0.01 * CIR_MBPS
"""As effective as: within 1 % of the committed rate."""


def judge(runs: pd.DataFrame, *, basis: str = "arrived") -> tuple[list[Finding], list[Part]]:
    """Judge all claims of which there are runs, on the runs of one reading.

    Parameters
    ----------
    runs
        Runs of one reading.
    basis
        What counts as throughput, see `BASES`.
    """
    parts = [part for case, parts_of in PARTS if (runs["case"] == case).any() for part in parts_of(runs, basis)]

    def extra(claim: str, _against: str, _verdict: Verdict) -> list[str]:
        say = SIZES.get(claim)
        return say(runs, basis) if say else []

    return common.judge(parts, FILES.claims(), extra=extra), parts


def _utilization_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    return [
        above(
            "E-a",
            f"utilization, max_th = {max_th} less max_th = {lower}",
            values(runs, f"utilization_{basis}", case="figure2", discipline=RED, x=max_th),
            values(runs, f"utilization_{basis}", case="figure2", discipline=RED, x=lower),
            at={"max_th": max_th},
        )
        for lower, max_th in pairwise(abscissae(runs, "figure2"))
    ]


def _guarantee_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    parts = []
    for index in ACTIVE:
        own, rio = (
            values(runs, f"assured_{index}_{basis}", case="experiment1", discipline=name) for name in (ADAPTIVE, RIO)
        )
        at = {"period": _period(index)}
        parts += [
            above("E-b", f"assured, less {SHARE:.0%} of RIO's, Mb/s", own, SHARE * rio, at=at, aspect="beside RIO's"),
            above(
                "E-b",
                f"assured, less {SHARE:.0%} of the committed rate, Mb/s",
                own,
                SHARE * CIR_MBPS,
                at=at,
                aspect="beside the committed rate",
            ),
        ]
    return parts


def _throughput_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    return [
        above(
            "E-c",
            f"{title} throughput, {ADAPTIVE} - {RIO}, Mb/s",
            gain(runs, f"{kind}_{index}_{basis}", "experiment1"),
            at={"period": _period(index)},
            aspect=title,
        )
        for kind, title in (("total", "total"), ("best_effort", "best-effort"))
        for index in range(len(PERIODS_S))
    ]


def _best_effort_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    return [
        above(
            "E-d",
            f"best-effort utilization, {ADAPTIVE} - {RIO}",
            gain(runs, f"u_be_{basis}", "experiment2", off),
            at={"off time": off},
        )
        for off in abscissae(runs, "experiment2")
    ]


def _growth_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    off_s = abscissae(runs, "experiment2")
    steps = [(lower, off, "from one off time to the next") for lower, off in pairwise(off_s)]
    return [
        above(
            "E-e",
            f"improvement, off time {off} s less {lower} s",
            gain(runs, f"u_be_{basis}", "experiment2", off),
            gain(runs, f"u_be_{basis}", "experiment2", lower),
            at={"off time": off},
            aspect=aspect,
        )
        for lower, off, aspect in [*steps, (off_s[0], off_s[-1], "over the whole range")]
    ]


def _committed_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    parts = []
    for off in abscissae(runs, "experiment2"):
        at = {"off time": off}
        for name in (ADAPTIVE, RIO):
            on = values(runs, f"on_{basis}", case="experiment2", discipline=name, x=off)
            what = f"assured while on, {name}, less {SHARE:.0%} of the committed rate, Mb/s"
            parts.append(above("E-f", what, on, SHARE * CIR_MBPS, at=at, aspect=name))
        apart = gain(runs, f"on_{basis}", "experiment2", off)
        what = f"assured while on, {ADAPTIVE} - {RIO}, Mb/s"
        parts.append(between("E-f", what, apart, -EQUAL_MBPS, EQUAL_MBPS, at=at, aspect="equal within 1 %"))
    return parts


def _reference_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    return [
        above(
            "E-g",
            f"{title} throughput in the active periods, {ADAPTIVE} - {against}, Mb/s",
            over(runs, kind, basis, ACTIVE, ADAPTIVE),
            over(runs, kind, basis, ACTIVE, against),
            aspect=f"{title}, beside {against}",
        )
        for kind, title, against in (("assured", "assured", AT_C), ("total", "total", AT_C_INIT))
        if _was_run(runs, against)
    ]


def _premise_parts(runs: pd.DataFrame, basis: str) -> list[Part]:
    if not _was_run(runs, AT_MAX_U):
        return []
    own, fixed = (over(runs, "assured", basis, ACTIVE, name) for name in (ADAPTIVE, AT_MAX_U))
    return [above("E-h", f"assured throughput in the active periods, {ADAPTIVE} - {AT_MAX_U}, Mb/s", own, fixed)]


def _was_run(runs: pd.DataFrame, discipline: str) -> bool:
    return bool((runs["discipline"] == discipline).any())


def _period(index: int) -> str:
    begin, end = PERIODS_S[index]
    return f"{begin}-{end} s"


PartsOf = Callable[[pd.DataFrame, str], list[Part]]
PARTS: tuple[tuple[str, PartsOf], ...] = (
    ("figure2", _utilization_parts),
    ("experiment1", _guarantee_parts),
    ("experiment1", _throughput_parts),
    ("experiment2", _best_effort_parts),
    ("experiment2", _growth_parts),
    ("experiment2", _committed_parts),
    ("experiment1", _reference_parts),
    ("experiment1", _premise_parts),
)
"""Each claim's parts, and the case that they are read off."""
