"""The birth-death chain: every number of the oracle, identities for random parameters, and the simulated queue."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab import _core
from aqmlab.statistics import interval
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.chain import solve_chain
from aqmlab.theory.queueing.mm1k import MM1K
from aqmlab.theory.queueing.runs import consecutive_drops

METRICS = {
    "P_drop": "p_drop",
    "throughput": "throughput",
    "E_Q": "mean_number",
    "D": "mean_wait",
    "pi_full": "pi_full",
}


def test_every_row_of_the_oracle() -> None:
    rows = oracle.rows("chain")
    assert len(rows) == 600
    for row in rows:
        chain = oracle.chain(row["series"], float(row["x"]))
        if row["metric"] == "throughput_check":
            found = chain.service_rate * (1 - float(chain.pi[0]))
        else:
            found = getattr(chain, METRICS[row["metric"]])
        assert oracle.same(found, float(row["value"])), row


def test_coefficients_of_exred() -> None:
    numbers = {row["metric"]: float(row["value"]) for row in oracle.rows("const")}
    assert len(numbers) == 5
    # the parabola through three points of the curve that is simulated
    x = np.array([40.0, 60.0, 90.0])
    found = np.linalg.solve(np.vander(x, 3), oracle.curve("exred")(x))
    expected = [numbers["a2"], numbers["a1"], numbers["a0_corrected"]]
    assert found == pytest.approx(expected, rel=1e-9)
    k_l, k_h, k, max_p = 10.0, 30.0, 100.0, 0.1
    scale = (k_h - k_l) * (k - k_h) ** 2
    printed = (k_h**3 - k_h**2 * k_l - (k_h**2 + 2 * k_h * k_l + k_l * k) * k * max_p) / scale
    assert oracle.same(printed, numbers["a0_as_printed"])
    assert oracle.same((k_h - k_l) / (k - k_l), numbers["max_p_bound"])
    # at the bound the parabola is the straight line to (K, 1)
    line = oracle.curve("exred", max_p=numbers["max_p_bound"])
    assert line([30.0, 65.0, 100.0]) == pytest.approx([20 / 90, 55 / 90, 1.0])


def ramp(k_l: int, width: int, max_p: float, top: float) -> DropCurve:
    """RED's ramp to max_p, then a line to 1 at `top`, or at once."""

    def function(x: np.ndarray) -> np.ndarray:
        rising = max_p * np.clip((x - k_l) / width, 0, 1)
        beyond = max_p + (1 - max_p) * (x - k_l - width) / top if top > 0 else np.ones_like(x)
        return np.where(x < k_l + width, rising, np.minimum(beyond, 1.0))

    return DropCurve("ramp", function, k_l, k_l + width, (k_l, k_l + width))


CURVES = st.builds(ramp, st.integers(0, 40), st.integers(1, 40), st.floats(0, 1), st.sampled_from([0.0, 1.0, 30.0]))


@settings(derandomize=True, max_examples=80, deadline=None)
@given(CURVES, st.floats(1e-3, 100), st.integers(1, 200), st.floats(0.1, 1e5))
def test_identities(curve: DropCurve, load: float, beyond: int, mu: float) -> None:
    chain = solve_chain(curve, load=load, capacity=int(curve.max_th) + beyond, service_rate=mu)
    pi = chain.pi
    assert pi.sum() == pytest.approx(1, rel=1e-12)
    assert chain.throughput == pytest.approx(mu * (1 - pi[0]), rel=1e-9)
    assert chain.throughput == pytest.approx(load * mu * (1 - chain.p_drop), rel=1e-9)
    assert chain.mean_number == pytest.approx(chain.throughput * (chain.mean_wait + 1 / mu), rel=1e-9)
    # every step up is balanced by a step down
    assert pi[:-1] * load * (1 - chain.p[:-1]) == pytest.approx(pi[1:], rel=1e-9, abs=1e-300)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(CURVES, st.floats(1e-3, 20), st.floats(1e-6, 1))
def test_monotone_in_load(curve: DropCurve, load: float, more: float) -> None:
    low = solve_chain(curve, load=load, capacity=100)
    high = solve_chain(curve, load=load + more, capacity=100)
    assert high.p_drop >= low.p_drop * (1 - 1e-12)
    assert high.mean_number >= low.mean_number * (1 - 1e-12)
    assert high.throughput >= low.throughput * (1 - 1e-12)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.floats(0.01, 50), st.integers(2, 300))
def test_tail_drop_is_the_limit_of_red(load: float, k: int) -> None:
    tail = MM1K(load, k)
    # thresholds just below K: the first state that drops is K itself
    late = oracle.curve("red", k_l=k - 1.0, k_h=k - 0.5, limit=2 * k)
    chain = solve_chain(late, load=load, capacity=k)
    assert chain.p_drop == pytest.approx(tail.p_drop, rel=1e-10, abs=1e-300)
    assert chain.mean_number == pytest.approx(tail.mean_number, rel=1e-10)
    assert chain.mean_wait == pytest.approx(tail.mean_wait, rel=1e-10)
    assert consecutive_drops(chain).mean_run == pytest.approx(tail.mean_run, rel=1e-10)


def test_tail_drop_is_approached_by_red() -> None:
    gaps = []
    for k_l in (50, 70, 90, 98):
        chain = solve_chain(oracle.curve("red", k_l=k_l, k_h=99.5), load=0.95, capacity=100)
        gaps.append(chain.p_drop / MM1K(0.95, 100).p_drop - 1)
    assert all(a > b > 0 for a, b in pairwise(gaps))
    assert gaps[-1] < 0.1


