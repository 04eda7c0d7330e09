"""Reference models of non-RED disciplines: each law in a few lines, from its RFC, its paper or the authors' code.

A model takes operations at times in seconds and returns which packets are dropped, marked and sent. `course` runs
random traffic through a model before a link. With the same random numbers the core must make the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from reference_models.red import EARLY, OVERFLOW, PS, Draws

NOT_ECT, ECT1, ECT0, CE = 0, 1, 2, 3


@dataclass(slots=True)
class Packet:
    """A packet; `arrival` is in seconds."""

    number: int
    bytes: int
    flow: int
    ecn: int
    arrival: float


@dataclass
class Outcome:
    """The packets that one operation dropped, marked and sent."""

    dropped: list[tuple[int, str]] = field(default_factory=list)
    marked: list[int] = field(default_factory=list)
    departed: int | None = None


class ReferenceModel:
    """A queue in order of arrival with a limit in packets; laws override `arrives`, `leaves` and `step`."""

    limit = 100
    ecn = False
    period: float | None = None
    """Seconds between steps of a controller."""

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        self.draws = draws
        self.rate_bps = rate_bps
        self.queue: list[Packet] = []
        self.steps = 0
        self.outcome = Outcome()

    # --- the operations ---

    def enqueue(self, now: float, packet: Packet) -> Outcome:
        self.catch_up(now)
        self.arrives(now, packet)
        return self.take_outcome()

    def dequeue(self, now: float) -> tuple[Outcome, Packet | None]:
        self.catch_up(now)
        packet = self.leaves(now)
        self.outcome.departed = None if packet is None else packet.number
        return self.take_outcome(), packet

    def catch_up(self, now: float) -> None:
        while self.period is not None and (self.steps + 1) * self.period <= now + 1e-13:
            self.steps += 1
            self.step(self.steps * self.period)

    # --- overridden by a law ---

    def arrives(self, now: float, packet: Packet) -> None:
        if self.has_room(packet):
            self.queue.append(packet)

    def leaves(self, now: float) -> Packet | None:
        return self.queue.pop(0) if self.queue else None

    def step(self, now: float) -> None:
        """One step of the controller."""

    # --- used by laws ---

    def has_room(self, packet: Packet) -> bool:
        if len(self.queue) < self.limit:
            return True
        self.drop(packet, OVERFLOW)
        return False

    def drop(self, packet: Packet, reason: str = EARLY) -> None:
        self.outcome.dropped.append((packet.number, reason))

    def mark(self, packet: Packet) -> bool:
        """Mark it if ECN is on and it is capable."""
        if not self.ecn or packet.ecn == NOT_ECT:
            return False
        packet.ecn = CE
        self.outcome.marked.append(packet.number)
        return True

    def backlog(self) -> int:
        return sum(packet.bytes for packet in self.queue)

    def take_outcome(self) -> Outcome:
        outcome, self.outcome = self.outcome, Outcome()
        return outcome


def sojourn(queue: Sequence[Packet], now: float) -> float:
    """How long the head has waited; 0 of an empty queue."""
    return now - queue[0].arrival if queue else 0.0


Operation = tuple[int, dict[str, int] | None]


def course(
    model: ReferenceModel, number: int, rng: Random, codes: Sequence[int]
) -> tuple[list[Operation], list[Outcome]]:
    """Return at least `number` operations on a model before its link, and their outcomes; `codes`: ECN code points."""
    operations: list[Operation] = []
    outcomes: list[Outcome] = []
    end_of_service: int | None = None
    now = packets = 0

    def serve(at: int) -> int | None:
        answer, packet = model.dequeue(at * PS)
        operations.append((at, None))
        outcomes.append(answer)
        return None if packet is None else at + round(8.0 * packet.bytes / model.rate_bps / PS)

    while len(operations) < number:
        for flow, gap in _stretch(rng, model.rate_bps):
            now += gap
            while end_of_service is not None and end_of_service <= now:
                end_of_service = serve(end_of_service)
            fields = {"bytes": rng.choice([40, 500, 1000, 1500]), "flow": flow, "ecn": rng.choice(codes)}
            outcomes.append(model.enqueue(now * PS, Packet(packets, arrival=now * PS, **fields)))
            operations.append((now, fields))
            packets += 1
            if end_of_service is None:
                end_of_service = serve(now)
    return operations, outcomes


def _stretch(rng: Random, rate_bps: float) -> Iterable[tuple[int, int]]:
    """Flows and gaps in picoseconds of a time with one load; some end in a silence."""
    load, flows = rng.choice([0.5, 0.9, 1.0, 1.05, 1.2, 1.5, 3.0]), rng.choice([1, 2, 5, 50])
    for _ in range(rng.choice([10, 100, 1000])):
        yield rng.randrange(flows), round(rng.expovariate(load) * 8.0 * 760.0 / rate_bps / PS)
    if rng.random() < 0.5:
        yield 0, round(rng.choice([0.05, 0.5, 5.0]) * rng.random() / PS)
