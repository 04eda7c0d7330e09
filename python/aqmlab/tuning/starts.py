"""Where a search starts: the analytic design and ns-2's automatic RED, or the values of an RFC, and the scenario's own.

The analytic design takes thresholds as given and lets theory do the rest, for the whole range at once:

* max_p: where the most flows share the least, the probability that TCP needs, p = 2 N^2 / (R C)^2 (Misra, Gong and
  Towsley, SIGCOMM 2000), is reached in the middle between the thresholds.
* w_q: the largest that meets the condition of Hollot, Misra, Towsley and Gong (INFOCOM 2001) at every point; it is the
  one with few flows and a long round trip that decides (`aqmlab.theory.control.conditions`).

Where that weight is so small that no run of the scenario shows what it does (`aqmlab.tuning.space`), the least that is
searched is taken, and the answer reports it.

Thresholds trade delay for utilization, and no theory of the loop gives the rate of exchange; so the design is made
at several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.scenario.registry import Discipline
from aqmlab.theory.control.conditions import hollot_frequency
from aqmlab.theory.drop_curve import drop_rate
from aqmlab.theory.scenario.model import LinkModel, model_of
from aqmlab.tuning.measurements import Body, Place
from aqmlab.tuning.ranges import Point
from aqmlab.tuning.space import RED, Space

ANALYTIC = "analytic"
START = "start: "
"""Beginning of the name of an analytic design that is compared with."""
AUTOMATIC = "ns-2 automatic"
FILE = "file"
DEFAULTS = "defaults"
TUNED = "tuned"
BEST_TRIAL = "best trial"
"""Settings that the search found, where the defaults are the answer."""
NAMES = (AUTOMATIC, FILE, DEFAULTS, TUNED, BEST_TRIAL)
"""Names of settings in answers."""
CAKE = "cake"
"""Its buffer is a memory that follows from the rate; `limit` only bounds that."""
SHARES = (0.15, 0.3, 0.6)
"""max_th of the analytic designs, as shares of the buffer; min_th is a third of it."""


@dataclass(frozen=True)
class Start:
    """Settings that are known before the search.

    Attributes
    ----------
    name
        ``analytic 30 %``, ``ns-2 automatic``, ``file`` (``drop-tail`` where the file has that discipline), or the name
        that the caller gave.
    body
        The queue's table.
    """

    name: str
    body: Body


@dataclass(frozen=True)
class Load:
    """Load of the link at a point: N flows of one round trip (without queueing, in s), C in packets/s."""

    flows: float
    propagation: float
    capacity: float

    def round_trip(self, queue: float) -> float:
        """Return R in s with a queue in packets."""
        return self.propagation + queue / self.capacity

    @classmethod
    def of(cls, model: LinkModel) -> Load | None:
        """Return it for a link; None without greedy TCP."""
        flows = sum(one.count for one in model.traffic.greedy)
        if not flows:
            return None
        mean = sum(one.count * one.propagation_s for one in model.traffic.greedy) / flows
        return cls(flows, mean, model.capacity)


def has_red(aqm: Discipline) -> bool:
    """Whether a discipline has RED's parameters."""
    return {parameter.key for parameter in aqm.own_parameters} >= RED


def defaults(aqm: Discipline, plan_body: Body) -> Start:
    """Return a discipline with the values of its RFC, or its authors, and the buffer of the scenario."""
    known = {parameter.key for parameter in aqm.own_parameters}
    if aqm.name == CAKE:
        known.remove("limit")
    kept: Body = {key: plan_body[key] for key in ("limit", "mean_packet", "ecn") if key in plan_body and key in known}
    return Start(DEFAULTS, {"aqm": aqm.name, **kept})


def automatic(plan_body: Body) -> Start:
    """Return ns-2's RED with automatic thresholds and weight, as it has been by default since December 2001.

    min_th = max(5, C * 5 ms / 2), max_th = 3 min_th, w_q = 1 - exp(-1/(10 R C)) with R = max(0.1 s, 3 (d + 1/C)) for a
    link of C packets/s and a delay d, gentle, max_p = 0.1.
    """
    body: Body = {"aqm": "gentle-red", "min_th": "auto", "max_th": "auto", "max_p": 0.1, "w_q": "auto"}
    kept: Body = {key: plan_body[key] for key in ("limit", "mean_packet", "ecn") if key in plan_body}
    return Start(AUTOMATIC, {**body, **kept})


def analytic(place: Place, aqm: Discipline, space: Space, points: Sequence[Point], notes: list[str]) -> list[Start]:
    """Return the analytic designs; none for a discipline without RED's parameters, or without greedy TCP.

    Deviations from the design are added to `notes`.
    """
    if not has_red(aqm):
        return []
    if not {"max_th", "max_p", "w_q"} <= {dimension.key for dimension in space.dimensions}:
        return []
    loads, limit, spacing = [], math.inf, "ns2-wait"
    for point in points:
        there = place.scenario(dict(space.base), point)
        model = model_of(there, link=place.link)
        load = Load.of(model)
        if load is None:
            return []
        loads.append(load)
        limit, spacing = min(limit, model.curve.limit), model.curve.spacing
    small: dict[str, float] = {}
    found = [_design(share, limit, spacing, loads, space, small) for share in SHARES]
    if small:
        notes.append(
            f"{', '.join(small)}: Hollot's condition asks for w_q down to {min(small.values()):.2g}; the least that is "
            "searched is taken"
        )
    return found


def _design(
    share: float, limit: float, spacing: str, loads: Sequence[Load], space: Space, small: dict[str, float]
) -> Start:
    """Return a design; a w_q below the least that is searched goes into `small`."""
    high = max(3.0, share * limit)
    low = high / 3
    max_p = max(heaviest(load, (low + high) / 2, spacing) for load in loads)
    w_q = min(largest_weight(load, low, high, max_p) for load in loads)
    effective = {**space.base_words, "min_th": low, "max_th": high, "max_p": max_p, "w_q": w_q, "limit": limit}
    name = f"{ANALYTIC} {100 * share:.0f} %"
    numbers = space.numbers(effective, 1.0)
    if w_q < numbers["w_q"]:
        small[name] = w_q
    return Start(name, space.body(numbers))


def heaviest(load: Load, queue: float, spacing: str) -> float:
    """Return the max_p at which the drop rate midway between the thresholds is the one that the flows need.

    >>> round(heaviest(Load(20, 0.04, 1250), 20, "none"), 3)
    0.327
    """
    needed = min(1.0, 2 * (load.flows / (load.round_trip(queue) * load.capacity)) ** 2)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(drop_rate(middle, spacing)) < needed else (low, middle)
    return min(1.0, 2 * high)


def largest_weight(load: Load, min_th: float, max_th: float, max_p: float) -> float:
    """Return the largest w_q that meets Hollot's condition, at most the one that averages over a packet time.

    L_red (R C)^3/(2N)^2 <= sqrt(w_g^2/K^2 + 1) with K = -ln(1 - w_q) C, solved for w_q.

    >>> w_q = largest_weight(Load(60, 0.246 - 425 / 3750, 3750), 150, 700, 0.1)
    >>> round(w_q * 1e6, 2)
    1.43
    """
    r, n, c = load.round_trip((min_th + max_th) / 2), load.flows, load.capacity
    gain = max_p / (max_th - min_th) * (r * c) ** 3 / (2 * n) ** 2
    fastest = -math.expm1(-1 / c)
    if gain <= 1:
        return fastest
    slow = hollot_frequency(flows=n, capacity=c, rtt=r)
    return min(fastest, -math.expm1(-slow / math.sqrt(gain**2 - 1) / c))
