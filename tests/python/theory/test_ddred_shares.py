"""DDRED's shares by distance: hand-computed points, boundaries, a queue drawn at random, and a scenario."""

from __future__ import annotations

import numpy as np
import pytest

from aqmlab.scenario.file import Scenario
from aqmlab.theory.domain import DomainError
from aqmlab.theory.scenario.ddred_shares import distance_at, distances_of, key_at
from aqmlab.theory.scenario.model import model_of
from aqmlab.theory.scenario.theory import theory_of
from aqmlab.theory.shares.ddred import DdredFlows, drop_shares, losses
from aqmlab.theory.shares.response import windows_at

PAIR = {"queue.router.aqm": "ddred"}


def test_shares_of_three_distances_by_hand():
    """T = 1, 0.8, 0.5 and q = 3: 1 - 0.512, 0.512 - 0.125, 0.125."""
    assert drop_shares([0.2, 0.3, 0.5], 3).tolist() == pytest.approx([0.488, 0.387, 0.125])


def test_shares_at_the_boundaries():
    assert drop_shares([0.2, 0.8], 1).tolist() == pytest.approx([0.2, 0.8]), "one candidate: as RED"
    assert drop_shares([1.0], 7).tolist() == [1.0]
    assert drop_shares([0.0, 1.0], 7).tolist() == pytest.approx([0.0, 1.0]), "no near packet"
    assert drop_shares([0.2, 0.8], 1000).tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(("shares", "queue"), [([0.5, 0.6], 2), ([-0.1, 1.1], 2), ([0.5, 0.5], 0.5)])
def test_outside_the_domain_is_an_error(shares, queue):
    with pytest.raises(DomainError):
        drop_shares(shares, queue)


def test_shares_are_those_of_queues_drawn_at_random():
    rng = np.random.default_rng(3)
    least = rng.choice(3, size=(200_000, 5), p=[0.1, 0.3, 0.6]).min(axis=1)
    drawn = np.bincount(least, minlength=3) / len(least)
    assert drop_shares([0.1, 0.3, 0.6], 5).tolist() == pytest.approx(drawn.tolist(), abs=0.005)


def test_losses_add_up_to_the_drops_and_classes_of_a_distance_lose_alike():
    sent, keys = np.array([10.0, 20.0, 30.0]), np.array([1.0, 2.0, 2.0])
    found = losses(0.05, 4, sent, keys)
    assert float(sent @ found) == pytest.approx(0.05 * 60)
    assert found[1] == found[2] < found[0]
    absent = losses(0.05, 4, np.array([0.0, 30.0]), np.array([1.0, 2.0]))
    assert absent.tolist() == pytest.approx([0.2, 0.05]), "the first near packet is the victim of each of 4 picks"


def test_flows_of_one_distance_have_the_windows_of_red():
    answer = DdredFlows("misra", np.array([3.0, 5.0]), np.array([2.0, 2.0]))
    windows = answer.windows(0.02, 8.0, np.array([0.05, 0.1]))
    assert windows.tolist() == pytest.approx(windows_at("misra", np.array([0.02, 0.02])).tolist(), rel=1e-6)


def test_a_far_load_takes_the_drops_of_a_far_flow():
    alone = DdredFlows("misra", np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    crowd = DdredFlows("misra", np.array([1.0, 1.0]), np.array([1.0, 2.0]), others={1.0: 500.0})
    windows, rtts = np.array([10.0, 10.0]), np.array([0.02, 0.02])
    assert crowd.losses(0.02, 5.0, windows, rtts)[1] < alone.losses(0.02, 5.0, windows, rtts)[1]
    assert crowd.losses(0.02, 5.0, windows, rtts)[0] < alone.losses(0.02, 5.0, windows, rtts)[0]


def test_distances_of_the_pair():
    plan = Scenario.load("paper:ddred/pair.toml", overrides=PAIR)
    link = plan.link("bottleneck")
    far, near = plan.flows
    assert (distance_at(far, link), distance_at(near, link)) == (2, 1)
    fraction = plan.with_overrides({"queue.router.distance": "fraction"}).link("bottleneck")
    assert [key_at(flow, fraction) for flow in (far, near)] == [1.0, 1.0], "both are at the last router of their routes"
    assert distances_of(model_of(plan)) == [2, 1]


@pytest.mark.slow
def test_the_far_flow_of_the_pair_gets_more_than_with_red():
    found = theory_of(model_of(Scenario.load("paper:ddred/pair.toml", overrides=PAIR)))
    red = theory_of(model_of(Scenario.load("paper:ddred/pair.toml")))
    assert red.shares.columns == ()
    assert red.shares.reason == ""
    misra, refined = (column.values for column in found.shares.columns)
    assert misra["drops_1"] + misra["drops_2"] == pytest.approx(1)
    assert refined["sent_2"] > 0.45 > red.point.windows[0] / red.point.rtts[0] / red.point.throughput
    assert refined["drops_2"] < 0.06


def test_one_distance_is_one_line(dumbbell):
    plan = Scenario.from_text(dumbbell, overrides={"queue.bottleneck.victim": "ddred"})
    reason = theory_of(model_of(plan)).shares.reason
    assert reason == (
        "no theory of DDRED's shares by distance: all TCP flows over bottleneck come from the same distance (1), so "
        "all pay alike"
    )
