"""The loop, its margins and conditions: the oracle's numbers, points by hand, identities, and several classes."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aqmlab.figures import loops
from aqmlab.theory.average import averaging_rate
from aqmlab.theory.control import conditions, margins
from aqmlab.theory.control.linearization import linearize, slope_of_loss
from aqmlab.theory.control.loop import Branch, Loop, pc_red_loop, red_loop, red_slope
from aqmlab.theory.control.stability import stability_map
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.operating_point import OperatingPoint
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass

pytestmark = pytest.mark.slow

HOLLOT = {"flows": 60, "capacity": 3750, "rtt": 0.246, "max_p": 0.1, "min_th": 150, "max_th": 700, "w_q": 1.33e-6}
NETWORK_1 = {"flows": 20, "capacity": 125, "max_p": 0.1, "min_th": 10, "max_th": 35, "w_q": 0.004}
QUEUE = 33.0


def setting(series):
    """Parameters, r_p, q and form of an oracle's series."""
    if series.startswith("hollot2001"):
        return HOLLOT, 1.0, QUEUE, "hollot"
    rtt, share, form = re.fullmatch(r"exp\d_R(.*)_rp(.*)/(.*)", series).groups()
    return {**NETWORK_1, "rtt": float(rtt)}, float(share), QUEUE, form


def loop_of(series):
    own, share, queue, form = setting(series)
    return pc_red_loop(**own, priority_share=share, queue=queue, form=form)


def numbers_of(series):
    """Everything that the oracle has on a loop, under its names."""
    own, share, queue, form = setting(series)
    loop = loop_of(series)
    found = loop.margins()
    place = {key: own[key] for key in ("flows", "capacity", "rtt")}
    slow = conditions.slow_frequency(**place, priority_share=share)
    six = conditions.condition_6(**own, priority_share=share, queue=queue, form=form)
    enough = conditions.condition_6(**own, priority_share=share, queue=queue, form=form, sufficient=True)
    rate = {"w_q": own["w_q"], "capacity": own["capacity"]}
    return {
        "dc_gain": loop.dc_gain,
        "K": averaging_rate(**rate),
        "L_red": red_slope(own["max_p"], own["min_th"], own["max_th"]),
        "pole_tcp": loop.poles[1],
        "pole_queue": loop.poles[2],
        "omega_g_printed": slow,
        "omega_g_min_rule": 0.1 * min(loop.poles[1:]),
        "rp_bound_eq5": conditions.condition_5(**place, priority_share=share).right,
        "eq6_lhs": six.left,
        "eq6_rhs": six.right,
        "eq6_ok": float(six.holds),
        "hollot_rhs": enough.right,
        "gain_crossover": math.nan if found.gain_crossover is None else found.gain_crossover,
        "phase_margin_deg": found.phase_margin,
        "phase_crossover": found.phase_crossover,
        "gain_margin": found.gain_margin,
        "mag_at_omega_g": float(loop.magnitude(slow)),
        "phase_at_omega_g": float(loop.phase(slow)),
        "phase_at_omega_g_printed_bound": conditions.printed_phase_bound(slow, **rate, rtt=own["rtt"]),
    }


def test_every_row_of_the_margins():
    rows = oracle.rows("pcred_margin")
    assert len(rows) == 361
    found = {series: numbers_of(series) for series in {row["series"] for row in rows}}
    for row in rows:
        expected = pytest.approx(float(row["value"]), rel=1e-9, nan_ok=True)
        assert found[row["series"]][row["metric"]] == expected, row


def test_every_row_of_the_loops():
    rows = oracle.rows("pcred_loop")
    assert len(rows) == 504
    for row in rows:
        loop = loop_of(row["series"])
        found = {"mag": loop.magnitude, "phase_deg": loop.phase}[row["metric"]](float(row["x"]))
        assert float(found) == pytest.approx(float(row["value"]), rel=1e-9), row


