"""What the paper prints, beside what was measured: the means in its text, and Table I."""

from __future__ import annotations

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import intervals_table
from aqmlab.reproduction.papers.common.tables import Row
from aqmlab.reproduction.papers.ddred.measure import QUANTITIES, UNITS, change, counted, values
from aqmlab.reproduction.papers.ddred.plan import CASES, DISCIPLINES, FILES, LATENCIES, TABLE_LATENCIES
from aqmlab.reproduction.papers.ddred.published import printed_change, printed_mean
from aqmlab.statistics import Interval, interval, paired

FLOWS = ("PCs1", "PCs2")
CELLS = tuple(f"{discipline} {flow}" for discipline in DISCIPLINES for flow in FLOWS)
"""The columns of Table I."""


def means(runs: pd.DataFrame, case: str) -> pd.DataFrame:
    """Return the means of L, S, T and S/L over the runs, beside the printed ones, and how DDRED changes them."""
    table = common.beside(
        [{"quantity": key} for key in QUANTITIES],
        list(DISCIPLINES),
        measured=lambda row, d: interval(values(runs, str(row["quantity"]), case=case, discipline=d)),
        printed=lambda row, d: printed_mean(case, str(row["quantity"]), d),
    )
    table["printed change, %"] = [printed_change(case, key) for key in QUANTITIES]
    found = [change(runs, case, key) for key in QUANTITIES]
    table["measured change, %"] = [one.mean for one in found]
    table["± change, %"] = [one.half_width for one in found]
    table["quantity"] = [f"{title}, {UNITS[key]}" for key, title in QUANTITIES.items()]
    return table


def means_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return `means` for reading."""
    shown = common.beside_text(table, list(DISCIPLINES), keys=["quantity"])
    shown["printed change, %"] = [f"{value:+.1f}" for value in table["printed change, %"]]
    shown["measured change, %"] = common.with_intervals(table["measured change, %"], table["± change, %"], signed=True)
    return shown


COUNTINGS = {
    "data packets, everywhere (chosen)": {},
    "data packets, in routers only": {"L": "L_routers"},
    "all packets, in routers only": {"L": "L_all", "S": "S_all"},
}
"""Ways of counting losses: columns of the table of runs as L and S."""


def countings(runs: pd.DataFrame) -> pd.DataFrame:
    """Return L, and the mean distance S/L, by each way of counting losses, with the printed ones first."""
    rows: list[dict[str, str | float | Interval]] = []
    for case in ("bus", "flower"):
        row: dict[str, str | float | Interval] = {"network": CASES[case], "losses counted": "printed"}
        for d in DISCIPLINES:
            row |= {f"L, {d}": printed_mean(case, "L", d), f"S/L, {d}": printed_mean(case, "d", d)}
        rows.append(row | {"L, DDRED / RED - 1, %": printed_change(case, "L")})
        for name, columns in COUNTINGS.items():
            own = counted(runs[runs["case"] == case], columns)
            row = {"network": CASES[case], "losses counted": name}
            for d in DISCIPLINES:
                row |= {f"{q}, {d}": interval(values(own, k, case=case, discipline=d)) for q, k in _COUNTED.items()}
            rows.append(row | {"L, DDRED / RED - 1, %": change(own, case, "L")})
    return intervals_table(rows)


_COUNTED = {"L": "L", "S/L": "d"}


def table_1(runs: pd.DataFrame) -> pd.DataFrame:
    """Return Table I, in KB/s, beside the printed one."""

    def where(row: Row, cell: str) -> dict[str, str | float]:
        return {"latency": row["latency, ms"], "discipline": cell.split()[0]}

    return common.beside(
        [{"latency, ms": latency} for latency in TABLE_LATENCIES],
        CELLS,
        measured=lambda row, cell: interval(values(runs, cell.split()[1], case="pair", **where(row, cell))),
        printed=lambda row, cell: FILES.printed(table="I", quantity=cell.split()[1], **where(row, cell)),
    )


def fairness(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what Figure 13 is made of: min/max of the two throughputs at every latency, and their sum."""
    rows: list[dict[str, str | float | Interval]] = []
    for latency in LATENCIES:
        row: dict[str, str | float | Interval] = {"latency, ms": latency}
        for discipline in DISCIPLINES:
            where = {"case": "pair", "latency": latency, "discipline": discipline}
            row[f"{discipline} min/max"] = interval(values(runs, "fairness", **where))
            row[f"{discipline} sum, KB/s"] = interval(values(runs, "total", **where))
        pair = [values(runs, "fairness", case="pair", latency=latency, discipline=d) for d in ("DDRED", "RED")]
        found = paired(*pair)
        row |= {"min/max, DDRED - RED": found.interval, "p": found.p, "seeds": found.interval.n}
        rows.append(row)
    return intervals_table(rows)
