"""A free monotone curve in the numbers of a search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aqmlab
from aqmlab.scenario.registry import discipline
from aqmlab.scenario.toml_text import read_toml
from aqmlab.statistics import interval
from aqmlab.tuning.free_curve import END, HEIGHTS, is_free_curve, numbers_of_points, points_of
from aqmlab.tuning.measurements import Place
from aqmlab.tuning.problem import numbers_at, problem_of
from aqmlab.tuning.space import LINEAR, space_of
from compare_frontiers import REPORT
from live_pairs import CELLS, LIVE, Runs, outcome, settings_of

SHARES = st.floats(0, 1)
CURVES = st.tuples(SHARES, SHARES, SHARES, st.floats(1, 3))
RED = {"aqm": "red", "limit": "100p"}


def numbers(shares):
    return dict(zip((*HEIGHTS, END), shares, strict=True))


@given(CURVES, st.integers(1, 50), st.integers(1, 50), st.floats(0.005, 1))
def test_the_curve_never_falls(shares, min_th, width, max_p):
    points = np.array(points_of(min_th, min_th + width, max_p, numbers(shares)))
    assert (np.diff(points, axis=0) >= 0).all()
    assert points[0].tolist() == [min_th, 0]
    assert points[-1, 1] == 1
    assert points[:, 1].max() <= 1


@given(st.tuples(*[st.floats(0.01, 1)] * 3, st.floats(1, 3)), st.integers(1, 50), st.integers(4, 50))
def test_numbers_of_a_curve_are_its_own(shares, min_th, width):
    points = points_of(min_th, min_th + width, 0.5, numbers(shares))
    assert is_free_curve(points)
    found = numbers_of_points(points)
    assert [found[key] for key in HEIGHTS] == pytest.approx(list(shares[:3]), rel=2e-3)
    assert (found["min_th"], found["max_th"], found["max_p"]) == (min_th, min_th + width, 0.5)
    assert found[END] == pytest.approx(shares[3], rel=2e-3)


@pytest.mark.parametrize(
    "points",
    [
        None,
        [[5, 0.0], [30, 1.0]],
        [[4, 0.0], [8, 0.1], [12, 0.2], [20, 0.3], [24, 0.4], [24, 1.0]],  # uneven places
        [[4, 0.1], [8, 0.1], [12, 0.2], [16, 0.3], [20, 0.4], [24, 1.0]],  # begins above 0
        [[4, 0.0], [8, 0.1], [12, 0.2], [16, 0.3], [20, 0.4], [24, 0.9]],  # ends below 1
    ],
)
def test_other_points_are_no_free_curve(points):
    assert not is_free_curve(points)


def test_the_linear_curve_makes_the_same_queue_as_its_points():
    """The same decisions, packet by packet: the run of both is the same."""
    table = '{{ aqm = "red", limit = "100p", w_q = 0.002, {} }}'
    plain = table.format('min_th = "5p", max_th = "15p", max_p = 0.1')
    through = table.format(f'curve = "points", points = {points_of(5, 15, 0.1, LINEAR)}')
    small = {"run.duration": "8s", "run.warmup": "2s"}
    runs = [
        aqmlab.run("example:dumbbell-red", seeds=2, overrides={"queue.bottleneck": own, **small}, progress=False)
        for own in (plain, through)
    ]
    assert runs[0].metrics()["loss"].tolist() == runs[1].metrics()["loss"].tolist()
    assert runs[0].metrics()["loss"].min() > 0


def test_the_search_turns_numbers_into_points_and_back():
    space = space_of(discipline("red"), RED, limit=100, slowest=0.01, vary=["curve=linear,points"])
    assert {one.key for one in space.dimensions} >= {*HEIGHTS, END, "curve", "max_th", "max_p"}
    own = {"max_th": 40, "min_th / max_th": 0.25, "max_p": 0.2, "w_q": 0.01, **LINEAR}
    linear = space.body({**own, "curve": "linear"})
    assert (linear["min_th"], linear["max_th"], linear["max_p"]) == ("10p", "40p", 0.2)
    assert not {"points", *HEIGHTS, END} & set(linear)
    assert space.body({**own, "curve": "points"}) == linear
    assert space.body({**own, "curve": "points", END: 2.0}) == {**linear, "curve": "gentle"}
    through = space.body({**own, "curve": "points", END: 2.5})
    assert through["points"] == [[10.0, 0.0], [17.5, 0.05], [25.0, 0.1], [32.5, 0.15], [40.0, 0.2], [100.0, 1.0]]
    assert not {"min_th", "max_th", "max_p"} & set(through)
    place = Place(aqmlab.Scenario.load("example:dumbbell-red"), "bottleneck", "bottleneck")
    back = numbers_at(place, space, through)
    assert back is not None
    assert space.body({**back, "curve": "points"}) == through
    gentle = numbers_at(place, space, {**linear, "curve": "gentle"})
    assert gentle is not None
    assert gentle[END] == 2.0


def test_a_profile_of_the_user_is_only_compared_with():
    plan = aqmlab.Scenario.load(
        "example:dumbbell-red",
        overrides=[("queue.bottleneck", '{ aqm = "red", curve = "points", points = [[5, 0.0], [30, 1.0]] }')],
    )
    problem = problem_of(plan, "bottleneck", aqm=None, vary=["curve=points"], over=["flows=5:20"])
    assert numbers_at(problem.place, problem.space, plan.queue_table("bottleneck")) is None
    assert "points" not in problem.space.base


@pytest.mark.parametrize(
    ("aqm", "base", "vary", "message"),
    [
        ("rio", {"aqm": "rio"}, "curve=points", "rio has thresholds for each of its classes, so that no curve is free"),
        ("red", {**RED, "curve": "points", "points": [[5, 0.0], [30, 1.0]]}, "max_th=5:50", "max_th has no effect"),
        ("red", RED, "curve=points,points", "vary curve: a word is given twice"),
    ],
)
def test_ranges_without_meaning_are_errors(aqm, base, vary, message):
    with pytest.raises(aqmlab.InputError, match=message):
        space_of(discipline(aqm), base, limit=100, slowest=0.01, vary=[vary])


def test_another_curve_replaces_points_of_the_file():
    own = {**RED, "curve": "points", "points": [[5, 0.0], [30, 1.0]]}
    space = space_of(discipline("red"), own, limit=100, slowest=0.01, vary=["curve=gentle"])
    assert space.base == RED
    assert {"max_th", "max_p", "w_q"} <= {one.key for one in space.dimensions}


@pytest.mark.parametrize(
    ("real", "simulated", "beyond", "words"),
    [
        (9, 8, 1, "same sign, same size"),
        (-9, -5, -4, "same sign, other size"),
        (9, -8, 17, "opposite sign"),
        (1, 8, -7, "undecided real, other size"),
        (9, 1, 8, "undecided simulated, other size"),
    ],
)
def test_differences_of_both_worlds_in_words(real, simulated, beyond, words):
    """Each interval reaches 2.48 to both sides."""
    assert outcome(*(interval([mean - 1, mean, mean + 1]) for mean in (real, simulated, beyond))) == words


def test_live_pairs_have_the_settings_of_the_page(tmp_path):
    settings = settings_of((REPORT / "free-curve.md").read_text())
    for cell in CELLS:
        red, free = settings[cell.title, cell.goal]
        assert (read_toml(f"x = {red}")["x"]["curve"], read_toml(f"x = {free}")["x"]["curve"]) == ("linear", "points")
        file = tmp_path / f"{cell.key}.toml"
        file.write_text(cell.scenario())
        plan = Runs(LIVE, cell, free, file).scenario()
        assert plan.link("bottleneck").parameters["curve"] == "points"
