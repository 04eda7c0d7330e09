"""What an open loop says of MRED: the chains of the number in system, and of number and average, for every curve.

Sources that do not slow down send Poisson traffic of a given load into the paper's queue: thresholds, max_p and limit
as printed, the link's rate in packets of 1040 B. The spacing of drops is left out: each packet is dropped with p_b.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.common import Finding, by_claim
from aqmlab.reproduction.papers.common.open_loop import Numbers, numbers_of, solved_numbers
from aqmlab.reproduction.papers.mred.measure import values
from aqmlab.reproduction.papers.mred.plan import (
    CAPACITY,
    CURVE,
    DISCIPLINES,
    FLOWS,
    LINK_MBPS,
    PACKET_BYTES,
    SERVICE_RATE,
    WEIGHT,
    Effort,
    solutions,
)
from aqmlab.statistics import Verdict, interval
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.best_curve import SHAPES
from aqmlab.theory.queueing.chain import Chain, solve_chain

CURVES = tuple(name for name in SHAPES if name != "drop-tail")
"""The curves that drop early."""
LOADS = tuple(round(0.5 + 0.05 * i, 2) for i in range(31))
QUANTITIES = {
    "p_drop": "probability of a drop",
    "throughput": "throughput, Mb/s",
    "wait_ms": "mean wait, ms",
    "mean_run": "drops in a row, E(N)",
}
CLOSE_MBPS = 9.5
"""What claim B-e calls close to the capacity."""
LEAST = 1e-9
"""Differences of two chains below this, relatively, are none."""
Averaged = Mapping[tuple[str, float], Numbers]


@cache
def solved(name: str, load: float) -> Chain:
    """Return the chain of a curve at a load."""
    curve = DropCurve.of(SHAPES[name], **CURVE, name=name)
    return solve_chain(curve, load=load, capacity=CAPACITY, service_rate=SERVICE_RATE)


def number(name: str, load: float, quantity: str) -> float:
    """Return one number of the chain, throughput in Mb/s.

    >>> round(number("MRED", 1.0, "throughput"), 3), round(number("RED", 1.0, "throughput"), 3)
    (9.653, 9.613)
    """
    found = _numbers(name, load)[quantity]
    return mbps(found) if quantity == "throughput" else found


def mbps(packets_per_s: float) -> float:
    """Return a rate in Mb/s."""
    return packets_per_s * PACKET_BYTES * 8 / 1e6


def averaged(effort: Effort, root: Path) -> Averaged:
    """Read what the chain of number and average says, by discipline and load."""
    return {
        (str(point.key["discipline"]), float(point.key["load"])): solved_numbers(point, root)
        for point in solutions(effort)
    }


def averaged_table(found: Averaged) -> pd.DataFrame:
    """Return the chain of number and average as a table."""
    rows = []
    for (name, load), numbers in found.items():
        row: dict[str, str | float] = {"load": load, "discipline": name}
        for key, title in QUANTITIES.items():
            row[title] = mbps(numbers[key]) if key == "throughput" else numbers[key]
        rows.append(row | {"s.d. of the average, packets": numbers["sd_average"]})
    return pd.DataFrame(rows).sort_values(["load", "discipline"], kind="stable", ignore_index=True)


def at_tcp_loads(runs: pd.DataFrame) -> pd.DataFrame:
    """Put the chain at the load that TCP offered beside what TCP got (TCP alone).

    The offered load is what arrives at the bottleneck over what it can carry: throughput / (1 - loss) / 10 Mb/s.
    """
    rows = []
    for n in FLOWS:
        for name in DISCIPLINES:
            loss, carried, queue = (
                interval(values(runs, case="sole", n=n, discipline=name, key=key)).mean
                for key in ("loss_data", "throughput", "mean_queue")
            )
            load = carried / (1 - loss) / LINK_MBPS
            chain = solved(name, load)
            waiting = chain.mean_number - (1 - float(chain.pi[0]))
            row: dict[str, str | float] = {"n": n, "discipline": name, "offered load": load}
            row |= {"loss, TCP": loss, "loss, chain": chain.p_drop}
            row |= {"Mb/s, TCP": carried, "Mb/s, chain": mbps(chain.throughput)}
            rows.append(row | {"packets waiting, TCP": queue, "packets waiting, chain": waiting})
    return pd.DataFrame(rows)


def against_tcp(findings: Iterable[Finding], found: Averaged) -> pd.DataFrame:
    """Put what the open loop says of each claim beside the verdict on its literal form under TCP."""
    rows = []
    for own in by_claim(findings):
        verdicts = {finding.form: finding.verdict for finding in own}
        verdict = verdicts.get("literal", own[0].verdict)
        holds, words = _claim(own[0].claim, own[0].against, found)
        same = "yes" if holds is (verdict is Verdict.HOLDS) else "no"
        agree = same if verdict in (Verdict.HOLDS, Verdict.FAILS) else "open"
        row = {"claim": own[0].claim, "against": own[0].against, "open loop": str(_verdict(holds))}
        rows.append(row | {"under TCP": str(verdict), "agree": agree, "the open loop says": words})
    return pd.DataFrame(rows)


def _claim(claim: str, against: str, found: Averaged) -> tuple[bool, str]:
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
        loads = sorted({load for _, load in found})
        pairs = [(load, found["MRED", load]["sd_average"], found[against, load]["sd_average"]) for load in loads]
        words = ", ".join(f"{mred:.2f} against {other:.2f} at load {load:g}" for load, mred, other in pairs)
        return all(mred < other for _, mred, other in pairs), f"s.d. of the average (w = {WEIGHT:g}), packets: {words}"
    enough = [load for load in LOADS if number("MRED", load, "throughput") > CLOSE_MBPS]
    loads = sorted({load for _, load in found})
    return all(load in enough for load in loads if load >= 1), f"above {CLOSE_MBPS:g} Mb/s from load {enough[0]:g} on"


def _verdict(holds: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.FAILS


@cache
def _numbers(name: str, load: float) -> Numbers:
    return numbers_of(solved(name, load))
