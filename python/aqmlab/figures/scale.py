"""The scale of values against time, which suits the part after the warm-up; the laboratory has the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from aqmlab.figures.chart import Series

HEADROOM = 1.25
"""Height of the scale over the greatest value after the warm-up; the words for a peak stand there."""
MARGIN = 1.06
"""Height of the scale over the greatest value if nothing is clipped."""
CLIP = 1.25
"""A peak of the warm-up is clipped if it is more than so many times as high as the rest of the figure."""


def steady_scale(
    series: Sequence[Series], after_s: float, unit: str, *, levels: Sequence[tuple[float, str]] = ()
) -> dict[str, Any]:
    """Return the scale of values against time that suits the part after the warm-up, and words for a clipped peak.

    The scale ends above the greatest value after the warm-up and above the levels. A peak of the warm-up that is
    more than `CLIP` times as high is beyond it; otherwise the scale holds all values.

    Returns
    -------
    dict
        ``y_range`` and ``clipped`` of a `Chart`; empty if all values are 0.

    >>> from aqmlab.figures.chart import Series
    >>> start = Series("codel", np.array([0.4, 2.0, 3.0]), np.array([100.0, 20.0, 30.0]))
    >>> steady_scale([start], 1.0, "packets")
    {'y_range': (0.0, 37.5), 'clipped': (0.4, 'peak 100 packets at 0.4 s')}
    >>> steady_scale([start], 0.0, "packets")
    {'y_range': (0.0, 106.0)}
    """
    steady, peak, at, whose = 0.0, 0.0, 0.0, ""
    for one in series:
        x, y = np.asarray(one.x, dtype=float), np.nan_to_num(np.asarray(one.y, dtype=float))
        if len(y) and (x >= after_s).any():
            steady = max(steady, float(y[x >= after_s].max()))
        if len(y) and y.max() > peak:
            peak, at, whose = float(y.max()), float(x[y.argmax()]), one.name
    top = max([steady, *(height for height, _ in levels)]) * HEADROOM
    if after_s <= 0 or not steady or at >= after_s or peak <= CLIP * top:
        tall = float(max([peak, *(height for height, _ in levels)]) * MARGIN)
        return {"y_range": (0.0, tall)} if tall else {}
    name = f"{whose}: " if sum(one.listed for one in series) > 1 else ""
    return {"y_range": (0.0, top), "clipped": (at, f"{name}peak {peak:.3g} {unit} at {at:.2g} s")}
