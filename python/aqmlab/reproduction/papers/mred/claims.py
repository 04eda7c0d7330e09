"""The claims of ``claims.toml`` executed."""

from __future__ import annotations

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, PaperFinding, Part, chosen
from aqmlab.reproduction.papers.mred.plan import FILES, HEADLINES


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
    return common.execute_claims(
        FILES.claim_file(), runs, cells=FILES.cells(), reading=reading, experiments=experiments
    )
