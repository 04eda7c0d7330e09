"""Claims A5a to A5d, on the paper's model: calculated, or decided by the drops of the runs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.common import Part, above, between, exact, values
from aqmlab.reproduction.papers.pc_red import loops
from aqmlab.reproduction.papers.pc_red.measure import KINDS
from aqmlab.reproduction.papers.pc_red.plan import CASES, CHANNEL_CASES
from aqmlab.statistics import interval
from aqmlab.theory.control.loop import PcRedForm

ALL = 0.95
"""What counts as all of the time."""
NEAR = (0.9, 1.0)
"""What counts as close to a bound and within it, as a ratio."""
SAME = (0.9, 1.1)
"""What counts as the same, as a ratio."""


def critical(_: pd.DataFrame) -> list[Part]:
    """Parts on (5) and (6) at 30 %, for the round trip without and with the queue."""
    parts = []
    for name, rtt in loops.printed_round_trips().items():
        five = loops.five(rtt, 0.3)
        share = five.left / five.right
        near = NEAR[0] <= share <= NEAR[1]
        parts.append(exact("A5a", f"r_p / bound of (5), R {name}", share, near, aspect=f"(5), R {name}"))
        few, many = (loops.six(rtt, r_p, "printed") for r_p in (0.1, 0.3))
        ratio = (many.left / many.right) / (few.left / few.right)
        what = f"left / right of (6), 30 % over 10 %, R {name}"
        parts.append(exact("A5a", what, ratio, ratio > 1, aspect=f"(6), R {name}"))
    return parts


def all_above(runs: pd.DataFrame) -> list[Part]:
    """Return the part on the time that high-priority flows are above their limit; none if it was not measured."""
    share = _values(runs, "share_plus", "30 %")
    return [above("A5b", "share of the time above L", share, ALL)] if len(share) else []


def channels(runs: pd.DataFrame) -> list[Part]:
    """Parts on the shares of drops; none if the drops were not kept."""
    parts = []
    for case in CHANNEL_CASES:
        for kind, title in KINDS.items():
            measured, predicted = (_values(runs, f"{way}_{kind}", case) for way in ("drops", "eq4"))
            if len(measured):
                what = f"share of drops, measured / (2) and (4), {title}"
                parts.append(between("A5c", what, measured / predicted, *SAME, case=CASES[case].title, aspect=title))
    return parts


def lines(runs: pd.DataFrame, claim: str) -> list[str]:
    """Return what was found beside the verdict on one of these claims."""
    if claim == "A5a":
        bounds = ", ".join(f"{loops.five(r, 0.3).right:.4g} (R = {r:.4g} s)" for r in loops.round_trips().values())
        return [f"Bound of (5): {bounds}. (6), whose left side falls with r_p, bounds r_p from below."]
    if claim == "A5b":
        found = [interval(_values(runs, "share_plus", case)).mean for case in ("10 %", "30 %")]
        return [f"Share of the time above L: {found[0]:.2f} with 10 %, {found[1]:.2f} with 30 %."]
    if claim == "A5c":
        words = [
            f"{CASES[case].title}: {interval(_values(runs, 'eq4_plus', case)).mean:.4f} predicted, "
            f"{interval(_values(runs, 'drops_plus', case)).mean:.4f} measured"
            for case in CHANNEL_CASES
        ]
        return [
            f"Share of N_p+. {'; '.join(words)}.",
            "Reason found: protected flows send more than others, and any pick in the row of protected packets at the "
            "tail ends at the last of them, not only the pick of the last.",
        ]
    if claim == "A5d":
        gains = [loops.loop(rtt, share, "rederived").dc_gain for _, rtt, share in loops.points()]
        return [f"L(0) is {max(gains):.2g} or less in all cases: stable by small gain, with or without (5) and (6)."]
    return []


def _values(runs: pd.DataFrame, quantity: str, case: str) -> np.ndarray:
    """Return a quantity by seed, without runs in which it was not measured."""
    if quantity not in runs:
        return np.array([])
    found = values(runs, quantity, case=case)
    kept: np.ndarray = found[~np.isnan(found)]
    return kept


def stable(_: pd.DataFrame) -> list[Part]:
    """Parts on the closed loop, wherever (5) and (6) hold."""
    forms: dict[PcRedForm, str] = {"printed": "as printed", "rederived": "as derived"}
    parts = []
    for name, rtt in loops.printed_round_trips().items():
        for r_p in loops.SHARES:
            if not (loops.five(rtt, r_p).holds and loops.six(rtt, r_p, "printed").holds):
                continue
            for form, title in forms.items():
                margins = loops.loop(rtt, r_p, form).margins()
                what = f"gain margin, dB, r_p = {100 * r_p:g} %, R {name}, {title}"
                parts.append(exact("A5d", what, margins.gain_margin_db, margins.stable))
    return parts
