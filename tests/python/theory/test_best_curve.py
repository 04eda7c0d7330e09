"""Which curve is best: utilities by hand, the hull against every price, and the bound that no discipline passes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab.papers.exred.best_curve_charts import best_chart, equal_delay_chart, power_chart
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.best_curve import (
    PRICES,
    SHAPES,
    Outcome,
    best_map,
    by_load,
    candidates,
    describe,
    outcome,
    outcomes_of,
    shares,
    switches,
    tied_sets,
    winner,
)
from aqmlab.theory.queueing.frontier import SLIGHT, best_settings, excess_loss, least_loss, scaled, threshold
from aqmlab.theory.queueing.frontier import settings as grid
from aqmlab.theory.queueing.mm1k import MM1K

LOADS = (0.5, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return outcomes_of(candidates(), LOADS, capacity=100)


def one(name: str, throughput: float, delay: float) -> Outcome:
    return Outcome(name, 1.0, throughput, delay, 1 - throughput, 1.0)


def test_by_hand() -> None:
    pair = [one("quick", 0.90, 10.0), one("full", 0.95, 20.0)]
    assert winner(pair, 0.004).best == "full"
    assert winner(pair, 0.004).lead == pytest.approx(0.01)
    assert winner(pair, 0.006).best == "quick"
    assert winner(pair, 0.00495).tied == ("quick", "full")
    assert [(round(price, 12), name) for price, name in switches(pair)] == [(0.0, "full"), (0.005, "quick")]
    assert pair[0].power == pytest.approx(0.09)


def test_the_hull_names_the_winner_at_every_price(outcomes: list[Outcome]) -> None:
    for own in by_load(outcomes).values():
        corners = switches(own)
        assert [price for price, _ in corners] == sorted(price for price, _ in corners)
        for price in (0.0, *PRICES, 10.0):
            expected = [name for start, name in corners if start <= price][-1]
            found = {o.name: o.utility(price) for o in own}
            assert found[expected] == pytest.approx(max(found.values()), abs=1e-12)


def test_free_delay_is_drop_tails_and_dear_delay_the_shortest_queues(outcomes: list[Outcome]) -> None:
    for own in by_load(outcomes).values():
        assert winner(own, 0.0, tie=1e-15).best == "drop-tail"
        assert winner(own, 1e6).best == min(own, key=lambda o: o.delay).name


def test_equal_curves_do_not_keep_the_hull_from_being_found() -> None:
    three = [one("a", 0.9, 10.0), one("b", 0.9, 10.0), one("full", 0.95, 20.0)]
    assert [name for _, name in switches(three)] == ["full", "a"]


def test_shares_and_sentences_are_those_of_the_map(outcomes: list[Outcome]) -> None:
    found = best_map(outcomes)
    assert len(found) == len(LOADS) * len(PRICES)
    assert sum(shares(found).values()) + sum(tied_sets(found).values()) == pytest.approx(1.0)
    sentences = " ".join(describe(found))
    assert "Nowhere alone: gentle RED, MRED, ExRED." in sentences
    assert f"RED and NLRED lead together, tied, on {tied_sets(found)['RED', 'NLRED']:.0%}." in sentences
    # With a tie as wide as the link itself no curve leads.
    assert not any(w.alone for w in best_map(outcomes, tie=1e9))


def test_averaging_asks_the_other_chain() -> None:
    drop_tail, red = candidates()[:2]
    assert outcome(drop_tail, load=1.2, capacity=100, w_q=0.02) == outcome(drop_tail, load=1.2, capacity=100)
    averaged = outcome(red, load=1.2, capacity=100, w_q=0.02)
    alone = outcome(red, load=1.2, capacity=100)
    assert averaged.mean_run > 1 + 1.2 > alone.mean_run
    assert averaged.throughput == pytest.approx(alone.throughput, rel=0.01)


def test_the_threshold_is_drop_tail_with_a_shorter_buffer() -> None:
    for load in (0.7, 1.0, 1.3):
        for k in (1, 5, 30, 100):
            queue = MM1K(load=load, capacity=k)
            found = outcome(threshold(float(k)), load=load, capacity=100)
            assert found.throughput == pytest.approx(queue.throughput, rel=1e-12)
            assert found.delay == pytest.approx(queue.mean_number / queue.throughput, rel=1e-12)
            bound = least_loss(found.delay, load=load, capacity=100)
            assert bound.p_drop == pytest.approx(found.p_drop, rel=1e-9)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(load=st.floats(0.3, 3.0), delay=st.floats(0.0, 1.0))
def test_the_bound_has_the_delay_that_is_asked_for(load: float, delay: float) -> None:
    most = outcome(DropCurve.none(limit=40), load=load, capacity=40).delay
    asked = 1 + delay * (most - 1)
    assert least_loss(asked, load=load, capacity=40).delay == pytest.approx(asked, rel=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(load=st.floats(0.3, 3.0), drops=st.lists(st.floats(0.0, 1.0), min_size=20, max_size=20))
def test_no_curve_loses_less_than_the_bound(load: float, drops: list[float]) -> None:
    p = np.array([0.5 * drops[0], *drops[1:], 1.0])
    curve = DropCurve("any", lambda x: p[x.astype(int)], np.inf, np.inf)
    assert excess_loss(outcome(curve, load=load, capacity=20), capacity=20) > -1e-12


def test_a_delay_that_cannot_be_had_gets_one_line() -> None:
    with pytest.raises(
        DomainError, match=r"delay: 0\.5 is not possible \(allowed: 1 to 50\.5 service times at load 1\)"
    ):
        least_loss(0.5, load=1.0, capacity=100)
    with pytest.raises(DomainError, match="price: -1 is not possible"):
        winner([one("a", 1.0, 1.0)], -1)


@pytest.mark.slow
def test_grids_have_only_allowed_values() -> None:
    for shape in SHAPES:
        if shape == "drop-tail":
            continue
        found = list(grid(shape, limit=100))
        assert len(found) > 100
        for setting in found[::25]:
            assert np.all(np.diff(setting.curve(limit=100)(np.linspace(0, 100, 401))) >= -1e-12)
        same = [s for s in scaled(shape, min_th=10, max_th=30, max_p=0.1, limit=100) if s.max_th == 30]
        assert len(same) == 1


def test_best_settings_of_a_shape() -> None:
    found = best_settings(shape="RED", load=1.0, capacity=100, delays=(10.0, 15.0, 1000.0))
    assert [best["near"] for best in found["least_loss"]] == [10.0, 15.0]
    for least, shortest in zip(found["least_loss"], found["shortest_runs"], strict=True):
        # RED with a max_p near 0 is drop-tail with a buffer of max_th.
        assert -1e-12 < least["excess"] < 1e-5
        assert shortest["excess"] <= SLIGHT
        assert shortest["mean_run"] <= least["mean_run"] <= 2.0
        assert abs(least["delay"] / least["near"] - 1) <= 0.05


def test_charts(outcomes: list[Outcome]) -> None:
    winners = best_map(outcomes)
    chart = best_chart(winners, key="best", title="Best")
    assert chart.heat is not None
    assert chart.heat.values.shape == (len(PRICES), len(LOADS))
    assert (chart.heat.values >= 1).all()
    assert [series.name for series in chart.series] == ["drop-tail alone", "RED alone", "NLRED alone", "RED = NLRED"]
    power = power_chart(outcomes, [o for o in outcomes if o.load > 1], key="power", title="Power")
    assert len(power.series) == 11
    lines = {"RED": [(1.0, 0.1), (2.0, 0.2)]}
    equal = equal_delay_chart(lines, {}, key="k", title="t", y_label="y", caption="c")
    assert [series.name for series in equal.series] == ["RED, scaled"]
