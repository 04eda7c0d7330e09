"""MRED: Zhang, Ma, Wang and Xu, "MRED: An Improved Nonlinear RED Algorithm" (simulated in ns-2.31).

Not the "Modified RED" of other authors. `published.csv` holds the printed tables, `readings.toml` the open points of
the paper and the choices made; `plan` lists the runs, `measure` reads them, `claims` has the claims as functions,
`chain` solves the open loop, and `paper` makes the page.
"""

from aqmlab.papers.mred.paper import PAPER

__all__ = ["PAPER"]