def test_hollots_example():
    """G = L_red (RC)^3 / (2N)^2 = (0.1/550) 922.5^3 / 120^2; its margins are published."""
    loop = red_loop(**HOLLOT)
    assert loop.dc_gain == pytest.approx(0.1 / 550 * 922.5**3 / 120**2)
    found = loop.margins()
    assert (found.gain_crossover, found.phase_margin) == pytest.approx((0.0490, 89.1), rel=1e-3)
    assert found.stable


def test_a_lag_with_delay_by_hand():
    """2 e^(-s/4)/(s + 1): abs(L) = 1 at sqrt(3) rad/s, and the phase there is -60 degrees - 0.25 sqrt(3) rad."""
    found = Loop.of_branches("hand", Branch(2.0, (1.0,), 0.25)).margins()
    assert found.gain_crossover == pytest.approx(math.sqrt(3), rel=1e-9)
    assert found.phase_margin == pytest.approx(120 - math.degrees(0.25 * math.sqrt(3)), rel=1e-9)
    assert found.delay_margin == pytest.approx(math.radians(found.phase_margin) / math.sqrt(3), rel=1e-9)
    assert not found.small_gain


def test_three_equal_lags_without_delay_by_hand():
    """k/(s + 1)^3 is at -180 degrees at sqrt(3) rad/s, where it is k/8: the loop is stable up to k = 8."""
    for gain, stable in ((7.9, True), (8.1, False)):
        found = Loop.of_branches("cube", Branch(gain, (1.0, 1.0, 1.0), 0.0)).margins()
        assert found.gain_margin == pytest.approx(8 / gain, rel=1e-9)
        assert found.phase_crossover == pytest.approx(math.sqrt(3), rel=1e-9)
        assert found.stable is stable
        assert (found.phase_margin > 0) is stable


def test_no_crossover_is_no_number():
    found = red_loop(**{**NETWORK_1, "rtt": 0.364}).margins()
    assert found.gain_crossover is None
    assert found.small_gain
    assert (found.phase_margin, found.delay_margin) == (math.inf, math.inf)


def test_a_flat_curve_makes_no_loop():
    found = Loop.of_branches("flat", Branch(0.0, (1.0,), 0.1)).margins()
    assert found.stable
    assert (found.gain_margin, found.gain_margin_db, found.phase_crossover) == (math.inf, math.inf, None)


positive = st.floats(0.05, 20.0)


@settings(derandomize=True, max_examples=20, deadline=None)
@given(gain=st.floats(0.05, 50.0), poles=st.tuples(positive, positive, positive), delay=st.floats(0.01, 3.0))
def test_margins_are_consistent(gain, poles, delay):
    """At the phase crossover L is -1/GM; the delay margin is the phase margin; both decide as Nyquist's count does."""
    loop = Loop.of_branches("random", Branch(gain, poles, delay))
    found = loop.margins()
    at_phase = loop.response(found.phase_crossover)
    assert float(np.real(at_phase)) * found.gain_margin == pytest.approx(-1, rel=1e-7)
    assert abs(float(np.imag(at_phase))) * found.gain_margin < 1e-6
    assume(abs(found.gain_margin - 1) > 1e-3)
    assert found.stable == (found.gain_margin > 1)
    if found.gain_crossover is None:
        assert gain <= 1
        return
    assert float(loop.magnitude(found.gain_crossover)) == pytest.approx(1, rel=1e-7)
    assert found.phase_margin == pytest.approx(180 + float(loop.phase(found.gain_crossover)), abs=1e-5)
    assert found.delay_margin == pytest.approx(math.radians(found.phase_margin) / found.gain_crossover)
    assert found.stable == (found.phase_margin > 0)


