"""Which transfers are active when, and at which rates: max-min fair sharing of a network, flow by flow.

L. Massoulie and J. Roberts, "Bandwidth sharing and admission control for elastic traffic", Telecommunication Systems
15, 2000: on the time scale of transfers, TCP divides every link as if at once. Here rates are max-min fair (D.
Bertsekas and R. Gallager, "Data Networks", section 6.5) with a cap for each transfer, its largest window in a round
trip; from the start of a transfer to its end its rate changes when another begins or ends. Left out: slow start,
time-outs, the bias of TCP against long round trips, and what drops cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.theory.domain import not_negative, positive
from aqmlab.theory.drop_curve import Array

CAPPED = -1
"""In place of a link: what limits a transfer is its own cap."""


@dataclass(frozen=True)
class Transfer:
    """One transfer.

    Attributes
    ----------
    start
        s.
    bits
        To carry, headers included; infinite without end.
    path
        Numbers of the links that it crosses.
    cap
        Largest rate, bit/s.
    """

    start: float
    bits: float
    path: tuple[int, ...]
    cap: float = math.inf

    def __post_init__(self) -> None:
        not_negative("start", self.start, "s")
        if not math.isinf(self.bits):
            not_negative("bits", self.bits)
        if not math.isinf(self.cap):
            positive("cap", self.cap, "bit/s")


@dataclass(frozen=True)
class Segment:
    """A time in which the same transfers are active: from `begin` to `end` in s.

    `active` has their places, `rates` their rates in bit/s, and `limits` the link that limits each, or `CAPPED`.
    """

    begin: float
    end: float
    active: tuple[int, ...]
    rates: Array
    limits: Array


def max_min(paths: Sequence[Sequence[int]], caps: Sequence[float], capacities: Array) -> tuple[Array, Array]:
    """Return the max-min fair rate of each flow in bit/s, and the link that limits it (`CAPPED`: its cap).

    Examples
    --------
    Two flows over a link of 10, one of them also over a link of 4; then a cap of 1 on the other:

    >>> [x.tolist() for x in max_min([[0], [0, 1]], [100, 100], np.array([10.0, 4.0]))]
    [[6.0, 4.0], [0, 1]]
    >>> [x.tolist() for x in max_min([[0], [0, 1]], [1, 100], np.array([10.0, 4.0]))]
    [[1.0, 4.0], [-1, 1]]
    """
    crosses = np.zeros((len(paths), len(capacities)))
    for number, path in enumerate(paths):
        crosses[number, list(path)] = 1.0
    rates, limits = np.zeros(len(paths)), np.full(len(paths), CAPPED)
    left, own = np.array(capacities, dtype=float), np.array(caps, dtype=float)
    open_ = np.ones(len(paths), dtype=bool)
    while open_.any():
        counts = open_.astype(float) @ crosses
        fair = np.where(counts > 0, left / np.maximum(counts, 1), np.inf)
        link, level = int(np.argmin(fair)), float(np.min(fair))
        capped = open_ & (own <= level)
        done = capped if capped.any() else open_ & (crosses[:, link] > 0)
        rates[done] = own[done] if capped.any() else level
        limits[done] = CAPPED if capped.any() else link
        left = np.maximum(left - rates[done] @ crosses[done], 0.0)
        open_ &= ~done
    return rates, limits


def share_out(transfers: Sequence[Transfer], capacities: Sequence[float], *, until: float) -> list[Segment]:
    """Return the active transfers and their rates from time 0 until a time in s.

    Examples
    --------
    One transfer of 20 bits over a link of 10 bit/s; after a second a second one joins:

    >>> found = share_out([Transfer(0.0, 20, (0,)), Transfer(1.0, 5, (0,))], [10.0], until=9)
    >>> [(one.begin, one.end, one.active, one.rates.tolist()) for one in found]
    [(0.0, 1.0, (0,), [10.0]), (1.0, 2.0, (0, 1), [5.0, 5.0]), (2.0, 2.5, (0,), [10.0])]
    """
    links = np.array(capacities, dtype=float)
    order = sorted(range(len(transfers)), key=lambda i: transfers[i].start)
    left = {i: transfers[i].bits for i in order}
    active: list[int] = []
    found: list[Segment] = []
    now, following = 0.0, 0
    while now < until and (active or following < len(order)):
        while following < len(order) and transfers[order[following]].start <= now:
            active.append(order[following])
            following += 1
        coming = transfers[order[following]].start if following < len(order) else math.inf
        if not active:
            now = coming
            continue
        rates, limits = max_min([transfers[i].path for i in active], [transfers[i].cap for i in active], links)
        ends = min((now + left[i] / rate for i, rate in zip(active, rates.tolist(), strict=True)), default=math.inf)
        end = min(coming, ends, until)
        if end > now:
            found.append(Segment(now, end, tuple(active), rates, limits))
        for i, rate in zip(active, rates.tolist(), strict=True):
            left[i] -= rate * (end - now)
        # A rest of less than a bit is rounding.
        active = [i for i in active if left[i] > 1e-6 * max(transfers[i].bits, 1.0) or math.isinf(left[i])]
        now = end
    return found
