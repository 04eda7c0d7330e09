"""The paper's claims B-a to B-e, each decided by runs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part, above, below
from aqmlab.reproduction.papers.mred.measure import LOSSES, values
from aqmlab.reproduction.papers.mred.plan import CASES, DISCIPLINES, FIGURE_N, FILES, FLOWS
from aqmlab.statistics import Difference, Verdict, interval, paired, verdict_all, verdict_below

WORSE_AT = 30
"""The number of flows at which the paper finds MRED's throughput worse."""
CLOSE_MBPS = 9.5
"""What counts as close to 10 Mb/s: the lowest printed value is 9.588."""
BASELINES = ("RED", "gentle RED")


def judge(runs: pd.DataFrame) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of the reading that was chosen."""
    parts = all_parts(runs)

    def extra(claim: str, against: str, verdict: Verdict) -> list[str]:
        explained = verdict is Verdict.FAILS and claim in ("B-a", "B-b", "B-d")
        return [*_extra(claim, runs, against), *(_reason(runs, against) if explained else [])]

    return common.judge(parts, FILES.claims(), extra=extra), parts


def all_parts(runs: pd.DataFrame) -> list[Part]:
    """Return what the claims rest on, as far as these runs have the baselines, flows and samples for it."""
    return [part for parts_of in PARTS for part in parts_of(runs)]


def _flows(runs: pd.DataFrame) -> list[int]:
    return sorted(int(n) for n in runs["n"].unique())


def _baselines(runs: pd.DataFrame) -> list[str]:
    return [name for name in BASELINES if (runs["discipline"] == name).any()]


def _throughput_parts(runs: pd.DataFrame) -> list[Part]:
    return [
        (below if n == WORSE_AT else above)(
            "B-a",
            f"throughput, MRED - {against}, Mb/s",
            values(runs, case=case, n=n, discipline="MRED", key="throughput"),
            values(runs, case=case, n=n, discipline=against, key="throughput"),
            case=title,
            at={"n": n},
            against=against,
        )
        for against in _baselines(runs)
        for case, title in CASES.items()
        for n in _flows(runs)
    ]


def _loss_parts(runs: pd.DataFrame) -> list[Part]:
    return [
        below(
            "B-b",
            f"loss as printed, MRED - {against}",
            values(runs, case=case, n=n, discipline="MRED", key="loss_trace"),
            values(runs, case=case, n=n, discipline=against, key="loss_trace"),
            case=title,
            at={"n": n},
            against=against,
        )
        for against in _baselines(runs)
        for case, title in CASES.items()
        for n in _flows(runs)
    ]


def _growth_parts(runs: pd.DataFrame) -> list[Part]:
    return [
        part
        for discipline in DISCIPLINES
        if (runs["discipline"] == discipline).any()
        for part in _growing(runs, "B-c", discipline, "loss_trace", "loss as printed")
    ]


def _stability_parts(runs: pd.DataFrame) -> list[Part]:
    parts = []
    windows = [
        ("sole", "average_sd", "after 5 s"),
        ("mixed", "average_sd", "after 5 s"),
        ("mixed", "burst_sd", "3-10 s"),
    ]
    if "average_sd" not in runs or runs["average_sd"].isna().all():
        return []
    for against in _baselines(runs):
        for case, key, when in windows:
            part = below(
                "B-d",
                f"s.d. of the average {when}, MRED - {against}, packets",
                values(runs, case=case, n=FIGURE_N, discipline="MRED", key=key),
                values(runs, case=case, n=FIGURE_N, discipline=against, key=key),
                case=CASES[case],
                at={"n": FIGURE_N},
                against=against,
                aspect=when,
            )
            parts.append(part)
    return parts


def _capacity_parts(runs: pd.DataFrame) -> list[Part]:
    parts = [
        above(
            "B-e",
            f"throughput of MRED above {CLOSE_MBPS} Mb/s, Mb/s",
            values(runs, case=case, n=n, discipline="MRED", key="throughput"),
            CLOSE_MBPS,
            case=title,
            at={"n": n},
            aspect=f"above {CLOSE_MBPS} Mb/s",
        )
        for case, title in CASES.items()
        for n in _flows(runs)
    ]
    return parts + _growing(runs, "B-e", "MRED", "throughput", "throughput, Mb/s")


def _growing(runs: pd.DataFrame, claim: str, discipline: str, key: str, title: str) -> list[Part]:
    return [
        above(
            claim,
            f"{title}, {discipline}: n = {n} less n = {fewer}",
            values(runs, case=case, n=n, discipline=discipline, key=key),
            values(runs, case=case, n=fewer, discipline=discipline, key=key),
            case=name,
            at={"n": n},
            aspect="growing" if claim == "B-e" else discipline,
        )
        for case, name in CASES.items()
        for fewer, n in pairwise(_flows(runs))
    ]


def _versus(runs: pd.DataFrame, case: str, n: int, against: str, key: str) -> Difference:
    return paired(
        values(runs, case=case, n=n, discipline="MRED", key=key),
        values(runs, case=case, n=n, discipline=against, key=key),
    )


def _extra(claim: str, runs: pd.DataFrame, against: str) -> list[str]:
    """Say how large the effect is."""
    if claim in ("B-a", "B-b"):
        key, unit = ("throughput", " Mb/s") if claim == "B-a" else ("loss_trace", "")
        sizes = []
        for case, title in CASES.items():
            over_n = [
                values(runs, case=case, n=n, discipline="MRED", key=key)
                - values(runs, case=case, n=n, discipline=against, key=key)
                for n in FLOWS
            ]
            sizes.append(f"{title} {_signed(np.mean(over_n, axis=0))}{unit}")
        lines = [f"Mean of MRED - {against} over all n: {'; '.join(sizes)}."]
        return lines if claim == "B-a" else lines + _other_losses(runs, against)
    if claim == "B-d":
        sizes = []
        for case, title in CASES.items():
            here = [
                interval(values(runs, case=case, n=FIGURE_N, discipline=d, key="average_sd")).mean
                for d in ("MRED", against)
            ]
            sizes.append(f"{title} {here[0]:.2f} against {here[1]:.2f} packets")
        return [f"Standard deviation of the average after 5 s: {'; '.join(sizes)}."]
    if claim == "B-e":
        means = {
            (case, n): interval(values(runs, case=case, n=n, discipline="MRED", key="throughput")).mean
            for case in CASES
            for n in FLOWS
        }
        case, n = min(means, key=lambda at: means[at])
        return [f"Lowest mean: {means[case, n]:.3f} Mb/s ({CASES[case]}, n = {n})."]
    return []


def _other_losses(runs: pd.DataFrame, against: str) -> list[str]:
    """Say what becomes of B-b under the two other definitions of loss."""
    lines = []
    for key in ("loss_data", "loss_both"):
        found = [_versus(runs, case, n, against, key) for case in CASES for n in FLOWS]
        overall = verdict_all([verdict_below(d.interval) for d in found], [d.p for d in found])
        lines.append(f"With loss as {LOSSES[key]}: {overall}.")
    return lines


def _signed(by_seed: np.ndarray) -> str:
    found = interval(by_seed)
    return f"{found.mean:+.3g} ± {found.half_width:.2g}"


def _reason(runs: pd.DataFrame, against: str) -> list[str]:
    """Say what happens at many flows, by how long the average is above max_th and the queue empty."""
    shares = {
        (discipline, key): interval(values(runs, case="sole", n=FIGURE_N, discipline=discipline, key=key)).mean
        for discipline in ("MRED", against)
        for key in ("above_share", "empty_share")
    }
    above, empty = (
        f"{shares['MRED', key]:.1%} of the time against {shares[against, key]:.1%}"
        for key in ("above_share", "empty_share")
    )
    return [
        f"Reason found (TCP alone, n = {FIGURE_N}): MRED drops less below max_th, so that the average runs into the "
        f"steep part above it more often ({above}); there many flows back off at once, and the queue runs empty "
        f"({empty})."
    ]


PARTS: tuple[Callable[[pd.DataFrame], list[Part]], ...] = (
    _throughput_parts,
    _loss_parts,
    _growth_parts,
    _stability_parts,
    _capacity_parts,
)
