"""Single switches of RED and WRED: every decision is that of ns-2 2.35, drawn numbers included."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from aqmlab import _core

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "ns2"))

from switches.files import difference, read  # noqa: E402
from switches.running import Operation  # noqa: E402

CASES = read(ROOT / "data" / "ns2" / "switches")
BEFORE = {"mark": {"mark_at_bound": True}, "forced": {"forced_at": "p-one"}, "wred": {"idle_when": "none-waiting"}}
"""The other value of the switch of each family."""


def test_there_is_a_named_setting_of_each_switch_and_20_around_it() -> None:
    assert Counter(entry["family"] for entry, _ in CASES) == {"mark": 21, "forced": 21, "wred": 21}
    assert [entry["family"] for entry, _ in CASES if entry["case"] == "named"] == ["mark", "forced", "wred"]


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "table"), CASES, ids=[f"{e['family']}-{e['case']}" for e, _ in CASES])
def test_every_decision_is_that_of_ns2(entry: dict[str, Any], table: list[Operation]) -> None:
    assert difference(entry, table, _core.replay) is None


@pytest.mark.slow
def test_the_switches_decide() -> None:
    """With the other value of its switch the named setting of a family, and some around it, differ from ns-2."""
    different: Counter[str] = Counter()
    for entry, table in CASES:
        other = {**entry, "queue": {**entry["queue"], **BEFORE[entry["family"]]}}
        if difference(other, table, _core.replay) is not None:
            different[entry["family"]] += 1
        else:
            assert entry["case"] != "named", entry["family"]
    assert min(different[family] for family in BEFORE) >= 5


def test_stock_ns2_drops_where_the_patch_of_dctcp_marks() -> None:
    """A threshold at which p_b is 1: drops and no marks, with the patch marks and no drops but at a full buffer."""
    entry, table = next(
        (entry, table) for entry, table in CASES if (entry["family"], entry["case"]) == ("mark", "named")
    )
    outcomes = Counter(operation.outcome for operation in table if operation.ect and operation.bytes)
    assert outcomes["d"] > 0
    assert outcomes["m"] == 0
    assert entry["queue"]["mark_up_to"] == 1.0
