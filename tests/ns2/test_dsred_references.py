"""The committed tables of the DiffServ module agree with its arithmetic as written down; needs no ns-2."""

from __future__ import annotations

import csv
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from dsred.meters import DRAW_UNIT, Meter
from dsred.rio import CoupledQueue, Outcome, Threshold

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2" / "dsred"
INDEX = json.loads((DATA / "cases.json").read_text())


def rows(path: Path) -> list[dict[str, str]]:
    with lzma.open(path, "rt") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("entry", INDEX["markers"], ids=lambda entry: entry["case"])
def test_colors_follow_from_the_arithmetic(entry: dict[str, Any]) -> None:
    table = rows(DATA / "markers" / f"{entry['case']}.csv.xz")
    draws = [int(row["draw"]) * DRAW_UNIT for row in table if row["draw"]]
    meter = Meter(entry["kind"], entry["parameters"], iter(draws))
    colors = [meter.color(int(row["t_ps"]) / 1e12, int(row["bytes"])) for row in table]
    assert colors == [int(row["color"]) for row in table]
    assert len(table) == entry["packets"] >= 10_000
    assert [colors.count(color) for color in range(3)] == [entry[name] for name in ("green", "yellow", "red")]
    assert meter.drawn == len(draws) == entry["draws"]
    assert meter.margin > 1e-9


@pytest.mark.parametrize("entry", INDEX["queues"], ids=lambda entry: entry["case"])
def test_drops_follow_from_the_arithmetic(entry: dict[str, Any]) -> None:
    table = rows(DATA / "queues" / f"{entry['case']}.csv.xz")
    draws = [int(row["draw"]) * DRAW_UNIT for row in table if row["draw"]]
    queue = CoupledQueue(
        [Threshold(**values) for values in entry["classes"]],
        entry["limit"],
        entry["rate"] / (8.0 * entry["mean_packet"]),
        iter(draws),
    )
    ps_per_byte = 8 * 10**12 // entry["rate"]
    waiting: list[tuple[int, int]] = []
    free_at = 0
    for row in table:
        now, klass = int(row["t_ps"]), int(row["class"])
        while waiting and free_at < now:
            queue.depart(free_at / 1e12, waiting[0][0])
            free_at += waiting.pop(0)[1] * ps_per_byte
        outcome = queue.arrive(now / 1e12, klass)
        assert outcome.value == row["outcome"]
        if outcome is Outcome.ACCEPTED:
            if free_at < now:
                queue.depart(now / 1e12, klass)
                free_at = now + int(row["bytes"]) * ps_per_byte
            else:
                waiting.append((klass, int(row["bytes"])))
    assert len(table) == entry["packets"] >= 10_000
    assert {o.value: sum(row["outcome"] == o for row in table) for o in Outcome} == {o.value: entry[o] for o in Outcome}
    assert (queue.drawn, queue.unclamped) == (entry["draws"], entry["negative_probabilities"])
