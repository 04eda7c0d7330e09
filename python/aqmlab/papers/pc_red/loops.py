"""The stability study of section 4.A on the paper's Network 1: its loop and conditions as printed and as derived."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.figures.chart import Chart
from aqmlab.figures.loops import bode, nyquist
from aqmlab.papers.pc_red.measure import swings
from aqmlab.papers.pc_red.plan import FILES
from aqmlab.theory.control.conditions import (
    Condition,
    condition_5,
    condition_6,
    printed_phase_bound,
    slow_frequency,
    smallest_share,
)
from aqmlab.theory.control.loop import Loop, PcRedForm, pc_red_loop, red_loop
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass

QUEUE = 33.0
"""Table I's average queue, in packets: q of the model."""
PROPAGATION_S = 0.1
"""The printed delay, taken as the round trip without queueing, as only then 30 % is near the bound of (5)."""
SIMULATED = "as simulated"
"""The round trip of the scenario, whose bottleneck has the printed delay one way."""
SHARES = (0.05, 0.1, 0.3)
"""r_p of Experiments 1 to 3."""
PC_RED_FORMS: dict[PcRedForm, str] = {"printed": "as printed", "rederived": "as derived"}
FORMS: tuple[PcRedForm, ...] = (*PC_RED_FORMS, "hollot")
SETTLED_S, SWING_S = 100.0, 300.0
"""The seconds of the fluid that are left out, and those whose swings are looked at."""
BYTES = 500.0
"""A packet of the scenario."""


@cache
def network() -> dict[str, Any]:
    """Return N, C (packets/s) and RED's parameters of Network 1, from its scenario."""
    plan = FILES.scenario("network1", {})
    link = plan.link("bottleneck")
    own = {name: float(str(link.parameters[name]).rstrip("pB ")) for name in ("max_p", "min_th", "max_th", "w_q")}
    return {"flows": float(len(plan.flows)), "capacity": link.rate_bps / 8 / BYTES, **own}


@cache
def round_trips() -> dict[str, float]:
    """Return the three round-trip times, in s, by what they are."""
    plan = FILES.scenario("network1", {})
    waiting = QUEUE / network()["capacity"]
    simulated = 2 * sum(plan.link(name).delay_s for name in plan.flows[0].path)
    return {
        "without queueing": PROPAGATION_S,
        f"with {QUEUE:g} packets": PROPAGATION_S + waiting,
        SIMULATED: simulated + waiting,
    }


def gentle_loop(rtt: float) -> Loop:
    """Return plain RED's loop with the slope that gentle RED's curve has above max_th, (1 - p_max)/max_th."""
    own = network()
    slope = {"max_p": 1 - own["max_p"], "min_th": own["max_th"], "max_th": 2 * own["max_th"]}
    return red_loop(**{**own, **slope}, rtt=rtt)


def printed_round_trips() -> dict[str, float]:
    """Return those that the paper's numbers give."""
    return {name: rtt for name, rtt in round_trips().items() if name != SIMULATED}


def points() -> Iterator[tuple[str, float, float]]:
    """Yield all round-trip times and shares: the time's name, R in s, r_p."""
    for name, rtt in round_trips().items():
        for share in SHARES:
            yield name, rtt, share


@cache
def loop(rtt: float, share: float, form: PcRedForm) -> Loop:
    """Return the loop at a round-trip time and a share of high-priority flows."""
    return pc_red_loop(**network(), rtt=rtt, priority_share=share, queue=QUEUE, form=form)


def five(rtt: float, share: float) -> Condition:
    """Return condition (5)."""
    own = network()
    return condition_5(flows=own["flows"], capacity=own["capacity"], rtt=rtt, priority_share=share)


def six(rtt: float, share: float, form: PcRedForm, *, sufficient: bool = False) -> Condition:
    """Return condition (6), or with the bound that suffices."""
    return condition_6(
        **network(), rtt=rtt, priority_share=share, queue=QUEUE, form=form, sufficient=sufficient
    )  # fmt: skip


def phases(rtt: float, share: float) -> tuple[float, float]:
    """Return the phase of the printed loop at w_g and the bound that is printed for it, in degrees."""
    own = network()
    slow = slow_frequency(flows=own["flows"], capacity=own["capacity"], rtt=rtt, priority_share=share)
    bound = printed_phase_bound(slow, w_q=own["w_q"], capacity=own["capacity"], rtt=rtt)
    return float(loop(rtt, share, "printed").phase(slow)), bound


