"""DDRED's tables that are not data: the means in the text, ways of counting losses, forms and the search."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from aqmlab.papers.common import (
    beside,
    beside_text,
    intervals_table,
    intervals_text,
    measured,
    with_intervals,
)
from aqmlab.papers.common.page_file import _contents, made
from aqmlab.papers.common.paper import Study
from aqmlab.papers.common.tables import for_reading
from aqmlab.papers.ddred import sweep
from aqmlab.papers.ddred.measure import change, counted, crossing
from aqmlab.papers.ddred.plan import CASES, DISCIPLINES, FILES, forms
from aqmlab.statistics import Interval

QUANTITIES = {
    "L": "lost data packets L, packets",
    "S": "losses weighted by distance S, slots",
    "d": "mean distance of the losses S/L, routers",
    "T": "sum of transfer times T, s",
}
CLOSEST = 15
"""So many of the readings closest to Table I are shown."""
COUNTINGS = {
    "data packets, everywhere (chosen)": {},
    "data packets, in routers only": {"L": "L_routers"},
    "all packets, in routers only": {"L": "L_all", "S": "S_all"},
}
"""Ways of counting losses: columns of the table of runs as L and S."""


def tables(study: Study) -> dict[str, pd.DataFrame]:
    """Return the tables that ``page.toml`` leaves to this code."""
    others = study.under(forms(study.effort))
    found = {f"means-{case}": means(study.base, case) for case in ("bus", "flower")}
    found |= {"countings": countings(study.base), "table-1-search": sweep.results(study.effort, study.root)}
    found |= {"readings": _sizes(study, study.readings), "forms": _sizes(study, others)}
    return found | {"form-verdicts": study.verdicts(others)}


def _sizes(study: Study, readings: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Return what DDRED changes under each reading, its fit to the paper, and where the two flows are equal."""
    equal = [crossing(own) if "pair" in set(own["case"]) else float("nan") for own in readings.values()]
    found = made(study, "readings", readings).numbers
    assert found is not None
    return found.assign(**{"equal at, ms": equal})


def shown(study: Study) -> dict[str, pd.DataFrame]:
    """Return tables for reading that are others than those in numbers."""
    found: dict[str, pd.DataFrame] = {}
    for case in ("bus", "flower"):
        table = means(study.base, case)
        found[f"means-{case}"] = beside_text(table, list(DISCIPLINES), keys=["quantity"]).assign(
            **{
                "printed change, %": [f"{value:+.1f}" for value in table["printed change, %"]],
                "measured change, %": with_intervals(table, "measured change, %", signed=True),
            }
        )
    found["countings"] = intervals_text(countings(study.base), signed=["L, DDRED / RED - 1, %"])
    search = sweep.results(study.effort, study.root)
    found["search-closest"] = sweep.shown(search.head(CLOSEST))
    found["search-both"] = sweep.shown(search.sort_values("both error").head(CLOSEST))
    entry = FILES.toml("page.toml")["table"]["readings"]
    columns = _contents(study, entry["columns"], {})
    found["forms"] = for_reading(_sizes(study, study.under(forms(study.effort))), columns)
    return found


def means(runs: pd.DataFrame, case: str) -> pd.DataFrame:
    """Return the means of L, S, T and S/L over the runs, beside the printed ones, and how DDRED changes them."""
    table = beside(
        [{"quantity": key} for key in QUANTITIES],
        list(DISCIPLINES),
        measured=lambda row, d: measured(runs, str(row["quantity"]), latency=0, case=case, discipline=d),
        printed=lambda row, d: printed_mean(case, str(row["quantity"]), d),
    )
    found = [change(runs, case, key) for key in QUANTITIES]
    table["printed change, %"] = [printed_change(case, key) for key in QUANTITIES]
    table["measured change, %"] = [one.mean for one in found]
    table["measured change, % low"] = [one.low for one in found]
    table["measured change, % high"] = [one.high for one in found]
    return table.assign(quantity=list(QUANTITIES.values()))


def countings(runs: pd.DataFrame) -> pd.DataFrame:
    """Return L, and the mean distance S/L, by each way of counting losses, with the printed ones first."""
    rows: list[dict[str, str | float | Interval]] = []
    quantities = {"L": "L", "S/L": "d"}
    for case in ("bus", "flower"):
        row: dict[str, str | float | Interval] = {"network": CASES[case], "losses counted": "printed"}
        row |= {f"{title}, {d}": printed_mean(case, key, d) for d in DISCIPLINES for title, key in quantities.items()}
        rows.append(row | {"L, DDRED / RED - 1, %": printed_change(case, "L")})
        for name, columns in COUNTINGS.items():
            own = counted(runs[runs["case"] == case], columns)
            row = {"network": CASES[case], "losses counted": name}
            for d in DISCIPLINES:
                row |= {
                    f"{q}, {d}": measured(own, k, latency=0, case=case, discipline=d) for q, k in quantities.items()
                }
            rows.append(row | {"L, DDRED / RED - 1, %": change(own, case, "L")})
    return intervals_table(rows)


def printed_mean(case: str, quantity: str, discipline: str) -> float:
    """Return a printed mean of L, S, T, or their mean distance d = S/L.

    >>> printed_mean("bus", "L", "RED")
    2724.0
    """
    if quantity == "d":
        return printed_mean(case, "S", discipline) / printed_mean(case, "L", discipline)
    return FILES.printed(case=case, quantity=quantity, discipline=discipline)


def printed_change(case: str, quantity: str) -> float:
    """Return DDRED / RED - 1 in % by the printed means."""
    return 100 * (printed_mean(case, quantity, "DDRED") / printed_mean(case, quantity, "RED") - 1)
