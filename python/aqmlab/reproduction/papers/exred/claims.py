"""The paper's claims D-a to D-f on the open loop, and ours, D-g to D-i, under TCP."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part, above, below, values
from aqmlab.reproduction.papers.common.open_loop import LONGEST
from aqmlab.reproduction.papers.exred import chain_claims
from aqmlab.reproduction.papers.exred.chain import Averaged, solved
from aqmlab.reproduction.papers.exred.chain_claims import MUCH_LOWER
from aqmlab.reproduction.papers.exred.plan import EXRED, FILES, GENTLE, RED, RUN_LOADS, TAIL
from aqmlab.statistics import Verdict, interval

VISIBLE = (0.9, 1.2)
"""Between these loads the chain's throughputs differ by 0.7 packets/s or more."""
MARGINS = {"throughput": 0.5, "p_drop": 0.0005, "utilization": 0.005, "loss": 0.001, "mean_delay_ms": 1.0}
"""Differences that count as none: packets/s, probability, share of time, share of packets, ms."""
ENOUGH_DROPS = 1000
"""Runs of drops are judged at loads at which a scheme dropped so many packets or more, all seeds together."""
MANY_FLOWS = 20
"""From so many TCP flows on RED's average is driven above k_h: at p = max_p = 0.1 a window is about
(1.5/0.1)^(1/2) = 3.9 packets, and 20 of them fill the path of 50 packets and k_h = 30."""
BASELINES = (RED, GENTLE)


def judge(
    loops: pd.DataFrame | None, tcp: pd.DataFrame | None, *, theory: Averaged | None = None
) -> tuple[list[Finding], list[Part]]:
    """Judge the claims on the runs of one reading.

    Parameters
    ----------
    loops, tcp
        Runs of the open loop and under TCP; None leaves out the claims that are about them.
    theory
        The chain of number and average; with it the chains' numbers count too, which belong to the reading that was
        chosen.
    """
    parts = []
    if loops is not None:
        parts += [] if theory is None else chain_claims.parts(theory)
        found = _throughput(loops) + _drops(loops) + _runs(loops) + _mean_run(loops) + _delay(loops) + _low_load(loops)
        parts += [replace(part, case=part.case or "simulated") for part in found]
    if tcp is not None:
        parts += _tcp(tcp)

    def extra(claim: str, against: str, verdict: Verdict) -> list[str]:
        if loops is None or claim >= "D-g":
            return _tcp_sizes(claim, against, tcp)
        return [*_sizes(claim, loops), *([] if theory is None else chain_claims.words(claim, theory))]

    return common.judge(parts, FILES.claims(), extra=extra), parts


def _loads(loops: pd.DataFrame, low: float = 0.0, high: float = 9.0) -> list[float]:
    return sorted(load for load in loops["load"].unique() if low <= load <= high)


def _with_drops(loops: pd.DataFrame, *schemes: str) -> list[float]:
    """Loads at which each of these schemes dropped enough packets."""
    return [
        load
        for load in _loads(loops)
        if all(values(loops, "drops", scheme=scheme, load=load).sum() >= ENOUGH_DROPS for scheme in schemes)
    ]


def _throughput(loops: pd.DataFrame) -> list[Part]:
    what, margin = "throughput", MARGINS["throughput"]
    parts = []
    for load in _loads(loops):
        tail, red, exred = (values(loops, what, scheme=s, load=load) for s in (TAIL, RED, EXRED))
        at = {"load": load}
        name = "throughput, ExRED - RED, packets/s"
        if VISIBLE[0] <= load <= VISIBLE[1]:
            parts.append(above("D-a", name, exred, red, at=at, aspect="above RED"))
        parts += [
            above("D-a", name, exred, red, margin=margin, at=at, aspect="not below RED"),
            below(
                "D-a", "throughput, ExRED - drop-tail, packets/s", exred, tail, margin=margin, at=at,
                aspect="not above drop-tail",
            ),
        ]  # fmt: skip
    return parts


