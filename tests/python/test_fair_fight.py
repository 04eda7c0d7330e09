"""The papers' ideas against a tuned RED: descriptions, committed records, and the words of the answer."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest

from aqmlab.papers.common.fight import (
    AGAINST_TUNED,
    AS_GIVEN,
    BOTH_TUNED,
    SECOND_SEARCH,
    add_fights,
    fights_of,
    records_of,
    sentence,
    table,
)
from aqmlab.papers.common.files import PaperFiles
from aqmlab.papers.registry import PAPERS
from aqmlab.reporting.page import Page
from aqmlab.tuning.goals import goal_while

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))
import fair_fight  # noqa: E402


@pytest.mark.parametrize("key", [key for key in PAPERS if records_of(PaperFiles(key))])
def test_a_record_is_that_of_its_description(key: str) -> None:
    files = PaperFiles(key)
    fights, records = fights_of(files), records_of(files)
    assert len(fights) == len(records)
    for fight, record in zip(fights, records, strict=True):
        goal, bounds = goal_while(fight.goal)
        assert record["baseline"] == fight.aqm[0] == "red"
        assert {fight.idea, "codel", "pie"} <= set(fight.aqm)
        assert [one["aqm"] for one in record["disciplines"]] == list(fight.aqm)
        assert (record["goal"], record["keep"]) == (goal.words, [bound.words for bound in bounds])
        assert record["over"] == list(fight.over)
        assert {key: record["budget"][key] for key in ("trials", "fresh")} == {
            key: fight.budget[key] for key in ("trials", "fresh")
        }
        assert record["search_seeds"] == [1, fight.budget["search_seed"]]
        assert not set(record["points"]) & set(record["held_out"])
        assert record["scenario"]["hash"] == files.scenario(fight.scenario, tuple(fight.overrides.items())).hash


def settings(aqm: str, mean: float, bound: str = "holds") -> dict[str, Any]:
    """Return settings on fresh seeds with this mean of the loss."""
    goal = {"mean": mean, "low": mean - 0.001, "high": mean + 0.001, "sd": 0.001, "n": 8}
    fresh = {"goal": goal, "bounds": [{"bound": "utilization>=0.94", "verdict": bound}]}
    return {"settings": {"aqm": aqm, "max_p": mean}, "everywhere": fresh, "held_out": fresh}


def discipline(aqm: str, default: float, tuned: float) -> dict[str, Any]:
    """Return a discipline of a record, whose RED has a loss of 0.12 by default and 0.1 tuned."""
    compared = {}
    for title, apart in ((AS_GIVEN, default - 0.12), (AGAINST_TUNED, default - 0.1), (BOTH_TUNED, tuned - 0.1)):
        one = {"verdict": "better" if apart < 0 else "worse", "difference": interval(apart)}
        compared |= {title: {"everywhere": one, "held_out": one}}
        compared |= {f"{title}{SECOND_SEARCH}": {"everywhere": copy.deepcopy(one), "held_out": one}}
    searches = [{"seed": seed, "warnings": [], "tuned": settings(aqm, tuned)} for seed in (1, 2)]
    return {
        "aqm": aqm,
        "default": settings(aqm, default),
        "searches": searches,
        "compared": {} if aqm == "red" else compared,
    }


def interval(mean: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 0.001, "high": mean + 0.001}


def one_record() -> dict[str, Any]:
    """Return a record that was made up."""
    return {
        "idea": "mred",
        "words": "MRED's curve",
        "why": "The paper claims less loss.",
        "scenario": {"name": "mixed"},
        "goal": "minimize loss",
        "keep": ["utilization>=0.94"],
        "points": ["flows=5", "flows=50", "flows=16"],
        "held_out": ["flows=34", "flows=19"],
        "verdicts": {"mred": "better"},
        "verdicts_held_out": {"mred": "better"},
        "winners": ["mred", "mred"],
        "as_good": [["red"], []],
        "lines": ["Budget: 24 trials."],
        "disciplines": [discipline("red", 0.12, 0.1), discipline("mred", 0.11, 0.09)],
    }


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("better", "The idea is better than a tuned RED."),
        ("worse", "A tuned RED is better than the idea."),
        ("undecided", "A tuned RED is as good as the idea"),
        ("tie", ": a tie. Best of all tuned disciplines"),
    ],
)
def test_the_sentence_states_the_verdict_plainly(verdict: str, words: str) -> None:
    record = one_record()
    record["verdicts"]["mred"] = verdict
    assert words in sentence(record)


def test_the_sentence_has_the_intervals_and_the_broken_bounds_of_the_record() -> None:
    record = one_record()
    entry = next(one for one in record["disciplines"] if one["aqm"] == "mred")
    entry["compared"][BOTH_TUNED]["everywhere"]["difference"] = {"mean": 0.0123, "low": 0.0113, "high": 0.0133}
    for bound in entry["searches"][0]["tuned"]["everywhere"]["bounds"]:
        bound["verdict"] = "holds"
    entry["searches"][0]["tuned"]["everywhere"]["bounds"][0]["verdict"] = "fails"
    broken = record["keep"][0]
    assert f" RED (+1.23 ± 0.10 %; MRED's curve breaks {broken})" in sentence(record).partition("Both tuned")[2]
    record["winners"] = ["red", "pie"]
    assert "a tie of red and pie" in sentence(record)
    assert [*table(record)["discipline"]] == [one["aqm"] for one in record["disciplines"]]


def test_the_page_of_a_paper_shows_the_answer_and_folds_the_table(tmp_path: Path) -> None:
    record = one_record()
    page = Page("A paper", "Its idea.", folder=tmp_path)
    page.section("Against a tuned RED")
    add_fights(page, [record])
    text = page.write(tmp_path, pictures=False, name="page.html").read_text()
    assert "All disciplines, default and tuned" in text
    assert "MRED&#39;s curve" in text or "MRED's curve" in text


def test_every_paper_describes_a_comparison_with_red_first() -> None:
    for key in PAPERS:
        for fight in fights_of(PaperFiles(key)):
            assert fight.aqm[0] == "red"
            assert {fight.idea, "codel", "pie"} <= set(fight.aqm)
            assert goal_while(fight.goal)
        assert fights_of(PaperFiles(key)), key


def test_the_committed_page_is_that_of_the_records() -> None:
    text, is_whole = fair_fight.report()
    committed = fair_fight.REPORT.read_text()
    assert text.strip() in committed
    assert ("**Not everything here is shown.**" in committed) != is_whole
