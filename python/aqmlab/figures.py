"""The figures that users of queue disciplines expect, made of results and scenarios.

Each function returns an `aqmlab.plotting.chart.Chart`: a figure as data, which a report draws for the screen.
`aqmlab.axes` has the same functions with a matplotlib axis as the first argument.
"""

from aqmlab.plotting.figures import (
    MAX_POINTS,
    Runs,
    against,
    averages_against_time,
    bars,
    compared,
    completion_distribution,
    delay_distribution,
    drop_curves,
    drop_shares,
    ellipses,
    jain_against_time,
    parameter_map,
    pareto_front,
    queue_against_time,
    scenario_curves,
    spread,
    thin,
    windows_against_time,
)
from aqmlab.theory.scenario.measured_curve import probability_against_average

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
