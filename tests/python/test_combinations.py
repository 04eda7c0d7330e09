"""The page of all combinations of RED's parts: the checker takes them, they run, and the page is not stale."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from aqmlab.scenario.registry import discipline

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def combinations():
    spec = importlib.util.spec_from_file_location("combinations", ROOT / "tests" / "combinations.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["combinations"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_has_every_combination(combinations):
    taken, refused = combinations.checked(combinations.everything())
    assert len(taken) + len(refused) == 6 * 4 * 2 * 5
    assert len({plan.hash for plan in taken.values()}) == len(taken)
    page = (ROOT / "docs" / "combinations.md").read_text()
    for combination in taken:
        assert f"\n| {' | '.join(combination.words)} | " in page


def test_no_word_of_the_registry_is_left_out(combinations):
    words = {part: set(discipline("red").parameter(part).choices) for part in ("curve", "victim", "adaptation")}
    assert words["curve"] - {"points"} == set(combinations.CURVES)
    assert words["victim"] == set(combinations.VICTIMS)
    assert words["adaptation"] == set(combinations.ADAPTATIONS)


def test_combinations_run(combinations):
    few = [combinations.Combination(*words) for words in (
        ("linear", "arriving", "one", "none"),
        ("mred", "ddred", "rio", "adaptive-rio"),
    )]  # fmt: skip
    taken, _ = combinations.checked(few)
    short = {one: plan.with_overrides({"run.duration": "12s", "run.seeds": 2}) for one, plan in taken.items()}
    runs = combinations.run(short, workers=1)
    assert len(runs) == 4
    page = combinations.page(runs, {})
    assert "| mred | ddred | rio | adaptive-rio | " in page
    assert "| victim | ddred | 1 | " in page
