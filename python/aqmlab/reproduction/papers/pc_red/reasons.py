"""What was found beside a verdict: the sizes of the effects, and the reason of what fails."""

from __future__ import annotations

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.common import values
from aqmlab.reproduction.papers.pc_red import loops
from aqmlab.reproduction.papers.pc_red.plan import CASES, CHANNEL_CASES
from aqmlab.statistics import interval
from aqmlab.theory.control import pc_red as model


def reasons(runs: pd.DataFrame, claim: str, against: str) -> list[str]:
    """Return the lines about a claim against a baseline."""
    if claim not in _LINES:
        return _model(runs, claim)
    return _LINES[claim](runs, against)


def mean(runs: pd.DataFrame, case: str, quantity: str) -> float:
    """Mean over the seeds of one quantity of one case."""
    return interval(values(runs, quantity, case=case)).mean


def _gain(runs: pd.DataFrame, _: str) -> list[str]:
    words = [
        f"{title} {mean(runs, 'PC-RED', key):.2f} against {mean(runs, 'RED', key):.2f} KB/s"
        for key, title in (("high_mid", "mid-range"), ("high_mean", "mean"))
    ]
    return [f"Throughput of the flow: {'; '.join(words)}."]


def _average(runs: pd.DataFrame, _: str) -> list[str]:
    return [
        f"Average {mean(runs, 'PC-RED', 'average_mean'):.1f} against {mean(runs, 'RED', 'average_mean'):.1f} packets."
    ]


def _fluctuation(runs: pd.DataFrame, _: str) -> list[str]:
    red, victim, full = (mean(runs, case, "average_sd") for case in ("RED", "unprotected", "PC-RED"))
    lines = [
        f"S.d. of the average: RED {red:.2f}, PC-RED {full:.2f} packets.",
        "Reason found: not processing time, of which the simulated router needs none, but the victim: a random packet "
        f"of the queue in place of the arriving one makes it {victim:.2f} without any protection.",
    ]
    if "burst_flows" in runs:
        hit = [mean(runs, case, "burst_flows") for case in ("RED", "PC-RED")]
        lines.append(
            f"A burst of drops hits {hit[0]:.1f} different flows under RED, whose victims arrive back to back, and "
            f"{hit[1]:.1f} under PC-RED: more flows back off together."
        )
    return lines


def _weight(runs: pd.DataFrame, against: str) -> list[str]:
    small = "w = 3e-3" if "3e-3" in against else "w = 3e-5"
    lines = []
    if "mesh, w = 5e-3" in set(runs["case"]):
        mesh = "mesh, w = 3e-3" if "3e-3" in against else "mesh, w = 3e-5"
        one, other = mean(runs, "mesh, w = 5e-3", "high_mean"), mean(runs, mesh, "high_mean")
        lines.append(f"Network 2, mean: {one:.2f} against {other:.2f} KB/s.")
        lines += _over_several_routers(runs)
    first = (
        f"Network 1, mean: {mean(runs, 'w = 5e-3', 'high_mean'):.2f} against {mean(runs, small, 'high_mean'):.2f} KB/s."
    )
    if "3e-3" not in against:
        return [first, *lines]
    times = [mean(runs, case, "crossing_s") for case in ("w = 5e-3", "w = 3e-3")]
    return [
        first,
        *lines,
        f"Reason found: with either weight a_d passes L soon (after {times[0]:.0f} and {times[1]:.0f} s), and from "
        f"then on the flow is protected just so much that it loses L bytes in g, whatever w is.",
    ]


def _over_several_routers(runs: pd.DataFrame) -> list[str]:
    """Why w matters little in Network 2: how often a flow is above L there, and in Network 1."""
    if not {"10 %", "mesh, 10 %"} <= set(runs["case"]) or "share_plus" not in runs:
        return []
    here, there = mean(runs, "10 %", "share_plus"), mean(runs, "mesh, 10 %", "share_plus")
    return [
        f"A router counts only its own drops: with 10 % high-priority flows they are above L for {there:.0%} of the "
        f"time at the observed link of Network 2, and for {here:.0%} in Network 1."
    ]


def _small_weight(runs: pd.DataFrame, _: str) -> list[str]:
    times = values(runs, "crossing_s", case="w = 3e-5")
    reached = times[~np.isnan(times)]
    when = f", else after {np.mean(reached):.0f} s" if len(reached) else ""
    return [
        f"a_d never passes L in {len(times) - len(reached)} of {len(times)} runs{when}. Throughput: mid-range "
        f"{mean(runs, 'w = 3e-5', 'high_mid'):.2f}, mean {mean(runs, 'w = 3e-5', 'high_mean'):.2f} KB/s."
    ]