def _drops(loops: pd.DataFrame) -> list[Part]:
    parts = []
    for load in _loads(loops):
        red, exred = (values(loops, "p_drop", scheme=s, load=load) for s in (RED, EXRED))
        at, what = {"load": load}, "P_drop, ExRED - RED"
        margin = MARGINS["p_drop"]
        parts.append(below("D-b", what, exred, red, margin=margin, at=at, aspect="not above"))
        if VISIBLE[0] <= load <= VISIBLE[1]:
            parts.append(below("D-b", what, exred, red, at=at, aspect="below"))
    return parts


def _runs(loops: pd.DataFrame) -> list[Part]:
    parts = []
    for load in _with_drops(loops, RED, EXRED):
        for n in range(2, LONGEST + 1) if load in RUN_LOADS else ():
            red, exred = (values(loops, f"longer_{n}", scheme=s, load=load) for s in (RED, EXRED))
            if (red > 0).all():
                what = "P(N > n), ExRED - RED"
                parts.append(below("D-c", what, exred, red, case=f"simulated, load {load}", at={"n": n}))
    return parts


def _mean_run(loops: pd.DataFrame) -> list[Part]:
    parts = []
    for load in _with_drops(loops, RED, EXRED):
        red, exred = (values(loops, "mean_run", scheme=s, load=load) for s in (RED, EXRED))
        at, tail = {"load": load}, 1 + load
        parts += [
            below("D-d", "E(N), ExRED - (1 + load)", exred, tail, at=at, aspect="ExRED below drop-tail"),
            below("D-d", "E(N), ExRED - RED", exred, red, at=at, aspect="ExRED below RED"),
        ]
        if load >= 1.2:
            parts.append(above("D-d", "E(N), RED - (1 + load)", red, tail, at=at, aspect="RED above drop-tail"))
    return parts


def _delay(loops: pd.DataFrame) -> list[Part]:
    parts = []
    for load in _loads(loops, low=1.0):
        tail, red, exred = (values(loops, "wait_ms", scheme=s, load=load) for s in (TAIL, RED, EXRED))
        at = {"load": load}
        parts += [
            above("D-e", "mean wait, ExRED - RED, ms", exred, red, at=at, aspect="above RED"),
            below(
                "D-e", "mean wait, ExRED / drop-tail - 0.8", exred / tail, MUCH_LOWER, at=at,
                aspect="below drop-tail",
            ),
        ]  # fmt: skip
    return parts


def _low_load(loops: pd.DataFrame) -> list[Part]:
    parts = []
    for load in [load for load in _with_drops(loops, RED) if load < 1]:
        at = {"load": load}
        mean, pair = (values(loops, what, scheme=RED, load=load) for what in ("mean_run", "longer_1"))
        parts += [
            above("D-f", "E(N), RED - (1 + load)", mean, 1 + load, at=at, aspect="mean number"),
            above("D-f", "P(N > 1), RED - load / (1 + load)", pair, load / (1 + load), at=at, aspect="probability"),
        ]
    return parts


def _tcp(tcp: pd.DataFrame) -> list[Part]:
    parts = []
    for against in BASELINES:
        for n in sorted(tcp["n"].unique()):
            parts += _tcp_point(tcp, int(n), against)
    return parts


def _tcp_point(tcp: pd.DataFrame, n: int, against: str) -> list[Part]:
    def of(scheme: str, key: str) -> np.ndarray:
        return values(tcp, key, scheme=scheme, n=n)

    def pair(key: str) -> tuple[np.ndarray, np.ndarray]:
        return of(EXRED, key), of(against, key)

    at, name, margins = {"n": n}, f"ExRED - {against}", MARGINS
    busy, loss, timeouts, delay = (pair(key) for key in ("utilization", "loss", "timeouts", "mean_delay_ms"))
    parts = [
        above("D-g", f"utilization, {name}", *busy, margin=margins["utilization"], at=at, against=against),
        below("D-h", f"loss, {name}", *loss, margin=margins["loss"], at=at, against=against, aspect="loss not above"),
        below(
            "D-i",
            "mean delay, ExRED - drop-tail, ms",
            delay[0],
            of(TAIL, "mean_delay_ms"),
            at=at,
            against=against,
            aspect="below drop-tail",
        ),
        above(
            "D-i",
            f"mean delay, {name}, ms",
            *delay,
            margin=margins["mean_delay_ms"],
            at=at,
            against=against,
            aspect="not below the baseline",
        ),
    ]
    if n >= MANY_FLOWS:
        what = f"time-outs per flow and minute, {name}"
        parts += [
            below("D-h", f"loss, {name}", *loss, at=at, against=against, aspect="loss below"),
            below("D-h", what, *timeouts, at=at, against=against, aspect="time-outs below"),
        ]
    return parts


