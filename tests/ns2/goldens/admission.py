"""Decides whether a candidate may serve as a reference, and how long it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from goldens import driver
from goldens.events import Row, difference_as_sets, difference_in_order, rows
from goldens.model import GRID, Case, Cbr, Counts, Tcp
from goldens.phenomena import (
    Simultaneity,
    decisive_instants,
    delayed_acks,
    drop_rule_broken,
    multiple_losses,
    off_grid,
    simultaneity,
)

ENOUGH = 10_050
"""Events that a case has at least (the requirement is 10,000)."""
SHIFTS = tuple(map(Decimal, ("0.1", "1", "7.123")))
"""ns-2 must give the same when every start is this much later, seconds."""
MORE_SHIFTS = tuple(map(Decimal, ("0.3", "0.7", "1.9", "2.71", "4.567", "9.1", "11.11", "13.37", "29.3")))
"""Likewise: three shifts miss some ties that rounding decides."""
MARGIN = Decimal("0.000002")
"""No event may be nearer to the end of the run, seconds."""
PHASE_MARGIN = Decimal("0.0000001")
"""A clock phase of an exact-time case is at least this far from every multiple of the grid, seconds."""
LONGEST = 640
"""A case that does not give enough events within so many seconds is rejected."""


class NotAdmittedError(Exception):
    """The candidate is no reference; the text says why."""


@dataclass(frozen=True)
class Admitted:
    """A reference: the case, its run and the phenomena in it."""

    case: Case
    duration: Decimal
    table: list[Row]
    counts: dict[int, Counts]
    multiple_losses: int
    delayed_acks: int
    decisive: int
    simultaneity: Simultaneity


def admit(case: Case) -> Admitted:
    """Runs `case` and everything that speaks against it; raises NotAdmittedError."""
    duration = _duration(case)
    run = driver.run(case, duration, trace_all=True)
    table = rows(case, run.trace)
    if (broken := drop_rule_broken(case, table)) is not None:
        raise NotAdmittedError(f"drop-tail rule not as understood: {broken}")
    met = simultaneity(case, run.trace)
    if case.family == "exact":
        if (event := off_grid(run.trace, GRID)) is not None:
            raise NotAdmittedError(f"{event.t} s on {event.source}->{event.target} is no multiple of 2^-12 s")
        _exact(case, duration, table, run.counts, met)
    else:
        _shifted(case, duration, table, run.counts)
    return Admitted(
        case,
        duration,
        table,
        run.counts,
        multiple_losses(case, table),
        delayed_acks(case, run.trace),
        decisive_instants(case, table),
        met,
    )


def _duration(case: Case) -> Decimal:
    """The shortest N + 0.0001 s with enough events, with every start and stop inside and a quiet end."""
    at_least = max([2] + [int(flow.stop) + 2 for flow in case.flows if isinstance(flow, Cbr)])
    length = 20
    while length <= LONGEST:
        times = [row.t_ps for row in rows(case, driver.run(case, Decimal(length)).trace)]
        if len(times) > ENOUGH:
            for whole in range(at_least, length):
                end = Decimal(whole) + Decimal("0.0001")
                if sum(t < end * 10**12 for t in times) >= ENOUGH and _quiet(times, end):
                    return end
        length *= 2
    raise NotAdmittedError(f"fewer than {ENOUGH} events at the bottleneck in {LONGEST} s")


def _quiet(times: Sequence[int], end: Decimal) -> bool:
    return all(abs(t - int(end * 10**12)) > int(MARGIN * 10**12) for t in times)


def _exact(case: Case, duration: Decimal, table: list[Row], counts: dict[int, Counts], met: Simultaneity) -> None:
    """Exact times: the order must follow from (time, cause time), whatever keeps ns-2's event list."""
    for flow, count in counts.items():
        away = Decimal(count.clock_offset) % GRID
        if min(away, GRID - away) < PHASE_MARGIN:
            raise NotAdmittedError(f"clock phase of flow {flow} lies on the grid")
    if met.violations:
        raise NotAdmittedError(f"ns-2's order is not that of the cause times, first at {met.violations[0]}")
    if met.double:
        raise NotAdmittedError(f"{len(met.double)} ties in time and cause time, first at {met.double[0]}")
    other = driver.run(case, duration, scheduler="List")
    if (found := difference_in_order(table, rows(case, other.trace))) is not None:
        raise NotAdmittedError(f"ns-2's list scheduler disagrees with its calendar: {found}")


def _shifted(case: Case, duration: Decimal, table: list[Row], counts: dict[int, Counts]) -> None:
    """Ordinary numbers: nothing may depend on how times were rounded.

    A shifted flow keeps the phase of its coarse clock relative to its start, so that round-trip samples stay.
    """
    for shift in SHIFTS + MORE_SHIFTS:
        offsets = {
            index: f"{_earlier_phase(Decimal(counts[index].clock_offset), shift, flow.tick):f}"
            for index, flow in enumerate(case.flows)
            if isinstance(flow, Tcp)
        }
        moved = driver.run(case, duration, shift=shift, offsets=offsets)
        if (found := difference_as_sets(table, rows(case, moved.trace, shift))) is not None:
            raise NotAdmittedError(f"ns-2 disagrees with itself when shifted by {shift} s: {found}")


def _earlier_phase(offset: Decimal, shift: Decimal, tick: Decimal) -> Decimal:
    """The clock phase in [0, tick) that shows a flow `shift` later what `offset` shows it unshifted."""
    phase = (offset - shift) % tick  # the sign of the left operand
    return phase + tick if phase < 0 else phase
