"""Everything that theory says of a link: operating point, course in time, loop and margins, or the law of its queue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aqmlab.errors import InputError
from aqmlab.theory.domain import DomainError
from aqmlab.theory.fluid.operating_point import FEW, OperatingPoint
from aqmlab.theory.queueing.chain import Chain, solve_chain
from aqmlab.theory.scenario.agreement import Analysed, of_chain, of_point, of_trajectory
from aqmlab.theory.scenario.assumption import Assumption
from aqmlab.theory.scenario.class_shares import ClassShares
from aqmlab.theory.scenario.shares import shares_of

if TYPE_CHECKING:
    from aqmlab.theory.control.loop import Loop
    from aqmlab.theory.control.margins import Margins
    from aqmlab.theory.fluid.model import FluidModel
    from aqmlab.theory.fluid.trajectory import Trajectory
    from aqmlab.theory.queueing.averaged_chain import AveragedChain
    from aqmlab.theory.scenario.model import LinkModel

MOST_STEPS = 12_000
"""Steps of the fluid's course that are computed, ten to the shortest propagation delay."""
FEW_SEEDS = 5
"""Seeds that are simulated, or whose transfers are computed, if none are asked for."""
LAGS = 4
"""So many time constants of the average, and the queue has settled (2 % are left)."""
LAWS_APART = 0.1
"""Relative difference of p from which on it matters which law gives the window."""
PART = 0.05
"""A part of the measured time that may be unsettled."""


@dataclass(frozen=True)
class Theory:
    """Theory of a link.

    Attributes
    ----------
    model
        The link.
    point, path
        The fluid's equilibrium and its course from the start of the run on.
    loop, margins
        Of the linear system there, nothing left out; None where it cannot be linearized.
    hollot
        Margins with Hollot et al.'s simplifications.
    chain, averaged
        The birth-death chain of Poisson arrivals, and the one that knows the average too; None where the curve sees
        the present queue.
    columns
        The quantities that are compared, by model.
    assumptions
        Assumptions on the link, and those that the computed figures show to be kept or violated.
    shares
        Drops and throughput by class, where the discipline does not treat all packets alike, or why there is no theory.
    by_seed
        Of drawn or short transfers: each seed's active transfers, drop probability, queue and throughput.
    """

    model: LinkModel
    point: OperatingPoint | None = None
    path: Trajectory | None = None
    loop: Loop | None = None
    margins: Margins | None = None
    hollot: Margins | None = None
    chain: Chain | None = None
    averaged: AveragedChain | None = None
    columns: list[Analysed] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    shares: ClassShares = field(default_factory=ClassShares)
    by_seed: list[dict[str, float]] = field(default_factory=list)

    @property
    def steady(self) -> bool:
        """Whether the fluid rests at its operating point."""
        return self.margins is not None and self.margins.stable


def theory_of(model: LinkModel, *, seeds: Sequence[int] | None = None) -> Theory:
    """Return the whole theory of a link.

    Parameters
    ----------
    model
        The link.
    seeds
        Seeds whose drawn or short transfers are computed; default: the first of the scenario.
    """
    if model.kind == "transfers":
        from aqmlab.theory.scenario.transfers import resolve

        try:
            by_seed = resolve(model, list(model.scenario.seeds)[:FEW_SEEDS] if seeds is None else seeds)
        except InputError as error:
            return Theory(replace(model, kind="none", reason=str(error)))
        return Theory(
            model=model,
            columns=by_seed.columns,
            assumptions=[*model.assumptions, *by_seed.assumptions],
            shares=by_seed.shares,
            by_seed=by_seed.rows,
        )
    found = _without_shares(model)
    shares = shares_of(found.model)
    return replace(found, shares=shares, assumptions=[*found.assumptions, *shares.assumptions])


def _without_shares(model: LinkModel) -> Theory:
    try:
        if model.kind == "fluid":
            return _fluid(model)
        if model.kind == "chain":
            return _chain(model)
    except DomainError as error:
        return Theory(replace(model, kind="none", reason=f"it lies outside the model's domain: {error}"))
    return Theory(model)


def settled_s(model: LinkModel, point: OperatingPoint) -> float:
    """Return when the queue has settled, in s: the last start of a flow that stays, slow start, the average's lag."""
    starts = {name for c in model.traffic.greedy for name in c.flows} - {flow.name for flow in model.traffic.partly}
    last = max((flow.start_s[1] for flow in model.scenario.flows if flow.name in starts), default=0.0)
    rate = model.fluid().bottleneck.averaging_rate
    slow_start = max(r * math.log2(max(w, 2.0)) for r, w in zip(point.rtts, point.windows, strict=True))
    return min(last, model.scenario.duration_s) + slow_start + (LAGS / rate if math.isfinite(rate) else 0.0)


