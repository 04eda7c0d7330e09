#!/usr/bin/env python3
"""Compares the PI controller with ns-2's (`tests/data/ns2/pi.csv`), in distribution.

compare_pi.py --make      runs ns-2 and writes the table again; needs `ns`
compare_pi.py             writes the comparison
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.results.parquet import values
from papers.intervals import compare, markdown

SCRIPT = Path(__file__).resolve().parent / "pi_dumbbell.tcl"
DATA = Path(__file__).resolve().parent.parent / "data" / "ns2"
TABLE = DATA / "pi.csv"
SCENARIO = DATA / "pi.toml"
FLOWS = (10, 20, 40)
SEEDS = range(1, 61)
SECONDS = 50
COLUMNS = ("flows", "seed", "arrivals", "drops", "departed_bytes", "mean_queue")
BOUNDS = {"throughput_bps": 0.003, "loss": 0.03, "mean_queue": 0.03}
"""Measure and the largest difference allowed, as a fraction of ns-2's mean."""
Numbers = dict[str, float]


def ns2(job: tuple[int, int]) -> list[str]:
    """One run of ns-2 as a row of the table."""
    flows, seed = job
    done = subprocess.run(["ns", str(SCRIPT), str(flows), str(seed)], capture_output=True, text=True, check=True)
    return [str(flows), str(seed), *done.stdout.split()]


def make() -> None:
    """Writes the table of ns-2's runs."""
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(ns2, [(flows, seed) for flows in FLOWS for seed in SEEDS]))
    with TABLE.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def ours(job: tuple[int, int]) -> Numbers:
    """One run of ours."""
    flows, seed = job
    text = SCENARIO.read_text().replace("count = 10", f"count = {flows}")
    links: dict[str, Any] = _core.Scenario(text, SCENARIO.name).run(seed)["tables"]["links"]
    row = values(links["link"]).tolist().index("bottleneck")

    def number(name: str) -> float:
        return float(values(links[name])[row])

    return measures(number("arrivals"), number("drops"), number("departed_bytes"), number("mean_queue"))


def measures(arrivals: float, drops: float, departed_bytes: float, mean_queue: float) -> Numbers:
    """Return the compared quantities of one run."""
    return {"throughput_bps": departed_bytes * 8 / SECONDS, "loss": drops / arrivals, "mean_queue": mean_queue}


def report(workers: int) -> tuple[str, bool]:
    """Text for the validation report, and whether everything in it is shown."""
    theirs: dict[int, list[Numbers]] = {flows: [] for flows in FLOWS}
    with TABLE.open(newline="") as file:
        for row in csv.DictReader(file):
            theirs[int(row["flows"])].append(measures(*(float(row[name]) for name in COLUMNS[2:])))
    found = []
    with ProcessPoolExecutor(workers) as pool:
        for flows in FLOWS:
            runs = list(pool.map(ours, [(flows, seed) for seed in SEEDS], chunksize=5))
            found += [
                compare(
                    ("PI", f"{flows} flows", name),
                    [run[name] for run in runs],
                    [run[name] for run in theirs[flows]],
                    bound,
                    paired=False,
                )
                for name, bound in BOUNDS.items()
            ]
    text = f"""Greedy NewReno flows before a link of 10 Mb/s behind PI (gains ten times ns-2's defaults, so that it
settles in time; reference 30 packets), 50 s, {len(SEEDS)} seeds on either side: `tests/ns2/pi_dumbbell.tcl` and
`tests/data/ns2/pi.toml`. Welch intervals of ours over ns-2 2.35's `Queue/PI`.

{markdown(found)}"""
    return text, all(c.shown for c in found)


def main(arguments: Sequence[str]) -> int:
    """The command."""
    if arguments == ["--make"]:
        make()
        return 0
    text, shown = report(2)
    print(text)
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