@pytest.mark.parametrize("load", [1e-3, 1 - 1e-12, 1.0, 1 + 1e-12, 100.0])
@pytest.mark.parametrize("k", [1, 2, 1000, 100_000])
def test_drop_tail_of_any_size(load: float, k: int) -> None:
    chain = solve_chain(DropCurve.none(limit=k), load=load, capacity=k)
    queue = MM1K(load, k)
    assert chain.p_drop == pytest.approx(queue.p_drop, rel=1e-9, abs=1e-300)
    assert chain.mean_number == pytest.approx(queue.mean_number, rel=1e-9)
    assert chain.mean_wait == pytest.approx(queue.mean_wait, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("load", [1e-3, 0.5, 1 - 1e-12, 1.0, 1 + 1e-12, 2.0, 100.0])
@pytest.mark.parametrize(
    "curve",
    [
        oracle.no_drops(),
        oracle.certain_drops(),
        oracle.no_drops(29, 30),
        oracle.certain_drops(29, 30),
        oracle.curve("red", k_l=29, k_h=30),
        oracle.curve("mred", k_l=29, k_h=30),
        oracle.curve("gentle_red", k_l=29, k_h=30),
        oracle.curve("red", max_p=1.0),
        oracle.curve("gentle_red", max_p=1.0),
        oracle.curve("mred", max_p=1.0),
    ],
    ids=lambda curve: curve.name,
)
def test_edges_of_the_domain_are_finite(curve: DropCurve, load: float) -> None:
    chain = solve_chain(curve, load=load, capacity=31)
    runs = consecutive_drops(chain)
    numbers = [chain.p_drop, chain.throughput, chain.mean_number, chain.mean_wait, runs.mean_run, runs.mean_any]
    assert all(math.isfinite(x) and x >= 0 for x in numbers)
    assert runs.mean_run >= 1


@pytest.mark.parametrize("series", ["red", "gentle_red", "mred", "exred"])
def test_capacity_must_lie_above_max_th(series: str) -> None:
    for capacity in (29, 30):
        with pytest.raises(DomainError) as caught:
            solve_chain(oracle.curve(series), load=1.0, capacity=capacity)
        name = series.replace("_", "-")
        expected = f"capacity: {capacity} is not possible (allowed: above max_th = 30 packets of {name})"
        assert str(caught.value) == expected
    assert solve_chain(oracle.curve(series), load=1.0, capacity=31).p_drop > 0


def test_curves_that_cannot_be() -> None:
    too_high = DropCurve("steep", lambda x: x / 10, 0, 5)
    with pytest.raises(DomainError, match="steep: the curve gives values outside 0 to 1 on 0 to 20 packets"):
        solve_chain(too_high, load=1.0, capacity=20)
    shut = DropCurve("shut", np.ones_like, 0, 5)
    with pytest.raises(DomainError, match="shut: the curve drops every packet that finds an empty system"):
        solve_chain(shut, load=1.0, capacity=20)


SETTINGS = 30
SEEDS = 12
FAMILY_LEVEL = 0.99
"""All intervals of all settings hold together with this confidence (Bonferroni)."""


def test_the_simulated_queue_at_weight_one_is_the_chain() -> None:
    """30 random settings; three numbers each must lie inside their interval from independent seeds."""
    random = np.random.default_rng(20031)
    level = 1 - (1 - FAMILY_LEVEL) / (3 * SETTINGS)
    for index in range(SETTINGS):
        aqm = ("red", "gentle-red", "mred", "exred", "drop-tail")[index % 5]
        k_l = int(random.integers(1, 8))
        k_h = 2 * k_l + int(random.integers(0, 8))
        capacity = 4 * k_h + int(random.integers(1, 20))
        max_p = round(float(random.uniform(0.02, 0.9)) * (k_h - k_l) / (capacity - k_l), 4)
        load, mu = round(float(random.uniform(0.7, 2.0)), 3), round(float(random.uniform(1, 5000)), 2)
        if aqm == "drop-tail":
            capacity = int(random.integers(2, 20))
            curve, queue = DropCurve.none(limit=capacity), f'aqm = "drop-tail"\nlimit = "{capacity - 1}p"'
        else:
            curve = DropCurve.of(aqm, min_th=k_l, max_th=k_h, max_p=max_p, limit=capacity)
            queue = (
                f'aqm = "{aqm}"\nlimit = "{capacity}p"\nmin_th = "{k_l}p"\nmax_th = "{k_h}p"\nmax_p = {max_p}\n'
                'w_q = 1.0\ndialect = "floyd93"\nspacing = "none"\nin_service_counts = true'
            )
        chain = solve_chain(curve, load=load, capacity=capacity, service_rate=mu)
        found = [_core.open_loop(queue, load * mu, mu, 100_000, 3_000, 100 * index + seed) for seed in range(SEEDS)]
        for key, exact in (
            ("p_drop", chain.p_drop),
            ("mean_wait_s", chain.mean_wait),
            ("mean_run", consecutive_drops(chain).mean_run),
        ):
            numbers = [float(result[key]) for result in found]
            inside = interval(numbers, level=level)
            assert inside.low <= exact <= inside.high, (aqm, k_l, k_h, capacity, max_p, load, key, exact, str(inside))
