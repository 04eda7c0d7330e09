"""How a window answers losses of its own: the laws of `aqmlab.theory.fluid.loss_law`, for one class at a time.

A law says that W packets sent in a round trip meet events(W, p) losses, each of which takes the share `cut` of the
window. All laws are linear in p, so that one loss of one packet takes

    h(W) = cut events(W, 1)/W

of a window of W packets: 1/2 for `misra`, less for laws that count recovery. In equilibrium h(W) W^2 p = 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import LEAST_WINDOW, loss_law

LARGEST = 1e9
"""Packets; the window of a class that loses nothing, where it has no limit of its own."""
ROUNDS = 500
SAME = 1e-10
"""Relative change of a fixed point from which on it counts as found."""


def cut_of(law: str, window: Array) -> Array:
    """Return h(W), the share of a window that the loss of one packet takes, above 0 and at most 1.

    >>> cut_of("misra", np.array([10.0])).tolist()
    [0.5]
    """
    found = loss_law(law)
    return np.minimum(found.cut * found.events(window, np.ones_like(window)) / window, 1.0)


def windows_at(law: str, losses: Array) -> Array:
    """Return the windows in packets of classes that lose these shares of their packets, without limits but 1.

    >>> windows_at("misra", np.array([0.02, 0.0])).tolist()
    [10.0, 1000000000.0]
    """
    lost = losses > 0
    free = loss_law(law).window(np.where(lost, losses, 1.0))
    return np.clip(np.where(lost, free, LARGEST), LEAST_WINDOW, LARGEST)


def settle(step: Callable[[Array], Array], start: Array) -> Array:
    """Return a fixed point of positive numbers, by damped steps of their logarithms.

    >>> round(float(settle(lambda x: 2 / x, np.array([5.0]))[0]), 9)
    1.414213562
    """
    x = np.log(start)
    damping, last = 0.5, np.inf
    for _ in range(ROUNDS):
        change = np.log(step(np.exp(x))) - x
        size = float(np.max(np.abs(change)))
        if size < SAME:
            break
        # An overshoot that grows asks for smaller steps.
        damping = max(0.7 * damping, 0.02) if size > last else min(1.05 * damping, 0.7)
        last = size
        x = x + damping * change
    return np.exp(x)
