"""Public names of aqmlab.figures, each with its module."""

from .against_time import averages_against_time as averages_against_time
from .against_time import jain_against_time as jain_against_time
from .against_time import queue_against_time as queue_against_time
from .against_time import windows_against_time as windows_against_time
from .curves import drop_curves as drop_curves
from .curves import scenario_curves as scenario_curves
from .disciplines import bars as bars
from .disciplines import compared as compared
from .disciplines import spread as spread
from .distributions import completion_distribution as completion_distribution
from .distributions import delay_distribution as delay_distribution
from .loops import bode as bode
from .loops import nyquist as nyquist
from .maps import against as against
from .maps import parameter_map as parameter_map
from .measured_curve import probability_against_average as probability_against_average
from .runs import MAX_POINTS as MAX_POINTS
from .runs import Runs as Runs
from .runs import thin as thin
from .shares import drop_shares as drop_shares
from .stability import stability_chart as stability_chart
from .trade_off import ellipses as ellipses
from .trade_off import pareto_front as pareto_front
