#!/usr/bin/env python3
"""Runs ns-2 2.35 on a coupled queue behind a marking edge: the reference for drop shares in distribution.

    dsred_shares.py [--seeds N] [--workers N]    writes tests/data/ns2/dsred/shares.csv
    dsred_shares.py --check [N]                  runs the first N seeds (default 2) again and compares; exit code 1 on
                                                 difference

The network is that of dsred/shares.tcl and of tests/data/ns2/dsred/shares-*.toml. Needs `ns`.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "dsred" / "shares.tcl"
TABLE = Path(__file__).resolve().parent.parent / "data" / "ns2" / "dsred" / "shares.csv"
KINDS = ("poisson", "tcp")
COUNTERS = ("in_arrivals", "in_forced", "in_early", "out_arrivals", "out_forced", "out_early", "departed_bytes")
COLUMNS = ("kind", "seed", *COUNTERS)


def run(kind: str, seed: int) -> dict[str, str]:
    """One run of ns-2 as a row of the table."""
    command = ["ns", str(SCRIPT), kind, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(zip(COLUMNS, (kind, str(seed), *done.stdout.split()), strict=True))


def run_all(seeds: Iterable[int], workers: int) -> list[dict[str, str]]:
    """Both kinds with every seed, in the order of the table; `workers` runs at once."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: run(*job), product(KINDS, list(seeds))))


def read() -> list[dict[str, str]]:
    """The committed table."""
    with TABLE.open() as file:
        return list(csv.DictReader(file))


def check(seeds: int, workers: int) -> str | None:
    """Runs the first seeds again; the first difference from the committed table, or None."""
    committed = {(row["kind"], row["seed"]): row for row in read()}
    for row in run_all(range(1, seeds + 1), workers):
        want = committed.get((row["kind"], row["seed"]))
        if want != row:
            return f"expected {want}, found {row}"
    return None


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="seeds of each kind")
    parser.add_argument("--workers", type=int, default=1, help="runs at once")
    parser.add_argument("--check", type=int, nargs="?", const=2, metavar="N", help="compare N seeds, write nothing")
    options = parser.parse_args(arguments)
    try:
        if options.check is None:
            with TABLE.open("w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(run_all(range(1, options.seeds + 1), options.workers))
            return 0
        difference = check(options.check, options.workers)
    except FileNotFoundError as missing:
        print(f"{missing.filename}: not found (ns-2 is the Debian package ns2)", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failed:
        print(f"ns-2 failed: {failed.stderr.strip()}", file=sys.stderr)
        return 2
    if difference is not None:
        print(f"the committed drop shares differ from ns-2: {difference}", file=sys.stderr)
        return 1
    print("the committed drop shares are what ns-2 gives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
