"""Reports: one self-contained HTML page for any results folder."""

from aqmlab.reporting.build import report
from aqmlab.reporting.page import Page

__all__ = ["Page", "report"]
