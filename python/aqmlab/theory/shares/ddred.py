"""DDRED's shares of the drops by distance: the packet that has travelled least pays.

E. Dedu, S. Linck and F. Spies, "Distance-Dependent RED Policy (DDRED)", section IV.B: RED decides that a packet must
go, and the one of least d_r among those waiting goes. The paper gives no formula; this one follows from the rule. Let
s_1, ..., s_m be the shares of waiting packets by distance, the least first, T_k = s_k + ... + s_m, and let q packets
wait in random order. The least distance among them is k or more with the probability T_k^q, so that

    C_k = T_k^q - T_(k+1)^q                              of the drops fall to distance k, T_(m+1) = 0

The shares add up to 1; at q = 1 they are s_k, as RED's. A class of flows at distance k loses the share p C_k/s_k of its
packets, the farthest p T_m^(q-1): it loses only when no nearer packet waits, which is the "stage 2" of section VI.B.

The value of q: an early drop is made among the q packets that wait, or q + 1 with the arriving one
(`arrival_is_candidate`). Left out: packets of a flow come in bursts, so that the queue is less mixed than assumed and
the far flow pays more often; the queue varies; time-outs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from aqmlab.theory.domain import reject
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.shares.response import settle, windows_at

NONE = 1e-12
"""A share of packets that counts as none."""


def drop_shares(shares: ArrayLike, queue: float) -> Array:
    """Return C_1 to C_m, the shares of the drops by distance.

    Parameters
    ----------
    shares
        s_1 to s_m, of the waiting packets, the least distance first; 0 or more, together 1.
    queue
        q, candidates for a drop; 1 or more packets.

    Raises
    ------
    DomainError
        If the shares do not add up to 1, or q is below 1.

    Examples
    --------
    Of two packets from either distance the far one pays only if both are far:

    >>> drop_shares([0.5, 0.5], 2).tolist(), drop_shares([0.2, 0.3, 0.5], 1).round(9).tolist()
    ([0.75, 0.25], [0.2, 0.3, 0.5])
    """
    own = np.asarray(shares, dtype=float)
    if not (own >= 0).all() or abs(float(own.sum()) - 1) > 1e-6:
        reject("shares", str(own.tolist()), "numbers of 0 or more that add up to 1")
    if not queue >= 1:
        reject("queue", float(queue), "1 packet or more")
    beyond = np.clip(np.append(np.cumsum(own[::-1])[::-1], 0.0), 0.0, 1.0) ** queue
    return np.asarray(beyond[:-1] - beyond[1:])


def losses(p: float, queue: float, sent: Array, keys: Array) -> Array:
    """Return the share of its packets that each class loses.

    Parameters
    ----------
    p
        Share of all packets that the queue drops.
    queue
        Candidates for a drop, packets; less than 1 counts as 1.
    sent
        Packets/s of each class, not all 0.
    keys
        Distance of each class, in hops or as a share of its route.

    Examples
    --------
    At p = 0.1 and q = 2: near 0.1 * 0.75/0.5, far 0.1 * 0.25/0.5.

    >>> losses(0.1, 2, np.array([30.0, 30.0]), np.array([1.0, 2.0])).round(9).tolist()
    [0.15, 0.05]
    """
    levels, level = np.unique(keys, return_inverse=True)
    shares = np.bincount(level, weights=sent, minlength=len(levels)) / float(np.sum(sent))
    paid = drop_shares(shares, max(queue, 1.0))
    # A class that sends nothing loses as its first packet would: the derivative of C_k at s_k = 0.
    beyond = np.cumsum(shares[::-1])[::-1]
    first = np.maximum(queue, 1.0) * beyond ** (max(queue, 1.0) - 1)
    each = np.where(shares > NONE, paid / np.maximum(shares, NONE), first)
    return np.asarray(np.clip(p * each[level], 0.0, 1.0))


@dataclass
class DdredFlows:
    """The answer of classes of flows to DDRED, for `aqmlab.theory.fluid.operating_point.solve`.

    Attributes
    ----------
    law
        How windows answer losses.
    flows
        Of each class.
    keys
        Distance of each class at this queue; 0 or more.
    others
        Packets/s of traffic that does not react to losses (acknowledgements, UDP), by its distance.
    light
        Of `others`, packets/s that are dropped only as victims, since the curve weighs packets by their bytes
        (acknowledgements in byte mode): they are candidates and make no drops.
    arrival
        Whether the arriving packet is a candidate.
    """

    law: str
    flows: Array
    keys: Array
    others: dict[float, float] = field(default_factory=dict)
    light: float = 0.0
    arrival: bool = False
    _last: Array | None = field(default=None, repr=False)

    def windows(self, p: float, queue: float, rtts: Array) -> Array:
        """Return the classes' mean windows in packets at an overall loss p, a queue in packets and round trips in s."""
        start = windows_at(self.law, np.full(len(self.flows), max(p, 1e-9))) if self._last is None else self._last
        self._last = settle(lambda w: windows_at(self.law, self.losses(p, queue, w, rtts)), start)
        return self._last

    def losses(self, p: float, queue: float, windows: Array, rtts: Array) -> Array:
        """Return the share of its packets that each class loses."""
        keys = np.concatenate([self.keys, np.array(list(self.others), dtype=float)])
        sent = np.concatenate([self.flows * windows / rtts, np.array(list(self.others.values()), dtype=float)])
        total = float(sent.sum())
        heavy = max(total - self.light, 1e-9)
        candidates = queue * total / heavy + (1.0 if self.arrival else 0.0)
        return losses(p * heavy / total, candidates, sent, keys)[: len(self.flows)]
