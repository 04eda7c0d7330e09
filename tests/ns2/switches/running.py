"""Runs a case in ns-2 and gives the operations of its queue with their outcomes."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from switches.cases import Case

HERE = Path(__file__).resolve().parent
NEAR = Decimal("1e-11")
"""A packet that arrives so close (seconds) to the end of a transmission after which none waits may have found the link
free or not: the table ends before it."""
PICOSECONDS = Decimal(10) ** 12


class NotAdmittedError(RuntimeError):
    """ns-2's trace cannot be compared."""


@dataclass(frozen=True)
class Operation:
    """An arrival (`bytes` > 0) or the end of a transmission.

    `outcome` of an arrival: ``a`` accepted, ``m`` accepted and marked, ``d`` dropped; else ``-``.
    """

    t_ps: int
    klass: int
    bytes: int
    ect: bool
    outcome: str


@dataclass(frozen=True)
class Event:
    """A line of the trace: `+` arrival, `-` transmission starts, `d` dropped."""

    kind: str
    time: Decimal
    klass: int
    bytes: int
    uid: int
    flags: str


def run(case: Case) -> list[Operation]:
    """Return the operations of the queue."""
    with tempfile.TemporaryDirectory(prefix="switches-") as folder:
        (Path(folder) / "spec.tcl").write_text("\n".join(_spec(case)) + "\n")
        script = HERE.parent / "dsred" / "queue.tcl" if case.family == "wred" else HERE / "switches.tcl"
        out = f"{folder}/out.nam" if case.family == "wred" else f"{folder}/out"
        subprocess.run(["ns", str(script), f"{folder}/spec.tcl", out], capture_output=True, text=True, check=True)
        events = _events(Path(folder), is_wred=case.family == "wred")
    return _operations(case, events)


def _spec(case: Case) -> list[str]:
    if case.family == "wred":
        rows = enumerate(case.classes)
        return [
            f"seed {case.seed}",
            f"core {case.rate} {case.limit} {case.mean_packet} {len(case.classes)}",
            "mode WRED",
            *(f"class {i} {low} {high} {max_p!r} {case.w_q!r}" for i, (low, high, max_p) in rows),
            *case.traffic,
            f"stop_at {case.seconds}",
        ]
    settings = " ".join(f"{key} {value}" for key, value in case.red.items())
    return [
        f"seed {case.seed}",
        f"red {case.rate} {case.limit} {{{settings}}}",
        *case.traffic,
        f"stop_at {case.seconds}",
    ]


def _events(folder: Path, *, is_wred: bool) -> list[Event]:
    """Read the traces; the second, with the flags, has the same lines as the first."""
    lines = [line.split() for line in (folder / "out.nam").read_text().splitlines()]
    lines = [line for line in lines if line[0] in ("+", "-", "d")]
    if is_wred:
        return [Event(w[0], Decimal(w[2]), int(w[12]), int(w[10]), int(w[14]), "") for w in lines]
    flags = [line.split() for line in (folder / "out.tr").read_text().splitlines()]
    flags = [line for line in flags if line[0] in ("+", "-", "d")]
    if [(w[0], w[14]) for w in lines] != [(w[0], w[11]) for w in flags]:
        raise NotAdmittedError("the two traces differ")
    both = zip(lines, flags, strict=True)
    return [Event(w[0], Decimal(w[2]), 0, int(w[10]), int(w[14]), f[6]) for w, f in both]


def _operations(case: Case, events: list[Event]) -> list[Operation]:
    dropped = {event.uid for event in events if event.kind == "d"}
    starts = {event.uid: event for event in events if event.kind == "-"}
    arrived = {event.uid for event in events if event.kind == "+"}
    if len(arrived) != sum(event.kind == "+" for event in events):
        raise NotAdmittedError(f"{case.name}: a packet arrives twice")
    found: list[Operation] = []
    free_at: Decimal | None = None
    waiting = 0
    for event in events:
        if event.kind == "+":
            if free_at is not None and abs(event.time - free_at) < NEAR and not waiting:
                break
            if free_at is not None and free_at < event.time and not waiting:
                found.append(Operation(_ps(free_at), 0, 0, ect=False, outcome="-"))
                free_at = None
            start = starts.get(event.uid)
            if event.uid not in dropped and start is None:
                # It waits when the run ends.
                break
            is_marked = start is not None and "E" in start.flags and "E" not in event.flags
            outcome = "d" if event.uid in dropped else "m" if is_marked else "a"
            found.append(Operation(_ps(event.time), event.klass, event.bytes, "N" in event.flags, outcome))
            waiting += event.uid not in dropped
        elif event.kind == "-":
            found.append(Operation(_ps(event.time), 0, 0, ect=False, outcome="-"))
            waiting -= 1
            free_at = event.time + Decimal(event.bytes * 8) / case.rate
    return found


def _ps(seconds: Decimal) -> int:
    return int((seconds * PICOSECONDS).to_integral_value())
