"""Statistics against numbers worked out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.results.quantities import jain
from aqmlab.statistics import (
    Verdict,
    holm,
    interval,
    paired,
    student_quantile,
    verdict_above,
    verdict_all,
    verdict_below,
    verdict_within,
)

numbers = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def test_interval_by_hand():
    # 1, 2, 3, 4: mean 2.5, variance 5/3; t(0.975, 3) = 3.182446 from tables.
    found = interval([1, 2, 3, 4])
    assert found.mean == 2.5
    assert found.sd == pytest.approx(math.sqrt(5 / 3))
    assert found.n == 4
    half = 3.182446 * math.sqrt(5 / 3) / 2
    assert found.low == pytest.approx(2.5 - half, rel=1e-6)
    assert found.high == pytest.approx(2.5 + half, rel=1e-6)


def test_interval_of_one_run_has_no_width():
    found = interval([7.0])
    assert (found.mean, found.n) == (7.0, 1)
    assert math.isnan(found.low)
    assert verdict_above(found) is Verdict.UNDECIDED


def test_interval_leaves_out_missing_runs():
    assert interval([1.0, math.nan, 3.0]).n == 2


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 12.7062), (9, 2.2622), (49, 2.0096)])
def test_student_quantile_from_tables(degrees, quantile):
    assert student_quantile(0.975, degrees) == pytest.approx(quantile, abs=5e-5)


def test_paired_by_hand():
    # Differences 1, 2, 3: t = 2 sqrt(3) with 2 degrees; p = 1 - t / sqrt(t^2 + 2) in closed form.
    found = paired([2, 4, 6], [1, 2, 3])
    t = 2 * math.sqrt(3)
    assert found.mean == 2
    assert found.p == pytest.approx(1 - t / math.sqrt(t * t + 2))


def test_pairing_cancels_common_variation():
    traffic = np.array([10.0, 50.0, 90.0])
    found = paired(traffic + np.array([1.0, 1.1, 0.9]), traffic)
    assert found.interval.half_width < 0.3
    assert interval(traffic).half_width > 90


def test_paired_wants_as_many_on_each_side():
    with pytest.raises(ValueError, match="as many on each side, not 2 and 3"):
        paired([1, 2], [1, 2, 3])


def test_equal_differences_are_not_tested():
    # They do not show how the mean varies: with nothing random in a scenario, all seeds give the same run.
    assert math.isnan(paired([2, 3, 4], [1, 2, 3]).p)
    assert paired([1, 2, 3], [1, 2, 3]).p == 1
    assert verdict_above(paired([1, 2, 3], [1, 2, 3]).interval) is Verdict.UNDECIDED


def test_verdicts_of_one_side():
    above, around, below = interval([4, 5, 6]), interval([-1, 0, 1]), interval([-4, -5, -6])
    assert [verdict_above(x) for x in (above, around, below)] == ["holds", "undecided", "fails"]
    assert [verdict_below(x) for x in (above, around, below)] == ["fails", "undecided", "holds"]


def test_verdict_of_equality():
    close = interval([0.01, 0.0, -0.01])
    assert verdict_within(close, 0.1) is Verdict.HOLDS
    assert verdict_within(interval([4, 5, 6]), 0.1) is Verdict.FAILS
    assert verdict_within(interval([-1, 0, 1]), 0.1) is Verdict.UNDECIDED


def test_holm_by_hand():
    # Sorted .005, .01, .03, .04 times 4, 3, 2, 1, made monotone: .02, .03, .06, .06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_a_claim_of_several_parts():
    holds, fails, open_ = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
    assert verdict_all([holds, holds], [0.01, 0.02]) is holds
    assert verdict_all([holds, open_], [0.01, 0.5]) is open_
    assert verdict_all([holds, fails], [0.01, 0.001]) is fails
    # One part in ten at p = 0.04 is what chance gives; the claim is not refuted by it.
    assert verdict_all([fails] + [open_] * 9, [0.04] + [0.5] * 9) is open_
    assert verdict_all([], []) is open_


def test_jain_by_hand():
    assert jain([1, 2, 3]) == pytest.approx(36 / (3 * 14))


@given(numbers)
def test_interval_holds_its_mean(values):
    found = interval(values)
    if found.constant:
        assert math.isnan(found.low)
    else:
        assert found.low <= found.mean <= found.high


@given(numbers, st.floats(-1e3, 1e3))
def test_paired_is_antisymmetric(values, shift):
    other = [v * 0.5 + shift for v in values]
    assert paired(values, other).mean == pytest.approx(-paired(other, values).mean, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_makes_smaller_and_keeps_order(p):
    adjusted = holm(p)
    assert all(q >= v for q, v in zip(adjusted, p, strict=True))
    order = np.argsort(p, kind="stable")
    assert all(adjusted[a] <= adjusted[b] for a, b in itertools.pairwise(order))


def test_coverage_of_the_interval():
    """Of 2,000 intervals over normal runs 95 % hold the true mean (binomial s.d. 0.5 %, four of them allowed)."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2000):
        found = interval(rng.normal(3.0, 2.0, 6))
        hits += found.low <= 3.0 <= found.high
    assert abs(hits / 2000 - 0.95) < 0.02
