"""The table of runs that claims, tables and figures are about: the open loop, both chains, the equations, and TCP."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from aqmlab.papers.common import BASE, Study, measure
from aqmlab.papers.common.open_loop import LONGEST, Averaged, loop_numbers
from aqmlab.papers.exred.chain import averaged, chain, longer
from aqmlab.papers.exred.claims import CLAIMS, RARE
from aqmlab.papers.exred.plan import CAPACITY, EXRED, LOADS, RED, RUN_LOADS, SCHEMES, loops

POINT = ["scheme", "load", "reading", "seed"]
"""Columns that identify a run of the open loop."""
Row = dict[str, str | float | None]


def rows(study: Study) -> pd.DataFrame:
    """Return a row per run and, of P(N > n), one per run and n; calculated rows belong to the chosen reading."""
    measured = measure(loops(study.effort), study.root, lambda _, found: loop_numbers(found))
    return table_of(measured, study.frame, averaged(study.effort, study.root))


def table_of(loops: pd.DataFrame, tcp: pd.DataFrame | None = None, theory: Averaged | None = None) -> pd.DataFrame:
    """Return runs of the open loop, those under TCP and the calculated rows in one table."""
    whole = loops.merge(_slopes(loops), how="left", on=POINT)
    if tcp is not None and "load" in tcp:
        offered = tcp["load"].notna()
        whole = whole.merge(tcp.loc[offered, [*POINT, "forced_share"]], how="left", on=POINT)
        tcp = tcp[~offered].drop(columns="load")
    tables = [whole.assign(model="simulated"), _shares(loops).assign(model="simulated")]
    if theory is not None:
        tables.append(pd.DataFrame([*_chain_rows(theory), *_equation_rows()]).assign(reading=BASE, seed=1))
    if tcp is not None:
        known = tcp.rename(columns={"n": "flows"})
        tables.append(known.assign(model="TCP", rtt=known["rtt"].fillna(0) if "rtt" in known else 0))
    table, words = pd.concat(tables, ignore_index=True), CLAIMS.words
    columns = [*table, *words.columns, *(one.column for one in words.quantities.values() if one.column)]
    integers = {"longer_than": int, "flows": int, "rtt": int}
    table = table.reindex(columns=list(dict.fromkeys(columns)))
    return table.fillna(dict.fromkeys(["load", *integers], 0)).astype(integers)


def _shares(loops: pd.DataFrame) -> pd.DataFrame:
    """Return P(N > n) at the loads of Figure 6, and how many runs of drops are behind it."""
    names = {f"longer_{n}": n for n in range(1, LONGEST + 1)}
    keys = ["scheme", "load", "reading", "seed", "drops", "mean_run"]
    found = loops[loops["load"].isin(RUN_LOADS)].melt(keys, list(names), "longer_than", "longer")
    runs = found["drops"] / found["mean_run"]
    found = found.assign(longer_than=found["longer_than"].map(names), runs=runs, runs_longer=runs * found["longer"])
    return found.drop(columns=["drops", "mean_run"])


def _slopes(loops: pd.DataFrame) -> pd.DataFrame:
    """Return how much E(N) grows per packet of mean queue, from one load of Figure 6 to the next."""
    keys = ["scheme", "reading", "seed"]
    found = loops[loops["load"].isin(RUN_LOADS)].sort_values([*keys, "load"])
    queue = found["throughput"] * found["wait_ms"] / 1e3  # Little's law
    steps = found.assign(queue=queue).groupby(keys)[["mean_run", "queue"]].diff()
    return found[POINT].assign(run_per_packet=steps["mean_run"] / steps["queue"])[steps["queue"].notna()]


def _chain_rows(theory: Averaged) -> Iterator[Row]:
    """Yield what both chains say; they count drops in a row exactly."""
    solved = {load: "averaged" if load in theory.loads_with_drops else RARE for load in theory.loads}
    for find, models in ((chain, dict.fromkeys(LOADS, "chain")), (theory, solved)):
        for load, model in models.items():
            for scheme in SCHEMES:
                numbers = {key: find(scheme, load, key) for key in ("p_drop", "throughput", "wait_ms", "mean_run")}
                if (model, scheme) == ("chain", EXRED):
                    numbers["largest_ratio"] = largest_ratio(load)
                    numbers["largest_ratio_eq10"] = largest_ratio(load, eq10=True)
                yield {"model": model, "scheme": scheme, "load": load, **numbers}


def _equation_rows() -> Iterator[Row]:
    """Yield E(N) by (11), and P(N > n) of RED by (10), as they are printed."""
    for load in LOADS:
        for scheme in (RED, EXRED):
            yield {"model": "printed", "scheme": scheme, "load": load, "mean_run": chain(scheme, load, "mean_run_eq11")}
        for n in range(1, LONGEST + 1) if load in RUN_LOADS else ():
            row: Row = {"model": "printed", "scheme": RED, "load": load, "longer_than": n}
            yield row | {"longer": longer(RED, load, n, eq10=True)}


def largest_ratio(load: float, *, eq10: bool = False) -> float:
    """Return the chain's largest P(N > n), ExRED's over RED's: exact over 1 < n <= 20, by (10) over 1 < n < K.

    >>> round(largest_ratio(2.0), 3), round(largest_ratio(2.0, eq10=True), 3)
    (0.651, 0.3)
    """
    last = CAPACITY - 1 if eq10 else LONGEST
    pairs = ([longer(scheme, load, n, eq10=eq10) or 0.0 for scheme in (EXRED, RED)] for n in range(2, last + 1))
    return max(exred / red for exred, red in pairs)
