#!/usr/bin/env python3
"""Makes the references of single switches of RED and WRED, or checks that the committed ones are what ns-2 gives.

    make_switches.py            writes tests/data/ns2/switches
    make_switches.py --check    generates all again in a temporary folder and compares; exit code 1 on difference

Needs `ns` (Debian package ns2); nothing outside Python's standard library.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from dsred.files import compare_folders
from switches.cases import Case, cases
from switches.files import write
from switches.running import NotAdmittedError, Operation, run

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2" / "switches"
KEPT = 2000
"""Operations of a case that are committed."""
LEAST = 50
"""Arrivals of a case, at least."""


def make(folder: Path) -> None:
    """Run every case and write the first operations of each."""
    entries, tables = [], []
    for case in cases():
        table = run(case)[:KEPT]
        entry = _entry(case, table)
        if entry["arrivals"] < LEAST or not entry["dropped"] + entry["marked"]:
            raise NotAdmittedError(f"{case.family}/{case.name}: too little happens: {entry}")
        entries.append(entry)
        tables.append(table)
        print(f"{case.family}/{case.name}: {len(table)} operations", file=sys.stderr, flush=True)
    write(folder, entries, tables)


def _entry(case: Case, operations: list[Operation]) -> dict[str, Any]:
    outcomes = [o.outcome for o in operations]
    return {
        "family": case.family,
        "case": case.name,
        "rate": case.rate,
        "seed": case.seed,
        "queue": case.queue,
        "operations": len(operations),
        "arrivals": sum(o.bytes > 0 for o in operations),
        "dropped": outcomes.count("d"),
        "marked": outcomes.count("m"),
    }


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed files, write nothing")
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            make(DATA)
            return 0
        with tempfile.TemporaryDirectory(prefix="switches-") as folder:
            make(Path(folder))
            difference = compare_folders(DATA, Path(folder))
    except FileNotFoundError as missing:
        print(f"{missing.filename}: not found (ns-2 is the Debian package ns2)", file=sys.stderr)
        return 2
    except (subprocess.CalledProcessError, NotAdmittedError) as failed:
        print(failed, file=sys.stderr)
        return 2
    if difference is not None:
        print(f"the committed references differ from ns-2: {difference}", file=sys.stderr)
        return 1
    print("the committed references are what ns-2 gives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
