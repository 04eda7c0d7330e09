"""Single switches of RED and WRED: every decision is that of ns-2 2.35, drawn numbers included."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from aqmlab import _core

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "ns2"))

from switches.files import difference, read_index, read_tables  # noqa: E402
from switches.running import Operation  # noqa: E402

FOLDER = ROOT / "data" / "ns2" / "switches"
ENTRIES = read_index(FOLDER)
BEFORE = {"mark": {"mark_at_bound": True}, "forced": {"forced_at": "p-one"}, "wred": {"idle_when": "none-waiting"}}
"""The other value of the switch of each family."""


@pytest.fixture(scope="module")
def tables() -> list[list[Operation]]:
    return read_tables(FOLDER)


def test_there_is_a_named_setting_of_each_switch_and_20_around_it() -> None:
    assert Counter(entry["family"] for entry in ENTRIES) == {"mark": 21, "forced": 21, "wred": 21}
    assert [entry["family"] for entry in ENTRIES if entry["case"] == "named"] == ["mark", "forced", "wred"]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(ENTRIES)), ids=[f"{e['family']}-{e['case']}" for e in ENTRIES])
def test_every_decision_is_that_of_ns2(number: int, tables: list[list[Operation]]) -> None:
    assert difference(ENTRIES[number], tables[number], _core.replay) is None


@pytest.mark.slow
def test_the_switches_decide(tables: list[list[Operation]]) -> None:
    """With the other value of its switch the named setting of a family, and some around it, differ from ns-2."""
    different: Counter[str] = Counter()
    for entry, table in zip(ENTRIES, tables, strict=True):
        other = {**entry, "queue": {**entry["queue"], **BEFORE[entry["family"]]}}
        if difference(other, table, _core.replay) is not None:
            different[entry["family"]] += 1
        else:
            assert entry["case"] != "named", entry["family"]
    assert min(different[family] for family in BEFORE) >= 5


def test_stock_ns2_drops_where_the_patch_of_dctcp_marks(tables: list[list[Operation]]) -> None:
    """A threshold at which p_b is 1: drops and no marks, with the patch marks and no drops but at a full buffer."""
    number = next(n for n, entry in enumerate(ENTRIES) if (entry["family"], entry["case"]) == ("mark", "named"))
    entry = ENTRIES[number]
    outcomes = Counter(operation.outcome for operation in tables[number] if operation.ect and operation.bytes)
    assert outcomes["d"] > 0
    assert outcomes["m"] == 0
    assert entry["queue"]["mark_up_to"] == 1.0
