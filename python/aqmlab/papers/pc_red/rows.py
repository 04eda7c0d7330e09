"""The table of runs that claims, tables and figures are about: the runs, and the results of the paper's model."""

from __future__ import annotations

import pandas as pd

from aqmlab.papers.common import BASE, Study
from aqmlab.papers.pc_red import loops
from aqmlab.papers.pc_red.claims import CLAIMS
from aqmlab.papers.pc_red.measure import with_bins, with_bursts
from aqmlab.papers.pc_red.plan import BURSTS, FILES
from aqmlab.theory.control.pc_red import WEIGHTS, average_rate, intervals_to_cross, weight_to_cross

DURATION_S = 3000.0
ANSWER_WEIGHTS = (0.003, 0.03)
"""The ends of the range of w that the paper reads off Figure 3."""
ANSWERS = (50, 100)
"""The numbers of intervals within which the router is to answer."""
DRAWN = (1, 10, *ANSWERS, 300)
"""The numbers of intervals at which the closed form of a_d is judged."""


def rows(study: Study) -> pd.DataFrame:
    """Return the runs of all readings, those with other bins among them, and the calculated rows."""
    base = with_bursts(study.frame)
    found = [claim_rows(base).assign(reading=BASE)]
    found.append(measured_rows(study.frame[~study.frame["reading"].isin([BASE, BURSTS])]))
    for reading in FILES.readings():
        if width := reading.options.get("bins_s"):
            found.append(measured_rows(with_bins(base, width)).assign(reading=reading.label))
    return pd.concat(found, ignore_index=True)


def claim_rows(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs of one reading and the calculated rows."""
    return pd.concat([measured_rows(runs), model_rows()], ignore_index=True)


def measured_rows(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs with all columns of claims."""
    crossing = runs["crossing_s"].fillna(DURATION_S).where(runs["case"] != "RED")
    found = runs.assign(crossing=crossing, point="", w=0.0)
    missing = [one.column for one in CLAIMS.words.quantities.values() if one.column and one.column not in found]
    return found.reindex(columns=[*found, *missing])


def model_rows() -> pd.DataFrame:
    """Return the calculated rows, in the form of runs: Figure 3's closed form, conditions (5) and (6), and the loop."""
    rows: list[dict[str, str | float]] = [
        {"point": f"w = {w:g}", "intervals": float(intervals_to_cross(w))} for w in ANSWER_WEIGHTS
    ]
    rows += [{"point": f"{n} intervals", "weight": weight_to_cross(n)} for n in ANSWERS]
    rows += [
        {"point": f"{n} interval{'s' * (n > 1)}", "w": w, "closed_form": average_rate(w, float(n))}
        for n in DRAWN
        for w in WEIGHTS
    ]
    for name, rtt in loops.printed_round_trips().items():
        five = loops.five(rtt, 0.3)
        few, many = (loops.six(rtt, r_p, "printed") for r_p in (0.1, 0.3))
        six = (many.left / many.right) / (few.left / few.right)
        shares = {"five_share": five.left / five.right, "five_bound": five.right, "six_ratio": six}
        rows.append({"point": f"R {name}", **shares})
        for r_p in loops.SHARES:
            hold = float(loops.five(rtt, r_p).holds + loops.six(rtt, r_p, "printed").holds)
            for form, title in loops.PC_RED_FORMS.items():
                point = f"R {name}, r_p = {100 * r_p:g} %, {title}"
                stable = float(loops.loop(rtt, r_p, form).margins().stable)
                rows.append({"point": point, "conditions": hold, "stable": stable})
            phase, bound = loops.phases(rtt, r_p)
            rows.append({"point": f"R {name}, r_p = {100 * r_p:g} %", "phase": phase, "phase_bound": bound})
    gains = [loops.loop(rtt, share, "rederived").dc_gain for _, rtt, share in loops.points()]
    rows.append({"point": "largest gain", "largest_gain": max(gains)})
    return pd.DataFrame(rows).assign(case="model", seed=1).fillna({"w": 0.0})
