"""The fluid in time: known solutions, order of convergence, conservation, stability as the exact loop has it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab.theory.control.linearization import linearize
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.fluid.loss_law import LAWS
from aqmlab.theory.fluid.model import FluidModel, Trajectory
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass
from fluid_packets import MAX_P, Measured, Setting, fluid, run

STABLE, UNSTABLE = Setting(60, 0.1), Setting(60, 0.25)


def test_windows_without_loss_grow_by_a_packet_each_round_trip() -> None:
    link = Bottleneck(1e6, DropCurve.none(limit=100), 0.1, limit=100)
    path = FluidModel(link, (FlowClass("near", 1, 0.5), FlowClass("far", 1, 2.0, window_limit=4))).integrate(10)
    assert path.t[[0, -1]].tolist() == [0, 10]
    assert path.windows[:, 0] == pytest.approx(1 + path.t / 0.5, rel=1e-12)
    assert path.windows[:, 1] == pytest.approx(np.minimum(1 + path.t / 2, 4), rel=1e-12)
    assert not path.queue.any()
    assert path.throughput[-1] == pytest.approx([42, 2])


@pytest.mark.parametrize("w_q", [1e-4, 0.01, 1.0])
def test_average_follows_a_queue_that_grows_evenly(w_q: float) -> None:
    # 100 packets/s too many: q = 100 t and x = q - (100/K)(1 - exp(-K t)).
    link = Bottleneck(1000, DropCurve.none(limit=1e6), w_q, limit=1e6, unresponsive=1100)
    path = FluidModel(link, (FlowClass("idle", 1e-9, 1.0),)).integrate(5)
    rate = link.averaging_rate
    behind = 0.0 if math.isinf(rate) else 100 / rate * (1 - np.exp(-rate * path.t))
    assert path.queue == pytest.approx(100 * path.t, abs=1e-6)
    assert path.average == pytest.approx(100 * path.t - behind, abs=1e-6)


def test_converges_to_the_operating_point() -> None:
    model = STABLE.model()
    point, path = model.operating_point(), model.integrate(100)
    assert path.queue[-1] == pytest.approx(point.queue, rel=1e-6)
    assert path.windows[-1] == pytest.approx(point.windows, rel=1e-6)
    assert path.p[-1] == pytest.approx(point.p, rel=1e-6)
    assert path.mean_utilization(since=50) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("law", sorted(LAWS))
def test_rests_at_the_operating_point_of_two_classes(law: str) -> None:
    link = replace(STABLE.model().bottleneck, spacing="ns2-wait", unresponsive=300)
    model = FluidModel(link, (FlowClass("near", 30, 0.06), FlowClass("far", 25, 0.15)), law)
    point = model.operating_point()
    path = model.integrate(20, start=point)
    assert path.queue == pytest.approx(np.full(path.t.size, point.queue), rel=1e-9)
    assert path.windows[-1] == pytest.approx(point.windows, rel=1e-9)


def test_second_order_in_the_step() -> None:
    model = STABLE.model()
    point = model.operating_point()
    queue = point.queue + 20
    start = replace(point, queue=queue, p=float(model.bottleneck.drop(queue)))
    ends = [model.integrate(4, step=0.1 / n, start=start).queue[-1] for n in (4, 8, 16, 64)]
    errors = [abs(end - ends[-1]) for end in ends[:-1]]
    assert errors[0] / errors[1] > 3
    assert errors[1] / errors[2] > 3
    assert errors[1] < 0.02


def swing(path: Trajectory, since: float, until: float) -> float:
    kept = (path.t >= since) & (path.t < until)
    return float(np.ptp(path.queue[kept]))


@pytest.mark.parametrize(("rtt", "stable"), [(0.21, True), (0.24, False)])
def test_small_oscillations_decay_or_grow_as_in_the_exact_loop(rtt: float, stable: bool) -> None:
    model = Setting(200, rtt).model()
    point = model.operating_point()
    found = linearize(model, point, form="full").margins()
    assert found.stable == stable
    assert abs(found.gain_margin_db) < 3
    path = model.integrate(90, step=rtt / 8, start=replace(point, queue=point.queue + 1))
    assert (swing(path, 60, 90) < swing(path, 30, 60)) == stable


def test_oscillates_at_the_crossover() -> None:
    model = UNSTABLE.model()
    loop = linearize(model, model.operating_point()).margins()
    assert not loop.stable
    mine = fluid(model, 150)
    assert mine.sd > 0.5 * mine.queue
    assert loop.gain_crossover is not None
    assert mine.frequency == pytest.approx(loop.gain_crossover, rel=0.25)


@pytest.mark.slow
@given(
    flows=st.lists(st.floats(0.1, 100), min_size=1, max_size=3),
    propagation=st.floats(0.04, 0.5),
    w_q=st.sampled_from([1e-3, 0.05, 1.0]),
    limit=st.sampled_from([20.0, 60.0, math.inf]),
    aqm=st.sampled_from(["red", "gentle-red", "mred"]),
    unresponsive=st.floats(0, 200),
    law=st.sampled_from(sorted(LAWS)),
    step=st.floats(0.1, 1),
)
@settings(derandomize=True, max_examples=25, deadline=None)
def test_packets_are_conserved_and_bounds_hold(
    flows: list[float],
    propagation: float,
    w_q: float,
    limit: float,
    aqm: str,
    unresponsive: float,
    law: str,
    step: float,
) -> None:
    curve = DropCurve.of(aqm, min_th=5, max_th=15, max_p=0.1, limit=60)
    link = Bottleneck(100, curve, w_q, limit=limit, unresponsive=unresponsive)
    classes = tuple(FlowClass(f"c{i}", n, propagation * (i + 1), 50) for i, n in enumerate(flows))
    path = FluidModel(link, classes, law).integrate(5, step=step * propagation)
    assert path.arrived - path.departed - path.lost == pytest.approx(path.queue, abs=1e-6 * (1 + path.arrived[-1]))
    assert path.queue.min() >= 0
    assert path.queue.max() <= limit
    assert path.average.min() >= 0
    assert path.windows.min() >= 1
    assert path.windows.max() <= 50
    assert path.p.min() >= 0
    assert path.p.max() <= 1
    assert path.utilization.min() >= -1e-9
    assert path.utilization.max() <= 1 + 1e-9
    if math.isinf(limit):
        assert not path.lost.any()


def test_delay_beyond_the_first_memory() -> None:
    # The queue, and with it the delay, outgrow what was set aside at first: 990 packets wait 10 s.
    link = Bottleneck(100, DropCurve("some", lambda x: np.full_like(x, 0.01), 0, 1), 0.01, unresponsive=200)
    model = FluidModel(link, (FlowClass("tcp", 1, 0.1),))
    path, fine = model.integrate(10), model.integrate(10, step=0.0025)
    assert path.queue[-1] > 900
    assert path.queue == pytest.approx(np.interp(path.t, fine.t, fine.queue), rel=1e-3, abs=0.1)


def test_queue_at_a_jump_stays_there() -> None:
    curve = DropCurve.of("red", min_th=10, max_th=35, max_p=0.1, limit=50)
    model = FluidModel(Bottleneck(125, curve, 4e-3, limit=50), (FlowClass("tcp", 20, 0.1),))
    path = model.integrate(60, step=0.05)
    assert path.mean_queue(since=30) == pytest.approx(model.operating_point().queue, rel=0.1)


def test_a_million_flows() -> None:
    flows = 1_000_000
    curve = DropCurve.of("red", min_th=2.5 * flows, max_th=12 * flows, max_p=MAX_P, limit=40 * flows)
    link = Bottleneck(62.5 * flows, curve, -math.expm1(-0.2 / 62.5 / flows), limit=40.0 * flows)
    delays = np.linspace(0.05, 0.15, 1000)
    model = FluidModel(link, tuple(FlowClass(f"c{i}", 1000, float(r)) for i, r in enumerate(delays)))
    path = model.integrate(20)
    assert path.queue[-1] == pytest.approx(model.operating_point().queue, rel=0.02)
    assert path.throughput[-1].sum() == pytest.approx(link.capacity, rel=0.02)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"duration": 0}, "duration: 0 is not possible (allowed: a finite number above 0 s)"),
        ({"duration": 1, "step": 0.2}, "step: 0.2 is not possible (allowed: at most the shortest propagation delay"),
        ({"duration": 1e6, "step": 0.01}, "step: 100000000 steps are too many"),
    ],
)
def test_bad_input_gets_one_line(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(DomainError) as caught:
        STABLE.model().integrate(**arguments)
    assert str(caught.value).startswith(message)


def test_a_start_of_other_classes_is_rejected() -> None:
    point = STABLE.model().operating_point()
    with pytest.raises(DomainError, match="start: its windows are not those of the classes"):
        STABLE.model().integrate(1, start=replace(point, windows=(1.0, 2.0)))
    with pytest.raises(DomainError, match="since: 5 is not possible"):
        STABLE.model().integrate(1).mean_queue(since=5)


@pytest.fixture(scope="module")
def packets() -> dict[Setting, Measured]:
    return {setting: run(setting, 1, 120) for setting in (STABLE, UNSTABLE)}


@pytest.mark.slow
def test_packets_rest_where_the_fluid_rests(packets: dict[Setting, Measured]) -> None:
    found, mine = packets[STABLE], fluid(STABLE.model("recovery"), 120)
    assert mine.queue == pytest.approx(found.queue, rel=0.1)
    assert mine.utilization == pytest.approx(found.utilization, rel=0.01)
    assert found.sd < 0.25 * found.queue


def test_packets_swing_where_the_fluid_swings(packets: dict[Setting, Measured]) -> None:
    found, mine = packets[UNSTABLE], fluid(UNSTABLE.model(), 120)
    assert found.sd > 0.5 * found.queue
    assert mine.frequency == pytest.approx(found.frequency, rel=0.3)
