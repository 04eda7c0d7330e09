"""Speed against ns-2: the same dumbbells, whole processes, in turn.

A packet-hop is one packet, data or ACK, carried over one link. Both run single-threaded with the default
probes; ns-2 writes no trace. Of each pair of runs the ratio is taken, and of the ratios the median.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
SIMULATE = HERE.parent / "target" / "release" / "examples" / "simulate"


@dataclass(frozen=True)
class Case:
    """A benchmark: our scenario, and ns-2's arguments for the same."""

    name: str
    ns2: tuple[str, ...]


CASES = (
    Case("d10m", ("50", "10e6", "100e6", "500", "20", "60", "240")),
    Case("d1g", ("100", "1e9", "1e9", "10", "500", "1500", "4000")),
)


@dataclass(frozen=True)
class Measurement:
    """One process: seconds from start to exit, seconds of simulating alone, packet-hops (0: not counted)."""

    process_s: float
    run_s: float
    packet_hops: int


def measure(command: list[str]) -> Measurement:
    """Runs a command that prints `name=value` pairs."""
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    process_s = time.perf_counter() - began
    values = dict(re.findall(r"(\w+)=([\d.]+)", done.stdout))
    return Measurement(process_s, float(values["run_s"]), int(values.get("packet_hops", 0)))


def bench(case: Case, pairs: int) -> str:
    """A row of the table."""
    ours = [str(SIMULATE), str(HERE / f"{case.name}.toml")]
    theirs = ["ns", str(HERE / "dumbbell.tcl"), *case.ns2]
    ns2_hops = measure([*theirs, "count"]).packet_hops
    measure(ours)
    runs = [(measure(ours), measure(theirs)) for _ in range(pairs)]
    hops = runs[0][0].packet_hops
    whole = median((hops / a.process_s) / (ns2_hops / b.process_s) for a, b in runs)
    alone = median((hops / a.run_s) / (ns2_hops / b.run_s) for a, b in runs)
    rate, ns2_rate = (
        median(hops / a.process_s for a, _ in runs),
        median(ns2_hops / b.process_s for _, b in runs),
    )
    return (
        f"| {case.name.upper()} | {hops:,} | {ns2_hops:,} | {rate / 1e6:.1f} | {ns2_rate / 1e6:.2f} "
        f"| {whole:.1f} | {alone:.1f} |"
    )


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7, help="runs of each (default 7)")
    options = parser.parse_args()
    if shutil.which("ns") is None:
        print("the command `ns` was not found: install ns-2 2.35 (Debian: apt-get install ns2)", file=sys.stderr)
        return 1
    print("| case | packet-hops | ns-2's | M packet-hops/s | ns-2's | ratio | ratio without set-up |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        print(bench(case, options.pairs), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
