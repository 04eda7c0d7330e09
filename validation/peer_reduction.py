"""Smallest test vectors that still show a difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from peer_vectors import Case, Difference, Event, run

Differs = Callable[[Case], Difference | None]


def reduce(case: Case, difference: Difference, differs: Differs) -> tuple[Case, Difference]:
    """Remove events from a case while a difference of the same kind at the same time stays; return the case up to it.

    The core decides each shorter case again. Parts of events are removed, from halves to single ones, and packets with
    the event at which they leave, until nothing more can be (delta debugging: A. Zeller, R. Hildebrandt, 2002).
    """
    kind, time = difference.kind(), case.events[difference.place]["t_ns"]

    def shorter(events: Sequence[Event]) -> tuple[Case, Difference] | None:
        if not events:
            return None
        decided = case.with_events(events)
        found = differs(decided)
        if found is None or found.kind() != kind or decided.events[found.place]["t_ns"] != time:
            return None
        return decided.with_events(decided.events[: found.place + 1]), found

    best = shorter(case.events[: difference.place + 1])
    if best is None:
        return case.with_events(case.events[: difference.place + 1]), difference
    chunk = len(best[0].events)
    while True:
        before = len(best[0].events)
        chunk = max(1, chunk // 2)
        start = 0
        while start < len(best[0].events):
            events = best[0].events
            found = shorter(events[:start] + events[start + chunk :])
            best, start = (best, start + chunk) if found is None else (found, start)
        if chunk == 1:
            best = without_packets(best, shorter)
            if len(best[0].events) == before:
                return best


def without_packets(
    best: tuple[Case, Difference], shorter: Callable[[Sequence[Event]], tuple[Case, Difference] | None]
) -> tuple[Case, Difference]:
    """Remove packets, each with the event at which it leaves."""
    for packet in [event["id"] for event in best[0].events if event["op"] == "enqueue"]:
        found = shorter([event for event in best[0].events if event["id"] != packet])
        best = best if found is None else found
    return best


def differing(command: Sequence[str], settings: Mapping[str, float | str]) -> Differs:
    """Return a function that runs a case through an adapter."""
    return lambda case: run(command, case, settings)
