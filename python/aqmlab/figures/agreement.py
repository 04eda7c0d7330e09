"""Everything in one picture: each quantity in a panel of its own, analysed beside simulated, dots with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.figures.marks import PALETTE
from aqmlab.statistics import Interval
from aqmlab.theory.scenario.agreement import QUANTITIES, Analysed, Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.results.quantities import Quantity

SIZE_IN = (9.6, 4.6)
ACROSS = 3
MODELS = (0, 7, 4)
MEASURED = (1, 2)
"""Places in the palette of models, and of what was measured: simulated, then live."""


def paint(ax: Axes, models: Sequence[Analysed], measured: Sequence[Measured]) -> None:
    """Paint a panel for each quantity; columns are the models and whatever was measured."""
    ax.axis("off")
    shown = [q for q in QUANTITIES if any(q.key in model.values for model in models)]
    rows = -(-len(shown) // ACROSS)
    for index, quantity in enumerate(shown):
        column, row = index % ACROSS, index // ACROSS
        width, height = 1 / ACROSS, 1 / rows
        place = (column * width + 0.035, 1 - (row + 1) * height + 0.12, width - 0.06, height - 0.22)
        _panel(ax.inset_axes(place), quantity, models, measured)


def _panel(ax: Axes, quantity: Quantity, models: Sequence[Analysed], measured: Sequence[Measured]) -> None:
    key = quantity.key
    columns = [
        (m.name, Interval(m.values[key], np.nan, 1, np.nan, np.nan), c)
        for m, c in zip(models, MODELS, strict=False)
        if key in m.values
    ]
    columns += [(m.name, m.values[key], c) for m, c in zip(measured, MEASURED, strict=False)]
    tops = []
    for x, (_, found, color) in enumerate(columns):
        half = found.half_width if found.n > 1 else 0.0
        tops.append(found.mean + half)
        look: dict[str, Any] = {"color": PALETTE[color], "marker": "o", "ms": 6}
        if half:
            ax.errorbar(x, found.mean, yerr=half, capsize=4, elinewidth=1.4, **look)
        else:
            ax.plot(x, found.mean, ls="none", **look)
        above: dict[str, Any] = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center", "fontsize": 8.5}
        ax.annotate(f"{found.mean:.4g}", (x, tops[-1]), **above)
    ax.axhline(columns[0][1].mean, color=PALETTE[columns[0][2]], lw=0.8, ls=":")
    ax.set_xlim(-0.6, len(columns) - 0.4)
    ax.set_ylim(0, 1.3 * max([*tops, 1e-9]))
    ax.set_xticks(range(len(columns)), [name.replace(", ", "\n") for name, *_ in columns], fontsize=8.5)
    ax.tick_params(axis="y", labelsize=8)
    ax.set_title(quantity.label, loc="left", fontsize=9.5, fontweight="bold")
    ax.grid(visible=False, axis="x")
