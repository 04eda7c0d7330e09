"""Comparison of disciplines at their defaults and tuned: budgets, seeds, held-out conditions, two searches."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.results.quantities import interval_of
from aqmlab.statistics import Verdict
from aqmlab.tuning.finding import seeds_of
from aqmlab.tuning.goals import goal_while
from aqmlab.tuning.ranges import usual_ranges
from aqmlab.tuning.tuned_comparison import DEFAULT, TABLE
from aqmlab.tuning.tuned_outcome import OnFresh
from aqmlab.tuning.verification import CHOICE_SEEDS, FRESH_SEEDS, Confirmed
from conftest import DUMBBELL

pytestmark = pytest.mark.slow

RANDOM = DUMBBELL.replace('start = "0s"', 'start = { uniform = ["0s", "1s"] }')
GOAL = "min delay.p99 while utilization>=0.5"
ASKED = {"aqm": ["red", "codel"], "goal": GOAL, "over": ["flows=1:4"], "progress": False}
FEW = {"trials": 5, "seeds": 1, "fresh": 4, "search_seed": 2}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tuned")


@pytest.fixture(scope="module")
def plan() -> aqmlab.Scenario:
    return aqmlab.Scenario.from_text(RANDOM, filename="small.toml")


@pytest.fixture(scope="module")
def found(plan: aqmlab.Scenario, store: Path) -> aqmlab.TunedComparison:
    return aqmlab.compare_tuned(plan, **ASKED, **FEW, out=store)


def test_each_discipline_has_the_same_budget_and_its_default_among_the_trials(found: aqmlab.TunedComparison) -> None:
    for entry in found.entries:
        assert [one.seed for one in entry.searches] == [1, 2]
        for one in entry.searches:
            # The default is also tried as it is, if the ranges move it.
            assert len(one.trials) - (one.trials[-1].name == DEFAULT) == FEW["trials"]
            assert entry.default.everywhere.body["aqm"] == entry.aqm
    (red, _) = found.entries
    assert red.searches[0].trials[0].name == f"{DEFAULT}, w_q moved"
    assert "max_th" in red.words_searched
    assert "target 0.5ms to 50ms" in found.entries[1].words_searched


def test_seeds_of_two_searches_and_of_the_comparison_are_apart() -> None:
    first, second = seeds_of(40, 10_000, 10_000), seeds_of(40, 10_000, 10_000, 90)
    assert not set(first.trial_seeds()) & set(second.trial_seeds())
    assert max(second.trial_seeds()) < CHOICE_SEEDS <= min(first.choice_seeds())
    assert max(second.choice_seeds()) < FRESH_SEEDS
    with pytest.raises(InputError, match="allowed: 1 to 90"):
        seeds_of(1, 1, 2, 91)


def test_held_out_conditions_are_part_of_the_comparison_and_judged_alone(found: aqmlab.TunedComparison) -> None:
    assert not set(found.points) & set(found.held_out)
    for entry in found.entries:
        assert entry.default.everywhere.goal.n == entry.default.held_out.goal.n == FEW["fresh"]
        assert entry.default.held_out.point in found.held_out
        assert (entry.default.everywhere.per_seed >= entry.default.held_out.per_seed).all()
    assert set(found.verdicts(held_out=True)) == {"codel"}
    assert found.held_out_line().startswith("At the held-out conditions alone: ")


def test_the_same_call_makes_no_run_twice(found: aqmlab.TunedComparison, plan: aqmlab.Scenario, store: Path) -> None:
    index = (store / "index.sqlite").stat().st_mtime_ns
    again = aqmlab.compare_tuned(plan, **ASKED, **FEW, out=store, workers=1)
    assert again.data() == found.data()
    assert (store / "index.sqlite").stat().st_mtime_ns == index
    assert found.folder is not None
    rows = list(csv.DictReader((found.folder / TABLE).read_text().splitlines()))
    assert [row["settings"] for row in rows] == ["default", "tuned", "tuned"] * 2
    assert aqmlab.compare_tuned(plan, **{**ASKED, "baseline": "codel"}, **FEW, out=store).folder != found.folder


def goals(name: str, mean: float, verdict: Verdict = Verdict.HOLDS) -> OnFresh:
    """Return settings with this goal in ms, give or take 1 ms, and this verdict on the bound."""
    values = mean + np.array([-1.0, 0.3, 1.0, -0.3])
    one = Confirmed(name, {"aqm": name}, interval_of("delay_p99_ms", values)[0], values, "flows=1", ())
    object.__setattr__(one, "kept", (_Kept(verdict),))
    return OnFresh(one, one)


class _Kept:
    """A bound with a verdict, for settings that were not run."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.bound = goal_while(GOAL)[1][0]
        self.per_seed = np.array([0.9, 0.91, 0.92, 0.93])