@settings(derandomize=True, max_examples=8, deadline=None)
@given(
    gain=st.floats(0.2, 20.0), poles=st.tuples(positive, positive, positive), delay=st.floats(0.02, 2.0),
    factor=st.floats(0.1, 10.0),
)  # fmt: skip
def test_scaling(gain, poles, delay, factor):
    """Gain times k: gain margin / k. Time times k: crossovers / k, margins the same."""
    one = Loop.of_branches("one", Branch(gain, poles, delay)).margins()
    louder = Loop.of_branches("louder", Branch(gain * factor, poles, delay)).margins()
    assert louder.gain_margin * factor == pytest.approx(one.gain_margin, rel=1e-7)
    slower = Loop.of_branches("slower", Branch(gain, tuple(p / factor for p in poles), delay * factor)).margins()
    assert slower.gain_margin == pytest.approx(one.gain_margin, rel=1e-7)
    assert slower.phase_crossover * factor == pytest.approx(one.phase_crossover, rel=1e-7)
    assert slower.phase_margin == pytest.approx(one.phase_margin, rel=1e-5, abs=1e-5)


def test_the_margins_delay_is_the_last_that_is_borne():
    loop = red_loop(**HOLLOT)
    spare = loop.margins().delay_margin
    for share, stable in ((0.99, True), (1.01, False)):
        later = Branch(loop.dc_gain, loop.poles, loop.delay + share * spare)
        assert Loop.of_branches("later", later).margins().stable is stable


def model(*classes, curve=None, w_q=0.002, capacity=1250.0, **more):
    red = DropCurve.of("red", min_th=20, max_th=200, max_p=0.1, limit=400)
    return FluidModel(Bottleneck(capacity, curve or red, w_q, limit=400, **more), classes)


def test_one_class_is_hollots_loop():
    own = model(FlowClass("tcp", 40, 0.1))
    point = own.operating_point()
    found = linearize(own, point)
    expected = red_loop(flows=40, capacity=1250, rtt=point.rtts[0], max_p=0.1, min_th=20, max_th=200, w_q=0.002)
    assert found.dc_gain == pytest.approx(expected.dc_gain, rel=1e-6)
    assert found.poles == pytest.approx(expected.poles, rel=1e-6)
    assert found.delays == expected.delays


def test_a_class_in_two_parts_is_one_class():
    whole, parts = model(FlowClass("a", 40, 0.1)), model(FlowClass("a", 10, 0.1), FlowClass("b", 30, 0.1))
    omega = np.geomspace(0.01, 50, 40)
    for form in ("hollot", "full"):
        one, two = (linearize(own, own.operating_point(), form=form).response(omega) for own in (whole, parts))
        np.testing.assert_allclose(two, one, rtol=1e-6)


def test_both_forms_start_at_the_same_gain_and_agree_for_large_windows():
    own = model(FlowClass("near", 3, 0.05), FlowClass("far", 3, 0.25))
    point = own.operating_point()
    assert min(point.windows) > 20
    simple, full = (linearize(own, point, form=form) for form in ("hollot", "full"))
    assert abs(full.response(0.0)) == pytest.approx(simple.dc_gain, rel=1e-6)
    assert full.margins().gain_margin == pytest.approx(simple.margins().gain_margin, rel=0.05)
    assert len(simple.delays) == 2


def test_a_window_at_its_limit_does_not_answer():
    held = FlowClass("held", 5, 0.1, window_limit=6)
    own = model(FlowClass("tcp", 30, 0.1), held)
    point = own.operating_point()
    assert point.windows[1] == 6
    assert len(linearize(own, point).delays) == 1
    only = replace(point, windows=(6.0,), rtts=(0.2,))
    with pytest.raises(DomainError, match="no window answers"):
        linearize(model(held), only)


def test_windows_at_their_limits_without_a_loss_make_no_loop():
    endless = Bottleneck(10, DropCurve.none(limit=1000), 0.002)
    own = FluidModel(endless, (FlowClass("held", 5, 0.1, window_limit=6),))
    point = own.operating_point()
    assert (point.p, point.queue) == (0, pytest.approx(29))
    with pytest.raises(DomainError, match="no window answers"):
        linearize(own, point)


