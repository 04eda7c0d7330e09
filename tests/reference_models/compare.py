"""Reference model against core, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aqmlab import _core
from reference_models.traffic import Operation, Record, Recorder, ReferenceModel

TOLERANCE = 1e-12
"""Relative, for averages and gauges: the two add and multiply in different orders."""
DELAY_S = 0.01
"""The link's, which matters to automatic parameters only."""


def replay(
    queue: str, rate_bps: float, operations: Sequence[Operation], draws: Sequence[float], *, gauges: bool = False
) -> list[dict[str, Any]]:
    """Return the core's result of each operation."""
    return _core.replay(queue, rate_bps, DELAY_S, operations, draws, gauges)


def first_difference(
    recorder: Recorder, queue: str, rate_bps: float, draws: Sequence[float], fresh: Callable[[], ReferenceModel]
) -> str | None:
    """Return the first operation on which model and core differ, both decisions, and the model's state before it."""
    answers = replay(queue, rate_bps, recorder.operations, draws, gauges=any(recorder.gauges.values()))
    if len(answers) != len(recorder.operations):
        return f"{len(recorder.operations)} operations, {len(answers)} answers"
    for i, (record, answer) in enumerate(zip(recorder.records, answers, strict=True)):
        if not agree(record, answer):
            return report(recorder, i, answer, fresh())
    for i, gauges in recorder.gauges.items():
        if gauges and not gauges_agree(gauges, answers[i]["gauges"]):
            return f"gauges after operation {i}\nmodel: {gauges}\ncore: {answers[i]['gauges']}"
    return None


def agree(record: Record, answer: Mapping[str, Any]) -> bool:
    return (
        record.departed == answer["departed"]
        and record.draws == answer["draws"]
        and record.dropped == tuple(answer["dropped"])
        and record.marked == tuple(answer["marked"])
        and averages_agree(record.averages, answer["averages"])
    )


def averages_agree(model: Sequence[float], core: Sequence[float]) -> bool:
    """The core reports an average for every class, also where all classes share one."""
    if len(model) == 1:
        model = [model[0]] * len(core)
    return not model or list(model) == core or (len(model) == len(core) and all(map(close, model, core)))


def close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) or (math.isnan(a) and math.isnan(b))


def gauges_agree(model: Mapping[str, float], core: Mapping[str, float]) -> bool:
    return all(name in core and close(value, core[name]) for name, value in model.items())


def report(recorder: Recorder, i: int, answer: Mapping[str, Any], again: ReferenceModel) -> str:
    before = Recorder(again)
    before.replay(recorder.operations[:i])
    now, template = recorder.operations[i]
    lines = [
        f"operation {i} at {now} ps: " + ("dequeue" if template is None else f"enqueue {before.packets} {template}"),
        f"model: {recorder.records[i]}",
        f"core: {dict(answer)}",
        "state of the model before:",
        again.state(now),
    ]
    return "\n".join(lines)
