"""Replay of the decisions that a module or a tap logged, through the core in the same integers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.input_files import read_bytes, unpacked
from aqmlab.interop.kernel.export import KernelQueue, kernel_queue, plan_and_link
from aqmlab.interop.kernel.tap import FIRST_KIND, LAST_KIND, tapped_queue
from aqmlab.results.displays import OneLine
from aqmlab.scenario.file import Overrides, Scenario

RECORD_BYTES, KIND, CHANGED = 64, 56, 4
"""Of a record (``record.h``): its length, the place of its kind, and the kind of a change of parameters."""


LONGEST_LOG = 1 << 30
"""Bytes of the longest log: 16 million decisions."""


@dataclass(frozen=True)
class Difference:
    """The first difference between a log and its replay.

    Attributes
    ----------
    record
        Number of the record, from 0.
    time_s
        Its time in s, by the kernel's clock.
    what
        The field that differs.
    logged, replayed
        Its value in the log and in the core.
    """

    record: int
    time_s: float
    what: str
    logged: str
    replayed: str

    def __str__(self) -> str:
        return (
            f"record {self.record} ({self.time_s:.9f} s): {self.what} is {self.logged} in the log, "
            f"{self.replayed} in the replay"
        )


@dataclass(frozen=True, repr=False)
class ReplayedLog(OneLine):
    """The outcome of a replay.

    Attributes
    ----------
    records, decisions
        Records, and those of arrivals, which have a decision; of a tap also those of departures.
    marks, drops
        Decisions by which a packet was marked or dropped.
    difference
        The first difference, at which the replay ended; None if the log and the replay are equal bit by bit.
    changed
        Number of the record at which tc changed a parameter: decisions from there on were not replayed.
    """

    records: int
    decisions: int
    marks: int
    drops: int
    difference: Difference | None
    changed: int | None = None


def replay_decisions(
    scenario: str | Path | Scenario, log: str | Path | bytes, *, link: str | None = None, overrides: Overrides = ()
) -> ReplayedLog:
    """Repeat the decisions of a module's log with the log's draws, and compare them bit by bit.

    Parameters
    ----------
    scenario, link, overrides
        As in the export of the module.
    log
        The file ``decisions`` of the module, or its bytes; a file ``.gz`` is unpacked. The log of a tap
        (``sch_aqmlab_tap``) is that of one of Linux's own disciplines, which the core repeats.

    Raises
    ------
    ScenarioError, InputError
        If the scenario is not valid, a module cannot have the queue, or the log cannot be read.
    """
    content = log if isinstance(log, bytes) else _content(log)
    name = "log" if isinstance(log, bytes) else log
    if len(content) < RECORD_BYTES or CHANGED < content[KIND] < FIRST_KIND or content[KIND] > LAST_KIND:
        raise InputError(
            f"{name}: does not begin with a record of a decision (allowed: the log of a module or of a tap)"
        )
    if content[KIND] >= FIRST_KIND:
        return replay_log(tapped_queue(*plan_and_link(scenario, link=link, overrides=overrides)), content)
    return replay_log(kernel_queue(scenario, link=link, overrides=overrides), content)


def replay_log(queue: KernelQueue, content: bytes) -> ReplayedLog:
    """Replay the bytes of a log of a queue's module, up to the first change of a parameter."""
    kinds = content[KIND::RECORD_BYTES]
    changed = kinds.find(CHANGED)
    if changed >= 0:
        content = content[: changed * RECORD_BYTES]
    found = _core.replay_integer(queue.table, queue.link.rate_bps, queue.link.delay_s, queue.levels, content)
    if "what" not in found:
        end = changed if changed >= 0 else None
        return ReplayedLog(found["records"], found["decisions"], found["marks"], found["drops"], None, end)
    difference = Difference(found["record"], found["time_ns"] * 1e-9, found["what"], found["logged"], found["replayed"])
    return ReplayedLog(difference.record, 0, 0, 0, difference)


def _content(path: str | Path) -> bytes:
    try:
        content = read_bytes(Path(path), longest=LONGEST_LOG)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or 'it is a folder'})") from None
    found = unpacked(content, Path(path), longest=LONGEST_LOG) if str(path).endswith(".gz") else content
    if not found:
        raise InputError(f"{path}: holds no decision")
    return found