def test_a_loop_with_thousands_of_crossovers_is_rejected():
    curve = DropCurve.of("exred", min_th=163.719, max_th=173.719, max_p=0.8045, limit=1000)
    link = Bottleneck(585442.211, curve, 1.0, limit=1000)
    own = FluidModel(link, (FlowClass("far", 127.335, 0.2347), FlowClass("near", 1.9466, 0.005274)), "random")
    loop = linearize(own, own.operating_point())
    with pytest.raises(DomainError, match="lies hundreds of turns of phase away"):
        loop.margins()


def test_without_an_average_there_is_one_lag_less():
    own = model(FlowClass("tcp", 40, 0.1), w_q=1.0)
    assert len(linearize(own, own.operating_point()).poles) == 2
    assert len(red_loop(**{**HOLLOT, "w_q": 1.0}).poles) == 2


@pytest.mark.parametrize("spacing", ["none", "floyd93", "ns2-wait"])
def test_slope_of_the_rate_of_drops(spacing):
    """2p/(1 + p) has the slope 2/(1 + p)^2; at a knot both sides count."""
    link = model(FlowClass("tcp", 1, 0.1), spacing=spacing).bottleneck
    p = (50 - 20) / 180 * 0.1
    by_hand = {"none": 1.0, "floyd93": 2 / (1 + p) ** 2, "ns2-wait": 1 / 1.5}[spacing] * 0.1 / 180
    assert float(slope_of_loss(link, 50.0)) == pytest.approx(by_hand, rel=1e-9)
    low = {"none": 1.0, "floyd93": 2.0, "ns2-wait": 1 / 1.5}[spacing] * 0.1 / 180
    assert float(slope_of_loss(link, 20.0)) == pytest.approx(low / 2, rel=1e-4)


def test_conditions_by_hand():
    five = conditions.condition_5(flows=20, capacity=125, rtt=0.1, priority_share=0.3)
    assert (five.left, five.right, five.holds) == (0.3, 0.3125, True)
    assert "96% of it" in five.says
    assert not conditions.condition_5(flows=20, capacity=125, rtt=0.1, priority_share=0.35).holds
    six = {
        share: conditions.condition_6(**NETWORK_1, rtt=0.364, priority_share=share, queue=QUEUE)
        for share in (0.05, 0.1, 0.3)
    }
    assert [six[share].holds for share in six] == [False, True, True]
    assert "stable by small gain" in six[0.3].says
    found = conditions.hollot_condition(**HOLLOT)
    assert found.holds
    assert "gain has fallen to 1" in found.says
    assert not conditions.hollot_condition(**{**HOLLOT, "flows": 30}).holds


@pytest.mark.parametrize("form", ["printed", "rederived"])
def test_condition_6_bounds_the_share_from_below(form):
    place = {**NETWORK_1, "rtt": 0.364, "queue": QUEUE, "form": form}
    bound = conditions.smallest_share(**place)
    assert conditions.condition_6(**place, priority_share=bound * 1.001).holds
    assert not conditions.condition_6(**place, priority_share=bound * 0.999).holds


