"""Which drop curve is best at which load: throughput against delay in an open loop, with delay at a price.

A curve that drops earlier carries less and delays less, so "best" needs a price. With X the throughput as a share of
the service rate, T the mean time in system of an accepted packet in service times (its own service included), and
theta the share of the service rate that one gives up for one service time less,

    utility U = X - theta T                   the best curve at (load, theta) has the largest U
    power     = X / T                         Kleinrock's, "Power and deterministic rules of thumb", ICC 1979

At one load the best curves, as theta grows, are the corners of the upper left hull of the points (T, X): from the one
that carries most to the one that delays least. Curves whose utility falls short by less than `TIE` are tied: no user
would notice.

The numbers come from the birth-death chain (w_q = 1) or from the chain of queue and average (w_q < 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.errors import joined
from aqmlab.theory.domain import not_negative, positive
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.chain import solve_chain
from aqmlab.theory.queueing.runs import consecutive_drops

SHAPES = {
    "drop-tail": "drop-tail",
    "RED": "red",
    "gentle RED": "gentle-red",
    "MRED": "mred",
    "ExRED": "exred",
    "NLRED": "nlred",
}
"""The curves that are compared, and their disciplines."""
TIE = 0.001
"""Utilities that differ by less, in shares of the service rate, count as equal."""
FEW, OFTEN = 3, 0.05
"""A set of so few curves that is tied on so large a share of a map is named."""
PRICES = tuple(float(price) for price in np.logspace(-5, -1, 33))
"""Prices of a map: share of the service rate for one service time less of mean delay."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a curve at a load.

    Attributes
    ----------
    name
        The curve.
    load
        lambda/mu.
    throughput
        X, as a share of the service rate.
    delay
        T, mean time in system of an accepted packet, in service times.
    p_drop
        Share of arrivals dropped.
    mean_run
        Mean number of drops in a row; NaN if drops are too rare to tell.
    """

    name: str
    load: float
    throughput: float
    delay: float
    p_drop: float
    mean_run: float

    @property
    def power(self) -> float:
        """Kleinrock's power X / T."""
        return self.throughput / self.delay

    def utility(self, price: float) -> float:
        """Return X - theta T."""
        return self.throughput - price * self.delay


@dataclass(frozen=True)
class Winner:
    """The best curve at a load and a price.

    Attributes
    ----------
    load, price
        The place on the map.
    best
        The curve of the largest utility.
    lead
        By how much it leads the next one.
    tied
        All curves within the tie of it, itself included, in the order in which they were given.
    """

    load: float
    price: float
    best: str
    lead: float
    tied: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """Whether no other curve ties with it."""
        return len(self.tied) == 1


def candidates(*, min_th: float = 10, max_th: float = 30, max_p: float = 0.1, limit: float = 100) -> list[DropCurve]:
    """Return every curve of `SHAPES` with the same parameters, in packets.

    >>> [curve.name for curve in candidates()]
    ['drop-tail', 'RED', 'gentle RED', 'MRED', 'ExRED', 'NLRED']
    """
    keys = {"min_th": min_th, "max_th": max_th, "max_p": max_p, "limit": limit}
    return [DropCurve.of(aqm, **keys, name=name) for name, aqm in SHAPES.items()]


def outcome(curve: DropCurve, *, load: float, capacity: int, w_q: float = 1.0, step: float | None = None) -> Outcome:
    """Solve one curve at one load.

    Parameters
    ----------
    curve
        Drop probability against the average number in system.
    load
        lambda/mu.
    capacity
        K in packets, the one in service included.
    w_q
        Weight of the average; 1 leaves the number in system itself. A curve that never drops early has no use for it.
    step
        Step of the average's grid in packets, as `solve_averaged_chain` takes it.

    Examples
    --------
    >>> red = outcome(candidates()[1], load=1.0, capacity=100)
    >>> round(red.throughput, 4), round(red.delay, 2)
    (0.9613, 13.52)
    """
    if w_q == 1 or not np.isfinite(curve.min_th):
        chain = solve_chain(curve, load=load, capacity=capacity)
        run = consecutive_drops(chain).mean_run
        return Outcome(curve.name, load, chain.throughput, 1 + chain.mean_wait, chain.p_drop, run)
    from aqmlab.theory.queueing.averaged_chain import solve_averaged_chain

    found = solve_averaged_chain(curve, load=load, capacity=capacity, w_q=w_q, step=step)
    run = np.nan if found.mean_run is None else found.mean_run
    return Outcome(curve.name, load, found.throughput, 1 + found.mean_wait, found.p_drop, run)


