"""Public names of aqmlab.reporting, each with its module."""

from . import axes as axes
from . import notebook as notebook
from .build import figure as figure
from .page import Page as Page