AT_A_JUMP = OperatingPoint(200.0, 0.3, (2.6,), (0.26,), 1250.0, False, ("the curve jumps",))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: red_loop(**{**HOLLOT, "flows": 0}), "flows: 0 is not possible (allowed: a finite number above 0)"),
        (lambda: red_loop(**{**HOLLOT, "max_th": 100}), "max_th: 100 is not possible (allowed: above min_th = 150)"),
        (lambda: red_loop(**{**HOLLOT, "max_p": 1.5}), "max_p: 1.5 is not possible (allowed: above 0, at most 1)"),
        (lambda: red_loop(**{**HOLLOT, "w_q": 0.0}), "w_q: 0 is not possible (allowed: above 0, at most 1)"),
        (lambda: red_loop(**{**HOLLOT, "rtt": math.nan}), "rtt: nan is not possible"),
        (
            lambda: pc_red_loop(**HOLLOT, priority_share=0.0, queue=3, form="printed"),
            "r_p: 0 is not possible (allowed: above 0, at most 1)",
        ),
        (
            lambda: pc_red_loop(**HOLLOT, priority_share=0.1, queue=3, form="other"),
            "form: other is not possible (allowed: printed, rederived, hollot)",
        ),
        (lambda: linearize(model(FlowClass("tcp", 1, 0.1)), AT_A_JUMP), "cannot be linearized; the curve jumps"),
        (lambda: linearize(model(FlowClass("tcp", 1, 0.1)), AT_A_JUMP, form="x"), "form: x is not possible"),
        (lambda: loops.bode([]), "loops: at least one is needed"),
        (
            lambda: Loop.of_branches("wild", Branch(1e12, (1.0,), 10.0)).margins(),
            "loop: its gain is so high that abs(L) = 1 lies thousands of turns of phase away",
        ),
    ],
)
def test_bad_input_gives_one_line(call, message):
    with pytest.raises(DomainError) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_charts_have_descriptions():
    loop = red_loop(**HOLLOT)
    wild = Loop.of_branches("wild", Branch(20.0, (1.0, 1.0), 1.0))
    magnitude, phase = loops.bode([loop, wild])
    assert magnitude.levels == [(0.0, "0 dB")]
    assert float(np.min(np.asarray(phase.series[0].y))) >= loops.LEAST_DEGREES
    found = loops.nyquist([loop, wild])
    assert "No encirclement of -1 by RED; encirclement by wild (unstable)" in found.alt


def test_python_control_is_loaded_only_for_margins():
    modules = "aqmlab.theory.control.loop, aqmlab.theory.control.conditions"
    code = f"import sys, {modules}; sys.exit('control' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_encirclements_are_counted():
    """An unstable loop with a pair of poles on the right turns round -1 twice, from -infinity to infinity."""
    for gain, turns in ((7.9, 0), (8.1, 2)):
        values = Branch(gain, (1.0, 1.0, 1.0), 0.0)(1j * np.geomspace(1e-3, 1e4, 4000))
        assert margins.encirclements(values) == turns


def test_on_the_boundary_the_margin_is_one():
    for gain in (8 * (1 - 1e-9), 8 * (1 + 1e-9)):
        found = Loop.of_branches("cube", Branch(gain, (1.0, 1.0, 1.0), 0.0)).margins()
        assert found.gain_margin == pytest.approx(1, rel=1e-8)


@pytest.fixture(scope="module")
def onset():
    """The propagation delay at which the full loop loses its stability: Hollot's link, a quicker average."""
    red = DropCurve.of("red", min_th=150, max_th=700, max_p=0.1, limit=800)

    def at(delay):
        own = FluidModel(Bottleneck(3750, red, 2e-4, limit=800), (FlowClass("tcp", 60, delay),))
        return own, linearize(own, own.operating_point(), form="full").margins()

    low, high = 0.1, 0.3
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle)[1].stable else (low, middle)
    return at, low


def test_a_small_perturbation_decays_at_the_rate_of_the_full_loop():
    """With load that does not react: the fluid decays as the slowest root of 1 + L(s) = 0, found by Newton's method."""
    red = DropCurve.of("red", min_th=20, max_th=400, max_p=0.2, limit=500)
    link = Bottleneck(1250, red, 0.002, limit=500, unresponsive=600.0)
    own = FluidModel(link, (FlowClass("tcp", 10, 0.1),))
    point = own.operating_point()
    loop = linearize(own, point, form="full")
    assert 0.0 in loop.delays
    omega = np.linspace(0.05, 10, 4000)
    root = 1j * omega[np.argmin(np.abs(1 + loop.response(omega)))]
    for _ in range(50):
        step = 1e-6
        value, beyond = (1 + loop.transfer(np.array([s]))[0] for s in (root, root + step))
        root -= value / ((beyond - value) / step)
    assert abs(1 + loop.transfer(np.array([root]))[0]) < 1e-6
    path = own.integrate(120, start=replace(point, queue=point.queue * 1.01))
    t, away = path.t, path.queue - point.queue
    late = (t > 10) & (t < 60)
    peaks = np.flatnonzero((away[1:-1] > away[:-2]) & (away[1:-1] > away[2:]) & late[1:-1]) + 1
    assert len(peaks) > 4
    decay, _ = np.polyfit(t[peaks], np.log(away[peaks]), 1)
    assert decay == pytest.approx(root.real, rel=0.05)
    assert 2 * math.pi / np.median(np.diff(t[peaks])) == pytest.approx(abs(root.imag), rel=0.03)


