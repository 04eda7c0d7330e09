"""The committed table of operations, and a replay of them through a queue of ours."""

from __future__ import annotations

import csv
import json
import lzma
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from switches.generator import Generator
from switches.running import Operation

INDEX, TABLE = "cases.json", "operations.csv.xz"
CODE_POINT = 10
"""Of the first class; the others follow."""


def write(folder: Path, entries: list[dict[str, Any]], tables: Sequence[Sequence[Operation]]) -> None:
    """Write index and table; the rows of a case follow each other in the order of the index."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INDEX).write_text(json.dumps({"ns": "2.35", "cases": entries}, indent=1) + "\n")
    lines = ["dt_ps,class,bytes,ect,outcome"]
    for table in tables:
        before = 0
        for o in table:
            lines.append(f"{o.t_ps - before},{o.klass},{o.bytes},{int(o.ect)},{o.outcome}")
            before = o.t_ps
    data = "\n".join([*lines, ""]).encode()
    (folder / TABLE).write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


def read_index(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the index."""
    entries: list[dict[str, Any]] = json.loads((folder / INDEX).read_text())["cases"]
    return entries


def read_tables(folder: Path) -> list[list[Operation]]:
    """Return the operations of each entry."""
    with lzma.open(folder / TABLE, "rt") as file:
        rows = csv.reader(file)
        next(rows)
        found = []
        for entry in read_index(folder):
            now, table = 0, []
            for _ in range(entry["operations"]):
                dt_ps, klass, size, ect, outcome = next(rows)
                now += int(dt_ps)
                table.append(Operation(now, int(klass), int(size), ect == "1", outcome))
            found.append(table)
    return found


def queue_body(queue: dict[str, Any]) -> str:
    """Write the parameters of a queue as the body of its table."""
    own = {key: value for key, value in queue.items() if key != "class"}
    lines = ['aqm = "red"', *(f"{key} = {json.dumps(value)}" for key, value in own.items())]
    classes = queue.get("class", ())
    for number, one in enumerate(classes):
        is_last = number == len(classes) - 1
        lines += [
            "[[class]]",
            f'name = "c{number}"',
            "default = true" if is_last else f"dscp = [{CODE_POINT + number}]",
        ]
        lines += [f"{key} = {json.dumps(value)}" for key, value in one.items()]
    return "\n".join(lines)


Replay = Callable[..., list[dict[str, Any]]]


def difference(entry: dict[str, Any], table: Iterable[Operation], replay: Replay) -> str | None:
    """Return the first decision that is not ns-2's, or None. `replay` is `aqmlab._core.replay`."""
    table = list(table)
    generator = Generator(entry["seed"])
    draws = [generator.draw() for _ in table]
    operations = [(o.t_ps, _packet(o) if o.bytes else None) for o in table]
    answers = replay(queue_body(entry["queue"]), float(entry["rate"]), 0.0, operations, draws)
    for number, (operation, answer) in enumerate(zip(table, answers, strict=True)):
        if operation.bytes:
            found = "d" if answer["dropped"] else "m" if answer["marked"] else "a"
            if found != operation.outcome:
                return f"operation {number} at {operation.t_ps} ps: {found}, in ns-2 {operation.outcome}"
    return None


def _packet(operation: Operation) -> dict[str, Any]:
    return {
        "bytes": operation.bytes,
        "flow": 0,
        "cls": 0,
        "kind": "data",
        "dscp": CODE_POINT + operation.klass,
        "ect": operation.ect,
        "ttl_initial": 64,
        "ttl": 62,
        "ttl_final": 60,
    }
