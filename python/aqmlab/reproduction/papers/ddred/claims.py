"""The claims of ``claims.toml`` executed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part
from aqmlab.reproduction.papers.ddred.measure import GAINS
from aqmlab.reproduction.papers.ddred.plan import FILES


def judge(
    runs: pd.DataFrame, gains: pd.DataFrame | None = None, *, experiments: pd.DataFrame | None = None
) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading; those whose network was not run are left out.

    Parameters
    ----------
    runs
        What `measure` found.
    gains
        What the transfers of the flower gain, by seed; None leaves claim C2d out.
    experiments
        Runs of all readings, for the answers to objections.
    """
    table = claim_rows(runs, gains)

    others = None if experiments is None else claim_rows(experiments, None)
    return common.execute_claims(FILES.claim_file(), table, cells=FILES.cells(), experiments=others)


def claim_rows(runs: pd.DataFrame, gains: pd.DataFrame | None) -> pd.DataFrame:
    """Return the table that ``claims.toml`` is about: the runs, with what the transfers of the flower gain."""
    of: dict[str, Any] = {"case": "flower", "latency": 0, "discipline": "DDRED"}
    known = pd.DataFrame(columns=["seed", *GAINS], dtype=float) if gains is None else gains
    return runs.merge(known.assign(**of), how="left", on=[*of, "seed"])
