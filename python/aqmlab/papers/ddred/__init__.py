"""DDRED: Dedu, Linck and Spies, "Distance-Dependent RED Policy (DDRED)" (simulated in ns-2.29).

The packet that has travelled least pays for a drop, not the one that arrives. `published.csv` holds the printed
numbers, `readings.toml` the open points of the paper and the choices made, `sweep.toml` the search for the DDRED row of
Table I; `plan` lists the runs, `measure` reads them, `claims` has the claims as functions, and `paper` makes the page.
"""

from aqmlab.papers.ddred.paper import PAPER

__all__ = ["PAPER"]
