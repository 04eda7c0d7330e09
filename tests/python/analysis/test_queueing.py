"""M/M/1/K in closed form: every number of the oracle, exact fractions near load 1, extreme parameters."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab.theory.domain import DomainError
from aqmlab.theory.queueing.mm1k import MM1K

METRICS = {"P_drop": "p_drop", "throughput": "throughput", "E_Q": "mean_number", "D": "mean_wait", "E_N": "mean_run"}


def test_every_row_of_the_oracle() -> None:
    rows = oracle.rows("mm1k")
    assert len(rows) == 520
    for row in rows:
        queue = MM1K(float(row["x"]), oracle.CAPACITY, oracle.SERVICE_RATE)
        found = queue.longer(int(row["y"])) if row["y"] else getattr(queue, METRICS[row["metric"]])
        assert oracle.same(found, float(row["value"])), row


def exact(load: float, k: int) -> tuple[Fraction, Fraction, Fraction]:
    """P_drop, E(Q) and D mu by sums of fractions."""
    rho = Fraction(load)
    powers = [rho**i for i in range(k + 1)]
    total, number = sum(powers), sum(i * x for i, x in enumerate(powers))
    p_drop = powers[k] / total
    return p_drop, number / total, number / total / (rho * (1 - p_drop)) - 1


@pytest.mark.parametrize("k", [1, 2, 7, 100])
@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-12, 1e-8, 1e-4, 0.003, 0.0099, 0.01, 0.0101, 0.1, 0.5])
def test_near_load_one_against_fractions(k: int, gap: float) -> None:
    for load in (1 - gap, 1 + gap):
        queue = MM1K(load, k)
        for found, fraction in zip((queue.p_drop, queue.mean_number, queue.mean_wait), exact(load, k), strict=True):
            assert found == pytest.approx(float(fraction), rel=1e-13, abs=0), (load, k)


@pytest.mark.parametrize("k", [1, 3, 50])
@pytest.mark.parametrize("load", [1e-3, 0.02, 7.0, 100.0])
def test_extreme_loads_against_fractions(k: int, load: float) -> None:
    queue = MM1K(load, k)
    for found, fraction in zip((queue.p_drop, queue.mean_number, queue.mean_wait), exact(load, k), strict=True):
        assert found == pytest.approx(float(fraction), rel=1e-12, abs=0)


def test_limits_at_load_one() -> None:
    for k in (1, 2, 100, 100_000):
        queue = MM1K(1.0, k)
        assert queue.p_drop == 1 / (k + 1)
        assert queue.mean_number == k / 2
        assert queue.mean_wait == (k - 1) / 2
        assert queue.mean_run == 2


def test_the_smallest_and_largest_loads_are_finite() -> None:
    for k in (1, 2, 100):
        almost_none, flood = MM1K(1e-310, k), MM1K(1e308, k)
        assert 0 <= almost_none.mean_wait <= almost_none.mean_number < 1e-300
        assert flood.mean_number == k
        assert flood.p_drop == 1


def test_room_for_one_never_waits() -> None:
    for load in (1e-3, 0.5, 1.0, 3.0, 100.0):
        queue = MM1K(load, 1)
        assert queue.mean_wait == 0
        assert queue.p_drop == pytest.approx(load / (1 + load), rel=1e-14)


@pytest.mark.parametrize("load", [1e-3, 0.5, 0.99999, 1 - 1e-12, 1.0, 1 + 1e-12, 1.00001, 2.0, 100.0])
def test_a_large_system_is_finite(load: float) -> None:
    queue = MM1K(load, 100_000)
    assert 0 <= queue.p_drop < 1
    assert math.isfinite(queue.mean_number)
    assert 0 < queue.mean_number <= 100_000
    assert 0 <= queue.mean_wait <= 100_000
    assert queue.pi.sum() == pytest.approx(1, rel=1e-11)
    assert queue.pi @ np.arange(100_001) == pytest.approx(queue.mean_number, rel=1e-9)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.floats(1e-3, 100), st.integers(1, 400), st.floats(0.1, 1e6))
def test_identities(load: float, k: int, mu: float) -> None:
    queue = MM1K(load, k, mu)
    pi = queue.pi
    assert pi.sum() == pytest.approx(1, rel=1e-12)
    assert pi[-1] == pytest.approx(queue.p_drop, rel=1e-11, abs=1e-300)
    assert queue.throughput == pytest.approx(mu * (1 - pi[0]), rel=1e-9)
    assert queue.throughput == pytest.approx(load * mu * (1 - queue.p_drop), rel=1e-9)
    # Little: number waiting and in service = throughput (wait + service)
    assert queue.mean_number == pytest.approx(queue.throughput * (queue.mean_wait + 1 / mu), rel=1e-9)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.floats(1e-3, 99), st.floats(1e-9, 1), st.integers(1, 300))
def test_monotone_in_load(load: float, more: float, k: int) -> None:
    low, high = MM1K(load, k), MM1K(load + more, k)
    assert high.p_drop >= low.p_drop
    assert high.mean_number >= low.mean_number * (1 - 1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 10), "load: 0 is not possible (allowed: a finite number above 0)"),
        ((math.inf, 10), "load: inf is not possible (allowed: a finite number above 0)"),
        ((1.0, 0), "capacity: 0 is not possible (allowed: a whole number of packets, 1 or more)"),
        ((1.0, 2.5), "capacity: 2.5 is not possible (allowed: a whole number of packets, 1 or more)"),
        ((1.0, 10, -1.0), "service_rate: -1 is not possible (allowed: a finite number above 0 packets/s)"),
    ],
)
def test_outside_the_domain(arguments: tuple[float, int], message: str) -> None:
    with pytest.raises(DomainError) as caught:
        MM1K(*arguments)
    assert str(caught.value) == message