@pytest.mark.parametrize(("factor", "swings"), [(0.97, False), (1.03, True)])
def test_the_fluid_begins_to_oscillate_at_the_limit_of_the_full_loop(onset, factor, swings):
    """3 % of delay on either side of the boundary: the swings die out or stay, at the phase crossover's frequency."""
    at, delay = onset
    own, margins_there = at(factor * delay)
    assert margins_there.stable is not swings
    path = own.integrate(160)
    early, late = (path.queue[(path.t > begin) & (path.t <= begin + 20)] for begin in (60, 140))
    assert (np.ptp(late) > 0.9 * np.ptp(early)) is np.bool_(swings)
    late_t = path.t[(path.t > 60)]
    above = path.queue[path.t > 60] > path.queue[path.t > 60].mean()
    ups = late_t[1:][above[1:] & ~above[:-1]]
    assert 2 * math.pi / np.diff(ups).mean() == pytest.approx(margins_there.phase_crossover, rel=0.06)


@pytest.mark.parametrize("law", ["random", "periodic", "recovery"])
def test_other_laws_of_loss(law):
    """A law with cut W^2 p = 1 has Misra's coefficients at its own window; each law's map is its linearization."""
    own = replace(model(FlowClass("tcp", 40, 0.1)), loss_law=law)
    point = own.operating_point()
    loop = linearize(own, point)
    if law != "recovery":
        window, rtt = point.windows[0], point.rtts[0]
        assert loop.poles[1] == pytest.approx(2 / (window * rtt), rel=1e-6)
        slope = float(slope_of_loss(own.bottleneck, point.queue))
        assert loop.dc_gain == pytest.approx(slope * 1250 * rtt / (2 * point.p), rel=1e-6)
    found = stability_map(own.bottleneck, flows=[40, 80], propagation=[0.1, 0.2], law=law)
    assert found.gain_margin_db[0, 0] == pytest.approx(loop.margins().gain_margin_db, abs=1e-6)


def pade(delay, order=8):
    """Numerator and denominator of the Padé approximation of e^(-s delay)."""
    signs = [
        math.factorial(2 * order - k) * math.comb(order, k) / math.factorial(2 * order) * delay**k
        for k in range(order + 1)
    ]
    up = np.array([c * (-1) ** k for k, c in enumerate(signs)])[::-1]
    return np.poly1d(up), np.poly1d(np.array(signs)[::-1])


@settings(derandomize=True, max_examples=30, deadline=None)
@given(
    gains=st.tuples(st.floats(0.2, 12.0), st.floats(0.2, 12.0)), poles=st.tuples(positive, positive, positive),
    delays=st.tuples(st.floats(0.05, 1.0), st.floats(0.05, 1.0)),
)  # fmt: skip
def test_the_count_agrees_with_the_closed_loops_poles(gains, poles, delays):
    """Two classes: 1 + L has a zero on the right half plane, delays by Padé, if and only if L turns round -1."""
    common, first, second = poles
    loop = Loop.of_branches(
        "two", Branch(gains[0], (common, first), delays[0]), Branch(gains[1], (common, second), delays[1])
    )
    found = loop.margins()
    near = np.abs(1 + loop.response(np.geomspace(1e-3, 1e3, 4000))).min()
    assume(near > 0.05)
    (up_1, down_1), (up_2, down_2) = (pade(delay) for delay in delays)
    lag = {pole: np.poly1d([1 / pole, 1]) for pole in poles}
    one, two = down_1 * lag[first], down_2 * lag[second]
    closed = lag[common] * one * two + gains[0] * up_1 * two + gains[1] * up_2 * one
    assert found.stable == bool((closed.roots.real < 0).all())
