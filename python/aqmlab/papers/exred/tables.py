"""The coefficients of the parabola, the simulation beside both chains, and ours under TCP, as tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd

from aqmlab.papers.common import SEEDS, Runs, Study, Table, intervals_table, intervals_text, tables, with_intervals
from aqmlab.papers.exred.claims import AVERAGED
from aqmlab.papers.exred.plan import EXRED, FILES, LOADS, QUEUE, SCHEMES, SERVICE_RATE, TAIL, TCP_SCHEMES
from aqmlab.statistics import Interval

K, K_L, K_H, MAX_P = (Fraction(text) for text in ("100", "10", "30", "0.1"))
_D = (K_H - K_L) * (K - K_H) ** 2
A2 = ((K_H - K_L) - (K - K_L) * MAX_P) / _D
A1 = ((K_H**2 + K**2 - 2 * K_H * K_L) * MAX_P - 2 * K_H**2 + 2 * K_H * K_L) / _D
A0 = (K_H**3 - K_H**2 * K_L - (K_H**2 - 2 * K_H * K_L + K_L * K) * K * MAX_P) / _D
A0_PRINTED = (K_H**3 - K_H**2 * K_L - (K_H**2 + 2 * K_H * K_L + K_L * K) * K * MAX_P) / _D
"""The coefficients below (14) at the paper's parameters; a_0 with the sign that meets its conditions, and as it is
printed."""
NO_AVERAGE, AVERAGE = "chain, w = 1", "chain, w = 0.02"
"""The paper's chain, which has the number in system for the average, and the one with the average."""
QUANTITIES = {
    "p_drop": ("drops", "probability of a drop"),
    "throughput": ("throughput", "throughput, packets/s"),
    "mean_run": ("drops-in-a-row", "drops in a row, E(N)"),
    "wait_ms": ("wait", "mean wait, ms"),
}
"""Quantities of the open loop, with the names and titles of their tables."""
TCP_QUANTITIES = {
    "utilization": "utilization",
    "loss": "loss",
    "timeouts": "time-outs per flow and minute",
    "mean_delay_ms": "mean queueing delay, ms",
    "delay_p99_ms": "99 % queueing delay, ms",
    "jain": "Jain's index",
}


def parabola(x: np.ndarray, a0: Fraction) -> np.ndarray:
    """Return a_2 x^2 + a_1 x + a_0, as (14) writes it.

    >>> parabola(np.array([30.0, 100.0]), A0).round(12).tolist()
    [0.1, 1.0]
    """
    found: np.ndarray = float(A2) * x**2 + float(A1) * x + float(a0)
    return found


def coefficients() -> pd.DataFrame:
    """The three conditions on the parabola, with a_0 as printed and as it must be."""
    rows = []
    for name, a0 in (("- 2 k_h k_l (chosen)", A0), ("+ 2 k_h k_l (printed)", A0_PRINTED)):
        low, high = (A2 * x**2 + A1 * x + a0 for x in (K_H, K))
        slope = 2 * A2 * K_H + A1
        rows.append(
            {
                "sign in a_0": name,
                "a_2": float(A2),
                "a_1": float(A1),
                "a_0": float(a0),
                "p(k_h), must be 0.1": float(low),
                "p(K), must be 1": float(high),
                "slope at k_h, must be 0.005": float(slope),
                "meets all": "yes" if (low, high, slope) == (MAX_P, Fraction(1), MAX_P / (K_H - K_L)) else "no",
            }
        )
    return pd.DataFrame(rows)


def parameters() -> pd.DataFrame:
    """Printed parameters beside those of the runs."""
    effective = {"service_rate": SERVICE_RATE, **QUEUE}
    return tables.parameters(FILES.cells(), lambda cell: effective[cell.quantity], found="in the runs")


def beside(runs: Runs, quantity: str) -> pd.DataFrame:
    """One quantity by load and scheme: both chains, the simulation, and its gap to each chain.

    A gap is measured / chain - 1; NaN where a chain was not solved, or where nothing was dropped.
    """
    rows = []
    for load in LOADS:
        for scheme in SCHEMES:
            models = ("simulated", "chain", "chain" if scheme == TAIL else AVERAGED)  # drop-tail has no average
            found, alone, both = (runs.of(quantity, scheme, load=load, model=model).only for model in models)
            row: dict[str, str | float] = {"load": load, "scheme": scheme, NO_AVERAGE: alone.mean, AVERAGE: both.mean}
            row |= {"measured": found.mean, "measured low": found.low, "measured high": found.high, "seeds": found.n}
            for name, one in ((NO_AVERAGE, alone), (AVERAGE, both)):
                row[f"gap to {name}"] = found.mean / one.mean - 1 if found.mean > 0 else np.nan
            rows.append(row)
    return pd.DataFrame(rows)


def beside_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return `beside` for reading: the mean with its interval in one cell, gaps in per cent."""
    shown = table[["load", "scheme", NO_AVERAGE, AVERAGE]].copy()
    shown["measured"] = with_intervals(table, "measured")
    for name in (NO_AVERAGE, AVERAGE):
        shown[f"gap to {name}, %"] = (100 * table[f"gap to {name}"]).round(2)
    return shown


def largest_gaps(table: pd.DataFrame, *, low: float) -> str:
    """Say how far each chain is from the simulation at most, at loads from `low` on."""
    sentences = []
    for name in (NO_AVERAGE, AVERAGE):
        words = []
        for scheme in SCHEMES:
            own = table[(table["scheme"] == scheme) & (table["load"] >= low) & table[f"gap to {name}"].notna()]
            if len(own):
                gap, load = max(zip(own[f"gap to {name}"], own["load"], strict=True), key=lambda one: abs(one[0]))
                words.append(f"{scheme} {100 * gap:+.1f} % at load {load}")
        sentences.append(f"{name}: {', '.join(words)}")
    return f"Largest gap of the simulation, at loads from {low} on, to the {'; to the '.join(sentences)}."


def under_tcp(study: Study) -> Table:
    """Return all quantities under TCP by number of flows and scheme."""
    return study.table(
        "tcp",
        {"seeds": SEEDS, **{title: key for key, title in TCP_QUANTITIES.items()}},
        rows={"flows": "n", "scheme": "scheme"},
        of={"model": "TCP", "scheme": tuple(TCP_SCHEMES)},
        heading="Under TCP: all quantities",
        caption="Means over the seeds with 95 % intervals.",
        digits=4,
    )


def tcp_differences(study: Study) -> Table:
    """Return ExRED less each other scheme under TCP."""
    rows: list[dict[str, str | float | Interval]] = []
    for n in study.effort.tcp_flows:
        for scheme in (name for name in TCP_SCHEMES if name != EXRED):
            found = {
                title: study.runs.gain(key, EXRED, over=scheme, model="TCP", flows=n).only
                for key, title in TCP_QUANTITIES.items()
            }
            rows.append({"n": n, "ExRED less": scheme, "seeds": found["loss"].n, **found})
    numbers = intervals_table(rows)
    return Table(
        "tcp-differences",
        numbers,
        intervals_text(numbers, signed=list(TCP_QUANTITIES.values())),
        heading="Under TCP: ExRED less the others",
        caption="Paired by seed, with 95 % intervals.",
        digits=3,
    )
