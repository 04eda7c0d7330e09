"""PC-RED's closed form against the oracle, and its three channels."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab.theory.control.pc_red import (
    LIMIT,
    average_rate,
    channels,
    intervals_to_cross,
    paid_by_protected,
    step,
    weight_to_cross,
)
from aqmlab.theory.domain import DomainError


def test_every_row_of_the_closed_form():
    rows = oracle.rows("pcred_ad")
    assert len(rows) == 576
    for row in rows:
        w, n = (float(row["series"] and row[name]) for name in ("x", "y"))
        if row["metric"] == "a_d_closed":
            found = average_rate(w, n)
        else:
            found = LIMIT / 2
            for _ in range(int(n)):
                found = step(found, w=w, intervals=1, dropped=500.0)
        assert found == pytest.approx(float(row["value"]), rel=1e-12), row


def test_every_row_of_the_crossings():
    rows = oracle.rows("pcred_cross")
    assert len(rows) == 18
    for row in rows:
        if row["metric"] == "n_first_above_L":
            assert intervals_to_cross(float(row["x"])) == int(row["value"])
        else:
            assert weight_to_cross(float(row["x"])) == pytest.approx(float(row["value"]), rel=1e-12)


numbers = st.floats(0, 40)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(plus=numbers, minus=numbers, non=st.floats(0.5, 40), queue=st.floats(1, 60))
def test_channels_add_up_to_1(plus, minus, non, queue):
    for q in (None, queue):
        found = channels(plus, minus, non, queue=q)
        shares = [float(found.plus), float(found.minus), float(found.non)]
        assert sum(shares) == pytest.approx(1)
        assert min(shares) >= 0
        # The drops that protected flows are spared fall to the other flows in equal parts.
        assert shares[1] * non == pytest.approx(shares[2] * minus)


def test_channels_as_the_paper_writes_them():
    """N = 20, N_p+ = 4, N_p- = 2, N_n = 14, q = 32: (3) is N_p-/(N - N_p+), N_n/(N - N_p+)."""
    never = channels(4, 2, 14)
    assert (float(never.plus), float(never.minus), float(never.non)) == pytest.approx((0, 2 / 16, 14 / 16))
    last = channels(4, 2, 14, queue=32)
    spared = 4 / 20 - 4 / (20 * 32)
    assert float(last.plus) == pytest.approx(4 / (20 * 32))
    assert float(last.minus) == pytest.approx(2 / 20 + spared * 2 / 16)
    assert float(last.non) == pytest.approx(14 / 20 + spared * 14 / 16)


def test_the_row_at_the_tail_is_the_sum_of_its_terms():
    for share in (0.1, 0.6, 0.99):
        terms = sum(share**k for k in range(1, 31)) / 30
        assert float(paid_by_protected(share, 30)) == pytest.approx(terms)
    rng = np.random.default_rng(5)
    protected = rng.random((40_000, 30)) < 0.6
    tail = np.where(protected.all(axis=1), 30, np.argmax(~protected[:, ::-1], axis=1))
    assert tail.mean() / 30 == pytest.approx(float(paid_by_protected(0.6, 30)), rel=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: channels(4, 0, 0), "N_p+: all flows are above their limit, and (3) and (4) have no value"),
        (lambda: channels(-1, 0, 3), "N_p+: -1 is not possible (allowed: a finite number, 0 or more)"),
        (lambda: channels(1, 0, 3, queue=0.5), "queue: 0.5 is not possible (allowed: 1 packet or more)"),
        (lambda: weight_to_cross(50, limit=600), "L: a_d reaches L only if X is above it"),
    ],
)
def test_bad_input_gives_one_line(call, message):
    with pytest.raises(DomainError) as error:
        call()
    assert message in str(error.value)