def conditions_table() -> pd.DataFrame:
    """(5) and (6) in all their forms: a row per round-trip time and share."""
    rows = []
    own = network()
    for name, rtt, share in points():
        bound = five(rtt, share)
        printed, derived = six(rtt, share, "printed"), six(rtt, share, "rederived")
        enough = six(rtt, share, "rederived", sufficient=True)
        phase, phase_bound = phases(rtt, share)
        rows.append(
            {
                "R": f"{rtt:.4g} s, {name}", "r_p": share, "(5): R C/2N": bound.right, "(5)": _holds(bound.holds),
                "(6) left, printed": printed.left, "left, with r_p N": derived.left, "right, w_g/K": printed.right,
                "(6), printed": _holds(printed.holds), "(6), with r_p N": _holds(derived.holds),
                "sufficient": _holds(enough.holds),
                "(6) needs r_p above": smallest_share(**own, rtt=rtt, queue=QUEUE, form="rederived"),
                "phase at w_g, printed": phase_bound,
                "phase at w_g": phase,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def margins_table() -> pd.DataFrame:
    """Gain and margins of the loop, as printed, as derived, and plain RED's: a row each."""
    rows = []
    for name, rtt, share in points():
        for form in FORMS:
            own = loop(rtt, share, form)
            margins = own.margins()
            rows.append(
                {
                    "R": f"{rtt:.4g} s, {name}",
                    "r_p": "any" if form == "hollot" else share,
                    "loop": {"printed": "printed", "rederived": "with r_p N", "hollot": "plain RED (Hollot)"}[form],
                    "G = L(0)": own.dc_gain,
                    "abs(L) = 1 at": "nowhere" if margins.gain_crossover is None else f"{margins.gain_crossover:.4g}",
                    "phase -180 at, rad/s": margins.phase_crossover,
                    "gain margin": margins.gain_margin,
                    "dB": margins.gain_margin_db,
                    "closed loop": "stable" if margins.stable else "unstable",
                }
            )
    return pd.DataFrame(rows).drop_duplicates(["R", "loop", "G = L(0)"])


def operating_points() -> pd.DataFrame:
    """Where the model's equations place the operating point, and where the fluid itself comes to rest."""
    own = network()
    rows: list[dict[str, Any]] = []
    for name, rtt in round_trips().items():
        window = rtt * own["capacity"] / own["flows"]
        propagation = rtt if name == "without queueing" else rtt - QUEUE / own["capacity"]
        rest = fluid(propagation).operating_point()
        rows.append(
            {
                "R": f"{rtt:.4g} s, {name}", "W0 = R C/N, packets": window, "p0 = 2/W0^2": 2 / window**2,
                "p_max": own["max_p"], "fluid: queue": rest.queue, "fluid: window": rest.windows[0],
                "fluid: p": rest.p, "note of the fluid model": "; ".join(rest.notes),
            }
        )  # fmt: skip
    return pd.DataFrame(rows).drop_duplicates(["W0 = R C/N, packets"])


def fluid(propagation: float) -> FluidModel:
    """Return the fluid model of Network 1 under plain RED, all flows alike."""
    own = network()
    curve = DropCurve.of("red", min_th=own["min_th"], max_th=own["max_th"], max_p=own["max_p"], limit=50)
    link = Bottleneck(own["capacity"], curve, own["w_q"], limit=50)
    return FluidModel(link, (FlowClass("flows", own["flows"], propagation),))


@cache
def fluid_swing() -> dict[str, float]:
    """Return how the fluid's queue swings on the simulated Network 1, with RED's curve and its step as they are."""
    own = fluid(round_trips()[SIMULATED] - QUEUE / network()["capacity"])
    path = own.integrate(SETTLED_S + SWING_S)
    time = np.arange(SETTLED_S, SETTLED_S + SWING_S, 0.1)
    queue = np.interp(time, path.t, path.queue)
    return {"queue_sd": float(np.std(queue)), **swings(queue, 0.1)}


def shown() -> list[Loop]:
    """Return the loops that are drawn: PC-RED's at the loaded round-trip time, plain RED's, and Hollot's example."""
    rtt = round_trips()[f"with {QUEUE:g} packets"]
    found = [loop(rtt, share, "rederived").renamed(f"PC-RED, r_p = {100 * share:g} %") for share in SHARES]
    found.append(loop(rtt, 1.0, "hollot").renamed("plain RED, Network 1"))
    example = red_loop(flows=60, capacity=3750, rtt=0.246, max_p=0.1, min_th=150, max_th=700, w_q=1.33e-6)
    return [*found, example.renamed("Hollot's example")]


def bode_charts() -> tuple[Chart, Chart]:
    """Bode plot of the loops shown."""
    return bode(shown(), key="loop", title="The loop of the model")


def nyquist_chart() -> Chart:
    """Nyquist plot of the loops shown."""
    return nyquist(shown(), key="loop-nyquist", title="The loop of the model: Nyquist plot")


def _holds(holds: bool) -> str:
    return "holds" if holds else "fails"
