"""Instruction counts of short runs under callgrind, compared with those of benches/instructions.toml.

    python benches/instructions.py [--update]

Counts hardly depend on the machine and not on its load, so they show a slower packet path where times cannot. They
depend on the compiler: with another compiler than that of the file, counts are reported, not judged.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from speed.growth import ENGINES
from speed.process import SCENARIOS, SIMULATE, ProcessError, ours

FILE = Path(__file__).resolve().with_name("instructions.toml")
SHORT = {
    "d1g": ("run.duration=1s",),
    "chain": ("run.duration=1s",),
    "flower": ("run.duration=2s", 'flow.ftp.start={ uniform = ["0s", "500ms"] }'),
}
"""The cases, with overrides that shorten them: the flower's transfers start within half a second instead of 60 s."""
TRACES = {
    "rates": " ".join(f"{100_000_000 * k}:{10_000_000 + (k % 60 - 29.5) * 2e5:.0f}" for k in range(600))
    + f" {60_000_000_000}:0",
    "opportunities": " ".join(f"{6 * k + step}" for k in range(1000) for step in (1, 2, 3, 4, 6)),
}
"""Traces of a mean of 10 Mbit/s: a rate that changes every 100 ms, and opportunities of 1500 bytes."""
DIRECTIONS = {"one direction": ("down",), "both directions": ("down", "up")}
"""Links that follow the trace: for data only, or for data and acknowledgements."""
TRACE_RATIOS = {
    "rates": {"one direction": 1.2, "both directions": 1.2},
    "opportunities": {"one direction": 1.2, "both directions": 1.3},
}
"""Largest allowed ratio of instructions: a run with a trace to one with constant rates."""
TOLERANCE = 0.03
"""Share by which a count may be above that of the file."""
Counts = Mapping[str, int]
"""Instructions by case and engine, such as d1g-windows."""


@dataclass(frozen=True)
class Reference:
    """The numbers that are compared with, and the compiler that they hold for."""

    compiler: str
    counts: Counts

    @classmethod
    def read(cls, text: str) -> Reference:
        """Read the file."""
        file = tomllib.loads(text)
        return cls(file["compiler"], file["instructions"])

    def text(self) -> str:
        """Write the file."""
        lines = [f"{name} = {count:_}\n" for name, count in self.counts.items()]
        head = "# Written by `python benches/instructions.py --update`.\n"
        return f'{head}compiler = "{self.compiler}"\n\n[instructions]\n{"".join(lines)}'


def exceeded(counts: Counts, reference: Counts, tolerance: float = TOLERANCE) -> list[str]:
    """Return a line for each count that is above its reference by more than the tolerance, or has none."""
    found = []
    for name, count in counts.items():
        if name not in reference:
            found.append(f"{name}: {count:,} instructions, but no number to compare with")
        elif count > reference[name] * (1 + tolerance):
            change = 100 * (count / reference[name] - 1)
            found.append(
                f"{name}: {count:,} instructions, {change:.1f} % above {reference[name]:,} "
                f"(allowed: {100 * tolerance:g} %)"
            )
    return found


def collected(messages: str) -> int:
    """Read the count from what callgrind says."""
    found = re.search(r"Collected : (\d+)", messages)
    if found is None:
        raise ProcessError(f"valgrind: {(messages.strip().splitlines() or ['no count'])[-1]}")
    return int(found[1])


def count(case: str, engine: str) -> int:
    """Count the instructions of one run."""
    return count_run(SCENARIOS / f"{case}.toml", SHORT[case], engine)


def trace_ratios(engine: str = "windows") -> dict[tuple[str, str], float]:
    """Return the instructions of a run by trace and directions, divided by those of constant rates, without set-up."""

    def instructions(rate: str, links: Sequence[str]) -> int:
        def until(end: str) -> int:
            rates = (f"dumbbell.{link}.rate={rate}" for link in links)
            return count_run(SCENARIOS / "trace.toml", (*rates, f"run.duration={end}"), engine)

        return until("30s") - until("10ms")

    constant = instructions("10Mbps", ())
    return {
        (trace, directions): instructions(f'{{ trace = "{words}" }}', links) / constant
        for trace, words in TRACES.items()
        for directions, links in DIRECTIONS.items()
    }


def count_run(scenario: Path, overrides: Sequence[str], engine: str) -> int:
    """Count the instructions of a scenario with overrides."""
    run = ours(scenario, overrides, engine=engine)
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *run]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0 and f"engine={engine}" not in done.stdout:
        raise ProcessError(f"{scenario.name}: cannot be evaluated by {engine}")
    return collected(done.stderr)


def compiler() -> str:
    """Return the version of the compiler."""
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def judge(counts: Counts, now: str, reference: Reference) -> tuple[int, str]:
    """Return the exit code and a message."""
    lines = exceeded(counts, reference.counts)
    if not lines:
        return 0, f"instructions: all within {100 * TOLERANCE:g} %"
    if now != reference.compiler:
        told = f"not judged, since they are of {reference.compiler} and this is {now}: run with --update"
        return 0, "\n".join([*lines, f"instructions: {told}"])
    return 1, "\n".join(lines)


def main(words: list[str] | None = None) -> int:
    """Count and compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help=f"writes the counts to {FILE.name}")
    options = parser.parse_args(words)
    if shutil.which("valgrind") is None:
        print("instructions: skipped, the command `valgrind` was not found (Debian: apt-get install valgrind)")
        return 0
    if not SIMULATE.exists():
        print(f"{SIMULATE.name} is not built: make instructions", file=sys.stderr)
        return 1
    counts = {}
    try:
        for name, case, engine in [(f"{case}-{engine}", case, engine) for case in SHORT for engine in ENGINES]:
            counts[name] = count(case, engine)
            print(f"{name}: {counts[name]:,} instructions", flush=True)
        ratios = trace_ratios()
    except ProcessError as failed:
        print(failed, file=sys.stderr)
        return 1
    for (trace, directions), ratio in ratios.items():
        most = TRACE_RATIOS[trace][directions]
        print(f"trace of {trace}, {directions}: {ratio:.3f} of a constant rate (at most {most:g})", flush=True)
    if any(ratio > TRACE_RATIOS[trace][directions] for (trace, directions), ratio in ratios.items()):
        return 1
    if options.update:
        FILE.write_text(Reference(compiler(), counts).text())
        return 0
    if not FILE.exists():
        print(f"{FILE.name} is not there: run with --update", file=sys.stderr)
        return 1
    code, text = judge(counts, compiler(), Reference.read(FILE.read_text()))
    print(text, file=sys.stderr if code else sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main())
