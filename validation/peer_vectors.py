"""Test vectors for other implementations: cases, their effective settings, the core's decisions, and adapters.

An adapter is a program that has another implementation decide: it reads the events of a case and writes what became of
the packets (``validation/peers/README.md``).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.scenario.file import Scenario

Event = dict[str, Any]
FORMAT = 1
ECN = ("not-ect", "ect1", "ect0", "ce")
TIMEOUT_S = 20
SCENARIO = """
format = 1
[run]
duration = "1s"
[dumbbell]
bottleneck = {{ rate = "{rate_bps}bps", delay = "1ms", queue = "q" }}
left = {{ rate = "1Gbps", delay = "1ms" }}
right = {{ rate = "1Gbps", delay = "1ms" }}
[[flow]]
name = "flow"
transport = "newreno"
[queue.q]
{settings}
"""


@dataclass(frozen=True)
class Case:
    """A case of a file of vectors: a new queue before a link of `rate_bps` bit/s, and its events."""

    file: str
    name: str
    rate_bps: int
    settings: str
    uses: frozenset[str]
    events: tuple[Event, ...]

    def with_events(self, events: Sequence[Event]) -> Case:
        """Return the case with these events, decided by the core.

        Random numbers go to the draws in the order of the list; an event has those that it consumes.
        """
        operations = [(event["t_ns"] * 1000, header(event)) for event in events]
        numbers = [number for event in events for number in event["random"]]
        answers = _core.replay(self.settings, float(self.rate_bps), 0.0, operations, numbers)
        ids = [event["id"] for event in events if event["op"] == "enqueue"]
        decided, used = [], 0
        for event, answer in zip(events, answers, strict=True):
            drawn, used = slice(used, answer["draws"]), answer["draws"]
            dropped = [ids[place] for place, _ in answer["dropped"]]
            marked = [ids[place] for place in answer["marked"]]
            new = {**event, "random": numbers[drawn], "dropped": dropped, "marked": marked}
            if event["op"] == "enqueue":
                new["decision"] = decision(event["id"], dropped, marked)
            else:
                new["id"] = None if answer["departed"] is None else ids[answer["departed"]]
            decided.append(new)
        return replace(self, events=tuple(decided))

    def parameters(self) -> dict[str, Any]:
        """Return the effective settings of the queue, with ``aqm``."""
        queue = Scenario.from_text(SCENARIO.format(rate_bps=self.rate_bps, settings=self.settings)).queues["q"]
        return {"aqm": queue["aqm"], **queue["parameters"]}


def decision(packet: int, dropped: Sequence[int], marked: Sequence[int]) -> str:
    """Return the decision about an arriving packet."""
    return "drop" if packet in dropped else "mark" if packet in marked else "enqueue"


def header(event: Event) -> dict[str, int | str | bool] | None:
    """Return the packet of an event for the core; None for a dequeue."""
    if event["op"] == "dequeue":
        return None
    names = {"class": "cls", "dscp": "dscp", "kind": "kind", "ttl": "ttl"}
    names |= {"ttl_initial": "ttl_initial", "ttl_final": "ttl_final"}
    packet = {new: event[old] for old, new in names.items() if old in event}
    return {**packet, "bytes": event["length"], "flow": event["flow"], "ecn": ECN.index(event["ecn"])}


def read(path: Path) -> Iterator[Case]:
    """Read the cases of a file of vectors."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    if not lines or lines[0].get("format") != FORMAT:
        raise InputError(f"{path}: format {FORMAT} expected in line 1")
    starts = [place for place, line in enumerate(lines) if line.get("op") == "new"]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        case = lines[start]
        events = tuple(lines[start + 1 : end])
        rate = lines[0]["rate_bps"]
        yield Case(path.stem, case["case"], rate, case["settings"], frozenset(case["uses"].split()), events)


@dataclass(frozen=True)
class Answer:
    """The effect of an event: the accepted packet or the one that leaves (None: none), dropped and marked packets."""

    packet: int | None
    dropped: tuple[int, ...]
    marked: tuple[int, ...]

    def __str__(self) -> str:
        parts = ["none" if self.packet is None else f"packet {self.packet}"]
        parts += [f"dropped {' '.join(map(str, self.dropped))}"] if self.dropped else []
        return ", ".join([*parts, *([f"marked {' '.join(map(str, self.marked))}"] if self.marked else [])])

    def unmarked(self, packets: Container[int]) -> Answer:
        """Return the answer without marks of these packets."""
        return replace(self, marked=tuple(packet for packet in self.marked if packet not in packets))


def expected(event: Event) -> Answer:
    """Return the answer that the vector has."""
    is_in = event["op"] == "dequeue" or event["decision"] != "drop"
    return Answer(event["id"] if is_in else None, tuple(sorted(event["dropped"])), tuple(sorted(event["marked"])))


def protocol(case: Case, settings: Mapping[str, float | str]) -> str:
    """Return a case as an adapter reads it."""
    lines = ["new " + " ".join(f"{key}={value}" for key, value in settings.items())]
    for event in case.events:
        words = [event["op"], event["t_ns"]]
        if event["op"] == "enqueue":
            words += [event["id"], event["length"], event["flow"], ECN.index(event["ecn"])]
        lines.append(" ".join(map(str, words + [repr(number) for number in event["random"]])))
    return "\n".join(lines) + "\n"


def answers(text: str, events: Sequence[Event]) -> list[Answer]:
    """Read the answers of an adapter; fewer than events if it broke down."""
    found = []
    for line, event in zip(text.splitlines()[1:], events, strict=False):
        words = line.split()
        if "drawn" not in words:
            break
        drops, marks, end = (words.index(word) for word in ("dropped", "marked", "drawn"))
        dropped, marked = (tuple(sorted(map(int, words[a + 1 : b]))) for a, b in ((drops, marks), (marks, end)))
        first = {"none": None, "drop": None, "enqueue": event["id"]}.get(words[0], words[0])
        found.append(Answer(None if first is None else int(first), dropped, marked))
    return found


@dataclass(frozen=True)
class Difference:
    """The first event of a case whose answer is not the vector's; `got` is None if the implementation broke down."""

    place: int
    expected: Answer
    got: Answer | None

    def kind(self) -> tuple[bool, ...]:
        """Return the kind of a difference: the packet, the dropped or the marked ones."""
        if self.got is None:
            return bool(self.expected.dropped), bool(self.expected.marked)
        pairs = [(getattr(self.expected, name), getattr(self.got, name)) for name in ("packet", "dropped", "marked")]
        sizes = (len(self.expected.dropped) > len(self.got.dropped), len(self.got.dropped) > len(self.expected.dropped))
        return (*(a != b for a, b in pairs), *sizes)


def run(command: Sequence[str], case: Case, settings: Mapping[str, float | str]) -> Difference | None:
    """Run a case through an adapter; return the first difference, or None if it passes.

    A packet that arrives with CE may count as marked or not.
    """
    done = subprocess.run(
        command, input=protocol(case, settings), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    found = answers(done.stdout, case.events)
    if not done.stdout.startswith("ok"):
        raise InputError(f"{command[0]}: no answer to a case (exit code {done.returncode}): {done.stderr.strip()}")
    with_ce = {event["id"] for event in case.events if event.get("ecn") == "ce"}
    for place, event in enumerate(case.events):
        got = found[place].unmarked(with_ce) if place < len(found) else None
        wanted = expected(event).unmarked(with_ce)
        if got != wanted:
            return Difference(place, wanted, got)
    return None
