"""Intervals of skewed runs, quantiles, the end of a transient: by hand, against scipy, and by what they cover."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aqmlab.interop.crosscheck import agreement as crosscheck
from aqmlab.interop.crosscheck.page import mean_text
from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.reporting.intervals import intervals_table
from aqmlab.rfc7928 import collected
from aqmlab.statistics import Method, interval, mean_interval
from aqmlab.statistics.estimate import mean_difference, skewness
from aqmlab.statistics.quantiles import quantile_interval
from aqmlab.statistics.skewed import hall_mean
from aqmlab.statistics.warmup import mser5
from aqmlab.theory.scenario import agreement

spread = st.lists(st.floats(-1e3, 1e3), min_size=12, max_size=30).filter(lambda x: np.std(x) > 1e-3)


@given(spread)
def test_skewness_is_scipys(values):
    assert skewness(values) == pytest.approx(stats.skew(values, bias=False), rel=1e-6, abs=1e-9)


def test_equal_runs_are_not_skewed_and_have_no_interval():
    assert skewness([0.1 + 0.2] * 10 + [0.3] * 10) == 0
    for runs in ([5.0] * 20, [0.1 + 0.2] * 10 + [0.3] * 10):
        found, method = mean_interval(runs)
        assert method is Method.NONE
        assert found.constant
        assert math.isnan(found.low)


def test_few_runs_get_student():
    assert mean_interval([1, 1, 1, 50])[1] is Method.STUDENT


def test_skewed_runs_get_halls_interval():
    x = np.random.default_rng(1).exponential(size=30)
    found, method = mean_interval(x)
    assert method is Method.HALL
    assert found.mean - found.low < found.high - found.mean


def test_hall_by_hand():
    # g = 0 for symmetric runs: Student's interval, with sd sqrt(2.5).
    plain = interval([0, 1, 2, 3, 4])
    assert (hall_mean([0, 1, 2, 3, 4]).interval.low, plain.high) == pytest.approx(
        (plain.low, 2 + 2.776445 * math.sqrt(0.5))
    )
    # 0, 0, 0, 0, 5: mean 1, sd sqrt(5), central moments 4 and 12: g = 12 / 8 = 1.5, limited to 0.4 sqrt(5) = 0.894427.
    # T = 2.776445 / sqrt(5) = 1.241664; g / 30 = 0.029814. W(T) = 3 / g (cbrt(1 + g 1.211850) - 1) = 0.930095,
    # W(-T) = 3 / g (cbrt(1 - g 1.271478) - 1) = 3 / g (cbrt(-0.137244) - 1) = -5.084236.
    found = hall_mean([0, 0, 0, 0, 5]).interval
    assert (found.low, found.high) == pytest.approx(
        (1 - 0.930095 * math.sqrt(5), 1 + 5.084236 * math.sqrt(5)), abs=1e-4
    )


ONE_OUTLIER = {
    "a call's MOS": ([4.3987] * 9 + [3.7156], (1.0, 4.5), (3.8, 4.06), (4.39, 4.5)),
    "Jain's index of one group": ([0.98] * 9 + [0.51], (0.0, 1.0), (0.5, 0.9), (0.95, 1.0)),
    "loss": ([0.0001] * 9 + [0.7], (0.0, 1.0), (0.0, 0.0), (0.2, 0.6)),
    "goodput, Mb/s": ([50.0] * 9 + [49.5], (0.0, math.inf), (49.5, 49.9), (49.95, 50.1)),
    "utilization": ([0.958] * 9 + [0.949], (0.0, 1.0), (0.948, 0.957), (0.957, 0.96)),
    "share at its bound": ([1.0] * 9 + [0.9], (0.0, 1.0), (0.88, 0.98), (1.0, 1.0)),
    "time-outs": ([0.0] * 9 + [3.0], (0.0, math.inf), (0.0, 0.0), (0.8, 3.0)),
    "delay, ms": ([20.0] * 9 + [80.0], (0.0, math.inf), (0.0, 20.0), (35.0, 70.0)),
    "throughput, Mb/s": ([9.5] * 9 + [0.2], (0.0, math.inf), (0.0, 7.0), (9.0, 11.0)),
    "page load, s": ([1.2] * 9 + [30.0], (0.0, math.inf), (0.0, 1.2), (8.0, 25.0)),
}
"""Nine equal runs and one that differs, with the quantity's bounds: where the interval's low and high must lie."""


@pytest.mark.parametrize("name", ONE_OUTLIER)
def test_one_outlier_of_ten_gives_a_possible_interval(name):
    runs, bounds, low, high = ONE_OUTLIER[name]
    found, method = mean_interval(runs, bounds=bounds)
    plain = interval(runs)
    assert method is Method.HALL
    assert low[0] <= found.low <= low[1]
    assert high[0] <= found.high <= high[1]
    assert bounds[0] <= found.low <= found.mean <= found.high <= bounds[1]
    assert found.half_width < 2.5 * plain.half_width


def test_utilization_of_one_outlier_is_decided_against_a_share():
    runs = ONE_OUTLIER["utilization"][0]
    assert mean_interval(runs, bounds=(0.0, 1.0))[0].low > 0.9


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_an_interval_stays_within_the_bounds_and_near_students(values):
    found, method = mean_interval(values, bounds=(0.0, 1.0))
    plain = interval(values)
    if method is Method.NONE:
        assert math.isnan(found.low)
        return
    assert 0 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= 1
    assert found.half_width <= 2.7 * plain.half_width


def test_a_single_run_has_no_interval():
    found, method = mean_interval([3.0])
    assert (found.mean, method) == (3.0, Method.NONE)
    assert math.isnan(found.low)


@given(spread, st.floats(0.1, 10), st.floats(-100, 100))
def test_halls_interval_does_not_depend_on_units(values, scale, shift):
    one = hall_mean(values).interval
    other = hall_mean(np.asarray(values) * scale + shift).interval
    assert (other.low, other.high) == pytest.approx((one.low * scale + shift, one.high * scale + shift), abs=1e-4)


def test_halls_p_agrees_with_its_interval():
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.2, 0.5, 1.0):
        found, method = mean_difference(rng.exponential(size=25) ** 2 - 2 + shift)
        assert method is Method.HALL
        inside = found.interval.low <= 0 <= found.interval.high
        assert inside == (found.p > 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "truth", "n"),
    [("normal", 0.0, 10), ("exponential", 1.0, 20), ("exponential", 1.0, 50), ("poisson", 1.0, 20)],
)
def test_coverage_of_the_chosen_interval(draw, truth, n):
    """Of 1,200 intervals 93 to 97 % hold the true mean, also of skewed runs."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(1200):
        found, _ = mean_interval(getattr(rng, draw)(size=n))
        held += found.low <= truth <= found.high
    assert 0.93 <= held / 1200 <= 0.97