def _three(runs: pd.DataFrame, _: str) -> list[str]:
    words = []
    for key, title in (("mid", "mid-range"), ("mean", "mean"), ("class", "class mean")):
        high, non = (mean(runs, "10 %", f"{group}_{key}") for group in ("high", "non"))
        words.append(f"{title} {high:.2f} and {non:.2f} KB/s ({high / non:.2f} times)")
    return [f"High and Non with 10 %: {'; '.join(words)}."]


def _held(runs: pd.DataFrame, _: str) -> list[str]:
    words = [
        f"{share}: {mean(runs, share, 'high_a_d'):.1f} with s.d. {mean(runs, share, 'high_a_d_sd'):.1f}"
        for share in ("10 %", "30 %")
    ]
    return [f"a_d of High, {'; '.join(words)} bytes in g."]


def _starved(runs: pd.DataFrame, _: str) -> list[str]:
    non = [mean(runs, "30 %", f"non_{key}") for key in ("min", "max", "mid", "mean", "class")]
    swing = [mean(runs, share, "non_a_d_sd") for share in ("10 %", "30 %")]
    late = [mean(runs, share, "non_a_d_late_sd") for share in ("10 %", "30 %")]
    level = [mean(runs, share, "non_a_d") for share in ("10 %", "30 %")]
    dropped = [mean(runs, share, "p_non") for share in ("10 %", "30 %")]
    lines = [
        f"Non with 30 %: {non[0]:.2f} to {non[1]:.2f} KB/s, mid-range {non[2]:.2f}, mean {non[3]:.2f}, class mean "
        f"{non[4]:.2f}.",
        f"S.d. of a_d of Non: {swing[0]:.1f} with 10 %, {swing[1]:.1f} with 30 %; in the second half of the run, when "
        f"its climb from 0 is over, {late[0]:.1f} and {late[1]:.1f}.",
    ]
    if level[1] < level[0]:
        lines.append(
            f"Reason found: a_d of Non falls from {level[0]:.0f} to {level[1]:.0f} (printed 120 and 130) although more "
            f"of its packets are dropped ({dropped[0]:.2f} and {dropped[1]:.2f}): the flows wait in time-outs that "
            "double up to 60 s, send less and so lose less. What becomes of it when time-outs end at 2 s is among the "
            "readings."
        )
    return lines


def _mesh(runs: pd.DataFrame, _: str) -> list[str]:
    words = [
        f"{share}: {mean(runs, f'mesh, {share}', 'high_class'):.2f} and {mean(runs, f'mesh, {share}', 'non_class'):.2f}"
        for share in ("10 %", "30 %")
    ]
    return [f"Class means of High and Non in Network 2, {'; '.join(words)} KB/s."]


def _answer(_: pd.DataFrame, __: str) -> list[str]:
    return [
        f"100 intervals need w = {model.weight_to_cross(100):.4f}, 50 need {model.weight_to_cross(50):.4f}: the "
        f"printed range is right in its order of magnitude only."
    ]


def _limit(runs: pd.DataFrame, _: str) -> list[str]:
    words = [
        f"{case}: High {mean(runs, case, 'high_class'):.2f}, late {mean(runs, case, 'late_class'):.2f}, "
        f"Non {mean(runs, case, 'non_class'):.2f}"
        for case in ("no limit", "warn", "refuse")
    ]
    return [f"Class means in KB/s, {'; '.join(words)}."]


def _model(runs: pd.DataFrame, claim: str) -> list[str]:
    """Return the lines about a claim on the model."""
    if claim == "A5a":
        bounds = ", ".join(f"{loops.five(r, 0.3).right:.4g} (R = {r:.4g} s)" for r in loops.round_trips().values())
        return [f"Bound of (5): {bounds}. (6), whose left side falls with r_p, bounds r_p from below."]
    if claim == "A5b":
        found = [mean(runs, case, "share_plus") for case in ("10 %", "30 %")]
        return [f"Share of the time above L: {found[0]:.2f} with 10 %, {found[1]:.2f} with 30 %."]
    if claim == "A5c":
        words = [
            f"{CASES[case].title}: {mean(runs, case, 'eq4_plus'):.4f} predicted, "
            f"{mean(runs, case, 'drops_plus'):.4f} measured"
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


_LINES = {
    "A1a": _gain,
    "A1b": _average,
    "A1c": _fluctuation,
    "A2a": _weight,
    "A2b": _small_weight,
    "A3a": _three,
    "A3b": _held,
    "A3c": _starved,
    "A3d": _mesh,
    "A4": _answer,
    "O1": _limit,
    "O2": _limit,
}
"""Claim to what makes its lines."""
