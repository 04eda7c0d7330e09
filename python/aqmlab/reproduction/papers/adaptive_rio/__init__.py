"""Adaptive-RIO: Chien and Liao, "A Self-Configuring RED Gateway for Quality of Service (QoS) Networks".

Simulated in ns-2 with the DiffServ module that Nortel Networks wrote.

`published.csv` holds the printed numbers, `readings.toml` what the paper leaves open and what was chosen, `claims.toml`
its claims (and two questions of ours) as sentences that runs can decide.
"""

from aqmlab.reproduction.papers.adaptive_rio.page import CITATION, NAME, build
from aqmlab.reproduction.papers.adaptive_rio.plan import Effort, jobs

__all__ = ["CITATION", "NAME", "Effort", "build", "jobs"]
