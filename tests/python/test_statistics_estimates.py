"""Intervals of skewed runs, quantiles, the end of a transient: by hand, against scipy, and by what they cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aqmlab.statistics import Method, interval, mean_interval
from aqmlab.statistics.bootstrap import bootstrap_mean
from aqmlab.statistics.estimate import mean_difference, skewness, too_skewed
from aqmlab.statistics.quantiles import quantile_interval
from aqmlab.statistics.warmup import mser5

spread = st.lists(st.floats(-1e3, 1e3), min_size=12, max_size=30).filter(lambda x: np.std(x) > 1e-3)


@given(spread)
def test_skewness_is_scipys(values):
    assert skewness(values) == pytest.approx(stats.skew(values, bias=False), rel=1e-6, abs=1e-9)


def test_equal_runs_are_not_skewed():
    assert skewness([0.1 + 0.2] * 10 + [0.3] * 10) == 0
    assert mean_interval([5.0] * 20) == (interval([5.0] * 20), Method.STUDENT)


def test_few_runs_get_student():
    assert mean_interval([1, 1, 1, 1, 1, 1, 2, 5, 50])[1] is Method.STUDENT


def test_skewed_runs_get_the_bootstrap_and_always_the_same():
    x = np.random.default_rng(1).exponential(size=30)
    found, method = mean_interval(x)
    assert method is Method.BOOTSTRAP
    assert found == mean_interval(x)[0]
    assert found.mean - found.low < found.high - found.mean


def test_runs_of_which_hardly_one_differs_have_no_bootstrap():
    assert too_skewed([0.0] * 19 + [1.0])
    assert mean_interval([0.0] * 19 + [1.0])[1] is Method.STUDENT


def test_a_single_run_has_no_interval():
    found, method = mean_interval([3.0])
    assert (found.mean, method) == (3.0, Method.NONE)
    assert math.isnan(found.low)


@settings(max_examples=25)
@given(spread, st.floats(0.1, 10), st.floats(-100, 100))
def test_the_bootstrap_does_not_depend_on_units(values, scale, shift):
    one = bootstrap_mean(values, resamples=499).interval
    other = bootstrap_mean(np.asarray(values) * scale + shift, resamples=499).interval
    if math.isfinite(one.half_width):
        assert (other.low, other.high) == pytest.approx((one.low * scale + shift, one.high * scale + shift), abs=1e-4)


def test_the_bootstraps_p_agrees_with_its_interval():
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.2, 0.5, 1.0):
        found, method = mean_difference(rng.exponential(size=25) ** 2 - 2 + shift)
        assert method is Method.BOOTSTRAP
        inside = found.interval.low <= 0 <= found.interval.high
        assert inside == (found.p > 0.05)


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


def test_bca_covers_less_than_the_studentized_bootstrap():
    x = np.random.default_rng(6).exponential(size=(800, 10))
    bca = stats.bootstrap((x,), np.mean, axis=1, n_resamples=499, method="BCa", rng=1).confidence_interval
    own = [bootstrap_mean(row, resamples=499).interval for row in x]
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


@given(st.lists(st.floats(-100, 100), min_size=50, max_size=120))
def test_mser5_stays_inside_and_ignores_an_incomplete_batch(series):
    found = mser5(series)
    assert found is not None
    assert 0 <= found.samples < len(series)
    assert found == mser5(series[: len(series) // 5 * 5])
