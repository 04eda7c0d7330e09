"""The vectorized candidates for intervals (`validation/statistics`) against the package's own and by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from aqmlab.results.quantities import QUANTITIES
from aqmlab.rfc7928.tables import _direction
from aqmlab.rfc7928.tables import tests_of as number_of_tests
from aqmlab.statistics import interval, mean_interval
from candidates import CANDIDATES, USED, Samples, studentized
from choose_method import ABOVE, NONE, POPULATIONS, RIGHT, RUNS, WRONG, Cell
from possible_intervals import Looked

MOS = [4.3987] * 9 + [3.7156]


@pytest.mark.parametrize("population", POPULATIONS, ids=lambda one: one.name)
def test_the_method_that_is_judged_is_the_packages(population):
    for runs in RUNS:
        x = population.draw(np.random.default_rng(runs), (20, runs))
        low, high = CANDIDATES[USED](Samples(x, population.bounds))
        for row, ends in zip(x, np.clip([low, high], *population.bounds).T, strict=True):
            found, _ = mean_interval(row, bounds=population.bounds)
            if not found.constant:
                assert (found.low, found.high) == pytest.approx(tuple(ends), rel=1e-9, abs=1e-12)


def test_the_means_of_the_populations_are_theirs():
    for population in POPULATIONS:
        x = population.draw(np.random.default_rng(7), (1, 200_000)).ravel()
        assert x.mean() == pytest.approx(population.mean, abs=5 * x.std() / math.sqrt(len(x)))


def test_one_outlier_of_ten_as_in_the_tables_that_it_spoiled():
    samples = Samples(np.array([MOS]), (1.0, 4.5))
    low, high = (float(end[0]) for end in studentized(samples))
    assert low < -500  # what was printed as 4 +- 530
    low, high = (float(end[0]) for end in CANDIDATES["BCa"](samples))
    assert 3.98 < low < 4.06  # five or six of ten values are the outlier
    assert high == pytest.approx(4.3987)
    assert interval(MOS).half_width == pytest.approx(0.155, abs=5e-4)
    found, _ = mean_interval(MOS, bounds=(1.0, 4.5))
    assert 3.7156 < found.low < 4.18
    assert 4.3987 < found.high <= 4.5


def cell(shares, widths):
    return Cell(0, 10, shares, widths)


def test_verdicts_by_hand():
    found = cell({"a": 0.95, "b": 0.94, "c": 0.92, "d": 0.98}, {"a": 1.6, "b": 1.0, "c": 0.5, "d": 1.4})
    assert found.narrowest == "b"
    assert [found.verdict(name) for name in "abcd"] == [WRONG, RIGHT, WRONG, ABOVE]
    assert cell({"a": 0.9}, {"a": 1.0}).verdict("a") == NONE


def test_an_impossible_interval_is_found():
    good = {"metric": "utilization", "mean": 0.99, "low": 0.98, "high": 1.0, "method": "Student"}
    values = np.array([0.98, 0.99, 1.0])
    for change in ({}, {"high": 1.01}, {"low": 0.995}, {"low": 0.0}, {"high": math.inf}):
        looked = Looked()
        looked._mean(good | change, values, "here")
        assert bool(looked.impossible) == bool(change), change


def test_every_quantity_has_bounds():
    assert all(one.bounds[0] in (0.0, 1.0) and one.bounds[0] < one.bounds[1] for one in QUANTITIES.values())
    shares = {one.key for one in QUANTITIES.values() if one.bounds == (0.0, 1.0)}
    assert {"utilization", "loss", "marks", "jain", "retransmitted", "pages_unfinished", "stalled"} <= shares


def test_directions_of_the_suite_rest_on_corrected_p():
    assert [_direction(*one) for one in ((1.0, 0.01), (-1.0, 0.01), (1.0, 0.06), (1.0, math.nan))] == [
        "more",
        "less",
        "undecided",
        "undecided",
    ]
    assert number_of_tests(pd.DataFrame({"delay, p": [0.1, math.nan], "goodput, p": [0.2, 0.3]})) == 3
