"""The frontier of the RED family: the test of a place, the choice of members, and the command as a whole."""

import json

import numpy as np
import pytest

import aqmlab
from aqmlab.results.quantities import quantity
from aqmlab.statistics import Interval
from aqmlab.tuning.frontier import MEMBERS, NEAREST, family, nearest
from aqmlab.tuning.frontier_outcome import Settings
from aqmlab.tuning.frontier_places import BEHIND, BEYOND, UNDECIDED, Placed, p_better, placed_against
from aqmlab.tuning.goals import Goal

GOALS = (Goal(quantity("mean_delay_ms"), 1), Goal(quantity("goodput_mbps"), -1))
NOISE = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])


def placed(delay, goodput, noise=NOISE):
    per_seed = (delay + noise, goodput + noise[::-1])
    intervals = tuple(Interval(float(own.mean()), 0.0, len(own), 0.0, 0.0) for own in per_seed)
    return Placed("red", "red", {"aqm": "red"}, intervals, per_seed)


MEMBERS_AT = [placed(5, 9), placed(10, 9.5)]


@pytest.mark.parametrize(
    ("delay", "goodput", "place", "by"),
    [
        (12, 9.4, BEHIND, 2),
        (6, 8.9, BEHIND, 1),
        (5, 9.5, BEYOND, 0),
        (7, 9.3, BEYOND, 0),  # between two members, worse than each in one goal
        (10.05, 9.5, UNDECIDED, 0),
        (9.95, 9.5, UNDECIDED, 0),  # better, but by less than the margin of 1 %
    ],
)
def test_a_place_against_two_members(delay, goodput, place, by):
    found = placed_against(placed(delay, goodput), MEMBERS_AT, GOALS)
    assert (found.place, found.by) == (place, by)
    assert 0 <= found.p <= 1


def test_settings_are_neither_beyond_nor_behind_themselves():
    assert placed_against(MEMBERS_AT[0], MEMBERS_AT, GOALS).place == UNDECIDED


def test_the_p_of_better_at_hand_computed_points():
    """Differences 0, 1, 2: mean 1, s.d. 1, t = sqrt(3); Student's two-sided p with 2 degrees of freedom is 0.2254."""
    own, other = np.array([10.0, 9.0, 8.0]), np.full(3, 10.0)
    assert p_better(GOALS[0], own, other) == pytest.approx(0.11270, abs=1e-5)
    assert p_better(GOALS[1], own, other) == pytest.approx(1 - 0.11270, abs=1e-5)
    assert p_better(GOALS[0], own, other, margin=0.1) == 0.5
    assert p_better(GOALS[0], other, other) == 1.0


def test_noise_alone_is_hardly_ever_placed():
    generator = np.random.default_rng(1)
    decided = 0
    for _ in range(400):
        members = [_drawn(generator), _drawn(generator)]
        decided += placed_against(_drawn(generator), members, GOALS).place != UNDECIDED
    assert decided <= 0.05 * 400


def _drawn(generator):
    per_seed = (10 + generator.normal(size=10), 9 + generator.normal(size=10))
    intervals = tuple(Interval(float(own.mean()), 0.0, len(own), 0.0, 0.0) for own in per_seed)
    return Placed("red", "red", {}, intervals, per_seed)


def test_the_nearest_lack_least():
    def at(delay, goodput):
        return Settings("red", "", {"max_th": f"{delay}p"}, (float(delay), goodput))

    tried = [at(1, 5.0), at(4, 8.0), at(9, 9.9), at(20, 10.0), at(30, 9.0)]
    # Of the spans 19 ms and 5 Mb/s: 9 ms lacks nothing, 4 ms lacks 1.8 / 5 in goodput, 20 ms 10.5 / 19 in delay.
    assert [one.goals[0] for one in nearest(at(9.5, 9.8), tried, GOALS, 3)] == [9.0, 4.0, 20.0]


def test_the_family_has_all_words():
    words = dict(text.split("=") for text in family())
    assert words["curve"].split(",") == ["linear", "gentle", "mred", "exred", "nlred", "double-slope", "points"]
    assert "pc-red" in words["victim"]


SMALL = {"run.duration": "6s", "run.warmup": "2s"}
FEW = {"trials": 12, "seeds": 1, "fresh": 3, "overrides": SMALL, "progress": False}


def test_the_same_on_one_process_and_on_two(tmp_path):
    one = aqmlab.frontier("example:dumbbell-red", aqm=["codel", "red"], workers=1, out=tmp_path / "one", **FEW)
    two = aqmlab.frontier("example:dumbbell-red", aqm=["codel", "red"], workers=2, **FEW)
    assert one.data() == two.data()
    record = json.loads((one.folder / "frontier.json").read_text())
    assert record["goals"] == ["minimize mean_delay_ms", "maximize goodput_mbps"]
    assert len(record["tried"]) >= 12
    assert len(one.members) <= MEMBERS + 2 * NEAREST
    delays = [member.goals[0].mean for member in one.members]
    assert len(delays) >= 2
    assert [one.aqm for one in one.others] == ["codel", "red"]
    # The scenario's own settings are of the family: nothing is beyond itself.
    assert one.others[1].place != BEYOND
    assert "the frontier of the RED family" in one.answer
    assert one.folder.parent == tmp_path / "one"
    assert (one.folder / "frontier.svg").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--minimize", "loss"), "give two goals"),
        (("--minimize", "los", "--maximize", "goodput_mbps"), "los"),
        (("--aqm", "cdel"), 'cdel"'),
        (("--aqm", ","), "a name is empty"),
        (("--queue", "x"), 'unknown queue "x"'),
        (("--quantile", "2"), "quantile: 2 is out of range"),
    ],
)
def test_bad_input_is_one_line(shell, words, message):
    answer = shell("frontier", "small.toml", *words)
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.strip().splitlines()) == 1
