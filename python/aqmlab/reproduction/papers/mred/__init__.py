"""MRED: Zhang, Ma, Wang and Xu, "MRED: An Improved Nonlinear RED Algorithm" (simulated in ns-2.31).

Not the "Modified RED" of other authors. `published.csv` holds the printed tables, `readings.toml` what the paper
leaves open and what was chosen, `claims.toml` its claims as sentences that runs can decide.
"""

from aqmlab.reproduction.papers.mred.page import CITATION, NAME, build
from aqmlab.reproduction.papers.mred.plan import Effort, jobs

__all__ = ["CITATION", "NAME", "Effort", "build", "jobs"]
