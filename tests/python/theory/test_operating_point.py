"""Operating points of the fluid model: points computed by hand, each failing assumption, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.fluid.loss_law import LAWS, B, LossLaw, loss_law
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass

RED = DropCurve.of("red", min_th=150, max_th=700, max_p=0.1, limit=800)
PC_RED = DropCurve.of("red", min_th=10, max_th=35, max_p=0.1, limit=50)
GENTLE = DropCurve.of("gentle-red", min_th=10, max_th=35, max_p=0.1, limit=100)


def line(slope: float) -> DropCurve:
    return DropCurve("line", lambda x: np.minimum(slope * x, 1.0), 0.0, 1 / slope)


def model(
    curve: DropCurve, *classes: FlowClass, capacity: float = 1000, law: str = "misra", **link: float
) -> FluidModel:
    return FluidModel(Bottleneck(capacity, curve, 0.1, **link), classes, law)


def test_equilibrium_by_hand() -> None:
    # q = 100: R = 0.1 + 100/1000 = 0.2 s, W0 = R C/N = 20 packets, p0 = 2/W0^2 = 0.005 = 100 packets x 5e-5.
    point = model(line(5e-5), FlowClass("tcp", 10, 0.1)).operating_point()
    assert point.queue == pytest.approx(100, rel=1e-12)
    assert point.windows == pytest.approx((20,), rel=1e-12)
    assert point.rtts == pytest.approx((0.2,), rel=1e-12)
    assert point.p == pytest.approx(0.005, rel=1e-12)
    assert point.throughput == pytest.approx(1000, rel=1e-12)
    assert (point.inside, point.notes) == (True, ())


def test_equilibrium_of_two_classes_by_hand() -> None:
    # Equal p, hence equal windows; of 200/0.98 packets/s p = 0.02 leaves 200:
    # 12 W/0.2 + 8 W/0.4 = 1000 - 200 gives W = 10, p = 2/W^2 = 0.02 = 100 packets x 2e-4.
    classes = (FlowClass("near", 12, 0.1), FlowClass("far", 8, 0.3))
    point = model(line(2e-4), *classes, unresponsive=200 / 0.98).operating_point()
    assert point.queue == pytest.approx(100, rel=1e-12)
    assert point.windows == pytest.approx((10, 10), rel=1e-12)


def test_hollots_example() -> None:
    # C. Hollot et al., INFOCOM 2001: 60 flows, 3750 packets/s, a round trip of 0.246 s with the queue.
    # W0 = 15.375 packets, p0 = 0.00846, which RED gives at 150 + 5500 p0 = 196.53 packets.
    queue = 150 + 5500 * 2 / 15.375**2
    point = model(RED, FlowClass("tcp", 60, 0.246 - queue / 3750), capacity=3750, limit=800).operating_point()
    assert queue == pytest.approx(196.53, abs=0.005)
    assert point.queue == pytest.approx(queue, rel=1e-12)
    assert point.windows == pytest.approx((15.375,), rel=1e-12)
    assert point.rtts == pytest.approx((0.246,), rel=1e-12)
    assert point.p == pytest.approx(0.0084606, rel=1e-5)
    assert point.inside


def test_spacing_stretches_the_gaps_between_drops() -> None:
    point = FluidModel(Bottleneck(1000, line(7.5e-5), 0.1, spacing="ns2-wait"), (FlowClass("tcp", 10, 0.1),))
    assert point.operating_point().queue == pytest.approx(100, rel=1e-12)


def test_jump_of_the_curve() -> None:
    point = model(PC_RED, FlowClass("tcp", 20, 0.1), capacity=125, limit=50).operating_point()
    assert point.queue == 35
    assert not point.inside
    assert point.windows[0] == pytest.approx(2.375)
    assert point.p == pytest.approx(2 / 2.375**2)
    assert "the curve jumps from p = 0.1 to 1 at 35 packets" in point.notes[0]
    assert "p = 0.3546 is above 0.1" in point.notes[1]
    assert "tcp: a window of 2.38 packets, below 4" in point.notes[2]


def test_p_above_max_p_on_a_gentle_slope() -> None:
    point = model(GENTLE, FlowClass("tcp", 20, 0.1), capacity=125, limit=100).operating_point()
    assert point.inside
    assert point.queue > 35
    assert "the highest that the curve gives below max_th" in point.notes[0]


def test_link_that_is_not_filled() -> None:
    point = model(PC_RED, FlowClass("tcp", 2, 0.4, window_limit=10), capacity=125, limit=50).operating_point()
    assert (point.queue, point.p, point.windows, point.throughput) == (0, 0, (10,), 50)
    assert not point.inside
    assert "do not fill the link: 50 of 125 packets/s" in point.notes[0]
    assert "stands at its limit of 10 packets" in point.notes[1]


def test_window_limit_alone_can_hold_the_queue() -> None:
    # 10 flows x 20 packets on a pipe of 100 packets: 100 wait.
    curve = DropCurve.none(limit=500)
    point = model(curve, FlowClass("tcp", 10, 0.1, window_limit=20), limit=500).operating_point()
    assert point.queue == pytest.approx(100, rel=1e-12)
    assert point.p == 0


@pytest.mark.parametrize("unresponsive", [0.0, 500.0])
def test_full_queue(unresponsive: float) -> None:
    full = model(DropCurve.none(limit=100), FlowClass("tcp", 50, 0.1), limit=100, unresponsive=unresponsive)
    point = full.operating_point()
    assert point.queue == 100
    assert not point.inside
    assert "the queue is full" in point.notes[0]
    offered = 50 * point.windows[0] / 0.2 + unresponsive
    assert offered * (1 - point.p) == pytest.approx(1000, rel=1e-9)
    assert point.throughput == 1000


def test_load_that_does_not_react_is_thinned_by_early_drops() -> None:
    # Twice the capacity and hardly any TCP: RED's average stays at max_th, where half is dropped.
    point = model(PC_RED, FlowClass("tcp", 1e-3, 0.1), capacity=125, limit=50, unresponsive=250).operating_point()
    assert point.queue == 35
    assert point.p == pytest.approx(0.5, abs=1e-3)
    assert point.throughput == pytest.approx(125)


@given(
    flows=st.floats(1, 1000),
    propagation=st.floats(0.001, 1),
    window_limit=st.floats(1, 1000),
    unresponsive=st.floats(0, 900),
    curve=st.sampled_from([PC_RED, GENTLE, DropCurve.none(limit=50)]),
    law=st.sampled_from(sorted(LAWS)),
)
@settings(derandomize=True, max_examples=40, deadline=None)
def test_every_point_balances(
    flows: float, propagation: float, window_limit: float, unresponsive: float, curve: DropCurve, law: str
) -> None:
    classes = (FlowClass("a", flows, propagation, window_limit), FlowClass("b", 1, 0.05))
    made = model(curve, *classes, capacity=1000, limit=curve.limit, unresponsive=unresponsive, law=law)
    point = made.operating_point()
    offered = sum(c.flows * w / r for c, w, r in zip(classes, point.windows, point.rtts, strict=True))
    offered += unresponsive * (1 - point.p)
    assert 0 <= point.queue <= curve.limit
    assert 0 <= point.p <= 1
    assert all(1 <= w <= c.window_limit for c, w in zip(classes, point.windows, strict=True))
    if point.queue == 0:
        assert offered <= 1000 * (1 + 1e-9)
    elif point.queue < curve.limit and max(point.windows) > 1:
        assert offered == pytest.approx(1000, rel=1e-6)
    if point.inside:
        assert made.bottleneck.drop(point.queue) == pytest.approx(point.p, abs=1e-5)
    else:
        assert point.notes


def test_more_flows_mean_a_longer_queue() -> None:
    queues = [
        model(RED, FlowClass("tcp", n, 0.1), capacity=3750, limit=800).operating_point().queue
        for n in range(20, 120, 10)
    ]
    assert queues == sorted(queues)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_laws_rest_where_they_say(name: str) -> None:
    law: LossLaw = loss_law(name)
    p = np.array([1e-5, 0.001, 0.01, 0.05])
    window = law.window(p)
    assert law.cut * window * law.events(window, p) == pytest.approx(np.ones(4), rel=1e-12)


def test_mean_window_of_independent_losses() -> None:
    # Ott, Kemperman, Mathis: 1.3098/sqrt(p). Independent draws: the window before a loss is sqrt(2 sum E_k/4^k).
    assert pytest.approx(1.3098, abs=5e-5) == 2 / B
    random = np.random.default_rng(1)
    drawn = np.sqrt(2 * sum(random.exponential(size=200_000) / 4.0**k for k in range(12)))
    assert drawn.mean() == pytest.approx(B, abs=4 * drawn.std() / math.sqrt(drawn.size))
    assert loss_law("random").window(np.array(0.01)) == pytest.approx(13.098, abs=5e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bottleneck(0, RED, 0.1), "capacity: 0 is not possible (allowed: a finite number above 0 packets/s)"),
        (lambda: Bottleneck(1, RED, 0), "w_q: 0 is not possible (allowed: above 0, at most 1)"),
        (lambda: Bottleneck(1, RED, 1, limit=0), "limit: 0 is not possible (allowed: above 0 packets, or infinite)"),
        (lambda: Bottleneck(1, RED, 1, spacing="often"), "spacing: often is not possible (allowed: ns2-wait, "),
        (lambda: Bottleneck(1, RED, 1, unresponsive=-1), "unresponsive: -1 is not possible (allowed: "),
        (lambda: FlowClass("a", 0, 0.1), "a: flows: 0 is not possible"),
        (lambda: FlowClass("a", 1, math.nan), "a: propagation: nan is not possible"),
        (lambda: FlowClass("a", 1, 0.1, 0.5), "a: window_limit: 0.5 is not possible (allowed: 1 packet or more)"),
        (lambda: model(RED), "classes: at least one class of flows is needed"),
        (
            lambda: model(RED, FlowClass("a", 1, 1), law="reno"),
            "loss_law: reno is not possible (allowed: misra, random, periodic, recovery)",
        ),
        (
            lambda: model(DropCurve.none(limit=100), FlowClass("a", 1, 1), unresponsive=1000).operating_point(),
            "unresponsive: 1000 packets/s are more than the link and the curve can cope with",
        ),
        (
            lambda: model(DropCurve.none(limit=math.inf), FlowClass("a", 1, 1)).operating_point(),
            "limit: a queue without limit and without drops grows for ever",
        ),
    ],
)
def test_bad_input_gets_one_line(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(DomainError) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
