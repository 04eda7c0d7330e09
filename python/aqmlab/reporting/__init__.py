"""Reports: one self-contained HTML page for any results folder.

* `build`: the sections of a page, by kind of folder; `overview`: the page over several reproductions
* `chosen`, `across`: the figures, of one scenario and over several
* `page`, `fragments`: the HTML
"""

from aqmlab.reporting.build import figure, report
from aqmlab.reporting.page import Page

__all__ = ["Page", "figure", "report"]
