"""PC-RED's channels as a fixed point: hand-computed points, boundaries, and a_d played out drop by drop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from aqmlab.theory.control.pc_red import channels
from aqmlab.theory.domain import DomainError
from aqmlab.theory.shares.pc_red import Loop, PcRedFlows, _two_states
from aqmlab.theory.shares.response import cut_of, settle, windows_at

NETWORK = Loop(limit=70, interval=0.36, weight=0.003)


def flows(reading="flows", *, law="misra", counts=(2.0, 18.0), loop=NETWORK, **more):
    n = len(counts)
    return PcRedFlows(
        loop=loop,
        law=law,
        flows=np.array(counts),
        priority=np.array([True] + [False] * (n - 1)),
        dropped=np.full(n, 500.0),
        limits=np.full(n, np.inf),
        reading=reading,
        **more,
    )


def test_the_share_of_a_window_that_one_loss_takes():
    """Misra 1/2 of any window; with recovery 1/(W^2 p(W)), so that windows_at and cut_of give h W^2 p = 1."""
    assert cut_of("misra", np.array([1.0, 50.0])).tolist() == [0.5, 0.5]
    for law in ("misra", "random", "recovery"):
        (window,) = windows_at(law, np.array([0.01]))
        assert float(cut_of(law, np.array([window]))[0]) * window**2 * 0.01 == pytest.approx(1)
    assert windows_at("misra", np.array([1.0, 2.0])).tolist() == pytest.approx([math.sqrt(2), 1.0])


def test_fixed_points_of_rising_and_falling_steps_are_found():
    assert float(settle(lambda x: np.sqrt(x) * 3, np.array([1.0]))[0]) == pytest.approx(9)
    assert float(settle(lambda x: 8 / x**2, np.array([1.0]))[0]) == pytest.approx(2)


@pytest.mark.parametrize(("name", "wrong"), [("L", {"limit": 0}), ("g", {"interval": -1}), ("w", {"weight": 1})])
def test_a_loop_outside_its_domain_is_an_error(name, wrong):
    with pytest.raises(DomainError, match=f"^{name}: "):
        Loop(**{"limit": 70, "interval": 0.36, "weight": 0.003, **wrong})


def test_what_a_drop_adds_has_decayed_after_tau():
    """w B = 1.5 bytes, and at 70 bytes k = -ln(0.997)/0.36 takes 70 k = 0.5842 bytes a second."""
    k = -math.log(0.997) / 0.36
    assert NETWORK.undone(500) == pytest.approx(1.5 / (70 * k))
    assert NETWORK.undone(500) == pytest.approx(500 * 0.36 / 70, rel=2e-3)


def test_first_protection_is_figure_3_in_continuous_time():
    """a_d(n) = (1-w)^n L/2 + (1-(1-w)^n) X is 300 at (1-w)^n = 4/7; a step adds w X, a decay k."""
    loop = Loop(limit=300, interval=1, weight=0.01)
    held = 0.01 * 500 / loop.decay
    assert loop.first_protected_s(1, 500) == pytest.approx(math.log((held - 150) / (held - 300)) / loop.decay)
    assert loop.first_protected_s(1, 500) == pytest.approx(math.log(7 / 4) / loop.decay, rel=0.02)
    assert loop.first_protected_s(0.59, 500) == math.inf


def test_protection_at_its_boundaries():
    tau = NETWORK.undone(500)
    assert NETWORK.phases(0.0, 1 / tau, 500) == (0.0, math.inf)
    assert NETWORK.phases(1 / tau, 3.0, 500) == (math.inf, 0.0)
    near, _ = NETWORK.phases(0.999 / tau, 3.0, 500)
    assert near > 1000 * tau
    on_arrival = Loop(70, 0.36, 0.003, on_arrival=True)
    plus, minus = on_arrival.phases(0.5 / tau, 2 / tau, 500)
    assert (plus, minus) == (pytest.approx(2 * tau), pytest.approx(tau))
    share = plus / (plus + minus)
    assert share * 0.5 / tau + (1 - share) * 2 / tau == pytest.approx(1 / tau), "the mean rate of drops holds L"


def test_the_climb_is_the_mean_over_exponential_decays():
    plus, minus = 0.05, 0.8
    k, r = NETWORK.decay, 1 / (minus * NETWORK.undone(500))
    mean, _ = quad(
        lambda t: plus * math.exp(-plus * t) * math.log((1 - r * math.exp(-k * t)) / (1 - r)), 0, np.inf, limit=200
    )
    assert NETWORK.phases(plus, minus, 500)[1] == pytest.approx(mean / k, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("on_arrival", [False, True])
@pytest.mark.parametrize(("plus", "minus"), [(0.02, 0.8), (0.1, 0.6), (0.25, 1.5)])
def test_the_share_of_time_protected_is_that_of_a_d_played_out(plus, minus, on_arrival):
    """Equation (7) drop by drop at constant rates, 200,000 drops."""
    loop = Loop(70, 0.36, 0.003, on_arrival=on_arrival)
    rng = np.random.default_rng(7)
    waits = rng.exponential(size=200_000)
    a_d, status, protected, total, k = 35.0, False, 0.0, 0.0, loop.decay
    for number, wait in enumerate(waits.tolist()):
        if on_arrival and a_d > 70:
            until = math.log(a_d / 70) / k
            stay = wait / plus
            lasts, spared = (stay, stay) if stay < until else (until + (wait - plus * until) / minus, until)
        else:
            status = a_d > 70 and not on_arrival
            lasts = wait / (plus if status else minus)
            spared = lasts if status else 0.0
        if number > 5000:
            protected, total = protected + spared, total + lasts
        a_d = a_d * math.exp(-k * lasts) + 0.003 * 500
    length = loop.phases(plus, minus, 500)
    assert length[0] / sum(length) == pytest.approx(protected / total, abs=0.03)


def test_two_states_that_are_alike_are_one():
    """With the same losses in both, the window is 1/(h R d) in both: 2/(0.5 s 0.4/s) = 10 packets at h = 1/2."""
    for at_drop in (True, False):
        phi, plus, minus = _two_states((10.0, 30.0), 0.4, 0.4, 0.5, 0.5, 0.5, at_drop=at_drop)
        mean = phi * plus + (1 - phi) * minus
        assert (phi, mean) == (0.25, pytest.approx(10))
    assert _two_states((0.0, math.inf), 0.1, 0.4, 0.5, 0.5, 0.5, at_drop=True)[::2] == (0.0, 10.0)
    assert _two_states((math.inf, 0.0), 0.4, 1.0, 0.5, 0.5, 0.5, at_drop=True)[:2] == (1.0, 10.0)


def test_drops_are_divided_by_equations_2_to_4_as_printed():
    answer = flows()
    p, queue, rtts = 0.2, 32.0, np.full(2, 0.45)
    point = answer.at(p, queue, rtts)
    listed = 2 * point.share[0]
    parts = np.array([listed * point.drops_plus[0], (2 - listed) * point.drops_minus[0], 18 * point.drops_minus[1]])
    exact = channels(listed, 2 - listed, 18, queue=33)
    expected = [float(exact.plus), float(exact.minus), float(exact.non)]
    assert (parts / parts.sum()).tolist() == pytest.approx(expected, rel=1e-6)
    sent = float(np.sum(answer.flows * point.windows / rtts))
    assert parts.sum() == pytest.approx(p * sent, rel=1e-6)


def test_by_packets_all_drops_are_accounted_for():
    answer = flows("packets", law="recovery")
    p, rtts = 0.1, np.full(2, 0.45)
    point = answer.at(p, 32.0, rtts)
    assert float(np.sum(answer.flows * point.drops)) == pytest.approx(
        p * float(np.sum(answer.flows * point.windows / rtts)), rel=1e-5
    )
    assert 0 < point.share[0] < 1
    assert point.plus[0] > point.minus[0] > point.minus[1] > 1


def test_without_priority_or_too_early_all_lose_the_same():
    p, rtts = 0.02, np.full(2, 0.3)
    for answer in (flows(loop=Loop(1e6, 0.36, 0.003)), flows(lasts=1.0)):
        point = answer.at(p, 20.0, rtts)
        assert point.share.tolist() == [0.0, 0.0]
        assert point.windows.tolist() == pytest.approx([10.0, 10.0], rel=1e-6)


def test_a_circular_search_spares_the_protected():
    """C_p+ = 0, equation (3): once protected a flow loses nothing, and its window has no bound but its limit."""
    answer = flows(circular=True)
    answer.limits = np.array([40.0, np.inf])
    point = answer.at(0.2, 30.0, np.full(2, 0.45))
    assert (point.share[0], point.drops_plus[0], point.plus[0]) == (1.0, 0.0, 40.0)
