"""Commands in processes of their own, and the files that they leave.

A command is a fork of this process, which has imported what commands need: it begins to work in milliseconds, so that
kills meet work and not imports.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import aqmlab
from aqmlab.cli import main
from attacks.tally import EXAMPLES, snapshot

SCENARIO = EXAMPLES / "dumbbell-red.toml"
TINY = ["--set", "run.duration=200ms", "--set", "run.warmup=0s"]
COMMANDS = {
    "run": ["run", str(SCENARIO), "--seeds", "8", *TINY],
    "compare": ["compare", str(SCENARIO), "--aqm", "red,codel", "--seeds", "4", *TINY],
    "sweep": ["sweep", str(SCENARIO), "--grid", "flow.tcp.count=1,2", "--seeds", "4", *TINY],
    "crosscheck": ["crosscheck", str(SCENARIO), "--with", "ns2", "--seeds", "4", *TINY],
    "tune": ["tune", str(SCENARIO), "--over", "flows=2:4", "--minimize", "delay_p95", "--trials", "3", "--seeds", "1",
             "--fresh", "2", *TINY],
    "rfc7928": ["rfc7928", "--aqm", "codel", "--quick", "--section", "9.1", "--seeds", "2"],
    "reproduce": ["reproduce", "mred", "--quick", "--seeds", "2"],
}  # fmt: skip
"""The commands that run simulations, with so little to do that each takes seconds."""
LEFT_OUT = ("log.txt", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm")
"""Files of which the content depends on time, or on the order of changes."""
MEASURED_HERE = "rfc7928/report.html"
"""A page that shows the costs of a packet on this machine, measured each time."""
ENDING_S = 300.0
NEEDED = (
    *("pandas", "pyarrow.parquet", "scipy.stats", "matplotlib.figure", "plotly.offline", "duckdb", "jinja2"),
    *("aqmlab.papers.mred", "aqmlab.reporting", "aqmlab.reporting.charts", "aqmlab.reporting.plots"),
)


def prepare() -> None:
    """Import what commands import when they are started."""
    for name in ("run", "compare", "sweep", "tune", "cross_check", "characterize", "reproduce", "report"):
        getattr(aqmlab, name)
    for name in NEEDED:
        importlib.import_module(name)


@dataclass
class Process:
    """A command that was started: the leader of a process group, and the file of its output."""

    pid: int
    output: Path
    code: int | None = field(default=None)

    def wait(self, seconds: float) -> int | None:
        """Wait for its end; the exit code, negative after a signal, or None if it is still at work."""
        until = time.monotonic() + seconds
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                return None
            else:
                time.sleep(0.005)
        return self.code

    def kill(self, *, group: bool) -> None:
        """Kill the process, or its whole group, with signal 9."""
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, signal.SIGKILL)
        self.wait(ENDING_S)

    @property
    def said(self) -> str:
        """Its output so far."""
        return self.output.read_text(errors="replace")


def start(words: list[str], output: Path) -> Process:
    """Start a command; its output goes to a file."""
    pid = os.fork()
    if pid:
        return Process(pid, output)
    code = 70
    try:
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        code = main(words)
    finally:
        os._exit(code)


def words_for(kind: str, out: Path) -> list[str]:
    """Return a command of `COMMANDS` that writes below a folder."""
    return [*COMMANDS[kind], "--workers", "2", "--json", "--out", str(out)]


def results_of(folder: Path) -> dict[str, bytes]:
    """Return all files of results below a folder."""
    found = snapshot(folder)
    return {name: found[name] for name in found if Path(name).name not in LEFT_OUT and name != MEASURED_HERE}


def finished(kind: str, out: Path, output: Path) -> Process:
    """Run a command to its end."""
    process = start(words_for(kind, out), output)
    if process.wait(ENDING_S) is None:
        process.kill(group=True)
    return process
