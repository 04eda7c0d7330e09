"""One process, from start to exit."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCHES = HERE.parent
SCENARIOS = BENCHES / "scenarios"
NS2 = BENCHES / "ns2"
SIMULATE = Path(os.environ.get("CARGO_TARGET_DIR", BENCHES.parent / "target")) / "release" / "examples" / "simulate"
"""The process that is timed."""
LOOK_S = 0.2
"""How often a process with limits is looked at."""
KIB_PER_GIB = 1 << 20


class ProcessError(Exception):
    """A process failed; the message is one line."""


class LimitError(ProcessError):
    """A process that was stopped since it had reached its limits."""


@dataclass(frozen=True)
class Run:
    """Time and memory of a process.

    Attributes
    ----------
    process_s
        Seconds from its start to its exit.
    setup_s, run_s
        Seconds before the first packet, and from there to the end, as the process itself has measured them.
    peak_kib
        The largest size that it had in memory.
    packet_hops
        Packets that all links carried; 0 where they were not counted.
    engine
        The engine that evaluated the run; empty for ns-2.
    """

    process_s: float
    setup_s: float
    run_s: float
    peak_kib: int
    packet_hops: int
    engine: str


@dataclass(frozen=True)
class Limits:
    """When a process is stopped."""

    seconds: float
    gib: float


def parse(output: str, process_s: float) -> Run:
    """Read the `name=value` pairs that a process has printed.

    Raises
    ------
    ProcessError
        If one is missing.
    """
    values = dict(re.findall(r"(\w+)=(\S+)", output))
    try:
        return Run(
            process_s=process_s,
            setup_s=float(values["setup_s"]),
            run_s=float(values["run_s"]),
            peak_kib=int(values["peak_kib"]),
            packet_hops=int(values.get("packet_hops", 0)),
            engine=values.get("engine", ""),
        )
    except (KeyError, ValueError) as problem:
        raise ProcessError(f"not what a timed process prints ({problem}): {output.strip() or 'nothing'}") from None


def measure(command: Sequence[str], limits: Limits | None = None) -> Run:
    """Run a command to its end.

    Raises
    ------
    ProcessError
        If it fails, or has reached its limits (`LimitError`).
    """
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        if limits is not None:
            watch(process, limits, command[1])
        output, errors = process.communicate()
    process_s = time.perf_counter() - began
    if process.returncode != 0:
        last = (errors.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        raise ProcessError(f"{command[0]} {command[1]}: {last}")
    return parse(output, process_s)


def watch(process: subprocess.Popen[str], limits: Limits, what: str) -> None:
    """Wait for a process that prints little, and stop it at its limits."""
    began = time.perf_counter()
    while process.poll() is None:
        seconds, gib = time.perf_counter() - began, resident_gib(process.pid)
        if seconds > limits.seconds or gib > limits.gib:
            process.kill()
            process.communicate()
            raise LimitError(f"{Path(what).name} was stopped after {seconds:.0f} s with {gib:.1f} GiB in memory")
        time.sleep(LOOK_S)


def resident_gib(pid: int) -> float:
    """Return the present size of a process in memory; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / KIB_PER_GIB if found else 0.0


def ours(scenario: Path, overrides: Sequence[str] = (), *, engine: str = "auto") -> list[str]:
    """Make the command that runs a scenario with its first seed."""
    words = [str(SIMULATE), str(scenario)]
    if engine != "auto":
        words += ["1", engine]
    for override in overrides:
        words += ["--set", override]
    return words


def theirs(script: str, *arguments: str) -> list[str]:
    """Make the command that runs a script in ns-2."""
    return ["ns", str(NS2 / script), *arguments]
