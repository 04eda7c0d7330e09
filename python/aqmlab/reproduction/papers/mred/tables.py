"""Tables 1 to 4 and the parameter table, published beside measured."""

from __future__ import annotations

import math

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Setup, intervals_table, intervals_text, with_intervals
from aqmlab.reproduction.papers.mred.measure import values
from aqmlab.reproduction.papers.mred.plan import CASES, DISCIPLINES, FLOWS
from aqmlab.reproduction.papers.mred.published import parameters, printed
from aqmlab.statistics import Interval, interval, paired


def beside(runs: pd.DataFrame, *, case: str, quantity: str, key: str) -> pd.DataFrame:
    """One of the paper's tables beside what was measured.

    Parameters
    ----------
    runs
        Runs of the chosen reading.
    case, quantity
        ``sole`` or ``mixed``; ``throughput`` or ``loss``.
    key
        The measured column: ``throughput``, or one of the three losses.
    """
    return common.beside(
        [{"n": n} for n in FLOWS],
        list(DISCIPLINES),
        measured=lambda row, d: interval(values(runs, case=case, n=int(row["n"]), discipline=d, key=key)),
        printed=lambda row, d: (
            None if d == "gentle RED" else printed(case=case, quantity=quantity, n=int(row["n"]), discipline=d)
        ),
    )


def differences(runs: pd.DataFrame, *, case: str, quantity: str, key: str) -> pd.DataFrame:
    """MRED - RED and MRED - gentle RED, seed by seed, beside the printed difference."""
    rows = []
    for n in FLOWS:
        mred = values(runs, case=case, n=n, discipline="MRED", key=key)
        pair = {
            "n": n,
            **{d: printed(case=case, quantity=quantity, n=n, discipline=d) for d in ("RED", "MRED")},
        }
        row = {"n": n, "printed MRED - RED": pair["MRED"] - pair["RED"]}
        for baseline in ("RED", "gentle RED"):
            found = paired(mred, values(runs, case=case, n=n, discipline=baseline, key=key))
            row[f"measured MRED - {baseline}"] = found.mean
            row[f"low ({baseline})"] = found.interval.low
            row[f"high ({baseline})"] = found.interval.high
            row[f"p ({baseline})"] = found.p
            row["seeds"] = found.interval.n
        rows.append(row)
    return pd.DataFrame(rows)


def beside_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return one of the paper's tables for reading: each mean with its interval in one cell."""
    return common.beside_text(table, list(DISCIPLINES), keys=["n"])


def differences_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return paired differences for reading."""
    shown = table[["n", "seeds"]].astype(int)
    shown["printed MRED - RED"] = [f"{value:+.4g}" for value in table["printed MRED - RED"]]
    for baseline in ("RED", "gentle RED"):
        half = (table[f"high ({baseline})"] - table[f"low ({baseline})"]) / 2
        shown[f"measured MRED - {baseline}"] = with_intervals(table[f"measured MRED - {baseline}"], half, signed=True)
        shown[f"p ({baseline})"] = [f"{p:.2g}" for p in table[f"p ({baseline})"]]
    return shown


def stability_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return `stability` for reading."""
    return intervals_text(table.assign(case=[CASES[case] for case in table["case"]]))


def stability(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over time of RED's average, per case, n and discipline."""
    rows: list[dict[str, str | float | Interval]] = []
    for (case, n, discipline), group in runs.groupby(["case", "n", "discipline"], sort=False):
        row: dict[str, str | float | Interval]
        row = {"case": str(case), "n": int(str(n)), "discipline": str(discipline), "seeds": len(group)}
        for key, title in (
            ("average_mean", "mean after 5 s"),
            ("average_sd", "s.d. after 5 s"),
            ("burst_mean", "mean 3-10 s"),
            ("burst_sd", "s.d. 3-10 s"),
        ):
            row[title] = interval(group[key].to_numpy(dtype=float))
        rows.append(row)
    return intervals_table(rows)


def parameter_table(setup: Setup) -> pd.DataFrame:
    """Printed parameters beside the effective ones of the scenario that was run."""
    link = setup.plan.link("bottleneck")
    rows = []
    for cell in parameters():
        found = setup.plan.duration_s if cell.quantity == "duration" else _number(link.parameters.get(cell.quantity))
        rows.append(
            {
                "parameter": cell.quantity,
                "unit": cell.unit,
                "printed": cell.value,
                "in the scenario": found,
                "same": "yes" if found == cell.value else "no",
                "note": cell.note,
            }
        )
    return pd.DataFrame(rows)


def _number(value: object) -> float:
    """Read a parameter that the core gives as a number or as text with a unit."""
    if isinstance(value, int | float):
        return float(value)
    digits = str(value).rstrip("pB ")
    try:
        return float(digits)
    except ValueError:
        return math.nan
