"""The claims of ``claims.toml`` executed, and the reasons that the runs show."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, PaperFinding, Part, chosen, values
from aqmlab.reproduction.papers.mred.plan import FIGURE_N, FILES, HEADLINES
from aqmlab.statistics import Verdict, interval


def judge(runs: pd.DataFrame) -> tuple[list[Finding], list[Part]]:
    """Judge all claims under both headline readings, as far as there are runs."""
    findings: list[Finding] = []
    parts: list[Part] = []
    for name, reading in HEADLINES.items():
        found = judge_reading(chosen(runs, reading=reading), reading=name, experiments=runs)
        findings += found[0]
        parts += found[1]
    order = [claim.id for claim in FILES.claim_file().claims]
    return sorted(findings, key=lambda finding: order.index(finding.claim)), parts


def find(runs: pd.DataFrame) -> PaperFinding | None:
    """Fill in the paper's finding, which is about both headline readings."""
    both = runs[runs["reading"].isin(list(HEADLINES.values()))]
    return common.find(FILES.claim_file(), both, cells=FILES.cells())


def judge_reading(
    runs: pd.DataFrame, *, reading: str = "", experiments: pd.DataFrame | None = None
) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading; `experiments` are those of all."""

    def explain(claim: str, against: str, verdicts: Mapping[str, Verdict]) -> list[str]:
        failed = Verdict.FAILS in verdicts.values() and claim in ("B-a", "B-b", "B-d")
        return _reason(runs, against) if failed else []

    return common.execute_claims(
        FILES.claim_file(), runs, cells=FILES.cells(), reading=reading, explain=explain, experiments=experiments
    )


def _reason(runs: pd.DataFrame, against: str) -> list[str]:
    """Say what happens at many flows, if the average of MRED is above max_th more often."""
    shares = {
        (discipline, key): interval(values(runs, key, case="sole", n=FIGURE_N, discipline=discipline)).mean
        for discipline in ("MRED", against)
        for key in ("above_share", "empty_share")
    }
    if not shares["MRED", "above_share"] > shares[against, "above_share"]:
        return []
    above, empty = (
        f"{shares['MRED', key]:.1%} of the time against {shares[against, key]:.1%}"
        for key in ("above_share", "empty_share")
    )
    return [
        f"Reason found (TCP alone, n = {FIGURE_N}): MRED drops less below max_th, so that the average runs into the "
        f"steep part above it more often ({above}); there many flows back off at once, and the queue is empty {empty}."
    ]
