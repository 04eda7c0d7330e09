"""How runs were evaluated: by which engine and why, how fast, in how much memory.

Printed at the end of a command and in no result file: results are the same bytes whatever evaluates them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from aqmlab import _core
from aqmlab.errors import InputError, counted, unknown

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

ENGINES = _core.ENGINES
"""``windows`` evaluates station after station within a window of time, ``parallel`` does so on two cores, ``events``
takes event after event out of a queue, ``auto`` takes windows where the scenario allows them, and two cores for a
single run where that pays. All give the same results."""

NOTHING_RUN = "Nothing was run: all results were there."


def checked_engine(name: str) -> str:
    """Return the name of an engine, if it is one.

    >>> checked_engine("window")
    Traceback (most recent call last):
    aqmlab.errors.InputError: unknown engine "window" (allowed: auto, events, parallel, windows; did you mean windows?)
    """
    if name not in ENGINES:
        raise InputError(unknown("engine", name, list(ENGINES)))
    return name


def cores_of(engine: str) -> int:
    """Return how many processor cores an engine keeps busy."""
    return 2 if engine == "parallel" else 1


@dataclass(frozen=True)
class Evaluated:
    """How one run was evaluated.

    Attributes
    ----------
    engine
        ``windows``, ``parallel`` or ``events``.
    why_events
        Why it was the queue of events; "" if it was not.
    packet_hops
        Packets carried over a link, all links together.
    peak_bytes
        Most memory that its process had held by the end of the run, in bytes; 0 if the system does not say (Windows).
    core_s, core_cpu_s
        Time in the core, and its processor time, in s.
    """

    engine: str
    why_events: str
    packet_hops: int
    peak_bytes: int
    core_s: float = 0.0
    core_cpu_s: float = 0.0


@dataclass(frozen=True)
class Evaluation:
    """How the runs of one call were evaluated.

    Attributes
    ----------
    runs
        Those that were done; not those whose results were there already.
    seconds
        From the start of the first to the end of the last, with the start of workers and the writing of results.
    """

    runs: tuple[Evaluated, ...]
    seconds: float

    @property
    def packet_hops(self) -> int:
        """Packet-hops of all runs."""
        return sum(run.packet_hops for run in self.runs)

    @property
    def peak_bytes(self) -> int:
        """Most memory that one of the processes held, in bytes."""
        return max((run.peak_bytes for run in self.runs), default=0)

    @property
    def engines(self) -> dict[tuple[str, str], int]:
        """Number of runs by engine and reason, the most frequent first."""
        return dict(Counter((run.engine, run.why_events) for run in self.runs).most_common())

    def lines(self) -> list[str]:
        r"""Say it in a few lines.

        >>> run = Evaluated("events", "the event queue was asked for", 3_000_000, 95_000_000)
        >>> print(*Evaluation((run, run), 0.5).lines(), sep="\n")
        Event engine: events, since the event queue was asked for
        2 runs in 0.50 s: 6,000,000 packet-hops, 12.0 million a second; peak memory 95 MB
        """
        if not self.runs:
            return [NOTHING_RUN]
        engines = self.engines
        words = [
            f"{engine}{f' ({_count(n)})' if len(engines) > 1 else ''}{f', since {why}' if why else ''}"
            for (engine, why), n in engines.items()
        ]
        speed = f"{self.packet_hops:,} packet-hops, {self._rate / 1e6:.1f} million a second"
        memory = f"; peak memory {self.peak_bytes / 1e6:.0f} MB" if self.peak_bytes else ""
        return [
            f"Event engine: {'; '.join(words)}",
            f"{_count(len(self.runs))} in {self.seconds:.2f} s: {speed}{memory}",
        ]

    def short_line(self) -> str:
        """Return the number of runs and their time.

        >>> Evaluation((Evaluated("windows", "", 3_000_000, 95_000_000),), 0.5).short_line()
        '1 run in 0.50 s.'
        """
        if not self.runs:
            return NOTHING_RUN
        return f"{_count(len(self.runs))} in {self.seconds:.2f} s."

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "runs": len(self.runs),
            "engines": [{"engine": e, "why_events": why, "runs": n} for (e, why), n in self.engines.items()],
            "seconds": self.seconds,
            "packet_hops": self.packet_hops,
            "packet_hops_per_s": self._rate,
            "peak_memory_bytes": self.peak_bytes,
        }

    @property
    def _rate(self) -> float:
        return self.packet_hops / self.seconds if self.seconds > 0 else float("nan")


def evaluation_of(outputs: Iterable[object], seconds: float) -> Evaluation:
    """Gather how runs were evaluated; what is no run of a scenario is left out."""
    found = (getattr(output, "evaluated", None) for output in outputs)
    return Evaluation(tuple(one for one in found if isinstance(one, Evaluated)), seconds)


def together(parts: Sequence[Evaluation]) -> Evaluation:
    """Put evaluations together that came one after the other."""
    return Evaluation(tuple(run for part in parts for run in part.runs), sum(part.seconds for part in parts))


def _count(runs: int) -> str:
    return counted(runs, "run")


def peak_memory() -> int:
    """Most memory that this process has held so far, in bytes; 0 if the system does not say (Windows).

    Where there is ``/proc`` it is asked: the system's account of resources goes back to before the program was
    started, when the process still was a copy of its parent.
    """
    try:
        with open("/proc/self/status", "rb", buffering=0) as file:  # noqa: PTH123 - it is asked after each run
            status = file.read()
    except OSError:
        status = b""
    _, _, rest = status.partition(b"VmHWM:")
    if rest:
        return int(rest.split(None, 1)[0]) * 1024
    if resource is None:
        return 0
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024)
