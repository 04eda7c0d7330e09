"""Differences of two samples: which test, what pairing gains, sizes of effects; against hand, scipy and tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aqmlab.statistics import Method, benjamini_hochberg, compare_means, holm, paired, welch
from aqmlab.statistics.effect import cliffs_delta, hedges_g
from aqmlab.statistics.pairing import Choice, Gain, pairing, share_of_runs

STUDENT_1908 = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
"""Hours of sleep gained by two drugs in ten patients (Student 1908), the example of R's t.test."""
numbers = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=20)


def correlated(rng, n, rho):
    x, y = rng.normal(size=(2, n))
    return x, rho * x + math.sqrt(1 - rho * rho) * y


def test_sleep_as_r_prints_it():
    # R: t.test(extra ~ group, sleep): t = -1.8608, df = 17.776, p = 0.07939, (-3.3654832, 0.2054832);
    #    paired: t = -4.0621, df = 9, p = 0.002833, (-2.4598858, -0.7001142).
    apart, together = welch(*STUDENT_1908), paired(*STUDENT_1908)
    assert apart.p == pytest.approx(0.07939, abs=5e-6)
    assert (apart.interval.low, apart.interval.high) == pytest.approx((-3.3654832, 0.2054832), abs=5e-8)
    assert together.p == pytest.approx(0.002833, abs=5e-7)
    assert (together.interval.low, together.interval.high) == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)


def test_sleep_is_compared_in_pairs():
    found = compare_means(*STUDENT_1908)
    assert found.pairing.correlation == pytest.approx(0.7951702, abs=5e-8)
    # One patient gained 4.6 h: too skewed for Student's interval alone, which is (-2.46, -0.70); so it is widened.
    plain = paired(*STUDENT_1908).interval
    assert found.test == "paired Hall"
    assert found.difference.interval.low < plain.low
    assert found.difference.interval.high == plain.high
    # Fisher: artanh 0.79517 = 1.08531, 1.96 / sqrt(7) = 0.74080: tanh 0.34451 = 0.3315, tanh 1.82611 = 0.9494.
    assert (found.pairing.low, found.pairing.high) == pytest.approx((0.3315, 0.9494), abs=1e-4)
    assert found.pairing.gain is Gain.YES


def test_welch_of_samples_of_different_length():
    x, y = [1.0, 5.0, 2.0, 8.0], [2.0, 3.0, 2.5, 2.2, 3.1, 2.7]
    expected = stats.ttest_ind(x, y, equal_var=False)
    found = welch(x, y)
    bounds = expected.confidence_interval()
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.interval.low, found.interval.high) == pytest.approx((bounds.low, bounds.high))


def test_welch_where_nothing_varies():
    assert welch([1, 1], [1, 1]).p == 1
    assert math.isnan(welch([2, 2], [1, 1]).p)
    assert math.isnan(welch([1], [2]).p)


def test_independent_runs_get_welch():
    rng = np.random.default_rng(1)
    x, y = correlated(rng, 50, 0.0)
    found = compare_means(x, y)
    assert (found.method, found.test) == (Method.WELCH, "Welch")
    assert found.pairing.gain is Gain.NONE
    assert found.difference == welch(x, y)


def test_runs_that_hang_together_against_each_other_stay_paired():
    x, y = correlated(np.random.default_rng(4), 50, -0.9)
    found = pairing(x, y)
    assert (found.test, found.gain) == (Choice.PAIRED, Gain.HARM)
    assert found.runs_share > 1


def test_too_few_pairs_stay_paired():
    assert pairing([1, 2, 3, 4, 5, 6, 7, 8, 9], [4, 1, 3, 2, 8, 9, 1, 3, 4]).test is Choice.PAIRED


def test_a_side_that_does_not_vary_has_no_correlation():
    found = compare_means([0.0] * 12, [1.0, 2.0] * 6)
    assert math.isnan(found.pairing.correlation)
    assert found.test == "paired Student"
    assert found.pairing.gain is Gain.NONE


