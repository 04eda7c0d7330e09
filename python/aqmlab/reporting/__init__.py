"""Pages: one self-contained HTML file, its sections, and the figures that runs have. `aqmlab.report` writes one."""

from aqmlab.reporting.build import figure
from aqmlab.reporting.page import Page

__all__ = ["Page", "figure"]