def made(found: aqmlab.TunedComparison, goals_ms: dict[str, tuple[OnFresh, OnFresh]]) -> aqmlab.TunedComparison:
    """Return a comparison whose disciplines have these settings in both searches."""
    entries = []
    for entry, (name, pair) in zip(found.entries, goals_ms.items(), strict=True):
        searches = [replace(one, settings=own) for one, own in zip(entry.searches, pair, strict=True)]
        entries.append(replace(entry, aqm=name, searches=searches))
    return replace(found, entries=entries)


@pytest.mark.parametrize(
    ("second", "verdict", "words"),
    [
        ((10.0, 30.0), "worse", "codel (+20.0"),
        ((30.0, 10.0), "tie", "tied with red, as two searches disagree"),
    ],
)
def test_searches_that_disagree_are_a_tie(
    found: aqmlab.TunedComparison, second: tuple[float, float], verdict: str, words: str
) -> None:
    noise = {"red": np.array([0.0, 0.1, 0.0, -0.1]), "codel": np.array([0.0, 0.0, 0.0, 0.0])}
    pairs = {}
    for name, first, other in (("red", 10.0, second[0]), ("codel", 30.0, second[1])):
        both = []
        for mean in (first, other):
            own = goals(name, mean)
            object.__setattr__(own.everywhere, "per_seed", own.everywhere.per_seed + noise[name])
            both.append(own)
        pairs[name] = (both[0], both[1])
    one = made(found, pairs)
    assert one.verdicts() == {"codel": verdict}
    assert words in one.answer()
    tied = one.winner(0)[0] != one.winner(1)[0]
    assert tied == (verdict == "tie")
    assert ("red and codel are tied" in one.best_line()) == tied


def test_a_discipline_that_breaks_the_bound_is_worse_and_named(found: aqmlab.TunedComparison) -> None:
    broken = goals("codel", 1.0, Verdict.FAILS)
    one = made(found, {"red": (goals("red", 10.0),) * 2, "codel": (broken, broken)})
    assert one.verdicts() == {"codel": "worse"}
    assert "; codel breaks utilization>=0.5) is worse than red" in one.answer()
    assert one.winner()[0] == "red"


def test_conditions_around_the_scenario(plan: aqmlab.Scenario) -> None:
    assert usual_ranges(plan) == ["flows=1:6", "rtt=14ms:56ms"]
    assert usual_ranges(plan.with_overrides({"flow.tcp.count": "1"}))[0] == "flows=1:2"


