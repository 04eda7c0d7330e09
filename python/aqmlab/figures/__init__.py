"""Figures as data, made of results, scenarios and theory.

Each function returns an `aqmlab.figures.chart.Chart`, which a report draws for the screen. `aqmlab.axes` has functions
of the same names with a matplotlib axis as the first argument.
"""

from aqmlab.figures.against_time import (
    averages_against_time,
    jain_against_time,
    queue_against_time,
    windows_against_time,
)
from aqmlab.figures.curves import drop_curves, scenario_curves
from aqmlab.figures.disciplines import bars, compared, spread
from aqmlab.figures.distributions import completion_distribution, delay_distribution
from aqmlab.figures.loops import bode, nyquist
from aqmlab.figures.maps import against, parameter_map
from aqmlab.figures.measured_curve import probability_against_average
from aqmlab.figures.runs import MAX_POINTS, Runs, thin
from aqmlab.figures.shares import drop_shares
from aqmlab.figures.stability import stability_chart
from aqmlab.figures.trade_off import ellipses, pareto_front

__all__ = [
    "MAX_POINTS",
    "Runs",
    "against",
    "averages_against_time",
    "bars",
    "bode",
    "compared",
    "completion_distribution",
    "delay_distribution",
    "drop_curves",
    "drop_shares",
    "ellipses",
    "jain_against_time",
    "nyquist",
    "parameter_map",
    "pareto_front",
    "probability_against_average",
    "queue_against_time",
    "scenario_curves",
    "spread",
    "stability_chart",
    "thin",
    "windows_against_time",
]
