"""Several questions at once: p values adjusted for how many were asked.

Holm's step-down keeps the chance of *any* false answer below 5 %: for the claims of a paper and for the verdicts of a
comparison, each of which is to be believed. Benjamini and Hochberg's step-up keeps the expected *share* of false ones
among those picked below 5 %: for screens of many quantities and settings, whose finds are looked at again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p values for looking at several at once (Holm 1979, step-down). NaN stays NaN and counts as none.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted((i for i, value in enumerate(p) if not math.isnan(value)), key=lambda i: p[i])
    adjusted = [math.nan] * len(p)
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p[i]))
        adjusted[i] = running
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjust p values for a screen (Benjamini and Hochberg 1995, step-up). NaN stays NaN and counts as none.

    >>> [round(q, 4) for q in benjamini_hochberg([0.01, 0.04, 0.03, 0.005])]
    [0.02, 0.04, 0.04, 0.02]
    """
    from scipy.stats import false_discovery_control

    values = np.asarray(p, dtype=float)
    asked = ~np.isnan(values)
    adjusted = np.full(len(values), math.nan)
    if asked.any():
        adjusted[asked] = false_discovery_control(values[asked])
    return [float(q) for q in adjusted]