def test_command(found: aqmlab.TunedComparison, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (store / "small.toml").write_text(RANDOM)
    words = ["compare", str(store / "small.toml"), "--aqm", "red,codel", "--tuned", GOAL, "--over", "flows=1:4"]
    words += ["--trials", "5", "--trial-seeds", "1", "--seeds", "4", "--search-seed", "2", "--out", str(store)]
    assert main([*words, "--report", str(store / "page.html")]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert " ".join(lines).startswith(found.answer())
    assert max(map(len, lines)) <= 80 or str(store) in max(lines, key=len)
    rule = next(index for index, line in enumerate(lines) if set(line) == {"─"})
    assert [line.split()[0] for line in lines[rule + 1 : rule + 3]] == ["red", "codel"]
    for text in (
        "5 trials of each discipline",
        "search seeds 1 and 2",
        "at these and at 1 held-out condition (",
        "Searched: red max_th",
    ):
        assert text in " ".join(lines), text
    assert "Each discipline at its best" in (store / "page.html").read_text()
    assert main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verdicts"] == found.verdicts()
    assert data["budget"] == {"trials": 5, "trial": 1, "choice": 8, "fresh": 4}
    folder = Path(data["folder"])
    assert main(["results", "ls", str(store), "--json"]) == 0
    listed = {one["folder"]: one for one in json.loads(capsys.readouterr().out)["folders"]}[folder.name]
    assert (listed["kind"], listed["seeds"]) == ("tuned comparison", 4)
    assert listed["about"] == f"red, codel, {data['goal']}"
    assert main(["report", str(folder)]) == 2
    hint = "(the page of 'compare --tuned': the same command with --report PAGE.html)"
    assert capsys.readouterr().err == f"aqmlab: {folder}: holds no finished run {hint}\n"
    assert set(data["disciplines"][1]["compared"]) >= {"default against the tuned baseline"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tuned", "delay"], "min METRIC or max METRIC while BOUND"),
        (["--tuned", "min dela"], "name one of them"),
        (["--tuned", "min nothing"], "unknown metric"),
        (["--tuned", "min loss while loss"], "METRIC>=VALUE"),
        (["--tuned", "min loss while loss@down<=0.1"], "leave out @down"),
        (
            ["--tuned", "min loss", "--aqm", "red,adaptive-rio"],
            "a parameter to search, for example --vary limit=20:200",
        ),
        (["--tuned", "min loss", "--aqm", "red"], "at least two disciplines"),
        (["--tuned", "min loss", "--until", "ci(loss)=1%"], "--tuned and --until: cannot be combined"),
        (["--tuned", "min loss", "--search-seed", "1"], "is that of the first search"),
        (["--tuned", "min loss", "--baseline", "pie"], "unknown compared discipline"),
        (["--tuned", "min loss", "--vary", "tpsp=1:2"], "none of red, codel has the parameter tpsp"),
        (["--tuned", "min loss", "--vary", "pie:target=1ms:2ms"], "unknown discipline"),
        (["--tuned", "min loss", "--seeds", "1,2"], "number of fresh seeds"),
        (["--tuned", "min loss", "--queue", "a,b"], "unknown queue"),
        (["--tuned", "min loss", "--over", "flows=1:2"], "no condition is left to hold out"),
        (["--tuned", "min loss", "--over", "flows=1.5:7"], "flows are a whole number, from 1 on"),
        (["--tuned", "min loss", "--over", "run.seeds=1:5"], "seeds repeat a condition"),
        (
            ["--tuned", "min loss", "--seeds", "1"],
            "fresh seeds: 1 is out of range (allowed: 2 to 10,000; one has no inter",
        ),
        (["--tuned", "min loss", "--vary", "red:limit=9:30", "--vary", "limit=9:30"], "limit is given twice"),
        (["--tuned", "min loss", "--vary", "codel:ecn=0:1"], 'unknown word "0:1" (allowed: false, true)'),
        (["--tuned", "min loss", "--vary", "codel:interval=0ms:1s"], "0s is out of range (allowed: above 0"),
        (["--tuned", "min loss", "--vary", "red:max_th=2:1e400"], '"1e400" is not a number'),
        (["--tuned", "min loss", "--vary", "class.out.max_th=2:30"], "write it as NAME:class.out.max_th=2:30"),
        (["--tuned", "min loss", "--aqm", "rio,red", "--vary", "rio:max_th=2:30"], "max_th has no effect in this rio"),
        (["--over", "flows=1:2"], "--over: needs --tuned"),
        (["--search-seed", "2"], "--search-seed: needs --tuned"),
        (["--baseline", "pie"], "unknown compared discipline"),
    ],
)
def test_bad_input_is_an_error_of_one_line(
    store: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    (store / "small.toml").write_text(RANDOM)
    both = [] if "--aqm" in words else ["--aqm", "red,codel"]
    both += [] if "--over" in words or "--tuned" not in words else ["--over", "flows=1:4"]
    assert main(["compare", str(store / "small.toml"), *both, *words, "--out", str(store / "none")]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert message in error


def test_a_default_outside_of_the_ranges_is_a_candidate_as_it_is(tmp_path) -> None:
    """A trial moved into the range 40p to 45p is worse, so that the default itself is chosen."""
    found = aqmlab.compare_tuned(
        Path(__file__).parent / "small.toml",
        aqm=["red", "codel"],
        goal="min mean_queue",
        vary=["red:max_th=40:45"],
        over=["flows=1:4"],
        trials=1,
        seeds=1,
        fresh=3,
        progress=False,
    )
    red = found.entry("red")
    assert red.settings(0).everywhere.body["max_th"] == "15p"
    assert red.settings(0).everywhere.goal == red.default.everywhere.goal
    assert "Best tuned: codel" in found.best_line() or "not shown to be better" in found.best_line()
