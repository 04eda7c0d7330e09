"""Figures made of results and scenarios.

Each function returns an `aqmlab.plotting.chart.Chart`: a figure as data, which a report draws for the screen.
`aqmlab.figures` has these functions and those that plot theory over results.
"""

from aqmlab.plotting.figures.against_time import (
    averages_against_time,
    jain_against_time,
    queue_against_time,
    windows_against_time,
)
from aqmlab.plotting.figures.curves import drop_curves, scenario_curves
from aqmlab.plotting.figures.disciplines import bars, compared, spread
from aqmlab.plotting.figures.distributions import completion_distribution, delay_distribution
from aqmlab.plotting.figures.maps import against, parameter_map
from aqmlab.plotting.figures.runs import MAX_POINTS, Runs, thin
from aqmlab.plotting.figures.shares import drop_shares
from aqmlab.plotting.figures.trade_off import ellipses, pareto_front

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
    "queue_against_time",
    "scenario_curves",
    "spread",
    "thin",
    "windows_against_time",
]
