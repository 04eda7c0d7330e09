"""Open-loop results for MRED: the chains of the number in system, and of number and average, for every curve.

Sources that do not slow down send Poisson traffic of a given load into the paper's queue: thresholds, max_p and limit
as printed, the link's rate in packets of 1040 B. The spacing of drops is left out: each packet is dropped with p_b.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from aqmlab.papers.common import Finding, by_claim, measured
from aqmlab.papers.common.open_loop import TAIL, Averaged
from aqmlab.papers.mred.plan import DISCIPLINES, FLOWS, LINK_MBPS, PACKET_BYTES, QUEUE
from aqmlab.statistics import Verdict
from aqmlab.theory.queueing.best_curve import SHAPES

LOADS = tuple(round(0.5 + 0.05 * i, 2) for i in range(31))
CLOSE_MBPS = 9.5
"""Least throughput that counts as close to the capacity in claim B-e, in Mb/s."""
LEAST = 1e-9
"""Differences of two chains below this, relatively, are none."""


def number(name: str, load: float, quantity: str) -> float:
    """Return one number of the chain, throughput in Mb/s.

    >>> round(number("MRED", 1.0, "throughput"), 3), round(number("RED", 1.0, "throughput"), 3)
    (9.653, 9.613)
    """
    return _mbps(QUEUE.numbers(name, load))[quantity]


def _mbps(numbers: dict[str, float]) -> dict[str, float]:
    """Return numbers of a chain with the throughput in Mb/s."""
    return numbers | {"throughput": numbers["throughput"] * PACKET_BYTES * 8 / 1e6}


def open_loop(averaged: Averaged) -> pd.DataFrame:
    """Return what both chains say: a row per weight, load and curve."""
    alone = [(1.0, load, name, QUEUE.numbers(name, load)) for load in LOADS for name in SHAPES if name != TAIL]
    both = [
        (QUEUE.w_q, load, name, averaged.known[name, load]) for load in averaged.loads for name in sorted(DISCIPLINES)
    ]
    rows = [{"w": w, "load": load, "discipline": name, "seed": 1, **_mbps(own)} for w, load, name, own in alone + both]
    return pd.DataFrame(rows)


def at_tcp_loads(runs: pd.DataFrame) -> pd.DataFrame:
    """Put the chain at the load that TCP offered beside what TCP got (TCP alone).

    The offered load is what arrives at the bottleneck over what it can carry: throughput / (1 - loss) / 10 Mb/s.
    """
    rows = []
    for n in FLOWS:
        for name in DISCIPLINES:
            loss, carried, queue = (
                measured(runs, key, case="sole", n=n, discipline=name).mean
                for key in ("loss_data", "throughput", "mean_queue")
            )
            load = carried / (1 - loss) / LINK_MBPS
            chain = QUEUE.chain(name, load)
            row: dict[str, str | float] = {"n": n, "discipline": name, "offered load": load}
            row |= {"loss, TCP": loss, "loss, chain": chain.p_drop}
            row |= {"Mb/s, TCP": carried, "Mb/s, chain": number(name, load, "throughput")}
            waiting = chain.mean_number - (1 - float(chain.pi[0]))
            rows.append(row | {"packets waiting, TCP": queue, "packets waiting, chain": waiting})
    return pd.DataFrame(rows)


OPEN_LOOP = ("B-a", "B-b", "B-c", "B-d", "B-e")
"""The claims that the open loop answers."""


def against_tcp(findings: Iterable[Finding], averaged: Averaged) -> pd.DataFrame:
    """Return the open loop's answer to each claim beside the verdict on its literal form under TCP."""
    rows = []
    for own in by_claim(finding for finding in findings if finding.claim in OPEN_LOOP):
        verdict = {finding.form: finding.verdict for finding in own}.get("literal", own[0].verdict)
        holds, words = _claim(own[0].claim, own[0].against, averaged)
        same = "yes" if holds is (verdict is Verdict.HOLDS) else "no"
        agree = same if verdict in (Verdict.HOLDS, Verdict.FAILS) else "open"
        open_loop_says = Verdict.HOLDS if holds else Verdict.FAILS
        row = {"claim": own[0].claim, "against": own[0].against, "open loop": str(open_loop_says)}
        rows.append(row | {"under TCP": str(verdict), "agree": agree, "the open loop says": words})
    return pd.DataFrame(rows)


def _claim(claim: str, against: str, averaged: Averaged) -> tuple[bool, str]:
    if claim == "B-a":
        gains = {load: number("MRED", load, "throughput") - number(against, load, "throughput") for load in LOADS}
        best = max(gains, key=lambda load: gains[load])
        return min(gains.values()) >= -LEAST, (
            f"more throughput at every load, at most {gains[best]:.3f} Mb/s (load {best:g})"
        )
    if claim == "B-b":
        ratios = {load: number("MRED", load, "p_drop") / number(against, load, "p_drop") for load in LOADS}
        return max(ratios.values()) <= 1 + LEAST, (
            f"fewer drops at every load: {1 - ratios[0.9]:.0%} fewer at load 0.9, {1 - ratios[1.0]:.1%} at 1, "
            f"{1 - ratios[1.2]:.2%} at 1.2"
        )
    if claim == "B-c":
        rising = all(np.all(np.diff([number(name, load, "p_drop") for load in LOADS]) > 0) for name in DISCIPLINES)
        return rising, "drops grow with the load; that the load grows with the number of flows is not in it"
    if claim == "B-d":
        spread = {
            load: [averaged.known[name, load]["sd_average"] for name in ("MRED", against)] for load in averaged.loads
        }
        words = ", ".join(f"{mred:.2f} against {other:.2f} at load {load:g}" for load, (mred, other) in spread.items())
        holds = all(mred < other for mred, other in spread.values())
        return holds, f"s.d. of the average (w = {QUEUE.w_q:g}), packets: {words}"
    enough = [load for load in LOADS if number("MRED", load, "throughput") > CLOSE_MBPS]
    holds = all(load in enough for load in averaged.loads if load >= 1)
    return holds, f"above {CLOSE_MBPS:g} Mb/s from load {enough[0]:g} on"


def agreement(claims: pd.DataFrame, points: pd.DataFrame) -> str:
    """Say where the open loop agrees with TCP, and where it cannot."""

    def named(word: str) -> str:
        rows = claims[claims["agree"] == word]
        names = [c + (f" ({a})" if a else "") for c, a in zip(rows["claim"], rows["against"], strict=True)]
        return ", ".join(names) if names else "none"

    def ratios(quantity: str) -> str:
        found = points[f"{quantity}, TCP"] / points[f"{quantity}, chain"]
        return f"{found.min():.2f} to {found.max():.2f}"

    low, high = points["offered load"].min(), points["offered load"].max()
    return (
        f"Both say the same on {named('yes')}; they differ on {named('no')}; open: {named('open')}. At the loads that "
        f"TCP offered ({low:.2f} to {high:.2f}) TCP has {ratios('loss')} times the chain's loss, {ratios('Mb/s')} "
        f"times its throughput and {ratios('packets waiting')} times its packets waiting. What the chain cannot say: "
        "which load n flows make, that a flow backs off after a drop, and that many of them do so at once after a run "
        "of drops, so that the link idles."
    )
