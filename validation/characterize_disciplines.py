#!/usr/bin/env python3
"""RFC 7928's whole suite, in quick form, over eight disciplines: results and run time.

characterize_disciplines.py [DIR]    runs it (what DIR holds already is not run again) and prints the page
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from pathlib import Path

import pandas as pd

import aqmlab
from aqmlab.rfc7928.heat import heat_table
from aqmlab.runs.executors import available_cores

TITLE = "RFC 7928's suite over eight disciplines"
DISCIPLINES = ("red", "mred", "adaptive-red", "blue", "codel", "fq-codel", "pie", "pi2")
MOST_S = 3 * 60.0
"""The whole suite in quick form is to be done in that time on two cores."""


def report(folder: Path | None = None) -> tuple[str, bool]:
    """Run the suite; return the page, and whether every requirement "must" is answered in time."""
    before = _processor_s()
    with tempfile.TemporaryDirectory() as own:
        found = aqmlab.characterize(aqm=DISCIPLINES, quick=True, out=folder or own, report=own)
    must = found.requirements[found.requirements["level"] == "must"]
    in_time = found.seconds <= MOST_S
    text = page(found, processor_s=_processor_s() - before)
    return text, bool((must["status"] == "answered").all()) and in_time


def page(found: aqmlab.Characterization, *, processor_s: float) -> str:
    """Write the page."""
    against = found.tables["against"]
    runs = len(found.evaluation.runs) if found.evaluation is not None else 0
    hops = found.evaluation.packet_hops if found.evaluation is not None else 0
    open_ = found.requirements[found.requirements["status"] != "answered"]
    left = "\n".join(
        f"* {row['section']} ({row['level']}): {row['asks for']}: {row['status']}" for row in open_.to_dict("records")
    )
    skipped = "\n".join(f"* {name}: {reason}" for name, reason in found.skipped.items())
    load = os.getloadavg()[2]
    return f"""\
`aqmlab rfc7928 --aqm {",".join(DISCIPLINES)} --quick` ([its runs](../rfc7928.md)):
{runs:,} runs of drop-tail and eight disciplines, {hops / 1e6:.0f} million packet-hops, and the report.

* It took {found.seconds / 60:.1f} minutes on {available_cores()} cores.
* It took {processor_s / 60:.1f} minutes of processor time.
* The load of the machine was {load:.1f} at the end; the suite itself causes a load of 2.

"Shown" means that every requirement of the level "must" is answered, and that it took less than {MOST_S / 60:.0f}
minutes.

## Requirements

{_counts(found.requirements)}

{f"Not answered:{chr(10)}{chr(10)}{left}" if left else "All are answered."}

{f"Not runnable in this version:{chr(10)}{chr(10)}{skipped}" if skipped else ""}

## Queueing delay against drop-tail

Drop-tail has a buffer of the bandwidth-delay product. Differences in % of drop-tail's mean; ? where the 95 % interval
has 0 in it.

{_table(_map(against, "delay"))}

## Goodput against drop-tail

{_table(_map(against, "goodput"))}
"""


def _map(against: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Differences of a quantity as text, a row a scenario, a column a discipline."""
    found = heat_table(against, quantity, DISCIPLINES)
    rows = [[name, *(cell[0] if cell else "" for cell in cells)] for name, cells in found.rows]
    return pd.DataFrame(rows, columns=["scenario", *found.columns])


def _counts(requirements: pd.DataFrame) -> str:
    counts = requirements.groupby(["level", "status"], sort=False).size().reset_index(name="requirements")
    return _table(counts)


def _table(table: pd.DataFrame) -> str:
    lines = [list(map(str, table.columns)), ["---"] * len(table.columns)]
    lines += [[str(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _processor_s() -> float:
    """Seconds of processor time of this process and of the workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    print(report(Path(sys.argv[1]) if len(sys.argv) > 1 else None)[0])
