"""Compares drop shares of a coupled queue (dialect `dsred`) with ns-2's (tests/data/ns2/dsred/shares.csv)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.results.parquet import values
from dsred_shares import KINDS, read
from dsred_shares import main as make_shares
from make_dsred import main as make_dsred
from papers.intervals import Comparison, compare, markdown

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2" / "dsred"
IN, OUT = 10, 0
"""Code points in our runs: AF11, and best effort."""
BOUNDS = {
    "departed_bytes": 0.03,
    "in_arrivals": 0.03,
    "out_arrivals": 0.03,
    "in_drops": 0.05,
    "out_drops": 0.05,
    "early": 0.05,
    "forced": 0.05,
}
Numbers = dict[str, float]


def run(job: tuple[str, int]) -> Numbers:
    """One run of ours."""
    kind, seed = job
    path = DATA / f"shares-{kind}.toml"
    tables: dict[str, Any] = _core.Scenario(path.read_text(), path.name).run(seed)["tables"]

    def numbers(table: str, name: str) -> list[float]:
        return [float(x) for x in values(tables[table][name])]

    core = values(tables["links"]["link"]).tolist().index("core")
    by_class = {
        int(dscp): (arrivals, drops)
        for link, dscp, arrivals, drops in zip(
            values(tables["code_points"]["link"]),
            *(numbers("code_points", name) for name in ("dscp", "arrivals", "drops")),
            strict=True,
        )
        if link == "core"
    }
    return {
        "departed_bytes": numbers("links", "departed_bytes")[core],
        "in_arrivals": by_class[IN][0],
        "out_arrivals": by_class[OUT][0],
        "in_drops": by_class[IN][1],
        "out_drops": by_class[OUT][1],
        "early": numbers("links", "drops_early")[core],
        "forced": numbers("links", "drops_forced")[core] + numbers("links", "drops_overflow")[core],
    }


def reference(kind: str) -> list[Numbers]:
    """The committed runs of ns-2."""
    rows = [
        {name: float(value) for name, value in row.items() if name != "kind"} for row in read() if row["kind"] == kind
    ]
    return [
        {
            **row,
            "in_drops": row["in_early"] + row["in_forced"],
            "out_drops": row["out_early"] + row["out_forced"],
            "early": row["in_early"] + row["out_early"],
            "forced": row["in_forced"] + row["out_forced"],
        }
        for row in rows
    ]


def comparisons(workers: int) -> list[Comparison]:
    """Return comparisons of as many of our seeds as ns-2 has; events that never occur on both sides are left out."""
    found = []
    with ProcessPoolExecutor(workers) as pool:
        for kind in KINDS:
            theirs = reference(kind)
            ours = list(pool.map(run, [(kind, seed) for seed in range(1, len(theirs) + 1)], chunksize=5))
            found += [
                compare(("coupled queue", kind, name), _column(ours, name), _column(theirs, name), bound, paired=False)
                for name, bound in BOUNDS.items()
                if any(_column(ours, name)) or any(_column(theirs, name))
            ]
    return found


def report(workers: int) -> tuple[str, bool]:
    """Text for the validation report, and whether everything in it is shown."""
    found = comparisons(workers)
    shown = all(c.shown for c in found)
    anew = "not remade: the command `ns` was not found"
    if shutil.which("ns"):
        made = make_dsred(["--check"]) == 0 and make_shares(["--check"]) == 0
        shown = shown and made
        anew = "remade with ns-2 2.35: " + ("the same tables" if made else "**different tables**")
    text = f"""A token bucket at the edge marks assured traffic; a queue with two coupled classes (RIO-C, dialect
`dsred`) drops; against ns-2 2.35's DiffServ module (`tests/data/ns2/dsred`; references {anew}). Welch intervals; our
seeds are as many as ns-2's. Packet by packet, every colour of ten markers and every drop of three queues is compared in
every `make test` (`tests/python/test_dsred.py`).

{markdown(found)}"""
    return text, shown


def _column(runs: Sequence[Numbers], name: str) -> list[float]:
    return [run[name] for run in runs]
