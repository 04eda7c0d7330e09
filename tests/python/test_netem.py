"""The channel of a link compared with netem: with recorded runs of a kernel, and in the emulated machine."""

import numpy as np
import pytest

from aqmlab.errors import InputError
from aqmlab.live.vm.build import find
from compare_netem import CASES, CONTROLS, data, overhead_of, summary_in
from netem_measures import Summary, autocorrelation, compared, p_of
from netem_runs import Arrivals, channel_arrivals, channel_scenario, kernel_arrivals
from programs import EMULATOR, needs

RUNS = 40
LEAST = 1e-4
"""Least p value of a measure; seeds are fixed, so that a test that passes once always passes."""
FAST_CASES = (
    "netem delay 20ms 5ms distribution paretonormal",
    "netem delay 20ms 5ms reorder 25% 50% rate 2mbit",
    "netem delay 20.5ms loss 10% 25% duplicate 30% 25%",
)


def arrivals(sent, numbers, delays_s):
    return Arrivals(sent, np.array(numbers), np.array(delays_s))


def simulated(words, count, **overrides):
    changed = {f"dumbbell.bottleneck.{key}": value for key, value in overrides.items()}
    scenario = channel_scenario(words, count=count, overrides=changed)
    return [Summary.of(channel_arrivals(scenario, seed)) for seed in range(1, RUNS + 1)]


class TestMeasures:
    def test_losses_copies_and_order_are_counted(self):
        found = Summary.of(arrivals(8, [1, 0, 4, 4, 7], [0.02, 0.021, 0.02, 0.02, 0.0]))
        assert (found.sent, found.arrived, found.copies, found.reordered) == (8, 4, 1, 1)
        # Packets 2 and 3, 5 and 6 are lost.
        assert found.runs == [0, 2]
        assert {at: n for at, n in enumerate(found.delays) if n} == {0: 1, 200: 3, 210: 1}

    def test_the_overhead_is_subtracted(self):
        assert len(Summary.of(arrivals(1, [0], [0.0211]), overhead_s=0.001).delays) == 202

    def test_autocorrelation_leaves_out_packets_without_a_delay(self):
        assert autocorrelation(np.array([1.0, 2.0, 1.0, np.nan, 1.0, 2.0])) == pytest.approx(-1)
        assert np.isnan(autocorrelation(np.array([1.0, 1.0, 1.0])))

    def test_p_values_of_one_more_run_are_uniform(self):
        rng = np.random.default_rng(3)
        mixed = rng.normal(size=(3, 3))
        found = [p_of(*_split(rng.normal(size=(41, 3)) @ mixed)) for _ in range(500)]
        assert abs(np.mean(np.array(found) < 0.1) - 0.1) < 0.04
        assert abs(np.mean(found) - 0.5) < 0.05


def _split(rows):
    return rows[0], rows[1:]


@pytest.mark.parametrize("words", FAST_CASES)
def test_channels_agree_with_the_recorded_runs_of_each_kernel(words):
    runs = simulated(words, next(case.count for case in CASES if case.words == words))
    for entry in data():
        found = compared(summary_in(entry, words), runs)
        assert {one.measure: one.p for one in found if one.p < LEAST} == {}


def test_another_channel_does_not_agree():
    words, key, value, _ = CONTROLS[2]
    runs = simulated(words, next(case.count for case in CASES if case.words == words), **{key: value})
    assert min(one.p for one in compared(summary_in(data()[0], words), runs)) < LEAST


@needs(*EMULATOR, "gcc")
def test_channels_agree_with_the_kernel_in_the_emulated_machine():
    try:
        image = find()
    except InputError as error:
        # A separate command downloads the kernel and makes its image.
        pytest.skip(str(error))
    count, words = 4000, "netem delay 20ms 5ms distribution normal loss 10%"
    constant, found = kernel_arrivals(["netem delay 20ms", words], image, count=count)
    assert constant.numbers.tolist() == list(range(count))
    overhead_s = overhead_of(constant)
    assert 0 < overhead_s < 1e-4
    judged = compared(Summary.of(found, overhead_s), simulated(words, count))
    assert len(judged) == 5
    assert {one.measure: one.p for one in judged if one.p < LEAST} == {}