def test_skewed_differences_get_halls_interval():
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    found = compare_means(x + rng.exponential(0.5, 40) ** 2, x)
    assert found.test == "paired Hall"
    assert found.difference.p < 0.002


@pytest.mark.parametrize(("r", "pairs"), [(0.5, 20), (0.9, 20), (0.9, 100), (0.0, 10)])
def test_runs_that_pairs_need_by_hand(r, pairs):
    n = share_of_runs(1 - r, pairs) * pairs
    half_of_pairs = stats.t.ppf(0.975, n - 1) * math.sqrt((1 - r) / n)
    half_of_two_samples = stats.t.ppf(0.975, 2 * pairs - 2) * math.sqrt(1 / pairs)
    assert half_of_pairs == pytest.approx(half_of_two_samples)


def test_pairs_without_variance_need_two_runs():
    assert share_of_runs(0.0, 10) == 0.2


def test_benjamini_hochberg_by_hand():
    # Their own example (1995, section 4), 15 p values: the first four are found at 5 %.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    adjusted = benjamini_hochberg(p)
    assert [q < 0.05 for q in adjusted] == [True] * 4 + [False] * 11
    assert adjusted[3] == pytest.approx(0.0095 * 15 / 4)
    assert sum(q < 0.05 for q in holm(p)) == 3


def test_benjamini_hochberg_leaves_out_untested_hypotheses():
    assert benjamini_hochberg([0.01, math.nan, 0.04]) == pytest.approx([0.02, math.nan, 0.04], nan_ok=True)
    assert benjamini_hochberg([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_a_screen_is_never_stricter_than_holm(p):
    assert all(q <= h + 1e-12 for q, h in zip(benjamini_hochberg(p), holm(p), strict=True))


def test_hedges_g_by_hand():
    # Means 4 and 2, both variances 1, 4 degrees of freedom: 2 (1 - 3/15).
    assert hedges_g([3, 4, 5], [1, 2, 3]) == pytest.approx(1.6)
    assert hedges_g([1, 1], [1, 1]) == 0
    assert hedges_g([2, 2], [1, 1]) == math.inf
    assert math.isnan(hedges_g([1], [2, 3]))


def test_cliffs_delta_by_hand():
    assert cliffs_delta([1, 2, 3], [2, 2]) == 0
    assert cliffs_delta([3, 4], [1, 2]) == 1
    assert cliffs_delta([1, 2], [1.5]) == 0
    assert math.isnan(cliffs_delta([], [1]))


@given(numbers, numbers)
def test_effects_are_antisymmetric(a, b):
    assert cliffs_delta(a, b) == -cliffs_delta(b, a)
    if np.var(a) + np.var(b) > 1e-9:
        assert hedges_g(a, b) == pytest.approx(-hedges_g(b, a))


@given(numbers, numbers)
def test_cliffs_delta_is_mann_whitney(a, b):
    u = stats.mannwhitneyu(a, b, method="asymptotic").statistic
    assert cliffs_delta(a, b) == pytest.approx(2 * u / (len(a) * len(b)) - 1)


@given(numbers, st.floats(0.1, 10), st.floats(-100, 100))
def test_the_choice_does_not_depend_on_units(values, scale, shift):
    other = np.asarray(values)[::-1] + np.arange(len(values))
    one, same = pairing(values, other), pairing(np.asarray(values) * scale + shift, other * scale + shift)
    if np.std(values) > 1e-3 and np.std(other) > 1e-3:
        assert one.correlation == pytest.approx(same.correlation, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.4, 0.9])
def test_coverage_of_the_chosen_test(rho):
    """Of 2,000 intervals of the test that the correlation chose 93 to 97 % hold the true difference."""
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(2000):
        x, y = correlated(rng, 10, rho)
        found = compare_means(x, y).difference.interval
        held += found.low <= 0 <= found.high
    assert 0.93 <= held / 2000 <= 0.97
