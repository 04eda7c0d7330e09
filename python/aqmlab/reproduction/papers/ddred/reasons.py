"""What stands below a verdict: how large the effect is, what is printed, and the reason of a surprise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.ddred.measure import CLEAR_S, values
from aqmlab.reproduction.papers.ddred.plan import TABLE_LATENCIES
from aqmlab.reproduction.papers.ddred.published import printed_change, printed_gain, printed_mean, printed_pair
from aqmlab.statistics import Interval, interval

Lines = list[str]
TRANSFERS = 500
"""Transfers of the flower."""


def lines(claim: str, runs: pd.DataFrame, gains: pd.DataFrame | None) -> Lines:
    """Return the lines below the verdict on a claim."""
    if claim == "C2d":
        return [] if gains is None else _gain_lines(gains)
    if claim in _NETWORK:
        case, quantities = _NETWORK[claim]
        return [_change(runs, case, quantity) for quantity in quantities] + _runs_shorter(runs, claim, case)
    return _PAIR[claim](runs)


_NETWORK = {
    "C1a": ("bus", ("L",)),
    "C1b": ("bus", ("d",)),
    "C1c": ("bus", ("S",)),
    "C1d": ("bus", ("T",)),
    "C2a": ("flower", ("L",)),
    "C2b": ("flower", ("S", "d")),
    "C2c": ("flower", ("T",)),
}


def change(runs: pd.DataFrame, case: str, quantity: str) -> Interval:
    """Return DDRED / RED - 1 in %, seed by seed."""
    ddred = values(runs, quantity, case=case, discipline="DDRED")
    return interval(100 * (ddred / values(runs, quantity, case=case, discipline="RED") - 1))


def _change(runs: pd.DataFrame, case: str, quantity: str) -> str:
    means = [interval(values(runs, quantity, case=case, discipline=d)).mean for d in ("DDRED", "RED")]
    paper = [printed_mean(case, quantity, d) for d in ("DDRED", "RED")]
    found = change(runs, case, quantity)
    name = "S/L" if quantity == "d" else quantity
    return (
        f"{name}: {means[0]:.4g} against {means[1]:.4g}, {found.mean:+.1f} ± {found.half_width:.1f} %; "
        f"printed {paper[0]:.4g} against {paper[1]:.4g}, {printed_change(case, quantity):+.1f} %."
    )


def _runs_shorter(runs: pd.DataFrame, claim: str, case: str) -> Lines:
    if claim not in ("C1d", "C2c"):
        return []
    ddred = values(runs, "T", case=case, discipline="DDRED")
    shorter = int(np.count_nonzero(ddred < values(runs, "T", case=case, discipline="RED")))
    return [f"T is smaller under DDRED in {shorter} of {len(ddred)} runs."]


def _gain_lines(gains: pd.DataFrame) -> Lines:
    mean = gains.mean()
    better, worse, gained, lost = (printed_gain(name) for name in ("better", "worse", "gained", "lost"))
    return [
        f"Mean over {len(gains)} runs: {mean['better']:.0f} transfers better and {mean['worse']:.0f} worse (printed "
        f"{better:.0f} and {worse:.0f}), {mean['gained']:.0f} s gained and {mean['lost']:.0f} s lost (printed "
        f"{gained:.0f} and {lost:.0f}).",
        f"The printed numbers leave {TRANSFERS - better - worse:.0f} transfers out. Without the {mean['even']:.0f} "
        f"that change by {CLEAR_S} s or less, {mean['better_clear']:.0f} are better and {mean['worse_clear']:.0f} "
        "worse here.",
    ]


def _fairness_lines(runs: pd.DataFrame) -> Lines:
    where = {"case": "pair", "latency": 1}
    share = interval(values(runs, "near_share", **where, discipline="DDRED"))
    far, near = printed_pair(1, "DDRED")
    kept = f"{100 * share.mean:.1f} ± {100 * share.half_width:.1f} %"
    return [_pairs(runs, (1,)), f"PCs2 keeps {kept} at 1 ms (printed {100 * near / (far + near):.1f} %)."]


def _pairs(runs: pd.DataFrame, latencies: tuple[int, ...]) -> str:
    words = []
    for latency in latencies:
        cells = []
        for discipline in ("RED", "DDRED"):
            where = {"latency": latency, "discipline": discipline}
            own = [interval(values(runs, name, case="pair", **where)).mean for name in ("PCs1", "PCs2")]
            paper = printed_pair(latency, discipline)
            cells.append(f"{discipline} {own[0]:.0f}/{own[1]:.0f} (printed {paper[0]:.0f}/{paper[1]:.0f})")
        words.append(f"{latency} ms: {', '.join(cells)}")
    return f"KB/s of PCs1/PCs2, {'; '.join(words)}."


def _total_lines(runs: pd.DataFrame) -> Lines:
    words = []
    for latency in TABLE_LATENCIES:
        ddred, red = (values(runs, "total", case="pair", latency=latency, discipline=d) for d in ("DDRED", "RED"))
        found = interval(ddred - red)
        paper = sum(printed_pair(latency, "DDRED")) - sum(printed_pair(latency, "RED"))
        words.append(f"{found.mean:+.0f} ± {found.half_width:.0f} at {latency} ms (printed {paper:+.0f})")
    return [f"DDRED - RED in KB/s: {', '.join(words)}."]


def _equality_lines(runs: pd.DataFrame) -> Lines:
    at = crossing(runs)
    found = f"at {at:.0f} ms" if at == at else "at no latency that was run"
    return [f"The mean log ratio passes 0 {found}; printed: just below 20 ms."]


def _turn_lines(runs: pd.DataFrame) -> Lines:
    words = []
    for discipline in ("DDRED", "RED"):
        where = {"case": "pair", "latency": 20, "discipline": discipline}
        share, changes = (interval(values(runs, name, **where)).mean for name in ("second_lead", "changes"))
        words.append(f"{discipline}: {share:.0%} of the bins, {changes:.1f} changes")
    return [f"Led by the flow that leads less often: {'; '.join(words)} in 9 s."]


def crossing(runs: pd.DataFrame, *, discipline: str = "DDRED") -> float:
    """Return the latency in ms where the mean log ratio of the two flows passes 0 downwards; NaN if nowhere."""
    rows = runs[(runs["case"] == "pair") & (runs["discipline"] == discipline)]
    means = rows.groupby("latency")["log_ratio"].mean()
    x, y = np.log(means.index.to_numpy(dtype=float)), means.to_numpy(dtype=float)
    for i in range(len(x) - 1):
        if y[i] > 0 >= y[i + 1]:
            return float(np.exp(x[i] + (x[i + 1] - x[i]) * y[i] / (y[i] - y[i + 1])))
    return float("nan")


_PAIR: dict[str, Callable[[pd.DataFrame], Lines]] = {
    "C3a": _fairness_lines,
    "C3b": lambda runs: [_pairs(runs, TABLE_LATENCIES[1:])],
    "C3c": _equality_lines,
    "C3d": _total_lines,
    "C3e": _turn_lines,
}
