"""Runs of drops: every number of the oracle, the closed form of drop-tail, and time."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.chain import Chain, solve_chain
from aqmlab.theory.queueing.runs import consecutive_drops

METRICS = {
    "E_N_eq11_literal": "mean_eq11",
    "E_N_eq11_excl": "mean_eq11_excl",
    "P_run_start": "p_run_start",
    "E_N_exact_run": "mean_run",
    "E_N_exact_any": "mean_any",
    "E_N_exact_run_check": "mean_run",
    "P_N_gt_n_eq10_literal": "longer_eq10",
    "P_N_gt_n_eq10_excl": "longer_eq10_excl",
    "P_N_gt_n_exact_any": "longer_any",
    "P_N_gt_n_exact_run": "longer",
}


def test_every_mean_of_the_oracle() -> None:
    rows = oracle.rows("consec")
    assert len(rows) == 600
    for row in rows:
        found = getattr(oracle.runs(row["series"], float(row["x"])), METRICS[row["metric"]])
        assert oracle.same(found, float(row["value"])), row


@pytest.mark.slow
def test_every_distribution_of_the_oracle() -> None:
    rows = oracle.rows("consec_dist")
    assert len(rows) == 8400
    for row in rows:
        found = getattr(oracle.runs(row["series"], float(row["x"])), METRICS[row["metric"]])(int(row["y"]))
        assert oracle.same(found, float(row["value"])), row


def test_formulae_without_a_value_say_why() -> None:
    tail, red = oracle.runs("taildrop", 1.0), oracle.runs("red", 1.0)
    assert tail.mean_eq11 is None
    assert tail.longer_eq10(3) is None
    assert tail.notes == ("drop-tail drops in no state below K, so eq. (10) and (11) are 0/0 and have no value.",)
    assert red.mean_eq11 == math.inf
    assert red.notes == ("red visits k = 30 < K with p = 1, so eq. (11) is infinite and eq. (10) does not fall to 0.",)
    assert oracle.runs("exred", 1.0).notes == ()


def by_matrix(chain: Chain) -> tuple[float, float]:
    """Mean run from the dense matrix T, per run and per drop."""
    size, r = len(chain.p), 1 / (1 + chain.load)
    found = np.array([[r**i if j == 0 else r ** (i - j) * (1 - r) if j <= i else 0.0 for j in range(size)]
                      for i in range(size)])  # fmt: skip
    more = np.linalg.solve(np.eye(size) - found * chain.p, np.ones(size))
    start = np.append(0.0, (chain.pi * (1 - chain.p))[:-1]) @ found * chain.p
    dropped = chain.pi * chain.p
    return float(start @ more / start.sum()), float(dropped @ more / dropped.sum())


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(0.2, 20), st.floats(0.01, 1), st.integers(1, 12), st.integers(1, 12), st.integers(1, 20))
def test_recursions_are_the_matrix(load: float, max_p: float, k_l: int, width: int, beyond: int) -> None:
    curve = oracle.curve("gentle_red", max_p=max_p, k_l=k_l, k_h=k_l + width, limit=100)
    chain = solve_chain(curve, load=load, capacity=k_l + width + beyond)
    runs = consecutive_drops(chain)
    per_run, per_drop = by_matrix(chain)
    assert runs.mean_run == pytest.approx(per_run, rel=1e-9)
    assert runs.mean_any == pytest.approx(per_drop, rel=1e-9)
    tail = [runs.longer(n) for n in range(12)]
    assert tail[0] == pytest.approx(1, rel=1e-12)
    assert all(a >= b for a, b in pairwise(tail))
    assert math.fsum(tail) <= runs.mean_run * (1 + 1e-12)


@pytest.mark.slow
def test_mean_is_the_sum_of_the_tail() -> None:
    for series in oracle.SERIES:
        runs = oracle.runs(series, 1.2)
        assert math.fsum(runs.longer(n) for n in range(80)) == pytest.approx(runs.mean_run, rel=1e-9)
        assert math.fsum(runs.longer_any(n) for n in range(80)) == pytest.approx(runs.mean_any, rel=1e-9)


@pytest.mark.parametrize("load", [1e-3, 0.1, 1.0, 2.0, 100.0])
@pytest.mark.parametrize("k", [1, 2, 100, 1000])
def test_drop_tail_has_geometric_runs(load: float, k: int) -> None:
    runs = consecutive_drops(solve_chain(DropCurve.none(limit=k), load=load, capacity=k))
    assert runs.mean_run == pytest.approx(1 + load, rel=1e-10)
    assert runs.mean_any == pytest.approx(1 + load, rel=1e-10)
    assert runs.longer(5) == pytest.approx((load / (1 + load)) ** 5, rel=1e-10)


def test_runs_at_the_largest_load_are_finite() -> None:
    runs = consecutive_drops(solve_chain(DropCurve.none(limit=3), load=1e300, capacity=3))
    assert runs.mean_any == pytest.approx(1e300, rel=1e-10)


def test_only_certain_drops_have_no_form_without_them() -> None:
    runs = consecutive_drops(solve_chain(oracle.no_drops(), load=1.5, capacity=100))
    assert runs.mean_eq11 == math.inf
    assert runs.mean_eq11_excl is None
    assert runs.longer_eq10_excl(1) is None
    assert len(runs.notes) == 2
    # it is drop-tail with K = 30
    assert runs.mean_run == pytest.approx(2.5, rel=1e-10)


def test_length_of_a_run_is_a_whole_number() -> None:
    with pytest.raises(DomainError, match=r"n: -1 is not possible \(allowed: a whole number, 0 or more\)"):
        oracle.runs("red", 1.0).longer(-1)
