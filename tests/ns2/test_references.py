"""The committed references and the tools that compare with them; needs no ns-2."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

import red_reference
from equivalence import BOUNDS, compare, markdown, student_quantile, welch_interval
from goldens.events import Row, difference_as_sets, difference_in_order, from_csv, read, to_csv
from goldens.files import lacking

DATA = Path(__file__).resolve().parent.parent / "data" / "ns2"
CASES = json.loads((DATA / "cases.json").read_text())["cases"]
UNIT_PS = 10**12 // 4096


@pytest.mark.slow
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry["case"])
def test_case_is_whole(entry: dict[str, Any]) -> None:
    table = read(DATA / f"{entry['case']}.events.csv.xz")
    kinds = [row.kind for row in table]
    assert len(table) == entry["events"] >= 10_000
    assert [kinds.count(k) for k in "+-d"] == [entry["enqueued"], entry["dequeued"], entry["dropped"]]
    assert [row.t_ps for row in table] == sorted(row.t_ps for row in table)
    if str(entry["case"]).startswith("exact/"):
        assert all(row.t_ps % UNIT_PS == 0 for row in table)
    scenario = tomllib.loads((DATA / f"{entry['case']}.toml").read_text())
    assert scenario["format"] == 1
    assert scenario["probe"] == {"links": ["bottleneck"], "events": True}
    assert max(row.flow for row in table) == len(scenario["flow"]) - 1


def test_nothing_required_is_lacking() -> None:
    assert lacking(CASES) is None
    assert lacking(CASES[:5]) is not None


def test_comparison_in_order() -> None:
    table = [Row(0, "+", 0, 1, 40), Row(0, "-", 0, 1, 40), Row(7, "+", 0, 2, 40)]
    assert difference_in_order(table, list(table)) is None
    assert from_csv(to_csv(table)) == table
    assert "event 0" in str(difference_in_order(table, [table[1], table[0], table[2]]))
    assert "expected 3 events" in str(difference_in_order(table, table[:2]))


def test_comparison_as_sets() -> None:
    us = 1_000_000
    table = [Row(0, "+", 0, 1, 40), Row(us // 2, "-", 0, 1, 40), Row(9 * us, "+", 0, 2, 40)]
    swapped = [Row(1, "-", 0, 1, 40), Row(us // 2, "+", 0, 1, 40), Row(9 * us + 5, "+", 0, 2, 40)]
    assert difference_as_sets(table, swapped) is None
    assert difference_as_sets(table, table[:2]) is not None
    assert difference_as_sets(table, [*table[:2], Row(9 * us, "+", 0, 3, 40)]) is not None
    assert difference_as_sets(table, [*table[:2], Row(11 * us, "+", 0, 2, 40)]) is not None
    chain = [Row(i * us, "+", 0, 1 + i % 2, 40) for i in range(5)]
    assert difference_as_sets(chain, [row._replace(t_ps=row.t_ps + us) for row in chain]) is None
    assert difference_as_sets(chain, [row._replace(t_ps=row.t_ps + 2 * us) for row in chain]) is not None


def test_student_quantile_against_printed_tables() -> None:
    for freedom, printed in ((5, 2.01505), (10, 1.81246), (20, 1.72472), (100, 1.66023)):
        assert student_quantile(0.95, freedom) == pytest.approx(printed, abs=2e-3 if freedom < 10 else 1e-4)


@pytest.mark.slow
def test_welch_interval_has_its_nominal_coverage() -> None:
    stream = random.Random(1)
    covered = 0
    for _ in range(2000):
        a = [stream.gauss(3.0, 1.0) for _ in range(12)]
        b = [stream.gauss(1.0, 2.5) for _ in range(20)]
        low, high = welch_interval(a, b)
        covered += low < 2.0 < high
    assert 0.88 < covered / 2000 < 0.92


def test_red_table_is_whole() -> None:
    table = red_reference.read()
    seeds: dict[tuple[str, ...], set[int]] = {}
    for row in table:
        seeds.setdefault((row["curve"], row["udp"], row["flows"]), set()).add(int(row["seed"]))
    assert len(seeds) == len(red_reference.configurations())
    assert all(s == set(range(1, len(s) + 1)) and len(s) >= 100 for s in seeds.values())
    for row in table:
        assert float(row["loss"]) == pytest.approx(int(row["drops"]) / int(row["arrivals"]), rel=1e-8)
        assert float(row["throughput_bps"]) == pytest.approx(int(row["departed_bytes"]) * 8 / 50, rel=1e-8)


def test_equivalence_distinguishes_equal_from_different() -> None:
    table = red_reference.read()
    ours = [row for row in table if int(row["seed"]) % 2]
    theirs = [row for row in table if not int(row["seed"]) % 2]
    result = compare(ours, theirs)
    assert len(result) == len(red_reference.configurations()) * len(BOUNDS)
    assert sum(c.shown for c in result if c.measure == "throughput_bps") >= 20
    worse = [{**row, "throughput_bps": float(row["throughput_bps"]) * 1.004} for row in ours]
    assert not any(c.shown for c in compare(worse, theirs) if c.measure == "throughput_bps" and c.key[2] >= 20)
    assert "not shown" in markdown(compare(worse, theirs))
    with pytest.raises(ValueError, match="no runs"):
        compare(ours[:50], theirs)


def test_red_scenarios_are_the_generated_ones() -> None:
    for curve in red_reference.CURVES:
        for udp in (False, True):
            text = (red_reference.SCENARIOS / red_reference.scenario_name(curve, udp)).read_text()
            assert text == red_reference.scenario(curve, udp)
            tomllib.loads(text)
