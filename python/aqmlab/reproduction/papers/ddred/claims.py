"""The claims of ``claims.toml`` executed, and what stands below the verdicts: the sizes of the effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part
from aqmlab.reproduction.papers.ddred.measure import GAINS, change, crossing, values
from aqmlab.reproduction.papers.ddred.plan import FILES
from aqmlab.reproduction.papers.ddred.published import printed_change, printed_gain

NETWORKS = {
    "C1a": ("bus", "L"), "C1b": ("bus", "d"), "C1c": ("bus", "S"), "C1d": ("bus", "T"),
    "C2a": ("flower", "L"), "C2b": ("flower", "S"), "C2c": ("flower", "T"),
}  # fmt: skip
"""Claims on the means of a network, and their quantity."""


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

    def explain(claim: str, *_: object) -> list[str]:
        if claim in NETWORKS:
            return _network(runs, *NETWORKS[claim])
        if claim == "C2d" and gains is not None:
            return _transfers(gains)
        return _equality(runs) if claim == "C3c" else []

    others = None if experiments is None else claim_rows(experiments, None)
    return common.execute_claims(FILES.claim_file(), table, cells=FILES.cells(), explain=explain, experiments=others)


def claim_rows(runs: pd.DataFrame, gains: pd.DataFrame | None) -> pd.DataFrame:
    """Return the table that ``claims.toml`` is about: the runs, with what the transfers of the flower gain."""
    of: dict[str, Any] = {"case": "flower", "latency": 0, "discipline": "DDRED"}
    known = pd.DataFrame(columns=["seed", *GAINS], dtype=float) if gains is None else gains
    return runs.merge(known.assign(**of), how="left", on=[*of, "seed"])


def _network(runs: pd.DataFrame, case: str, quantity: str) -> list[str]:
    found = change(runs, case, quantity)
    ddred, red = (values(runs, quantity, case=case, discipline=d) for d in ("DDRED", "RED"))
    name = "S/L" if quantity == "d" else quantity
    return [
        f"{name}: {found.mean:+.1f} ± {found.half_width:.1f} % (printed {printed_change(case, quantity):+.1f} %); "
        f"smaller under DDRED in {np.count_nonzero(ddred < red)} of {len(red)} runs."
    ]


def _transfers(gains: pd.DataFrame) -> list[str]:
    mean = gains.mean()
    better, worse = printed_gain("better"), printed_gain("worse")
    return [
        f"Mean over {len(gains)} runs: {mean['better']:.0f} transfers better and {mean['worse']:.0f} worse, "
        f"{mean['even']:.0f} left out (printed {better:.0f}, {worse:.0f} and, of 500, {500 - better - worse:.0f}); "
        f"{mean['gained']:.0f} s gained and {mean['lost']:.0f} s lost (printed {printed_gain('gained'):.0f} and "
        f"{printed_gain('lost'):.0f})."
    ]


def _equality(runs: pd.DataFrame) -> list[str]:
    at = crossing(runs)
    return [f"The mean log ratio passes 0 {f'at {at:.0f} ms' if at == at else 'nowhere'}; printed: below 20 ms."]
