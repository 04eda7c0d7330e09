"""The figures that users of queue disciplines expect, made of results and scenarios.

Each function gives a `aqmlab.chart.Chart`: a figure as data, which a report draws for the screen. `aqmlab.axes` has the
same functions with a matplotlib axis in front.
"""

from aqmlab.figures.against_time import (
    averages_against_time,
    jain_against_time,
    queue_against_time,
    windows_against_time,
)
from aqmlab.figures.curves import drop_curves, probability_against_average, scenario_curves
from aqmlab.figures.disciplines import bars, compared, spread
from aqmlab.figures.distributions import completion_distribution, delay_distribution
from aqmlab.figures.maps import against, parameter_map
from aqmlab.figures.runs import MAX_POINTS, Runs, thin
from aqmlab.figures.shares import drop_shares
from aqmlab.figures.trade_off import ellipses, pareto_front

__all__ = [
    "MAX_POINTS",
    "Runs",
    "against",
    "averages_against_time",
    "bars",
    "compared",
    "completion_distribution",
    "delay_distribution",
    "drop_curves",
    "drop_shares",
    "ellipses",
    "jain_against_time",
    "parameter_map",
    "pareto_front",
    "probability_against_average",
    "queue_against_time",
    "scenario_curves",
    "spread",
    "thin",
    "windows_against_time",
]