def test_bca_covers_less_than_halls_interval():
    x = np.random.default_rng(6).exponential(size=(800, 10))
    bca = stats.bootstrap((x,), np.mean, axis=1, n_resamples=499, method="BCa", rng=1).confidence_interval
    own = [mean_interval(row)[0] for row in x]
    held_bca = np.mean((bca.low <= 1) & (bca.high >= 1))
    held = np.mean([found.low <= 1 <= found.high for found in own])
    assert held_bca < 0.9 < 0.92 < held


def test_median_by_hand():
    # Ten runs: the median is between the 2nd and the 9th but for 2 (1 + 10) / 1024 = 2.1 %.
    found = quantile_interval(list(range(1, 11)))
    assert (found.mean, found.low, found.high) == (5.5, 2, 9)


def test_a_high_quantile_of_few_runs_has_no_interval():
    assert math.isnan(quantile_interval(list(range(20)), 0.9).high)
    assert quantile_interval(list(range(60)), 0.9).high == 58


def test_mser5_finds_a_step():
    rng = np.random.default_rng(4)
    series = np.concatenate([rng.normal(20, 1, 100), rng.normal(5, 1, 400)])
    found = mser5(series)
    assert found is not None
    assert found.settled
    assert 100 <= found.samples <= 105


def test_mser5_by_hand():
    # Ten batches: 6, then 0, 2, 0, 2, ...: leaving out the first gives the least of sum (Y - mean)^2 / left^2.
    y = [6.0, *[0.0, 2.0] * 4, 1.0]
    errors = [sum((v - np.mean(y[d:])) ** 2 for v in y[d:]) / (10 - d) ** 2 for d in range(5)]
    found = mser5(np.repeat(y, 5))
    assert found is not None
    assert found.samples == 5 * int(np.argmin(errors)) == 5


