"""Runs a case of a queue in ns-2, checks it against the model, and gives its table."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from dsred.cases import QueueCase
from dsred.marking import LEAST_PACKETS, PICOSECONDS, NotAdmittedError, draws, ns2
from dsred.meters import DRAW_UNIT
from dsred.rio import CoupledQueue, Outcome, Threshold

LEAST_MARGIN = 1e-6
"""Between a draw and its probability: above what single precision does to an average."""
NEAR = Decimal("1e-11")
"""No packet may arrive that close (seconds) to the end of a transmission: the order would be a matter of rounding."""


@dataclass(frozen=True)
class Arrival:
    """A packet at the queue. `draw` is the numerator of the draw, None if nothing was drawn."""

    t_ps: int
    klass: int
    bytes: int
    outcome: Outcome
    draw: int | None


@dataclass(frozen=True)
class Event:
    """A line of the trace: `+` arrival, `-` transmission starts, `d` dropped."""

    kind: str
    time: Decimal
    klass: int
    bytes: int
    uid: int


def arrivals(case: QueueCase) -> tuple[list[Arrival], CoupledQueue]:
    """Every arrival of `case`, and the model after them; `NotAdmittedError` unless ns-2 and the model agree."""
    events, counters = _run(case)
    _check_times(case, events)
    dropped = {event.uid for event in events if event.kind == "d"}
    numerators = draws(case.seed, sum(event.kind == "+" for event in events))
    model = CoupledQueue(
        [Threshold(*values) for values in case.thresholds],
        case.limit,
        case.rate / (8.0 * case.mean_packet),
        (n * DRAW_UNIT for n in numerators),
    )
    table: list[Arrival] = []
    for event in events:
        now = float(event.time)
        if event.kind == "+":
            before = model.drawn
            outcome = model.arrive(now, event.klass)
            if (outcome is Outcome.ACCEPTED) == (event.uid in dropped):
                raise NotAdmittedError(f"{case.name}, {event.time} s: {outcome} in the model, not in ns-2")
            drawn = numerators[before] if model.drawn > before else None
            t_ps = int((event.time * PICOSECONDS).to_integral_value())
            table.append(Arrival(t_ps, event.klass, event.bytes, outcome, drawn))
        elif event.kind == "-":
            model.depart(now, event.klass)
    if _counted(table, len(case.thresholds)) != counters:
        raise NotAdmittedError(f"{case.name}: ns-2 counts {counters}")
    if model.margin < LEAST_MARGIN:
        raise NotAdmittedError(f"{case.name}: a draw within {model.margin:.2g} of its probability")
    if len(table) < LEAST_PACKETS:
        raise NotAdmittedError(f"{case.name}: only {len(table)} packets")
    return table, model


def _counted(table: list[Arrival], classes: int) -> list[tuple[int, int, int]]:
    """Arrivals, forced drops (overflow too), early drops of each class: ns-2's counters."""
    found = []
    for k in range(classes):
        outcomes = [row.outcome for row in table if row.klass == k]
        forced = outcomes.count(Outcome.FORCED) + outcomes.count(Outcome.OVERFLOW)
        found.append((len(outcomes), forced, outcomes.count(Outcome.EARLY)))
    return found


def _check_times(case: QueueCase, events: list[Event]) -> None:
    """Transmissions start when the link is free and something waits; no arrival near an end of a transmission."""
    free_at = Decimal(-1)
    for event in events:
        if event.kind == "-":
            free_at = event.time + Decimal(event.bytes * 8) / case.rate
        elif event.kind == "+" and abs(event.time - free_at) < NEAR:
            raise NotAdmittedError(f"{case.name}, {event.time} s: an arrival at the end of a transmission")
    arrived = {event.uid: event.time for event in events if event.kind == "+"}
    free_at = Decimal(0)
    for event in events:
        if event.kind == "-":
            if abs(event.time - max(free_at, arrived[event.uid])) > NEAR:
                raise NotAdmittedError(f"{case.name}, {event.time} s: a transmission starts at another time")
            free_at = event.time + Decimal(event.bytes * 8) / case.rate


def _run(case: QueueCase) -> tuple[list[Event], list[tuple[int, int, int]]]:
    spec = [
        f"seed {case.seed}",
        f"core {case.rate} {case.limit} {case.mean_packet} {len(case.thresholds)}",
        *(f"class {i} {low} {high} {max_p!r} {w_q!r}" for i, (low, high, max_p, w_q) in enumerate(case.thresholds)),
        *case.traffic,
        f"stop_at {case.seconds}",
    ]
    with tempfile.TemporaryDirectory(prefix="dsred-") as folder:
        (Path(folder) / "spec.tcl").write_text("\n".join(spec) + "\n")
        printed = ns2("queue.tcl", f"{folder}/spec.tcl", f"{folder}/out.nam")
        events = _events(Path(folder) / "out.nam")
    counters = []
    for line in printed.splitlines():
        _, packets, drops, early = (int(float(word)) for word in line.split())
        counters.append((packets, drops, early))
    return events, counters


def _events(trace: Path) -> list[Event]:
    found = []
    with trace.open() as lines:
        for line in lines:
            word = line.split()
            if word[0] in "+-d":
                found.append(Event(word[0], Decimal(word[2]), int(word[12]), int(word[10]), int(word[14])))
    return found
