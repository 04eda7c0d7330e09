"""Every figure as one function with a matplotlib axis in front, to be used in your own figures.

    import matplotlib.pyplot as plt
    from aqmlab import axes

    figure, (left, right) = plt.subplots(1, 2)
    axes.queue_against_time(left, result)
    axes.ellipses(right, comparison)

Each function takes the arguments of the function of the same name in `aqmlab.figures`, draws on the axis, and
returns the chart, whose series hold the data.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from aqmlab import figures
from aqmlab.figures.chart import Chart
from aqmlab.figures.loops import bode
from aqmlab.reporting import plots
from aqmlab.theory.control.loop import Loop

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_P = ParamSpec("_P")


def on_axis(figure: Callable[_P, Chart]) -> Callable[Concatenate[Axes, _P], Chart]:
    """Return a figure's function with an axis in front of its arguments."""

    @functools.wraps(figure)
    def drawn(ax: Axes, /, *args: _P.args, **kwargs: _P.kwargs) -> Chart:
        chart = figure(*args, **kwargs)
        plots.draw(ax, chart)
        return chart

    return drawn


def _bode_magnitude(loops: Sequence[Loop]) -> Chart:
    """Magnitude of loops against frequency, with their margins in words."""
    return bode(loops)[0]


def _bode_phase(loops: Sequence[Loop]) -> Chart:
    """Phase of loops against frequency."""
    return bode(loops)[1]


queue_against_time = on_axis(figures.queue_against_time)
averages_against_time = on_axis(figures.averages_against_time)
windows_against_time = on_axis(figures.windows_against_time)
jain_against_time = on_axis(figures.jain_against_time)
drop_curves = on_axis(figures.drop_curves)
probability_against_average = on_axis(figures.probability_against_average)
delay_distribution = on_axis(figures.delay_distribution)
completion_distribution = on_axis(figures.completion_distribution)
ellipses = on_axis(figures.ellipses)
pareto_front = on_axis(figures.pareto_front)
drop_shares = on_axis(figures.drop_shares)
compared = on_axis(figures.compared)
bars = on_axis(figures.bars)
spread = on_axis(figures.spread)
against = on_axis(figures.against)
parameter_map = on_axis(figures.parameter_map)
bode_magnitude = on_axis(_bode_magnitude)
bode_phase = on_axis(_bode_phase)
