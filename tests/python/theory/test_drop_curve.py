"""The drop curve at the edges of its domain: probabilities, no warning, and one clear line for what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve

AVERAGES = np.linspace(0, 120, 2401)


@pytest.mark.parametrize("aqm", ["red", "gentle-red", "mred", "exred", "nlred"])
@pytest.mark.parametrize(("min_th", "max_th"), [(10, 30), (29, 30), (0.5, 1.5)])
@pytest.mark.parametrize("max_p", [0, 1e-9, 0.1, 1])
def test_at_the_edges_it_is_a_probability_that_does_not_fall(aqm, min_th, max_th, max_p):
    if aqm == "nlred" and max_p == 1:
        with pytest.raises(DomainError, match=r"nlred: .*max_p: NLRED's p_b .* would pass 1 with max_p = 1 .*<= 2/3"):
            DropCurve.of(aqm, min_th=min_th, max_th=max_th, max_p=max_p, limit=100)
        return
    curve = DropCurve.of(aqm, min_th=min_th, max_th=max_th, max_p=max_p, limit=100)
    p = curve(AVERAGES)
    assert ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p) >= -1e-12).all()
    assert (p[min_th > AVERAGES] == 0).all()
    assert p[-1] == 1
    x, tabled = curve.table(top=120)
    assert np.isfinite(tabled).all()
    assert (np.diff(x) > 0).all()
    assert all(np.isfinite(curve.slope(at)) for at in curve.knots)


def test_red_with_a_max_p_of_0_is_a_step():
    curve = DropCurve.of("red", min_th=10, max_th=30, max_p=0, limit=100)
    assert curve([0, 10, 29.999, 30, 100]).tolist() == [0, 0, 0, 1, 1]
    assert curve.jumps == (30.0,)


def test_red_with_a_max_p_of_1_has_no_jump():
    assert DropCurve.of("red", min_th=10, max_th=30, max_p=1, limit=100).jumps == ()


def test_gentle_red_with_a_max_p_of_0_begins_at_max_th():
    curve = DropCurve.of("gentle-red", min_th=10, max_th=30, max_p=0, limit=100)
    assert curve([10, 30, 45, 60]).tolist() == [0, 0, 0.5, 1]
    assert curve.jumps == ()


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"max_p": -0.1}, r"red: max_p: -0.1 is out of range \(allowed: 0 <= x <= 1\)"),
        ({"max_p": float("nan")}, "red: "),
        ({"min_th": 30}, r"min_th \(30p\) is not below max_th \(30p\)"),
    ],
)
def test_an_impossible_request_is_an_error_of_one_line(changed, text):
    parameters = {"min_th": 10, "max_th": 30, "max_p": 0.1, "limit": 100} | changed
    with pytest.raises(DomainError, match=text) as found:
        DropCurve.of("red", **parameters)
    assert "\n" not in str(found.value)
