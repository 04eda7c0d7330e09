"""Random operations on a queue and its link, and the records of a reference model that executes them.

The link is the usual one: a packet that arrives at an idle link asks for service at once, and every end of service
asks for the next packet, also when none waits. The link's own times depend on the packets that the model accepts, so
the operations are generated while the model runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, Protocol

from reference_models.red import PS, Average, Decision, Draws, Packet

Template = dict[str, object]
"""An arriving packet without its number."""
Operation = tuple[int, Template | None]
"""Time in picoseconds, and the arriving packet; `None`: the link asks for a packet."""


GAUGES_EVERY = 499
"""Operations between two reads of the gauges."""


class Record(NamedTuple):
    """The result of one operation."""

    dropped: tuple[tuple[int, str], ...]
    marked: tuple[int, ...]
    departed: int | None
    averages: tuple[float, ...]
    draws: int


class ReferenceModel(Protocol):
    """A discipline; `red.Red` is one."""

    queue: list[Packet]
    averages: list[Average]
    draws: Draws

    def enqueue(self, now: int, packet: Packet) -> Decision: ...
    def dequeue(self, now: int) -> Packet | None: ...
    def gauges(self, now: int) -> dict[str, float]: ...
    def state(self, now: int) -> str: ...


class Recorder:
    """Executes operations on a model and records its decisions."""

    def __init__(self, model: ReferenceModel) -> None:
        self.model = model
        self.operations: list[Operation] = []
        self.records: list[Record] = []
        self.gauges: dict[int, dict[str, float]] = {}
        self.packets = 0
        self.seen: Counter[str] = Counter()

    def enqueue(self, now: int, template: Template) -> None:
        waiting = len(self.model.queue)
        decision = self.model.enqueue(now, Packet(self.packets, **template))  # type: ignore[arg-type]
        self.packets += 1
        self.write(now, template, decision, None)
        self.seen["arrivals"] += 1
        self.seen["one packet waits" if waiting == 1 else "nothing waits" if waiting == 0 else "several wait"] += 1
        self.seen["marked"] += len(decision.marked)
        for number, reason in decision.dropped:
            self.seen[reason] += 1
            self.seen["arriving packet dropped" if number == self.packets - 1 else "waiting packet dropped"] += 1
            self.seen[f"{reason}, precious arrival"] += template["cls"] != 0

    def dequeue(self, now: int) -> Packet | None:
        packet = self.model.dequeue(now)
        self.write(now, None, Decision(), None if packet is None else packet.number)
        return packet

    def write(self, now: int, template: Template | None, decision: Decision, departed: int | None) -> None:
        self.operations.append((now, template))
        averages = tuple([average.value for average in self.model.averages])
        if len(self.records) % GAUGES_EVERY == 0:
            self.gauges[len(self.records)] = self.model.gauges(now)
        self.records.append(Record(decision.dropped, decision.marked, departed, averages, self.model.draws.used))

    def replay(self, operations: Sequence[Operation]) -> None:
        for now, template in operations:
            if template is None:
                self.dequeue(now)
            else:
                self.enqueue(now, template)


class Link:
    """A link of `rate_bps` behind the queue of a recorder's model."""

    def __init__(self, recorder: Recorder, rate_bps: float) -> None:
        self.recorder = recorder
        self.rate_bps = rate_bps
        self.now = 0
        self.end_of_service: int | None = None

    def arrival(self, now: int, template: Template) -> None:
        while self.end_of_service is not None and self.end_of_service <= now:
            self.serve(self.end_of_service)
        self.recorder.enqueue(now, template)
        if self.end_of_service is None:
            self.serve(now)

    def serve(self, now: int) -> None:
        packet = self.recorder.dequeue(now)
        self.end_of_service = None if packet is None else now + round(8.0 * packet.bytes / self.rate_bps / PS)


@dataclass(frozen=True)
class Mix:
    """Where arrivals come from: packets of high priority or in profile, and the others."""

    precious: list[Template]
    common: list[Template]

    def one(self, rng: Random, share: float) -> Template:
        pool = self.precious if rng.random() < share else self.common
        return pool[int(rng.random() * len(pool))]


def mix(rng: Random, levels: int, size: int = 300) -> Mix:
    """Packets of all sizes, distances and kinds; flows 0 … 5 are precious, flows above 100 carry ACKs only.

    Precious flow `f` has priority level `f` modulo `levels`, plus 1.

    Flow `f` is labelled AF11 if it is precious; of the others some are AF12, EF or unmarked.
    """
    flows = [rng.randrange(6) for _ in range(size)]
    precious = [packet(rng, flow, 1 + flow % levels) for flow in flows]
    return Mix(precious, [packet(rng, 6, 0) for _ in range(size)])


def packet(rng: Random, flow: int, cls: int) -> Template:
    if cls == 0:
        flow += rng.randrange(14)
    ack = rng.random() < 0.15
    initial = rng.choice([32, 64, 64, 128, 255])
    covered = rng.randint(0, 8)
    final = 0 if rng.random() < 0.15 else initial - rng.randint(1, 10)
    return {
        "bytes": 40 if ack else rng.choice([40, 500, 1000, 1000, 1000, 1500]),
        "flow": flow + 100 if ack else flow,
        "cls": cls,
        "kind": "ack" if ack else rng.choice(["data"] * 9 + ["syn"]),
        "dscp": 10 if cls else rng.choice([0, 0, 12, 46]),
        "ect": rng.random() < 0.6,
        "ttl_initial": initial,
        "ttl": initial - covered,
        "ttl_final": final,
        "alert": rng.random() < 0.2,
    }


LOADS = (0.2, 0.6, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.7, 2.5, 6.0, 20.0)
"""Offered traffic by capacity."""
MEAN_BYTES = 720.0
"""Of the packets of a mix."""


def random_traffic(model: ReferenceModel, rate_bps: float, number: int, rng: Random, levels: int = 1) -> Recorder:
    """At least `number` operations: stretches of one load and one mix, with silences and bursts between."""
    recorder = Recorder(model)
    link = Link(recorder, rate_bps)
    packets = mix(rng, levels)
    mean_service = 8.0 * MEAN_BYTES / rate_bps / PS
    now = 0
    while len(recorder.operations) < number:
        load, share = rng.choice(LOADS), rng.choice([0.0, 0.1, 0.3, 0.7, 1.0])
        for _ in range(rng.choice([1, 3, 30, 300, 1000, 3000])):
            now += round(rng.expovariate(load) * mean_service)
            for _ in range(rng.randint(2, 8) if rng.random() < 0.03 else 1):
                link.arrival(now, packets.one(rng, share))
        if rng.random() < 0.5:
            now += round(rng.choice([2, 30, 500, 5000]) * rng.random() * mean_service)
    return recorder
