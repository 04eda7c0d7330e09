"""Adaptive-RIO: Chien and Liao, "A Self-Configuring RED Gateway for Quality of Service (QoS) Networks".

Simulated in ns-2 with the DiffServ module that Nortel Networks wrote.

`published.csv` holds the printed numbers, `readings.toml` the open points of the paper and the choices made,
`claims.py` its claims (and two questions of ours) as functions, `paper.py` its page.
"""

from aqmlab.papers.adaptive_rio.paper import PAPER

__all__ = ["PAPER"]
