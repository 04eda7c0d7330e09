"""Use of the processor's cores by a sweep: one sweep compared with independent single runs, in turn.

Three ways to run the same seeds of the same scenario, whole processes from start to exit, with N processor cores:

* programs: N processes of the bare simulator side by side, each with a part of the seeds, one process a seed, nothing
  written (only where `target/release/examples/simulate` is built);
* runs: N processes `aqmlab run --workers 1` side by side, each with a part of the seeds;
* sweep: one process `aqmlab run --workers N` with all seeds.

The efficiency of the sweep is the time of another way divided by its own; of the pairs the median is taken.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
SIMULATE = HERE.parent / "target" / "release" / "examples" / "simulate"


@dataclass(frozen=True)
class Sweep:
    """A scenario and how it is swept."""

    file: Path
    seeds: int
    cores: int
    simulate: Path

    @property
    def parts(self) -> list[list[int]]:
        """The seeds of each process."""
        return [list(range(1 + core, self.seeds + 1, self.cores)) for core in range(self.cores)]

    def programs(self, folder: Path) -> list[str]:
        """Shell commands that run side by side, with results in this folder (these have none)."""
        return [
            " && ".join(f"'{self.simulate}' '{self.file}' {seed} > {os.devnull}" for seed in part)
            for part in self.parts
        ]

    def runs(self, folder: Path) -> list[str]:
        """The same."""
        return [self._run(part, 1, folder / str(core)) for core, part in enumerate(self.parts)]

    def sweep(self, folder: Path) -> list[str]:
        """The same, but one."""
        return [self._run(range(1, self.seeds + 1), self.cores, folder)]

    def _run(self, seeds: Sequence[int], workers: int, out: Path) -> str:
        words = f"--seeds {','.join(map(str, seeds))} --workers {workers} --out '{out}'"
        return f"'{sys.executable}' -m aqmlab run '{self.file}' {words} > {os.devnull}"


def seconds(commands: Sequence[str]) -> float:
    """Time from the start of the first to the end of the last."""
    began = time.perf_counter()
    processes = [subprocess.Popen(["sh", "-c", command]) for command in commands]
    codes = [process.wait() for process in processes]
    took = time.perf_counter() - began
    if any(codes):
        raise SystemExit(f"a process failed: {commands[0]}")
    return took


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the scenario, for example D10M")
    parser.add_argument("--seeds", type=int, default=16, help="runs of a sweep (default 16)")
    parser.add_argument("--cores", type=int, default=2, help="processes, and workers of the sweep (default 2)")
    parser.add_argument("--pairs", type=int, default=5, help="times that each way is measured (default 5)")
    parser.add_argument("--simulate", type=Path, default=SIMULATE, help="the bare simulator")
    options = parser.parse_args()
    sweep = Sweep(options.file, options.seeds, options.cores, options.simulate)
    ways = {"runs": sweep.runs, "sweep": sweep.sweep}
    if options.simulate.exists():
        ways = {"programs": sweep.programs, **ways}
    took: dict[str, list[float]] = {name: [] for name in ways}
    for measured in range(options.pairs + 1):
        for name, way in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                found = seconds(way(Path(folder)))
            if measured:  # the first of each warms up
                took[name].append(found)
    print(f"{options.file.stem}, {options.seeds} seeds on {options.cores} cores, medians of {options.pairs}")
    print("| way | s | sweep's throughput against it |")
    print("|---|---|---|")
    for name in ways:
        share = median(a / b for a, b in zip(took[name], took["sweep"], strict=True))
        print(f"| {name} | {median(took[name]):.2f} | {share:.0%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