def winner(outcomes: Sequence[Outcome], price: float, *, tie: float = TIE) -> Winner:
    """Find the best of several curves at one load and one price.

    >>> at_one = [outcome(curve, load=1.0, capacity=100) for curve in candidates()]
    >>> winner(at_one, 1e-5).best, winner(at_one, 1e-5).alone
    ('drop-tail', True)
    >>> winner(at_one, 1e-2).tied
    ('RED',)
    >>> winner(at_one, 1e-3).tied
    ('MRED', 'ExRED', 'NLRED')
    """
    utilities = np.array([one.utility(not_negative("price", price)) for one in outcomes])
    order = np.argsort(-utilities, kind="stable")
    lead = float(utilities[order[0]] - utilities[order[1]]) if len(order) > 1 else np.inf
    tied = tuple(one.name for one, u in zip(outcomes, utilities, strict=True) if u > utilities[order[0]] - tie)
    return Winner(outcomes[0].load, price, outcomes[int(order[0])].name, lead, tied)


def best_map(outcomes: Iterable[Outcome], *, prices: Sequence[float] = PRICES, tie: float = TIE) -> list[Winner]:
    """Find the winner at every load of `outcomes` and every price."""
    positive("tie", tie)
    return [winner(own, price, tie=tie) for own in by_load(outcomes).values() for price in prices]


def by_load(outcomes: Iterable[Outcome]) -> dict[float, list[Outcome]]:
    """Group outcomes by load, in ascending order."""
    found: dict[float, list[Outcome]] = {}
    for one in outcomes:
        found.setdefault(one.load, []).append(one)
    return dict(sorted(found.items()))


def switches(outcomes: Sequence[Outcome]) -> list[tuple[float, str]]:
    """Return from which price on which curve is best, at one load: the corners of the upper left hull.

    Examples
    --------
    >>> at_one = [outcome(curve, load=1.0, capacity=100) for curve in candidates()]
    >>> [(round(price, 5), name) for price, name in switches(at_one)]
    [(0.0, 'drop-tail'), (0.0007, 'MRED'), (0.00163, 'NLRED'), (0.0046, 'RED')]
    """
    here = max(outcomes, key=lambda one: (one.throughput, -one.delay))
    found = [(0.0, here.name)]
    while True:
        quicker = [one for one in outcomes if one.delay < here.delay]
        if not quicker:
            return found
        prices = [((here.throughput - one.throughput) / (here.delay - one.delay), one) for one in quicker]
        price, following = min(prices, key=lambda pair: (pair[0], pair[1].delay))
        found.append((price, following.name))
        here = following


def shares(winners: Sequence[Winner]) -> dict[str, float]:
    """Return each curve's share of the map where it leads alone; the rest is tied."""
    names = dict.fromkeys(name for one in winners for name in (*one.tied, one.best))
    return {name: sum(one.alone and one.best == name for one in winners) / len(winners) for name in names}


def describe(winners: Sequence[Winner]) -> list[str]:
    """Return sentences that describe a map."""
    alone = {name: share for name, share in shares(winners).items() if share > 0}
    sentences = []
    for name, share in sorted(alone.items(), key=lambda item: -item[1]):
        own = [one for one in winners if one.alone and one.best == name]
        loads, prices = [one.load for one in own], [one.price for one in own]
        sentences.append(
            f"{name} leads alone on {share:.0%} of the map: loads {min(loads):g} to {max(loads):g}, prices "
            f"{min(prices):.1g} to {max(prices):.1g}."
        )
    never = [name for name in shares(winners) if name not in alone]
    if never:
        sentences.append(f"Nowhere alone: {', '.join(never)}.")
    sets = tied_sets(winners)
    for names, share in sets.items():
        if len(names) <= FEW and share >= OFTEN:
            sentences.append(f"{joined(names)} lead together, tied, on {share:.0%}.")
    size = max(len(one.tied) for one in winners)
    everyone = [one for one in winners if len(one.tied) == size]
    tied = [one for one in winners if not one.alone]
    sentences.append(
        f"Tied are {len(tied) / len(winners):.0%} of the map, {len(everyone) / len(winners):.0%} between all "
        f"{size} curves (loads {min(one.load for one in everyone):g} to {max(one.load for one in everyone):g})."
    )
    return sentences


def tied_sets(winners: Sequence[Winner]) -> dict[tuple[str, ...], float]:
    """Return the sets of curves that are tied for the best, and their shares of the map, largest first."""
    sets = Counter(one.tied for one in winners if not one.alone)
    return {names: count / len(winners) for names, count in sets.most_common()}


def outcomes_of(
    curves: Iterable[DropCurve], loads: Iterable[float], *, capacity: int, w_q: float = 1.0
) -> list[Outcome]:
    """Solve several curves at several loads."""
    loads = list(loads)
    return [outcome(curve, load=load, capacity=capacity, w_q=w_q) for curve in curves for load in loads]


def at(outcomes: Iterable[Outcome], name: str) -> Mapping[float, Outcome]:
    """Return one curve's outcomes by load."""
    return {one.load: one for one in sorted(outcomes, key=lambda one: one.load) if one.name == name}