def test_mser5_of_a_ramp_never_settles():
    found = mser5(np.arange(500.0))
    assert found is not None
    assert not found.settled


def test_mser5_leaves_a_steady_series_alone_mostly():
    rng = np.random.default_rng(5)
    cut = [found.samples for _ in range(100) if (found := mser5(rng.normal(size=500)))]
    assert np.median(cut) <= 25


def test_mser5_of_a_short_series_is_none():
    assert mser5([1.0] * 49) is None


@pytest.mark.slow
@given(st.lists(st.floats(-100, 100), min_size=50, max_size=120))
def test_mser5_stays_inside_and_ignores_an_incomplete_batch(series):
    found = mser5(series)
    assert found is not None
    assert 0 <= found.samples < len(series)
    assert found == mser5(series[: len(series) // 5 * 5])


def test_intervals_of_theory_stay_within_what_the_quantities_can_be():
    """An analysis shows simulated quantities beside theory's, with the intervals that `run` gives them."""
    keys = [one.key for one in agreement.QUANTITIES[1:]]
    runs = pd.DataFrame({key: [0.0, 0.0, 0.999] for key in [*keys, "loss"]} | {"marks": [0.0, 0.0, 0.0]})
    runs["utilization"] = [1.0, 1.0, 0.9]
    model = SimpleNamespace(link=SimpleNamespace(name="bottleneck"), curve=SimpleNamespace(unit=1.0))
    result = SimpleNamespace(metrics=lambda link: runs, limits=lambda link: {"rate": 0.999})
    found = agreement.of_result(model, result).values
    for key, one in found.items():
        assert one.low >= 0, key
        assert one.high <= (1 if key in ("utilization", "p") else math.inf), key
    assert found["utilization"].high == 1
    assert found["throughput_mbps"].high == 0.999, "the link's rate"


def test_intervals_of_crosschecks_stay_within_what_the_measures_can_be():
    losses = crosscheck.mean_of(Measure.LOSS, [0.0, 0.0, 0.03])
    assert (losses.low, round(losses.mean, 3)) == (0.0, 0.01)
    assert mean_text(losses, 100.0) == "1.0 (0.0 to 5.3)"
    (line,) = crosscheck.agreement(
        {seed: {(Measure.UTILIZATION, "a"): value} for seed, value in enumerate([1.0, 1.0, 0.9])},
        {seed: {(Measure.UTILIZATION, "a"): value} for seed, value in enumerate([1.0, 0.95, 1.0])},
        certain=False,
    )
    assert line.ours.high == line.theirs.high == 1


def test_files_of_rfc_7928_have_both_ends_of_an_interval():
    """Half of an asymmetric interval around the mean would reach below 0."""
    row = intervals_table([{"loss": collected.mean_of([0.0, 0.0, 0.03], "loss")}]).iloc[0]
    assert (row["loss low"], row["loss"]) == (0.0, pytest.approx(0.01))
    assert row["loss high"] > 2 * row["loss"]
