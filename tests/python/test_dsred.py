"""Markers and coupled queues packet by packet against ns-2's DiffServ module (tests/data/ns2/dsred)."""

from __future__ import annotations

import csv
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from aqmlab import _core

pytestmark = pytest.mark.slow

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2" / "dsred"
INDEX = json.loads((DATA / "cases.json").read_text())
DRAW_UNIT = 1.0 / 4294967088.0


def rows(folder: str, case: str) -> list[dict[str, str]]:
    with lzma.open(DATA / folder / f"{case}.csv.xz", "rt") as file:
        return list(csv.DictReader(file))


def draws(table: list[dict[str, str]]) -> list[float]:
    return [int(row["draw"]) * DRAW_UNIT for row in table if row["draw"]]


@pytest.mark.parametrize("entry", INDEX["markers"], ids=lambda entry: entry["case"])
def test_every_color_is_ns2s(entry: dict[str, Any]) -> None:
    table = rows("markers", entry["case"])
    packets = [(int(row["t_ps"]), int(row["bytes"]), 0) for row in table]
    colors = _core.mark(entry["kind"], {**entry["parameters"], "dialect_ns2": 1}, packets, draws(table))
    assert list(colors) == [int(row["color"]) for row in table]


def queue_body(entry: dict[str, Any]) -> str:
    lines = [
        'aqm = "red"',
        'dialect = "dsred"',
        'averages = "coupled"',
        f'limit = "{entry["limit"]}p"',
        f'mean_packet = "{entry["mean_packet"]}B"',
        f"w_q = {entry['classes'][0]['w_q']}",
    ]
    last = len(entry["classes"]) - 1
    for i, c in enumerate(entry["classes"]):
        lines += [
            "[[class]]",
            f'name = "c{i}"',
            "default = true" if i == last else f"dscp = [{10 + i}]",
            f'min_th = "{c["min_th"]}p"',
            f'max_th = "{c["max_th"]}p"',
            f"max_p = {c['max_p']}",
        ]
    return "\n".join(lines)


def packet(row: dict[str, str]) -> dict[str, Any]:
    return {
        "bytes": int(row["bytes"]),
        "flow": 0,
        "cls": 0,
        "kind": "data",
        "dscp": 10 + int(row["class"]),
        "ect": False,
        "ttl_initial": 64,
        "ttl": 62,
        "ttl_final": 60,
    }


@pytest.mark.parametrize("entry", INDEX["queues"], ids=lambda entry: entry["case"])
def test_every_drop_is_ns2s(entry: dict[str, Any]) -> None:
    """The operations of a link, from the arrivals and their outcomes; drops must be the same and of the same kind."""
    table = rows("queues", entry["case"])
    ps_per_byte = 8 * 10**12 // entry["rate"]
    operations: list[tuple[int, dict[str, Any] | None]] = []
    arrival_at: list[int] = []
    waiting: list[int] = []
    free_at: int | None = None
    for row in table:
        now, size = int(row["t_ps"]), int(row["bytes"])
        while free_at is not None and free_at < now:
            operations.append((free_at, None))
            free_at = free_at + waiting.pop(0) * ps_per_byte if waiting else None
        arrival_at.append(len(operations))
        operations.append((now, packet(row)))
        if free_at is None:
            operations.append((now, None))
        if row["outcome"] == "accepted" and free_at is None:
            free_at = now + size * ps_per_byte
        elif row["outcome"] == "accepted":
            waiting.append(size)
    answers = _core.replay(queue_body(entry), float(entry["rate"]), 0.0, operations, draws(table))
    found = []
    for operation in arrival_at:
        dropped = answers[operation]["dropped"]
        found.append(dropped[0][1] if dropped else "accepted")
    assert found == [row["outcome"] for row in table]
    assert answers[-1]["draws"] == entry["draws"]
