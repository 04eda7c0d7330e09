"""The interface of a program to compare with: its script for a scenario, and the measurements of its runs.

A tool writes files for a model once, prepares them once (a compiler may have to run), and is then run once for each
seed. What it measures is a number for each key of `Measure` and place:

| key | place | unit | what |
|---|---|---|---|
| ``goodput_bps`` | group of flows | bit/s | bytes delivered in order, headers included (UDP: bytes delivered) |
| ``utilization`` | link | 1 | share of the time in which the link was sending |
| ``loss`` | link | 1 | packets dropped / packets offered to the queue |
| ``marks`` | link | 1 | packets marked (ECN) / packets offered to the queue |
| ``mean_queue`` | link | packets | time average of the packets waiting, the one in service not counted |
| ``mean_backlog`` | link | packets | time average of the packets waiting and in service |
| ``mean_delay_s`` | link | s | mean time waiting, the packet's own transmission not counted |

all from the end of the warm-up to the end of the run. A tool leaves out what it cannot measure. Programs print them
as lines ``key place value`` on stdout (`read_measured`), anywhere in their output.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from aqmlab.errors import Error
from aqmlab.interop.differences import Semantic
from aqmlab.interop.model import Model


class Measure(StrEnum):
    """A measure; the table above defines each."""

    GOODPUT = "goodput_bps"
    UTILIZATION = "utilization"
    LOSS = "loss"
    MARKS = "marks"
    MEAN_QUEUE = "mean_queue"
    MEAN_BACKLOG = "mean_backlog"
    MEAN_DELAY = "mean_delay_s"


Key = tuple[Measure, str]
"""A measure, and its link or group."""
Measured = Mapping[Key, float]
"""One run."""


_under_way: set[subprocess.Popen[str]] = set()


class Tool(Protocol):
    """A program to be compared with."""

    @property
    def name(self) -> str:
        """The word of the command line: ``ns2``."""

    @property
    def title(self) -> str:
        """Its name for people: ``ns-2``."""

    @property
    def parallel(self) -> bool:
        """Whether several runs may go on at a time."""

    def version(self) -> str | None:
        """Return the installed version; None if the program is not installed."""

    def missing(self) -> str:
        """Return in a line why it cannot run here, and how to install it; "" if it can."""

    def differences(self, model: Model) -> list[Semantic]:
        """Return the features of a scenario that it lacks or implements differently."""

    def files(self, model: Model) -> dict[str, str]:
        """Write the scenario for it: name of a file to its text. The first is the script; its head says how to run it.

        Comments in it state all that `differences` names as inexpressible or left out.
        """

    def prepare(self, model: Model, folder: Path) -> None:
        """Make what runs need, once, in the folder that has the files; an `Error` with one clear line if that fails."""

    def run(self, model: Model, folder: Path, seed: int) -> Measured:
        """Run one seed; an `Error` with one clear line if that fails."""


class ToolError(Error):
    """A program failed, or its output has no measurements."""


def run_program(command: Sequence[str], *, folder: Path, title: str, seed: int, limit_s: float = 3600.0) -> str:
    """Run a program in a folder and return what it printed; a failure is an error of one line.

    It is a group of processes of its own, and the whole group ends when the limit is over or the user stops
    (`end_programs`).
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"{title}: {command[0]} cannot be started ({error.strerror})") from None
    _under_way.add(process)
    try:
        out, problems = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        _end(process)
        raise ToolError(f"{title}, seed {seed}: not finished after {limit_s:g} s") from None
    except BaseException:
        _end(process)
        raise
    finally:
        _under_way.discard(process)
    if process.returncode != 0:
        said = [line.strip() for line in (problems.strip() or out.strip()).splitlines() if line.strip()]
        raise ToolError(f"{title}, seed {seed}: exit code {process.returncode}: {said[0] if said else 'no message'}")
    return out


def end_programs() -> None:
    """End all programs that `run_program` runs, in any thread."""
    for process in list(_under_way):
        _kill(process)


def read_measured(text: str, *, title: str, seed: int) -> dict[Key, float]:
    r"""Read the lines ``key place value`` of a program's output; the place may have spaces, and nan is left out.

    >>> read_measured("hello\nutilization bottleneck 0.98\nmarks bottleneck nan\n", title="ns-2", seed=1)
    {(<Measure.UTILIZATION: 'utilization'>, 'bottleneck'): 0.98}
    """
    found: dict[Key, float] = {}
    for line in text.splitlines():
        key, _, rest = line.strip().partition(" ")
        place, _, number = rest.rpartition(" ")
        if key not in set(Measure):
            continue
        try:
            value = float(number)
        except ValueError:
            raise ToolError(f'{title}, seed {seed}: "{line}" is not a measurement') from None
        if math.isfinite(value):
            found[Measure(key), place] = value
    if not found:
        raise ToolError(f"{title}, seed {seed}: it printed no measurement")
    return found


def _end(process: subprocess.Popen[str]) -> None:
    _kill(process)
    process.communicate()


def _kill(process: subprocess.Popen[str]) -> None:
    if os.name == "nt":  # without groups of processes
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
