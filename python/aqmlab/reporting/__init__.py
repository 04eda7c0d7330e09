"""Reports: one self-contained HTML page for any results folder."""

from aqmlab.reporting.build import figure, report
from aqmlab.reporting.page import Page

__all__ = ["Page", "figure", "report"]
