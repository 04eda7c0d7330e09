"""One link with its queues as a scenario: what lines of tc and configurations of routers become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from aqmlab.errors import one_line
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import rate, time
from aqmlab.interop.tc.netem import NOTHING
from aqmlab.scenario.toml_text import entries, inline

RATE, DELAY = 10e6, 0.02
"""Defaults of rate and delay."""
BOTTLENECK = "bottleneck"


@dataclass(frozen=True)
class Class:
    """A class: its name, code points (None: all others), weight, the queue of its packets, and own parameters."""

    name: str
    code_points: tuple[int, ...] | None
    weight: float | None
    queue: str
    own: Table = field(default_factory=dict)


@dataclass
class Bottleneck:
    """A link with its queues, and notes on the import.

    Attributes
    ----------
    rate_bps, delay_s
        Of the link.
    channel
        Loss, jitter, reordering and duplication on the link, as its keys.
    bucket
        Keys of a token bucket that makes the rate, besides the rate.
    framing
        Keys of the link for lengths on the wire.
    queues
        ``[queue.NAME]`` tables; the link has the one that is called `BOTTLENECK`.
    classes
        Classes of the queues that are schedulers.
    notes
        Assumptions, and settings that are not carried over.
    lines
        Line of the file that makes a queue, by the queue's name.
    """

    rate_bps: float = RATE
    delay_s: float = DELAY
    channel: Table = field(default_factory=dict)
    bucket: Table = field(default_factory=dict)
    framing: Table = field(default_factory=dict)
    queues: dict[str, Table] = field(default_factory=dict)
    classes: dict[str, list[Class]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def queue(self) -> Table:
        """The link's queue."""
        return self.queues[BOTTLENECK]

    @property
    def has_ecn(self) -> bool:
        """Whether a queue marks packets."""
        return any(queue.get("ecn") for queue in self.queues.values())

    def note(self, text: str, line: int = 0) -> None:
        """Add a note, with the line that it is about."""
        self.notes.append(f"line {line}: {text}" if line else text)

    def sort_notes(self) -> None:
        """Sort notes by their lines; those without one follow."""

        def line(note: str) -> float:
            word, _, rest = note.partition(" ")
            number = rest.partition(":")[0]
            return int(number) if word == "line" and number.isdigit() else float("inf")

        self.notes.sort(key=line)

    def schedule(self, name: str, strict: Sequence[Class], shared: Sequence[Class]) -> None:
        """Add a queue with classes: strict ones first, behind the last of them those that share by their weights."""
        strict, shared = list(strict), list(shared)
        if not strict:
            self.queues[name] = {"aqm": "wfq"}
            self.classes[name] = shared
            return
        self.queues[name] = {"aqm": "priority"}
        if shared:
            own = f"{name}-shared"
            self.queues[own] = {"aqm": "wfq"}
            self.classes[own] = shared
            points = [one.code_points for one in shared]
            every = None if None in points else tuple(sorted(p for several in points for p in several or ()))
            if every is not None:
                shared[-1] = replace(shared[-1], code_points=None)
            strict.append(Class("shared", every, None, own))
        self.classes[name] = strict

    def schedule_ranked(self, strict: Iterable[tuple[int, Class]], shared: Sequence[Class]) -> None:
        """Add the bottleneck's queue, with strict classes by rank; a single class behind them is the last of them."""
        ordered = [made for _, made in sorted(strict, key=lambda pair: pair[0])]
        if ordered and len(shared) == 1:
            ordered, shared = [*ordered, replace(shared[0], weight=None)], []
        self.schedule(BOTTLENECK, ordered, shared)


def head(name: str, description: str) -> list[str]:
    """Return the first lines of a scenario file, and an empty line."""
    return [*entries({"format": 1, "name": name, "description": description}), ""]


def text_of(
    found: Bottleneck, *, name: str, description: str, source: str = "lines of tc", ecn: bool | None = None
) -> str:
    """Write a scenario: the queue at the bottleneck of a dumbbell, with ten flows of CUBIC.

    `ecn` is whether the flows use ECN; by default they do if a queue marks.
    """
    bits = rate(found.rate_bps)
    server: Table = {"rate": {"tbf": bits, **found.bucket} if found.bucket else bits}
    trunk: Table = {**server, "delay": time(found.delay_s), **found.framing, "queue": BOTTLENECK}
    trunk |= found.channel | {f"reverse_{key}": NOTHING[key] for key in found.channel}
    access: Table = {"rate": rate(max(1e9, 10 * found.rate_bps)), "delay": "1ms"}
    lines = head(name, description)
    lines += [f"# Not carried over, or assumed: {one_line(note)}." for note in found.notes]
    lines += [
        f"# The network around the bottleneck and the flows are not in {source}: they are an example.",
        "",
        "[run]",
        'duration = "60s"',
        'warmup = "10s"',
        "",
        "[dumbbell]",
        *entries({"bottleneck": trunk, "left": access, "right": access}),
    ]
    for queue in sorted(found.queues, key=lambda one: one != BOTTLENECK):
        lines += ["", f"[queue.{queue}]", *entries(found.queues[queue])]
        for one in found.classes.get(queue, ()):
            lines += ["", f"[[queue.{queue}.class]]", *_class_lines(one)]
    lines += [
        "",
        "[[flow]]",
        'name = "tcp"',
        "count = 10",
        'transport = "tcp"',
        'start = { uniform = ["0s", "1s"] }',
    ]
    if found.has_ecn if ecn is None else ecn:
        lines.append("tcp = { ecn = true }")
    return "\n".join(lines) + "\n"


def _class_lines(one: Class) -> list[str]:
    lines = [f"name = {inline(one.name)}"]
    lines.append("default = true" if one.code_points is None else f"dscp = {inline(list(one.code_points))}")
    if one.weight is not None:
        lines.append(f"weight = {inline(one.weight)}")
    return [*lines, *entries(one.own), *([f"queue = {inline(one.queue)}"] if one.queue else [])]
