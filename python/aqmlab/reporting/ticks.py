"""Ticks of axes for paper: 1, 2 and 5 times a power of ten on logarithmic axes, as many as their labels leave room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, LogLocator, MaxNLocator, NullFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIGIT, LETTER = 0.62, 0.57
"""Mean widths of digits with signs and points, and of letters, of DejaVu Sans as shares of the font size."""
MOST_TICKS = 8
FEWEST = 2
"""Ticks that an axis needs at least."""
STEPS = (1, 2, 2.5, 5, 10)
MINOR_DECADES = 4.0
"""Decades up to which a logarithmic axis has unlabelled ticks at 2, 3, ... 9."""


def words(values: Sequence[float] | np.ndarray) -> list[str]:
    """Write the ticks of an axis, all with the decimal places that the finest needs.

    >>> words([0.0, 0.5, 1.0]), words([14.75, 14.8]), words([1e-05, 2e-05]), words([2e6, 4e6])
    (['0.0', '0.5', '1.0'], ['14.75', '14.80'], ['1e-05', '2e-05'], ['2e+06', '4e+06'])
    """
    at = np.asarray(values, dtype=float)
    if len(at) > 1 and np.ptp(at) > 0:
        step = float(np.min(np.diff(np.sort(at))))
        if step >= 1e-4 and np.abs(at).max() < 1e6:
            scaled = ((n, at * 10**n) for n in range(8))
            places = next(n for n, one in scaled if np.allclose(one, np.round(one), rtol=0, atol=1e-3 * step * 10**n))
            return [f"{value + 0.0:.{places}f}" for value in at]
    return [f"{value:g}" for value in at]


class Linear(Locator):
    """At most `MOST_TICKS` ticks at round values, fewer where their labels would touch."""

    axis: Any

    def __init__(self, which: Literal["x", "y"]) -> None:
        self.which = which

    def __call__(self) -> Any:  # noqa: ANN401 - as the class of matplotlib
        """Return the ticks of the axis as it is shown."""
        low, high = self.axis.get_view_interval()
        return self.tick_values(float(low), float(high))

    def tick_values(self, vmin: float, vmax: float) -> Any:  # noqa: ANN401
        """Return the ticks between two values."""
        low, high = sorted((vmin, vmax))
        ticks = np.array([low, high])
        for count in range(MOST_TICKS, 1, -1):
            ticks = np.asarray(MaxNLocator(nbins=count, steps=list(STEPS)).tick_values(low, high))
            ticks = ticks[(ticks >= low - 1e-9 * (high - low)) & (ticks <= high + 1e-9 * (high - low))]
            if len(ticks) < 2 or _fits(self.axis.axes, self.which, ticks, (low, high)):
                break
        return ticks


def _length_points(ax: Axes, which: Literal["x", "y"]) -> float:
    box = ax.get_window_extent()
    return float((box.width if which == "x" else box.height) * 72 / ax.figure.dpi)


def _fits(ax: Axes, which: Literal["x", "y"], ticks: np.ndarray, view: tuple[float, float]) -> bool:
    """Whether the labels of ticks at equal distances do not touch."""
    size = float(mpl.rcParams["font.size"])
    apart = float(np.min(np.diff(ticks))) / max(view[1] - view[0], 1e-300) * _length_points(ax, which)
    if which == "y":
        return apart >= 1.5 * size
    return apart >= (max(map(len, words(ticks))) * DIGIT + 0.9) * size


class Log(LogLocator):
    """Ticks at 1, 2 and 5 times the powers of ten, or at powers alone where the labels of all would touch."""

    axis: Any

    def __init__(self, which: Literal["x", "y"]) -> None:
        super().__init__(base=10, subs=(1.0,))
        self.which = which

    def tick_values(self, vmin: float, vmax: float) -> Any:  # noqa: ANN401 - as the class of matplotlib
        """Return the ticks between two values."""
        low, high = sorted((max(vmin, 1e-300), max(vmax, 1e-300)))
        first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
        exponents = np.arange(first, last + 1)
        choices: list[tuple[tuple[float, ...], int]] = [((1, 2, 5), 1), ((1, 3), 1)]
        choices += [((1,), step) for step in range(1, len(exponents) + 1)]
        kept = np.array([])
        for subs, every in choices:
            ticks = np.array([sub * 10.0**e for e in exponents[::every] for sub in subs])
            inside = ticks[(ticks >= low * (1 - 1e-9)) & (ticks <= high * (1 + 1e-9))]
            if len(inside) < FEWEST:
                break
            kept = inside
            if self._room(inside, low, high):
                break
        if len(kept) < FEWEST:  # within a factor of two: round values, as on a linear axis
            kept = np.asarray(MaxNLocator(nbins=3, steps=list(STEPS)).tick_values(low, high))
            kept = kept[(kept >= low * (1 - 1e-9)) & (kept <= high * (1 + 1e-9))]
        return kept

    def _room(self, ticks: np.ndarray, low: float, high: float) -> bool:
        if len(ticks) < 2:
            return True
        ax, size = self.axis.axes, float(mpl.rcParams["font.size"])
        apart = np.diff(np.log10(ticks)) / np.log10(high / low) * _length_points(ax, self.which)
        if self.which == "y":
            return bool((apart >= 1.5 * size).all())
        widths = np.array([len(f"{tick:g}") * DIGIT * size for tick in ticks])
        return bool((apart >= (widths[1:] + widths[:-1]) / 2 + 0.6 * size).all())


def place_ticks(ax: Axes, *, x_log: bool, y_log: bool, x_values: Sequence[float] = (), words_on: str = "") -> None:
    """Choose the ticks of an axis; `x_values` are the values that have one, `words_on` an axis of words ("x", "y")."""
    for which, axis, log in (("x", ax.xaxis, x_log), ("y", ax.yaxis, y_log)):
        if which == words_on:
            continue
        own: Literal["x", "y"] = "x" if which == "x" else "y"
        if log:
            axis.set_major_locator(Log(own))
            low, high = sorted(axis.get_view_interval())
            near = low > 0 and np.log10(high / low) <= MINOR_DECADES
            axis.set_minor_locator(LogLocator(base=10, subs=tuple(map(float, range(2, 10))) if near else (1.0,)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
        else:
            axis.set_major_locator(Linear(own))
            axis.set_major_formatter(_Words())
        if which == "x" and len(x_values):
            axis.set_major_locator(Values([float(value) for value in x_values]))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_locator(FixedLocator([]))


class Values(FixedLocator):
    """Ticks at values, without those whose labels would touch the one before."""

    axis: Any
    locs: Any

    def __call__(self) -> Any:  # noqa: ANN401 - as the class of matplotlib
        """Return the values that have a tick."""
        ax, size = self.axis.axes, float(mpl.rcParams["font.size"])
        kept: list[float] = []
        end = -np.inf
        for value in sorted(float(one) for one in self.locs):
            place = float(ax.transData.transform((value, ax.get_ylim()[0]))[0]) * 72 / ax.figure.dpi
            half = len(f"{value:g}") * DIGIT * size / 2
            if place - half >= end + 0.4 * size:
                kept.append(value)
                end = place + half
        return kept


class _Words(FuncFormatter):
    """Write ticks with the places that they need together."""

    def __init__(self) -> None:
        super().__init__(lambda value, _: f"{value:g}")

    def format_ticks(self, values: Any) -> list[str]:  # noqa: ANN401 - as the class of matplotlib
        """Return the labels of all ticks."""
        return words(values)