def _fluid(model: LinkModel) -> Theory:
    fluid = model.fluid()
    point = fluid.operating_point()
    path = _course(model, fluid, point)
    loop = margins = hollot = None
    unfit = ""
    if point.inside:
        from aqmlab.theory.control.linearization import linearize

        try:
            loop = linearize(fluid, point, form="full")
            margins, hollot = loop.margins(), linearize(fluid, point).margins()
        except DomainError as error:
            loop, unfit = None, str(error)
    settled = settled_s(model, point)
    columns = [of_point(model, point, name="fluid")]
    refined = model.refined().operating_point()
    columns.append(of_point(model, refined, name="fluid, refined"))
    bound = all(w >= c.window_limit for c, w in zip(fluid.classes, point.windows, strict=True))
    if not bound and not (margins and margins.stable) and settled < path.t[-1]:
        columns.append(of_trajectory(model, path, since=max(settled, min(model.scenario.warmup_s, path.t[-1] / 2))))
    return Theory(
        model=model,
        point=point,
        path=path,
        loop=loop,
        margins=margins,
        hollot=hollot,
        columns=columns,
        assumptions=[
            *model.assumptions,
            *_about_point(model, point, unfit),
            _simple_law(point, refined),
            _stable(margins, bound=bound),
            _settles(model, settled),
        ],
    )


def _course(model: LinkModel, fluid: FluidModel, point: OperatingPoint) -> Trajectory:
    """Return the fluid's course: the whole run, or as much of it as shows how it settles."""
    shortest = min(c.propagation for c in fluid.classes)
    enough = max(5 * settled_s(model, point), 100 * max(point.rtts))
    return fluid.integrate(min(model.scenario.duration_s, enough, MOST_STEPS * shortest / 10))


def _chain(model: LinkModel) -> Theory:
    curve, capacity = model.curve.over_system, model.system_capacity
    chain = solve_chain(curve, load=model.load, capacity=capacity, service_rate=model.capacity)
    columns, averaged, unfit = [of_chain(model, chain, name="chain")], None, []
    if model.curve.w_q < 1:
        from aqmlab.theory.queueing.averaged_chain import solve_averaged_chain

        try:
            averaged = solve_averaged_chain(
                curve, load=model.load, capacity=capacity, w_q=model.curve.w_q, service_rate=model.capacity
            )
        except DomainError as error:
            unfit.append(Assumption("The chain with the average can be solved.", True, str(error)))
        else:
            columns.insert(0, of_chain(model, averaged, name="chain, with average"))
            unfit += [Assumption("The chain with the average is accurate.", True, note) for note in averaged.notes]
    return Theory(
        model=model, chain=chain, averaged=averaged, columns=columns, assumptions=[*model.assumptions, *unfit]
    )


def _about_point(model: LinkModel, point: OperatingPoint, unfit: str) -> list[Assumption]:
    classes = model.fluid().classes
    small = [
        f"{c.name}: {w:.3g} packets at a round trip of {r * 1e3:.4g} ms: losses end in time-outs, which the model does "
        "not have; they make the drop probability lower"
        for c, w, r in zip(classes, point.windows, point.rtts, strict=True)
        if w < FEW
    ]
    bound = [
        f"{c.name}: the window stands at its limit of {c.window_limit:.5g} packets"
        for c, w in zip(classes, point.windows, strict=True)
        if w >= c.window_limit
    ]
    about_curve = [note for note in point.notes if not note.startswith(tuple(f"{c.name}: " for c in classes))]
    return [
        Assumption.broken_by(
            "The operating point lies on a continuous part of the curve, with the link full.", *about_curve, unfit
        ),
        Assumption.broken_by(f"Windows are {FEW:g} packets or more.", *small),
        Assumption.broken_by("Loss, not its limit, sets every window.", *bound),
    ]


def _simple_law(point: OperatingPoint, refined: OperatingPoint) -> Assumption:
    how = (
        f"it takes a round trip, and windows vary (`fluid, refined`): p = {refined.p:.4g} in place of {point.p:.4g}, "
        f"a queue of {refined.queue:.4g} packets in place of {point.queue:.4g}"
    )
    if point.p >= 1:
        how = "every packet is dropped, and no law of losses has a window for that"
    apart = point.p >= 1 or abs(point.p - refined.p) > LAWS_APART * max(point.p, refined.p)
    text = "The mean square of a window is the square of its mean, and recovery from a loss takes no time."
    return Assumption.broken_by(text, how if apart else "")


def _stable(margins: Margins | None, *, bound: bool) -> Assumption:
    text = "The fluid rests at its operating point."
    if bound:
        return Assumption(text, False, "every window stands at its limit, so nothing reacts")
    if margins is None:
        return Assumption(text, True, "it cannot be linearized there; the mean over its course is given beside it")
    if margins.stable:
        return Assumption(text, False, f"gain margin {margins.gain_margin_db:.3g} dB")
    return Assumption(
        text,
        True,
        f"the loop is unstable (gain margin {margins.gain_margin_db:.3g} dB): the queue swings, and the mean over the "
        "fluid's course is given beside the point",
    )


def _settles(model: LinkModel, settled: float) -> Assumption:
    begin, end = model.scenario.warmup_s, model.scenario.duration_s
    unsettled = max(min(settled, end) - begin, 0.0) / (end - begin)
    how = (
        f"it takes about {settled:.3g} s from the start, and run.warmup is {begin:g} s: {100 * unsettled:.3g} % of the "
        "measured time are not settled"
    )
    return Assumption.broken_by("The queue has settled when measuring begins.", how if unsettled > PART else "")