def _sizes(claim: str, loops: pd.DataFrame) -> list[str]:
    """Say how large the effects are."""
    if claim == "D-a":
        gains = {load: _mean(loops, "throughput", EXRED, load) - _mean(loops, "throughput", RED, load)
                 for load in _loads(loops)}  # fmt: skip
        best = max(gains, key=lambda load: gains[load])
        return [f"Largest ExRED - RED: {gains[best]:.2f} packets/s of 1000, at load {best}."]
    if claim in ("D-b", "D-d", "D-e"):
        what, unit = {"D-b": ("p_drop", ""), "D-d": ("mean_run", ""), "D-e": ("wait_ms", " ms")}[claim]
        return [f"Load {load}: {_three(loops, what, load, unit)}." for load in (0.9, 1.2, 2.0)]
    if claim == "D-c":
        return [
            f"P(N > 5) at load {load}: {_three(loops, 'longer_5', load, '')}."
            for load in RUN_LOADS
            if load in _with_drops(loops, RED, EXRED)
        ]
    if claim == "D-f":
        return _low_load_reason(loops)
    return []


def _low_load_reason(loops: pd.DataFrame) -> list[str]:
    load = 0.9
    mean, pairs, drops = (_mean(loops, what, RED, load) for what in ("mean_run", "pairs", "p_drop"))
    tail = solved(TAIL, load).p_drop
    tail_pairs = tail / (1 + load) * load / (1 + load)
    lines = [
        f"Reason found (load {load}): RED drops early and by chance, one packet at a time: E(N) is {mean:.2f}, "
        f"drop-tail's {1 + load:.1f}. What RED raises at low load is the probability of a drop, {drops:.2g} against "
        f"{tail:.1g} (M/M/1/K), and with it that of a run of two or more per arrival, {pairs:.1g} against "
        f"{tail_pairs:.1g}."
    ]
    rarer = (load / (1 + load)) ** np.arange(LONGEST + 1)
    likelier = [n for n in range(1, LONGEST + 1) if _mean(loops, f"longer_{n}", RED, load) > rarer[n]]
    if likelier:
        lines.append(
            f"Long runs are an exception: P(N > n) of RED exceeds drop-tail's from n = {likelier[0]} on, "
            f"{_mean(loops, 'longer_10', RED, load):.2g} against {rarer[10]:.1g} at n = 10, since all packets are "
            "dropped while the average stays above k_h."
        )
    return lines


def _tcp_sizes(claim: str, against: str, tcp: pd.DataFrame | None) -> list[str]:
    if tcp is None:
        return []
    lines = []
    for key, title, scale in {
        "D-g": [("utilization", "Utilization, %", 100.0)],
        "D-h": [("loss", "Loss, %", 100.0), ("timeouts", "Time-outs per flow and minute", 1.0)],
        "D-i": [("mean_delay_ms", "Mean delay, ms", 1.0)],
    }.get(claim, []):
        words = []
        for n in sorted(tcp["n"].unique()):
            means = [scale * float(np.mean(values(tcp, key, scheme=s, n=n))) for s in (TAIL, against, EXRED)]
            words.append(f"n = {n}: {means[0]:.3g} / {means[1]:.3g} / {means[2]:.3g}")
        lines.append(f"{title}, drop-tail / {against} / ExRED: {'; '.join(words)}.")
    return lines


def _three(loops: pd.DataFrame, what: str, load: float, unit: str) -> str:
    means = {scheme: _mean(loops, what, scheme, load) for scheme in (TAIL, RED, EXRED)}
    return ", ".join(f"{scheme} {'never drops' if m != m else f'{m:.3g}{unit}'}" for scheme, m in means.items())


def _mean(loops: pd.DataFrame, what: str, scheme: str, load: float) -> float:
    return interval(values(loops, what, scheme=scheme, load=load)).mean
