"""The chain with the average: its limits, its convergence, its domain, and the simulated queue."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab import _core
from aqmlab.statistics import interval
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.average_grid import nodes, shares
from aqmlab.theory.queueing.averaged_balance import Model
from aqmlab.theory.queueing.averaged_chain import AveragedChain, solve_averaged_chain
from aqmlab.theory.queueing.chain import solve_chain
from aqmlab.theory.queueing.mm1k import MM1K
from aqmlab.theory.queueing.runs import consecutive_drops

QUEUE = """
aqm = "{aqm}"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.02
dialect = "floyd93"
spacing = "none"
in_service_counts = true
"""
CURVES = ("red", "gentle_red", "mred", "exred")


def solve(series: str, load: float, *, w_q: float = 0.02, step: float | None = None) -> AveragedChain:
    curve = oracle.curve(series)
    return solve_averaged_chain(curve, load=load, capacity=100, w_q=w_q, service_rate=1000.0, step=step)


def numbers(chain: AveragedChain) -> list[float]:
    assert chain.mean_run is not None
    return [chain.p_drop, chain.mean_run, chain.mean_wait]


@pytest.mark.parametrize("series", CURVES)
@pytest.mark.parametrize("load", [0.7, 1.0, 2.0])
def test_weight_one_is_the_chain_without_average(series: str, load: float) -> None:
    curve = DropCurve.of(series.replace("_", "-"), min_th=5, max_th=15, max_p=0.1, limit=40)
    plain = solve_chain(curve, load=load, capacity=40, service_rate=1000.0)
    chain = solve_averaged_chain(curve, load=load, capacity=40, w_q=1.0, service_rate=1000.0)
    runs = consecutive_drops(plain)
    assert chain.p_drop == pytest.approx(plain.p_drop, rel=1e-9)
    assert chain.throughput == pytest.approx(plain.throughput, rel=1e-9)
    assert chain.mean_number == pytest.approx(plain.mean_number, rel=1e-9)
    assert chain.mean_wait == pytest.approx(plain.mean_wait, rel=1e-9)
    assert chain.mean_run == pytest.approx(runs.mean_run, rel=1e-9)
    assert chain.longer(3) == pytest.approx(runs.longer(3), rel=1e-9)
    assert chain.pi == pytest.approx(plain.pi, abs=1e-12)
    # the average is the number that the last arrival found
    assert chain.mean_average == pytest.approx(plain.mean_number, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.8, 1.0, 1.5])
@pytest.mark.parametrize("w_q", [0.02, 0.3, 1.0])
def test_without_a_curve_it_is_the_closed_form(load: float, w_q: float) -> None:
    chain = solve_averaged_chain(DropCurve.none(limit=30), load=load, capacity=30, w_q=w_q)
    exact = MM1K(load, 30)
    assert chain.p_drop == pytest.approx(exact.p_drop, rel=1e-7)
    assert chain.mean_wait == pytest.approx(exact.mean_wait, rel=1e-8)
    assert chain.mean_run == pytest.approx(exact.mean_run, rel=1e-7)
    assert chain.pi == pytest.approx(exact.pi, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("series", "load"), [("red", 0.8), ("red", 1.1), ("exred", 0.9)])
def test_the_grid_has_converged(series: str, load: float) -> None:
    coarse, default, fine = (numbers(solve(series, load, step=step)) for step in (2.0, None, 0.25))
    for a, b, c in zip(coarse, default, fine, strict=True):
        assert abs(b / c - 1) < 5e-4
        assert abs(a / c - 1) < 5e-3


def test_the_jump_needs_the_fine_nodes() -> None:
    # The plain uniform grid of this spacing gives 5 to 7; a hundred seconds of simulation 7.79.
    assert solve("red", 2.0).mean_run == pytest.approx(7.791, rel=1e-3)


@pytest.mark.slow
@settings(derandomize=True, max_examples=6, deadline=None)
@given(
    st.sampled_from(["red", "gentle-red", "mred", "exred"]),
    st.floats(0.7, 3.0),
    st.floats(1e-3, 1.0),
    st.integers(1, 4),
    st.floats(0.1, 1.0),
)
def test_identities(aqm: str, load: float, w_q: float, k_l: int, share: float) -> None:
    k_h, k = 2 * k_l + 1, 8 * k_l + 4
    curve = DropCurve.of(aqm, min_th=k_l, max_th=k_h, max_p=round(share * (k_h - k_l) / (k - k_l), 6), limit=k)
    chain = solve_averaged_chain(curve, load=load, capacity=k, w_q=w_q, service_rate=10.0)
    assert chain.law.sum() == pytest.approx(1, rel=1e-12)
    assert chain.residual < 1e-12
    assert chain.throughput == pytest.approx(10 * (1 - chain.pi[0]), rel=1e-6)
    assert chain.mean_number == pytest.approx(chain.throughput * (chain.mean_wait + 0.1), rel=1e-6)
    assert chain.mean_run is not None
    assert chain.mean_run >= 1
    assert 0 <= chain.mean_average <= k
    higher = solve_averaged_chain(curve, load=load * 1.05, capacity=k, w_q=w_q, service_rate=10.0)
    assert higher.p_drop >= chain.p_drop
    assert higher.mean_number >= chain.mean_number * (1 - 1e-6)


@pytest.mark.parametrize("load", [0.01, 1.0, 1 - 1e-12, 5.0])
@pytest.mark.parametrize("w_q", [1e-4, 0.02, 1.0])
@pytest.mark.parametrize(
    "curve",
    [oracle.no_drops(), oracle.certain_drops(), oracle.curve("red", k_l=29, k_h=30), DropCurve.none(limit=1)],
    ids=lambda curve: curve.name,
)
def test_edges_of_the_domain_are_finite(curve: DropCurve, load: float, w_q: float) -> None:
    capacity = 1 if math.isinf(curve.max_th) else 31
    chain = solve_averaged_chain(curve, load=load, capacity=capacity, w_q=w_q, step=1.0)
    found = [chain.p_drop, chain.throughput, chain.mean_number, chain.mean_wait, chain.mean_average, chain.sd_average]
    assert all(math.isfinite(x) and x > -1e-9 for x in found)
    assert (chain.mean_run is None) == bool(chain.notes)


def test_drops_that_are_too_rare_have_no_runs() -> None:
    chain = solve("red", 0.1)
    assert (chain.p_drop, chain.mean_run, chain.longer(1)) == (0.0, None, None)
    assert chain.notes == ("Drops are rarer than rounding errors; their probability is given as 0.",)
    assert chain.mean_wait == pytest.approx(MM1K(0.1, 100, 1000.0).mean_wait, rel=1e-6)


@pytest.mark.slow
def test_a_small_weight_holds_the_average_at_the_balance() -> None:
    # with w_q -> 0 every arrival is dropped with one p, at which M/M/1/K carries the accepted packets
    curve, load = oracle.curve("exred"), 1.1
    chain = solve_averaged_chain(curve, load=load, capacity=100, w_q=1e-6)
    low, high = 10.0, 60.0
    for _ in range(60):
        x = (low + high) / 2
        accepted = load * (1 - float(curve(x)))
        low, high = (x, high) if MM1K(accepted, 100).mean_number > x else (low, x)
    assert chain.mean_average == pytest.approx(x, rel=2e-3)
    assert chain.sd_average < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("series", CURVES)
def test_the_simulated_queue(series: str) -> None:
    """Eight seeds; the 99.9 % interval of each of three numbers, widened by 0.2 % for the grid, has the chain."""
    chain = solve(series, 1.2)
    queue = QUEUE.format(aqm=series.replace("_", "-"))
    runs = [_core.open_loop(queue, 1200.0, 1000.0, 200_000, 20_000, seed) for seed in range(8)]
    for key, exact in zip(("p_drop", "mean_run", "mean_wait_s"), numbers(chain), strict=True):
        found = interval([float(run[key]) for run in runs], level=0.999)
        assert found.low * 0.998 <= exact <= found.high * 1.002, (key, exact, str(found))


@pytest.mark.parametrize("w_q", [1e-4, 1e-6, 1e-9])
def test_the_grid_is_refined_for_an_average_that_rests(w_q: float) -> None:
    chain = solve_averaged_chain(DropCurve.none(limit=17), load=2.0, capacity=17, w_q=w_q)
    assert chain.p_drop == pytest.approx(MM1K(2.0, 17).p_drop, rel=1e-6)
    # no drop depends on it: it is the mean of the numbers that busy arrivals find, to an order of w_q
    assert chain.mean_average == pytest.approx(MM1K(2.0, 17).mean_number, rel=1e-3)
    assert chain.sd_average < 5 * math.sqrt(w_q)


def test_weight_one_leaves_large_systems_to_the_chain_without_average() -> None:
    with pytest.raises(DomainError) as caught:
        solve_averaged_chain(oracle.curve("exred", limit=1000), load=1.0, capacity=1000, w_q=1.0)
    expected = "w_q: 1 is not possible (allowed: below 1 with K = 1000; at 1 solve_chain is exact and takes any K)"
    assert str(caught.value) == expected


@pytest.mark.slow
def test_longer_runs_sum_to_the_mean() -> None:
    chain = solve("exred", 1.1)
    assert math.fsum(chain.longer(n) or 0.0 for n in range(20)) == pytest.approx(chain.mean_run, rel=1e-6)
    assert chain.longer(0) == 1.0


def test_shares_keep_moments() -> None:
    grid = nodes(0.0, 40.0, step=0.5, w_q=0.02, jumps=(30.0,))
    assert np.all(np.diff(grid) > 0)
    x = np.linspace(1.0, 39.0, 777)
    for cubic, moments in ((True, 3), (False, 1)):
        at, share = shares(x, grid, cubic=cubic)
        assert share.sum(axis=0) == pytest.approx(1.0, abs=1e-10)
        for power in range(1, moments + 1):
            assert (share * grid[at] ** power).sum(axis=0) == pytest.approx(x**power, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w_q": 0.0}, "w_q: 0 is not possible (allowed: above 0, at most 1)"),
        ({"w_q": 1.5}, "w_q: 1.5 is not possible (allowed: above 0, at most 1)"),
        ({"load": 1e4}, "load: 10000 is not possible (allowed: at most 100; beyond, solve_chain takes any load)"),
        ({"load": -1.0}, "load: -1 is not possible (allowed: a finite number above 0)"),
        ({"capacity": 30}, "capacity: 30 is not possible (allowed: above max_th = 30 packets of red)"),
        ({"step": 0.0}, "step: 0 is not possible (allowed: a finite number above 0 packets)"),
        (
            {"step": 0.001},
            "are too many states (allowed: levels * averages^2 up to 60000000; a wider step has fewer averages)",
        ),
    ],
)
def test_outside_the_domain(change: dict[str, float], message: str) -> None:
    arguments = {"load": 1.0, "capacity": 100, "w_q": 0.02} | change
    with pytest.raises(DomainError) as caught:
        solve_averaged_chain(oracle.curve("red"), **arguments)
    assert str(caught.value).endswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.05, 0.9, 20.0])
@pytest.mark.parametrize("w_q", [0.05, 0.5, 1.0])
def test_the_law_is_the_stationary_one_of_the_dense_matrix_of_rates(load: float, w_q: float) -> None:
    curve = DropCurve.of("red", min_th=2, max_th=6, max_p=0.1, limit=10)
    solution = Model(curve, load, 10, w_q).solve(np.arange(11.0), 10, cubic=w_q < 0.1)
    width, size = 11, 121
    arrivals = (solution.arrivals.accept + solution.arrivals.drop).toarray()
    served = np.eye(size, k=-width)
    rates = load * arrivals + served
    rates -= np.diag(rates.sum(axis=1))
    own = np.linalg.svd(rates.T)[2][-1].reshape(11, 11)
    assert solution.law == pytest.approx(own / own.sum(), abs=1e-13)
    assert solution.residual < 1e-15 * max(load, 1.0)
