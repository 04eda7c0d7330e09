"""The claims of ``claims.toml`` executed: on the runs, and on what the paper's model says."""

from __future__ import annotations

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part
from aqmlab.reproduction.papers.pc_red import loops
from aqmlab.reproduction.papers.pc_red.plan import FILES
from aqmlab.reproduction.papers.pc_red.reasons import reasons
from aqmlab.theory.control.loop import PcRedForm
from aqmlab.theory.control.pc_red import intervals_to_cross

DURATION_S = 3000.0
ANSWER_WEIGHTS = (0.003, 0.03)
"""The ends of the range of w that the paper reads off Figure 3."""


def judge(runs: pd.DataFrame) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading; those without runs are left out."""
    return common.execute_claims(
        FILES.claim_file(),
        claim_rows(runs),
        cells=FILES.cells(),
        explain=lambda claim, against, _: reasons(runs, claim, against),
    )


def claim_rows(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the table that ``claims.toml`` is about: the runs, and what is calculated."""
    crossing = runs["crossing_s"].fillna(DURATION_S).where(runs["case"] != "RED")
    return pd.concat([runs.assign(crossing=crossing, point=""), model_rows()], ignore_index=True)


def model_rows() -> pd.DataFrame:
    """Return what is calculated, in the form of runs: Figure 3's closed form, conditions (5) and (6), and the loop."""
    rows: list[dict[str, str | float]] = [
        {"point": f"w = {w:g}", "intervals": float(intervals_to_cross(w))} for w in ANSWER_WEIGHTS
    ]
    forms: dict[PcRedForm, str] = {"printed": "as printed", "rederived": "as derived"}
    for name, rtt in loops.printed_round_trips().items():
        five = loops.five(rtt, 0.3)
        few, many = (loops.six(rtt, r_p, "printed") for r_p in (0.1, 0.3))
        six = (many.left / many.right) / (few.left / few.right)
        rows.append({"point": f"R {name}", "five_share": five.left / five.right, "six_ratio": six})
        for r_p in loops.SHARES:
            hold = loops.five(rtt, r_p).holds + loops.six(rtt, r_p, "printed").holds
            for form, title in forms.items():
                stable = float(loops.loop(rtt, r_p, form).margins().stable)
                point = f"R {name}, r_p = {100 * r_p:g} %, {title}"
                rows.append({"point": point, "conditions": float(hold), "stable": stable})
    return pd.DataFrame(rows).assign(case="model", seed=1)
