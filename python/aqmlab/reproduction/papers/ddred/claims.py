"""The claims of ``claims.toml`` executed."""

from __future__ import annotations

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part
from aqmlab.reproduction.papers.ddred import reasons
from aqmlab.reproduction.papers.ddred.measure import GAINS
from aqmlab.reproduction.papers.ddred.plan import FILES


def judge(runs: pd.DataFrame, gains: pd.DataFrame | None = None) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading; those whose network was not run are left out.

    Parameters
    ----------
    runs
        What `measure` found.
    gains
        What the transfers of the flower gain, by seed; None leaves claim C2d out.
    """
    found = pd.DataFrame(columns=["seed", *GAINS]) if gains is None else gains[["seed", *GAINS]]
    key = {"case": "flower", "discipline": "DDRED"}
    table = runs.merge(found.astype({"seed": int}).assign(**key), on=["seed", *key], how="left")
    return common.execute_claims(
        FILES.claim_file(), table, cells=FILES.cells(), explain=lambda claim, *_: reasons.lines(claim, runs, gains)
    )
