"""Adaptive-RIO: windows with a committed rate, the walk of the thresholds, and two scenarios."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aqmlab.scenario.file import Scenario
from aqmlab.theory.domain import DomainError
from aqmlab.theory.scenario.adaptive_rio_shares import committed, mix_of, periods_of, steps_of
from aqmlab.theory.scenario.model import model_of
from aqmlab.theory.scenario.theory import theory_of
from aqmlab.theory.shares.adaptive_rio import RioFlows, Steps, assured_window, step, walk

PAPER = "paper:adaptive-rio/experiment1.toml"
TABLE_1 = Steps(max_l=15, max_u=60, share=1)


def test_windows_with_a_committed_rate_by_hand():
    assert assured_window(0, 0, 0.02) == pytest.approx(10)
    assert assured_window(20, 0, 0.01) == pytest.approx(10 + math.sqrt(100 + 200))
    assert assured_window(20, 0, 0) == 1e9
    assert assured_window(20, 0.02, 0.5) == pytest.approx(10), "losses within the rate alone: sqrt(2/0.02)"
    for p_in in (0.001, 0.004):
        w = assured_window(20, p_in, 0.01)
        assert w * (p_in * 20 + 0.01 * (w - 20)) / 2 == pytest.approx(1)
    assert assured_window(20, 0.01, 0.01) == pytest.approx(math.sqrt(200)), "one loss for all: Misra's window"
    with pytest.raises(DomainError):
        assured_window(-1, 0, 0.01)


def test_classes_lose_what_lies_beyond_their_rate():
    answer = RioFlows(np.array([1.0, 2.0]), np.array([100.0, 0.0]), lambda queue: 0.0)
    rtts = np.array([0.1, 0.1])
    windows = answer.windows(0.02, 10.0, rtts)
    assert windows.tolist() == pytest.approx([5 + math.sqrt(125), 10])
    drops = answer.drops(0.02, 10.0, windows, rtts)
    assert drops.tolist() == pytest.approx([0.02 * (windows[0] / 0.1 - 100), 2 * 0.02 * 100])
    assert answer.losses(0.02, 10.0, windows, rtts)[1] == pytest.approx(0.02)


def test_a_loss_within_the_rate_counts_by_its_part_of_the_queue():
    """Of 300 packets/s 100 are within the rate: their average is a third of the queue."""
    seen = []
    answer = RioFlows(np.array([1.0, 1.0]), np.array([100.0, 0.0]), lambda queue: seen.append(queue) or 0.001)
    answer.p_in(30.0, np.array([20.0, 10.0]), np.array([0.1, 0.1]))
    assert seen == [pytest.approx(10)]


def test_one_update_is_that_of_figure_3():
    assert step((15.0, 0.9), 1.0, present=True, steps=TABLE_1) == (15.0, pytest.approx(0.9002)), "max_L is the bound"
    assert step((60.0, 0.9), 0.0, present=False, steps=TABLE_1) == (60.0, 0.9), "max_U and C_init are the bounds"
    assert step((30.0, 1.0), 1.03, present=True, steps=TABLE_1)[1] == 1.0, "C' is at most C"
    rests = (0.9 * 0.975, 0.9, 0.9 * 1.025)
    assert all(step((30.0, 0.9), a, present=True, steps=TABLE_1) == (30.0, 0.9) for a in rests), "the dead zone"
    half = Steps(max_l=15, max_u=60)
    assert step((30.0, 0.9), 1.0, present=True, steps=half)[0] == pytest.approx(29.4)


@pytest.mark.parametrize("wrong", [{"max_l": 0}, {"max_l": 70}, {"delta_t": 0}, {"c_init": 1.5}, {"interval": 0}])
def test_steps_outside_their_domain_are_an_error(wrong):
    with pytest.raises(DomainError):
        Steps(**{"max_l": 15, "max_u": 60, **wrong})


def test_a_full_link_ends_at_the_lower_bound_and_an_absent_class_at_the_upper():
    found = walk(lambda _: 1.01, TABLE_1, periods=[(100, 300)], duration=400, start=15)
    at = {t: round(float(np.interp(t, found.t, found.threshold)), 6) for t in (1, 5, 90, 100, 104, 120, 399)}
    assert (at[1], at[90], at[120], at[399]) == (15.0, 60.0, 15.0, 60.0)
    assert at[5] == pytest.approx(15 + 1.2 * 20), "from T_abs = 1 s on, 20 updates of 1.2 packets"
    assert at[104] == pytest.approx(60 - 1.2 * 20)
    top = float(np.interp(299, found.t, found.reference))
    assert top == pytest.approx(min(1.01 / 1.025, 1), abs=0.0003), "C' stops where A is in the dead zone"


def test_a_link_that_is_not_full_rests_where_the_rate_meets_the_dead_zone():
    rate = lambda threshold: 0.8 + 0.002 * threshold  # noqa: E731 - a line
    low = walk(rate, TABLE_1, periods=[(0, 400)], duration=400, start=15).threshold[-1]
    assert rate(low) == pytest.approx(0.9 * 0.975, abs=0.003)


def test_the_scenario_gives_rates_periods_and_steps():
    model = model_of(Scenario.load(PAPER))
    assert committed(model) == {"assured": 4e6}
    assert steps_of(model) == Steps(max_l=15, max_u=60, share=0.5)
    mix = mix_of(model)
    assert mix.periods == ((100.0, 200.0), (300.0, 400.0))
    assert (mix.names[0], mix.counts.tolist(), len(mix.names[1])) == (("assured",), [1.0, 4.0], 4)
    assert mix.reserved.tolist() == pytest.approx([4e6 / 8 / 1040, 0])
    udp = mix_of(model_of(Scenario.load("paper:adaptive-rio/experiment1-udp.toml")))
    assert (udp.udp_in, udp.udp_out, udp.udp_best) == (pytest.approx(4e6 / 8 / 1040), 0.0, 0.0)


def test_an_on_off_source_comes_in_turns_of_its_means():
    plan = Scenario.load("paper:adaptive-rio/experiment2.toml")
    (flow,) = (flow for flow in plan.flows if flow.transport == "udp")
    periods = periods_of(flow, 100.0)
    assert periods[0][1] - periods[0][0] == pytest.approx(10)


@pytest.mark.slow
def test_the_paper_s_experiment_moves_between_its_bounds():
    found = theory_of(model_of(Scenario.load(PAPER, overrides={"run.duration": "200s"}))).shares
    rest, in_time = (column.values for column in found.columns)
    assert 15 < rest["max_th_out"] < 60
    assert 0.9 <= rest["reference"] <= 1
    assert in_time["rate_best"] < rest["rate_best"], "a loop that swings leaves the link idle for a part of the time"
    assert in_time["rate_assured"] == pytest.approx(2.0, abs=0.3)


def test_without_a_marker_or_with_one_class_one_line_says_why():
    plan = Scenario.load(PAPER)
    text = plan.text.replace('green = "AF11"', 'green = "AF21"')
    reason = theory_of(model_of(Scenario.from_text(text))).shares.reason
    assert reason == "no theory of Adaptive-RIO's shares by class: no flow over the link has a committed rate"
