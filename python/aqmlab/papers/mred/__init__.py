"""MRED: Zhang, Ma, Wang and Xu, "MRED: An Improved Nonlinear RED Algorithm" (simulated in ns-2.31).

Not the "Modified RED" of other authors. `published.csv` holds the printed tables, `readings.toml` the open points of
the paper and the choices made, `claims.toml` its claims as sentences that runs can decide, `page.toml` its page's
contents.
"""

from aqmlab.papers.mred.paper import PAPER
from aqmlab.papers.mred.plan import Effort

NAME, CITATION, planned = PAPER.page.name, PAPER.page.citation, PAPER.planned

__all__ = ["CITATION", "NAME", "PAPER", "Effort", "planned"]
