"""Twin against core, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aqmlab import _core
from reference_models.traffic import Bench, Operation, Record, Twin

TOLERANCE = 1e-12
"""Relative, for averages and gauges: the two add and multiply in different orders."""
DELAY_S = 0.01
"""The link's, which matters to automatic parameters only."""


def replay(
    queue: str, rate_bps: float, operations: Sequence[Operation], draws: Sequence[float], *, gauges: bool = False
) -> list[dict[str, Any]]:
    """What the core makes of the operations."""
    return _core.replay(queue, rate_bps, DELAY_S, operations, draws, gauges)


def first_difference(
    bench: Bench, queue: str, rate_bps: float, draws: Sequence[float], fresh: Callable[[], Twin]
) -> str | None:
    """The first operation on which twin and core differ, with both decisions and the twin's state before it."""
    answers = replay(queue, rate_bps, bench.operations, draws, gauges=any(bench.gauges.values()))
    if len(answers) != len(bench.operations):
        return f"{len(bench.operations)} operations, {len(answers)} answers"
    for i, (record, answer) in enumerate(zip(bench.records, answers, strict=True)):
        if not agree(record, answer):
            return report(bench, i, answer, fresh())
    for i, gauges in bench.gauges.items():
        if gauges and not gauges_agree(gauges, answers[i]["gauges"]):
            return f"gauges after operation {i}\ntwin: {gauges}\ncore: {answers[i]['gauges']}"
    return None


def agree(record: Record, answer: Mapping[str, Any]) -> bool:
    return (
        record.departed == answer["departed"]
        and record.draws == answer["draws"]
        and record.dropped == tuple(answer["dropped"])
        and record.marked == tuple(answer["marked"])
        and averages_agree(record.averages, answer["averages"])
    )


def averages_agree(twin: Sequence[float], core: Sequence[float]) -> bool:
    """The core reports an average for every class, also where all classes share one."""
    if len(twin) == 1:
        twin = [twin[0]] * len(core)
    return not twin or (len(twin) == len(core) and all(map(close, twin, core)))


def close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) or (math.isnan(a) and math.isnan(b))


def gauges_agree(twin: Mapping[str, float], core: Mapping[str, float]) -> bool:
    return all(name in core and close(value, core[name]) for name, value in twin.items())


def report(bench: Bench, i: int, answer: Mapping[str, Any], again: Twin) -> str:
    before = Bench(again)
    before.replay(bench.operations[:i])
    now, template = bench.operations[i]
    lines = [
        f"operation {i} at {now} ps: " + ("dequeue" if template is None else f"enqueue {before.packets} {template}"),
        f"twin: {bench.records[i]}",
        f"core: {dict(answer)}",
        "state of the twin before:",
        again.state(now),
    ]
    return "\n".join(lines)
