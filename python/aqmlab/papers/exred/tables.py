"""The coefficients of the parabola, the simulation beside both chains, and ours under TCP, as tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd

from aqmlab.papers.common import (
    difference,
    intervals_table,
    measured,
    tables,
    with_intervals,
)
from aqmlab.papers.common.open_loop import Averaged
from aqmlab.papers.exred.chain import chain
from aqmlab.papers.exred.plan import EXRED, FILES, LOADS, QUEUE, SCHEMES, SERVICE_RATE, TCP_SCHEMES
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
    "p_drop": "probability of a drop",
    "throughput": "throughput, packets/s",
    "mean_run": "drops in a row, E(N)",
    "wait_ms": "mean wait, ms",
}
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


def beside(loops: pd.DataFrame, averaged: Averaged, quantity: str) -> pd.DataFrame:
    """One quantity by load and scheme: both chains, the simulation, and its gap to each chain.

    A gap is measured / chain - 1; NaN where a chain was not solved, or where nothing was dropped.
    """
    rows = []
    for load in LOADS:
        for scheme in SCHEMES:
            found = measured(loops, quantity, scheme=scheme, load=load)
            alone, with_average = chain(scheme, load, quantity), averaged(scheme, load, quantity)
            row: dict[str, str | float] = {"load": load, "scheme": scheme}
            row |= {NO_AVERAGE: _or_nan(alone), AVERAGE: _or_nan(with_average)}
            row |= {"measured": found.mean, "measured low": found.low, "measured high": found.high, "seeds": found.n}
            for name in (NO_AVERAGE, AVERAGE):
                row[f"gap to {name}"] = found.mean / float(row[name]) - 1 if found.mean > 0 else np.nan
            rows.append(row)
    return pd.DataFrame(rows)


def beside_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return `beside` for reading: the mean with its interval in one cell, gaps in per cent."""
    shown = table[["load", "scheme", NO_AVERAGE, AVERAGE]].copy()
    shown["measured"] = with_intervals(table, "measured")
    for name in (NO_AVERAGE, AVERAGE):
        shown[f"gap to {name}, %"] = (100 * table[f"gap to {name}"]).round(2)
    return shown


def largest_gaps(table: pd.DataFrame, *, low: float) -> dict[tuple[str, str], tuple[float, float]]:
    """Return, by chain and scheme, the largest gap at loads from `low` on, and the load at which it is."""
    found = {}
    for scheme, rows in table[table["load"] >= low].groupby("scheme"):
        for name in (NO_AVERAGE, AVERAGE):
            gaps = rows[f"gap to {name}"].to_numpy(dtype=float)
            if np.isfinite(gaps).any():
                worst = int(np.nanargmax(np.abs(gaps)))
                found[name, str(scheme)] = (float(gaps[worst]), float(rows["load"].to_numpy()[worst]))
    return found


def under_tcp(tcp: pd.DataFrame) -> pd.DataFrame:
    """All quantities under TCP by number of flows and scheme."""
    rows: list[dict[str, str | float | Interval]] = []
    for n in sorted(int(n) for n in tcp["n"].unique()):
        for scheme in TCP_SCHEMES:
            found = {title: measured(tcp, key, scheme=scheme, n=n) for key, title in TCP_QUANTITIES.items()}
            rows.append({"n": n, "scheme": scheme, "seeds": found["loss"].n, **found})
    return intervals_table(rows)


def tcp_differences(tcp: pd.DataFrame) -> pd.DataFrame:
    """ExRED less each other scheme under TCP, paired by seed."""
    rows: list[dict[str, str | float | Interval]] = []
    for n in sorted(int(n) for n in tcp["n"].unique()):
        for scheme in TCP_SCHEMES:
            if scheme == EXRED:
                continue
            found = {
                title: difference(tcp, key, {"scheme": EXRED, "n": n}, {"scheme": scheme, "n": n})
                for key, title in TCP_QUANTITIES.items()
            }
            rows.append({"n": n, "ExRED less": scheme, "seeds": found["loss"].n, **found})
    return intervals_table(rows)


def _or_nan(found: float | None) -> float:
    return np.nan if found is None else found
