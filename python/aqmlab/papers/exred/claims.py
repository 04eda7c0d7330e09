"""The claims of ``claims.toml`` executed."""

from __future__ import annotations

import pandas as pd

from aqmlab.papers import common
from aqmlab.papers.common import BASE, Finding, Part, chosen
from aqmlab.papers.common.open_loop import Averaged
from aqmlab.papers.exred.claim_rows import claim_rows
from aqmlab.papers.exred.plan import CLAIMS


def judge(
    loops: pd.DataFrame | None,
    tcp: pd.DataFrame | None,
    *,
    theory: Averaged | None = None,
    experiments: pd.DataFrame | None = None,
) -> tuple[list[Finding], list[Part]]:
    """Judge the claims on the runs of one reading.

    Parameters
    ----------
    loops, tcp
        Runs of the open loop and under TCP; None leaves out the claims that are about them.
    theory
        The chain of number and average; with it the chains' numbers count too, which belong to the reading that was
        chosen.
    experiments
        The rows of all readings, for the answers to objections.
    """
    rows = claim_rows(loops, tcp, theory)
    return common.execute_claims(CLAIMS, rows, experiments=experiments)


def experiment_rows(loops: pd.DataFrame, tcp: pd.DataFrame, theory: Averaged) -> pd.DataFrame:
    """Return the rows of all readings; the chains' belong to the chosen one."""
    tables = []
    for label in dict.fromkeys([*loops["reading"], *tcp["reading"]]):
        own_loops, own_tcp = (own if len(own) else None for own in (chosen(r, reading=label) for r in (loops, tcp)))
        rows = claim_rows(own_loops, own_tcp, theory if label == BASE else None)
        tables.append(rows.assign(reading=label))
    return pd.concat(tables, ignore_index=True)
